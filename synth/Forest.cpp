//===- Forest.cpp - Optimal throughput by packing trees -------------------===//
//
// See Forest.h. Source: Zhao et al., "ForestColl: Throughput-Optimal
// Collective Communications on Heterogeneous Network Fabrics".
//
//===----------------------------------------------------------------------===//

#include "synth/Forest.h"
#include "synth/MaxFlow.h"

#include <algorithm>
#include <map>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Capacity from one node to another, by the ways it takes.
struct Ways {
  int64_t cap = 0;
  std::vector<std::pair<std::vector<int>, int64_t>> paths;

  void add(std::vector<int> path, int64_t amount) {
    cap += amount;
    for (auto &[known, count] : paths)
      if (known == path) {
        count += amount;
        return;
      }
    paths.push_back({std::move(path), amount});
  }
  /// Takes some capacity away, as ways with amounts.
  std::vector<std::pair<std::vector<int>, int64_t>> take(int64_t amount) {
    std::vector<std::pair<std::vector<int>, int64_t>> taken;
    cap -= amount;
    while (amount > 0) {
      auto &[path, count] = paths.back();
      int64_t part = std::min(count, amount);
      taken.push_back({path, part});
      count -= part;
      amount -= part;
      if (count == 0)
        paths.pop_back();
    }
    return taken;
  }
};

class Packer {
public:
  Packer(const Fabric &fabric, const Limits &limits, std::optional<int> root)
      : fabric(fabric), root(root), t(fabric.topology), limits(limits),
        nodes(static_cast<int>(t.nodes.size())) {}

  Result<Forest> run();

private:
  using Graph = std::map<std::pair<int, int>, Ways>;

  std::string scale();
  std::string removeSwitch(int node);
  std::string splitPairs(int node, bool detours);
  /// Whether u->w->v is as short as any way between these hosts.
  bool isShortest(int u, int w, int v) const;
  int64_t splittable(int u, int w, int v, int64_t most) const;
  bool feasible() const;
  std::string growTrees();
  /// Trees of one shape that are still growing.
  struct Growing {
    int root;
    int64_t count;
    std::vector<char> in;
    std::vector<std::pair<int, int>> edges;
    int depthSum = 0;
    std::vector<int> depth, order;
  };
  int64_t addable(const std::vector<Growing> &all, size_t tree, int x, int y,
                  int64_t most) const;
  void emit(const Growing &tree);

  /// The chunks that each rank ends with in the time of k for each root.
  int64_t target() const { return k * static_cast<int64_t>(roots.size()); }

  const Fabric &fabric;
  const std::optional<int> root;
  const Topology &t;
  const Limits &limits;
  int nodes;
  Graph graph;
  /// The capacities of before the trees were grown, to take ways from.
  Graph ways;
  std::vector<int> gpus, roots;
  std::map<std::pair<int, int>, size_t> shortest;
  int64_t k = 0;
  Forest forest;
};

/// Whole capacities: in the time of k chunks a rank, link l carries
/// linkCap * rounds * k.
std::string Packer::scale() {
  const Fraction &rate = forest.bound.roundsPerChunk;
  k = 1;
  for (int cap : fabric.linkCap)
    k = std::lcm(k, Fraction(rate.num * cap, rate.den).den);
  if (k > 1000000)
    return "the capacities have no small common measure; set a coarser unit";
  for (size_t l = 0; l < t.links.size(); ++l)
    if (fabric.linkCap[l] > 0)
      graph[{t.links[l].src, t.links[l].dst}].add(
          {static_cast<int>(l)}, rate.num * fabric.linkCap[l] * k / rate.den);
  for (int v = 0; v < nodes; ++v)
    if (t.nodes[v].kind == NodeKind::Gpu)
      gpus.push_back(v);
  roots = root ? std::vector<int>{fabric.hostNode[*root]} : gpus;
  return "";
}

/// How much of u->w->v can become u->v with every cut still wide enough.
int64_t Packer::splittable(int u, int w, int v, int64_t most) const {
  MaxFlow base(nodes + 2);
  for (const auto &[ends, way] : graph)
    if (way.cap > 0)
      base.addArc(ends.first, ends.second, way.cap);
  int source = nodes, sink = nodes + 1;
  for (int r : roots)
    base.addArc(source, r, k);
  auto slack = [&](std::initializer_list<int> with,
                   std::initializer_list<int> against) {
    MaxFlow flow = base;
    for (int a : with)
      flow.addArc(source, a, MaxFlow::infinite);
    for (int b : against)
      flow.addArc(b, sink, MaxFlow::infinite);
    return flow.augment(source, sink, target() + most) - target();
  };
  // Sets with w but neither u nor v lose it, and those with both but not w.
  for (int g : gpus) {
    if (g != u && g != v)
      most = std::min(most, slack({u, v}, {w, g}));
    if (most <= 0)
      return 0;
  }
  bool holdsGpu =
      t.nodes[u].kind == NodeKind::Gpu || t.nodes[v].kind == NodeKind::Gpu;
  if (holdsGpu)
    return std::min(most, slack({w}, {u, v}));
  for (int g : gpus) {
    most = std::min(most, slack({w}, {u, v, g}));
    if (most <= 0)
      return 0;
  }
  return most;
}

