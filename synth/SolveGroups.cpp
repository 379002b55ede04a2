//===- SolveGroups.cpp - Groups that exchange nothing ---------------------===//
//
// A collective within each of several groups is solved group by group, each on
// the links between its own ranks, with its share of what others use, too;
// equal groups are solved once. That finds schedules fast, but not all: a group
// may gain by passing data over the GPUs of another.
//
//===----------------------------------------------------------------------===//

#include "synth/EmptySchedule.h"
#include "synth/Groups.h"
#include "synth/SolveImpl.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// A group's problem, and its schedule once solved.
struct Part {
  std::vector<int> chunks, edges;
  Fabric fabric;
  Collective collective;
  SolveResult solved;
};

} // namespace

/// Whether a schedule of the one group also fits the other.
static bool alike(const Part &a, const Part &b) {
  auto same = [](const auto &x, const auto &y, auto equal) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  };
  return same(a.fabric.edges, b.fabric.edges,
              [](const FabricEdge &x, const FabricEdge &y) {
                return x.src == y.src && x.dst == y.dst;
              }) &&
         same(a.fabric.sets, b.fabric.sets,
              [](const FabricSet &x, const FabricSet &y) {
                return x.edges == y.edges && x.cap == y.cap;
              }) &&
         same(a.collective.chunks, b.collective.chunks,
              [](const ChunkRelation &x, const ChunkRelation &y) {
                return x.pre == y.pre && x.post == y.post;
              });
}

/// Adds a group's schedule to that of all.
static void addPart(const Part &part, const std::vector<int> &group,
                    Schedule &schedule) {
  const std::vector<Step> &steps = part.solved.schedule.steps;
  if (schedule.steps.size() < steps.size())
    schedule.steps.resize(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    schedule.steps[i].rounds =
        std::max(schedule.steps[i].rounds, steps[i].rounds);
    for (Send send : steps[i].sends) {
      send.chunk = part.chunks[send.chunk];
      send.src = group[send.src];
      send.dst = group[send.dst];
      if (send.edge >= 0)
        send.edge = part.edges[send.edge];
      for (int &rank : send.sums)
        rank = group[rank];
      std::sort(send.sums.begin(), send.sums.end());
      schedule.steps[i].sends.push_back(std::move(send));
    }
  }
}

SolveResult ccn::synth::solveGroups(
    const Fabric &fabric, const Collective &collective, int steps, int rounds,
    const SolveOptions &options,
    const std::function<Result<SolveResult>(const Fabric &, const Collective &)>
        &solveOne) {
  SolveResult result;
  if (options.restriction)
    return result;
  Groups groups = independentGroups(collective);
  bool whole = groups.size() == 1 &&
               static_cast<int>(groups[0].size()) == collective.ranks;
  if (groups.empty() || whole)
    return result;
  std::vector<int> users = linkUsers(fabric, groups);
  Schedule schedule = emptySchedule(collective, fabric);
  std::vector<Part> parts(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    Part &part = parts[g];
    Result<Fabric> own = fabricOfGroup(fabric, groups[g], users, part.edges);
    if (!own)
      return result;
    part.fabric = std::move(*own);
    part.collective = partOf(collective, groups[g], part.chunks);
    auto known =
        std::find_if(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(g),
                     [&](const Part &other) { return alike(part, other); });
    if (known != parts.begin() + static_cast<ptrdiff_t>(g)) {
      part.solved = known->solved;
    } else {
      Result<SolveResult> solved = solveOne(part.fabric, part.collective);
      if (!solved || solved->answer != Answer::Yes)
        return result;
      part.solved = std::move(*solved);
    }
    addPart(part, groups[g], schedule);
  }
  // Steps of different groups may have different rounds.
  if (static_cast<int>(schedule.steps.size()) != steps ||
      schedule.totalRounds() > rounds || !check(schedule, &fabric).empty())
    return result;
  schedule.steps.back().rounds += rounds - schedule.totalRounds();
  result.answer = Answer::Yes;
  result.method =
      parts[0].solved.method +
      (groups.size() == 1 ? ", on the group's own links" : ", group by group");
  result.schedule = std::move(schedule);
  return result;
}
