//===- NodeBalanceTest.cpp - all_to_allv over many nodes ------------------===//
//
// Skewed counts are spread over all NICs of a node; schedules pass the check,
// come near the cuts' bound and are never beyond it.
//
//===----------------------------------------------------------------------===//

#include "synth/NodeBalance.h"
#include "Common.h"

#include <random>

using namespace ccn;
using namespace ccn::synth;

static NodeBalanced balance(const Fabric &fabric, const Counts &counts) {
  Result<NodeBalanced> made =
      nodeBalanced(fabric, [&](int k) { return makeAllToAllV(counts, k); });
  EXPECT_TRUE(bool(made)) << made.message();
  EXPECT_EQ(check(made->schedule, &fabric), "");
  EXPECT_LE(made->share, 1 + 1e-9);
  EXPECT_NEAR(made->bound.roundsPerChunk.value() * made->multiplier /
                  roundsOfSteps(fabric, made->schedule),
              made->share, 1e-9);
  return *made;
}

TEST(NodeBalance, SpreadsSkewedCounts) {
  std::mt19937 random(5);
  for (const char *spec : {"hgx-h100x2", "hgx-h100x4", "dgx-a100x3"}) {
    Fabric fabric = fabricOf(spec);
    Counts counts(fabric.ranks, std::vector<int>(fabric.ranks));
    for (int p = 0; p < fabric.ranks; ++p)
      for (int q = 0; q < fabric.ranks; ++q)
        if (p != q) {
          counts[p][q] = 2 + static_cast<int>(random() % 4);
          if (random() % 6 == 0)
            counts[p][q] += static_cast<int>(random() % 40);
        }
    NodeBalanced made = balance(fabric, counts);
    EXPECT_GE(made.share, 0.96) << spec;
    EXPECT_LE(made.schedule.steps.size(), 12u) << spec;
  }
}

TEST(NodeBalance, OneGpuSendsForAll) {
  // One GPU of each node has everything: the others' NICs must help.
  Fabric fabric = fabricOf("hgx-h100x2");
  Counts counts(16, std::vector<int>(16));
  for (int q = 8; q < 16; ++q)
    counts[0][q] = 100;
  NodeBalanced made = balance(fabric, counts);
  EXPECT_GE(made.share, 0.85);
  // Over its own NIC alone 800 rounds would pass.
  EXPECT_EQ(made.bound.roundsPerChunk.str(), "100");
}

TEST(NodeBalance, RefusesOtherMachines) {
  auto counts = [](int k) { return makeAllToAllV(Counts(4, {1, 1, 1, 1}), k); };
  EXPECT_FALSE(bool(nodeBalanced(fabricOf("line(4)"), counts)));
}

TEST(Placement, KeepsOrderAndFillsSteps) {
  // Two chains over a line: the second hop follows the first.
  Fabric fabric = fabricOf("line(3)");
  auto edge = [&](int src, int dst) { return edgeBetween(fabric, src, dst); };
  Collective scatter = collectiveOf("scatter", 3, 8);
  std::vector<Hop> hops;
  for (int c = 8; c < 24; ++c) {
    hops.push_back({c, edge(0, 1), -1});
    if (c >= 16)
      hops.push_back({c, edge(1, 2), static_cast<int>(hops.size()) - 1});
  }
  Placed placed = placeHops(fabric, scatter, hops);
  EXPECT_EQ(check(placed.schedule, &fabric), "");
  EXPECT_EQ(placed.busiest, 16);
  EXPECT_GE(placed.share(), 0.97);
}
