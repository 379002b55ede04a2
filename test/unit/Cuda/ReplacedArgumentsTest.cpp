//===- ReplacedArgumentsTest.cpp - When arguments may be replaced ---------===//
//
// Plans whose ranks read an argument and write it by way of symmetric memory;
// and when they may write it in its place instead, as nobody reads it any more.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/ShareArguments.h"
#include "test/unit/Cuda/PlanBuilder.h"
#include "test/unit/Cuda/PrintedPlan.h"
#include "gtest/gtest.h"

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;
using codegen::shareArguments;

namespace {

using Shared = std::vector<int>;

/// A rank reads its argument, and writes it by way of symmetric memory.
struct InOut : PlanBuilder {
  explicit InOut(int ranks = 1) : PlanBuilder(ranks) {}

  runtime::LoopOperand load(int buffer, int64_t offset = 0) const {
    return {Access::Load, view(buffer, offset), ElementType::F32};
  }
  runtime::LoopOperand store(int buffer, int64_t offset = 0) const {
    return {Access::Store, view(buffer, offset), ElementType::F32};
  }
  /// A rank reads elements of its argument.
  void keep(int rank, int64_t begin = 0, int64_t count = 10) {
    PlanBuilder::add(rank, copy(count, view(state, begin), view(kept, begin)));
  }
  /// A rank writes elements of another's.
  void write(int rank, int owner, int64_t begin = 0, int64_t count = 10) {
    PlanBuilder::add(
        rank, copy(count, view(other, begin), view(place, begin, owner)));
  }
  /// Those of each group, which are all ranks, wait for each other.
  using PlanBuilder::barrier;
  void barrier(const std::vector<std::vector<int>> &groups) {
    for (const std::vector<int> &group : groups) {
      for (int member : group)
        PlanBuilder::add(member,
                         BarrierPart{static_cast<int>(plan.groups.size()), 0});
      plan.groups.push_back(group);
    }
  }
  void copyBack() {
    for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
      PlanBuilder::add(static_cast<int>(rank),
                       copy(10, view(place), view(state)));
  }

  int state = argument({10}), other = argument({10}), place = symmetric({10});
  int kept = privateBuffer({10});
};

} // namespace

TEST(ShareArguments, ElementsMayBeReplacedInPlace) {
  InOut plan;
  plan.add(0, loop(10, plan.load(plan.state), plan.store(plan.place)));
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{0});
  EXPECT_EQ(plan.parts(0).size(), 1u);
}

TEST(ShareArguments, RowsMayBeTakenOfWhatIsNotYetReplaced) {
  for (int64_t first : {0, 1}) {
    InOut plan;
    int rows = plan.privateBuffer({4}), indices = plan.argument({4});
    plan.add(0, loop(6, plan.load(plan.other), plan.store(plan.place, 4)));
    // A table of 4 rows of one element; of row 4 it would have the new one.
    plan.add(0, GatherRowsPart{4, 1, 4, view(plan.state, first), view(indices),
                               view(rows)});
    plan.add(0, loop(4, plan.load(plan.other), plan.store(plan.place)));
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), first == 0 ? Shared{0} : Shared{});
  }
}

TEST(ShareArguments, NotWhereElementsMove) {
  InOut plan;
  plan.add(0, loop(9, plan.load(plan.state), plan.store(plan.place, 1)));
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{});
}

TEST(ShareArguments, NotWhereElementsAreTransposed) {
  InOut plan;
  RowsPart part = loop(10, plan.load(plan.state), plan.store(plan.place));
  part.rows = 2;
  part.loops[0].sizes = {2, 5};
  part.loops[0].inputs[0].view.strides = {5, 1};
  part.loops[0].outputs[0].view.strides = {1, 2};
  plan.add(0, part);
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{});
}

