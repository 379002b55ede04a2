//===- TimedTreesSchedule.cpp - Weighted trees with steps as schedules ----===//
//
// Weights become whole numbers of chunks, with which the steps take hardly
// longer.
//
//===----------------------------------------------------------------------===//

#include "synth/EmptySchedule.h"
#include "synth/StepPrices.h"
#include "synth/TimedTrees.h"

#include <algorithm>
#include <numeric>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Whole numbers of chunks in place of weights.
class ChunkCounts {
public:
  ChunkCounts(const TimedTrees &trees, const Fabric &fabric)
      : trees(trees), fabric(fabric), sets(fabric.sets.size()),
        setsOf(setsOfEdges(fabric)) {}

  /// The fewest chunks with which rounding loses little.
  void choose(int maxChunks);
  /// Moves chunks from tree to tree as long as the steps take less time then.
  void improve();

  int chunks = 0;
  /// By list and tree.
  std::vector<std::vector<int>> counts;

private:
  /// The weights times the chunks, rounded down, and one more where most is
  /// lost.
  void round(int chunks);
  double rounds() const;
  void change(size_t list, size_t tree, int by);
  bool isFull(size_t list, size_t tree) const;
  /// Moves a chunk if that gains.
  bool move(size_t list, size_t from, size_t to);
  void measure(size_t step);

  const TimedTrees &trees;
  const Fabric &fabric;
  const size_t sets;
  const std::vector<std::vector<int>> setsOf;
  /// By step and set; of each step the rounds.
  std::vector<int> load;
  std::vector<double> longest;
};

void ChunkCounts::change(size_t list, size_t tree, int by) {
  counts[list][tree] += by;
  for (const TimedBranch &branch : trees.trees[list][tree].branches)
    for (int set : setsOf[branch.edge])
      load[static_cast<size_t>(branch.step) * sets + set] += by;
}

void ChunkCounts::measure(size_t step) {
  double most = 0;
  for (size_t set = 0; set < sets; ++set)
    most = std::max(most, static_cast<double>(load[step * sets + set]) /
                              fabric.sets[set].cap);
  longest[step] = most;
}

double ChunkCounts::rounds() const {
  return std::accumulate(longest.begin(), longest.end(), 0.0);
}

void ChunkCounts::round(int wanted) {
  chunks = wanted;
  counts.assign(trees.trees.size(), {});
  load.assign(sets * trees.steps, 0);
  longest.assign(trees.steps, 0);
  for (size_t l = 0; l < trees.trees.size(); ++l) {
    const std::vector<TimedTree> &list = trees.trees[l];
    counts[l].resize(list.size());
    std::vector<std::pair<double, size_t>> missing;
    int left = chunks;
    for (size_t i = 0; i < list.size(); ++i) {
      double exact = list[i].weight * chunks;
      int count = std::min(left, static_cast<int>(exact + 1e-6));
      change(l, i, count);
      left -= count;
      missing.push_back({count - exact, i});
    }
    std::sort(missing.begin(), missing.end());
    for (int i = 0; i < left; ++i)
      change(l, missing[static_cast<size_t>(i) % missing.size()].second, 1);
  }
  for (size_t step = 0; step < longest.size(); ++step)
    measure(step);
}

void ChunkCounts::choose(int maxChunks) {
  // What fewer chunks may lose, and what is as good as nothing.
  constexpr double slack = 1.002;
  std::vector<double> loses;
  double least = 1e300;
  std::vector<int> numbers;
  // All small numbers, then such as are apart by about a hundredth.
  for (int each = 1; each <= maxChunks; each += std::max(1, each / 128)) {
    round(each);
    numbers.push_back(each);
    loses.push_back(rounds() / each);
    least = std::min(least, loses.back());
    if (least <= slack * trees.rounds)
      break;
  }
  for (size_t i = 0; i < loses.size(); ++i)
    if (loses[i] <= slack * least) {
      round(numbers[i]);
      return;
    }
}

bool ChunkCounts::isFull(size_t list, size_t tree) const {
  for (const TimedBranch &branch : trees.trees[list][tree].branches)
    for (int set : setsOf[branch.edge]) {
      auto step = static_cast<size_t>(branch.step);
      if (load[step * sets + set] >=
          longest[step] * fabric.sets[set].cap * (1 - 1e-9))
        return true;
    }
  return false;
}

bool ChunkCounts::move(size_t list, size_t from, size_t to) {
  std::vector<double> before = longest;
  double now = rounds();
  change(list, from, -1);
  change(list, to, 1);
  for (size_t step = 0; step < longest.size(); ++step)
    measure(step);
  if (rounds() < now * (1 - 1e-9))
    return true;
  change(list, from, 1);
  change(list, to, -1);
  longest = before;
  return false;
}

void ChunkCounts::improve() {
  // In loads that are looked at.
  constexpr double maxWork = 2e8;
  double work = 0;
  for (bool gained = true; gained;) {
    gained = false;
    for (size_t list = 0; list < counts.size(); ++list)
      for (size_t from = 0; from < counts[list].size(); ++from)
        for (size_t to = 0; to < counts[list].size() && work < maxWork; ++to) {
          if (to == from || counts[list][from] == 0)
            continue;
          if (!isFull(list, from))
            break;
          gained |= move(list, from, to);
          work += static_cast<double>(load.size());
        }
  }
}

} // namespace

Result<Schedule> ccn::synth::scheduleOfTimedTrees(const TimedTrees &trees,
                                                  const Fabric &fabric,
                                                  CollectiveKind kind, int root,
                                                  int maxChunks) {
  ChunkCounts rounded(trees, fabric);
  rounded.choose(maxChunks);
  rounded.improve();
  Result<Collective> collective =
      makeCollective(kind, fabric.ranks, rounded.chunks, root);
  if (!collective)
    return collective.status();
  Schedule schedule = emptySchedule(*collective, fabric);
  schedule.steps.resize(trees.steps);
  int chunk = 0;
  for (size_t list = 0; list < trees.trees.size(); ++list)
    for (size_t i = 0; i < trees.trees[list].size(); ++i)
      for (int k = 0; k < rounded.counts[list][i]; ++k, ++chunk)
        for (const TimedBranch &branch : trees.trees[list][i].branches) {
          const FabricEdge &edge = fabric.edges[branch.edge];
          schedule.steps[branch.step].sends.push_back(
              {chunk, edge.src, edge.dst, branch.op, branch.edge, {}});
        }
  std::erase_if(schedule.steps,
                [](const Step &step) { return step.sends.empty(); });
  fitRounds(schedule, fabric);
  return schedule;
}
