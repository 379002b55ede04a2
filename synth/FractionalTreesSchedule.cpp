//===- FractionalTreesSchedule.cpp - Weighted trees as schedules ----------===//
//
// Weights become whole numbers of chunks; chunks follow each other down their
// trees, those of one tree spread evenly over the time.
//
//===----------------------------------------------------------------------===//

#include "synth/EmptySchedule.h"
#include "synth/FractionalTrees.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// The numbers of chunks of each tree, by list.
class Rounding {
public:
  Rounding(const FractionalTrees &trees, const Fabric &fabric, int chunks);
  /// Moves chunks from tree to tree as long as the fullest link has less then.
  void improve();

  std::vector<std::vector<int>> counts;
  /// The sends over the link that has the most.
  double mostSends() const {
    return *std::max_element(load.begin(), load.end());
  }

private:
  void change(size_t list, size_t tree, int by);
  double fullest() const;

  std::vector<double> capacity, load;
  /// By list and tree, the links with how often each chunk passes them.
  std::vector<std::vector<std::map<int, int>>> uses;
};

Rounding::Rounding(const FractionalTrees &trees, const Fabric &fabric,
                   int chunks)
    : capacity(fabric.linkCap.begin(), fabric.linkCap.end()),
      load(capacity.size()) {
  for (const std::vector<WeightedTree> &list : trees.trees) {
    std::vector<int> count;
    std::vector<std::pair<double, size_t>> missing;
    uses.emplace_back();
    int left = chunks;
    for (size_t i = 0; i < list.size(); ++i) {
      double wanted = list[i].weight * chunks;
      count.push_back(std::min(left, static_cast<int>(wanted + 1e-6)));
      left -= count.back();
      missing.push_back({count.back() - wanted, i});
      uses.back().emplace_back();
      for (const auto *edges : {&list[i].in, &list[i].out})
        for (const TreeEdge &edge : *edges)
          for (int l : edge.path)
            ++uses.back().back()[l];
    }
    std::sort(missing.begin(), missing.end());
    for (int i = 0; i < left; ++i)
      ++count[missing[static_cast<size_t>(i) % missing.size()].second];
    counts.push_back(std::vector<int>(count.size()));
    for (size_t i = 0; i < count.size(); ++i)
      change(counts.size() - 1, i, count[i]);
  }
}

void Rounding::change(size_t list, size_t tree, int by) {
  counts[list][tree] += by;
  for (auto [l, count] : uses[list][tree])
    load[l] += by * count;
}

double Rounding::fullest() const {
  double most = 0;
  for (size_t l = 0; l < load.size(); ++l)
    if (load[l] > 0)
      most = std::max(most, load[l] / capacity[l]);
  return most;
}

void Rounding::improve() {
  constexpr int maxMoves = 2000;
  double now = fullest();
  for (int move = 0; move < maxMoves; ++move) {
    bool gained = false;
    for (size_t list = 0; list < counts.size() && !gained; ++list)
      for (size_t from = 0; from < counts[list].size() && !gained; ++from) {
        if (counts[list][from] == 0)
          continue;
        bool full = false;
        for (auto [l, count] : uses[list][from])
          full |= load[l] / capacity[l] >= now * (1 - 1e-9);
        for (size_t to = 0; full && to < counts[list].size() && !gained; ++to) {
          if (to == from)
            continue;
          change(list, from, -1);
          change(list, to, 1);
          double after = fullest();
          gained = after < now * (1 - 1e-9);
          if (gained) {
            now = after;
          } else {
            change(list, from, 1);
            change(list, to, -1);
          }
        }
      }
    if (!gained)
      return;
  }
}

/// What a chunk of a tree does, as steps after its start.
struct ChunkHop {
  int src, dst, edge, step;
  SendOp op;
};

std::vector<ChunkHop> hopsOf(const WeightedTree &tree, FabricWays &ways,
                             int hosts) {
  std::vector<ChunkHop> hops;
  // A host sends on after all has arrived.
  std::vector<int> ready(hosts);
  for (const TreeEdge &edge : tree.in) {
    hops.push_back({edge.src, edge.dst, ways.edgeAlong(edge.path),
                    ready[edge.src], SendOp::Reduce});
    ready[edge.dst] = std::max(ready[edge.dst], ready[edge.src] + 1);
  }
  // As late as the way to the root allows, so that links are free for others.
  std::vector<int> due(hosts, ready[tree.root]);
  for (size_t i = tree.in.size(); i-- > 0;) {
    ChunkHop &hop = hops[i];
    due[hop.src] = due[hop.dst] - 1;
    hop.step = due[hop.src];
  }
  std::vector<int> has(hosts);
  has[tree.root] = ready[tree.root];
  for (const TreeEdge &edge : tree.out) {
    hops.push_back({edge.src, edge.dst, ways.edgeAlong(edge.path),
                    has[edge.src], SendOp::Copy});
    has[edge.dst] = has[edge.src] + 1;
  }
  return hops;
}

} // namespace

Result<Schedule> ccn::synth::scheduleOfTrees(const FractionalTrees &trees,
                                             Fabric &fabric,
                                             CollectiveKind kind, int root,
                                             int chunks) {
  using enum CollectiveKind;
  if (kind == ReduceScatter || kind == Reduce) {
    Fabric back = reversed(fabric);
    Result<Schedule> copies = scheduleOfTrees(
        trees, back, kind == Reduce ? Broadcast : AllGather, root, chunks);
    if (!copies)
      return copies;
    addWaysOf(back, fabric);
    return invert(*copies);
  }
  Result<Collective> collective =
      makeCollective(kind, fabric.ranks, chunks, root);
  if (!collective)
    return collective.status();
  Rounding rounding(trees, fabric, chunks);
  rounding.improve();
  Schedule schedule = emptySchedule(*collective, fabric);
  // A chunk begins about when the fullest link has time for it.
  const double waves = std::min<double>(chunks, rounding.mostSends());
  {
    FabricWays ways(fabric);
    int next = 0;
    for (size_t list = 0; list < trees.trees.size(); ++list) {
      std::vector<std::pair<double, size_t>> order;
      for (size_t i = 0; i < trees.trees[list].size(); ++i)
        for (int k = 0; k < rounding.counts[list][i]; ++k)
          order.push_back({(k + 0.5) / rounding.counts[list][i], i});
      std::stable_sort(
          order.begin(), order.end(),
          [](const auto &a, const auto &b) { return a.first < b.first; });
      std::vector<std::vector<ChunkHop>> hops;
      for (const WeightedTree &tree : trees.trees[list])
        hops.push_back(hopsOf(tree, ways, fabric.hosts));
      for (size_t i = 0; i < order.size(); ++i, ++next) {
        auto wave = static_cast<size_t>(static_cast<double>(i) * waves /
                                        static_cast<double>(chunks));
        for (const ChunkHop &hop : hops[order[i].second]) {
          size_t step = wave + static_cast<size_t>(hop.step);
          if (schedule.steps.size() <= step)
            schedule.steps.resize(step + 1);
          schedule.steps[step].sends.push_back(
              {next, hop.src, hop.dst, hop.op, hop.edge, {}});
        }
      }
    }
  }
  fitRounds(schedule, fabric);
  return schedule;
}
