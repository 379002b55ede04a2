//===- RunNeeds.h - The memory that runs take -------------------*- C++ -*-===//
//
// Known from the plans alone, so that it is looked at before any of it is
// taken.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_RUNNEEDS_H
#define CCN_TOOLS_CCRUN_RUNNEEDS_H

#include "runtime/base/FreeMemory.h"
#include "tools/ccrun/RunMemory.h"

#include <set>
#include <string>

namespace ccn {

/// A plan, and how it is run.
struct PlannedRun {
  const runtime::Plan *plan;
  RunTask task;
};

/// The memory of this host that plans take which are run one after the other,
/// and whose arguments and results stay until the last has ended: of all ranks,
/// or of rank `only` without its symmetric memory, which its team checks.
/// Arrays that are `given` are read whole; the others are drawn.
Result<MemoryNeeds> needsOf(const std::vector<PlannedRun> &runs,
                            const std::set<std::string> &given,
                            std::optional<int> only);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_RUNNEEDS_H
