//===- TraceArrowsTest.cpp - Which rank waited for which ------------------===//

#include "tools/ccrun/TraceArrows.h"

#include <gtest/gtest.h>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// Two groups of two ranks, which meet twice; rank 0 signals rank 3.
Plan makePlan() {
  Plan plan;
  plan.groups = {{0, 1}, {2, 3}};
  for (int rank = 0; rank < 4; ++rank) {
    BarrierPart barrier{.group = rank / 2, .flags = 0};
    Launch launch;
    launch.parts = {barrier, RowsPart{}, barrier};
    if (rank == 0)
      launch.parts.emplace_back(SignalPart{.rank = 3, .flag = 7});
    if (rank == 3)
      launch.parts.emplace_back(AwaitPart{.rank = 0, .flag = 7});
    plan.ranks.emplace_back().launches = {launch};
  }
  return plan;
}

TracedPart ran(int rank, int part, int64_t begin, int64_t end,
               uint64_t run = 1) {
  return {rank, 0, run, 0, part, begin, end};
}

/// "from>to at begin-end" of each.
std::vector<std::string> arrowsOf(const std::vector<TracedPart> &parts) {
  std::vector<std::string> found;
  for (const TraceArrow &arrow : findArrows(makePlan(), parts))
    found.push_back(
        std::to_string(arrow.from.rank) + ">" + std::to_string(arrow.to.rank) +
        " at " + std::to_string(arrow.begin) + "-" + std::to_string(arrow.end));
  return found;
}

using Texts = std::vector<std::string>;

TEST(TraceArrowsTest, WhoComesLastIsWaitedForByTheOthersOfItsGroup) {
  EXPECT_EQ(arrowsOf({ran(0, 0, 5, 21), ran(1, 0, 20, 22), ran(2, 0, 9, 11),
                      ran(3, 0, 8, 12)}),
            (Texts{"2>3 at 9-12", "1>0 at 20-21"}));
}

TEST(TraceArrowsTest, BarriersAndRunsAreToldApart) {
  EXPECT_EQ(
      arrowsOf({ran(0, 0, 1, 4), ran(1, 0, 2, 4), ran(0, 2, 6, 9),
                ran(1, 2, 5, 9), ran(0, 0, 20, 30, 2), ran(1, 0, 25, 30, 2)}),
      (Texts{"1>0 at 2-4", "0>1 at 6-9", "1>0 at 25-30"}));
}

TEST(TraceArrowsTest, SignalsGoToWhatAwaitsThem) {
  EXPECT_EQ(arrowsOf({ran(0, 3, 10, 12), ran(3, 3, 4, 13)}),
            (Texts{"0>3 at 12-13"}));
  // One that was there already.
  EXPECT_EQ(arrowsOf({ran(0, 3, 1, 2), ran(3, 3, 4, 5)}), Texts{});
  // By clocks that differ.
  EXPECT_EQ(arrowsOf({ran(0, 3, 10, 12), ran(3, 3, 4, 11)}), Texts{});
}

TEST(TraceArrowsTest, PartsThatThePlanHasNotAreNone) {
  EXPECT_EQ(arrowsOf({ran(9, 0, 1, 2), ran(0, 99, 1, 2), ran(0, -1, 1, 2),
                      TracedPart{0, 0, 1, 5, 0, 1, 2}, ran(0, 0, 1, 2)}),
            Texts{});
}

} // namespace
