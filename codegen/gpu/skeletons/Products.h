//===- Products.h - Products and tables -------------------------*- C++ -*-===//
//
// The parts of a plan that are no loops over rows.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_PRODUCTS_H
#define CCN_CODEGEN_GPU_SKELETONS_PRODUCTS_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/LaunchMapper.h"
#include "codegen/gpu/map/RowsPlan.h"

namespace ccn::codegen {

/// A product, a convolution, or rows of a table. They take no lists of buffers:
/// what is in one is copied.
struct ProductPlan : SkeletonPlan {
  using SkeletonPlan::SkeletonPlan;

  runtime::Part part;
  /// Whether a library may have done it.
  bool mayBeDone = false;
  std::vector<std::unique_ptr<RowsPlan>> before = {}, after = {};
  /// Of rows that are added to a table: where in the launch's workspace its
  /// memory is, and what copies the table.
  int64_t memory = 0;
  std::unique_ptr<RowsPlan> table = {};
};

void mapProduct(LaunchMapper &launch, const runtime::Part &part,
                ProductPlan &plan);
llvm::Error emitProduct(CudaPart &part, const ProductPlan &plan);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_PRODUCTS_H
