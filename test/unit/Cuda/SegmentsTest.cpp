//===- SegmentsTest.cpp - Launches cut where ranks wait -------------------===//
//
// What runs in which segment, and what must move between them.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Cuda/CompiledPlan.h"
#include "test/unit/Cuda/PlanBuilder.h"
#include "test/unit/Cuda/PrintedPlan.h"
#include "gtest/gtest.h"

#include <sstream>

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;

namespace {

/// "before 0: 1>0 bytes 40+8x3/16; after 0: ..." of a launch, in symmetric
/// memory, or in argument a0.
std::string messagesOf(const GpuProgram &program, size_t launch = 0) {
  const GpuSegments &segments = program.segments.at(launch);
  std::ostringstream text;
  EXPECT_EQ(segments.messages.size(), 2 * size_t(segments.count));
  for (size_t when = 0; when < segments.messages.size(); ++when) {
    if (segments.messages[when].empty())
      continue;
    text << (when % 2 ? "after " : "before ") << when / 2 << ":";
    for (const GpuMessage &message : segments.messages[when]) {
      EXPECT_EQ(message.isWrite, when % 2 == 1);
      text << " " << message.from << ">" << message.to << " ";
      if (message.argument >= 0)
        text << "a" << message.argument << " ";
      text << message.offset << "+" << message.bytes;
      for (size_t i = 0; i < message.counts.size(); ++i)
        text << "x" << message.counts[i] << "/" << message.strides[i];
      text << ",";
    }
    text << " ";
  }
  return text.str();
}

/// The parts of a rank's kernel that are of one segment, by messages; otherwise
/// there are none.
size_t partsOfSegments(const Plan &plan, size_t rank = 0) {
  EXPECT_FALSE(has(printedKernel(plan, rank), "segment("));
  return findAll(printedKernel(plan, rank, KernelTransport::Messages),
                 "(segment)\\(")
      .size();
}

} // namespace

TEST(Segments, BarriersAtEdgesCutNothing) {
  PlanBuilder plan(2);
  int place = plan.symmetric({20}), out = plan.privateBuffer({10});
  plan.barrier();
  for (int rank : {0, 1})
    plan.add(rank, copy(10, view(place, 10, 1 - rank), view(out)));
  plan.barrier();
  GpuProgram program = emit(plan.plan);
  EXPECT_EQ(program.segments.at(0).count, 1);
  EXPECT_EQ(messagesOf(program), "before 0: 1>0 40+40, 0>1 40+40, ");
  EXPECT_EQ(partsOfSegments(plan.plan), 0u);
}

TEST(Segments, ABarrierCutsItsLaunch) {
  PlanBuilder plan(3);
  int in = plan.argument({10}), place = plan.symmetric({30});
  int out = plan.argument({10});
  for (int rank : {0, 1, 2})
    plan.add(rank, copy(10 - rank, view(in), view(place, 10 * rank, 0)));
  plan.barrier();
  plan.add(1, copy(10, view(place, 20, 0), view(out)));
  GpuProgram program = emit(plan.plan);
  EXPECT_EQ(program.segments.at(0).count, 2);
  EXPECT_EQ(messagesOf(program),
            "after 0: 1>0 40+36, 2>0 80+32, before 1: 0>1 80+40, ");
  EXPECT_EQ(partsOfSegments(plan.plan, 1), 2u);
}

TEST(Segments, MessagesAreWhatIsAccessed) {
  PlanBuilder plan(2);
  int place = plan.symmetric({1000}), own = plan.privateBuffer({1000});
  auto box = [&](std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    CopyPart part = copy(1, view(place, 3, 1), view(own));
    part.sizes = sizes;
    part.from.strides = strides;
    part.to.strides.assign(sizes.size(), 1);
    plan.add(0, part);
  };
  box({4, 5}, {10, 1});
  box({3, 4, 5}, {40, 10, 1}); // Rows of one matrix.
  box({3, 4, 5}, {100, 10, 1});
  box({5, 4}, {1, 10}); // A transpose.
  box({4, 5}, {0, 1});  // Repeated.
  box({4, 5}, {2, 1});  // Windows that overlap.
  box({4, 5}, {10, 1}); // Once more.
  box({0, 5}, {10, 1});
  EXPECT_EQ(messagesOf(emit(plan.plan)),
            "before 0: 1>0 12+20x4/40, 1>0 12+20x12/40, 1>0 12+20x3/400x4/40, "
            "1>0 12+20, 1>0 12+44, ");
}

