//===- ForestSchedule.cpp - Packed trees as schedules ---------------------===//
//
// See Forest.h.
//
//===----------------------------------------------------------------------===//

#include "synth/EmptySchedule.h"
#include "synth/Forest.h"

#include <algorithm>
#include <numeric>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// A part of a tree's edge, from one host to the next.
struct Hop {
  int src, dst, edge;
  size_t step;
};

} // namespace

/// A tree's edges cut into hops between hosts. A CPU on the way to several
/// ranks receives the data once.
static std::vector<Hop> hopsOf(const PackedTree &tree, const Fabric &fabric,
                               FabricWays &ways) {
  constexpr size_t never = SIZE_MAX;
  std::vector<size_t> depth(fabric.hosts, never);
  depth[tree.root] = 0;
  std::vector<Hop> hops;
  for (const TreeEdge &edge : tree.edges) {
    int from = edge.src;
    std::vector<int> links;
    for (int l : edge.path) {
      links.push_back(l);
      int host = fabric.nodeHost[fabric.topology.links[l].dst];
      if (host < 0)
        continue;
      if (depth[host] == never) {
        depth[host] = depth[from] + 1;
        hops.push_back({from, host, ways.edgeAlong(links), depth[from]});
      }
      from = host;
      links.clear();
    }
  }
  return hops;
}

Result<Schedule> ccn::synth::forestSchedule(const Forest &forest,
                                            Fabric &fabric, int pieces,
                                            std::optional<int> root) {
  Result<Collective> gather = makeCollective(
      root ? CollectiveKind::Broadcast : CollectiveKind::AllGather,
      fabric.ranks, static_cast<int>(forest.treesPerRank) * pieces,
      root.value_or(0));
  if (!gather)
    return gather.status();
  // Chunks of one tree, `pieces` apart in time, so that they pipeline.
  Schedule schedule = emptySchedule(*gather, fabric);
  std::vector<int> nextChunk(fabric.ranks);
  int perRank = static_cast<int>(forest.treesPerRank) * pieces;
  {
    FabricWays ways(fabric);
    for (const PackedTree &tree : forest.trees) {
      std::vector<Hop> hops = hopsOf(tree, fabric, ways);
      for (int64_t i = 0; i < tree.multiplicity * pieces; ++i) {
        int chunk = (root ? 0 : tree.root * perRank) + nextChunk[tree.root]++;
        size_t wave = static_cast<size_t>(i % pieces);
        for (const Hop &hop : hops) {
          if (schedule.steps.size() <= hop.step + wave)
            schedule.steps.resize(hop.step + wave + 1);
          schedule.steps[hop.step + wave].sends.push_back(
              {chunk, hop.src, hop.dst, SendOp::Copy, hop.edge, {}});
        }
      }
    }
  }
  fitRounds(schedule, fabric);
  return schedule;
}

Status ccn::synth::tooManyTrees(int64_t trees, int maxChunks) {
  return error("expected at most " + std::to_string(maxChunks) +
               " trees a rank, found " + std::to_string(trees));
}

void ccn::synth::addWaysOf(const Fabric &back, Fabric &fabric) {
  FabricWays ways(fabric);
  for (size_t e = fabric.edges.size(); e < back.edges.size(); ++e) {
    std::vector<int> path = back.edges[e].path;
    std::reverse(path.begin(), path.end());
    ways.edgeAlong(path);
  }
}

Result<Schedule> ccn::synth::treeSchedule(Fabric &fabric, CollectiveKind kind,
                                          int pieces, const Limits &limits,
                                          std::vector<Forest> *forests,
                                          int maxChunks, int root) {
  using enum CollectiveKind;
  bool gathers = kind == AllGather || kind == Broadcast || kind == AllReduce;
  bool reduces = kind == ReduceScatter || kind == Reduce || kind == AllReduce;
  if (!gathers && !reduces)
    return error("trees make all_gather, reduce_scatter, all_reduce, broadcast "
                 "and reduce, not " +
                 std::string(kindName(kind)));
  std::optional<int> from;
  if (kind == Broadcast || kind == Reduce)
    from = root;
  Fabric back = reversed(fabric);
  std::optional<Forest> down, up;
  int64_t perRank = 1;
  for (bool gather : {true, false}) {
    if (!(gather ? gathers : reduces))
      continue;
    Result<Forest> forest = packTrees(gather ? fabric : back, limits, from);
    if (!forest)
      return forest.status();
    perRank = std::lcm(perRank, forest->treesPerRank);
    if (forests)
      forests->push_back(*forest);
    (gather ? down : up) = std::move(*forest);
  }
  if (perRank > maxChunks)
    return tooManyTrees(perRank, maxChunks);
  pieces = std::min(pieces, static_cast<int>(maxChunks / perRank));
  // Both halves cut a rank's data into as many chunks.
  auto piecesOf = [&](const Forest &forest) {
    return static_cast<int>(perRank / forest.treesPerRank) * pieces;
  };
  std::optional<Schedule> first, second;
  if (up) {
    Result<Schedule> gather = forestSchedule(*up, back, piecesOf(*up), from);
    if (!gather)
      return gather.status();
    addWaysOf(back, fabric);
    Result<Schedule> reduce = invert(*gather);
    if (!reduce)
      return reduce.status();
    first = std::move(*reduce);
  }
  if (down) {
    Result<Schedule> gather =
        forestSchedule(*down, fabric, piecesOf(*down), from);
    if (!gather)
      return gather.status();
    second = std::move(*gather);
  }
  if (!first)
    return std::move(*second);
  if (!second)
    return std::move(*first);
  Result<Collective> all =
      makeCollective(AllReduce, fabric.ranks,
                     static_cast<int>(perRank) * pieces * fabric.ranks);
  if (!all)
    return all.status();
  return concatenate(*first, *second, *all);
}
