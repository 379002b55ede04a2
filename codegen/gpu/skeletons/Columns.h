//===- Columns.h - Sums along columns ---------------------------*- C++ -*-===//
//
// The skeleton of sums along the columns of a matrix, in which neighbouring
// threads compute neighbouring sums (map/ColumnSums.h, device/columns.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_COLUMNS_H
#define CCN_CODEGEN_GPU_SKELETONS_COLUMNS_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/LaunchMapper.h"

namespace ccn::codegen {

/// A loop of sums along columns, or a loop without sums between such loops.
struct ColumnLoopPlan {
  LoopPlan loop;
  /// Whether all blocks wait for each other before the loop, and whether they
  /// first merge partial sums, for which they wait too.
  bool waitsBefore = false, mergesBefore = false;
  /// Whether the loop sums; if not, the fields below are not set.
  bool isReduced = false;
  int64_t vectors = 0, summed = 0;
  /// How many vectors of a thread are in flight at once.
  int64_t turns = 1;
  /// The threads of a group, whose vectors of results form a tile; and the
  /// number of tiles.
  int64_t lanes = 1, tiles = 1;
  /// How many blocks may divide the sums of a tile. If more than one, each
  /// leaves its partial sums in the launch's workspace, from byte `partials`
  /// on, and they are merged when all blocks have arrived.
  int64_t mostShares = 1, partials = 0;
  /// Accumulator bytes of one result.
  int64_t bytesOfSum = 0;

  bool isShared() const { return mostShares > 1; }
};

/// How many results a block merges at a time from the partial sums of blocks.
constexpr int64_t mergedResults = 32;

struct ColumnsPlan : SkeletonPlan {
  using SkeletonPlan::SkeletonPlan;

  /// The loops, with scratch arrays in the launch's workspace.
  std::unique_ptr<const runtime::RowsPart> rows;
  /// An empty Scratch, to which the loop plans refer.
  std::unique_ptr<const Scratch> scratch;
  std::vector<ColumnLoopPlan> loops;
  /// Whether partial sums are merged at the end.
  bool mergesAfter = false;
};

/// Maps loops that all blocks divide, and writes them.
void mapColumns(LaunchMapper &launch, const runtime::RowsPart &rows,
                ColumnsPlan &plan);
llvm::Error emitColumns(CudaPart &part, const ColumnsPlan &columns);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_COLUMNS_H
