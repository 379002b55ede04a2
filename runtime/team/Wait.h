//===- Wait.h - Waiting for another rank, within a limit --------*- C++ -*-===//
//
// Every wait for another rank goes through Waiter::wait. A wait ends when the
// other rank has done what is awaited, when the team has failed, when the other
// rank has left or its process has ended, or when the time limit is over. The
// last two fail the team, with an error that says which rank was awaited, and
// for what.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TEAM_WAIT_H
#define CCN_RUNTIME_TEAM_WAIT_H

#include "runtime/team/Transport.h"

namespace ccn::runtime {

/// What is awaited, for error messages: "'data' of call 3 of all_gather".
struct WaitReason {
  /// The collective's name.
  const char *operation;
  /// What the protocol calls the thing that is missing.
  const char *what;
  /// The number of the call, from 1.
  uint64_t epoch;
};

class Waiter {
public:
  /// What must still exist for a wait to make sense: the rank must not have
  /// left, or only its process must not have ended.
  enum class Needs { Rank, Process };

  /// For one thread of `rank`. A wait takes at most `timeLimit` seconds.
  Waiter(Transport &transport, int rank, double timeLimit)
      : transport(transport), rank(rank), timeLimit(timeLimit) {}

  /// Waits until ready() returns true, which `other` must bring about. With
  /// Needs::Process, `other` may have left as long as its process lives.
  template <typename Ready>
  Status wait(int other, const WaitReason &reason, Ready ready,
              Needs needs = Needs::Rank) {
    for (int i = 0; i < quickLooks; ++i)
      if (ready())
        return Status();
    return waitLonger(
        other, reason, [](void *f) { return (*static_cast<Ready *>(f))(); },
        &ready, needs);
  }

private:
  static constexpr int quickLooks = 64;

  Status waitLonger(int other, const WaitReason &reason, bool (*ready)(void *),
                    void *argument, Needs needs);
  Status blame(int other, const WaitReason &reason, const std::string &event);

  Transport &transport;
  int rank;
  double timeLimit;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_WAIT_H
