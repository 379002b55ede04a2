//===- RankThreads.h - Runs many ranks on few threads -----------*- C++ -*-===//
//
// Lets each rank run until it has to wait for others, and again when it need
// not wait any longer. This is a separate file because std::thread throws if it
// cannot start, and code that uses MLIR is compiled without exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_RANKTHREADS_H
#define CCN_INTERPRETER_RANKTHREADS_H

#include "lib/Interpreter/Rendezvous.h"

#include <functional>

namespace ccn::interp {

/// How a rank stopped running.
enum class Pause : uint8_t {
  /// It has nothing left to do.
  Done,
  /// It waits in a meeting.
  Waits,
};

/// Calls run(rank) for each rank 0 .. ranks-1, and again for a rank that waited
/// when `meetings` says that it need not wait any longer, until all are done.
/// Uses up to `threads` threads, with the caller's; with fewer if no more can
/// be started. If all that are not done wait, makes the meetings fail.
void runRanks(int ranks, unsigned threads, Rendezvous &meetings,
              const std::function<Pause(int)> &run);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_RANKTHREADS_H
