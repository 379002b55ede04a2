//===- BarriersTest.cpp - Where blocks and ranks wait ---------------------===//
//
// Blocks wait for each other between parts of which one touches what the other
// writes. A barrier of ranks waits for all blocks unless it is at an edge of
// the launch on all ranks: ranks that do not agree on that wait forever.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Cuda/PlanBuilder.h"
#include "gtest/gtest.h"

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;

namespace {

/// The kernel of a rank's first launch.
size_t kernelOf(const GpuProgram &program, size_t rank) {
  return static_cast<size_t>(program.launches.at(rank).at(0).kernel);
}

/// One rank with two copies.
std::string between(CopyPart first, CopyPart second) {
  PlanBuilder plan(1);
  plan.privateBuffer({100});
  plan.privateBuffer({100});
  plan.privateBuffer({100});
  plan.add(0, std::move(first));
  plan.add(0, std::move(second));
  GpuProgram program = emit(plan.plan);
  std::string barriers = barriersOf(bodyOf(program));
  // Without a barrier there may be any number of blocks.
  EXPECT_EQ(program.kernels.at(0).waits, !barriers.empty());
  return barriers;
}

} // namespace

TEST(Barriers, BlocksWaitForWhatOthersHaveWritten) {
  EXPECT_EQ(between(copy(10, view(0), view(1)), copy(10, view(1), view(2))),
            "grid");
}

TEST(Barriers, BlocksWaitBeforeTheyOverwrite) {
  EXPECT_EQ(between(copy(10, view(0), view(1)), copy(10, view(2), view(0))),
            "grid");
  EXPECT_EQ(between(copy(10, view(0), view(1)), copy(10, view(2), view(1))),
            "grid");
}

TEST(Barriers, NotBetweenPartsThatDoNotMeet) {
  EXPECT_EQ(between(copy(10, view(0), view(1)), copy(10, view(0), view(2))),
            "");
  EXPECT_EQ(between(copy(10, view(0), view(1)), copy(10, view(1, 10), view(2))),
            "");
  EXPECT_EQ(between(copy(11, view(0), view(1)), copy(10, view(1, 10), view(2))),
            "grid");
}

TEST(Barriers, BuffersThatOverlapInMemoryMeet) {
  PlanBuilder plan(1);
  int a = plan.privateBuffer({100}), b = plan.privateBuffer({100});
  int c = plan.privateBuffer({100});
  // As of buffers that live at different times.
  plan.plan.ranks[0].buffers[static_cast<size_t>(c)].offset = 0;
  plan.add(0, copy(10, view(a), view(b)));
  plan.add(0, copy(10, view(b, 50), view(c)));
  EXPECT_EQ(barriersOf(bodyOf(emit(plan.plan))), "grid");
}

TEST(Barriers, OneBarrierServesAllPartsBefore) {
  PlanBuilder plan(1);
  for (int i = 0; i < 4; ++i)
    plan.privateBuffer({100});
  plan.add(0, copy(10, view(0), view(1)));
  plan.add(0, copy(10, view(1), view(2)));
  plan.add(0, copy(10, view(1), view(3)));
  EXPECT_EQ(barriersOf(bodyOf(emit(plan.plan))), "grid");
}

TEST(Barriers, ABarrierOfRanksIsOneOfBlocks) {
  PlanBuilder plan(2);
  int in = plan.argument({10}), place = plan.symmetric({20});
  int out = plan.argument({10});
  for (int rank : {0, 1})
    plan.add(rank, copy(10, view(in), view(place, 10)));
  plan.barrier();
  for (int rank : {0, 1})
    plan.add(rank, copy(10, view(place, 10, 1 - rank), view(out)));
  GpuProgram program = emit(plan.plan);
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(barriersOf(bodyOf(program)), "group");
  EXPECT_TRUE(program.kernels[0].waits);
}

TEST(Barriers, AtTheEdgesBlocksMeetOnlyTheirLike) {
  PlanBuilder plan(2);
  int in = plan.argument({10}), place = plan.symmetric({20});
  plan.barrier();
  plan.barrier();
  for (int rank : {0, 1})
    plan.add(rank, copy(10, view(in), view(place, 10)));
  plan.barrier();
  for (int rank : {0, 1})
    plan.add(rank, copy(10, view(place, 10, 1 - rank), view(place)));
  plan.barrier();
  GpuProgram program = emit(plan.plan);
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(barriersOf(bodyOf(program)), "edge edge group edge");
}

