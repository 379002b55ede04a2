//===- LoopTiles.h - Which block takes which tiles of a loop ----*- C++ -*-===//

#ifndef CCN_CODEGEN_GPU_MAP_LOOPTILES_H
#define CCN_CODEGEN_GPU_MAP_LOOPTILES_H

#include "codegen/gpu/map/LoopPlan.h"

namespace ccn::codegen {

/// How tiles are shared out: a block has `rows` x `columns` of each of `others`
/// indices of the other dimensions, and of those neighbouring threads have
/// `laneRows` x `laneColumns`.
struct BlockOfTiles {
  int64_t rows = 0, columns = 0, others = 0, laneRows = 0, laneColumns = 0;
  /// The dimensions other than those of tiles.
  LoopDims otherDims;
  /// How many blocks there are for the other indices, along rows, and along
  /// columns.
  LoopDims blocks;
};

/// Of a loop that takes tiles.
BlockOfTiles shareTiles(const LoopPlan &loop);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LOOPTILES_H
