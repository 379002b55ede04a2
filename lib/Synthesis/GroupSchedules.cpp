//===- GroupSchedules.cpp - Schedules of groups of ranks ------------------===//
//
// See GroupSchedules.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Synthesis/GroupSchedules.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace ccn;
using namespace ccn::synth;

bool ccn::isWhole(const Groups &groups, const Fabric &fabric) {
  return groups.size() == 1 &&
         static_cast<int>(groups[0].size()) == fabric.ranks &&
         std::is_sorted(groups[0].begin(), groups[0].end());
}

/// The fabric in a unit so small that the share of each link is whole, if its
/// capacity is shared by several groups.
static Result<Fabric> inSharedUnits(const Fabric &fabric,
                                    const std::vector<int> &users) {
  constexpr int maxParts = 1 << 10;
  int parts = 1;
  for (int count : users)
    if (count > 1 && parts <= maxParts)
      parts = std::lcm(parts, count);
  if (parts == 1)
    return fabric;
  return makeFabric(fabric.topology,
                    fabric.unitGBps / std::min(parts, maxParts));
}

Result<Fabric> ccn::fabricOfGroups(const Fabric &fabric, const Groups &groups) {
  if (std::string wrong = wrongGroups(groups, fabric.ranks); !wrong.empty())
    return error(wrong);
  std::vector<int> users = linkUsers(fabric, groups);
  Result<Fabric> shared = inSharedUnits(fabric, users);
  if (!shared)
    return shared;
  std::optional<Fabric> least;
  int64_t leastCapacity = 0;
  std::set<std::pair<int, int>> joined;
  for (const std::vector<int> &group : groups) {
    std::vector<int> edges;
    Result<Fabric> own = fabricOfGroup(*shared, group, users, edges);
    if (!own)
      return own;
    std::set<std::pair<int, int>> pairs, both;
    for (const FabricEdge &edge : own->edges)
      pairs.insert({edge.src, edge.dst});
    if (!least)
      both = pairs;
    else
      std::set_intersection(pairs.begin(), pairs.end(), joined.begin(),
                            joined.end(), std::inserter(both, both.end()));
    joined = std::move(both);
    int64_t capacity =
        std::accumulate(own->linkCap.begin(), own->linkCap.end(), int64_t(0));
    if (!least || capacity < leastCapacity) {
      least = *std::move(own);
      leastCapacity = capacity;
    }
  }
  std::vector<char> keep;
  for (const FabricEdge &edge : least->edges)
    keep.push_back(joined.count({edge.src, edge.dst}) > 0);
  if (std::find(keep.begin(), keep.end(), 0) == keep.end())
    return *std::move(least);
  return withEdges(*least, keep);
}

Schedule ccn::inGroups(const Schedule &schedule, const Groups &groups,
                       int hosts) {
  Schedule all;
  all.topology = schedule.topology;
  all.hosts = hosts;
  all.collective.name = schedule.collective.name;
  all.collective.combining = schedule.collective.combining;
  all.collective.chunksPerNode = schedule.collective.chunksPerNode;
  all.collective.bufferChunks = schedule.collective.bufferChunks;
  for (const std::vector<int> &group : groups)
    all.collective.ranks =
        std::max(all.collective.ranks,
                 *std::max_element(group.begin(), group.end()) + 1);
  auto placed = [](std::vector<int> positions, const std::vector<int> &group) {
    for (int &position : positions)
      position = group[position];
    std::sort(positions.begin(), positions.end());
    return positions;
  };
  for (const Step &step : schedule.steps)
    all.steps.push_back({step.rounds, {}});
  for (const std::vector<int> &group : groups) {
    int before = static_cast<int>(all.collective.chunks.size());
    for (const ChunkRelation &chunk : schedule.collective.chunks)
      all.collective.chunks.push_back(
          {placed(chunk.pre, group), placed(chunk.post, group)});
    for (size_t i = 0; i < schedule.steps.size(); ++i)
      for (Send send : schedule.steps[i].sends) {
        send.chunk += before;
        send.src = group[send.src];
        send.dst = group[send.dst];
        send.edge = -1;
        send.sums = placed(send.sums, group);
        all.steps[i].sends.push_back(std::move(send));
      }
  }
  return all;
}
