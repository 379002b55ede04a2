//===- Rows.h - Loops over blocks of rows -----------------------*- C++ -*-===//
//
// The kernel of RowsPart. It divides the rows into blocks that fit the cache
// and runs all loops of the part on one block before the next.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_ROWS_H
#define CCN_RUNTIME_CPU_ROWS_H

#include "runtime/cpu/StreamContext.h"

#include <functional>

namespace ccn::runtime {

/// The bytes that all operands of a block of rows should take together: half of
/// the second-level cache of most processors, which have 512 KB or more.
inline constexpr int64_t blockBytes = 1 << 18;

/// Finds a compiled function by its name; null if there is none.
using FunctionResolver = std::function<LoopFunction(std::string_view)>;

/// Makes the kernel of a part that checkPlan has accepted. An error if a
/// function is unknown.
Result<std::unique_ptr<PartKernel>> makeRows(const PlanMemory &plan,
                                             const RowsPart &part,
                                             const FunctionResolver &resolve);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_ROWS_H
