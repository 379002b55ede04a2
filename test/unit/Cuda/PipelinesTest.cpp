//===- PipelinesTest.cpp - Which phases are done in chunks ----------------===//
//
// Two ranks that send each other what each then combines, and work on it: a
// pipeline as far as blocks need no more than what blocks of the same number
// have done with the same units.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/LaunchPipelines.h"
#include "test/unit/Cuda/PlanBuilder.h"
#include "test/unit/Cuda/PrintedPlan.h"
#include "gtest/gtest.h"

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;

namespace {

/// An all_reduce of rows of 64, and a loop over the rows of its result.
class SentRows {
public:
  explicit SentRows(int64_t rows) : half(rows / 2 * 64) {
    ReducedRows buffers = reduceRows(plan, rows, 64, /*more=*/64);
    in = buffers.in;
    slots = buffers.slots;
    result = buffers.result;
    out = buffers.out;
  }

  /// The parts of both ranks: barriers are number 0, 3 and 5.
  template <typename Part, typename Change>
  void change(size_t part, Change change) {
    for (int rank : {0, 1})
      change(std::get<Part>(plan.parts(rank)[part]));
  }
  std::vector<codegen::LaunchPipeline>
  all(const Machine &machine = Machine::of(Target::anyGpu())) const {
    return codegen::findPipelines(plan.plan, 0, *machine.gpu);
  }
  /// "1+3" of phases 1 to 3.
  std::string
  pipelines(const Machine &machine = Machine::of(Target::anyGpu())) {
    std::string text;
    for (const codegen::LaunchPipeline &found : all(machine))
      text += (text.empty() ? "" : " ") + std::to_string(found.firstPhase) +
              "+" + std::to_string(found.phases);
    return text;
  }

  PlanBuilder plan{2};
  int64_t half;
  int in, slots, result, out;
};

} // namespace

TEST(Pipelines, RowsOfAllSlicesGoTogether) {
  SentRows plan(1024);
  EXPECT_EQ(plan.pipelines(), "1+3");
  codegen::LaunchPipeline found = plan.all()[0];
  EXPECT_EQ(found.unit, 64);
  EXPECT_EQ(found.units, 512);
  EXPECT_EQ(found.leastUnits, 64);
  // The barrier before it is at an edge, and none is behind it.
  EXPECT_EQ(barriersOf(printedKernel(plan.plan.plan)), "edge");
}

TEST(Pipelines, PhasesTakeSharedMemoryInTurns) {
  // Which phase a block has done before the rows is not the same for all.
  SentRows plan(1024);
  EXPECT_NE(bodyOf(emit(plan.plan.plan))
                .find("last = chunks.last(chunk);\n__syncthreads();\n{\n"),
            std::string::npos);
}

TEST(Pipelines, FewRowsAreOfOtherBlocks) {
  SentRows plan(254);
  EXPECT_EQ(plan.pipelines(), "1+2");
  EXPECT_EQ(plan.all()[0].leastUnits, 64);
  EXPECT_EQ(barriersOf(printedKernel(plan.plan.plan)), "edge group");
  EXPECT_EQ(SentRows(256).pipelines(), "1+3");
}

TEST(Pipelines, StepsAndRowsAreThoseOfTheMachine) {
  SentRows plan(1024);
  Machine machine = Machine::of(Target::anyGpu());
  machine.gpu->pipelineBytes = 4096;
  EXPECT_EQ(plan.all(machine)[0].leastUnits, 16);
  machine.gpu->multiprocessors = 512;
  EXPECT_EQ(plan.pipelines(machine), "1+3");
  machine.gpu->multiprocessors = 513;
  EXPECT_EQ(plan.pipelines(machine), "1+2");
}

TEST(Pipelines, RowsAreThoseThatAreCombined) {
  // The first row is in no slice, or is half a row of one.
  for (int64_t shift : {64, 32}) {
    SentRows plan(1024);
    plan.change<RowsPart>(6, [&](RowsPart &rows) {
      rows.loops.front().inputs.front().view.offset += shift;
    });
    EXPECT_EQ(plan.pipelines(), "1+2");
  }
  // Slices are of half a row more.
  SentRows plan(1024);
  plan.plan.parts(1)[4] = plan.plan.parts(0)[4];
  std::get<RowsPart>(plan.plan.parts(1)[4]).loops[0].outputs[0].view.offset =
      plan.half + 32;
  EXPECT_EQ(plan.pipelines(), "1+2");
}

