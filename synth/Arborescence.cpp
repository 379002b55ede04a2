//===- Arborescence.cpp - The cheapest spanning tree from a root ----------===//
//
// See Arborescence.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Arborescence.h"

#include <algorithm>
#include <queue>
#include <tuple>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// A cycle among the nodes' cheapest predecessors; empty if there is none.
std::vector<int> findCycle(const std::vector<int> &before, int root) {
  const int nodes = static_cast<int>(before.size());
  // The node from which a walk first came here.
  std::vector<int> mark(nodes, -1);
  mark[root] = root;
  for (int start = 0; start < nodes; ++start) {
    int v = start;
    while (mark[v] < 0) {
      mark[v] = start;
      v = before[v];
    }
    if (v == root || mark[v] != start)
      continue;
    std::vector<int> cycle = {v};
    for (int u = before[v]; u != v; u = before[u])
      cycle.push_back(u);
    return cycle;
  }
  return {};
}

} // namespace

std::vector<int> ccn::synth::cheapestTree(const Costs &costs, int root) {
  const int nodes = static_cast<int>(costs.size());
  std::vector<int> before(nodes, -1);
  for (int v = 0; v < nodes; ++v) {
    if (v == root)
      continue;
    for (int u = 0; u < nodes; ++u)
      if (u != v && costs[u][v] < unreachable &&
          (before[v] < 0 || costs[u][v] < costs[before[v]][v]))
        before[v] = u;
    if (before[v] < 0)
      return {};
  }
  std::vector<int> cycle = findCycle(before, root);
  if (cycle.empty())
    return before;
  // The cycle becomes one node, the last. Whoever enters it saves the way that
  // it replaces.
  std::vector<char> inCycle(nodes);
  for (int v : cycle)
    inCycle[v] = 1;
  std::vector<int> kept;
  for (int v = 0; v < nodes; ++v)
    if (!inCycle[v])
      kept.push_back(v);
  const int small = static_cast<int>(kept.size()) + 1, joined = small - 1;
  Costs less(small, std::vector<double>(small, unreachable));
  std::vector<int> entry(small, -1), leaver(small, -1);
  for (int i = 0; i < joined; ++i) {
    for (int j = 0; j < joined; ++j)
      less[i][j] = costs[kept[i]][kept[j]];
    for (int v : cycle) {
      double in = costs[kept[i]][v] < unreachable
                      ? costs[kept[i]][v] - costs[before[v]][v]
                      : unreachable;
      if (in < less[i][joined]) {
        less[i][joined] = in;
        entry[i] = v;
      }
      if (costs[v][kept[i]] < less[joined][i]) {
        less[joined][i] = costs[v][kept[i]];
        leaver[i] = v;
      }
    }
  }
  int smallRoot = static_cast<int>(std::find(kept.begin(), kept.end(), root) -
                                   kept.begin());
  std::vector<int> tree = cheapestTree(less, smallRoot);
  if (tree.empty())
    return {};
  for (int i = 0; i < joined; ++i)
    if (tree[i] >= 0)
      before[kept[i]] = tree[i] == joined ? leaver[i] : kept[tree[i]];
  before[entry[tree[joined]]] = kept[tree[joined]];
  return before;
}

