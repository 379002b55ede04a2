//===- RingsTest.cpp - Rings that a machine's links carry at once ---------===//
//
// As many as the links carry, and collectives along them.
//
//===----------------------------------------------------------------------===//

#include "synth/Rings.h"
#include "Common.h"
#include "synth/Compose.h"

#include <numeric>

using namespace ccn;
using namespace ccn::synth;

TEST(Rings, FillLinks) {
  for (auto [topology, count, units] : {std::tuple("dgx1", 6, 1),
                                        {"ring(5)", 2, 1},
                                        {"ring(2)", 1, 1},
                                        {"torus(4,4)", 4, 1},
                                        {"z52", 2, 1},
                                        {"full(5)", 4, 1},
                                        {"hgx-h100", 1, 1},
                                        {"hgx-h100x2", 8, 1},
                                        {"dgx-a100x2", 8, 1}}) {
    Fabric fabric = fabricOf(topology);
    Result<Rings> rings = packRings(fabric, 32, 1);
    ASSERT_TRUE(bool(rings)) << topology << ": " << rings.message();
    EXPECT_EQ(static_cast<int>(rings->rings.size()), count) << topology;
    EXPECT_EQ(rings->units, units) << topology;
    EXPECT_EQ(rings->mostUnits, count * units) << topology;
    std::vector<int> all(static_cast<size_t>(fabric.ranks));
    std::iota(all.begin(), all.end(), 0);
    for (std::vector<int> ring : rings->rings) {
      std::sort(ring.begin(), ring.end());
      EXPECT_EQ(ring, all) << topology;
    }
    // Each ring carries its chunk in each step, all at once.
    using enum CollectiveKind;
    for (CollectiveKind kind :
         {AllGather, ReduceScatter, AllReduce, Broadcast, Reduce}) {
      Result<Schedule> schedule = ringsSchedule(*rings, kind, 3);
      ASSERT_TRUE(bool(schedule)) << schedule.message();
      schedule->hosts = fabric.hosts;
      EXPECT_EQ(placeOn(*schedule, fabric, true), "");
      EXPECT_EQ(check(*schedule, &fabric), "") << topology << kindName(kind);
      for (const Step &step : schedule->steps)
        EXPECT_EQ(step.rounds, units) << topology << " " << kindName(kind);
    }
    Schedule chains = chainsSchedule(*rings, 4);
    chains.hosts = fabric.hosts;
    EXPECT_EQ(placeOn(chains, fabric, true), "");
    EXPECT_EQ(check(chains, &fabric), "") << topology;
  }
}

TEST(Rings, AreRefused) {
  Result<Rings> none = packRings(fabricOf("mesh(3,3)"), 32, 1);
  EXPECT_EQ(none.message(),
            "mesh(3,3): no ring joins all GPUs without passing NICs within a "
            "machine");
  Result<Rings> rings = packRings(fabricOf("ring(4)"), 1, 1);
  ASSERT_TRUE(bool(rings));
  EXPECT_EQ(rings->rings.size(), 1u);
  EXPECT_FALSE(bool(ringsSchedule(*rings, CollectiveKind::AllToAll, 1)));
}
