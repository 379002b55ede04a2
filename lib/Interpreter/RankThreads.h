//===- RankThreads.h - One thread for each rank -----------------*- C++ -*-===//
//
// Starts and joins the rank threads. Apart from the interpreter because a
// machine that cannot start a thread says so by an exception, which code on top
// of MLIR is compiled without.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_RANKTHREADS_H
#define CCN_INTERPRETER_RANKTHREADS_H

#include "runtime/base/Status.h"

#include <functional>

namespace ccn::interp {

/// Calls body(rank) for the ranks 0 .. ranks-1, each in a thread of its own,
/// and waits for all. If a thread cannot be started, calls stop() with the
/// failure, which must make the bodies that run return, waits for them, and
/// returns it.
Status runOnRanks(int ranks, const std::function<void(int)> &body,
                  const std::function<void(const Status &)> &stop);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_RANKTHREADS_H