bool Packer::feasible() const {
  for (int g : gpus) {
    MaxFlow flow(nodes + 1);
    for (const auto &[ends, way] : graph)
      if (way.cap > 0)
        flow.addArc(ends.first, ends.second, way.cap);
    for (int r : roots)
      flow.addArc(nodes, r, k);
    if (flow.augment(nodes, g, target()) < target())
      return false;
  }
  return true;
}

bool Packer::isShortest(int u, int w, int v) const {
  if (!t.nodes[u].isHost() || !t.nodes[v].isHost())
    return true;
  auto it = shortest.find({u, v});
  auto in = graph.find({u, w}), out = graph.find({w, v});
  return it != shortest.end() &&
         in->second.paths.back().first.size() +
                 out->second.paths.back().first.size() ==
             it->second;
}

/// Splits off pairs of links at a switch; without `detours` only such as make
/// a shortest way (data does not leave a node through its NIC to come back).
std::string Packer::splitPairs(int w, bool detours) {
  std::vector<int> before, after;
  for (const auto &[ends, way] : graph) {
    if (ends.second == w)
      before.push_back(ends.first);
    if (ends.first == w)
      after.push_back(ends.second);
  }
  // First everyone a fair share of everyone, which keeps the trees flat; then
  // whatever is left. A round over the pairs at a distance spreads the rest.
  // Switches with many ports get no shares: many thin links pack slowly.
  bool share = after.size() <= 16;
  std::map<int, int64_t> fair;
  int64_t others = std::max<int64_t>(1, static_cast<int64_t>(after.size()) - 1);
  for (int u : before)
    fair[u] = std::max<int64_t>(1, graph[{u, w}].cap / others);
  for (size_t turn = share ? 0 : after.size(); turn < 2 * after.size(); ++turn)
    for (size_t i = 0; i < before.size(); ++i) {
      if (limits.expired())
        return "out of time";
      int u = before[i], v = after[(i + turn + 1) % after.size()];
      if (u == v)
        continue;
      Ways &in = graph[{u, w}], &out = graph[{w, v}];
      int64_t most = std::min(in.cap, out.cap);
      if (turn < after.size())
        most = std::min(most, fair[u]);
      if (most == 0 || (!detours && !isShortest(u, w, v)))
        continue;
      int64_t amount = splittable(u, w, v, most);
      if (amount == 0)
        continue;
      auto first = in.take(amount), second = out.take(amount);
      Ways &joined = graph[{u, v}];
      while (!first.empty()) {
        int64_t part = std::min(first.back().second, second.back().second);
        std::vector<int> path = first.back().first;
        path.insert(path.end(), second.back().first.begin(),
                    second.back().first.end());
        joined.add(std::move(path), part);
        if ((first.back().second -= part) == 0)
          first.pop_back();
        if ((second.back().second -= part) == 0)
          second.pop_back();
      }
    }
  return "";
}

std::string Packer::removeSwitch(int w) {
  for (bool detours : {false, true}) {
    std::string problem = splitPairs(w, detours);
    if (!problem.empty())
      return problem;
    Graph whole = graph;
    std::erase_if(graph, [&](const auto &entry) {
      return entry.first.first == w || entry.first.second == w ||
             entry.second.cap == 0;
    });
    // What is left serves nobody, or has to take detours.
    if (detours || feasible())
      break;
    graph = std::move(whole);
  }
  return "";
}

/// How many of a tree's copies can grow by x->y (Bérczi and Frank).
int64_t Packer::addable(const std::vector<Growing> &all, size_t tree, int x,
                        int y, int64_t most) const {
  MaxFlow flow(nodes + 1);
  int source = nodes;
  for (const auto &[ends, way] : graph)
    if (way.cap > 0)
      flow.addArc(ends.first, ends.second, way.cap);
  int64_t total = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == tree || all[i].count == 0)
      continue;
    total += all[i].count;
    int node = flow.addNode();
    flow.addArc(source, node, all[i].count);
    for (int v : all[i].order)
      flow.addArc(node, v, MaxFlow::infinite);
  }
  flow.addArc(source, x, MaxFlow::infinite);
  return std::min(most, flow.augment(source, y, total + most) - total);
}

