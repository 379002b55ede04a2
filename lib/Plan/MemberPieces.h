//===- MemberPieces.h - Pieces that are copied from members -----*- C++ -*-===//
//
// Joins copies from the members of a group into few grids of copies, so that a
// plan does not have one operation for each pair of ranks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_MEMBERPIECES_H
#define CCN_LIB_PLAN_MEMBERPIECES_H

#include "lib/Plan/Strided.h"

#include <vector>

namespace ccn::plan {

/// A dimension of a grid: the number of pieces, and how far each is from the
/// one before: in the group, and in elements.
struct GridDim {
  int64_t count, member, from, to;

  bool operator==(const GridDim &) const = default;
};

/// A grid of pieces of one size. The first comes from member `member` of a
/// group; `from` is where it lies in that member's memory, and `to` where it is
/// copied to.
struct MemberPieces {
  int64_t member;
  Strided from, to;
  llvm::SmallVector<GridDim, 2> grid = {};
};

/// Joins pieces into grids: first those that follow each other in equal steps,
/// then the rows of pieces that do so, and so on. Each piece stays in one grid.
/// For a collective along several axes, of a tensor that is cut in several
/// dimensions, the number of grids does not depend on the number of ranks: full
/// slices are one grid, and the last ones of each dimension another. Pieces
/// with elements in the order of members give the fewest grids.
std::vector<MemberPieces> joinPieces(std::vector<MemberPieces> pieces);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_MEMBERPIECES_H
