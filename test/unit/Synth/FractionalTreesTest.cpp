//===- FractionalTreesTest.cpp - Trees weighted by linear programs --------===//
//
// Cheapest trees are compared with all trees, rounds with bounds from cuts, and
// every schedule is checked, on one rank, odd numbers of them, machines with
// CPUs and links that share capacities.
//
//===----------------------------------------------------------------------===//

#include "synth/FractionalTrees.h"
#include "Common.h"
#include "synth/Arborescence.h"
#include "synth/Certificate.h"
#include "synth/TimedGrowth.h"
#include "synth/TimedTrees.h"

#include <numeric>
#include <random>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// The least that the nodes without a parent so far cost, by trying all.
double leastByTrying(const Costs &costs, int root, std::vector<int> &parent,
                     size_t node) {
  if (node == costs.size()) {
    double total = 0;
    for (size_t v = 0; v < costs.size(); ++v) {
      if (static_cast<int>(v) == root)
        continue;
      total += costs[parent[v]][v];
      size_t hops = 0;
      for (int at = static_cast<int>(v); at != root; at = parent[at])
        if (++hops > costs.size())
          return unreachable;
    }
    return total;
  }
  if (static_cast<int>(node) == root)
    return leastByTrying(costs, root, parent, node + 1);
  double least = unreachable;
  for (size_t u = 0; u < costs.size(); ++u)
    if (u != node && costs[u][node] < unreachable) {
      parent[node] = static_cast<int>(u);
      least = std::min(least, leastByTrying(costs, root, parent, node + 1));
    }
  return least;
}

std::vector<std::vector<TreeShape>> noShapes;

/// The schedule of timed trees, checked.
double timedRounds(const std::string &spec, CollectiveKind kind, int steps) {
  Fabric fabric = fabricOf(spec);
  Result<TimedTrees> trees =
      timedTrees(fabric, kind, 1, steps, noShapes, nullptr, {});
  EXPECT_TRUE(bool(trees)) << spec << ": " << trees.message();
  if (!trees)
    return 0;
  for (int chunks : {1, 7, 2000}) {
    Result<Schedule> schedule =
        scheduleOfTimedTrees(*trees, fabric, kind, 1, chunks);
    EXPECT_TRUE(bool(schedule)) << spec;
    EXPECT_EQ(check(*schedule, &fabric), "") << spec << ", " << chunks;
    EXPECT_LE(schedule->collective.chunksPerNode, chunks);
    EXPECT_LE(static_cast<int>(schedule->steps.size()), steps);
  }
  return trees->rounds;
}

} // namespace

TEST(FractionalTrees, CheapestTreesCostAsLittleAsAnyTree) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 400; ++turn) {
    int nodes = 2 + turn % 4;
    Costs costs(nodes, std::vector<double>(nodes));
    for (std::vector<double> &row : costs)
      for (double &cost : row)
        cost = random() % 5 == 0 ? unreachable : random() % 7;
    int root = static_cast<int>(random() % nodes);
    std::vector<int> parent(nodes, -1);
    double least = leastByTrying(costs, root, parent, 0);
    std::vector<int> tree = cheapestTree(costs, root);
    ASSERT_EQ(tree.empty(), least >= unreachable);
    if (tree.empty())
      continue;
    double total = 0;
    for (int v = 0; v < nodes; ++v)
      total += tree[v] < 0 ? 0 : costs[tree[v]][v];
    EXPECT_EQ(tree[root], -1);
    EXPECT_EQ(total, least) << turn;
  }
}

TEST(FractionalTrees, CpusArePassedWhereThatCostsLess) {
  // Three ranks and a CPU, by which all are near.
  Costs costs = {{0, 9, 9, 1}, {9, 0, 9, 1}, {9, 9, 0, 1}, {1, 1, 1, 0}};
  SpanningTree tree = cheapestSpanningTree(costs, 3, 0);
  EXPECT_EQ(tree.cost, 3);
  EXPECT_EQ(tree.parent, (std::vector<int>{-1, 3, 3, 0}));
  // None where it gains nothing.
  costs[0] = {0, 1, 1, 0};
  tree = cheapestSpanningTree(costs, 3, 0);
  EXPECT_EQ(tree.cost, 2);
  EXPECT_EQ(tree.parent, (std::vector<int>{-1, 0, 0, -2}));
}

