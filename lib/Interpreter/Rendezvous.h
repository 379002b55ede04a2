//===- Rendezvous.h - Where ranks meet --------------------------*- C++ -*-===//
//
// The ranks of a collective meet here: each member of a group posts a tensor
// and gets the tensors of all. No rank blocks a thread while it waits, so few
// threads, or one, run any number of ranks. A wrong program, in which ranks
// wait for each other forever or meet in different operations, ends with an
// error instead of hanging.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_RENDEZVOUS_H
#define CCN_INTERPRETER_RENDEZVOUS_H

#include "runtime/tensor/HostTensor.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
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
  /// Gives the operation's name in messages, such as "all_reduce at
  /// adam.ccn:6:14".
  std::function<std::string()> name;
};

/// The members of a group, in the order in which exchange() returns their
/// tensors. All members must pass the same list.
using RankGroup = std::vector<int>;

/// What the members of a group show each other in one meeting.
struct ShownValues {
  /// By position in the group.
  std::vector<HostTensor> values;
  /// What members made of all values that others may need too, by the region of
  /// the global tensor that it is: its offsets, then its sizes. To be used with
  /// `mutex` locked.
  std::map<std::vector<int64_t>, HostTensor> made;
  std::mutex mutex;
};
using Shown = std::shared_ptr<ShownValues>;

/// Lets the ranks of a group show each other a value. Thread-safe. The first
/// failure (a mismatch, an abort) is final: every later call returns it.
class Rendezvous {
public:
  /// For the ranks 0 .. ranks-1.
  explicit Rendezvous(int ranks) : in(static_cast<size_t>(ranks)) {}

  /// Gives `value` of `rank` to the other members of `group` and returns the
  /// members' values. Values may differ in type and shape. If not all members
  /// have come, fails, and isWaiting(rank) is true: when takeReady() has
  /// returned the rank, it calls again with the same arguments. Groups that
  /// have ranks in common, such as those of different mesh axes, may be used in
  /// any order in which ranks do not wait for each other.
  Result<Shown> exchange(int rank, const RankGroup &group,
                         const Meeting &meeting, HostTensor value);

  /// Whether the last exchange() of a rank failed because it has to wait.
  bool isWaiting(int rank) const;

  /// The ranks that need not wait any longer, since all members have come or
  /// something has failed. Each is returned once.
  std::vector<int> takeReady();

  /// Tells all ranks that `rank` failed with `cause`. Their calls then return
  /// an error that names the rank and quotes the cause. Has no effect after a
  /// failure.
  void abort(int rank, const Status &cause);

  /// Makes all calls fail because those ranks that have not finished wait for
  /// each other, or for ranks that have finished. At least one rank must wait.
  void failForever();

  /// The first failure, or success.
  Status firstFailure() const;

private:
  struct Round;

  Status fail(Status status);
  /// Whether these are ranks, each named once; there is at least one.
  bool isGroup(RankGroup group) const;
  std::string describeMissing(const Round &round) const;

  mutable std::mutex mutex;
  /// The incomplete round of each group; erased when all members have come.
  std::map<RankGroup, std::shared_ptr<Round>> open;
  /// The round in which each rank has posted and from which it has not yet
  /// taken the values.
  std::vector<std::shared_ptr<Round>> in;
  std::vector<int> ready;
  Status failure;
};

} // namespace ccn::interp

#endif // CCN_INTERPRETER_RENDEZVOUS_H
