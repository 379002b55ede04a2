//===- GridTest.cpp - How many blocks kernels get -------------------------===//
//
// Blocks that wait must fit beside whatever else runs.
//
//===----------------------------------------------------------------------===//

#include "runtime/GpuAbi.h"
#include "runtime/cuda/GpuGrid.h"

#include <gtest/gtest.h>

#include <vector>

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