TEST(Pipelines, RowsThatAreWrittenAreNotSentByOtherBlocks) {
  // In place of what is sent, and of the rows before.
  SentRows inPlace(1024);
  inPlace.change<RowsPart>(6, [&](RowsPart &rows) {
    rows.loops.back().outputs.front().view.buffer = inPlace.in;
  });
  EXPECT_EQ(inPlace.pipelines(), "1+3");
  SentRows before(1024);
  before.change<CopyPart>(1, [&](CopyPart &copy) { copy.from.offset = 64; });
  before.change<RowsPart>(6, [&](RowsPart &rows) {
    rows.loops.back().outputs.front().view.buffer = before.in;
  });
  EXPECT_EQ(before.pipelines(), "1+2");
}

TEST(Pipelines, ElementsAreThoseThatAreSent) {
  SentRows plan(1024);
  plan.change<RowsPart>(4, [](RowsPart &rows) {
    ++rows.loops.front().inputs.front().view.offset;
  });
  // What is combined is stored in all memories, too.
  EXPECT_EQ(plan.pipelines(), "2+2");
  EXPECT_EQ(barriersOf(printedKernel(plan.plan.plan)), "edge group");
}

TEST(Pipelines, OnlyOneRankIsOutOfStep) {
  SentRows plan(1024);
  std::get<CopyPart>(plan.plan.parts(1)[1]).to.offset -= 64;
  EXPECT_EQ(plan.pipelines(), "2+2");
}

TEST(Pipelines, BeginWithWhatIsSent) {
  SentRows plan(1024);
  for (size_t part : {1, 2})
    plan.change<CopyPart>(part, [](CopyPart &copy) { copy.to.rank = -1; });
  EXPECT_EQ(plan.pipelines(), "2+2");
  plan.change<RowsPart>(4, [](RowsPart &rows) {
    rows.loops.front().outputs.front().access = Access::Store;
  });
  EXPECT_EQ(plan.pipelines(), "");
}

TEST(Pipelines, AreOfPartsThatBlocksShareOut) {
  SentRows product(1024);
  for (int rank : {0, 1}) {
    MatmulPart part{
        {}, 1, 1, 1, view(product.in), view(product.in), view(product.out)};
    part.a.strides = part.b.strides = part.c.strides = {1, 1};
    auto &parts = product.plan.parts(rank);
    parts.insert(parts.begin() + 5, part);
  }
  EXPECT_EQ(product.pipelines(), "");
  SentRows told(1024);
  told.plan.add(0, SignalPart{1, 100});
  told.plan.add(1, AwaitPart{0, 100});
  EXPECT_EQ(told.pipelines(), "1+2");
  // Few long rows are of the grid.
  SentRows longRows(1024);
  for (int rank : {0, 1})
    longRows.plan.parts(rank)[6] =
        throughScratch(2, 32768, {longRows.result, 0, {32768, 1}},
                       {longRows.out, 0, {32768, 1}});
  EXPECT_EQ(longRows.pipelines(), "1+2");
}

TEST(Pipelines, VectorsAreOfOneUnit) {
  SentRows plan(1024);
  for (int rank : {0, 1})
    plan.plan.parts(rank)[6] = throughScratch(
        1000, 60, {plan.result, 0, {60, 1}}, {plan.out, 0, {60, 1}});
  EXPECT_EQ(plan.pipelines(), "1+2");
}

TEST(Pipelines, AreOfOneGroup) {
  SentRows plan(1024);
  plan.plan.plan.groups.push_back({0, 1});
  plan.change<BarrierPart>(5, [](BarrierPart &barrier) { barrier.group = 1; });
  EXPECT_EQ(plan.pipelines(), "1+2");
}

TEST(Pipelines, EndWithWhatIsDone) {
  SentRows plan(1024);
  plan.plan.barrier();
  EXPECT_EQ(plan.pipelines(), "1+3");
  EXPECT_EQ(barriersOf(printedKernel(plan.plan.plan)), "edge edge");
}
