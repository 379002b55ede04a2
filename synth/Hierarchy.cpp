//===- Hierarchy.cpp - Schedules for many equal nodes ---------------------===//
//
// See Hierarchy.h. Turning one tree over all nodes balances it: what a node
// sends more often than others for one source, it sends less often for the
// next.
//
//===----------------------------------------------------------------------===//

#include "synth/Hierarchy.h"
#include "synth/EmptySchedule.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// The parts of the topology that stay connected by links faster than
/// `threshold`, as lists of their ranks. Parts without GPUs are left out.
std::vector<std::vector<int>> parts(const Fabric &fabric, int threshold,
                                    std::vector<int> &partOf) {
  const Topology &t = fabric.topology;
  std::vector<int> roots = findParts(
      t, [&](size_t link) { return fabric.linkCap[link] > threshold; });
  std::map<int, int> index;
  std::vector<std::vector<int>> groups;
  for (int r = 0; r < fabric.ranks; ++r) {
    auto [it, isNew] = index.emplace(roots[fabric.hostNode[r]], groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].push_back(r);
  }
  partOf.assign(t.nodes.size(), -1);
  for (size_t v = 0; v < t.nodes.size(); ++v)
    if (auto it = index.find(roots[v]); it != index.end())
      partOf[v] = it->second;
  return groups;
}

class Hierarchical {
public:
  Hierarchical(const Fabric &fabric, int pieces, const Limits &limits,
               int maxChunks)
      : fabric(fabric), pieces(pieces), maxChunks(maxChunks), limits(limits) {}
  /// all_gather; the others are made from it.
  Result<Schedule> gather();

private:
  void sendTo(std::vector<Step> &steps, size_t step, int chunk, int src,
              int dst, int edge) {
    if (steps.size() <= step)
      steps.resize(step + 1);
    steps[step].sends.push_back({chunk, src, dst, SendOp::Copy, edge, {}});
  }

  const Fabric &fabric;
  int pieces, maxChunks;
  const Limits &limits;
};

Result<Schedule> Hierarchical::gather() {
  Result<NodeGroups> groups = findGroups(fabric);
  if (!groups)
    return groups.status();
  Result<Fabric> inner = makeFabric(groups->first, fabric.unitGBps);
  if (!inner)
    return inner.status();
  int nodes = static_cast<int>(groups->ranks.size());
  int local = static_cast<int>(groups->ranks[0].size());
  Forest forest;
  forest.treesPerRank = 1;
  if (local > 1) {
    Result<Forest> packed = packTrees(*inner, limits);
    if (!packed)
      return packed.status();
    forest = std::move(*packed);
  } else {
    forest.trees.push_back({0, 1, {}});
  }
  if (forest.treesPerRank > maxChunks)
    return tooManyTrees(forest.treesPerRank, maxChunks);
  pieces = std::min(pieces, static_cast<int>(maxChunks / forest.treesPerRank));
  int perRank = static_cast<int>(forest.treesPerRank) * pieces;
  Result<Collective> collective =
      makeCollective(CollectiveKind::AllGather, fabric.ranks, perRank);
  if (!collective)
    return collective.status();
  Schedule schedule = emptySchedule(*collective, fabric);
  std::map<std::pair<int, int>, int> edgeOf;
  for (size_t e = 0; e < fabric.edges.size(); ++e)
    edgeOf.emplace(std::pair(fabric.edges[e].src, fabric.edges[e].dst), e);
  // The trees of each local root, by what chunk of a shard they carry.
  std::vector<std::vector<const PackedTree *>> treeOf(local);
  for (const PackedTree &tree : forest.trees)
    for (int64_t i = 0; i < tree.multiplicity * pieces; ++i)
      treeOf[tree.root].push_back(&tree);
  for (int a = 0; a < nodes; ++a)
    for (int i = 0; i < local; ++i)
      for (int c = 0; c < perRank; ++c) {
        if (limits.expired())
          return error("out of time");
        int source = groups->ranks[a][i];
        int chunk = source * perRank + c;
        const PackedTree &tree = *treeOf[i][c];
        for (int offset = 0; offset < nodes; ++offset) {
          // Binomial: the parent lacks the highest bit of the offset.
          size_t arrives = 0;
          const std::vector<int> &there = groups->ranks[(a + offset) % nodes];
          if (offset > 0) {
            int bit = 31 - __builtin_clz(static_cast<unsigned>(offset));
            int parent = groups->ranks[(a + offset - (1 << bit)) % nodes][i];
            arrives = static_cast<size_t>(bit) + 1;
            sendTo(schedule.steps, arrives - 1, chunk, parent, there[i],
                   edgeOf.at({parent, there[i]}));
          }
          std::vector<size_t> depth(local, arrives);
          for (const TreeEdge &edge : tree.edges) {
            depth[edge.dst] = depth[edge.src] + 1;
            int from = there[edge.src], to = there[edge.dst];
            auto it = edgeOf.find({from, to});
            if (it == edgeOf.end())
              return error("no way from " + fabric.hostName(from) + " to " +
                           fabric.hostName(to));
            sendTo(schedule.steps, depth[edge.src], chunk, from, to,
                   it->second);
          }
        }
      }
  fitRounds(schedule, fabric);
  return schedule;
}

} // namespace

