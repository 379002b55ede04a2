//===- RowsPlan.h - Who takes which elements of loops over rows -*- C++ -*-===//
//
// Elements that are for themselves are shared out among all threads; of rows
// that several loops take, each is a team's; few long rows are shared out among
// the whole grid, one loop after the other.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_ROWSPLAN_H
#define CCN_CODEGEN_GPU_MAP_ROWSPLAN_H

#include "codegen/gpu/map/LoopTiles.h"
#include "codegen/gpu/map/LoopTurns.h"

#include <memory>

namespace ccn::codegen {

/// An exchange that those do who take the rows of the next part.
struct RowExchange {
  const runtime::ExchangePart *part;
  /// Where in symmetric memory its packets are, and its first segment.
  int64_t slots, segment;
};

/// A loop of rows that teams or the grid take.
struct RowLoopPlan {
  LoopPlan loop;
  /// Of teams: whether each thread computes its results for itself, which are
  /// scalars; whether the threads wait for each other before it; whether what
  /// it takes of memory comes before other loops; and whether it is made for
  /// each row, as it reads what an earlier one writes.
  bool isOfEvery = false, waitsBefore = false, isFetchedBefore = false,
       isMadePerRow = false;
  std::optional<LoopTurns> turns = {};
  /// Of the grid: elements for themselves; many sums, each by a warp or by a
  /// thread; or few sums, of which each block has a part in the launch's
  /// workspace, from byte `partials` on.
  enum Shared { Elements, ManySums, FewSums } shared = Elements;
  int64_t partials = 0;
  /// Few sums of one row are summed up by the first block in the next barrier,
  /// whichever that is, and if others are too, after these.
  bool isLeft = false, isLeftAfterOthers = false;
};

struct RowsPlan {
  enum Kind { Elements, Teams, Grid };

  std::unique_ptr<const runtime::RowsPart> rows;
  Kind kind = Elements;
  BlockShare share;
  Team team;
  Scratch scratch;
  /// Where the scratch is: in the launch's workspace, from a byte on, or in a
  /// block's memory, that is shared or not.
  enum Memory { None, Workspace, Shared, Block } scratchIn = None;
  int64_t scratchOffset = 0;
  std::vector<RowLoopPlan> loops;
  /// Of elements, if threads take tiles.
  std::optional<BlockOfTiles> tiles;
  /// Of teams: whether all of a warp have as many rows, and whether its threads
  /// wait for each other after a row.
  bool areWarps = false, waitsAfter = false;
  /// What is exchanged by who takes the rows, and which operand of the first
  /// loop that is: "v1".
  std::optional<RowExchange> exchange;
  std::string given;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_ROWSPLAN_H