TEST(ShareArguments, EveryLoopMayReplaceItsElements) {
  InOut plan;
  int state = plan.argument({10}), place = plan.symmetric({10});
  RowsPart part = loop(10, plan.load(plan.state), plan.store(plan.place));
  part.loops.push_back(part.loops.front());
  part.loops[1].inputs = {plan.load(state)};
  part.loops[1].outputs = {plan.store(place)};
  plan.add(0, part);
  plan.copyBack();
  plan.add(0, copy(10, view(place), view(state)));
  EXPECT_EQ(shareArguments(plan.plan), (Shared{0, 2}));
}

TEST(ShareArguments, NotWhatAnotherLoopHasWritten) {
  InOut plan;
  RowsPart part = loop(10, plan.load(plan.other), plan.store(plan.place));
  part.loops.push_back(part.loops.front());
  part.loops[1].inputs = {plan.load(plan.state)};
  plan.add(0, part);
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{});
}

TEST(ShareArguments, NotWhatAnotherLoopHasRead) {
  // Threads of the second may be ahead of those of the first.
  InOut plan;
  RowsPart part = loop(10, plan.load(plan.state), plan.store(plan.kept));
  part.loops.push_back(part.loops.front());
  part.loops[1].inputs = {plan.load(plan.other)};
  part.loops[1].outputs = {plan.store(plan.place)};
  plan.add(0, part);
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{});
}

TEST(ShareArguments, NotWhereALoopReduces) {
  InOut plan;
  RowsPart part = loop(10, plan.load(plan.state), plan.store(plan.place));
  part.loops[0].reducedDims = 1;
  part.loops[0].outputs[0].view.strides =
      part.loops[0].inputs[0].view.strides = {0};
  plan.add(0, part);
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{});
}

TEST(ShareArguments, WhatIsReadBeforeItIsWritten) {
  InOut plan;
  plan.keep(0);
  plan.add(0, loop(10, plan.load(plan.other), plan.store(plan.place)));
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{0});
}

TEST(ShareArguments, NotWhatIsReadAfterItIsWritten) {
  InOut plan;
  plan.add(0, loop(10, plan.load(plan.other), plan.store(plan.place)));
  plan.keep(0);
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{});
}

TEST(ShareArguments, WhatIsReadElsewhere) {
  InOut plan;
  plan.add(0, loop(5, plan.load(plan.other), plan.store(plan.place)));
  plan.keep(0, 5, 5);
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{0});
}

TEST(ShareArguments, WhatIsReadInAnEarlierLaunch) {
  // Of the same stream, of another, and of one that is waited for.
  for (int way : {0, 1, 2}) {
    InOut plan;
    plan.keep(0);
    plan.launch();
    Launch &second = plan.plan.ranks[0].launches[1];
    second.stream = way == 0 ? 0 : 1;
    if (way == 2)
      second.waits = {0};
    plan.add(0, loop(10, plan.load(plan.other), plan.store(plan.place)));
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), way == 1 ? Shared{} : Shared{0})
        << way;
  }
}

TEST(ShareArguments, NotWhatIsReadInALaterLaunch) {
  InOut plan;
  plan.add(0, loop(10, plan.load(plan.other), plan.store(plan.place)));
  plan.launch();
  plan.keep(0);
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{});
}

TEST(ShareArguments, NotWhereAnotherRankWritesWhatIsRead) {
  InOut plan(2);
  plan.keep(0);
  plan.write(1, 0);
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{});
}

TEST(ShareArguments, WhereAnotherRankWritesElsewhere) {
  // Each rank's half of all, as reduce_scatter and all_gather leave it.
  InOut plan(2);
  for (int rank : {0, 1}) {
    RowsPart part = loop(5, plan.load(plan.state, 5 * rank),
                         plan.store(plan.place, 5 * rank));
    part.loops[0].outputs[0].access = Access::StoreAll;
    part.loops[0].outputs[0].group = 0;
    plan.add(rank, part);
  }
  plan.barrier();
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{0});
  EXPECT_EQ(copies(plan.plan), 0);
  // And not if one reads a little more than its half.
  InOut more(2);
  for (int rank : {0, 1}) {
    RowsPart part = loop(5, more.load(more.state, 5 * rank),
                         more.store(more.place, 5 * rank));
    part.loops[0].outputs[0].access = Access::StoreAll;
    part.loops[0].outputs[0].group = 0;
    more.add(rank, part);
  }
  more.PlanBuilder::plan.ranks[0].launches[0].parts.insert(
      more.parts(0).begin(),
      Part(copy(1, view(more.state, 5), view(more.privateBuffer({10})))));
  more.barrier();
  more.copyBack();
  EXPECT_EQ(shareArguments(more.plan), Shared{});
}

