//===- Rendezvous.cpp - Where rank threads meet ---------------------------===//
//
// Uses one lock for everything, and one condition variable for each incomplete
// meeting, so that a complete meeting wakes only its own members.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Rendezvous.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>

namespace ccn::interp {

/// One meeting of one group.
struct Rendezvous::Round {
  Meeting meeting;
  /// The rank that came first and passed `meeting`.
  int firstRank = 0;
  /// By position in the group.
  std::vector<HostTensor> values;
  std::vector<bool> posted;
  size_t arrived = 0;
  bool complete = false;
  /// Notified when the round is complete or everything has failed.
  std::condition_variable changed;
};

namespace {

/// Ranks in words: "rank 1" or "ranks 1, 2".
std::string describeRanks(const std::vector<int> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text;
}

} // namespace

Rendezvous::Rendezvous(int ranks, double timeLimit)
    : ranks(ranks),
      // The limit is at most about thirty years, so that adding it to the clock
      // does not overflow.
      timeLimit(timeLimit > 0 ? std::min(timeLimit, 1e9) : 0),
      waiting(static_cast<size_t>(ranks)) {}

Status Rendezvous::fail(Status status) {
  if (failure.ok()) {
    failure = std::move(status);
    for (const auto &[group, round] : open)
      round->changed.notify_all();
  }
  return failure;
}

std::string Rendezvous::describeMissing(const Round &round,
                                        const RankGroup &group) const {
  std::vector<int> missing;
  for (size_t i = 0; i < group.size(); ++i)
    if (!round.posted[i])
      missing.push_back(group[i]);
  std::string text = describeRanks(missing) + " did not arrive";
  for (int rank : missing)
    if (const auto &elsewhere = waiting[static_cast<size_t>(rank)])
      text += "; rank " + std::to_string(rank) + " is waiting in " +
              elsewhere->name + " of " + describeRanks(elsewhere->group);
  return text;
}

Result<std::vector<HostTensor>> Rendezvous::exchange(int rank,
                                                     const RankGroup &group,
                                                     const Meeting &meeting,
                                                     HostTensor value) {
  std::unique_lock<std::mutex> lock(mutex);
  if (!failure.ok())
    return failure;
  auto inRange = [&](int r) { return r >= 0 && r < ranks; };
  RankGroup sorted = group;
  std::sort(sorted.begin(), sorted.end());
  auto found = std::find(group.begin(), group.end(), rank);
  if (found == group.end() ||
      !std::all_of(group.begin(), group.end(), inRange) ||
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return fail(error("rank ", rank, " of ", ranks, " cannot take part in ",
                      meeting.name, " of ", describeRanks(group)));
  auto position = static_cast<size_t>(found - group.begin());

  std::shared_ptr<Round> round = open[group];
  if (!round) {
    round = open[group] = std::make_shared<Round>();
    round->meeting = meeting;
    round->firstRank = rank;
    round->values.resize(group.size());
    round->posted.resize(group.size());
  }
  const Meeting &first = round->meeting;
  if (first.id != meeting.id)
    return fail(error("ranks meet in different operations: rank ",
                      round->firstRank, " in ", first.name, ", rank ", rank,
                      " in ", meeting.name));
  if (first.sequence != meeting.sequence)
    return fail(error("ranks meet in different operations: rank ",
                      round->firstRank, " in ", first.name,
                      " as its operation number ", first.sequence, ", rank ",
                      rank, " in ", meeting.name, " as its operation number ",
                      meeting.sequence));
  if (round->posted[position])
    return fail(error("rank ", rank, " takes part twice in ", meeting.name));
  round->values[position] = std::move(value);
  round->posted[position] = true;
  if (++round->arrived == group.size()) {
    round->complete = true;
    open.erase(group);
    round->changed.notify_all();
    return round->values;
  }

  auto deadline =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(
          std::chrono::duration<double>(timeLimit));
  waiting[static_cast<size_t>(rank)] = Waiting{group, meeting.name};
  bool woken = round->changed.wait_until(
      lock, deadline, [&] { return round->complete || !failure.ok(); });
  waiting[static_cast<size_t>(rank)].reset();
  if (round->complete)
    return round->values;
  if (woken)
    return failure;
  return fail(error("the time limit of ", timeLimit, " s passed in ",
                    meeting.name, " of ", describeRanks(group), ": ",
                    describeMissing(*round, group)));
}

Status Rendezvous::barrier(int rank, const RankGroup &group,
                           const Meeting &meeting) {
  return exchange(rank, group, meeting, HostTensor()).status();
}

void Rendezvous::abort(int rank, const Status &cause) {
  std::lock_guard<std::mutex> lock(mutex);
  (void)fail(error("rank ", rank, " failed: ", cause.message()));
}

Status Rendezvous::firstFailure() const {
  std::lock_guard<std::mutex> lock(mutex);
  return failure;
}

} // namespace ccn::interp
