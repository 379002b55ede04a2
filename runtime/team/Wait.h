//===- Wait.h - Waiting for another rank, within a limit --------*- C++ -*-===//
//
// Every wait for something that another rank does goes through Waiter::wait: it
// ends when that is done, when the team has failed, when the other rank has
// left or died, or when the time limit is over; the latter two fail the team
// with the name of the rank that is to blame and of what was waited for.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TEAM_WAIT_H
#define CCN_RUNTIME_TEAM_WAIT_H

#include "runtime/team/Transport.h"

namespace ccn::runtime {

/// What is waited for, for messages: "the signal 'data' of call 3 of
/// all_gather".
struct WaitReason {
  /// The collective's name.
  const char *operation;
  /// The protocol's name of what is missing.
  const char *what;
  /// The number of the call, from 1.
  uint64_t epoch;
};

class Waiter {
public:
  /// What must not be gone for a wait to make sense.
  enum class Needs { Rank, Process };

  /// For a thread of `rank`. It waits at most `timeLimit` seconds at a time.
  Waiter(Transport &transport, int rank, double timeLimit)
      : transport(transport), rank(rank), timeLimit(timeLimit) {}

  /// Waits until ready() returns true, which `other` must bring about.
  /// With Needs::Process it may have left, as long as its process lives.
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
