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

namespace ccn::plan {

class RankParts {
public:
  explicit RankParts(MeshOp mesh) : mesh(mesh) {}

  /// The part that each rank of the mesh holds of a tensor of this type.
  const std::vector<TensorPart> &of(mlir::RankedTensorType type);

private:
  MeshOp mesh;
  // A map, whose elements do not move.
  std::map<const void *, std::vector<TensorPart>> known;
};

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_RANKPARTS_H
