//===- RowTeams.h - Teams of threads for rows -------------------*- C++ -*-===//
//
// Teams of threads execute loops over the same rows; a team has one row at a
// time. The size of a team depends on the number of rows, and on the number of
// vectors in a row. A thread with several vectors has more loads in flight and
// fewer partial sums to merge, but with too many vectors it runs out of
// registers.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_ROWTEAMS_H
#define CCN_CODEGEN_GPU_MAP_ROWTEAMS_H

#include "lib/Target/Machine.h"
#include "runtime/plan/Plan.h"

namespace ccn::codegen {

/// The threads of a block, unless the launch has a single part that needs
/// fewer.
constexpr int64_t threadsPerBlock = 512;

struct Team {
  enum Kind {
    /// Neighbouring threads of a warp, or a single thread.
    Lanes,
    Block,
    Cluster,
    /// No team of a row: all threads divide independent elements, or, if rows
    /// are few and long, the elements of each loop.
    Grid
  };

  Kind kind = Grid;
  /// The number of threads, a power of two; for a cluster, that of a single
  /// block, which needs the most turns. 0 for the grid.
  int64_t lanes = 0;
};

/// The largest number of elements of a row in any loop.
int64_t longestRow(const runtime::RowsPart &rows);

/// How many threads had best take a row, a power of two: more than a warp has
/// are those of a block, which has no more than `most`.
int64_t lanesForRow(const runtime::RowsPart &rows, int64_t most,
                    const Machine::Gpu &machine);

/// The team of rows in a kernel whose blocks have so many threads, if there are
/// no clusters.
Team teamFor(const runtime::RowsPart &rows, int64_t threads,
             const Machine::Gpu &machine);

/// How many teams a block of `threads` threads has; 0 for the grid.
int64_t teamsOfBlock(Team team, int64_t threads);

/// How many threads blocks of a launch have. Parts that share a kernel need
/// threadsPerBlock, as who touches what depends on it.
int64_t threadsFor(const runtime::Launch &launch, const Machine::Gpu &machine);

/// How many rows a block of threadsPerBlock threads takes at a time, if blocks
/// take them in turns: those from i times as many on are block i's, modulo the
/// number of blocks, or cluster i's in a kernel of clusters. 0 if they are
/// shared out in another way.
int64_t rowsOfBlock(const runtime::RowsPart &rows, const Machine::Gpu &machine);

/// Whether all elements are independent of each other.
bool isElementwise(const runtime::RowsPart &rows);
/// Whether all blocks together sum up all elements of one row.
bool sumsAll(const runtime::RowsPart &rows, const Machine::Gpu &machine);

/// How a part is divided among blocks.
struct BlockShare {
  /// If not 0, and elements are independent or all are summed: blocks take this
  /// many elements at a time in turns; a multiple of 8.
  int64_t tile = 0;
  /// If not 0: of every `units` consecutive units, a block takes those from
  /// `first` to `last`, which are variables of the kernel. A unit is `unit`
  /// independent elements, or a row.
  int64_t units = 0, unit = 0;
  /// Whether all blocks divide the sums along columns (ColumnSums.h), without
  /// teams.
  bool byColumns = false;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_ROWTEAMS_H
