//===- ScatteredProducts.h - Products of which ranks have slices -*- C++
//-*-===//
//
// The skeleton of launches that are a product on the tensor cores of sm_90a,
// the reduce_scatter of its rows, and loops that use each element of the own
// slice: ranks store the others' slices in their memory while they multiply,
// and combine them in the loops of the own slice
// (device/hopper_scatters.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_SCATTEREDPRODUCTS_H
#define CCN_CODEGEN_GPU_SKELETONS_SCATTEREDPRODUCTS_H

#include "codegen/gpu/skeletons/WholeProducts.h"

#include <deque>

namespace ccn::codegen {

/// The product of the own slice, of which there may be no rows, and its loops;
/// the operands are those of all slices.
struct ScatteredProductPlan : WholeProductPlan {
  using WholeProductPlan::WholeProductPlan;

  /// The rows of all slices, and of the first one.
  int64_t rows = 0, sliceRows = 0;
  /// An index into Plan::groups, and the rank's position in it.
  int rankGroup = 0, position = 0;
  /// The first of the flags, of which each member has one.
  int64_t flags = 0;
  runtime::ReduceKind reduction = runtime::ReduceKind::Sum;
  /// The barrier at the end.
  runtime::BarrierPart end;
  /// The loops as they are given what was combined; loops of the launch combine
  /// themselves.
  std::deque<runtime::Loop> givenLoops;

  std::optional<WholeWork> wholeWork() const override {
    WholeWork work{tile.m, tile.n};
    work.isScattered = true;
    return work;
  }
};

/// The plan of a launch, without its tile; null if the skeleton does not take
/// it.
std::unique_ptr<ScatteredProductPlan>
matchScatteredProduct(const LaunchMapper &launch,
                      const KernelSkeleton &skeleton);
/// Chooses the tile, and how the kernel runs.
void mapScatteredProduct(LaunchMapper &launch, ScatteredProductPlan &plan);

llvm::Error emitScatteredProduct(CudaPart &part,
                                 const ScatteredProductPlan &plan);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_SCATTEREDPRODUCTS_H
