//===- Products.h - Products and tables -------------------------*- C++ -*-===//
//
// The skeleton of matrix products, convolutions and row tables.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_PRODUCTS_H
#define CCN_CODEGEN_GPU_SKELETONS_PRODUCTS_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/LaunchMapper.h"
#include "codegen/gpu/map/RowsPlan.h"

namespace ccn::codegen {

/// The plan of a product, a convolution, or rows of a table. Their device
/// functions cannot access scattered arguments, so these are copied to and from
/// the launch's workspace (`before`, `after`).
struct ProductPlan : SkeletonPlan {
  using SkeletonPlan::SkeletonPlan;

  runtime::Part part;
  /// Whether a library may have computed the part before the kernel runs.
  bool mayBeDone = false;
  std::vector<std::unique_ptr<RowsPlan>> before = {}, after = {};
  /// For rows that are added to a table: the offset of the part's memory in the
  /// launch's workspace, and the copy of the table.
  int64_t memory = 0;
  std::unique_ptr<RowsPlan> table = {};
};

void mapProduct(LaunchMapper &launch, const runtime::Part &part,
                ProductPlan &plan);
llvm::Error emitProduct(CudaPart &part, const ProductPlan &plan);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_PRODUCTS_H
