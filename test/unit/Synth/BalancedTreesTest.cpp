//===- BalancedTreesTest.cpp - Few and flat trees -------------------------===//
//
// Balanced trees come near the bound on irregular fabrics, with few steps, and
// are never beyond it; what links do over time can be drawn.
//
//===----------------------------------------------------------------------===//

#include "synth/BalancedTrees.h"
#include "Common.h"
#include "synth/Gantt.h"

#include <cmath>
#include <random>

using namespace ccn;
using namespace ccn::synth;

/// Groups of routers, all joined within a group; each router has a GPU and a
/// link to a router of another group.
static Topology dragonfly(int groups) {
  Topology t;
  t.name = "dragonfly";
  int routers = groups - 1;
  for (int i = 0; i < groups * routers; ++i)
    t.addNode("g" + std::to_string(i), NodeKind::Gpu);
  for (int i = 0; i < groups * routers; ++i)
    t.addNode("r" + std::to_string(i), NodeKind::Switch);
  auto router = [&](int group, int index) {
    return groups * routers + group * routers + index;
  };
  for (int a = 0; a < groups; ++a)
    for (int i = 0; i < routers; ++i) {
      t.addDuplex(a * routers + i, router(a, i), 25, 0.5);
      for (int j = 0; j < i; ++j)
        t.addDuplex(router(a, i), router(a, j), 25, 0.5);
    }
  for (int a = 0; a < groups; ++a)
    for (int b = a + 1; b < groups; ++b)
      t.addDuplex(router(a, b - 1), router(b, a), 25, 0.5);
  return t;
}

static BalancedTrees make(const Fabric &fabric, CollectiveKind kind,
                          const Groups &groups = {}) {
  Result<BalancedTrees> made = balancedTrees(fabric, kind, groups, {});
  EXPECT_TRUE(bool(made)) << fabric.topology.name << ": " << made.message();
  EXPECT_EQ(check(made->schedule, &fabric), "") << fabric.topology.name;
  for (double share : made->shares)
    EXPECT_LE(share, 1 + 1e-9) << fabric.topology.name;
  return *made;
}

TEST(BalancedTrees, NearTheBoundOnIrregularFabrics) {
  Topology planes;
  planes.name = "planes";
  for (int g = 0; g < 16; ++g)
    planes.addNode("g" + std::to_string(g), NodeKind::Gpu);
  for (int s = 0; s < 6; ++s) {
    planes.addNode("s" + std::to_string(s), NodeKind::Switch);
    for (int g = 0; g < 16; ++g)
      planes.addDuplex(g, 16 + s, 50, 0.35);
  }
  // Capacities without a common divisor.
  Topology odd = *buildTopology("mesh(4,4)");
  odd.name = "odd mesh";
  std::mt19937 random(7);
  for (Link &link : odd.links)
    link.gbps *= 0.7 + 0.3 * std::generate_canonical<double, 53>(random);
  for (auto [topology, steps] :
       {std::pair(dragonfly(5), 4), std::pair(planes, 1), std::pair(odd, 24)}) {
    Fabric fabric = *makeFabric(topology);
    BalancedTrees made = make(fabric, CollectiveKind::AllGather);
    EXPECT_GE(made.shares.at(0), 0.97) << topology.name;
    EXPECT_LE(made.schedule.steps.size(), size_t(steps)) << topology.name;
    // The stepwise prediction agrees, and none is beyond the bound.
    Result<Timing> timing = simulate(made.schedule, fabric, 1e10);
    ASSERT_TRUE(bool(timing));
    double ideal = made.bounds[0].roundsPerChunk.value() * 1e10 / fabric.ranks /
                   (fabric.unitGBps * 1000);
    EXPECT_GE(ideal / timing->stepwiseUs, 0.97) << topology.name;
    EXPECT_LE(ideal, timing->eventUs * (1 + 1e-9)) << topology.name;
  }
}

TEST(BalancedTrees, AllKindsPassTheChecker) {
  for (const char *spec : {"dgx1", "ring(5)", "hgx-h100-4x2", "mesh(2,3)",
                           "star(4)", "byteps-nvlink"})
    for (CollectiveKind kind :
         {CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
          CollectiveKind::AllReduce})
      make(fabricOf(spec), kind);
  Fabric ring = fabricOf("ring(4)");
  EXPECT_FALSE(bool(balancedTrees(ring, CollectiveKind::AllToAll, {}, {})));
}

TEST(BalancedTrees, RandomMachinesAndGroups) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 40; ++trial) {
    int ranks = 3 + static_cast<int>(random() % 6);
    Topology t;
    t.name = "random " + std::to_string(trial);
    for (int r = 0; r < ranks; ++r)
      t.addNode("g" + std::to_string(r), NodeKind::Gpu);
    for (int a = 0; a < ranks; ++a)
      for (int b = 0; b < ranks; ++b)
        if (a != b && ((a + 1) % ranks == b || random() % 3 == 0))
          t.addLink(a, b, 1 + static_cast<double>(random() % 1000) / 7, 0.5);
    Fabric fabric = *makeFabric(t);
    Groups groups;
    if (trial % 2) {
      std::vector<int> order(ranks);
      for (int r = 0; r < ranks; ++r)
        order[r] = r;
      std::shuffle(order.begin(), order.end(), random);
      size_t half = order.size() / 2;
      groups = {{order.begin(), order.begin() + half},
                {order.begin() + half, order.begin() + 2 * half}};
      if (half < 2)
        continue;
    }
    for (CollectiveKind kind :
         {CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
          CollectiveKind::AllReduce})
      make(fabric, kind, groups);
  }
}

TEST(BalancedTrees, GroupsShareLinks) {
  Fabric fabric = fabricOf("dgx1");
  Groups groups = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  BalancedTrees made = make(fabric, CollectiveKind::AllReduce, groups);
  EXPECT_GE(made.shares.at(0), 0.97);
  EXPECT_EQ(made.schedule.collective.name, "all_reduce of 2 groups");
  // Only over others: each has its neighbours in the other group.
  Fabric ring = fabricOf("ring(6)");
  made = make(ring, CollectiveKind::AllGather, {{0, 2, 4}, {1, 3, 5}});
  EXPECT_GE(made.shares.at(0), 0.97);
  EXPECT_FALSE(bool(balancedTrees(fabric, CollectiveKind::AllReduce,
                                  {{0, 1}, {2, 3, 4}}, {})));
}

TEST(Gantt, ShowsEveryUsedLinkAndTheCut) {
  Fabric fabric = fabricOf("ring(4)");
  Schedule schedule = ringAllGather(4);
  Result<std::string> svg = ganttSvg(schedule, fabric, 4e6);
  ASSERT_TRUE(bool(svg)) << svg.message();
  auto count = [&](const std::string &text) {
    size_t found = 0;
    for (size_t at = svg->find(text); at != std::string::npos;
         at = svg->find(text, at + 1))
      ++found;
    return found;
  };
  // Four links one way, three chunks over each; the cut's links back are idle.
  EXPECT_EQ(count("<title>"), 12u);
  EXPECT_EQ(count("&gt;gpu"), 5u);
  EXPECT_EQ(count("text-anchor=\"end\" fill=\"#d62728\""), 2u);
  // 3 chunks over one link, where the cut has two.
  EXPECT_NE(svg->find("50.0 % of what the steps take"), std::string::npos);
  EXPECT_FALSE(bool(ganttSvg(schedule, fabricOf("ring(3)"), 4e6)));
}
