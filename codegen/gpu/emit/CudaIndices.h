//===- CudaIndices.h - Loops over indices as CUDA C++ -----------*- C++ -*-===//
//
// What the loops around the structures of loops are written with.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDAINDICES_H
#define CCN_CODEGEN_GPU_EMIT_CUDAINDICES_H

#include "codegen/gpu/emit/CudaLoops.h"

namespace ccn::codegen {

/// Declares the index of each dimension from a running number, `width` elements
/// of the last dimension at once.
CudaText indicesOf(llvm::StringRef from, const LoopDims &dims,
                   llvm::StringRef prefix, int width);

/// for (i = first; i < count; i += step) body
CudaText countedLoop(llvm::StringRef index, const CudaText &first,
                     const CudaText &count, llvm::StringRef step,
                     const CudaText &body);
CudaText countedLoop(llvm::StringRef index, llvm::StringRef first,
                     const CudaText &count, llvm::StringRef step,
                     const CudaText &body);

/// pass(true) where the addresses of a loop's vectors are aligned, else
/// pass(false).
CudaText whetherAligned(const LoopWriter &loop,
                        llvm::function_ref<CudaText(bool)> pass);

/// Declares what lanes sum up, at its beginning.
CudaText beginSums(const LoopWriter &loop);

/// How a function for `width` elements is called; what it has fetched is an
/// expression, if that is not empty.
struct ElementsCall {
  int width;
  bool areAligned = true;
  std::string fetched = {};

  /// "f<8>"
  std::string of(llvm::StringRef function) const;
};

/// Adds elements.
CudaText addToSums(const LoopWriter &loop, const ElementsCall &call);
std::string finishSums(const LoopWriter &loop);

/// Does the elements at an index.
CudaText elementsAt(const LoopWriter &loop, const ElementsCall &call);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDAINDICES_H
