//===- RankRun.h - What one rank does ---------------------------*- C++ -*-===//
//
// Common to ranks that are threads and ranks that are processes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_RANKRUN_H
#define CCN_TOOLS_CCRUN_RANKRUN_H

#include "runtime/api/RankCode.h"
#include "runtime/team/Transport.h"
#include "tools/ccrun/RunMemory.h"
#include "tools/ccrun/Trace.h"

#include <functional>

namespace ccn {

/// The symmetric memory that each rank of a run needs.
Result<int64_t> heapBytes(const runtime::Plan &plan, bool onGpus);

/// Runs the task of `memory` on one rank of a team, and reports there how it
/// ended. A failure fails the team. The rank has not left it then.
Status runRank(const runtime::RankCode &code, RunMemory &memory,
               runtime::Transport &transport, int rank, Trace &trace);

/// What runRank does on a GPU. meet() returns when all ranks have called it.
Status executeOnGpu(const runtime::GpuProgram &program, RunMemory &memory,
                    runtime::Transport &transport, int rank, RankTrace *trace,
                    const std::function<Status()> &meet);

/// Says in the rank's report how it ended.
void reportEnd(RunMemory &memory, int rank, const Status &status);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_RANKRUN_H