TEST(FractionalTrees, ReachTheBoundsOfCuts) {
  using enum CollectiveKind;
  constexpr double gap = 1e-4;
  for (const char *spec : {"dgx1", "z52", "ring(5)", "line(3)", "mesh(3,4)",
                           "star(4)", "byteps-pcie", "mi250", "full(2)"})
    for (CollectiveKind kind : {AllGather, ReduceScatter, Broadcast, Reduce}) {
      Fabric fabric = fabricOf(spec);
      Result<FractionalTrees> trees =
          fractionalTrees(fabric, kind, 1, gap, 1, {});
      ASSERT_TRUE(bool(trees)) << spec << ": " << trees.message();
      RoundBound bound =
          roundBound(fabric, collectiveOf(std::string(kindName(kind)),
                                          fabric.ranks, 1, 1));
      EXPECT_NEAR(trees->rounds / bound.roundsPerChunk.value(), 1, 2 * gap)
          << spec << " " << kindName(kind);
    }
}

TEST(FractionalTrees, SumsReachTheBoundOfPrices) {
  // In rounds for a buffer: dgx1's is proved by its sends, a ring's and a
  // line's by their links; the rest is what prices of links say.
  for (auto [spec, rounds] :
       {std::pair("dgx1", 7.0 / 24), std::pair("ring(5)", 0.8),
        std::pair("line(3)", 1.0), std::pair("mesh(5,5)", 0.6),
        std::pair("mi250", 7.0 / 24), std::pair("full(3)", 2.0 / 3),
        std::pair("ring(2)", 1.0)}) {
    Fabric fabric = fabricOf(spec);
    Result<FractionalTrees> trees = fractionalTrees(
        fabric, CollectiveKind::AllReduce, 0, /*gap=*/1e-4, 1, {});
    ASSERT_TRUE(bool(trees)) << spec << ": " << trees.message();
    EXPECT_NEAR(trees->rounds, rounds, 1e-3 * rounds) << spec;
    EXPECT_NEAR(trees->sumRounds, rounds, 1e-3 * rounds) << spec;
    // What is proved is proved again from links alone.
    Certificate certificate;
    certificate.topology = fabric.topology;
    certificate.collective = collectiveOf("all_reduce", fabric.ranks, 3);
    certificate.prices = trees->sumPrices;
    EXPECT_NEAR(provedUsPerGB(certificate),
                1e6 * trees->sumRounds / fabric.unitGBps,
                1e-6 * provedUsPerGB(certificate))
        << spec;
  }
}

TEST(FractionalTrees, NodesExchangeSumsOverTheirNics) {
  // Of three nodes with eight NICs of one unit each, four sends of the buffer
  // go from node to node.
  Fabric fabric = fabricOf("dgx-a100x3");
  std::vector<double> prices;
  for (int cap : fabric.linkCap)
    prices.push_back(cap == 1 ? 1 : 0);
  EXPECT_NEAR(leastSumRounds(fabric, prices), 4.0 / 24, 1e-9);
  // Prices of all links prove less.
  std::fill(prices.begin(), prices.end(), 1);
  EXPECT_GT(leastSumRounds(fabric, prices), 0);
  EXPECT_LT(leastSumRounds(fabric, prices), 3.9 / 24);
}

TEST(FractionalTrees, PricesProveNothingOfOtherCollectives) {
  Fabric fabric = fabricOf("ring(4)");
  Certificate certificate;
  certificate.topology = fabric.topology;
  certificate.prices.assign(fabric.topology.links.size(), 1);
  certificate.collective = collectiveOf("all_reduce", 4, 1);
  EXPECT_NEAR(provedUsPerGB(certificate), 1e6 * 6 / 8 / 25, 1);
  for (const char *name : {"all_gather", "reduce_scatter", "broadcast"}) {
    certificate.collective = collectiveOf(name, 4, 1);
    EXPECT_EQ(provedUsPerGB(certificate), 0) << name;
  }
  // Nor do links that are left out.
  certificate.collective = collectiveOf("all_reduce", 4, 1);
  certificate.prices.pop_back();
  EXPECT_EQ(provedUsPerGB(certificate), 0);
}

TEST(FractionalTrees, SchedulesAreRight) {
  using enum CollectiveKind;
  for (const char *spec : {"dgx1", "ring(3)", "line(4)", "star(5)",
                           "byteps-pcie", "byteps-nvlink", "mesh(2,3)"})
    for (CollectiveKind kind :
         {AllGather, ReduceScatter, AllReduce, Broadcast, Reduce}) {
      Fabric fabric = fabricOf(spec);
      Result<FractionalTrees> trees =
          fractionalTrees(fabric, kind, 2, /*gap=*/1e-2, 0.7, {});
      ASSERT_TRUE(bool(trees)) << spec << ": " << trees.message();
      for (int chunks : {1, 3, 64}) {
        Result<Schedule> schedule =
            scheduleOfTrees(*trees, fabric, kind, 2, chunks);
        ASSERT_TRUE(bool(schedule)) << spec << ": " << schedule.message();
        EXPECT_EQ(check(*schedule, &fabric), "")
            << spec << " " << kindName(kind) << ", " << chunks;
        EXPECT_EQ(schedule->collective.chunksPerNode, chunks);
      }
    }
}