Result<NodeGroups> ccn::synth::findGroups(const Fabric &fabric) {
  const Topology &t = fabric.topology;
  std::set<int> caps(fabric.linkCap.begin(), fabric.linkCap.end());
  std::string reason = "no links join its GPUs into several equal nodes";
  std::map<std::pair<int, int>, const FabricEdge *> edgeOf;
  for (const FabricEdge &edge : fabric.edges)
    edgeOf.emplace(std::pair(edge.src, edge.dst), &edge);
  // Links of one way, as capacities and latencies.
  auto shape = [&](int src, int dst) {
    std::vector<std::pair<int, double>> result;
    auto it = edgeOf.find({src, dst});
    if (it != edgeOf.end())
      for (int l : it->second->path)
        result.push_back({fabric.linkCap[l], t.links[l].us});
    return result;
  };
  for (int threshold : caps) {
    std::vector<int> partOf;
    NodeGroups groups;
    groups.ranks = parts(fabric, threshold, partOf);
    size_t local = groups.ranks[0].size();
    if (groups.ranks.size() < 2)
      continue;
    bool equal = true;
    for (const std::vector<int> &group : groups.ranks) {
      equal &= group.size() == local;
      for (size_t i = 0; equal && i < local; ++i)
        for (size_t j = 0; equal && j < local; ++j)
          if (i != j)
            equal = shape(group[i], group[j]) ==
                    shape(groups.ranks[0][i], groups.ranks[0][j]);
    }
    if (!equal)
      continue;
    bool rails = true;
    for (size_t a = 0; a < groups.ranks.size(); ++a)
      for (size_t b = 0; b < groups.ranks.size(); ++b)
        for (size_t i = 0; i < local && rails; ++i)
          if (a != b &&
              !edgeOf.count({groups.ranks[a][i], groups.ranks[b][i]})) {
            rails = false;
            reason = "expected a way from each GPU to its counterpart in every "
                     "other node, found none from " +
                     fabric.hostName(groups.ranks[a][i]) + " to " +
                     fabric.hostName(groups.ranks[b][i]);
          }
    if (!rails)
      continue;
    groups.first.name = t.name + " node";
    std::vector<int> renamed(t.nodes.size(), -1);
    for (size_t v = 0; v < t.nodes.size(); ++v)
      if (partOf[v] == 0)
        renamed[v] = groups.first.addNode(t.nodes[v].name, t.nodes[v].kind);
    for (const Link &link : t.links)
      if (renamed[link.src] >= 0 && renamed[link.dst] >= 0)
        groups.first.addLink(renamed[link.src], renamed[link.dst], link.gbps,
                             link.us);
    return groups;
  }
  return error(t.name + ": " + reason);
}

Result<Schedule> ccn::synth::hierarchicalSchedule(const Fabric &fabric,
                                                  CollectiveKind kind,
                                                  int pieces,
                                                  const Limits &limits,
                                                  int maxChunks) {
  if (kind == CollectiveKind::AllGather)
    return Hierarchical(fabric, pieces, limits, maxChunks).gather();
  if (kind != CollectiveKind::ReduceScatter &&
      kind != CollectiveKind::AllReduce)
    return error("trees make all_gather, reduce_scatter and all_reduce, not " +
                 std::string(kindName(kind)));
  Fabric back = reversed(fabric);
  Result<Schedule> mirror =
      Hierarchical(back, pieces, limits, maxChunks).gather();
  if (!mirror)
    return mirror.status();
  Result<Schedule> scatter = invert(*mirror);
  if (!scatter || kind == CollectiveKind::ReduceScatter)
    return scatter;
  Result<Schedule> gather =
      Hierarchical(fabric, pieces, limits, maxChunks).gather();
  if (!gather)
    return gather.status();
  if (gather->collective.chunksPerNode != scatter->collective.chunksPerNode)
    return error(fabric.topology.name +
                 ": the node's links differ by direction");
  Result<Collective> all =
      makeCollective(CollectiveKind::AllReduce, fabric.ranks,
                     gather->collective.chunksPerNode * fabric.ranks);
  if (!all)
    return all.status();
  return concatenate(*scatter, *gather, *all);
}
