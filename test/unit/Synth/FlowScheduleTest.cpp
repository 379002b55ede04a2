//===- FlowScheduleTest.cpp - Point-to-point schedules at scale -----------===//
//
// Schedules from optimal flows pass the check and reach nearly the bound; the
// bound is known for some machines, never below the cuts' and never above what
// the exact search finds; programs with what is alike put together have the
// same optimum.
//
//===----------------------------------------------------------------------===//

#include "synth/FlowSchedule.h"
#include "Common.h"
#include "synth/Bound.h"
#include "synth/LinearProgram.h"
#include "synth/Solve.h"

#include <random>

using namespace ccn;
using namespace ccn::synth;

static Result<FlowScheduleResult> allToAll(Fabric &fabric,
                                           FlowOptions options = {}) {
  return flowSchedule(
      fabric,
      [&](int k) {
        return makeCollective(CollectiveKind::AllToAll, fabric.ranks,
                              k * fabric.ranks);
      },
      options);
}

TEST(FlowSchedule, ReachesTheBound) {
  for (auto [spec, bound, share] :
       {std::tuple("dgx1", Fraction(8, 3), 1.0),
        std::tuple("ring(8)", Fraction(8), 1.0),
        std::tuple("torus(4,4)", Fraction(8), 1.0),
        std::tuple("star(8)", Fraction(7), 1.0),
        std::tuple("ndv2x2", Fraction(64), 1.0),
        std::tuple("ndv2x4", Fraction(192), 1.0),
        std::tuple("dgx-a100x2", Fraction(8), 1.0),
        std::tuple("dgx-a100x8", Fraction(56), 1.0),
        std::tuple("hgx-h100x2", Fraction(8), 1.0),
        std::tuple("hgx-h100x8", Fraction(56), 1.0),
        std::tuple("mi250x2", Fraction(2), 0.99),
        std::tuple("mesh(4,4)", Fraction(16), 0.95),
        std::tuple("byteps-pcie", Fraction(1, 5), 1.0),
        std::tuple("hypercube(4)", Fraction(8), 0.95)}) {
    Fabric fabric = fabricOf(spec);
    Result<FlowScheduleResult> result = allToAll(fabric);
    ASSERT_TRUE(bool(result)) << spec << ": " << result.message();
    EXPECT_EQ(check(result->schedule, &fabric), "") << spec;
    EXPECT_EQ(result->bound, bound) << spec << ": " << result->bound.str();
    EXPECT_NEAR(result->optimum, bound.value(), 1e-4) << spec;
    double least = bound.value() * result->multiplier;
    EXPECT_GE(result->schedule.totalRounds(), least - 1e-6) << spec;
    EXPECT_LE(result->schedule.totalRounds(), least / share + 1e-6) << spec;
    // Predicted: a gigabyte in little more than its links need.
    double bytes = 1e9;
    Result<Timing> timing = simulate(result->schedule, fabric, bytes);
    ASSERT_TRUE(bool(timing));
    double ideal = least * bytes / result->schedule.collective.bufferChunks /
                   (fabric.unitGBps * 1000);
    EXPECT_GE(std::min(timing->eventUs, timing->stepwiseUs), ideal) << spec;
    EXPECT_LE(std::min(timing->eventUs, timing->stepwiseUs),
              ideal / share * 1.01)
        << spec;
  }
}

TEST(FlowSchedule, BoundsAgreeWithCutsAndSearch) {
  std::mt19937 random(4);
  for (const char *spec : {"ring(5)", "line(4)", "star(4)", "hub(4)"}) {
    Fabric fabric = fabricOf(spec);
    for (int i = 0; i < 4; ++i) {
      Counts counts(fabric.ranks, std::vector<int>(fabric.ranks));
      for (auto &row : counts)
        for (int &count : row)
          count = static_cast<int>(random() % 3);
      counts[0][1] = 1;
      Result<FlowScheduleResult> flow = flowSchedule(
          fabric, [&](int k) { return makeAllToAllV(counts, k); }, {});
      ASSERT_TRUE(bool(flow)) << spec << ": " << flow.message();
      EXPECT_EQ(check(flow->schedule, &fabric), "");
      EXPECT_NEAR(flow->bound.value(), flow->optimum, 1e-5);
      Collective coll = *makeAllToAllV(counts, 1);
      RoundBound cut = roundBound(fabric, coll);
      EXPECT_FALSE(flow->bound < cut.roundsPerChunk)
          << spec << ": " << flow->bound.str() << " and "
          << cut.roundsPerChunk.str();
      // The first rounds for which a schedule in many steps exists.
      int least = 0;
      for (int r = 4; least == 0; ++r) {
        Result<SolveResult> solved = solve(fabric, coll, 4, r, {});
        ASSERT_TRUE(bool(solved));
        if (solved->answer == Answer::Yes)
          least = r;
      }
      EXPECT_LE(flow->bound.value(), least + 1e-9) << spec;
    }
  }
}

