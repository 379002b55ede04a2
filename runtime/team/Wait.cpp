//===- Wait.cpp - Waiting for another rank, within a limit ----------------===//
//
// A wait first polls, then yields the core to other threads, then sleeps for
// short times: there may be more ranks than cores.
//
//===----------------------------------------------------------------------===//

#include "runtime/team/Wait.h"

#include <chrono>
#include <sstream>
#include <thread>

namespace ccn::runtime {

Status Waiter::blame(int other, const WaitReason &reason,
                     const std::string &event) {
  std::ostringstream text;
  text << event << " while waiting for rank " << other << ": '" << reason.what
       << "' of call " << reason.epoch << " of " << reason.operation;
  // Follows the chain of waiting ranks, whose end is likely to blame.
  int last = other;
  for (int hops = 0; hops < transport.ranks(); ++hops) {
    int next = transport.waitingFor(last);
    if (next < 0 || next == rank)
      break;
    text << "; rank " << last << " waits for rank " << next;
    last = next;
  }
  return transport.fail(rank, text.str());
}

Status Waiter::waitLonger(int other, const WaitReason &reason,
                          bool (*ready)(void *), void *argument, Needs needs) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  constexpr int yields = 200;
  constexpr double livenessInterval = 0.05;
  Clock::time_point start = Clock::now();
  double nextLook = livenessInterval;
  transport.setWaitingFor(rank, other);
  Status status;
  for (int i = 0;; ++i) {
    if (ready(argument))
      break;
    if (transport.failed()) {
      status = transport.failure();
      break;
    }
    if (i < yields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    double waited = Seconds(Clock::now() - start).count();
    if (waited > timeLimit) {
      std::ostringstream event;
      event << "the time limit of " << timeLimit << " s passed";
      status = blame(other, reason, event.str());
      break;
    }
    if (waited < nextLook)
      continue;
    nextLook = waited + livenessInterval;
    // `other` may have done its part and left just before this check.
    if (!transport.isGone(other) ||
        (needs == Needs::Process && transport.hasLeft(other)) ||
        ready(argument))
      continue;
    status = transport.failed()
                 ? transport.failure()
                 : blame(other, reason,
                         "rank " + std::to_string(other) + " has ended");
    break;
  }
  transport.setWaitingFor(rank, -1);
  return status;
}

} // namespace ccn::runtime
