//===- CudaUtil.h - Generated CUDA C++ in tests -----------------*- C++ -*-===//
//
// Compiles CUDA C++ with NVRTC, where it is installed, and the functors of
// bodies for the CPU, as loops that can be called.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CODEGEN_CUDAUTIL_H
#define CCN_TEST_UNIT_CODEGEN_CUDAUTIL_H

#include "codegen/cpu/CpuLoops.h"

#include <string>

namespace ccn::codegen {

/// Whether NVRTC can be loaded.
bool hasNvrtc();

/// Compiles a translation unit as the runtime does, for "sm_80" and the like;
/// returns what NVRTC says against it, which is nothing if all is well.
std::string compileCuda(const std::string &source, const std::string &target);

/// The functors of kernels without reductions, after the device files
/// that they need.
llvm::Expected<std::string> emitFunctors(llvm::ArrayRef<LoopKernel> kernels);

/// A shared object for the CPU with a runtime::LoopFunction, of one dimension,
/// for each of these kernels, which calls its functor.
llvm::Expected<std::string> compileFunctors(llvm::ArrayRef<LoopKernel> kernels);

} // namespace ccn::codegen

#endif // CCN_TEST_UNIT_CODEGEN_CUDAUTIL_H
