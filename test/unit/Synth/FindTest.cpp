//===- FindTest.cpp - The fastest schedule for a size ---------------------===//
//
// Every kind of collective gets a right schedule that is not below the bound,
// and what find builds on (matching, textbook schedules) is what it says.
//
//===----------------------------------------------------------------------===//

#include "synth/Find.h"
#include "Common.h"
#include "synth/Bound.h"
#include "synth/Compose.h"
#include "synth/Forest.h"
#include "synth/Matching.h"

#include <algorithm>
#include <atomic>

using namespace ccn;
using namespace ccn::synth;

static Result<FindResult> found(const Fabric &fabric, CollectiveKind kind,
                                double bytes, double seconds,
                                const std::atomic<bool> *flag = nullptr,
                                int threads = 0) {
  FindOptions options;
  options.bytes = bytes;
  options.limits = Limits::seconds(seconds, flag);
  options.threads = threads;
  return findSchedule(
      fabric,
      [&, ranks = fabric.ranks](int k) {
        return kind == CollectiveKind::AllToAllV
                   ? makeAllToAllV({{0, 2, 1}, {1, 0, 0}, {3, 1, 0}}, k)
                   : makeCollective(kind, ranks, k, 1);
      },
      options);
}

TEST(Find, RelaysUseAllLinksOfTheRootsNode) {
  // One node: what a switch carries into each GPU is the buffer, once.
  Fabric star = fabricOf("star(6)");
  Schedule schedule = relayBroadcast({{0, 1, 2, 3, 4, 5}}, 2, 64);
  ASSERT_EQ(placeOn(schedule, star), "");
  EXPECT_EQ(check(schedule, &star), "");
  EXPECT_EQ(schedule.collective.chunksPerNode, 5 * 64);
  EXPECT_LT(simulate(schedule, star, 1e9)->us(), 1.03 * 1e6 / 25);
  // Two nodes of eight: over the eight NICs of the root's.
  Fabric nodes = fabricOf("hgx-h100x2");
  schedule = relayBroadcast(
      {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}}, 9, 256);
  ASSERT_EQ(placeOn(schedule, nodes), "");
  EXPECT_EQ(check(schedule, &nodes), "");
  EXPECT_LT(simulate(schedule, nodes, 1e9)->us(), 1.1 * 1e6 / 400);
}

TEST(Find, EveryKindIsFoundAndNotBelowTheBound) {
  using enum CollectiveKind;
  for (const char *spec : {"ring(3)", "star(3)", "line(3)"})
    for (CollectiveKind kind : {AllGather, ReduceScatter, AllReduce, Broadcast,
                                Reduce, Gather, Scatter, AllToAll, AllToAllV})
      for (double bytes : {100.0, 1e7}) {
        Fabric fabric = fabricOf(spec);
        Result<FindResult> result = found(fabric, kind, bytes, 0.5);
        ASSERT_TRUE(bool(result)) << result.message();
        ASSERT_FALSE(result->found.empty()) << spec << " " << kindName(kind);
        EXPECT_GT(result->boundUs, 0);
        double before = result->found.front().us / 1.0002;
        for (const FoundSchedule &each : result->found) {
          EXPECT_EQ(check(each.schedule, each.fabric.get()), "");
          EXPECT_EQ(each.schedule.collective.kind, kind);
          Result<Timing> timing = simulate(each.schedule, *each.fabric, bytes);
          ASSERT_TRUE(bool(timing));
          EXPECT_EQ(each.us, std::min(timing->eventUs, timing->stepwiseUs));
          EXPECT_GE(each.us, result->boundUs * (1 - 1e-9))
              << spec << " " << kindName(kind) << " " << bytes << " "
              << each.method << " " << result->bound;
          EXPECT_GE(each.us, before);
          before = &each == &result->found.front() ? before : each.us;
          // No chunk is smaller than an element.
          EXPECT_TRUE(bytes / each.schedule.collective.bufferChunks >= 4 ||
                      each.schedule.collective.bufferChunks <= 9 * 4);
        }
      }
}

