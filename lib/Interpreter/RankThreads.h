//===- RankThreads.h - Runs a thread for each rank --------------*- C++ -*-===//
//
// Starts and joins the ranks' threads. This is a separate file because
// std::thread throws if it cannot start, and code that uses MLIR is compiled
// without exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_RANKTHREADS_H
#define CCN_INTERPRETER_RANKTHREADS_H

#include "runtime/base/Status.h"

#include <functional>

namespace ccn::interp {

/// Calls body(rank) for each rank 0 .. ranks-1 in its own thread, and waits for
/// all. If a thread cannot be started, calls stop(failure), which must make the
/// running bodies return, waits for them, and returns the failure.
Status runOnRanks(int ranks, const std::function<void(int)> &body,
                  const std::function<void(const Status &)> &stop);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_RANKTHREADS_H
