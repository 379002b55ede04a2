//===- RankRun.h - What one rank does ---------------------------*- C++ -*-===//
//
// Common to ranks that are threads and ranks that are processes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_RANKRUN_H
#define CCN_TOOLS_CCRUN_RANKRUN_H

#include "runtime/ObjectCode.h"
#include "runtime/SymmetricHeap.h"
#include "tools/ccrun/RunMemory.h"
#include "tools/ccrun/Trace.h"

namespace ccn {

/// The symmetric memory that each rank of a run needs.
Result<int64_t> heapBytes(const runtime::Plan &plan);

/// Runs the task of `memory` on one rank of the heap, and reports there how it
/// ended. A failure fails the team.
Status runRank(const runtime::ObjectCode &code, RunMemory &memory,
               runtime::SymmetricHeap &heap, int rank, Trace &trace);

/// Says in the rank's report how it ended.
void reportEnd(RunMemory &memory, int rank, const Status &status);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_RANKRUN_H
