//===- RankParts.h - The parts of tensors that ranks hold -------*- C++ -*-===//
//
// Each rank's plan looks at the parts of the others; they are computed once for
// all plans.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_RANKPARTS_H
#define CCN_LIB_PLAN_RANKPARTS_H

#include "dialect/ccn/Placement.h"

#include <map>
#include <tuple>

namespace ccn::plan {

class RankParts {
public:
  explicit RankParts(MeshOp mesh) : mesh(mesh) {}

  /// The part that each rank of the mesh holds of a tensor of this type.
  const std::vector<TensorPart> &of(mlir::RankedTensorType type);
  /// The largest block that any two ranks exchange in a collective, as `find`
  /// computes it when it is asked for the first time: it is the same for all
  /// ranks, and is found by a look at all pairs.
  int64_t largestBlock(mlir::RankedTensorType from, mlir::RankedTensorType to,
                       AxesAttr axes, llvm::function_ref<int64_t()> find) {
    auto [it, isNew] = blocks.try_emplace(
        std::tuple(from.getAsOpaquePointer(), to.getAsOpaquePointer(),
                   axes.getAsOpaquePointer()));
    if (isNew)
      it->second = find();
    return it->second;
  }

private:
  MeshOp mesh;
  // A map, whose elements do not move.
  std::map<const void *, std::vector<TensorPart>> known;
  std::map<std::tuple<const void *, const void *, const void *>, int64_t>
      blocks;
};

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_RANKPARTS_H
