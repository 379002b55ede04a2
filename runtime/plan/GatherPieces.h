//===- GatherPieces.h - The pieces of a GatherPart --------------*- C++ -*-===//
//
// Enumerates the pieces, and describes all of them as one strided view.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_GATHERPIECES_H
#define CCN_RUNTIME_PLAN_GATHERPIECES_H

#include "runtime/plan/Plan.h"

namespace ccn::runtime {

/// One piece: the number of the member in the group, and how far the piece is
/// from where the views begin, in elements.
struct GatheredPiece {
  int64_t member, from, to;
};

/// The number of pieces of a part.
inline int64_t countPieces(const GatherPart &part) {
  int64_t count = 1;
  for (const PieceDim &dim : part.grid)
    count *= dim.count;
  return count;
}

/// Piece `number`, in the row-major order of the grid.
inline GatheredPiece pieceAt(const GatherPart &part, int64_t number) {
  GatheredPiece piece{part.firstMember, 0, 0};
  for (size_t i = part.grid.size(); i-- > 0;) {
    const PieceDim &dim = part.grid[i];
    int64_t index = number % dim.count;
    number /= dim.count;
    piece.member += index * dim.memberStep;
    piece.from += index * dim.fromStep;
    piece.to += index * dim.toStep;
  }
  return piece;
}

/// The sizes of all pieces together, and a view of them: the dimensions of the
/// grid, then those of a piece.
inline std::vector<int64_t> gatheredSizes(const GatherPart &part) {
  std::vector<int64_t> sizes;
  for (const PieceDim &dim : part.grid)
    sizes.push_back(dim.count);
  sizes.insert(sizes.end(), part.sizes.begin(), part.sizes.end());
  return sizes;
}
inline View gatheredView(const GatherPart &part, const View &view,
                         int64_t PieceDim::*step) {
  View all = view;
  all.strides.clear();
  for (const PieceDim &dim : part.grid)
    all.strides.push_back(dim.*step);
  all.strides.insert(all.strides.end(), view.strides.begin(),
                     view.strides.end());
  return all;
}

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_GATHERPIECES_H