TEST(Find, TheSizeDecides) {
  Fabric fabric = fabricOf("hypercube(3)");
  Result<FindResult> small =
      found(fabric, CollectiveKind::AllReduce, 100, 3, nullptr, 0);
  ASSERT_TRUE(bool(small));
  ASSERT_FALSE(small->found.empty());
  // Three latencies and hardly any data.
  EXPECT_LT(small->found.front().us, 3 * 0.7 + 0.05);
  Result<FindResult> large =
      found(fabric, CollectiveKind::AllGather, 1e9, 20, nullptr, 0);
  ASSERT_TRUE(bool(large));
  ASSERT_FALSE(large->found.empty());
  // Seven eighths over three links.
  EXPECT_LT(large->found.front().us, 1.0002 * (0.7 + 1e9 * 7 / 8 / 75e3));
  // At the bound nothing more is searched for.
  EXPECT_FALSE(large->outOfTime);
}

TEST(Find, BoundsAllowForRoundedCapacities) {
  // 53.6870912 GB/s count as 53.687 in this unit.
  Topology topology;
  for (int i = 0; i < 4; ++i)
    topology.addNode("gpu" + std::to_string(i), NodeKind::Gpu);
  for (int i = 0; i < 4; ++i)
    topology.addDuplex(i, (i + 1) % 4, 53.6870912, 0.5);
  Result<Fabric> fabric = makeFabric(topology, 0.001);
  ASSERT_TRUE(bool(fabric));
  Result<FindResult> result =
      found(*fabric, CollectiveKind::AllGather, 1e9, 10);
  ASSERT_TRUE(bool(result));
  ASSERT_FALSE(result->found.empty());
  EXPECT_NEAR(result->boundUs, 0.5 + 0.75e9 / (2 * 53687.0912), 0.02);
  EXPECT_LE(result->boundUs, 0.5 + 0.75e9 / (2 * 53687.0912));
  EXPECT_GE(result->found.front().us, result->boundUs);
}

TEST(Find, TriesOtherOrders) {
  Fabric fabric = fabricOf("mi250");
  Result<Schedule> trees =
      treeSchedule(fabric, CollectiveKind::AllGather, 2, {});
  ASSERT_TRUE(bool(trees));
  double us = simulate(*trees, fabric, 64e6)->eventUs;
  std::optional<Schedule> faster = fasterOrder(*trees, fabric, 64e6, 30, 1, {});
  ASSERT_TRUE(faster);
  EXPECT_EQ(check(*faster, &fabric), "");
  EXPECT_LT(simulate(*faster, fabric, 64e6)->eventUs, 0.999 * us);
  // A ring leaves nothing to choose.
  EXPECT_FALSE(
      fasterOrder(ringAllGather(6), fabricOf("ring(6)"), 1e6, 5, 1, {}));
}

TEST(Find, EndsWhenInterrupted) {
  Fabric fabric = fabricOf("torus(4,4)");
  std::atomic<bool> flag{true};
  auto start = Limits::Clock::now();
  Result<FindResult> result =
      found(fabric, CollectiveKind::AllReduce, 1e6, 100, &flag);
  ASSERT_TRUE(bool(result));
  EXPECT_TRUE(result->outOfTime);
  EXPECT_LT(Limits::Clock::now() - start, std::chrono::seconds(30));
}

TEST(Find, NothingWhereNoWayIs) {
  Topology topology;
  for (const char *name : {"a", "b"})
    topology.addNode(name, NodeKind::Gpu);
  topology.addLink(0, 1, 25, 0.7);
  Result<Fabric> oneWay = makeFabric(topology);
  ASSERT_TRUE(bool(oneWay));
  Result<FindResult> result = found(*oneWay, CollectiveKind::AllGather, 1e6, 5);
  ASSERT_TRUE(bool(result)) << result.message();
  EXPECT_TRUE(result->found.empty());
}