TEST(FlowSchedule, EdgeSetsCount) {
  // Two GPUs on each side of one cable that all links between share.
  Topology t;
  t.name = "cable";
  for (int i = 0; i < 4; ++i)
    t.addNode("gpu" + std::to_string(i), NodeKind::Gpu);
  EdgeSet there{"there", {}, 10}, back{"back", {}, 10};
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      if (a != b) {
        if (a / 2 != b / 2)
          (a < b ? there : back)
              .links.push_back(static_cast<int>(t.links.size()));
        t.addLink(a, b, 10, 1);
      }
  t.edgeSets = {there, back};
  Result<Fabric> fabric = makeFabric(t);
  ASSERT_TRUE(bool(fabric)) << fabric.message();
  Result<FlowScheduleResult> result = allToAll(*fabric);
  ASSERT_TRUE(bool(result)) << result.message();
  EXPECT_EQ(result->bound, Fraction(4));
  EXPECT_EQ(check(result->schedule, &*fabric), "");
  EXPECT_EQ(result->schedule.totalRounds(), 4 * result->multiplier);
}

TEST(FlowSchedule, WaysBesideTheShortestAreUsed) {
  Topology t = *buildTopology("star(2)");
  t.addDuplex(0, 1, 75, 1);
  Fabric fabric = *makeFabric(t);
  Result<FlowScheduleResult> result = allToAll(fabric);
  ASSERT_TRUE(bool(result)) << result.message();
  EXPECT_EQ(check(result->schedule, &fabric), "");
  EXPECT_EQ(result->bound, Fraction(1, 4));
  EXPECT_EQ(result->schedule.totalRounds() * 4, result->multiplier);
  Fabric fresh = *makeFabric(t);
  Result<Schedule> again =
      parseSchedule(writeSchedule(result->schedule, &fabric), "s.json", &fresh);
  ASSERT_TRUE(bool(again)) << again.message();
  EXPECT_EQ(check(*again, &fresh), "");
}

TEST(FlowSchedule, SaysWhatIsWrong) {
  Fabric fabric = fabricOf("ring(4)");
  Result<FlowScheduleResult> gather = flowSchedule(
      fabric,
      [&](int k) { return makeCollective(CollectiveKind::AllGather, 4, k); },
      {});
  ASSERT_FALSE(bool(gather));
  EXPECT_EQ(gather.message(), "all_gather: expected one source and one "
                              "destination for each chunk");
  Topology t;
  t.name = "apart";
  t.addNode("gpu0", NodeKind::Gpu);
  t.addNode("gpu1", NodeKind::Gpu);
  t.addLink(0, 1, 1, 0);
  Result<Fabric> apart = makeFabric(t);
  ASSERT_TRUE(bool(apart));
  EXPECT_EQ(allToAll(*apart).message(),
            "some chunk has no way to its destination");
}

TEST(FlowSchedule, WhatIsAlikeKeepsTheOptimum) {
  std::mt19937 random(9);
  for (int i = 0; i < 20; ++i) {
    // Copies of a random covering program, with a row across all of them.
    LinearProgram lp;
    int copies = 1 + static_cast<int>(random() % 4), width = 4;
    std::vector<std::vector<int64_t>> rows(3, std::vector<int64_t>(width));
    std::vector<int64_t> bounds(3), costs(width);
    for (int r = 0; r < 3; ++r) {
      for (int64_t &a : rows[r])
        a = random() % 4;
      rows[r][r] += 1;
      bounds[r] = 1 + random() % 9;
    }
    for (int64_t &c : costs)
      c = 1 + random() % 5;
    LinearProgram::Terms cost, across;
    for (int copy = 0; copy < copies; ++copy) {
      std::vector<int> columns;
      for (int k = 0; k < width; ++k) {
        columns.push_back(lp.addColumn(0));
        cost[columns.back()] = costs[k];
        across[columns.back()] = 1;
      }
      for (int r = 0; r < 3; ++r) {
        LinearProgram::Terms terms;
        for (int k = 0; k < width; ++k)
          terms[columns[k]] = rows[r][k];
        lp.addRow(terms, LinearProgram::Relation::AtLeast, bounds[r]);
      }
    }
    lp.addRow(across, LinearProgram::Relation::AtLeast, 5 * copies);
    std::vector<double> x, y, duals;
    ASSERT_EQ(lp.minimize(cost, {}, x, duals), Answer::Yes);
    ASSERT_EQ(lp.minimizeAlike(cost, {}, y, duals), Answer::Yes);
    double a = 0, b = 0, dual = 0;
    for (auto [c, k] : cost) {
      a += x[c] * static_cast<double>(k);
      b += y[c] * static_cast<double>(k);
    }
    EXPECT_NEAR(a, b, 1e-6);
    // The dual values prove the optimum.
    for (int copy = 0; copy < copies; ++copy)
      for (int r = 0; r < 3; ++r)
        dual += duals[copy * 3 + r] * static_cast<double>(bounds[r]);
    dual += duals.back() * 5 * copies;
    EXPECT_NEAR(dual, a, 1e-6);
  }
}
