//===- RowTeams.h - Who takes a row -----------------------------*- C++ -*-===//
//
// Loops over the same rows are executed by teams of threads, each of which has
// a row at a time. What a team is follows from how many rows there are, and
// from how many vectors of elements one has: a thread that has several vectors
// of a row has more of memory on its way and merges less, and one that has too
// many has no registers for them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_ROWTEAMS_H
#define CCN_CODEGEN_GPU_MAP_ROWTEAMS_H

#include "lib/Target/Machine.h"
#include "runtime/plan/Plan.h"

namespace ccn::codegen {

/// What a block has of threads, but where one part alone wants fewer.
constexpr int64_t threadsPerBlock = 512;

struct Team {
  enum Kind {
    /// Neighbouring threads of a warp, or one.
    Lanes,
    Block,
    Cluster,
    /// Takes each element for itself, or each loop for itself where rows are
    /// few and long.
    Grid
  };

  Kind kind = Grid;
  /// Its threads, a power of two; of a cluster those of a block that is alone,
  /// as others need no more turns. 0 is the grid.
  int64_t lanes = 0;
};

/// The most elements that a loop has of a row.
int64_t longestRow(const runtime::RowsPart &rows);

/// How many threads had best take a row, a power of two: more than a warp has
/// are those of a block, which has no more than `most`.
int64_t lanesForRow(const runtime::RowsPart &rows, int64_t most,
                    const Machine::Gpu &machine);

/// The team of rows in a kernel whose blocks have so many threads, if there are
/// no clusters.
Team teamFor(const runtime::RowsPart &rows, int64_t threads,
             const Machine::Gpu &machine);

/// How many of them a block of so many threads has; 0 if the grid is one.
int64_t teamsOfBlock(Team team, int64_t threads);

/// How many threads blocks of a launch have. Parts that share a kernel need
/// threadsPerBlock, as who touches what depends on it.
int64_t threadsFor(const runtime::Launch &launch, const Machine::Gpu &machine);

/// How many rows a block of threadsPerBlock threads takes at a time, if blocks
/// take them in turns: those from i times as many on are block i's, modulo the
/// number of blocks, or cluster i's in a kernel of clusters. 0 if they are
/// shared out in another way.
int64_t rowsOfBlock(const runtime::RowsPart &rows, const Machine::Gpu &machine);

/// Whether every element is for itself.
bool isElementwise(const runtime::RowsPart &rows);
/// Whether all blocks together sum up all elements of one row.
bool sumsAll(const runtime::RowsPart &rows, const Machine::Gpu &machine);

/// What blocks take of a part.
struct BlockShare {
  /// Where every element is for itself, or all are summed: so many at a time in
  /// turns, a multiple of 8, if that is not 0.
  int64_t tile = 0;
  /// If not 0: of each so many units those from `first` to `last`, variables of
  /// the kernel. A unit is `unit` elements that are for themselves, or a row.
  int64_t units = 0, unit = 0;
  /// Whether all blocks share out sums that rows are not teams' of
  /// (ColumnSums.h).
  bool byColumns = false;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_ROWTEAMS_H
