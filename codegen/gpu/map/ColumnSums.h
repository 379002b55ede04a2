//===- ColumnSums.h - Sums along columns ------------------------*- C++ -*-===//
//
// In some reductions the elements of one sum are not contiguous, but those of
// neighbouring sums are: they sum the columns of a matrix. If a team summed
// each column, it would load far more than it needs. So neighbouring threads
// compute neighbouring sums.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_COLUMNSUMS_H
#define CCN_CODEGEN_GPU_MAP_COLUMNSUMS_H

#include "runtime/plan/Plan.h"

#include <map>
#include <optional>

namespace ccn::codegen {

/// Accumulator bytes for one element of each output of a reduction.
int64_t bytesOfSums(const runtime::Loop &loop);

/// Whether a part consists of such sums, of enough elements, and of loops that
/// use their results.
bool sumsColumns(const runtime::RowsPart &rows);

/// The dimension of a loop in which results are neighbours: the last that is
/// kept and has more than one element.
std::optional<size_t> columnsOf(const runtime::Loop &loop);

/// Whether an input has several elements for one result.
bool isSummed(const runtime::Loop &loop, const runtime::LoopOperand &input);

/// A scratch array that holds all rows at once.
struct SpreadArray {
  runtime::ElementType type;
  int64_t count = 0;
  /// All operands that refer to it.
  std::vector<runtime::LoopOperand *> operands;
};

/// Changes the scratch arrays of `rows` so that they hold all rows at once, and
/// returns them by number. If the results of neighbouring rows are neighbours,
/// the row becomes the innermost dimension of these arrays, and of the loops
/// that do not reduce.
std::map<int, SpreadArray> spreadScratch(runtime::RowsPart &rows);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_COLUMNSUMS_H
