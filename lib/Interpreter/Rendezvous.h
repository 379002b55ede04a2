//===- Rendezvous.h - Where rank threads meet -------------------*- C++ -*-===//
//
// The reference interpreter runs each rank as a thread; the ranks of a
// collective meet here. Each member of a group posts a tensor and gets the
// tensors of all. A wrong program, in which ranks wait for each other forever
// or meet in different operations, ends with an error instead of hanging.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_RENDEZVOUS_H
#define CCN_INTERPRETER_RENDEZVOUS_H

#include "runtime/tensor/HostTensor.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ccn::interp {

using runtime::HostTensor;

/// The operation in which ranks meet. Members of a group must agree on `id` and
/// `sequence`.
struct Meeting {
  /// Identifies the operation; for example, its address in a program that ranks
  /// share.
  uint64_t id = 0;
  /// Tells the executions of operations apart; the caller chooses how to count
  /// them.
  int64_t sequence = 0;
  /// The operation's name in messages, such as "all_reduce at adam.ccn:6:14".
  std::string name;
};

/// The members of a group, in the order in which exchange() returns their
/// tensors. All members must pass the same list.
using RankGroup = std::vector<int>;

/// Lets the ranks of a group show each other a value.
class Exchange {
public:
  virtual ~Exchange() = default;

  /// Gives `value` of `rank` to the other members of `group` and returns the
  /// members' values in the group's order. Values may differ in type and shape.
  virtual Result<std::vector<HostTensor>> exchange(int rank,
                                                   const RankGroup &group,
                                                   const Meeting &meeting,
                                                   HostTensor value) = 0;
};

/// Thread-safe. The first failure (a time-out, a mismatch, an abort) is final:
/// it wakes every waiting rank, and every later call returns it.
class Rendezvous : public Exchange {
public:
  /// For the ranks 0 .. ranks-1, each in its own thread. A rank that waits
  /// longer than `timeLimit` seconds for the others fails.
  Rendezvous(int ranks, double timeLimit);

  /// Posts `value` for `rank` and waits for the other members of `group`.
  /// Groups that have ranks in common, such as those of different mesh axes,
  /// may be used in any order that does not deadlock.
  Result<std::vector<HostTensor>> exchange(int rank, const RankGroup &group,
                                           const Meeting &meeting,
                                           HostTensor value) override;

  /// Waits for the other members of `group`.
  Status barrier(int rank, const RankGroup &group, const Meeting &meeting);

  /// Tells all ranks that `rank` failed with `cause`. Their calls then return
  /// an error that names the rank and quotes the cause. Has no effect after a
  /// failure.
  void abort(int rank, const Status &cause);

  /// The first failure, or success.
  Status firstFailure() const;

private:
  struct Round;
  struct Waiting {
    RankGroup group;
    std::string name;
  };

  Status fail(Status status);
  std::string describeMissing(const Round &round, const RankGroup &group) const;

  const int ranks;
  const double timeLimit;
  mutable std::mutex mutex;
  /// The incomplete round of each group; erased when all members have come.
  std::map<RankGroup, std::shared_ptr<Round>> open;
  /// What each rank waits for, for messages.
  std::vector<std::optional<Waiting>> waiting;
  Status failure;
};

} // namespace ccn::interp

#endif // CCN_INTERPRETER_RENDEZVOUS_H
