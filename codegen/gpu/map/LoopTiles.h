//===- LoopTiles.h - How a loop's tiles are divided -------------*- C++ -*-===//
//
// If the operands of a loop are contiguous along different dimensions, threads
// compute tiles (LoopPlan.h). This divides the tiles among blocks and threads.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_LOOPTILES_H
#define CCN_CODEGEN_GPU_MAP_LOOPTILES_H

#include "codegen/gpu/map/LoopPlan.h"

namespace ccn::codegen {

/// How tiles are divided among blocks and threads: a block has `rows` x
/// `columns` tiles for each of `others` indices of the other dimensions. Of
/// these, the threads of a warp have `laneRows` x `laneColumns` neighbouring
/// tiles.
struct BlockOfTiles {
  int64_t rows = 0, columns = 0, others = 0, laneRows = 0, laneColumns = 0;
  /// The dimensions that are not divided into tiles.
  LoopDims otherDims;
  /// The number of blocks for the other indices, along rows, and along columns.
  LoopDims blocks;
};

/// Divides the tiles of a loop, which must have a tile.
BlockOfTiles shareTiles(const LoopPlan &loop);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LOOPTILES_H