TEST(Matching, SchedulesAreRightAndTimedRight) {
  for (const char *spec : {"mesh(3,4)", "dgx1", "hgx-h100x2", "kautz(2,6)"})
    for (const char *kind : {"all_gather", "broadcast"})
      for (bool spares : {false, true}) {
        Fabric fabric = fabricOf(spec);
        MatchingOptions options;
        options.bytes = 1e7;
        options.sparesSlowLinks = spares;
        double us = 0;
        Collective collective = collectiveOf(kind, fabric.ranks, 5);
        Result<Schedule> schedule =
            matchingSchedule(fabric, collective, options, us);
        ASSERT_TRUE(bool(schedule)) << schedule.message();
        EXPECT_EQ(check(*schedule, &fabric), "") << spec;
        // Nothing before the bound; sends of one link may change places.
        RoundBound bound = roundBound(fabric, collective);
        EXPECT_GE(us, bound.roundsPerChunk.value() * 5 * 1e7 /
                          collective.bufferChunks / (fabric.unitGBps * 1e3));
        Result<Timing> timing = simulate(*schedule, fabric, 1e7);
        ASSERT_TRUE(bool(timing));
        EXPECT_LT(timing->eventUs, 1.25 * us) << spec;
        // Its own time is a deadline that it meets, and less is not.
        options.deadline = us;
        EXPECT_TRUE(bool(matchingSchedule(fabric, collective, options, us)));
        options.deadline = us / 10;
        EXPECT_FALSE(bool(matchingSchedule(fabric, collective, options, us)));
      }
}

TEST(Matching, SparesSlowLinks) {
  // From 0 to 1 over a link of 100 GB/s, and one of 1 GB/s by way of 2.
  Topology topology;
  for (const char *name : {"a", "b", "c"})
    topology.addNode(name, NodeKind::Gpu);
  topology.addLink(0, 1, 100, 1);
  topology.addLink(1, 2, 100, 1);
  topology.addLink(0, 2, 1, 1);
  Result<Fabric> fabric = makeFabric(topology);
  ASSERT_TRUE(bool(fabric));
  MatchingOptions options;
  options.bytes = 1e7;
  Collective collective = collectiveOf("broadcast", 3, 10);
  double greedy = 0, sparing = 0;
  ASSERT_TRUE(bool(matchingSchedule(*fabric, collective, options, greedy)));
  options.sparesSlowLinks = true;
  ASSERT_TRUE(bool(matchingSchedule(*fabric, collective, options, sparing)));
  EXPECT_NEAR(greedy, 1 + 1000, 1e-3);
  EXPECT_NEAR(sparing, 2 + 110, 1e-3);
}

TEST(Compose, TextbookSchedules) {
  for (const char *kind : {"all_gather", "reduce_scatter", "all_reduce",
                           "broadcast", "reduce", "gather", "scatter"}) {
    Schedule schedule = directSchedule(collectiveOf(kind, 4, 2, 1));
    EXPECT_EQ(check(schedule), "") << kind;
  }
  for (int ranks : {1, 2, 8}) {
    EXPECT_EQ(check(doublingAllGather(ranks)), "") << ranks;
    EXPECT_EQ(check(doublingAllReduce(ranks)), "") << ranks;
  }
  EXPECT_EQ(doublingAllGather(8).steps.size(), 3u);
  for (int root : {0, 4}) {
    Schedule tree = binomialBroadcast(7, root);
    EXPECT_EQ(check(tree), "");
    EXPECT_EQ(tree.steps.size(), 3u);
    for (int chunks : {1, 3, 20}) {
      Schedule chain = chainBroadcast(7, root, chunks);
      EXPECT_EQ(check(chain), "") << chunks;
      EXPECT_EQ(chain.steps.size(), static_cast<size_t>(chunks + 5));
    }
  }
}

TEST(Compose, SpreadsOverParallelWays) {
  // Two switches join all.
  Topology topology;
  for (int i = 0; i < 5; ++i)
    topology.addNode("gpu" + std::to_string(i), NodeKind::Gpu);
  for (int plane = 0; plane < 2; ++plane) {
    int sw = topology.addNode("sw" + std::to_string(plane), NodeKind::Switch);
    for (int i = 0; i < 5; ++i)
      topology.addDuplex(i, sw, 10, 0.5);
  }
  Result<Fabric> fabric = makeFabric(topology);
  ASSERT_TRUE(bool(fabric));
  Schedule one = directSchedule(collectiveOf("all_gather", 5, 2)), both = one;
  EXPECT_EQ(placeOn(one, *fabric), "");
  EXPECT_EQ(one.totalRounds(), 8);
  EXPECT_EQ(placeOn(both, *fabric, true), "");
  EXPECT_EQ(both.totalRounds(), 4);
  EXPECT_EQ(check(both, &*fabric), "");
  Schedule ring = ringAllGather(4);
  EXPECT_EQ(placeOn(ring, fabricOf("line(4)")),
            "rank 3 sends to rank 0, and line(4) has no link for it");
}