TEST(FractionalTrees, PipelinesComeNearTheBound) {
  Fabric fabric = fabricOf("mesh(5,5)");
  Result<FractionalTrees> trees = fractionalTrees(
      fabric, CollectiveKind::AllReduce, 0, /*gap=*/1e-3, 1, {});
  ASSERT_TRUE(bool(trees));
  Result<Schedule> schedule =
      scheduleOfTrees(*trees, fabric, CollectiveKind::AllReduce, 0, 1024);
  ASSERT_TRUE(bool(schedule));
  // A reduce_scatter and an all_gather, one after the other, take 0.96 rounds.
  EXPECT_LT(simulate(*schedule, fabric, 1e9)->us(),
            0.66 * 1e6 / fabric.unitGBps);
}

TEST(FractionalTrees, OneRankHasNothingToDo) {
  Fabric fabric = fabricOf("ring(2)");
  fabric = *makeFabric([&] {
    Topology one;
    one.name = "one";
    one.addNode("gpu0", NodeKind::Gpu);
    return one;
  }());
  EXPECT_FALSE(
      bool(fractionalTrees(fabric, CollectiveKind::AllReduce, 0, 1e-3, 1, {})));
}

TEST(TimedTrees, ReachWhatIsKnownOfFrontiers) {
  using enum CollectiveKind;
  EXPECT_NEAR(timedRounds("dgx1", AllGather, 2), 1.5, 1e-3);
  EXPECT_NEAR(timedRounds("dgx1", AllGather, 3), 7.0 / 6, 1e-3);
  EXPECT_NEAR(timedRounds("z52", AllGather, 4), 3.5, 1e-3);
  EXPECT_NEAR(timedRounds("ring(5)", AllGather, 2), 2, 1e-3);
  EXPECT_NEAR(timedRounds("dgx1", AllReduce, 4), 1.0 / 3, 1e-3);
  EXPECT_LT(timedRounds("dgx1", AllReduce, 5), 0.3);
  EXPECT_LT(timedRounds("byteps-pcie", AllReduce, 6), 1.1 * 0.0152 * 1.05);
  // Some trees here lead to a CPU from one rank, which then has the sum, too.
  EXPECT_LT(timedRounds("byteps-pcie", AllReduce, 8), 1.08 * 0.01524);
  EXPECT_GT(timedRounds("line(3)", Broadcast, 2), 0.5);
}

TEST(TimedTrees, FailWhereStepsAreTooFew) {
  Fabric fabric = fabricOf("ring(5)");
  EXPECT_FALSE(bool(timedTrees(fabric, CollectiveKind::AllGather, 0, 1,
                               noShapes, nullptr, {})));
  EXPECT_FALSE(bool(timedTrees(fabric, CollectiveKind::AllReduce, 0, 3,
                               noShapes, nullptr, {})));
  // Two steps to any root and two away from it: fewer take partial sums.
  EXPECT_FALSE(bool(timedTrees(fabricOf("dgx1"), CollectiveKind::AllReduce, 0,
                               3, noShapes, nullptr, {})));
}

TEST(TimedTrees, ShapesGetTheCheapestSteps) {
  // 0 -> 1 -> 2 and 0 -> 3 in three steps, compared with all choices.
  Fabric fabric = fabricOf("full(4)");
  auto edge = [&](int a, int b) { return edgeBetween(fabric, a, b); };
  std::vector<int> shape = {edge(0, 1), edge(1, 2), edge(0, 3)};
  std::mt19937 random(1);
  for (int turn = 0; turn < 50; ++turn) {
    EdgePrices prices(fabric.edges.size(), std::vector<double>(3));
    for (std::vector<double> &list : prices)
      for (double &price : list)
        price = random() % 9;
    ShapeTimer timer(fabric, prices, 3);
    std::vector<double> costs = timer.costs(shape);
    for (int first = 0; first < 2; ++first) {
      double least = unreachable;
      for (int a = first; a < 3; ++a)
        for (int b = a + 1; b < 3; ++b)
          for (int c = first; c < 3; ++c)
            least = std::min(least, prices[shape[0]][a] + prices[shape[1]][b] +
                                        prices[shape[2]][c]);
      EXPECT_EQ(costs[first], least);
      double total = 0;
      std::vector<TimedBranch> branches = timer.branches(shape, first);
      for (const TimedBranch &branch : branches)
        total += prices[branch.edge][branch.step];
      EXPECT_EQ(total, least);
      EXPECT_LT(branches[0].step, branches[1].step);
    }
  }
}
