//===- GridTest.cpp - How many blocks kernels get -------------------------===//
//
// Blocks that wait must fit beside whatever else runs.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuGrid.h"
#include "runtime/plan/GpuAbi.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

using namespace ccn;
using namespace ccn::runtime;

TEST(GpuGrid, AKernelThatIsAloneFillsTheDevice) {
  EXPECT_EQ(residentBlocks({132, 2, 1, 1}), 264);
  EXPECT_EQ(residentBlocks({132, 1, 1, 1}), 132);
}

TEST(GpuGrid, KernelsBesideEachOtherShareMultiprocessors) {
  EXPECT_EQ(residentBlocks({132, 2, 1, 2}), 66);
  EXPECT_EQ(residentBlocks({132, 8, 4, 1}), 33);
  EXPECT_EQ(residentBlocks({132, 2, 4, 2}), 16);
  // Even the last has one.
  EXPECT_EQ(residentBlocks({8, 2, 16, 4}), 1);
}

TEST(GpuGrid, SharedBlocksFitWhereverTheOthersAre) {
  // If the blocks of all others are on multiprocessors of their own, those that
  // are left hold this kernel's, one each.
  for (int64_t multiprocessors : {1, 7, 8, 108, 132})
    for (int64_t ranks : {1, 2, 3, 8})
      for (int64_t streams : {1, 2, 5}) {
        int64_t parts = ranks * streams;
        if (parts == 1 || parts > multiprocessors)
          continue;
        int64_t own = residentBlocks({multiprocessors, 2, ranks, streams});
        EXPECT_LE(own * (parts - 1) + own, multiprocessors);
      }
}

static RankPlan
planOf(std::initializer_list<std::pair<int, std::vector<int>>> launches) {
  RankPlan plan;
  for (const auto &[stream, waits] : launches)
    plan.launches.push_back({"", stream, waits, {}});
  return plan;
}

TEST(GpuGrid, LaunchesShareWithThoseTheyMayRunBeside) {
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(streamsAtOnce(planOf({})), Counts());
  EXPECT_EQ(streamsAtOnce(planOf({{0, {}}, {0, {}}})), (Counts{1, 1}));
  // One after the other on two streams.
  EXPECT_EQ(streamsAtOnce(planOf({{0, {}}, {3, {0}}, {0, {1}}})),
            (Counts{1, 1, 1}));
  // Two chunks of two stages, between what is alone: the second stage of the
  // first chunk runs beside the first one of the second.
  EXPECT_EQ(streamsAtOnce(planOf({{0, {}},
                                  {0, {}},
                                  {1, {1}},
                                  {0, {}},
                                  {1, {3}},
                                  {0, {2, 4}},
                                  {0, {}}})),
            (Counts{1, 1, 2, 2, 1, 1, 1}));
  // Beside two that follow each other, on streams of their own.
  EXPECT_EQ(streamsAtOnce(planOf({{0, {}}, {1, {}}, {2, {1}}})),
            (Counts{3, 2, 2}));
}

TEST(GpuGrid, LaunchesThatMayRunAtOnceFitOnTheDevice) {
  std::mt19937 random(1);
  auto below = [&](size_t end) { return random() % end; };
  for (int round = 0; round < 300; ++round) {
    RankPlan plan;
    const size_t size = 1 + below(9);
    // Which launches are before which.
    std::vector<std::vector<bool>> before(size, std::vector<bool>(size));
    for (size_t i = 0; i < size; ++i) {
      Launch launch{"", static_cast<int>(below(4)), {}, {}};
      for (size_t j = 0; j < i; ++j) {
        bool isSame = plan.launches[j].stream == launch.stream;
        if (!isSame && below(4) == 0)
          launch.waits.push_back(static_cast<int>(j));
        if (isSame || (!launch.waits.empty() &&
                       launch.waits.back() == static_cast<int>(j))) {
          before[j][i] = true;
          for (size_t k = 0; k < j; ++k)
            before[k][i] = before[k][i] || before[k][j];
        }
      }
      plan.launches.push_back(std::move(launch));
    }
    std::vector<int64_t> counts = streamsAtOnce(plan);
    for (size_t i = 0; i < size; ++i) {
      std::set<int> streams{plan.launches[i].stream};
      for (size_t j = 0; j < size; ++j)
        if (!before[i][j] && !before[j][i])
          streams.insert(plan.launches[j].stream);
      EXPECT_EQ(counts[i], static_cast<int64_t>(streams.size())) << i;
    }
  }
}

static Result<int> fit(int64_t multiprocessors, int64_t queues, int64_t ranks,
                       int64_t ofProcess, int64_t runs = 1) {
  return streamsThatFit({multiprocessors, queues, ranks, ofProcess, runs});
}

