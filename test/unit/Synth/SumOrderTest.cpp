//===- SumOrderTest.cpp - In which order schedules add --------------------===//
//
// Schedules by hand whose trees are known, and the ring.
//
//===----------------------------------------------------------------------===//

#include "synth/SumOrder.h"
#include "Common.h"
#include "synth/Solve.h"

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
    EXPECT_EQ(sumOrders(s, Rounding::EachStep)[0], Texts(4, "(((0+1)+2)+3)"));
    EXPECT_EQ(sumOrders(s, Rounding::AtEnd)[0], Texts(4, "(0+1+2+3)"));
    EXPECT_EQ(differingSums(s, Rounding::EachStep), "");
    EXPECT_EQ(differingSums(s, Rounding::AtEnd), "");
  }
}

TEST(SumOrder, DoublingAgreesUnlessWiderSumsAreKept) {
  for (SendOp op : {SendOp::Reduce, SendOp::Stash}) {
    Schedule s = doubling(4, op);
    ASSERT_EQ(check(s), "");
    EXPECT_EQ(sumOrders(s, Rounding::EachStep)[0], Texts(4, "((0+1)+(2+3))"));
    EXPECT_EQ(differingSums(doubling(8, op), Rounding::EachStep), "");
    // The ranks add their own half at once with what comes of the other.
    EXPECT_EQ(
        sumOrders(s, Rounding::AtEnd)[0],
        (Texts{"(0+1+(2+3))", "(0+1+(2+3))", "(2+3+(0+1))", "(2+3+(0+1))"}));
    EXPECT_EQ(differingSums(s, Rounding::AtEnd),
              "chunk 0 is added as (0+1+(2+3)) for rank 0 and as (2+3+(0+1)) "
              "for rank 2");
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
  auto orders = sumOrders(s, Rounding::EachStep);
  EXPECT_EQ(orders[0], Texts(3, "(0+(1+2))"));
  EXPECT_EQ(orders[1], (Texts{"(0+(1+2))", "((0+2)+1)", "((0+1)+2)"}));
  EXPECT_EQ(differingSums(s, Rounding::EachStep),
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
      EXPECT_EQ(differingSums(ring, Rounding::EachStep), "");
      EXPECT_EQ(differingSums(ring, Rounding::AtEnd), "");
    }
  EXPECT_EQ(sumOrders(ringSchedule(CollectiveKind::AllReduce, 3),
                      Rounding::EachStep)[1],
            Texts(3, "((0+2)+1)"));
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
    EXPECT_EQ(differingSums(solved->schedule, Rounding::EachStep), "") << spec;
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
