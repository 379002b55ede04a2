//===- LaunchLinks.cpp - What ranks share and send each other -------------===//
//
// What a launch asks of memory, caches, cores, links and the network between
// nodes; and the steps in which it waits for other ranks.
//
//===----------------------------------------------------------------------===//

#include "codegen/predict/LaunchSteps.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>
#include <set>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

static void atLeast(Step &step, double us, Bound bound) {
  if (us > step.leastUs) {
    step.leastUs = us;
    step.leastBound = bound;
  }
}

namespace {

/// What a rank stores into another's memory or loads from there: the time that
/// it takes of a link of its own and of one of the other's.
struct Flow {
  double us = 0;
  bool isFar = false;
  Resource own = LinkOut, others = LinkIn;

  Bound bound() const { return isFar ? Bound::Network : Bound::Link; }
};

Flow flowOf(bool isFar, double bytes, bool isStore, const MachineRates &rates) {
  Flow flow{.isFar = isFar};
  flow.us = usOf(bytes, isFar     ? rates.node->networkGBps
                        : isStore ? rates.linkGBps
                                  : rates.loadGBps);
  flow.own = isFar ? NetworkOut : LinkOut;
  flow.others = isFar ? NetworkIn : LinkIn;
  if (!isStore)
    std::swap(flow.own, flow.others);
  return flow;
}

} // namespace

/// Adds what all ranks that are like this one ask of one that is like `of`, of
/// which each has an equal part.
void LaunchSteps::addDemand(Step &step, Resource kind, int of, double us,
                            Bound bound) const {
  if (us <= 0)
    return;
  int owner = ranks.like(of);
  us *= ranks.countOf(rank) / (rates.isShared ? 1 : ranks.countOf(owner));
  step.demands.push_back(
      {(rates.isShared ? 0 : owner) * Resources + kind, us, bound});
}

void LaunchSteps::demand(Step &step, const Cost &cost) const {
  double part = std::min(1.0, cores / static_cast<double>(rates.cores));
  addDemand(step, MemoryOf, rank,
            usOf(cost.readBytes, rates.readGBps) +
                usOf(cost.writeBytes, rates.writeGBps),
            Bound::Memory);
  addDemand(step, CacheOf, rank, usOf(cost.cacheBytes, rates.cacheGBps),
            Bound::Cache);
  double arithmetic = usOf(cost.operations, rates.otherGops) +
                      usOf(cost.f64Operations, rates.f64Gops);
  addDemand(step, CoresOf, rank, arithmetic, Bound::Arithmetic);
  atLeast(step, arithmetic / part, Bound::Arithmetic);
  atLeast(step,
          usOf(cost.memoryBytes() + cost.cacheBytes, rates.coreGBps * cores),
          cost.cacheBytes > cost.memoryBytes() ? Bound::Cache : Bound::Memory);
  if (!rates.isShared)
    demandLinks(step, cost);
}

/// Links and the network take what is sent and what is received alike, but
/// links load slower than they store.
void LaunchSteps::demandLinks(Step &step, const Cost &cost) const {
  double moved = 0;
  int64_t messages = 0;
  auto add = [&](int other, double bytes, bool isStore) {
    Flow flow = flowOf(isFar(other), bytes, isStore, rates);
    messages += flow.isFar;
    moved += flow.isFar ? 0 : flow.us * 1000 * rates.linkGBps;
    addDemand(step, flow.own, rank, flow.us, flow.bound());
    if (bytes > 0) {
      addDemand(step, flow.others, other, flow.us, flow.bound());
      step.demands.back().isOthers = true;
    }
  };
  for (auto [to, bytes] : cost.storedBytes)
    add(to, bytes, /*isStore=*/true);
  for (auto [from, bytes] : cost.loadedBytes)
    add(from, bytes, /*isStore=*/false);
  atLeast(step, usOf(moved, rates.coreLinkGBps * cores), Bound::Link);
  if (messages > 0)
    addDemand(step, NetworkOut, rank,
              rates.node->messageUs * static_cast<double>(messages),
              Bound::Network);
}

namespace {

/// What a demand on links is of: of what a rank stores or loads, at its end or
/// the other one.
bool isOf(const Demand &demand, bool isStore, bool isOthers) {
  int kind = demand.resource % Resources;
  bool isOut = kind == LinkOut || kind == NetworkOut,
       isIn = kind == LinkIn || kind == NetworkIn;
  return demand.isOthers == isOthers && (isStore == isOthers ? isIn : isOut);
}

/// The steps in which a rank stores to all others, or loads from all, at once
/// or taking turns.
std::vector<Step *> evenSteps(const RankLaunch &launch, bool isStore) {
  size_t count =
      (isStore ? launch.cost->storedBytes : launch.cost->loadedBytes).size();
  std::vector<Step *> all, turns;
  for (Step &step : *launch.steps) {
    auto others = static_cast<size_t>(
        llvm::count_if(step.demands, [&](const Demand &demand) {
          return isOf(demand, isStore, /*isOthers=*/true);
        }));
    if (others == 1)
      turns.push_back(&step);
    else if (others > 0 && count > 0 && others % count == 0)
      all.push_back(&step);
  }
  if (count > 0 && turns.size() % count == 0)
    llvm::append_range(all, turns);
  return all;
}

/// Of links, the other direction.
int oppositeOf(int resource) {
  static_assert(LinkIn == LinkOut + 1 && NetworkIn == NetworkOut + 1);
  int kind = resource % Resources;
  return resource + (kind == LinkOut || kind == NetworkOut ? 1 : -1);
}

} // namespace

