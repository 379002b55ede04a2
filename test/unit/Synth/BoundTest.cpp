//===- BoundTest.cpp - Bounds equal the published exact ones --------------===//
//
// Rounds per chunk, steps, and that certificates say what they claim.
//
//===----------------------------------------------------------------------===//

#include "synth/Bound.h"
#include "Common.h"

using namespace ccn;
using namespace ccn::synth;

TEST(Bound, ExactRoundsPerChunk) {
  for (auto [spec, name, chunks, expected] :
       {std::tuple("dgx1", "all_gather", 1, "7/6"),
        std::tuple("dgx1", "gather", 1, "7/6"),
        std::tuple("dgx1", "reduce_scatter", 1, "7/6"),
        std::tuple("dgx1", "broadcast", 1, "1/6"),
        std::tuple("dgx1", "scatter", 1, "7/6"),
        std::tuple("dgx1", "all_to_all", 8, "1/3"), // 8/3 for 8 chunks
        std::tuple("dgx1", "all_reduce", 1, "7/24"),
        std::tuple("z52", "all_gather", 1, "7/2"),
        std::tuple("z52", "all_to_all", 8, "1"), // 8 for 8 chunks
        std::tuple("z52", "scatter", 1, "7/2")}) {
    Fabric f = fabricOf(spec);
    RoundBound bound = roundBound(f, collectiveOf(name, 8, chunks));
    EXPECT_EQ(bound.roundsPerChunk.str(), expected) << spec << " " << name;
  }
}

TEST(Bound, OptimalAllGatherThroughput) {
  // GB/s of total gathered bytes, as published by ForestColl.
  for (auto [spec, expected] :
       std::initializer_list<std::pair<const char *, double>>{
           {"hgx-h100x2", 533.3},
           {"hgx-h100x4", 516.1},
           {"dgx-a100", 342.9},
           {"dgx-a100x2", 346.7},
           {"dgx-a100x4", 266.7},
           {"mi250", 342.9},
           {"mi250x2", 354.1},
           {"ndv2x2", 25.0},
           {"ndv2x4", 16.67},
           {"dgx2x2", 129.03},
           {"dgx1", 171.4}}) {
    Fabric f = fabricOf(spec);
    RoundBound bound = roundBound(f, collectiveOf("all_gather", f.ranks, 1));
    EXPECT_TRUE(bound.exact) << spec;
    double algbw = f.ranks * f.unitGBps / bound.roundsPerChunk.value();
    EXPECT_NEAR(algbw, expected, expected * 2e-4) << spec;
  }
}

TEST(Bound, CutsAreWhatTheySay) {
  for (const char *spec : {"dgx1", "ndv2x2", "dgx-a100x2", "torus(3,3)",
                           "torus(5,5)", "line(5)"}) {
    Fabric f = fabricOf(spec);
    RoundBound bound = roundBound(f, collectiveOf("all_gather", f.ranks, 1));
    int64_t capacity = 0, inside = 0;
    std::vector<char> side(f.topology.nodes.size());
    for (int v : bound.nodes) {
      side[v] = 1;
      inside += f.topology.nodes[v].kind == NodeKind::Gpu;
    }
    for (size_t l = 0; l < f.linkCap.size(); ++l)
      if (side[f.topology.links[l].src] && !side[f.topology.links[l].dst])
        capacity += f.linkCap[l];
    EXPECT_EQ(capacity, bound.capacity) << spec;
    EXPECT_EQ(inside, bound.demand) << spec;
  }
}

TEST(Bound, Steps) {
  for (auto [spec, name, expected] :
       {std::tuple("dgx1", "all_gather", 2), std::tuple("z52", "broadcast", 4),
        std::tuple("torus(8,8)", "all_gather", 8),
        std::tuple("line(5)", "all_reduce", 4),
        std::tuple("star(5)", "all_gather", 1),
        std::tuple("hub(5)", "all_to_all", 2)}) {
    Fabric f = fabricOf(spec);
    int chunks = std::string(name) == "all_to_all" ? f.ranks : 1;
    StepBound bound = stepBound(f, collectiveOf(name, f.ranks, chunks));
    EXPECT_EQ(bound.steps, expected) << spec << " " << name;
    EXPECT_EQ(bound.path.size(), size_t(expected) + 1);
  }
}

TEST(Bound, UnreachableRanks) {
  Topology t;
  t.name = "apart";
  t.addNode("a", NodeKind::Gpu);
  t.addNode("b", NodeKind::Gpu);
  t.addLink(0, 1, 25, 0);
  Result<Fabric> f = makeFabric(t);
  ASSERT_TRUE(bool(f));
  EXPECT_EQ(stepBound(*f, collectiveOf("all_gather", 2, 1)).steps, -1);
  EXPECT_EQ(stepBound(*f, collectiveOf("broadcast", 2, 1)).steps, 1);
  EXPECT_EQ(roundBound(*f, collectiveOf("all_gather", 2, 1)).roundsPerChunk.den,
            0);
}

TEST(Bound, AllReduceOfManyRanksMeetsEveryCut) {
  // 24 ranks in a line, more than are enumerated; the link from 9 to 10, or the
  // one back, is the narrowest. Rank 0 is on either side of it.
  for (bool forward : {true, false}) {
    Topology topology;
    for (int i = 0; i < 24; ++i)
      topology.addNode("gpu" + std::to_string(i), NodeKind::Gpu);
    for (int i = 0; i + 1 < 24; ++i) {
      topology.addLink(i, i + 1, i == 9 && forward ? 1 : 50, 1);
      topology.addLink(i + 1, i, i == 9 && !forward ? 1 : 50, 1);
    }
    Result<Fabric> fabric = makeFabric(topology);
    ASSERT_TRUE(bool(fabric));
    RoundBound bound = roundBound(*fabric, collectiveOf("all_reduce", 24, 2));
    EXPECT_EQ(bound.roundsPerChunk, Fraction(1));
    EXPECT_EQ(bound.nodes.size(), forward ? 10u : 14u);
    EXPECT_EQ(bound.demand, 2);
    EXPECT_EQ(bound.capacity, 1);
  }
}

TEST(Bound, SomeRanksAreEnoughOfABound) {
  // All GPUs of a node are alike.
  Fabric fabric = fabricOf("hgx-h100x4");
  for (const char *kind : {"all_gather", "reduce_scatter", "all_reduce"}) {
    Collective collective = collectiveOf(kind, 32, 1);
    RoundBound all = roundBound(fabric, collective);
    RoundBound some = roundBound(fabric, collective, 3);
    EXPECT_EQ(some.roundsPerChunk, all.roundsPerChunk) << kind;
    EXPECT_FALSE(some.exact);
  }
  // One narrow way in, to a rank that is not looked at.
  Topology topology;
  for (int i = 0; i < 32; ++i)
    topology.addNode("gpu" + std::to_string(i), NodeKind::Gpu);
  for (int i = 0; i < 32; ++i)
    topology.addDuplex(i, (i + 1) % 32, i == 20 || i == 21 ? 1 : 50, 1);
  Result<Fabric> ring = makeFabric(topology);
  ASSERT_TRUE(bool(ring));
  Collective gather = collectiveOf("all_gather", 32, 1);
  EXPECT_EQ(roundBound(*ring, gather).roundsPerChunk, Fraction(31, 2));
  EXPECT_LT(roundBound(*ring, gather, 2).roundsPerChunk, Fraction(31, 2));
}
