//===- CudaProducts.h - Products and tables as CUDA C++ ---------*- C++ -*-===//
//
// The parts of a plan that are no loops over rows.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_CUDAPRODUCTS_H
#define CCN_CODEGEN_GPU_SKELETONS_CUDAPRODUCTS_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/KernelPlan.h"

namespace ccn::codegen {

/// Adds a product of matrices, a convolution, or rows taken from a table or
/// added to one.
llvm::Error emitProduct(CudaPart &part, const ProductPlan &plan);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_CUDAPRODUCTS_H