TEST(Segments, WhatIsWrittenTwiceIsRefused) {
  PlanBuilder plan(2);
  int place = plan.symmetric({1000}), own = plan.privateBuffer({1000});
  CopyPart part = copy(1, view(own), view(place, 0, 1));
  part.sizes = {4, 5};
  part.from.strides = {5, 1};
  part.to.strides = {2, 1};
  plan.add(0, part);
  EXPECT_NE(errorOf(plan.plan).find("writes elements of another rank twice"),
            std::string::npos)
      << errorOf(plan.plan);
}

TEST(Segments, SignalsOrderWhatTheyTell) {
  // Each tells the next, which reads: the last one is three segments behind.
  PlanBuilder plan(3);
  int place = plan.symmetric({10}), own = plan.privateBuffer({10});
  for (RankPlan &rank : plan.plan.ranks)
    rank.flags = 2;
  for (int rank : {0, 1, 2}) {
    if (rank > 0) {
      plan.add(rank, AwaitPart{rank - 1, 0});
      plan.add(rank, copy(10, view(place, 0, rank - 1), view(own)));
    }
    plan.add(rank, copy(10, view(own), view(place)));
    if (rank < 2)
      plan.add(rank, SignalPart{rank + 1, 0});
  }
  GpuProgram program = emit(plan.plan);
  EXPECT_EQ(program.segments.at(0).count, 3);
  EXPECT_EQ(messagesOf(program), "before 1: 0>1 0+40, before 2: 1>2 0+40, ");
}

TEST(Segments, SignalsOfOtherLaunchesAreWaitedFor) {
  PlanBuilder plan(2);
  int place = plan.symmetric({10}), own = plan.privateBuffer({10});
  for (RankPlan &rank : plan.plan.ranks) {
    rank.flags = 1;
    rank.streams = 2;
  }
  plan.add(0, copy(10, view(own), view(place)));
  plan.add(0, SignalPart{1, 0});
  plan.launch();
  plan.add(1, AwaitPart{0, 0});
  plan.add(1, copy(10, view(place, 0, 0), view(own)));
  plan.launch();
  for (RankPlan &rank : plan.plan.ranks)
    rank.launches[1].stream = 1;
  // What one rank waits for all do.
  plan.plan.ranks[1].launches[2].waits = {1};
  plan.add(0, copy(10, view(own), view(place)));
  GpuProgram program = emit(plan.plan);
  EXPECT_EQ(program.segments.at(0).waits, std::vector<int>());
  EXPECT_EQ(program.segments.at(1).waits, std::vector<int>{0});
  EXPECT_EQ(program.segments.at(2).waits, std::vector<int>{1});
  EXPECT_EQ(messagesOf(program, 1), "before 0: 0>1 0+40, ");
}

TEST(Segments, WhoWaitsForThemselvesIsRefused) {
  PlanBuilder plan(2);
  for (RankPlan &rank : plan.plan.ranks)
    rank.flags = 1;
  for (int rank : {0, 1}) {
    plan.add(rank, AwaitPart{1 - rank, 0});
    plan.add(rank, SignalPart{1 - rank, 0});
  }
  EXPECT_NE(errorOf(plan.plan).find("waits for itself"), std::string::npos)
      << errorOf(plan.plan);
}

TEST(Segments, ExchangesAreTwo) {
  PlanCompiler compiler;
  GpuProgram program = emitFor(compiler, "mesh m (d = 2)\n"
                                         "program f(x: f32[5] local) {\n"
                                         "  let s = all_reduce(sum, x)\n"
                                         "  return s\n"
                                         "}\n");
  ASSERT_EQ(program.segments.size(), 1u);
  EXPECT_EQ(program.segments[0].count, 2);
  EXPECT_EQ(messagesOf(program), "before 1: 0>1 0+20, 1>0 0+20, ");
}

TEST(Segments, ArgumentsAreSentWhereTheyAre) {
  PlanCompiler compiler;
  GpuProgram program = emitFor(compiler, "mesh m (d = 2)\n"
                                         "program f(x: f32[5] local) {\n"
                                         "  let s = reduce_scatter(sum, x, 0)\n"
                                         "  return s\n"
                                         "}\n");
  ASSERT_EQ(program.sharedArguments, std::vector<int>{0});
  EXPECT_EQ(messagesOf(program), "before 0: 1>0 a0 0+12, 0>1 a0 12+8, ");
}
