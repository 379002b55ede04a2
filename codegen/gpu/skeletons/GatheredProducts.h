//===- GatheredProducts.h - Products of what ranks gather -------*- C++ -*-===//
//
// The skeleton of launches that gather an operand of a product, and then are
// what WholeProducts.h takes: warps of each block move the other ranks' slices
// of the operand while others multiply what is there
// (device/hopper_gathers.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_GATHEREDPRODUCTS_H
#define CCN_CODEGEN_GPU_SKELETONS_GATHEREDPRODUCTS_H

#include "codegen/gpu/skeletons/WholeProducts.h"

namespace ccn::codegen {

/// Lines of the gathered operand that a rank holds.
struct GatheredSlice {
  int64_t begin = 0, lines = 0;
  /// Where they are, and how many elements further the next line is or, if the
  /// operand is transposed, the next position k.
  runtime::View from;
  int64_t stride = 0;
  /// The rank, and its flag that says that they are there.
  int rank = 0;
  int64_t flag = 0;
  /// Of all tiles and of all chunks.
  int64_t firstTile = 0, firstChunk = 0;

  int64_t end() const { return begin + lines; }
};

struct GatheredProductPlan : SkeletonPlan {
  using SkeletonPlan::SkeletonPlan;

  /// The product of all slices.
  WholeProductPlan product{skeleton};
  /// Whether the left operand is gathered, or else the right one.
  bool isOfA = true;
  /// Whether ranks meet in a barrier before, or else signal; and how many
  /// signals the launch has.
  bool meets = false;
  int64_t signals = 0;
  /// Whether the gathered operand is one of the plan's buffers, where later
  /// launches may read it, and not in the launch's workspace.
  bool isKept = false;
  /// The own slice, if this rank has one, then the next rank's, and so on.
  std::vector<GatheredSlice> slices;
  bool hasOwn = false;
  /// Where all lines are gathered, as `stride` of a slice.
  runtime::View to;
  int64_t stride = 0;
  int group = 0;
  int64_t beginFlags = 0, endFlags = 0, chunkFlags = 0;
  /// The lines that are moved at once.
  int64_t chunkLines = 1;

  WholeOperand &gathered() { return isOfA ? product.a : product.b; }
  const WholeOperand &gathered() const { return isOfA ? product.a : product.b; }
  int64_t chunksOf(const GatheredSlice &slice) const {
    return (slice.lines + chunkLines - 1) / chunkLines;
  }
  std::optional<WholeWork> wholeWork() const override {
    return product.wholeWork();
  }
};

/// The plan of a launch, without its tile; null if the skeleton does not take
/// it.
std::unique_ptr<GatheredProductPlan>
matchGatheredProduct(const LaunchMapper &launch,
                     const KernelSkeleton &skeleton);
/// Chooses the tile and the chunks, and how the kernel runs.
void mapGatheredProduct(LaunchMapper &launch, GatheredProductPlan &plan);

llvm::Error emitGatheredProduct(CudaPart &part,
                                const GatheredProductPlan &plan);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_GATHEREDPRODUCTS_H
