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

#include "runtime/plan/Plan.h"

namespace ccn::codegen {

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
int64_t lanesForRow(const runtime::RowsPart &rows, int64_t most);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_ROWTEAMS_H
