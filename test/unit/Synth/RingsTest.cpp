//===- RingsTest.cpp - Rings that a machine's links carry at once ---------===//
//
// As many as the links carry, and collectives along them.
//
//===----------------------------------------------------------------------===//

#include "synth/Rings.h"
#include "Common.h"
#include "synth/Compose.h"
#include "synth/interop/TopologyImport.h"

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

// Each hop has its edge; at every link they fit together.
static void expectFits(const Rings &rings, const Fabric &fabric) {
  std::vector<int64_t> load(fabric.edges.size());
  for (size_t r = 0; r < rings.rings.size(); ++r) {
    const std::vector<int> &ring = rings.rings[r];
    ASSERT_EQ(rings.edges[r].size(), ring.size());
    for (size_t i = 0; i < ring.size(); ++i) {
      const FabricEdge &edge = fabric.edges[rings.edges[r][i]];
      EXPECT_EQ(edge.src, ring[i]);
      EXPECT_EQ(edge.dst, ring[(i + 1) % ring.size()]);
      load[rings.edges[r][i]] += rings.units;
    }
  }
  for (const FabricSet &set : fabric.sets) {
    int64_t total = 0;
    for (int e : set.edges)
      total += load[e];
    EXPECT_LE(total, set.cap) << fabric.topology.name << " " << set.name;
  }
}

// The width that carries the most in all, of machines as tools describe them.
TEST(Rings, OfImportedMachines) {
  for (auto [file, least] : {std::tuple("dgx1.xml", 150),
                             {"dgx1.txt", 150},
                             {"hgx-h100.xml", 450},
                             {"hgx-h100.txt", 450},
                             {"dgx-a100.txt", 300},
                             {"pcie.txt", 10}}) {
    Result<Topology> topology =
        loadTopology(std::string(CCN_SYNTH_TEST_DATA "/topologies/") + file,
                     ImportOptions());
    ASSERT_TRUE(bool(topology)) << topology.message();
    Fabric fabric = *makeFabric(*topology);
    Result<Rings> rings = packRings(fabric, 32, 1);
    ASSERT_TRUE(bool(rings)) << file << ": " << rings.message();
    expectFits(*rings, fabric);
    double gbps = static_cast<double>(rings->rings.size()) * rings->units *
                  fabric.unitGBps;
    EXPECT_GE(gbps, least) << file;
    EXPECT_LE(gbps, rings->mostUnits * fabric.unitGBps) << file;
    EXPECT_TRUE(rings->machines.empty()) << file;
  }
}

// NCCL joins machine m to machine m + 1, in every ring.
TEST(Rings, PassMachinesInOrder) {
  for (auto [topology, machines, gpus] : {std::tuple("hgx-h100x3", 3, 8),
                                          {"dgx-a100x4", 4, 8},
                                          {"mi250x2", 2, 16},
                                          {"byteps-pciex2", 2, 8},
                                          {"byteps-nvlinkx3", 3, 8}}) {
    Fabric fabric = fabricOf(topology);
    Result<Rings> rings = packRings(fabric, 32, 1);
    ASSERT_TRUE(bool(rings)) << topology << ": " << rings.message();
    expectFits(*rings, fabric);
    ASSERT_EQ(static_cast<int>(rings->machines.size()), machines) << topology;
    std::vector<int> machineOf(static_cast<size_t>(fabric.ranks));
    for (int m = 0; m < machines; ++m) {
      EXPECT_EQ(static_cast<int>(rings->machines[m].ranks.size()), gpus);
      EXPECT_FALSE(rings->machines[m].nics.empty());
      for (int rank : rings->machines[m].ranks)
        machineOf[rank] = m;
    }
    for (const std::vector<int> &ring : rings->rings)
      for (size_t i = 0; i < ring.size(); ++i) {
        int here = machineOf[ring[i]];
        int next = machineOf[ring[(i + 1) % ring.size()]];
        EXPECT_TRUE(next == here || next == (here + 1) % machines) << topology;
      }
  }
}

TEST(Rings, AreRefused) {
  Result<Rings> none = packRings(fabricOf("mesh(3,3)"), 32, 1);
  EXPECT_EQ(none.message(),
            "mesh(3,3): no ring joins all GPUs without passing NICs within a "
            "machine");
  // Too many ways to try them all.
  none = packRings(fabricOf("mesh(5,5)"), 32, 1);
  EXPECT_EQ(none.message(),
            "mesh(5,5): expected a ring that joins all GPUs, found none by a "
            "search that does not try all ways");
  EXPECT_TRUE(bool(packRings(fabricOf("torus(8,8)"), 32, 1)));
  Result<Rings> rings = packRings(fabricOf("ring(4)"), 1, 1);
  ASSERT_TRUE(bool(rings));
  EXPECT_EQ(rings->rings.size(), 1u);
  EXPECT_FALSE(bool(ringsSchedule(*rings, CollectiveKind::AllToAll, 1)));
}
