//===- ShareArgumentsTest.cpp - When copies may be dropped ----------------===//
//
// Plans of two ranks that copy an argument into symmetric memory, where the
// other reads it, or out of it; and what makes that more than a copy.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/ShareArguments.h"
#include "test/unit/Cuda/PlanBuilder.h"
#include "gtest/gtest.h"

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;
using codegen::shareArguments;

namespace {

using Shared = std::vector<int>;

/// Both ranks copy an argument of 10 elements, meet, and copy the other's to a
/// second argument.
struct Input : PlanBuilder {
  Input() : PlanBuilder(2) {
    for (int rank : {0, 1})
      PlanBuilder::add(rank, copy(10, view(in), view(place)));
    barrier();
    for (int rank : {0, 1})
      PlanBuilder::add(rank, copy(10, view(place, 0, 1 - rank), view(out)));
  }
  CopyPart &first(int rank) { return std::get<CopyPart>(parts(rank)[0]); }

  int in = argument({10}), out = argument({10}), place = symmetric({10});
};

/// Both ranks write the first argument doubled, so to speak, into the other's
/// symmetric memory, meet, and copy what has come to the second.
struct Output : PlanBuilder {
  Output() : PlanBuilder(2) {
    for (int rank : {0, 1})
      PlanBuilder::add(rank, copy(10, view(in), view(place, 0, 1 - rank)));
    barrier();
    for (int rank : {0, 1})
      PlanBuilder::add(rank, copy(10, view(place), view(out)));
  }
  CopyPart &last(int rank) { return std::get<CopyPart>(parts(rank).back()); }

  int in = argument({10}), out = argument({10}), place = symmetric({10});
};

} // namespace

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

TEST(ShareArguments, OthersReadAnInputInItsPlace) {
  Input input;
  EXPECT_EQ(shareArguments(input.plan), Shared{0});
  for (int rank : {0, 1}) {
    ASSERT_EQ(input.parts(rank).size(), 2u);
    EXPECT_TRUE(std::holds_alternative<BarrierPart>(input.parts(rank)[0]));
    const auto &read = std::get<CopyPart>(input.parts(rank)[1]);
    EXPECT_EQ(read.from.buffer, input.in);
    EXPECT_EQ(read.from.rank, 1 - rank);
    EXPECT_EQ(read.to.buffer, input.out);
  }
}

TEST(ShareArguments, NotAnInputThatIsWritten) {
  Input input;
  // By one rank, at the very end.
  input.PlanBuilder::add(1, copy(1, view(input.out), view(input.in, 9)));
  EXPECT_EQ(shareArguments(input.plan), Shared{});
  EXPECT_EQ(copies(input.plan), 5);
}

TEST(ShareArguments, NotWhereSomethingElseIsWrittenToo) {
  Input input;
  input.PlanBuilder::add(0, copy(1, view(input.out), view(input.place, 9)));
  EXPECT_EQ(shareArguments(input.plan), Shared{});
}

TEST(ShareArguments, NotWhereTheOtherWritesToo) {
  Input input;
  input.PlanBuilder::add(0, copy(1, view(input.out), view(input.place, 9, 1)));
  EXPECT_EQ(shareArguments(input.plan), Shared{});
}

TEST(ShareArguments, NotAnInputThatLiesElsewhere) {
  Input input;
  input.first(1).sizes = {9};
  input.first(1).to.offset = 1;
  EXPECT_EQ(shareArguments(input.plan), Shared{});
}

TEST(ShareArguments, NotAnInputInAnotherLayout) {
  Input input;
  for (int rank : {0, 1}) {
    input.first(rank).sizes = {2, 5};
    input.first(rank).from.strides = {5, 1};
    input.first(rank).to.strides = {1, 2};
  }
  EXPECT_EQ(shareArguments(input.plan), Shared{});
}

TEST(ShareArguments, NotAnInputOfAnotherRank) {
  Input input;
  input.first(0).from.rank = 1;
  EXPECT_EQ(shareArguments(input.plan), Shared{});
}

TEST(ShareArguments, NotAnInputOfAnotherType) {
  Input input;
  for (RankPlan &rank : input.plan.ranks)
    rank.buffers[static_cast<size_t>(input.in)].type = ElementType::I32;
  EXPECT_EQ(shareArguments(input.plan), Shared{});
}

TEST(ShareArguments, PartOfAnInputSuffices) {
  // Nothing else is ever in the buffer.
  Input input;
  for (int rank : {0, 1})
    input.first(rank).sizes = {5};
  EXPECT_EQ(shareArguments(input.plan), Shared{0});
}

TEST(ShareArguments, AnInputTakesTheFirstBufferOnly) {
  Input input;
  int second = input.symmetric({10});
  for (int rank : {0, 1})
    input.PlanBuilder::add(rank, copy(10, view(input.in), view(second)));
  EXPECT_EQ(shareArguments(input.plan), Shared{0});
  EXPECT_EQ(copies(input.plan), 4);
}

