//===- SimulateTest.cpp - Simulated times against closed forms ------------===//
//
// Ring, direct and tree algorithms have times one can write down.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace ccn::synth;

// A ring link: 25 GB/s, 0.7 us.
static double transfer(double bytes) { return bytes / 25e3; }

TEST(Simulate, RingAllGather) {
  Fabric f = fabricOf("ring(6)");
  Result<Timing> t = simulate(ringAllGather(6), f, 6e6);
  ASSERT_TRUE(bool(t));
  EXPECT_NEAR(t->stepwiseUs, 5 * (0.7 + transfer(1e6)), 1e-6);
  EXPECT_NEAR(t->eventUs, 5 * (0.7 + transfer(1e6)), 1e-6);
}

TEST(Simulate, DirectThroughASwitch) {
  // Seven chunks leave each GPU one after the other over its one link.
  Fabric f = fabricOf("star(8)");
  Schedule s;
  s.collective = collectiveOf("all_gather", 8, 1);
  s.hosts = 8;
  s.steps = {{7, {}}};
  for (int shift = 1; shift < 8; ++shift)
    for (int r = 0; r < 8; ++r)
      s.steps[0].sends.push_back({r, r, (r + shift) % 8, SendOp::Copy, -1, {}});
  EXPECT_EQ(check(s, &f), "");
  Result<Timing> t = simulate(s, f, 8e6);
  ASSERT_TRUE(bool(t));
  EXPECT_NEAR(t->stepwiseUs, 0.7 + 7 * transfer(1e6), 1e-6);
  EXPECT_NEAR(t->eventUs, 0.7 + 7 * transfer(1e6), 1e-6);
}

TEST(Simulate, BinaryTreeBroadcast) {
  Fabric f = fabricOf("full(8)");
  Schedule s;
  s.collective = collectiveOf("broadcast", 8, 1);
  s.hosts = 8;
  for (int have = 1; have < 8; have *= 2) {
    s.steps.push_back({1, {}});
    for (int r = 0; r < have; ++r)
      s.steps.back().sends.push_back({0, r, r + have, SendOp::Copy, -1, {}});
  }
  Result<Timing> t = simulate(s, f, 1e6);
  ASSERT_TRUE(bool(t));
  EXPECT_NEAR(t->eventUs, 3 * (0.7 + transfer(1e6)), 1e-6);
}

TEST(Simulate, ChunksPipelineDownALine) {
  // C chunks over n links: the first pays every hop, the others follow.
  Fabric f = fabricOf("line(4)");
  Schedule s;
  s.collective = collectiveOf("broadcast", 4, 10);
  s.hosts = 4;
  for (int t = 0; t < 12; ++t) {
    s.steps.push_back({1, {}});
    for (int hop = 0; hop < 3; ++hop)
      if (t - hop >= 0 && t - hop < 10)
        s.steps.back().sends.push_back(
            {t - hop, hop, hop + 1, SendOp::Copy, -1, {}});
  }
  EXPECT_EQ(check(s, &f), "");
  Result<Timing> t = simulate(s, f, 1e7);
  ASSERT_TRUE(bool(t));
  EXPECT_NEAR(t->eventUs, 3 * 0.7 + 12 * transfer(1e6), 1e-6);
  EXPECT_NEAR(t->stepwiseUs, 12 * (0.7 + transfer(1e6)), 1e-6);
}