//===----------------------------------------------------------------------===//
// Outputs that are read, then written by others
//===----------------------------------------------------------------------===//

TEST(ShareArguments, WhatIsReadBeforeABarrier) {
  for (int ranks : {2, 3, 4}) {
    InOut plan(ranks);
    plan.barrier();
    for (int rank = 0; rank < ranks; ++rank)
      plan.keep(rank);
    plan.barrier();
    for (int rank = 0; rank < ranks; ++rank)
      plan.write(rank, (rank + 1) % ranks);
    plan.barrier();
    plan.copyBack();
    // All blocks meet where what was read is written next.
    EXPECT_EQ(barriersOf(printedKernel(plan.plan)), "edge group edge");
    EXPECT_EQ(shareArguments(plan.plan), Shared{0});
    EXPECT_EQ(copies(plan.plan), 2 * ranks);
  }
}

TEST(ShareArguments, NotWhatIsReadAfterTheBarrier) {
  InOut plan(2);
  plan.barrier();
  plan.write(1, 0);
  plan.keep(0);
  plan.barrier();
  plan.copyBack();
  EXPECT_EQ(shareArguments(plan.plan), Shared{});
}

TEST(ShareArguments, NotWhatIsReadOnBothSidesOfTheBarrier) {
  // The last element is read once more than the others.
  for (int64_t count : {9, 10}) {
    InOut plan(2);
    plan.keep(0);
    plan.barrier();
    plan.keep(0, 9, 1);
    plan.write(1, 0, 0, count);
    plan.barrier();
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), count == 9 ? Shared{0} : Shared{});
  }
}

TEST(ShareArguments, NotWhereOneOfTheWritersDoesNotWait) {
  for (bool waits : {true, false}) {
    InOut plan(3);
    plan.keep(0);
    if (!waits)
      plan.write(2, 0, 5, 5);
    plan.barrier();
    plan.write(1, 0, 0, 5);
    if (waits)
      plan.write(2, 0, 5, 5);
    plan.barrier();
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), waits ? Shared{0} : Shared{});
  }
}

TEST(ShareArguments, NotBehindABarrierWithoutTheWriter) {
  for (int writer : {1, 2}) {
    InOut plan(3);
    plan.keep(0);
    plan.barrier({{0, 1}, {2}});
    plan.write(writer, 0);
    plan.barrier();
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), writer == 1 ? Shared{0} : Shared{});
  }
}

TEST(ShareArguments, BarriersOfSeveralGroups) {
  // Rank 2 hears of rank 0 through rank 1, or not.
  for (bool isThrough : {true, false}) {
    InOut plan(3);
    plan.keep(0);
    if (!isThrough)
      plan.barrier({{0}, {1, 2}});
    plan.barrier({{0, 1}, {2}});
    if (isThrough)
      plan.barrier({{0}, {1, 2}});
    plan.write(2, 0);
    plan.barrier();
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), isThrough ? Shared{0} : Shared{});
  }
}

TEST(ShareArguments, WhatIsReadBeforeASignal) {
  // The read is before the signal, and the write behind what awaits it.
  for (bool readsBefore : {true, false})
    for (bool writesAfter : {true, false}) {
      InOut plan(2);
      if (readsBefore)
        plan.keep(0);
      plan.add(0, SignalPart{1, 3});
      if (!readsBefore)
        plan.keep(0);
      if (!writesAfter)
        plan.write(1, 0);
      plan.add(1, AwaitPart{0, 3});
      if (writesAfter)
        plan.write(1, 0);
      plan.barrier();
      plan.copyBack();
      EXPECT_EQ(shareArguments(plan.plan),
                readsBefore && writesAfter ? Shared{0} : Shared{})
          << readsBefore << writesAfter;
    }
}

