//===- ColumnSums.h - Sums along other than rows ----------------*- C++ -*-===//
//
// Where what is summed up is not contiguous, but neighbours of the results are,
// rows are columns of a matrix: threads that took the elements of one would
// load far more than they need.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_COLUMNSUMS_H
#define CCN_CODEGEN_GPU_MAP_COLUMNSUMS_H

#include "runtime/plan/Plan.h"

#include <map>
#include <optional>

namespace ccn::codegen {

/// The bytes of what a loop that reduces has of one element of each output
/// while it sums up, at most.
int64_t bytesOfSums(const runtime::Loop &loop);

/// Whether the loops of a part are such sums, of enough elements, and what is
/// made of their results.
bool sumsColumns(const runtime::RowsPart &rows);

/// The dimension of a loop in which neighbours are: the last that is kept, but
/// for those of one element.
std::optional<size_t> columnsOf(const runtime::Loop &loop);

/// Whether an input has several elements for each result.
bool isSummed(const runtime::Loop &loop, const runtime::LoopOperand &input);

/// An array of scratch of all rows.
struct SpreadArray {
  runtime::ElementType type;
  int64_t count = 0;
  /// All operands that are of it.
  std::vector<runtime::LoopOperand *> operands;
};

/// Lays out arrays of scratch for all rows at once, and returns them by number.
/// Where rows are neighbours, those of an array's elements are of rows too, and
/// loops go through them last.
std::map<int, SpreadArray> spreadScratch(runtime::RowsPart &rows);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_COLUMNSUMS_H