/// The ranks for which one stands are at other ranks each when they take turns,
/// and on other nodes. But where all ranks store to all others or load from
/// them, as much is asked of a rank as it asks of others.
void codegen::mirrorLinks(llvm::ArrayRef<RankLaunch> launch) {
  for (bool isStore : {false, true}) {
    std::vector<std::vector<Step *>> even;
    for (const RankLaunch &own : launch)
      even.push_back(evenSteps(own, isStore));
    for (const std::vector<Step *> &own : even)
      for (Step *step : own) {
        llvm::erase_if(step->demands, [&](const Demand &demand) {
          return isOf(demand, isStore, /*isOthers=*/true) &&
                 !even[static_cast<size_t>(demand.resource / Resources)]
                      .empty();
        });
        std::vector<Demand> mirrored;
        for (const Demand &demand : step->demands)
          if (isOf(demand, isStore, /*isOthers=*/false)) {
            mirrored.push_back(demand);
            mirrored.back().resource = oppositeOf(demand.resource);
            mirrored.back().isOthers = true;
          }
        llvm::append_range(step->demands, mirrored);
      }
  }
}

int64_t LaunchSteps::countFar(int group) const {
  if (!rates.node)
    return 0;
  return llvm::count_if(plan.groups[static_cast<size_t>(group)],
                        [&](int member) { return isFar(member); });
}

Step LaunchSteps::signalTo(int group, double us) {
  Step step{.us = us,
            .bound = Bound::Flags,
            .signals = {events.arrival(launch, meeting, rank)}};
  if (int64_t far = countFar(group))
    addDemand(step, NetworkOut, rank,
              rates.node->messageUs * static_cast<double>(far), Bound::Network);
  return step;
}

Step LaunchSteps::awaitOf(int group, double us) {
  Step step{.us = us, .bound = Bound::Flags};
  std::set<int> members;
  for (int member : plan.groups[static_cast<size_t>(group)])
    if (member != rank)
      members.insert(ranks.like(member));
  for (int member : members)
    step.awaits.push_back(events.arrival(launch, meeting, member));
  return step;
}

void LaunchSteps::addBarrier(const BarrierPart &part, bool isAtEdge) {
  // In the middle, all blocks of a rank wait for each other first.
  steps.push_back(signalTo(part.group, isAtEdge ? 0 : gridUs()));
  bool isAlone = plan.groups[static_cast<size_t>(part.group)].size() < 2;
  bool isOverNetwork = countFar(part.group) > 0;
  steps.push_back(awaitOf(
      part.group,
      isAlone ? 0
              : rates.barrierUs + (isOverNetwork ? rates.node->networkUs : 0)));
  ++meeting;
  ++barriers;
}

Events::Events(const Plan &plan, int64_t ranks) {
  for (auto [rank, own] : llvm::enumerate(plan.ranks))
    for (const Launch &launch : own.launches)
      for (const Part &part : launch.parts)
        if (const auto *signal = std::get_if<SignalPart>(&part))
          set.insert({static_cast<int>(rank), signal->flag});
  if (set.empty())
    return;
  for (const std::vector<int> &group : plan.groups) {
    positions.emplace_back(static_cast<size_t>(ranks), -1);
    for (auto [position, rank] : llvm::enumerate(group))
      positions.back()[static_cast<size_t>(rank)] = static_cast<int>(position);
  }
}

/// The event for which a rank waits: at most one. Ranks have flags by their
/// positions in a group. So one that is not planned sets the flag of the rank
/// that it is like, moved by the distance between the two.
std::vector<int> LaunchSteps::awaitedFlag(const AwaitPart &part) const {
  int from = ranks.like(part.rank);
  if (from == part.rank)
    return {events.flag(from, rank, part.flag)};
  for (size_t group = 0; group < plan.groups.size(); ++group) {
    int position = events.positionIn(group, part.rank),
        planned = events.positionIn(group, from);
    int64_t flag = part.flag + planned - position;
    if (position >= 0 && planned >= 0 && events.positionIn(group, rank) >= 0 &&
        events.isSet(from, flag))
      return {events.flag(from, rank, flag)};
  }
  return {};
}