TEST(ShareArguments, NotBehindASignalToAnother) {
  // Rank 2 awaits rank 1, whom rank 0 tells before or after that.
  for (bool isThrough : {true, false}) {
    InOut plan(3);
    plan.keep(0);
    plan.add(0, SignalPart{1, 3});
    if (isThrough)
      plan.add(1, AwaitPart{0, 3});
    plan.add(1, SignalPart{2, 3});
    if (!isThrough)
      plan.add(1, AwaitPart{0, 3});
    plan.add(2, AwaitPart{1, 3});
    plan.write(2, 0);
    plan.barrier();
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), isThrough ? Shared{0} : Shared{});
  }
}

TEST(ShareArguments, NotBehindAnExchange) {
  // Its threads wait for what they take themselves.
  for (Exchange kind : {Exchange::LL, Exchange::Lamport, Exchange::Schedule}) {
    InOut plan(2);
    for (int rank : {0, 1}) {
      plan.keep(rank);
      ExchangePart exchange;
      exchange.exchange = kind;
      exchange.inputCount = exchange.outputCount = 10;
      exchange.from = view(plan.other);
      exchange.to = view(plan.kept);
      plan.add(rank, exchange);
      plan.write(rank, 1 - rank);
    }
    plan.barrier();
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), Shared{});
  }
}

TEST(ShareArguments, BarriersBetweenLaunches) {
  // At the end of the launch that reads, at the beginning of that which writes,
  // or at neither.
  for (int way : {0, 1, 2}) {
    InOut plan(2);
    plan.keep(0);
    if (way == 0)
      plan.barrier();
    plan.launch();
    if (way == 1)
      plan.barrier();
    plan.write(1, 0);
    plan.barrier();
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), way < 2 ? Shared{0} : Shared{});
  }
}

TEST(ShareArguments, NotInALaunchOfAnotherStream) {
  // Both ranks meet in the first launch, after they have read, or in the
  // second, which waits for it or does not.
  for (int way : {0, 1, 2, 3}) {
    InOut plan(2);
    plan.keep(0);
    if (way < 2)
      plan.barrier();
    plan.launch();
    for (RankPlan &rank : plan.plan.ranks) {
      rank.launches[1].stream = 1;
      if (way % 2 == 0)
        rank.launches[1].waits = {0};
    }
    if (way >= 2)
      plan.barrier();
    plan.write(1, 0);
    plan.barrier();
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), way % 2 == 0 ? Shared{0} : Shared{})
        << way;
  }
}

TEST(ShareArguments, ProductsWriteWhatWasReadBeforeABarrier) {
  // And not what they read themselves.
  for (bool isOwn : {false, true}) {
    InOut plan(2);
    plan.keep(0);
    plan.barrier();
    for (int rank : {0, 1}) {
      View matrix = view(isOwn ? plan.state : plan.other);
      View row = view(plan.kept), to = view(plan.place, 0, 1 - rank);
      matrix.strides = row.strides = to.strides = {1, 1};
      plan.add(rank, MatmulPart{{}, 10, 1, 1, matrix, row, to});
    }
    plan.barrier();
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), isOwn ? Shared{} : Shared{0});
  }
}

TEST(ShareArguments, NotWhatHasSlots) {
  // What is copied back was put there by the members for this rank to combine.
  for (int64_t slots : {0, 5}) {
    InOut plan(2);
    for (int rank : {0, 1})
      plan.write(rank, 1 - rank);
    plan.barrier();
    for (int rank : {0, 1}) {
      RowsPart part = loop(5, plan.load(plan.place), plan.store(plan.kept));
      part.loops[0].inputs[0].access = Access::LoadReduced;
      part.loops[0].inputs[0].group = 0;
      part.loops[0].inputs[0].slots = slots;
      plan.add(rank, part);
    }
    plan.copyBack();
    EXPECT_EQ(shareArguments(plan.plan), slots == 0 ? Shared{0} : Shared{});
  }
}
