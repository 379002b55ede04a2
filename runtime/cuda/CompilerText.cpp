//===- CompilerText.cpp - What the compiler is told and says --------------===//
//
// The compiler is told not to contract products and sums, so that GPUs and CPUs
// compute the same. Its log has the lines of ptxas. For each kernel these are
// "Compiling entry function 'f'", a line with the stack and the spills of the
// kernel and of each function that it calls, and "Used 32 registers, ...".
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Compiler.h"

#include <algorithm>
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

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWord(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_';
}

/// Whether an apostrophe behind `code` separates the digits of a number.
bool endsInNumber(std::string_view code) {
  size_t begin = code.size();
  while (begin > 0 && (isWord(code[begin - 1]) || code[begin - 1] == '\''))
    --begin;
  return begin < code.size() && isDigit(code[begin]);
}

/// Where the line that `at` is in ends. A backslash continues it.
size_t endOfLine(std::string_view source, size_t at) {
  do
    at = std::min(source.find('\n', at + 1), source.size());
  while (at < source.size() && source[at - 1] == '\\');
  return at;
}

/// Where a literal that begins at `at` ends.
size_t endOfLiteral(std::string_view source, size_t at) {
  char quote = source[at++];
  while (at < source.size() && source[at] != quote && source[at] != '\n')
    at += source[at] == '\\' ? 2 : 1;
  return std::min(at + 1, source.size());
}

} // namespace

std::string withoutComments(std::string_view source) {
  std::string code;
  for (size_t at = 0; at < source.size();) {
    char c = source[at];
    if (source.substr(at, 2) == "//") {
      at = endOfLine(source, at);
    } else if (source.substr(at, 2) == "/*") {
      size_t end = source.find("*/", at + 2);
      at = end == source.npos ? source.size() : end + 2;
      code += ' ';
    } else if (c == '"' || (c == '\'' && !endsInNumber(code))) {
      // Raw literals may hold what looks like a comment.
      if (c == '"' && code.ends_with('R'))
        return std::string(source);
      size_t end = endOfLiteral(source, at);
      code += source.substr(at, end - at);
      at = end;
    } else if (c == '\n') {
      while (code.ends_with(' ') || code.ends_with('\t'))
        code.pop_back();
      // Behind a backslash an empty line ends the one before it.
      if (!code.empty() && (!code.ends_with('\n') || code.ends_with("\\\n")))
        code += c;
      ++at;
    } else {
      code += c;
      ++at;
    }
  }
  return code;
}

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
