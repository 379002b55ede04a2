//===- Ranks.h - Runs a plan on ranks ---------------------------*- C++ -*-===//
//
// Ranks are threads of this process, processes that it starts, or processes
// that a launcher started, of which this is one. If one rank fails, all stop
// within seconds, and the cause is reported.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_RANKS_H
#define CCN_TOOLS_CCRUN_RANKS_H

#include "runtime/launch/Bootstrap.h"
#include "runtime/plan/Package.h"
#include "tools/ccrun/RunMemory.h"
#include "tools/ccrun/Trace.h"

namespace ccn {

/// Runs the task of `memory`, which has the arguments and receives the results,
/// with a thread for each rank. An error is the first failure of a rank. If the
/// task says so, `trace` receives what ran when.
Status runThreads(const runtime::Package &package, RunMemory &memory,
                  Trace &trace);

/// Likewise with a process for each rank, which reads the package from `path`
/// anew. A signal that asks this process to end (SIGINT, SIGTERM, SIGHUP) ends
/// the ranks, and then this process by that signal.
Status runProcesses(const std::string &path, RunMemory &memory, Trace &trace);

/// The symmetric memory of each rank of a team that runs a plan.
Result<int64_t> teamBytes(const runtime::Plan &plan, bool onGpus);

/// Likewise with the processes of `team`, each of which calls this. `memory` is
/// this rank's; afterwards, that of rank 0 has the results of all ranks.
Status runTeamRank(const runtime::Package &package, RunMemory &memory,
                   runtime::Team &team, Trace &trace);

/// What such a process does, in the words of its command line: its rank, its
/// open files with the memory of the run, the symmetric heap and the trace (-1:
/// none), and the variant. Returns the exit code; it has told the memory why if
/// it failed.
int runWorker(const std::string &path, const std::string &worker);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_RANKS_H
