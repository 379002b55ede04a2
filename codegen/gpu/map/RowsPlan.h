//===- RowsPlan.h - How loops over rows are divided -------------*- C++ -*-===//
//
// Loops over rows are divided among threads in one of three ways. If elements
// are independent of each other, all threads divide the elements. If several
// loops use the same rows, each row belongs to a team. If there are few long
// rows, the whole grid divides each loop, one loop after the other.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_ROWSPLAN_H
#define CCN_CODEGEN_GPU_MAP_ROWSPLAN_H

#include "codegen/gpu/map/LoopTiles.h"
#include "codegen/gpu/map/LoopTurns.h"

#include <memory>

namespace ccn::codegen {

/// An exchange that the teams of the next part's rows execute.
struct RowExchange {
  const runtime::ExchangePart *part;
  /// The offset of its packets in symmetric memory, and its first segment.
  int64_t slots, segment;
};

/// A loop over rows of teams or of the grid.
struct RowLoopPlan {
  LoopPlan loop;
  /// For teams. isOfEvery: every thread computes the results, which are
  /// scalars, for itself. waitsBefore: the threads of the team wait for each
  /// other before the loop. isFetchedBefore: what the loop loads is loaded
  /// before earlier loops run. isMadePerRow: the loop's object is constructed
  /// for each row, as the loop reads what an earlier loop writes.
  bool isOfEvery = false, waitsBefore = false, isFetchedBefore = false,
       isMadePerRow = false;
  std::optional<LoopTurns> turns = {};
  /// For the grid: independent elements; many sums, each computed by a warp or
  /// a thread; or few sums, of which each block leaves a partial sum in the
  /// launch's workspace, from byte `partials` on.
  enum Shared { Elements, ManySums, FewSums } shared = Elements;
  int64_t partials = 0;
  /// The partial sums of a single row are added by the first block as deferred
  /// work (LaunchMapper.h); isDeferredAfterOthers: after other deferred work.
  bool isDeferred = false, isDeferredAfterOthers = false;
};

struct RowsPlan {
  enum Kind { Elements, Teams, Grid };

  std::unique_ptr<const runtime::RowsPart> rows;
  Kind kind = Elements;
  BlockShare share;
  Team team;
  Scratch scratch;
  /// Where the scratch arrays are: in the launch's workspace, from byte
  /// `scratchOffset` on, in a block's shared memory, or in a block's workspace.
  enum Memory { None, Workspace, Shared, Block } scratchIn = None;
  int64_t scratchOffset = 0;
  std::vector<RowLoopPlan> loops;
  /// For elements, if threads compute tiles.
  std::optional<BlockOfTiles> tiles;
  /// For teams: whether all teams of a warp have equally many rows, and whether
  /// the threads of a team wait for each other after a row.
  bool areWarps = false, waitsAfter = false;
  /// The exchange that the teams execute, and the operand of the first loop
  /// that gets its results: "v1".
  std::optional<RowExchange> exchange;
  std::string given;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_ROWSPLAN_H
