//===- Compiler.h - Compiles kernels for a GPU ------------------*- C++ -*-===//
//
// CUDA C++ to machine code or PTX by NVRTC, the compiler that CUDA has as a
// library. It needs no device.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_COMPILER_H
#define CCN_RUNTIME_CUDA_COMPILER_H

#include "runtime/base/Status.h"

#include <string_view>
#include <vector>

namespace ccn::runtime {

struct CompiledKernels {
  /// The machine code, an ELF file.
  std::string cubin;
  /// What the compiler said, with the resources that each kernel needs.
  std::string log;
};

/// What a thread or a block of a kernel needs.
struct KernelResources {
  std::string name;
  /// Of a thread: registers; bytes of the stack; bytes stored and loaded
  /// because registers did not suffice.
  int64_t registers = 0, stackBytes = 0, spillStores = 0, spillLoads = 0;
  /// Of a block, without dynamic shared memory.
  int64_t sharedBytes = 0;
};

/// The architecture of a device by its compute capability: "sm_90a" of 9.0,
/// with what no other device has, "sm_80" of 8.0.
std::string architectureOf(int major, int minor);

/// "13.0" if there is a compiler; else an error.
Result<std::string> compilerVersion();

/// The options of the compiler for an architecture, in words: "sm_80" for
/// machine code, "compute_80" for PTX.
std::vector<std::string> compilerOptions(std::string_view architecture);

/// A source without its comments and empty lines, and without blanks at ends
/// of lines: sources of which this is the same are compiled to the same code.
std::string withoutComments(std::string_view source);

/// Compiles one translation unit, whose kernels are `extern "C"`. A program
/// with mistakes gives an error with the compiler's log. Unless null, `ptx`
/// gets the PTX from which the machine code is made.
Result<CompiledKernels> compileKernels(const std::string &source,
                                       std::string_view architecture,
                                       std::string *ptx = nullptr);

/// As compileKernels, but to PTX, of which drivers make machine code on GPUs of
/// the architecture or, unless its name ends in "a", of later ones.
Result<std::string> compileToPtx(const std::string &source,
                                 std::string_view architecture);

/// By kernel, as the log says.
std::vector<KernelResources> kernelResources(const CompiledKernels &kernels);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_COMPILER_H