TEST(GpuGrid, StreamsFitTheDevice) {
  // A rank that is alone has all it wants.
  EXPECT_EQ(*fit(132, 32, 1, 1), 132);
  // Of 32 queues ranks leave 16, and one each for setting up.
  EXPECT_EQ(*fit(132, 32, 2, 2), 7);
  EXPECT_EQ(*fit(132, 32, 4, 4), 3);
  EXPECT_EQ(*fit(132, 32, 2, 2, 2), 3);
  EXPECT_EQ(*fit(132, 32, 8, 8), 1);
  EXPECT_EQ(*fit(132, 32, 16, 16, 2), 1);
  EXPECT_EQ(*fit(132, 8, 4, 4), 1);
  // Those of other processes have queues of their own, but no room.
  EXPECT_EQ(*fit(132, 8, 4, 1), 33);
  EXPECT_EQ(*fit(14, 32, 8, 1), 1);
}

TEST(GpuGrid, WhatFitsNoDeviceIsRefused) {
  EXPECT_EQ(fit(14, 32, 4, 1, 4).message(),
            "expected at most 14 runs at once whose kernels wait for other "
            "ranks, as there are as many multiprocessors; found 4 ranks with 4 "
            "each");
  EXPECT_EQ(fit(132, 8, 16, 4, 4).message(),
            "expected at most 8 runs at once whose kernels wait for other "
            "ranks, as there are as many queues (CUDA_DEVICE_MAX_CONNECTIONS, "
            "before CUDA starts); found 4 ranks with 4 each");
}

TEST(GpuGrid, StreamsAreShared) {
  RankPlan plan =
      planOf({{0, {}}, {1, {0}}, {2, {1}}, {3, {2}}, {4, {3}}, {0, {4}}});
  plan.streams = 5;
  shareStreams(plan, 7);
  EXPECT_EQ(plan.streams, 5);
  shareStreams(plan, 2);
  EXPECT_EQ(plan.streams, 2);
  std::vector<int> streams;
  for (const Launch &launch : plan.launches)
    streams.push_back(launch.stream);
  EXPECT_EQ(streams, (std::vector<int>{0, 1, 0, 1, 0, 0}));
}

TEST(GpuGrid, RanksAgree) {
  auto agree = [](std::initializer_list<LaunchNeeds> ranks) {
    std::vector<LaunchNeeds> all(ranks);
    return waitingBlocks(all);
  };
  // The most that one has use for, the least that one can hold.
  EXPECT_EQ(agree({{10, 264}, {20, 264}, {5, 264}}), 20);
  EXPECT_EQ(agree({{1000, 264}, {1, 132}}), 132);
  EXPECT_EQ(agree({{1000000, 1000}}), CCN_MAX_BLOCKS);
  EXPECT_EQ(agree({{0, 264}, {0, 264}}), 1);
  // Who does not wait has no say.
  EXPECT_EQ(agree({{10, 264}, {5000, 0}}), 10);
  EXPECT_EQ(agree({}), 1);
}

TEST(GpuGrid, ClustersHaveMultiprocessorsOfTheirOwn) {
  auto of = [](int64_t ranks, int64_t streams) {
    return residentClusters({200, 30, 14}, {132, 2, ranks, streams});
  };
  EXPECT_EQ(of(1, 1), (ClusterCounts{66, 30, 14}));
  // Blocks of other kernels may be anywhere.
  EXPECT_EQ(of(2, 1), ClusterCounts());
  EXPECT_EQ(of(1, 2), ClusterCounts());
}

TEST(GpuGrid, RanksAgreeOnClusters) {
  const ClusterCounts all = {66, 30, 14}, any = {512, 512, 512};
  auto blocks = [&](std::initializer_list<LaunchNeeds> ranks) {
    std::vector<LaunchNeeds> list(ranks);
    int bits = clusterBitsOf(list);
    return std::pair(1 << bits, waitingBlocks(list, bits));
  };
  auto is = [](int cluster, int64_t grid) { return std::pair(cluster, grid); };
  EXPECT_EQ(blocks({{1, 132, all}, {1, 132, all}}), is(8, 8));
  // As many as fit what any rank needs.
  EXPECT_EQ(blocks({{14, 132, all}, {1, 132, all}}), is(8, 112));
  EXPECT_EQ(blocks({{1, 132, all}, {15, 132, all}}), is(4, 60));
  EXPECT_EQ(blocks({{64, 132, all}, {64, 132, all}}), is(2, 128));
  EXPECT_EQ(blocks({{67, 132, all}, {1, 132, all}}), is(1, 67));
  // What one cannot do none does.
  EXPECT_EQ(blocks({{3, 132, all}, {3, 132, {}}}), is(1, 3));
  EXPECT_EQ(blocks({{3, 132, all}, {1, 0, any}}), is(8, 24));
}

TEST(GpuGrid, KernelsThatDoNotWaitTakeWhatTheyWant) {
  EXPECT_EQ(independentBlocks(1000000, false, {132, 2, 4, 2}), 1000000);
  EXPECT_EQ(independentBlocks(0, false, {132, 2, 1, 1}), 1);
  EXPECT_EQ(independentBlocks(int64_t(1) << 40, false, {132, 2, 1, 1}),
            INT32_MAX);
  EXPECT_EQ(independentBlocks(1000000, true, {132, 2, 1, 1}), 264);
  EXPECT_EQ(independentBlocks(10, true, {132, 2, 1, 1}), 10);
}
