//===- MaxFlow.h - Integer maximum flow -------------------------*- C++ -*-===//
//
// Dinic's algorithm on a residual graph that stays open: capacities can be
// raised and flow augmented further, which the bounds, the cut filter and the
// tree packing use all the time. LEMON's headers do not compile as C++20
// (allocator::construct is gone), and Boost.Graph copies the graph at every
// call; hence our own.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_MAXFLOW_H
#define CCN_SYNTH_MAXFLOW_H

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace ccn::synth {

class MaxFlow {
public:
  static constexpr int64_t infinite = std::numeric_limits<int64_t>::max() / 4;

  explicit MaxFlow(int nodes = 0) : first(nodes) {}
  int addNode() {
    first.emplace_back();
    return static_cast<int>(first.size()) - 1;
  }
  /// Adds an arc and returns its number; arc + 1 is its reverse.
  int addArc(int from, int to, int64_t cap) {
    int id = static_cast<int>(arcs.size());
    arcs.push_back({to, cap});
    arcs.push_back({from, 0});
    first[from].push_back(id);
    first[to].push_back(id + 1);
    return id;
  }
  int numNodes() const { return static_cast<int>(first.size()); }
  int64_t flow(int arc) const { return arcs[arc + 1].cap; }
  int64_t residual(int arc) const { return arcs[arc].cap; }
  /// Sets an arc to a capacity with no flow on it.
  void reset(int arc, int64_t cap) {
    arcs[arc].cap = cap;
    arcs[arc + 1].cap = 0;
  }
  int arcTarget(int arc) const { return arcs[arc].to; }

  /// Sends as much as possible, at most `limit`, and returns how much more
  /// than before that was.
  int64_t augment(int source, int sink, int64_t limit = infinite) {
    int64_t total = 0;
    while (total < limit && levelGraph(source, sink)) {
      next.assign(first.size(), 0);
      while (int64_t pushed = push(source, sink, limit - total)) {
        total += pushed;
        if (total >= limit)
          break;
      }
    }
    return total;
  }
  /// After augment(): the nodes still reachable from the source, which is the
  /// source's side of a minimum cut.
  std::vector<char> sourceSide(int source) const {
    std::vector<char> seen(first.size());
    std::vector<int> stack = {source};
    seen[source] = 1;
    while (!stack.empty()) {
      int u = stack.back();
      stack.pop_back();
      for (int a : first[u])
        if (arcs[a].cap > 0 && !seen[arcs[a].to]) {
          seen[arcs[a].to] = 1;
          stack.push_back(arcs[a].to);
        }
    }
    return seen;
  }

private:
  struct Arc {
    int to;
    int64_t cap;
  };
  bool levelGraph(int source, int sink) {
    level.assign(first.size(), -1);
    queue.clear();
    queue.push_back(source);
    level[source] = 0;
    for (size_t i = 0; i < queue.size() && level[sink] < 0; ++i)
      for (int a : first[queue[i]])
        if (arcs[a].cap > 0 && level[arcs[a].to] < 0) {
          level[arcs[a].to] = level[queue[i]] + 1;
          queue.push_back(arcs[a].to);
        }
    return level[sink] >= 0;
  }
  int64_t push(int u, int sink, int64_t limit) {
    if (u == sink)
      return limit;
    for (size_t &i = next[u]; i < first[u].size(); ++i) {
      Arc &arc = arcs[first[u][i]];
      if (arc.cap <= 0 || level[arc.to] != level[u] + 1)
        continue;
      if (int64_t pushed = push(arc.to, sink, std::min(limit, arc.cap))) {
        arc.cap -= pushed;
        arcs[first[u][i] ^ 1].cap += pushed;
        return pushed;
      }
    }
    return 0;
  }

  std::vector<std::vector<int>> first;
  std::vector<Arc> arcs;
  std::vector<int> level, queue;
  std::vector<size_t> next;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_MAXFLOW_H
