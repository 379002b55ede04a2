//===- SumOrderTest.cpp - In which order schedules add --------------------===//
//
// Schedules by hand whose trees are known, and the ring.
//
//===----------------------------------------------------------------------===//

#include "synth/SumOrder.h"
#include "Common.h"
#include "synth/Solve.h"

using namespace ccn;
using namespace ccn::synth;

namespace {

Schedule emptyAllReduce(int ranks, int chunks = 1) {
  Schedule s;
  s.collective = collectiveOf("all_reduce", ranks, chunks);
  s.hosts = ranks;
  return s;
}

/// Everyone sends what it has to everyone.
Schedule direct(int ranks, SendOp op) {
  Schedule s = emptyAllReduce(ranks);
  s.steps.emplace_back();
  for (int from = ranks - 1; from >= 0; --from)
    for (int to = 0; to < ranks; ++to)
      if (from != to)
        s.steps[0].sends.push_back({0, from, to, op, -1, {}});
  return s;
}

/// Recursive doubling, with the running sums or with sums kept apart.
Schedule doubling(int ranks, SendOp op) {
  Schedule s = emptyAllReduce(ranks);
  for (int distance = 1; distance < ranks; distance *= 2) {
    Step step;
    for (int r = 0; r < ranks; ++r) {
      Send send{0, r, r ^ distance, op, -1, {}};
      if (op == SendOp::Stash)
        for (int i = 0; i < distance; ++i)
          send.sums.push_back(r / distance * distance + i);
      step.sends.push_back(send);
    }
    s.steps.push_back(step);
  }
  return s;
}

using Texts = std::vector<std::string>;

TEST(SumOrder, OneStepIsInRankOrder) {
  for (SendOp op : {SendOp::Reduce, SendOp::Stash}) {
    Schedule s = direct(4, op);
    if (op == SendOp::Reduce) {
      ASSERT_EQ(check(s), "");
    }
    EXPECT_EQ(sumOrders(s)[0], Texts(4, "(((0+1)+2)+3)"));
    EXPECT_EQ(differingSums(s), "");
  }
}

TEST(SumOrder, DoublingAgrees) {
  for (SendOp op : {SendOp::Reduce, SendOp::Stash}) {
    Schedule s = doubling(4, op);
    ASSERT_EQ(check(s), "");
    EXPECT_EQ(sumOrders(s)[0], Texts(4, "((0+1)+(2+3))"));
    EXPECT_EQ(differingSums(doubling(8, op)), "");
  }
}

/// Each rank adds what comes around both ways, from its own place on.
TEST(SumOrder, NeighborsFirstDiffers) {
  Schedule s = emptyAllReduce(3, 2);
  // Chunk 0 is reduced to rank 0 and copied; chunk 1 is added by all.
  s.steps.resize(2);
  s.steps[0].sends = {{0, 2, 1, SendOp::Reduce, -1, {}},
                      {1, 0, 1, SendOp::Stash, -1, {0}},
                      {1, 1, 2, SendOp::Stash, -1, {1}},
                      {1, 2, 0, SendOp::Stash, -1, {2}}};
  s.steps[1].sends = {{0, 1, 0, SendOp::Reduce, -1, {}},
                      {1, 0, 1, SendOp::Stash, -1, {2, 0}},
                      {1, 1, 2, SendOp::Stash, -1, {0, 1}},
                      {1, 2, 0, SendOp::Stash, -1, {1, 2}}};
  s.steps.emplace_back();
  s.steps[2].sends = {{0, 0, 1, SendOp::Copy, -1, {}},
                      {0, 0, 2, SendOp::Copy, -1, {}}};
  ASSERT_EQ(check(s), "");
  auto orders = sumOrders(s);
  EXPECT_EQ(orders[0], Texts(3, "(0+(1+2))"));
  EXPECT_EQ(orders[1], (Texts{"(0+(1+2))", "((0+2)+1)", "((0+1)+2)"}));
  EXPECT_EQ(differingSums(s),
            "chunk 1 is added as (0+(1+2)) for rank 0 and as ((0+2)+1) for "
            "rank 1");
}

TEST(SumOrder, RingsAreRightAndAgree) {
  for (int ranks = 2; ranks <= 8; ++ranks)
    for (CollectiveKind kind :
         {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
          CollectiveKind::AllGather}) {
      Schedule ring = ringSchedule(kind, ranks);
      Fabric fabric = fabricOf("ring(" + std::to_string(ranks) + ")");
      EXPECT_EQ(check(ring, ranks > 2 ? &fabric : nullptr), "") << ranks;
      EXPECT_EQ(ring.steps.size(),
                static_cast<size_t>(
                    (ranks - 1) * (kind == CollectiveKind::AllReduce ? 2 : 1)));
      EXPECT_EQ(differingSums(ring), "");
    }
  EXPECT_EQ(sumOrders(ringSchedule(CollectiveKind::AllReduce, 3))[1],
            Texts(3, "((0+2)+1)"));
}

// What is sent is a contribution first, then sums of more and more of them, and
// at the end whole sums.
TEST(SumOrder, SaysWhatCarriesPartialSums) {
  for (int ranks = 2; ranks <= 8; ++ranks) {
    auto partial = partialSends(ringSchedule(CollectiveKind::AllReduce, ranks));
    ASSERT_EQ(partial.size(), static_cast<size_t>(2 * (ranks - 1)));
    for (int step = 0; step < 2 * (ranks - 1); ++step)
      for (bool isPartial : partial[static_cast<size_t>(step)])
        EXPECT_EQ(isPartial, step > 0 && step < ranks - 1)
            << ranks << " " << step;
  }
  for (SendOp op : {SendOp::Reduce, SendOp::Stash}) {
    EXPECT_EQ(partialSends(direct(3, op))[0], std::vector<bool>(6, false));
    auto partial = partialSends(doubling(4, op));
    EXPECT_EQ(partial[0], std::vector<bool>(4, false));
    EXPECT_EQ(partial[1], std::vector<bool>(4, true));
  }
  for (const std::vector<bool> &step :
       partialSends(ringSchedule(CollectiveKind::AllGather, 4)))
    for (bool isPartial : step)
      EXPECT_FALSE(isPartial);
}

// Of three steps in which each rank sends one chunk of four on a ring, the last
// two carry partial sums.
TEST(SumOrder, PartialSumsTakeLonger) {
  Schedule ring = ringSchedule(CollectiveKind::ReduceScatter, 4);
  Fabric fabric = fabricOf("ring(4)");
  auto time = [&](double bytes, double factor) {
    Result<Timing> timing = simulate(ring, fabric, bytes, factor);
    EXPECT_TRUE(bool(timing));
    return timing->stepwiseUs;
  };
  double latency = time(0, 1), once = time(3e6, 1) - latency;
  EXPECT_NEAR(time(3e6, 2) - latency, once * 5 / 3, once * 1e-9);
  EXPECT_NEAR(time(3e6, 4) - latency, once * 3, once * 1e-9);
}

TEST(SumOrder, TreesOfFewRanksAgree) {
  // On meshes, two ranks that exchange halves may have theirs in parts.
  for (auto [spec, c, steps, rounds] :
       {std::tuple("dgx1", 4, 3, 3), std::tuple("hypercube(3)", 4, 5, 5),
        std::tuple("ring(8)", 8, 7, 7), std::tuple("mesh(2,4)", 2, 5, 5),
        std::tuple("mesh(2,3)", 3, 5, 5)}) {
    Fabric fabric = fabricOf(spec);
    SolveOptions options;
    options.mode = ReduceMode::OneSum;
    Result<SolveResult> solved =
        solve(fabric, collectiveOf("all_reduce", fabric.ranks, c), steps,
              rounds, options);
    ASSERT_TRUE(solved && solved->answer == Answer::Yes) << spec;
    EXPECT_EQ(differingSums(solved->schedule), "") << spec;
  }
  // In two steps no rank of a DGX-1 can add for all.
  Fabric fabric = fabricOf("dgx1");
  SolveOptions options;
  options.mode = ReduceMode::OneSum;
  Result<SolveResult> none =
      solve(fabric, collectiveOf("all_reduce", 8, 1), 2, 2, options);
  ASSERT_TRUE(bool(none));
  EXPECT_EQ(none->answer, Answer::Unknown);
  EXPECT_EQ(none->certificate,
            "no trees do it, and other sums are formed by several ranks");
}

} // namespace
