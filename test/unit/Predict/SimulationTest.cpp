//===- SimulationTest.cpp - Work that waits and shares --------------------===//

#include "codegen/predict/Simulation.h"
#include "gtest/gtest.h"

using namespace ccn::codegen;

namespace {

Step latency(double us) { return {.us = us}; }
Step work(int resource, double us) {
  return {.demands = {{resource, us, Bound::Memory}}};
}
double usOf(const TaskTimes &times, Bound bound) {
  return times.us[static_cast<size_t>(bound)];
}

} // namespace

TEST(Simulation, TasksOfAStreamFollowEachOther) {
  auto times = simulate({{0, {}, {latency(2)}}, {0, {}, {latency(3)}}});
  EXPECT_DOUBLE_EQ(times[0].end, 2);
  EXPECT_DOUBLE_EQ(times[1].begin, 2);
  EXPECT_DOUBLE_EQ(times[1].end, 5);
  EXPECT_EQ(times[1].bound(), Bound::Latency);
}

TEST(Simulation, AStreamWaitsForAnother) {
  // The third task waits for the first, the second does not.
  auto times = simulate(
      {{0, {}, {latency(4)}}, {1, {}, {latency(1)}}, {1, {0}, {latency(2)}}});
  EXPECT_DOUBLE_EQ(times[1].begin, 0);
  EXPECT_DOUBLE_EQ(times[1].end, 1);
  EXPECT_DOUBLE_EQ(times[2].begin, 4);
  EXPECT_DOUBLE_EQ(times[2].end, 6);
}

TEST(Simulation, RanksWaitForEachOther) {
  // Each signals its event, then waits for the other's, as at a barrier.
  auto barrier = [](int own, int other, double before) {
    return std::vector<Step>{
        {.us = before, .signals = {own}},
        {.awaits = {other}, .us = 1, .bound = Bound::Flags}};
  };
  auto times =
      simulate({{0, {}, barrier(0, 1, 2)}, {1, {}, barrier(1, 0, 10)}});
  EXPECT_DOUBLE_EQ(times[0].end, 11);
  EXPECT_DOUBLE_EQ(times[1].end, 11);
  EXPECT_DOUBLE_EQ(usOf(times[0], Bound::OtherRank), 8);
  EXPECT_DOUBLE_EQ(usOf(times[1], Bound::OtherRank), 0);
  EXPECT_DOUBLE_EQ(usOf(times[0], Bound::Flags), 1);
  EXPECT_EQ(times[0].bound(), Bound::OtherRank);
}

TEST(Simulation, LargeTimesEnd) {
  // A double tells no nanosecond apart of so many.
  for (double us : {3e6, 4e7, 5e9, 7e12}) {
    auto times = simulate({{0, {}, {work(0, us), work(0, us / 3)}},
                           {1, {}, {latency(us / 7), work(0, us / 9)}}});
    EXPECT_NEAR(times[0].end, us * (1 + 1.0 / 3 + 1.0 / 9), us * 1e-9);
  }
}

TEST(Simulation, WhatNeverComesIsSaid) {
  auto times = simulate({{0, {}, {{.awaits = {0}}}},
                         {0, {}, {latency(1)}},
                         {1, {}, {latency(1)}}});
  EXPECT_LT(times[0].end, times[0].begin);
  EXPECT_LT(times[1].end, times[1].begin);
  EXPECT_DOUBLE_EQ(times[2].end, 1);
}

TEST(Simulation, WorkSharesAResource) {
  // Two use it at half its rate until the shorter one is done.
  auto times = simulate({{0, {}, {work(0, 4)}}, {1, {}, {work(0, 10)}}});
  EXPECT_NEAR(times[0].end, 8, 1e-6);
  EXPECT_NEAR(times[1].end, 14, 1e-6);
  EXPECT_EQ(times[1].bound(), Bound::Memory);
  // Different ones do not meet.
  times = simulate({{0, {}, {work(0, 4)}}, {1, {}, {work(1, 10)}}});
  EXPECT_NEAR(times[0].end, 4, 1e-6);
  EXPECT_NEAR(times[1].end, 10, 1e-6);
}

TEST(Simulation, WorkTakesItsLongestDemand) {
  Step step{.demands = {{0, 3, Bound::Memory}, {1, 7, Bound::Link}}};
  auto times = simulate({{0, {}, {step}}});
  EXPECT_NEAR(times[0].end, 7, 1e-6);
  EXPECT_EQ(times[0].bound(), Bound::Link);
  // Few cores cannot take more, however much there is.
  step.leastUs = 9;
  step.leastBound = Bound::Arithmetic;
  times = simulate({{0, {}, {step}}});
  EXPECT_NEAR(times[0].end, 9, 1e-6);
  EXPECT_EQ(times[0].bound(), Bound::Arithmetic);
}

TEST(Simulation, WhatAsksForLittleLeavesTheRest) {
  // The first needs the resource for a third of its time only.
  Step slow{.demands = {{0, 2, Bound::Memory}, {1, 6, Bound::Link}}};
  auto times =
      simulate({{0, {}, {slow}},
                {1, {}, {{.demands = {{0, 2, Bound::Memory}}, .leastUs = 4}}}});
  EXPECT_NEAR(times[0].end, 6, 1e-6);
  EXPECT_NEAR(times[1].end, 4, 1e-6);
}