void Packer::emit(const Growing &tree) {
  // Copies whose ways differ become different trees.
  int64_t left = tree.count;
  std::vector<std::vector<std::pair<std::vector<int>, int64_t>>> taken;
  for (auto [x, y] : tree.edges)
    taken.push_back(ways[{x, y}].take(left));
  while (left > 0) {
    int64_t part = left;
    for (auto &list : taken)
      part = std::min(part, list.back().second);
    PackedTree packed;
    packed.root = fabric.nodeHost[tree.root];
    packed.multiplicity = part;
    for (size_t e = 0; e < tree.edges.size(); ++e) {
      packed.edges.push_back({fabric.nodeHost[tree.edges[e].first],
                              fabric.nodeHost[tree.edges[e].second],
                              taken[e].back().first});
      if ((taken[e].back().second -= part) == 0)
        taken[e].pop_back();
    }
    forest.trees.push_back(std::move(packed));
    left -= part;
  }
}

std::string Packer::growTrees() {
  ways = graph;
  std::vector<Growing> all;
  for (int g : roots) {
    Growing tree;
    tree.root = g;
    tree.count = k;
    tree.in.assign(nodes, 0);
    tree.in[g] = 1;
    tree.depth.assign(nodes, 0);
    tree.order = {g};
    all.push_back(std::move(tree));
  }
  std::vector<std::vector<int>> out(nodes);
  for (const auto &[ends, way] : graph)
    out[ends.first].push_back(ends.second);
  // Trees take turns edge by edge, so that none is left with only long ways.
  size_t unfinished = all.size();
  while (unfinished > 0)
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].count == 0 || all[i].order.size() == gpus.size())
        continue;
      bool grown = false;
      // Shallow nodes first: they keep the tree flat.
      for (size_t at = 0; at < all[i].order.size() && !grown; ++at) {
        int x = all[i].order[at];
        for (int y : out[x]) {
          if (all[i].in[y] || graph[{x, y}].cap == 0)
            continue;
          if (limits.expired())
            return "out of time";
          int64_t most = std::min(graph[{x, y}].cap, all[i].count);
          int64_t amount = addable(all, i, x, y, most);
          if (amount <= 0)
            continue;
          if (amount < all[i].count) {
            Growing rest = all[i];
            rest.count -= amount;
            all[i].count = amount;
            all.push_back(std::move(rest));
            ++unfinished;
          }
          graph[{x, y}].cap -= amount;
          Growing &tree = all[i];
          tree.in[y] = 1;
          tree.depth[y] = tree.depth[x] + 1;
          tree.edges.push_back({x, y});
          auto place =
              std::find_if(tree.order.begin(), tree.order.end(), [&](int v) {
                return tree.depth[v] > tree.depth[y];
              });
          tree.order.insert(place, y);
          grown = true;
          break;
        }
      }
      if (!grown)
        return "a tree cannot grow (a bug)";
      if (all[i].order.size() == gpus.size()) {
        emit(all[i]);
        all[i].count = 0;
        --unfinished;
      }
    }
  return "";
}

Result<Forest> Packer::run() {
  Result<Collective> gather = makeCollective(root ? CollectiveKind::Broadcast
                                                  : CollectiveKind::AllGather,
                                             fabric.ranks, 1, root.value_or(0));
  if (!gather)
    return gather.status();
  forest.bound = roundBound(fabric, *gather);
  const Fraction &rate = forest.bound.roundsPerChunk;
  if (rate.den == 0 || rate.num == 0)
    return error(t.name +
                 ": expected at least two ranks that reach each other");
  forest.algbwGBps = (root ? 1 : fabric.ranks) * fabric.unitGBps / rate.value();
  for (const FabricEdge &edge : fabric.edges)
    shortest[{fabric.hostNode[edge.src], fabric.hostNode[edge.dst]}] =
        edge.path.size();
  std::string problem = scale();
  // NICs and other nodes with few links first.
  std::vector<std::pair<int, int>> switches;
  for (int v = 0; v < nodes; ++v)
    if (t.nodes[v].kind != NodeKind::Gpu) {
      int degree = 0;
      for (const Link &link : t.links)
        degree += link.src == v || link.dst == v;
      switches.push_back({degree, v});
    }
  std::sort(switches.begin(), switches.end());
  for (size_t i = 0; i < switches.size() && problem.empty(); ++i)
    problem = removeSwitch(switches[i].second);
  if (problem.empty() && !feasible())
    problem = "the switches cannot be split off (a bug)";
  if (problem.empty())
    problem = growTrees();
  if (!problem.empty())
    return error(problem == "out of time" ? problem : t.name + ": " + problem);
  forest.treesPerRank = k;
  std::stable_sort(
      forest.trees.begin(), forest.trees.end(),
      [](const PackedTree &a, const PackedTree &b) { return a.root < b.root; });
  return std::move(forest);
}

} // namespace

