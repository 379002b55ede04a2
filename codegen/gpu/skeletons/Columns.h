//===- Columns.h - Sums along other than rows -------------------*- C++ -*-===//
//
// Where what is summed up is not contiguous, but neighbours of the results are,
// rows are columns of a matrix: threads that took the elements of one would
// load far more than they need (device/columns.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_COLUMNS_H
#define CCN_CODEGEN_GPU_SKELETONS_COLUMNS_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/LaunchMapper.h"

namespace ccn::codegen {

/// Sums along other dimensions than that of rows, or elements between such.
struct ColumnLoopPlan {
  LoopPlan loop;
  /// Whether all blocks wait for each other before, and whether they merge
  /// first what they have of results, for which they wait, too.
  bool waitsBefore = false, mergesBefore = false;
  /// Of elements nothing more is set.
  bool isReduced = false;
  int64_t vectors = 0, summed = 0;
  /// Of a thread, on their way at once.
  int64_t turns = 1;
  /// Threads of a group, and what all of them have of vectors is a tile.
  int64_t lanes = 1, tiles = 1;
  /// How many blocks may share out the sums of a tile; where more than one do,
  /// they leave what they have in the launch's workspace, from byte `partials`
  /// on, and merge it when all have come.
  int64_t mostShares = 1, partials = 0;
  /// What a thread has of the sums of one result.
  int64_t bytesOfSum = 0;

  bool isShared() const { return mostShares > 1; }
};

/// The results of a block, and its groups, where sums of blocks are merged.
constexpr int64_t mergedResults = 32;

struct ColumnsPlan : SkeletonPlan {
  using SkeletonPlan::SkeletonPlan;

  /// With arrays of scratch in the launch's workspace.
  std::unique_ptr<const runtime::RowsPart> rows;
  /// Empty.
  std::unique_ptr<const Scratch> scratch;
  std::vector<ColumnLoopPlan> loops;
  /// Whether blocks merge at the end what they have.
  bool mergesAfter = false;
};

/// Loops that are shared out among all blocks.
void mapColumns(LaunchMapper &launch, const runtime::RowsPart &rows,
                ColumnsPlan &plan);
llvm::Error emitColumns(CudaPart &part, const ColumnsPlan &columns);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_COLUMNS_H
