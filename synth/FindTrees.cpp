//===- FindTrees.cpp - Engines of find with linear programs ---------------===//
//
// See FindTrees.h.
//
//===----------------------------------------------------------------------===//

#include "synth/FindTrees.h"
#include "synth/FindBounds.h"
#include "synth/FractionalTrees.h"
#include "synth/TimedTrees.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::synth;

/// Less than this part of the rounds is not worth more work.
static constexpr double gap = 0.002;

static void raiseSumBound(FindSearch &search, const FractionalTrees &trees) {
  if (!trees.sumPrices.empty())
    search.raiseBound(timeOf(search, trees.sumRounds),
                      std::to_string(trees.sumRounds) +
                          " rounds a buffer, by prices of links",
                      {.prices = trees.sumPrices});
}

/// Offers pipelines of more and more chunks, until more make them slower or too
/// large.
static void offerPipelines(FindSearch &search, const FractionalTrees &trees) {
  const Collective &coll = search.collective;
  constexpr int leastChunks = 16, maxChunks = 16384, maxSends = 150'000;
  const bool shared = coll.kind == CollectiveKind::AllGather ||
                      coll.kind == CollectiveKind::ReduceScatter;
  double best = 0;
  int inVain = 0;
  for (int chunks = leastChunks; chunks <= maxChunks && inVain < 2;
       chunks *= 2) {
    auto fabric = std::make_shared<Fabric>(*search.fabric);
    Result<Schedule> schedule =
        scheduleOfTrees(trees, *fabric, coll.kind, coll.root, chunks);
    if (!schedule || search.limits.expired())
      return;
    int sends = schedule->totalSends();
    double us = search.offer("weighted trees",
                             "weighted trees, " + counted(chunks, "chunk") +
                                 (shared ? " a rank" : ""),
                             std::move(*schedule), fabric);
    inVain = best > 0 && us >= best ? inVain + 1 : 0;
    best = best > 0 ? std::min(best, us) : us;
    if (us < 0 || sends > maxSends)
      return;
  }
}

void ccn::synth::findWeightedTrees(FindSearch &search) {
  const Collective &coll = search.collective;
  // Of slow links; for the other collectives timed trees do better.
  std::vector<double> parts = {1};
  if (coll.rooted())
    parts = {0.9, 0.7};
  double rounds = 0;
  for (double part : parts) {
    Result<FractionalTrees> trees = fractionalTrees(
        *search.fabric, coll.kind, coll.root, gap, part, search.limits);
    if (!trees)
      return;
    raiseSumBound(search, *trees);
    // Without slow links there is nothing more to try.
    if (trees->rounds <= rounds * (1 + gap))
      return;
    rounds = trees->rounds;
    offerPipelines(search, *trees);
  }
}

/// The trees' shapes; ways that the machine lacks are added to it.
static std::vector<std::vector<TreeShape>>
shapesOf(const FractionalTrees &trees, Fabric &machine) {
  std::vector<std::vector<TreeShape>> shapes;
  FabricWays ways(machine);
  for (const std::vector<WeightedTree> &list : trees.trees) {
    shapes.emplace_back();
    for (const WeightedTree &tree : list) {
      TreeShape &shape = shapes.back().emplace_back();
      for (const TreeEdge &edge : tree.out)
        shape.out.push_back(ways.edgeAlong(edge.path));
      for (const TreeEdge &edge : tree.in)
        shape.in.push_back(ways.edgeAlong(edge.path));
      // From the root on.
      std::reverse(shape.in.begin(), shape.in.end());
    }
  }
  return shapes;
}

/// How many chunks timed trees may have: a rank (all_gather) or in all.
static int mostChunks(const FindSearch &search, CollectiveKind kind) {
  constexpr double mostSends = 150'000, leastBytes = 4;
  const double ranks = search.collective.ranks;
  // Each chunk is sent about once to each rank, or to it and from it.
  double shares = kind == CollectiveKind::AllGather ? ranks : 1;
  double sends = ranks * (kind == CollectiveKind::AllReduce ? 2 : shares);
  return static_cast<int>(std::max(
      1.0, std::min(mostSends / sends, search.bytes / leastBytes / shares)));
}

/// Trees with steps, over the ways that trees without steps use.
void ccn::synth::findTimedTrees(FindSearch &search) {
  using enum CollectiveKind;
  const Collective &coll = search.collective;
  bool turned = coll.kind == ReduceScatter || coll.kind == Reduce;
  CollectiveKind kind = coll.kind == ReduceScatter ? AllGather
                        : coll.kind == Reduce      ? Broadcast
                                                   : coll.kind;
  Result<FractionalTrees> trees = fractionalTrees(
      *search.fabric, coll.kind, coll.root, gap, 1, search.limits);
  if (!trees)
    return;
  raiseSumBound(search, *trees);
  Fabric machine = turned ? reversed(*search.fabric) : *search.fabric;
  std::vector<std::vector<TreeShape>> shapes = shapesOf(*trees, machine);
  auto fabric = std::make_shared<Fabric>(*search.fabric);
  if (turned)
    addWaysOf(machine, *fabric);
  else
    *fabric = machine;
  constexpr int triesInVain = 3;
  const int maxChunks = mostChunks(search, kind);
  double best = 0;
  int inVain = 0;
  std::optional<TimedTrees> before;
  for (int steps : {1, 2, 3, 4, 6, 8, 10, 12, 16}) {
    Result<TimedTrees> made =
        timedTrees(machine, kind, coll.root, steps, shapes,
                   before ? &*before : nullptr, search.limits);
    if (search.limits.expired() && !made)
      return;
    if (!made)
      continue;
    // What is slower even in fractions takes no time to round.
    double known = search.bestUs();
    bool gains = known == 0 || timeOf(search, made->rounds) < known;
    before = std::move(*made);
    if (!gains) {
      if (best > 0 && ++inVain == triesInVain)
        return;
      continue;
    }
    Result<Schedule> schedule =
        scheduleOfTimedTrees(*before, machine, kind, coll.root, maxChunks);
    if (schedule && turned)
      schedule = invert(*schedule);
    if (!schedule)
      return;
    int chunks = schedule->collective.chunksPerNode;
    double us = search.offer(
        "timed trees",
        "trees in " + counted(steps, "step") + ", " + counted(chunks, "chunk") +
            (coll.rooted() || kind == AllReduce ? "" : " a rank"),
        std::move(*schedule), fabric);
    inVain = best > 0 && us > best * 0.998 ? inVain + 1 : 0;
    if (us < 0 || inVain == triesInVain || search.limits.expired())
      return;
    best = best > 0 ? std::min(best, us) : us;
  }
}