/// Whether links share capacities or a switch has more on one side.
static bool needsParts(const Fabric &fabric) {
  const Topology &t = fabric.topology;
  std::vector<int64_t> balance(t.nodes.size());
  for (size_t l = 0; l < t.links.size(); ++l) {
    balance[t.links[l].dst] += fabric.linkCap[l];
    balance[t.links[l].src] -= fabric.linkCap[l];
  }
  for (size_t v = 0; v < t.nodes.size(); ++v)
    if (t.nodes[v].kind != NodeKind::Gpu && balance[v] != 0)
      return true;
  return !t.edgeSets.empty();
}

Result<Forest> ccn::synth::packTrees(const Fabric &fabric, const Limits &limits,
                                     std::optional<int> root) {
  if (!needsParts(fabric))
    return Packer(fabric, limits, root).run();
  Result<LinkParts> parts = linkParts(fabric, limits, root);
  if (!parts)
    return parts.status();
  Fabric narrow = fabric;
  narrow.linkCap = parts->capacity;
  narrow.unitGBps = fabric.unitGBps / parts->scale;
  narrow.topology.edgeSets.clear();
  Result<Forest> forest = Packer(narrow, limits, root).run();
  if (!forest)
    return forest;
  // The bound in the fabric's own rounds.
  RoundBound &bound = forest->bound;
  bound.roundsPerChunk = Fraction(bound.roundsPerChunk.num * parts->scale,
                                  bound.roundsPerChunk.den);
  if (bound.capacity % parts->scale == 0)
    bound.capacity /= parts->scale;
  else
    bound.demand *= parts->scale;
  return forest;
}

std::string ccn::synth::checkForest(const Forest &forest, const Fabric &fabric,
                                    std::optional<int> root) {
  const Topology &t = fabric.topology;
  std::vector<int64_t> ofRoot(fabric.ranks), load(t.links.size());
  for (size_t i = 0; i < forest.trees.size(); ++i) {
    const PackedTree &tree = forest.trees[i];
    std::string at = "tree " + std::to_string(i) + ": ";
    if (tree.root < 0 || tree.root >= fabric.ranks || tree.multiplicity < 1)
      return at + "expected a root below " + std::to_string(fabric.ranks);
    ofRoot[tree.root] += tree.multiplicity;
    std::vector<char> in(fabric.ranks);
    in[tree.root] = 1;
    for (const TreeEdge &edge : tree.edges) {
      if (edge.src < 0 || edge.src >= fabric.ranks || edge.dst < 0 ||
          edge.dst >= fabric.ranks || !in[edge.src] || in[edge.dst])
        return at + "the edge from " + std::to_string(edge.src) + " to " +
               std::to_string(edge.dst) + " does not grow it";
      in[edge.dst] = 1;
      int node = fabric.hostNode[edge.src];
      for (int l : edge.path) {
        if (l < 0 || l >= static_cast<int>(t.links.size()) ||
            t.links[l].src != node)
          return at + "the way from " + std::to_string(edge.src) + " to " +
                 std::to_string(edge.dst) + " is broken";
        node = t.links[l].dst;
        load[l] += tree.multiplicity;
      }
      if (node != fabric.hostNode[edge.dst])
        return at + "the way from " + std::to_string(edge.src) + " to " +
               std::to_string(edge.dst) + " ends elsewhere";
    }
    if (static_cast<int>(tree.edges.size()) != fabric.ranks - 1)
      return at + "expected to reach all " + std::to_string(fabric.ranks) +
             " ranks, found " + std::to_string(tree.edges.size() + 1);
  }
  for (int r = 0; r < fabric.ranks; ++r)
    if (int64_t trees = root && *root != r ? 0 : forest.treesPerRank;
        ofRoot[r] != trees)
      return "expected " + std::to_string(trees) + " trees from rank " +
             std::to_string(r) + ", found " + std::to_string(ofRoot[r]);
  const Fraction &rate = forest.bound.roundsPerChunk;
  for (size_t l = 0; l < t.links.size(); ++l)
    if (static_cast<__int128>(load[l]) * rate.den >
        static_cast<__int128>(fabric.linkCap[l]) * rate.num *
            forest.treesPerRank)
      return "the link from " + t.nodes[t.links[l].src].name + " to " +
             t.nodes[t.links[l].dst].name +
             " is used beyond its share of the optimal time";
  for (const EdgeSet &set : t.edgeSets) {
    int64_t total = 0;
    for (int l : set.links)
      total += load[l];
    auto cap = static_cast<int64_t>(set.gbps / fabric.unitGBps + 1e-6);
    if (static_cast<__int128>(total) * rate.den >
        static_cast<__int128>(cap) * rate.num * forest.treesPerRank)
      return set.name + " is used beyond its share of the optimal time";
  }
  return "";
}
