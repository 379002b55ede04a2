//===- Rows.h - Loops over blocks of rows -----------------------*- C++ -*-===//
//
// The kernel of RowsPart: rows are taken in blocks that stay in the cache, and
// each block goes through all loops of the part.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_ROWS_H
#define CCN_RUNTIME_CPU_ROWS_H

#include "runtime/cpu/StreamContext.h"

#include <functional>

namespace ccn::runtime {

/// What all operands of a block of rows should take together: half of the
/// second-level cache of most processors, which have 512 KB or more.
inline constexpr int64_t blockBytes = 1 << 18;

/// Finds a compiled function by its name; null if there is none.
using FunctionResolver = std::function<LoopFunction(std::string_view)>;

/// The kernel of a part that checkPlan has accepted. An error if a function is
/// unknown.
Result<std::unique_ptr<PartKernel>> makeRows(const PlanMemory &plan,
                                             const RowsPart &part,
                                             const FunctionResolver &resolve);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_ROWS_H