TEST(ShareArguments, EveryInputHasABuffer) {
  Input input;
  int in = input.argument({4}), place = input.symmetric({4});
  for (int rank : {0, 1})
    input.PlanBuilder::add(rank, copy(4, view(in), view(place)));
  // Symmetric buffers are taken in their order.
  EXPECT_EQ(shareArguments(input.plan), (Shared{0, 2}));
  EXPECT_EQ(copies(input.plan), 2);
}

TEST(ShareArguments, RaggedInputs) {
  // The last rank has fewer elements, and one has none.
  PlanBuilder plan(3);
  int in = plan.argument({4, 3, 0}), place = plan.symmetric({4});
  int out = plan.argument({4});
  for (int rank : {0, 1})
    plan.add(rank, copy(4 - rank, view(in), view(place)));
  plan.barrier();
  for (int rank : {0, 1, 2})
    plan.add(rank, copy(3, view(place, 0, 1), view(out)));
  EXPECT_EQ(shareArguments(plan.plan), Shared{0});
  EXPECT_EQ(copies(plan.plan), 3);
}

TEST(ShareArguments, NoneWhoseBufferIsSmaller) {
  Input input;
  input.plan.ranks[1].buffers[static_cast<size_t>(input.in)].count = 11;
  EXPECT_EQ(shareArguments(input.plan), Shared{});
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

TEST(ShareArguments, OthersWriteAnOutputInItsPlace) {
  Output output;
  EXPECT_EQ(shareArguments(output.plan), Shared{1});
  for (int rank : {0, 1}) {
    ASSERT_EQ(output.parts(rank).size(), 2u);
    const auto &write = std::get<CopyPart>(output.parts(rank)[0]);
    EXPECT_EQ(write.to.buffer, output.out);
    EXPECT_EQ(write.to.rank, 1 - rank);
  }
}

TEST(ShareArguments, NotAnOutputThatIsPartlyCopied) {
  Output output;
  output.last(1).sizes = {9};
  EXPECT_EQ(shareArguments(output.plan), Shared{});
  EXPECT_EQ(copies(output.plan), 4);
}

TEST(ShareArguments, AnOutputCopiedInTwoParts) {
  Output output;
  for (int rank : {0, 1}) {
    output.last(rank).sizes = {4};
    output.PlanBuilder::add(
        rank, copy(6, view(output.place, 4), view(output.out, 4)));
  }
  EXPECT_EQ(shareArguments(output.plan), Shared{1});
  EXPECT_EQ(copies(output.plan), 2);
}

TEST(ShareArguments, NotAnOutputInAnotherLayout) {
  Output output;
  for (int rank : {0, 1}) {
    output.last(rank).sizes = {2, 5};
    output.last(rank).from.strides = {1, 2};
    output.last(rank).to.strides = {5, 1};
  }
  EXPECT_EQ(shareArguments(output.plan), Shared{});
}

TEST(ShareArguments, NotAnOutputWithGaps) {
  // The odd elements are not copied.
  PlanBuilder plan(2);
  int out = plan.argument({19}), place = plan.symmetric({19});
  for (int rank : {0, 1}) {
    CopyPart part = copy(10, view(place), view(out));
    part.from.strides = part.to.strides = {2};
    plan.add(rank, part);
  }
  EXPECT_EQ(shareArguments(plan.plan), Shared{});
}

TEST(ShareArguments, NotAnOutputCopiedTwiceInPart) {
  // As many elements as there are, but the last 5 are not among them.
  Output output;
  for (int rank : {0, 1}) {
    output.last(rank).sizes = {5};
    output.PlanBuilder::add(rank, output.last(rank));
  }
  EXPECT_EQ(shareArguments(output.plan), Shared{});
}

TEST(ShareArguments, NotAnOutputThatIsWrittenOtherwise) {
  Output output;
  output.PlanBuilder::add(0, copy(1, view(output.in), view(output.out)));
  EXPECT_EQ(shareArguments(output.plan), Shared{});
}

TEST(ShareArguments, RaggedOutputs) {
  PlanBuilder plan(3);
  int out = plan.argument({4, 3, 0}), place = plan.symmetric({4});
  int in = plan.argument({4});
  plan.add(2, copy(4, view(in), view(place, 0, 0)));
  plan.add(2, copy(3, view(in), view(place, 0, 1)));
  plan.barrier();
  for (int rank : {0, 1})
    plan.add(rank, copy(4 - rank, view(place), view(out)));
  EXPECT_EQ(shareArguments(plan.plan), Shared{0});
  EXPECT_EQ(copies(plan.plan), 2);
}

TEST(ShareArguments, NotAnOutputWithoutElementsThatAreWritten) {
  // All of the outputs is copied, but others put more into the buffer.
  for (int64_t count : {0, 9}) {
    PlanBuilder plan(2);
    int in = plan.argument({10}), out = plan.argument({count});
    int place = plan.symmetric({10}), all = plan.privateBuffer({10});
    for (int rank : {0, 1})
      plan.add(rank, copy(10, view(in), view(place, 0, 1 - rank)));
    plan.barrier();
    for (int rank : {0, 1}) {
      plan.add(rank, copy(10, view(place), view(all)));
      if (count > 0)
        plan.add(rank, copy(count, view(place), view(out)));
    }
    EXPECT_EQ(shareArguments(plan.plan), Shared{}) << count;
  }
}
