//===- TraceArrows.h - Which rank waited for which --------------*- C++ -*-===//
//
// Arrows between the ranks of a trace: from the member of a group that comes to
// a barrier last to those that wait for it, and from a signal to what awaits
// it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_TRACEARROWS_H
#define CCN_TOOLS_CCRUN_TRACEARROWS_H

#include "runtime/plan/Plan.h"

#include <vector>

namespace ccn {

/// A part that a rank ran.
struct TracedPart {
  int rank = 0, stream = 0;
  uint64_t run = 0;
  /// The launch's and the part's numbers in the plan.
  int launch = 0, part = 0;
  int64_t begin = 0, end = 0;
};

/// From a time within the part `from` to one within the part `to`.
struct TraceArrow {
  TracedPart from, to;
  int64_t begin = 0, end = 0;
};

/// The arrows between parts, in the order of the runs. There is none where
/// clocks of hosts say that it would go back in time.
std::vector<TraceArrow> findArrows(const runtime::Plan &plan,
                                   const std::vector<TracedPart> &parts);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_TRACEARROWS_H
