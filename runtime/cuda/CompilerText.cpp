//===- CompilerText.cpp - What the compiler is told and says --------------===//
//
// The compiler is told not to contract products and sums, so that GPUs and CPUs
// compute the same. What it says are the lines of ptxas: for each kernel
// "Compiling entry function 'f'", a line with the stack and the spills of it
// and of each function that it calls, and "Used 32 registers, ...".
//
// Reads the lines of ptxas: for each kernel "Compiling entry function 'f'", a
// line with stack and spills of it and of each function that it calls, and
// "Used 32 registers, ...".
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Compiler.h"

#include <charconv>
#include <sstream>

namespace ccn::runtime {

namespace {

/// The number before `unit`; 0 if there is none.
int64_t numberBefore(std::string_view line, std::string_view unit) {
  size_t end = line.find(unit);
  if (end == line.npos)
    return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  int64_t number = 0;
  (void)std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

} // namespace

std::string architectureOf(int major, int minor) {
  std::string name = "sm_" + std::to_string(major) + std::to_string(minor);
  return name == "sm_90" ? "sm_90a" : name;
}

std::vector<std::string> compilerOptions(std::string_view architecture) {
  return {"--gpu-architecture=" + std::string(architecture), "--std=c++17",
          "--fmad=false", "-default-device", "--ptxas-options=-v"};
}

std::vector<KernelResources> kernelResources(const CompiledKernels &kernels) {
  constexpr std::string_view start = "Compiling entry function '";
  std::vector<KernelResources> all;
  std::istringstream lines(kernels.log);
  for (std::string line; std::getline(lines, line);) {
    if (size_t at = line.find(start); at != line.npos) {
      std::string name = line.substr(at + start.size());
      all.emplace_back().name = name.substr(0, name.find('\''));
    }
    if (all.empty())
      continue;
    KernelResources &kernel = all.back();
    if (line.find("bytes stack frame") != line.npos) {
      kernel.stackBytes += numberBefore(line, " bytes stack frame");
      kernel.spillStores += numberBefore(line, " bytes spill stores");
      kernel.spillLoads += numberBefore(line, " bytes spill loads");
    } else if (line.find("Used ") != line.npos) {
      kernel.registers = numberBefore(line, " registers");
      kernel.sharedBytes = numberBefore(line, " bytes smem");
    }
  }
  return all;
}

} // namespace ccn::runtime