HostWays ccn::synth::cheapestWays(const Fabric &fabric,
                                  const std::vector<double> &prices) {
  const Topology &t = fabric.topology;
  std::vector<std::vector<int>> out(t.nodes.size());
  for (size_t l = 0; l < t.links.size(); ++l)
    if (fabric.linkCap[l] > 0)
      out[t.links[l].src].push_back(static_cast<int>(l));
  HostWays ways;
  ways.costs.assign(fabric.hosts,
                    std::vector<double>(fabric.hosts, unreachable));
  ways.paths.assign(fabric.hosts, std::vector<std::vector<int>>(fabric.hosts));
  // Cost, links, node and the link by which it is reached.
  using Entry = std::tuple<double, int, int, int>;
  for (int host = 0; host < fabric.hosts; ++host) {
    std::vector<int> by(t.nodes.size(), -1);
    std::vector<char> done(t.nodes.size());
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    queue.push({0, 0, fabric.hostNode[host], -1});
    while (!queue.empty()) {
      auto [cost, links, node, link] = queue.top();
      queue.pop();
      if (done[node])
        continue;
      done[node] = 1;
      by[node] = link;
      int there = fabric.nodeHost[node];
      if (there >= 0 && there != host) {
        ways.costs[host][there] = cost;
        std::vector<int> &path = ways.paths[host][there];
        for (int l = link; l >= 0; l = by[t.links[l].src])
          path.push_back(l);
        std::reverse(path.begin(), path.end());
        continue;
      }
      for (int l : out[node])
        if (!done[t.links[l].dst])
          queue.push({cost + prices[l], links + 1, t.links[l].dst, l});
    }
  }
  return ways;
}

/// The cheapest tree over all ranks and these CPUs, in the order of hosts.
static SpanningTree treeOver(const Costs &costs, int ranks, int root,
                             const std::vector<char> &cpus) {
  const int hosts = static_cast<int>(costs.size());
  std::vector<int> members;
  for (int host = 0; host < hosts; ++host)
    if (host < ranks || cpus[host - ranks])
      members.push_back(host);
  Costs among(members.size(), std::vector<double>(members.size()));
  for (size_t i = 0; i < members.size(); ++i)
    for (size_t j = 0; j < members.size(); ++j)
      among[i][j] = costs[members[i]][members[j]];
  int at = static_cast<int>(std::find(members.begin(), members.end(), root) -
                            members.begin());
  std::vector<int> tree = cheapestTree(among, at);
  SpanningTree result;
  if (tree.empty())
    return result;
  result.cost = 0;
  result.parent.assign(hosts, -2);
  for (size_t i = 0; i < tree.size(); ++i) {
    result.cost += tree[i] >= 0 ? among[tree[i]][i] : 0;
    result.parent[members[i]] = tree[i] < 0 ? -1 : members[tree[i]];
  }
  // CPUs that lead nowhere.
  for (bool changed = true; changed;) {
    changed = false;
    for (int cpu = ranks; cpu < hosts; ++cpu) {
      int parent = result.parent[cpu];
      if (parent < 0 ||
          std::count(result.parent.begin(), result.parent.end(), cpu) > 0)
        continue;
      result.cost -= costs[parent][cpu];
      result.parent[cpu] = -2;
      changed = true;
    }
  }
  return result;
}

SpanningTree ccn::synth::cheapestSpanningTree(const Costs &costs, int ranks,
                                              int root) {
  const int cpus = static_cast<int>(costs.size()) - ranks;
  std::vector<char> chosen(cpus);
  if (root >= ranks)
    chosen[root - ranks] = 1;
  SpanningTree best = treeOver(costs, ranks, root, chosen);
  if (cpus <= maxRelayedCpus) {
    for (int set = 1; set < 1 << cpus; ++set) {
      for (int cpu = 0; cpu < cpus; ++cpu)
        chosen[cpu] = static_cast<char>(set >> cpu & 1);
      if (root >= ranks && !chosen[root - ranks])
        continue;
      SpanningTree tree = treeOver(costs, ranks, root, chosen);
      if (tree.cost < best.cost)
        best = std::move(tree);
    }
    return best;
  }
  // One more at a time, as long as that costs less.
  for (int cpu = 0; cpu < cpus; ++cpu) {
    if (chosen[cpu])
      continue;
    chosen[cpu] = 1;
    SpanningTree tree = treeOver(costs, ranks, root, chosen);
    if (tree.cost < best.cost)
      best = std::move(tree);
    else
      chosen[cpu] = 0;
  }
  return best;
}
