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

TEST(GpuGrid, KernelsThatDoNotWaitTakeWhatTheyWant) {
  EXPECT_EQ(independentBlocks(1000000, false, {132, 2, 4, 2}), 1000000);
  EXPECT_EQ(independentBlocks(0, false, {132, 2, 1, 1}), 1);
  EXPECT_EQ(independentBlocks(int64_t(1) << 40, false, {132, 2, 1, 1}),
            INT32_MAX);
  EXPECT_EQ(independentBlocks(1000000, true, {132, 2, 1, 1}), 264);
  EXPECT_EQ(independentBlocks(10, true, {132, 2, 1, 1}), 10);
}
