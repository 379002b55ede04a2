//===- MemberPieces.cpp - Pieces that are copied from members -------------===//
//
// Finds runs of equal steps, over and over.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/MemberPieces.h"

#include <optional>

using namespace ccn::plan;

namespace {

/// Grids of the same form that follow each other in equal steps.
struct Run {
  MemberPieces first;
  /// Where the last grid is, from the first.
  GridDim last = {1, 0, 0, 0};
  /// From one grid to the next; none as long as there is one grid.
  std::optional<GridDim> step = std::nullopt;

  /// Whether a grid has the same form, wherever it is.
  bool isLike(const MemberPieces &next) const {
    return first.grid == next.grid && first.from.sizes == next.from.sizes &&
           first.from.strides == next.from.strides &&
           first.to.strides == next.to.strides &&
           first.from.buffer == next.from.buffer &&
           first.to.buffer == next.to.buffer;
  }

  /// Takes a grid of the same form, if it follows in the same step.
  bool take(const MemberPieces &next) {
    GridDim at = {1, next.member - first.member,
                  next.from.offset - first.from.offset,
                  next.to.offset - first.to.offset};
    GridDim found = {1, at.member - last.member, at.from - last.from,
                     at.to - last.to};
    if (found.member < 0 || found.from < 0 || found.to < 0 ||
        (step && found != *step))
      return false;
    step = found;
    last = at;
    ++count;
    return true;
  }

  MemberPieces take() && {
    if (step) {
      step->count = count;
      first.grid.insert(first.grid.begin(), *step);
    }
    return std::move(first);
  }

  int64_t count = 1;
};

} // namespace

std::vector<MemberPieces>
ccn::plan::joinPieces(std::vector<MemberPieces> pieces) {
  size_t before;
  do {
    before = pieces.size();
    std::vector<MemberPieces> joined;
    // The last run of each form. There are few forms, and mostly the next piece
    // is like the last one.
    std::vector<Run> runs;
    for (MemberPieces &piece : pieces) {
      Run *like = nullptr;
      for (size_t i = runs.size(); i-- > 0 && !like;)
        if (runs[i].isLike(piece))
          like = &runs[i];
      if (!like) {
        runs.push_back({std::move(piece)});
      } else if (!like->take(piece)) {
        joined.push_back(std::move(*like).take());
        *like = {std::move(piece)};
      }
    }
    for (Run &run : runs)
      joined.push_back(std::move(run).take());
    pieces = std::move(joined);
  } while (pieces.size() < before);
  return pieces;
}
