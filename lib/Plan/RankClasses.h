//===- RankClasses.h - Ranks that do the same -------------------*- C++ -*-===//
//
// In large meshes most ranks do the same at the same time. To predict times,
// one rank of each class is planned.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_RANKCLASSES_H
#define CCN_LIB_PLAN_RANKCLASSES_H

#include "dialect/plan/Plan.h"

namespace ccn::plan {

/// On each axis of the mesh some positions stand for others: each for those
/// from itself on, up to the next one. A rank's class is that of its positions.
class RankClasses {
public:
  /// The classes of scheduled programs. A position is kept if its ranks may do
  /// something else than those before: the first and the last; those whose
  /// slices are shorter or empty; those from or to which collectives move
  /// values; and those near the ends of an axis along which values are shifted.
  /// All are if `isIrregular`, or if a collective has a schedule of its own.
  static RankClasses find(mlir::ModuleOp scheduled, bool isIrregular);
  /// The classes for which `ranks` stand, as find() has chosen them.
  static RankClasses of(MeshOp mesh, llvm::ArrayRef<int64_t> ranks);

  /// Whether these ranks are what find() may have chosen.
  static bool standForAll(MeshOp mesh, std::vector<int64_t> ranks);

  /// The ranks that stand for all, in ascending order; the first is rank 0.
  std::vector<int64_t> representatives() const;
  /// The rank that stands for a rank.
  int64_t representativeOf(int64_t rank) const;

private:
  /// The position that stands for a position of an axis.
  int64_t kept(size_t axis, int64_t position) const;

  std::vector<int64_t> sizes;
  /// By axis, in ascending order.
  std::vector<std::vector<int64_t>> positions;
};

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_RANKCLASSES_H
