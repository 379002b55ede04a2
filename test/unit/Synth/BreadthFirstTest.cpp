//===- BreadthFirstTest.cpp - Every chunk by the shortest ways ------------===//
//
// Regular machines reach the bounds in steps and rounds at once, and whatever
// the machine the schedules are right.
//
//===----------------------------------------------------------------------===//

#include "synth/BreadthFirst.h"
#include "Common.h"
#include "synth/Bound.h"
#include "synth/Solve.h"

#include <algorithm>
#include <bit>
#include <random>
#include <set>

using namespace ccn;
using namespace ccn::synth;

static std::vector<int> allRanks(const Fabric &fabric) {
  std::vector<int> ranks(fabric.ranks);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

TEST(BreadthFirst, RegularMachinesReachTheBounds) {
  struct Row {
    const char *spec;
    int chunks, steps, rounds;
  };
  for (const Row &row :
       {Row{"torus(8,8)", 4, 8, 63}, Row{"hypercube(6)", 6, 6, 63},
        Row{"torus(4,4,4)", 6, 6, 63}, Row{"circulant(16,1,4)", 4, 3, 15},
        Row{"full(7)", 1, 1, 1}}) {
    Fabric fabric = fabricOf(row.spec);
    for (const char *kind : {"all_gather", "reduce_scatter"}) {
      Collective collective = collectiveOf(kind, fabric.ranks, row.chunks);
      EXPECT_EQ(stepBound(fabric, collective).steps, row.steps) << row.spec;
      EXPECT_EQ(leastRounds(roundBound(fabric, collective), row.chunks),
                row.rounds)
          << row.spec;
      Result<SolveResult> result =
          solve(fabric, collective, row.steps, row.rounds, {});
      ASSERT_TRUE(bool(result)) << result.message();
      ASSERT_EQ(result->answer, Answer::Yes) << row.spec;
      EXPECT_TRUE(result->method.starts_with("breadth-first")) << row.spec;
      EXPECT_EQ(check(result->schedule, &fabric), "");
    }
  }
}

TEST(BreadthFirst, RoundsOfAnyNumberOfChunks) {
  // 4, 8, 12, 14, 12, 8, 4 and 1 ranks at distances 1 to 8, over four links.
  Fabric fabric = fabricOf("torus(8,8)");
  Result<BreadthFirst> engine =
      BreadthFirst::make(fabric, allRanks(fabric), {});
  ASSERT_TRUE(bool(engine)) << engine.message();
  EXPECT_EQ(engine->roundsPerChunk()[3], Fraction(7, 2));
  EXPECT_EQ(engine->rounds(1), 1 + 2 + 3 + 4 + 3 + 2 + 1 + 1);
  EXPECT_EQ(engine->rounds(4), 63);
  EXPECT_EQ(engine->bestChunks(64), 4);
  EXPECT_EQ(engine->bestChunks(3), 2);
}

TEST(BreadthFirst, StepsAreSplit) {
  Fabric fabric = fabricOf("torus(4,4)");
  Collective collective = collectiveOf("all_gather", 16, 4);
  for (int steps : {4, 5, 9, 15})
    for (int rounds : {15, 17}) {
      Result<SolveResult> result = solve(fabric, collective, steps, rounds, {});
      ASSERT_TRUE(bool(result));
      ASSERT_EQ(result->answer, Answer::Yes);
      EXPECT_EQ(result->method, "breadth-first flows");
      EXPECT_EQ(result->schedule.steps.size(), static_cast<size_t>(steps));
      EXPECT_EQ(result->schedule.totalRounds(), rounds);
      EXPECT_EQ(check(result->schedule, &fabric), "");
    }
}

TEST(BreadthFirst, EveryKindOnEveryGraph) {
  for (const char *spec :
       {"dgx1", "ring(5)", "mesh(3,4)", "hub(5)", "line(4)", "kautz(2,6)",
        "kautz(3,10)", "kautz(4,4)", "circulant(9,2,3)", "circulant(8,1,4)"})
    for (CollectiveKind kind :
         {CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
          CollectiveKind::AllReduce, CollectiveKind::Broadcast,
          CollectiveKind::Reduce})
      for (int chunks : {0, 1, 3}) {
        Fabric fabric = fabricOf(spec);
        Result<Schedule> schedule =
            breadthFirstSchedule(fabric, kind, 1, chunks, {});
        ASSERT_TRUE(bool(schedule)) << spec << ": " << schedule.message();
        EXPECT_EQ(check(*schedule, &fabric), "")
            << spec << " " << kindName(kind);
        EXPECT_EQ(schedule->collective.kind, kind);
      }
}

/// The most, over ranks and sets of sources at a distance, of the set's size
/// over the capacity of the edges on shortest ways from any of it.
static Fraction rateByAllSets(const Fabric &fabric, int step) {
  Fraction most;
  for (int rank = 0; rank < fabric.ranks; ++rank)
    for (uint32_t set = 1; set < 1U << fabric.ranks; ++set) {
      bool all = true;
      std::set<int> edges;
      for (int source = 0; source < fabric.ranks; ++source) {
        if (!(set >> source & 1))
          continue;
        std::vector<int> distance = fabric.distancesFrom(source);
        all &= distance[rank] == step;
        for (int e : fabric.in[rank])
          if (distance[fabric.edges[e].src] == step - 1)
            edges.insert(e);
      }
      if (!all)
        continue;
      int64_t capacity = 0;
      for (int e : edges)
        capacity += fabric.linkCap[fabric.edges[e].path[0]];
      most = std::max(most, Fraction(std::popcount(set), capacity));
    }
  return most;
}

TEST(BreadthFirst, RandomGraphs) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    Topology topology;
    int ranks = 3 + static_cast<int>(random() % 6);
    for (int r = 0; r < ranks; ++r)
      topology.addNode("gpu" + std::to_string(r), NodeKind::Gpu);
    for (int r = 0; r < ranks; ++r)
      for (int other = 0; other < ranks; ++other)
        if (other != r && (other == (r + 1) % ranks || random() % 3 == 0))
          topology.addLink(r, other, 1 + random() % 3, 1);
    Result<Fabric> fabric = makeFabric(topology);
    ASSERT_TRUE(bool(fabric));
    Result<BreadthFirst> engine =
        BreadthFirst::make(*fabric, allRanks(*fabric), {});
    ASSERT_TRUE(bool(engine)) << engine.message();
    for (int step = 1; step <= engine->steps(); ++step)
      EXPECT_EQ(engine->roundsPerChunk()[step - 1],
                rateByAllSets(*fabric, step));
    Result<Schedule> schedule = breadthFirstSchedule(
        *fabric, CollectiveKind::AllReduce, 0, 1 + random() % 4, {});
    ASSERT_TRUE(bool(schedule)) << schedule.message();
    EXPECT_EQ(check(*schedule, &*fabric), "");
  }
}

