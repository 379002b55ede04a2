//===- Rendezvous.cpp - Where ranks meet ----------------------------------===//
//
// Uses one lock for everything: what is done under it is short.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Rendezvous.h"

#include <algorithm>

namespace ccn::interp {

/// One meeting of one group.
struct Rendezvous::Round {
  RankGroup group;
  Meeting meeting;
  /// The rank that came first and passed `meeting`.
  int firstRank = 0;
  Shown shown = std::make_shared<ShownValues>();
  /// By position in the group.
  std::vector<bool> posted;
  size_t arrived = 0;

  bool isComplete() const { return arrived == group.size(); }
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

Status Rendezvous::fail(Status status) {
  if (failure.ok()) {
    failure = std::move(status);
    for (size_t rank = 0; rank < in.size(); ++rank)
      if (in[rank] && !in[rank]->isComplete())
        ready.push_back(static_cast<int>(rank));
  }
  return failure;
}

std::string Rendezvous::describeMissing(const Round &round) const {
  std::vector<int> missing;
  for (size_t i = 0; i < round.group.size(); ++i)
    if (!round.posted[i])
      missing.push_back(round.group[i]);
  std::string text = describeRanks(missing) + " did not arrive";
  for (int rank : missing)
    if (const auto &elsewhere = in[static_cast<size_t>(rank)])
      text += "; rank " + std::to_string(rank) + " is waiting in " +
              elsewhere->meeting.name() + " of " +
              describeRanks(elsewhere->group);
  return text;
}

bool Rendezvous::isGroup(RankGroup group) const {
  std::sort(group.begin(), group.end());
  return std::adjacent_find(group.begin(), group.end()) == group.end() &&
         group.front() >= 0 && static_cast<size_t>(group.back()) < in.size();
}

Result<Shown> Rendezvous::exchange(int rank, const RankGroup &group,
                                   const Meeting &meeting, HostTensor value) {
  std::lock_guard<std::mutex> lock(mutex);
  if (rank < 0 || static_cast<size_t>(rank) >= in.size())
    return fail(error("there is no rank ", rank, " of ", in.size()));
  std::shared_ptr<Round> &own = in[static_cast<size_t>(rank)];
  if (own && own->isComplete()) {
    Shown shown = own->shown;
    own.reset();
    return shown;
  }
  if (!failure.ok()) {
    own.reset();
    return failure;
  }
  if (own)
    return error("rank ", rank, " has to wait");

  auto found = std::find(group.begin(), group.end(), rank);
  auto position = static_cast<size_t>(found - group.begin());
  auto opened = open.find(group);
  if (found == group.end() || (opened == open.end() && !isGroup(group)))
    return fail(error("rank ", rank, " of ", in.size(), " cannot take part in ",
                      meeting.name(), " of ", describeRanks(group)));
  std::shared_ptr<Round> round;
  if (opened == open.end()) {
    round = open[group] = std::make_shared<Round>();
    round->group = group;
    round->meeting = meeting;
    round->firstRank = rank;
    round->shown->values.resize(group.size());
    round->posted.resize(group.size());
  } else {
    round = opened->second;
  }
  const Meeting &first = round->meeting;
  if (first.id != meeting.id)
    return fail(error("ranks meet in different operations: rank ",
                      round->firstRank, " in ", first.name(), ", rank ", rank,
                      " in ", meeting.name()));
  if (first.sequence != meeting.sequence)
    return fail(error("ranks meet in different operations: rank ",
                      round->firstRank, " in ", first.name(),
                      " as its operation number ", first.sequence, ", rank ",
                      rank, " in ", meeting.name(), " as its operation number ",
                      meeting.sequence));
  round->shown->values[position] = std::move(value);
  round->posted[position] = true;
  ++round->arrived;
  if (!round->isComplete()) {
    own = round;
    return error("rank ", rank, " has to wait");
  }
  open.erase(group);
  for (int member : group)
    if (member != rank)
      ready.push_back(member);
  return round->shown;
}

bool Rendezvous::isWaiting(int rank) const {
  std::lock_guard<std::mutex> lock(mutex);
  return in[static_cast<size_t>(rank)] != nullptr;
}

std::vector<int> Rendezvous::takeReady() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(ready, {});
}

void Rendezvous::abort(int rank, const Status &cause) {
  std::lock_guard<std::mutex> lock(mutex);
  (void)fail(error("rank ", rank, " failed: ", cause.message()));
}

void Rendezvous::failForever() {
  std::lock_guard<std::mutex> lock(mutex);
  for (const std::shared_ptr<Round> &round : in)
    if (round && !round->isComplete())
      return (void)fail(
          error(round->meeting.name(), " of ", describeRanks(round->group),
                " would wait forever: ", describeMissing(*round)));
}

Status Rendezvous::firstFailure() const {
  std::lock_guard<std::mutex> lock(mutex);
  return failure;
}

} // namespace ccn::interp
