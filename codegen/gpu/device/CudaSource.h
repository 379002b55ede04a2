//===- CudaSource.h - The CUDA C++ that kernels are made with ---*- C++ -*-===//
//
// The files of codegen/gpu/device, and runtime/plan/GpuAbi.h, as text:
// generated kernels are one translation unit without includes, into which they
// are pasted.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_DEVICE_CUDASOURCE_H
#define CCN_CODEGEN_GPU_DEVICE_CUDASOURCE_H

#include "llvm/ADT/StringRef.h"

namespace ccn::codegen {

/// The text of a file by its name without the folder ("rows.cuh"), or an
/// empty one if there is none.
llvm::StringRef cudaSource(llvm::StringRef fileName);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_DEVICE_CUDASOURCE_H
