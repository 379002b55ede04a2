//===- HierarchyTest.cpp - Many equal nodes -------------------------------===//
//
// Composed schedules are right and close to the bound of all cuts.
//
//===----------------------------------------------------------------------===//

#include "synth/Hierarchy.h"
#include "Common.h"

using namespace ccn;
using namespace ccn::synth;

TEST(Hierarchy, FindsNodes) {
  Fabric fabric = fabricOf("hgx-h100x3");
  Result<NodeGroups> groups = findGroups(fabric);
  ASSERT_TRUE(bool(groups)) << groups.message();
  ASSERT_EQ(groups->ranks.size(), 3u);
  EXPECT_EQ(groups->ranks[1], (std::vector<int>{8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(groups->first.numRanks(), 8);
  EXPECT_EQ(groups->first.links.size(), 16u);
  for (const char *spec : {"dgx1", "ring(6)", "ndv2x4"})
    EXPECT_FALSE(bool(findGroups(fabricOf(spec)))) << spec;
}

TEST(Hierarchy, SchedulesPassTheChecker) {
  for (const char *spec :
       {"hgx-h100x2", "hgx-h100x3", "dgx-a100x5", "mi250x2", "hgx-h100-4x7"})
    for (CollectiveKind kind :
         {CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
          CollectiveKind::AllReduce}) {
      Fabric fabric = fabricOf(spec);
      Result<Schedule> schedule = hierarchicalSchedule(fabric, kind, 1, {});
      ASSERT_TRUE(bool(schedule)) << spec << ": " << schedule.message();
      EXPECT_EQ(check(*schedule, &fabric), "") << spec;
      EXPECT_EQ(schedule->collective.kind, kind);
    }
}

TEST(Hierarchy, ComesCloseToTheBound) {
  Fabric fabric = fabricOf("hgx-h100x16");
  Result<Schedule> schedule =
      hierarchicalSchedule(fabric, CollectiveKind::AllGather, 1, {});
  ASSERT_TRUE(bool(schedule));
  RoundBound bound = roundBound(fabric, collectiveOf("all_gather", 128, 1));
  double best = 128 * fabric.unitGBps / bound.roundsPerChunk.value();
  Result<Timing> timing = simulate(*schedule, fabric, 1e9);
  ASSERT_TRUE(bool(timing));
  double reached = 1e9 / timing->eventUs / 1000;
  EXPECT_GT(reached, 0.93 * best);
  EXPECT_LE(reached, best);
}