TEST(BreadthFirst, RefusesSharedLinksAndOtherKinds) {
  for (const char *spec : {"star(4)", "hgx-h100x2", "byteps-pcie"})
    EXPECT_FALSE(bool(breadthFirstSchedule(
        fabricOf(spec), CollectiveKind::AllGather, 0, 1, {})))
        << spec;
  Result<Schedule> other = breadthFirstSchedule(
      fabricOf("ring(4)"), CollectiveKind::AllToAll, 0, 4, {});
  ASSERT_FALSE(bool(other));
  EXPECT_NE(other.message().find("found all_to_all"), std::string::npos);
  // The sources of what has one, and all ranks as destinations.
  EXPECT_EQ(breadthFirstSources(collectiveOf("all_gather", 3, 2)),
            (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(breadthFirstSources(collectiveOf("broadcast", 3, 2, 2)),
            (std::vector<int>{2}));
  for (const char *kind : {"gather", "scatter", "reduce", "all_reduce"})
    EXPECT_TRUE(breadthFirstSources(collectiveOf(kind, 3, 3)).empty()) << kind;
}

TEST(BreadthFirst, KautzAndCirculantGraphs) {
  // The Kautz graph of degree 2 and diameter 2, without loops.
  Result<Topology> kautz = buildTopology("kautz(2,6)");
  ASSERT_TRUE(bool(kautz));
  EXPECT_EQ(kautz->numRanks(), 6);
  EXPECT_EQ(kautz->links.size(), 12u);
  Fabric fabric = fabricOf("kautz(2,6)");
  EXPECT_EQ(stepBound(fabric, collectiveOf("all_gather", 6, 1)).steps, 2);
  // An offset of half is one link each way.
  EXPECT_EQ(buildTopology("circulant(8,1,4)")->links.size(), 24u);
  for (const char *spec :
       {"kautz(2)", "kautz(2,3,4)", "circulant(8)", "circulant(8,5)",
        "circulant(8,1,1)", "kautz(2,5000)", "circulant(0,1)"})
    EXPECT_FALSE(bool(buildTopology(spec))) << spec;
}
