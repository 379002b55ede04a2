//===- CheckPlan.cpp - Checks plans ---------------------------------------===//
//
// Checks each rank's plan by itself, then what all ranks' plans must agree on.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/CheckPlan.h"

#include "runtime/plan/CheckParts.h"
#include "runtime/plan/SymmetricMemory.h"

#include <algorithm>
#include <map>

namespace ccn::runtime {

namespace {

/// Each stream is a thread; no plan has a use for more.
constexpr int maxStreams = 64;
constexpr int64_t maxFlags = 1 << 24;

//===----------------------------------------------------------------------===//
// What is the same for all ranks
//===----------------------------------------------------------------------===//

Status checkMesh(const Plan &plan) {
  int64_t ranks = 1;
  for (const MeshAxis &axis : plan.mesh)
    if (axis.size < 1 || __builtin_mul_overflow(ranks, axis.size, &ranks) ||
        ranks > maxTeamRanks)
      return error("the mesh has an axis of ", axis.size, " ranks; expected 1",
                   " to ", maxTeamRanks, " in all");
  if (ranks != static_cast<int64_t>(plan.ranks.size()))
    return error("the mesh has ", ranks, " ranks, the plan ",
                 plan.ranks.size());
  return Status();
}

Status checkArgument(const Argument &argument) {
  if (!isValid(argument.type) || argument.kind > ArgumentKind::Result)
    return error("argument '", argument.name, "' has an unknown type or kind");
  if (Result<int64_t> count = elementCount(argument.shape); !count)
    return error("argument '", argument.name, "': ", count.message());
  auto dims = static_cast<int64_t>(argument.shape.size());
  if (argument.leadingDims < 0 || argument.leadingDims > dims)
    return error("argument '", argument.name, "': expected at most ", dims,
                 " leading dimensions, found ", argument.leadingDims);
  return Status();
}

Status checkGroups(const Plan &plan) {
  auto ranks = static_cast<int>(plan.ranks.size());
  for (size_t i = 0; i < plan.groups.size(); ++i) {
    std::vector<int> sorted = plan.groups[i];
    std::sort(sorted.begin(), sorted.end());
    if (sorted.empty() || sorted.front() < 0 || sorted.back() >= ranks ||
        std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return error("group ", i, ": expected different ranks below ", ranks);
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// One rank
//===----------------------------------------------------------------------===//

Status checkPlacement(const Argument &argument, const Placement &placement) {
  size_t dims = argument.shape.size();
  if (placement.offsets.size() != dims || placement.sizes.size() != dims)
    return error("expected ", dims, " dimensions, found ",
                 placement.sizes.size());
  for (size_t dim = 0; dim < dims; ++dim) {
    int64_t offset = placement.offsets[dim], size = placement.sizes[dim];
    if (offset < 0 || size < 0 || size > argument.shape[dim] ||
        offset > argument.shape[dim] - size)
      return error("indices ", offset, " to ", offset, " + ", size,
                   " of dimension ", dim, " do not lie inside of ",
                   argument.shape[dim]);
    if (static_cast<int64_t>(dim) < argument.leadingDims && size != 1)
      return error("expected size 1 of leading dimension ", dim, ", found ",
                   size);
  }
  return Status();
}

Status checkBuffer(const Plan &plan, const RankPlan &rank,
                   const Buffer &buffer) {
  if (!isValid(buffer.type) || buffer.memory > Memory::Symmetric)
    return error("its type or memory is unknown");
  if (buffer.count < 0 ||
      buffer.count > maxSymmetricBytes / sizeInBytes(buffer.type))
    return error("a buffer cannot have ", buffer.count, " elements");
  if (buffer.memory == Memory::Argument) {
    auto arguments = static_cast<int64_t>(plan.arguments.size());
    if (buffer.offset < 0 || buffer.offset >= arguments)
      return error("expected an argument below ", arguments, ", found ",
                   buffer.offset);
    auto index = static_cast<size_t>(buffer.offset);
    const Argument &argument = plan.arguments[index];
    int64_t count = *elementCount(rank.placements[index].sizes);
    if (buffer.type != argument.type || buffer.count != count)
      return error("expected the ", count, " elements of type ",
                   name(argument.type), " of argument '", argument.name,
                   "', found ", buffer.count, " of type ", name(buffer.type));
    return Status();
  }
  int64_t bytes = buffer.count * sizeInBytes(buffer.type);
  int64_t arena = buffer.memory == Memory::Private ? rank.privateBytes
                                                   : rank.symmetricBytes;
  if (buffer.offset < 0 || buffer.offset % symmetricAlignment != 0 ||
      buffer.offset > arena || bytes > arena - buffer.offset)
    return error(bytes, " bytes at ", buffer.offset,
                 " are not aligned, or not inside of the arena of ", arena);
  return Status();
}

Status checkLaunches(const Plan &plan, int rank) {
  const RankPlan &rankPlan = plan.ranks[static_cast<size_t>(rank)];
  for (size_t i = 0; i < rankPlan.launches.size(); ++i) {
    const Launch &launch = rankPlan.launches[i];
    auto wrong = [&](const auto &...why) {
      return error("launch ", i, " ('", launch.name, "'): ", why...);
    };
    if (launch.stream < 0 || launch.stream >= rankPlan.streams)
      return wrong("expected a stream below ", rankPlan.streams, ", found ",
                   launch.stream);
    for (int other : launch.waits)
      if (other < 0 || static_cast<size_t>(other) >= i)
        return wrong("expected to wait for an earlier launch, found ", other);
    for (size_t part = 0; part < launch.parts.size(); ++part)
      if (Status status = checkPart(plan, rank, launch.parts[part]); !status)
        return wrong("part ", part, ": ", status.message());
  }
  return Status();
}

Status checkRank(const Plan &plan, int rank) {
  const RankPlan &rankPlan = plan.ranks[static_cast<size_t>(rank)];
  for (int64_t bytes : {rankPlan.privateBytes, rankPlan.symmetricBytes})
    if (bytes < 0 || bytes > maxSymmetricBytes)
      return error("an arena cannot have ", bytes, " bytes");
  if (rankPlan.flags < 0 || rankPlan.flags > maxFlags)
    return error("expected at most ", maxFlags, " flags, found ",
                 rankPlan.flags);
  if (rankPlan.streams < 1 || rankPlan.streams > maxStreams)
    return error("expected 1 to ", maxStreams, " streams, found ",
                 rankPlan.streams);
  if (rankPlan.placements.size() != plan.arguments.size())
    return error("expected ", plan.arguments.size(), " placements, found ",
                 rankPlan.placements.size());
  for (size_t i = 0; i < plan.arguments.size(); ++i)
    if (Status status =
            checkPlacement(plan.arguments[i], rankPlan.placements[i]);
        !status)
      return error("placement of argument '", plan.arguments[i].name,
                   "': ", status.message());
  for (size_t i = 0; i < rankPlan.buffers.size(); ++i)
    if (Status status = checkBuffer(plan, rankPlan, rankPlan.buffers[i]);
        !status)
      return error("buffer ", i, ": ", status.message());
  return checkLaunches(plan, rank);
}

//===----------------------------------------------------------------------===//
// All ranks together
//===----------------------------------------------------------------------===//

/// The barriers and exchanges of a launch, in which ranks meet.
std::vector<const Part *> meetingsOf(const Launch &launch) {
  std::vector<const Part *> meetings;
  for (const Part &part : launch.parts)
    if (std::holds_alternative<BarrierPart>(part) ||
        std::holds_alternative<ExchangePart>(part))
      meetings.push_back(&part);
  return meetings;
}

/// Checks that a rank has the launches of rank 0, with the same barriers and
/// exchanges. Other parts may differ, as a rank may have nothing to compute or
/// copy.
Status checkLikeFirst(const Plan &plan, const RankPlan &rank) {
  const RankPlan &reference = plan.ranks[0];
  if (rank.symmetricBytes != reference.symmetricBytes ||
      rank.flags != reference.flags)
    return error("its symmetric memory or flags differ from those of rank 0");
  if (rank.launches.size() != reference.launches.size())
    return error("expected the ", reference.launches.size(),
                 " launches of rank 0, found ", rank.launches.size());
  for (size_t i = 0; i < rank.launches.size(); ++i) {
    const Launch &a = reference.launches[i], &b = rank.launches[i];
    std::vector<const Part *> first = meetingsOf(a), own = meetingsOf(b);
    if (a.stream != b.stream ||
        !std::equal(first.begin(), first.end(), own.begin(), own.end(),
                    [](const Part *x, const Part *y) {
                      return x->index() == y->index();
                    }))
      return error("launch ", i,
                   " is on another stream or has other barriers or exchanges "
                   "than on rank 0");
  }
  return Status();
}

/// Finds out which rank sets each flag of each rank, and in which launch. No
/// rank may wait in one launch for something that another rank does in a later
/// launch. So ranks that execute their launches in order never wait for each
/// other in a circle.
class FlagChecker {
public:
  explicit FlagChecker(const Plan &plan)
      : plan(plan), setters(plan.ranks.size()) {
    for (const RankPlan &rank : plan.ranks) {
      auto &own = meetings.emplace_back();
      for (const Launch &launch : rank.launches)
        own.push_back(meetingsOf(launch));
    }
  }

  Status check() {
    Status status;
    for (size_t rank = 0; rank < meetings.size(); ++rank)
      for (size_t launch = 0; launch < meetings[rank].size(); ++launch)
        for (size_t i = 0; i < meetings[rank][launch].size() && status; ++i)
          status = checkMeeting(static_cast<int>(rank), launch, i);
    forEachPart([&](int rank, size_t launch, const Part &part) {
      if (const auto *signal = std::get_if<SignalPart>(&part); signal && status)
        status = add(signal->rank, signal->flag, {1, launch, rank, nullptr});
    });
    forEachPart([&](int rank, size_t launch, const Part &part) {
      if (const auto *await = std::get_if<AwaitPart>(&part); await && status)
        status = checkAwait(rank, launch, *await);
    });
    return status;
  }

private:
  /// What sets flags that follow each other: a signal of `rank`, or a barrier,
  /// in which each member of a group sets one.
  struct Setter {
    int64_t count;
    size_t launch;
    int rank;
    const std::vector<int> *members;
  };

  template <typename Body> void forEachPart(Body body) {
    for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
      for (const Launch &launch : plan.ranks[rank].launches)
        for (const Part &part : launch.parts)
          body(static_cast<int>(rank),
               static_cast<size_t>(&launch - plan.ranks[rank].launches.data()),
               part);
  }

  Status checkAwait(int rank, size_t launch, const AwaitPart &await) const {
    const auto &own = setters[static_cast<size_t>(rank)];
    auto found = own.upper_bound(await.flag);
    int64_t place =
        found == own.begin() ? -1 : await.flag - std::prev(found)->first;
    const Setter *setter = place < 0 ? nullptr : &std::prev(found)->second;
    if (setter && place >= setter->count)
      setter = nullptr;
    if (!setter ||
        await.rank != (setter->members
                           ? (*setter->members)[static_cast<size_t>(place)]
                           : setter->rank))
      return error("rank ", rank, " awaits flag ", await.flag, ", which rank ",
                   await.rank, " does not signal");
    if (setter->launch > launch)
      return error("rank ", rank, " awaits flag ", await.flag, " in launch ",
                   launch, ", expected rank ", await.rank,
                   " to signal it in that one or before, found launch ",
                   setter->launch);
    return Status();
  }

  const std::vector<int> &group(int index) const {
    return plan.groups[static_cast<size_t>(index)];
  }
  template <typename Kind>
  const Kind &partOf(int rank, size_t launch, size_t index) const {
    return std::get<Kind>(*meetings[static_cast<size_t>(rank)][launch][index]);
  }

  Status checkMeeting(int rank, size_t launch, size_t index) {
    const Part &part = *meetings[static_cast<size_t>(rank)][launch][index];
    if (const auto *barrier = std::get_if<BarrierPart>(&part))
      return addBarrier(rank, launch, index, *barrier);
    return checkExchange(rank, launch, index, std::get<ExchangePart>(part));
  }

  /// Notes what sets the flags of a rank from `first` on.
  Status add(int rank, int64_t first, Setter setter) {
    auto &own = setters[static_cast<size_t>(rank)];
    auto next = own.upper_bound(first);
    int64_t twice = -1;
    if (next != own.begin() &&
        std::prev(next)->first + std::prev(next)->second.count > first)
      twice = first;
    else if (next != own.end() && next->first - first < setter.count)
      twice = next->first;
    if (twice >= 0)
      return error("flag ", twice, " of rank ", rank, " is set twice in a run");
    own.emplace_hint(next, first, setter);
    return Status();
  }

  /// Calls agrees(other) for the members whose parts must agree with that of
  /// `rank`, and returns one with which it does not; -1 if there is none. Each
  /// is compared with the first member, and the first with all, so that this is
  /// no work for each pair.
  template <typename Agrees>
  static int findOther(int rank, const std::vector<int> &members,
                       Agrees agrees) {
    if (rank != members.front())
      return agrees(members.front()) ? -1 : members.front();
    for (int member : members)
      if (!agrees(member))
        return member;
    return -1;
  }
  bool isSameGroup(int a, int b) const {
    return a == b || group(a) == group(b);
  }

  Status addBarrier(int rank, size_t launch, size_t index,
                    const BarrierPart &barrier) {
    const std::vector<int> &members = group(barrier.group);
    int other = findOther(rank, members, [&](int member) {
      const auto &theirs = partOf<BarrierPart>(member, launch, index);
      return isSameGroup(theirs.group, barrier.group) &&
             theirs.flags == barrier.flags;
    });
    if (other >= 0)
      return error("launch ", launch, " meeting ", index, ": ranks ", rank,
                   " and ", other, " do not come to one barrier");
    return add(rank, barrier.flags,
               {static_cast<int64_t>(members.size()), launch, rank, &members});
  }

  Status checkExchange(int rank, size_t launch, size_t index,
                       const ExchangePart &exchange) {
    auto wrong = [&](int other) {
      return error("launch ", launch, " meeting ", index, ": ranks ", rank,
                   " and ", other, " do not take part in one exchange");
    };
    ElementType type = typeOf(rank, exchange);
    const std::vector<int> &members = group(exchange.group);
    const auto &first = partOf<ExchangePart>(0, launch, index);
    // The memory of all groups must have the same size.
    if (first.exchange != exchange.exchange || typeOf(0, first) != type ||
        first.largestCount != exchange.largestCount ||
        group(first.group).size() != members.size())
      return wrong(0);
    int other = findOther(rank, members, [&](int member) {
      const auto &theirs = partOf<ExchangePart>(member, launch, index);
      bool same = theirs.exchange == Exchange::Schedule
                      ? theirs.schedule == exchange.schedule
                      : theirs.inputCount == exchange.inputCount;
      return isSameGroup(theirs.group, exchange.group) && same &&
             theirs.reduction == exchange.reduction;
    });
    return other < 0 ? Status() : wrong(other);
  }

  ElementType typeOf(int rank, const ExchangePart &exchange) const {
    return plan.ranks[static_cast<size_t>(rank)]
        .buffers[static_cast<size_t>(exchange.from.buffer)]
        .type;
  }

  const Plan &plan;
  /// What sets each rank's flags, by the first flag.
  std::vector<std::map<int64_t, Setter>> setters;
  /// The barriers and exchanges, by rank and launch.
  std::vector<std::vector<std::vector<const Part *>>> meetings;
};

} // namespace

Status checkPlan(const Plan &plan) {
  if (Status status = checkMesh(plan); !status)
    return status;
  for (const Argument &argument : plan.arguments)
    if (Status status = checkArgument(argument); !status)
      return status;
  if (Status status = checkGroups(plan); !status)
    return status;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    Status status = checkRank(plan, static_cast<int>(rank));
    if (status)
      status = checkLikeFirst(plan, plan.ranks[rank]);
    if (!status)
      return error("rank ", rank, ": ", status.message());
  }
  return FlagChecker(plan).check();
}

} // namespace ccn::runtime
