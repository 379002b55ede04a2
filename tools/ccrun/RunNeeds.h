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

/// What plans that are run one after the other, whose arguments and results
/// stay until the last has ended, take of this host's memory: all ranks, or
/// those of one, as `only` says, without its symmetric memory, for which its
/// team looks. Arrays of the names `given` are read whole; the others are
/// drawn.
Result<MemoryNeeds> needsOf(const std::vector<PlannedRun> &runs,
                            const std::set<std::string> &given,
                            std::optional<int> only);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_RUNNEEDS_H
