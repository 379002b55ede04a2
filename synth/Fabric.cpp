//===- Fabric.cpp - A topology in whole rounds ----------------------------===//
//
// See Fabric.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Fabric.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

using namespace ccn;
using namespace ccn::synth;

std::vector<int> Fabric::distancesFrom(int host) const {
  std::vector<int> distance(hosts, -1);
  std::deque<int> queue = {host};
  distance[host] = 0;
  while (!queue.empty()) {
    int u = queue.front();
    queue.pop_front();
    for (int e : out[u])
      if (distance[edges[e].dst] < 0) {
        distance[edges[e].dst] = distance[u] + 1;
        queue.push_back(edges[e].dst);
      }
  }
  return distance;
}

/// A way as an edge.
static FabricEdge edgeOf(const Fabric &fabric, const std::vector<int> &path) {
  const std::vector<Link> &links = fabric.topology.links;
  FabricEdge edge{fabric.nodeHost[links[path.front()].src],
                  fabric.nodeHost[links[path.back()].dst], path, 0};
  for (int link : path)
    edge.us += links[link].us;
  return edge;
}

/// Finds the shortest ways from `start` to all hosts with only switches and
/// NICs between, and adds each as an edge.
static void addEdgesFrom(Fabric &fabric,
                         const std::vector<std::vector<int>> &outLinks,
                         int start) {
  const Topology &t = fabric.topology;
  std::vector<int> distance(t.nodes.size(), -1);
  std::deque<int> queue = {start};
  distance[start] = 0;
  while (!queue.empty()) {
    int u = queue.front();
    queue.pop_front();
    if (u != start && t.nodes[u].isHost())
      continue;
    for (int l : outLinks[u]) {
      int v = t.links[l].dst;
      if (distance[v] < 0) {
        distance[v] = distance[u] + 1;
        queue.push_back(v);
      }
    }
  }
  std::vector<int> path;
  std::function<void(int)> walk = [&](int u) {
    for (int l : outLinks[u]) {
      int v = t.links[l].dst;
      if (distance[v] != distance[u] + 1)
        continue;
      path.push_back(l);
      if (t.nodes[v].isHost()) {
        fabric.edges.push_back(edgeOf(fabric, path));
      } else {
        walk(v);
      }
      path.pop_back();
    }
  };
  walk(start);
}

static void indexEdges(Fabric &fabric) {
  fabric.in.assign(fabric.hosts, {});
  fabric.out.assign(fabric.hosts, {});
  for (size_t e = 0; e < fabric.edges.size(); ++e) {
    fabric.out[fabric.edges[e].src].push_back(e);
    fabric.in[fabric.edges[e].dst].push_back(e);
  }
}

/// Capacities are compared in MB/s.
static int64_t mega(double gbps) {
  return std::max<int64_t>(1, std::llround(gbps * 1000));
}

/// One set for each link and each edge set of the topology that edges use.
static void indexSets(Fabric &fabric) {
  const Topology &t = fabric.topology;
  std::vector<std::vector<int>> users(t.links.size());
  for (size_t e = 0; e < fabric.edges.size(); ++e)
    for (int l : fabric.edges[e].path)
      users[l].push_back(static_cast<int>(e));
  fabric.sets.clear();
  for (size_t l = 0; l < t.links.size(); ++l)
    if (!users[l].empty())
      fabric.sets.push_back(
          {users[l], fabric.linkCap[l],
           t.nodes[t.links[l].src].name + "->" + t.nodes[t.links[l].dst].name});
  for (const EdgeSet &edgeSet : t.edgeSets) {
    FabricSet set;
    set.name = edgeSet.name;
    set.cap = static_cast<int>(mega(edgeSet.gbps) / mega(fabric.unitGBps));
    for (int l : edgeSet.links)
      set.edges.insert(set.edges.end(), users[l].begin(), users[l].end());
    std::sort(set.edges.begin(), set.edges.end());
    set.edges.erase(std::unique(set.edges.begin(), set.edges.end()),
                    set.edges.end());
    if (!set.edges.empty())
      fabric.sets.push_back(std::move(set));
  }
}