TEST(Barriers, ARankWithoutPartsAgreesOnEdges) {
  // For rank 1, which has nothing to do, every barrier is at an edge.
  PlanBuilder plan(2);
  int in = plan.argument({10}), place = plan.symmetric({20});
  plan.barrier();
  plan.add(0, copy(10, view(in), view(place, 10, 1)));
  plan.barrier();
  plan.add(0, copy(10, view(place, 10, 1), view(place)));
  plan.barrier();
  GpuProgram program = emit(plan.plan);
  ASSERT_EQ(program.kernels.size(), 2u);
  for (size_t rank : {0, 1})
    EXPECT_EQ(barriersOf(bodyOf(program, kernelOf(program, rank))),
              "edge group edge")
        << "rank " << rank;
}

TEST(Barriers, WhatIsLastOnOneRankAndFirstOnAnotherIsNoEdge) {
  // Rank 1 reads what all blocks of rank 0 have written. A rank without parts
  // has nothing against it.
  PlanBuilder plan(3);
  int in = plan.argument({10}), place = plan.symmetric({20});
  plan.add(0, loop(10, {Access::Load, view(in), ElementType::F32},
                   {Access::Store, view(place, 10), ElementType::F32}));
  plan.barrier();
  plan.add(1, copy(10, view(place, 10, 0), view(place)));
  plan.barrier();
  GpuProgram program = emit(plan.plan);
  for (size_t rank : {0, 1, 2})
    EXPECT_EQ(barriersOf(bodyOf(program, kernelOf(program, rank))),
              "group edge")
        << "rank " << rank;
}

TEST(Barriers, WhatOneRankNeedsAllDo) {
  // Rank 1 copies elements that do not meet, but shares the kernel.
  PlanBuilder plan(2);
  int a = plan.privateBuffer({100}), b = plan.privateBuffer({100});
  int c = plan.privateBuffer({100});
  for (int rank : {0, 1}) {
    plan.add(rank, copy(10, view(a), view(b)));
    plan.add(rank, copy(10, view(b, 50 * rank), view(c)));
  }
  GpuProgram program = emit(plan.plan);
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(barriersOf(bodyOf(program)), "grid");
}

TEST(Barriers, OwnMemoryIsNotTheOthers) {
  // What a rank writes to the other is not what it reads.
  PlanBuilder plan(2);
  int in = plan.argument({10}), place = plan.symmetric({20});
  int kept = plan.privateBuffer({10});
  for (int rank : {0, 1}) {
    plan.add(rank, copy(10, view(in), view(place, 10, 1 - rank)));
    plan.add(rank, copy(10, view(place, 10), view(kept)));
  }
  EXPECT_EQ(barriersOf(bodyOf(emit(plan.plan))), "");
}

TEST(Barriers, SignalsNeedAllBlocksAndOnlyAsManyAsAKernelTakes) {
  PlanBuilder plan(2);
  int64_t most = 64;
  for (int64_t flag = 0; flag < most; ++flag)
    plan.add(0, SignalPart{1, flag});
  for (int64_t flag = 0; flag < most; ++flag)
    plan.add(1, AwaitPart{0, flag});
  GpuProgram program = emit(plan.plan);
  std::string first = bodyOf(program, kernelOf(program, 0));
  EXPECT_NE(first.find("signal(c, 0, int("), std::string::npos) << first;
  EXPECT_NE(first.find("signal(c, 63, int("), std::string::npos) << first;
  EXPECT_TRUE(program.kernels.at(kernelOf(program, 1)).waits);
  plan.add(0, SignalPart{1, most});
  EXPECT_EQ(errorOf(plan.plan),
            "launch 'launch' has more signals than a kernel takes");
}

TEST(Barriers, ALaunchWithoutPartsIsNoKernel) {
  PlanBuilder plan(2);
  int a = plan.privateBuffer({10}), b = plan.privateBuffer({10});
  plan.add(0, copy(10, view(a), view(b)));
  GpuProgram program = emit(plan.plan);
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(program.launches[0][0].kernel, 0);
  EXPECT_EQ(program.launches[1][0].kernel, -1);
}

TEST(Barriers, KernelsAddressTheRanksOfOneHost) {
  EXPECT_EQ(errorOf(PlanBuilder(17).plan),
            "kernels address the memory of at most 16 ranks, found 17");
}