Result<Fabric> ccn::synth::makeFabric(const Topology &topology,
                                      double unitGBps) {
  std::string problem = validate(topology);
  if (!problem.empty())
    return error(topology.name + ": " + problem);
  Fabric fabric;
  fabric.topology = topology;
  const Topology &t = fabric.topology;
  fabric.nodeHost.assign(t.nodes.size(), -1);
  for (NodeKind kind : {NodeKind::Gpu, NodeKind::Cpu})
    for (size_t i = 0; i < t.nodes.size(); ++i)
      if (t.nodes[i].kind == kind) {
        fabric.nodeHost[i] = fabric.hosts++;
        fabric.hostNode.push_back(i);
        fabric.ranks += kind == NodeKind::Gpu;
      }
  int64_t unit = unitGBps > 0 ? mega(unitGBps) : 0;
  if (unit == 0) {
    for (const Link &link : t.links)
      unit = std::gcd(unit, mega(link.gbps));
    for (const EdgeSet &set : t.edgeSets)
      unit = std::gcd(unit, mega(set.gbps));
    unit = std::max<int64_t>(unit, 1);
  }
  fabric.unitGBps = static_cast<double>(unit) / 1000;
  auto tooSmall = [&](const std::string &what, double gbps) {
    return error(t.name + ": " + what + ": expected at least the unit of " +
                 std::to_string(fabric.unitGBps) + " GB/s, found " +
                 std::to_string(gbps));
  };
  std::vector<std::vector<int>> outLinks(t.nodes.size());
  for (size_t l = 0; l < t.links.size(); ++l) {
    const Link &link = t.links[l];
    outLinks[link.src].push_back(l);
    fabric.linkCap.push_back(static_cast<int>(mega(link.gbps) / unit));
    if (fabric.linkCap.back() == 0)
      return tooSmall("/links/" + std::to_string(l), link.gbps);
  }
  for (size_t s = 0; s < t.edgeSets.size(); ++s)
    if (mega(t.edgeSets[s].gbps) < unit)
      return tooSmall("/edge_sets/" + std::to_string(s), t.edgeSets[s].gbps);
  for (int node : fabric.hostNode)
    addEdgesFrom(fabric, outLinks, node);
  indexEdges(fabric);
  indexSets(fabric);
  return fabric;
}

FabricWays::FabricWays(Fabric &fabric)
    : fabric(fabric), before(fabric.edges.size()) {
  for (size_t e = 0; e < before; ++e)
    edges.emplace(fabric.edges[e].path, static_cast<int>(e));
}

FabricWays::~FabricWays() {
  if (fabric.edges.size() == before)
    return;
  indexEdges(fabric);
  indexSets(fabric);
}

int FabricWays::edgeAlong(const std::vector<int> &path) {
  auto [it, isNew] = edges.emplace(path, static_cast<int>(fabric.edges.size()));
  if (isNew)
    fabric.edges.push_back(edgeOf(fabric, path));
  return it->second;
}

Fabric ccn::synth::withEdges(const Fabric &fabric,
                             const std::vector<char> &keep) {
  Fabric result = fabric;
  std::vector<int> renamed(fabric.edges.size(), -1);
  result.edges.clear();
  for (size_t e = 0; e < fabric.edges.size(); ++e)
    if (keep[e]) {
      renamed[e] = static_cast<int>(result.edges.size());
      result.edges.push_back(fabric.edges[e]);
    }
  result.sets.clear();
  for (const FabricSet &set : fabric.sets) {
    FabricSet kept{{}, set.cap, set.name};
    for (int e : set.edges)
      if (renamed[e] >= 0)
        kept.edges.push_back(renamed[e]);
    if (!kept.edges.empty())
      result.sets.push_back(std::move(kept));
  }
  indexEdges(result);
  return result;
}

Fabric ccn::synth::reversed(const Fabric &fabric) {
  Fabric result = fabric;
  for (Link &link : result.topology.links)
    std::swap(link.src, link.dst);
  for (FabricEdge &edge : result.edges) {
    std::swap(edge.src, edge.dst);
    std::reverse(edge.path.begin(), edge.path.end());
  }
  indexEdges(result);
  return result;
}
