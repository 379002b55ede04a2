//===- BarriersTest.cpp - Where blocks and ranks wait ---------------------===//
//
// Blocks wait for each other between parts of which one touches what the other
// writes. A barrier of ranks waits for all blocks unless it is at an edge of
// the launch on all ranks: ranks that do not agree on that wait forever.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/LaunchBarriers.h"
#include "test/unit/Cuda/PlanBuilder.h"
#include "test/unit/Cuda/PrintedPlan.h"
#include "gtest/gtest.h"

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;

namespace {

/// One rank with two copies.
std::string between(CopyPart first, CopyPart second) {
  PlanBuilder plan(1);
  plan.privateBuffer({100});
  plan.privateBuffer({100});
  plan.privateBuffer({100});
  plan.add(0, std::move(first));
  plan.add(0, std::move(second));
  std::string kernel = printedKernel(plan.plan), barriers = barriersOf(kernel);
  // Without a barrier there may be any number of blocks.
  EXPECT_EQ(has(kernel, " blocks_wait"), !barriers.empty()) << kernel;
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
  EXPECT_EQ(barriersOf(printedKernel(plan.plan)), "grid");
}

TEST(Barriers, OneBarrierServesAllPartsBefore) {
  PlanBuilder plan(1);
  for (int i = 0; i < 4; ++i)
    plan.privateBuffer({100});
  plan.add(0, copy(10, view(0), view(1)));
  plan.add(0, copy(10, view(1), view(2)));
  plan.add(0, copy(10, view(1), view(3)));
  EXPECT_EQ(barriersOf(printedKernel(plan.plan)), "grid");
}

TEST(Barriers, ReductionsOfNothingWrite) {
  for (int64_t size : {0, 3}) {
    PlanBuilder plan(1);
    int a = plan.privateBuffer({1000}), b = plan.privateBuffer({64});
    int c = plan.privateBuffer({64});
    View from = view(a), to = view(b);
    from.strides = {size, 1};
    to.strides = {1, 0};
    Loop sums{"sum",
              {64, size},
              1,
              {{Access::Load, from, ElementType::F32, -1, {}}},
              {{Access::Store, to, ElementType::F32, -1, {}}}};
    plan.add(0, RowsPart{64, {sums}});
    plan.add(0, copy(64, view(b), view(c)));
    codegen::LaunchBarriers barriers(plan.plan, 0,
                                     *Machine::of(Target::anyGpu()).gpu);
    EXPECT_NE(barriers.before(1, 2), codegen::Wait::None);
  }
}

TEST(Barriers, PartsDoNotTakeSharedMemoryThatIsInUse) {
  PlanBuilder plan(1);
  for (int i = 0; i < 4; ++i)
    plan.privateBuffer({10000});
  auto rowsOf = [](int buffer, int64_t columns) {
    View rows = view(buffer);
    rows.strides = {columns, 1};
    return rows;
  };
  plan.add(0, throughScratch(600, 3, rowsOf(0, 3), rowsOf(1, 3)));
  plan.add(0, throughScratch(40, 50, rowsOf(2, 50), rowsOf(3, 50)));
  // Not again, and not before what needs none.
  plan.add(0, copy(10, view(0), view(3, 9000)));
  codegen::LaunchBarriers barriers(plan.plan, 0,
                                   *Machine::of(Target::anyGpu()).gpu);
  EXPECT_EQ(barriers.before(0, 3), codegen::Wait::None);
  EXPECT_EQ(barriers.before(1, 3), codegen::Wait::Block);
  EXPECT_EQ(barriers.before(2, 3), codegen::Wait::None);
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
  for (size_t rank : {0, 1})
    EXPECT_EQ(barriersOf(printedKernel(plan.plan, rank)), "group") << rank;
  EXPECT_TRUE(has(printedKernel(plan.plan), " blocks_wait"));
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
  for (size_t rank : {0, 1})
    EXPECT_EQ(barriersOf(printedKernel(plan.plan, rank)),
              "edge edge group edge")
        << rank;
}

TEST(Barriers, ARankWithoutPartsAgreesOnEdges) {
  // For rank 1, which has nothing to do, every barrier is at an edge.
  PlanBuilder plan(2);
  int in = plan.argument({10}), place = plan.symmetric({20});
  plan.barrier();
  plan.add(0, copy(10, view(in), view(place, 10, 1)));
  plan.barrier();
  plan.add(0, copy(9, view(place, 11, 1), view(place)));
  plan.barrier();
  for (size_t rank : {0, 1})
    EXPECT_EQ(barriersOf(printedKernel(plan.plan, rank)), "edge group edge")
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
  for (size_t rank : {0, 1, 2})
    EXPECT_EQ(barriersOf(printedKernel(plan.plan, rank)), "group edge")
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
  for (size_t rank : {0, 1})
    EXPECT_EQ(barriersOf(printedKernel(plan.plan, rank)), "grid") << rank;
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
  EXPECT_EQ(barriersOf(printedKernel(plan.plan)), "");
}

TEST(Barriers, SignalsNeedAllBlocksAndOnlyAsManyAsAKernelTakes) {
  PlanBuilder plan(2);
  int64_t most = 64;
  for (int64_t flag = 0; flag < most; ++flag)
    plan.add(0, SignalPart{1, flag});
  for (int64_t flag = 0; flag < most; ++flag)
    plan.add(1, AwaitPart{0, flag});
  std::string first = printedKernel(plan.plan);
  EXPECT_EQ(findAll(first, "(signal)\n").size(), size_t(most)) << first;
  EXPECT_TRUE(has(printedKernel(plan.plan, 1), " blocks_wait"));
  plan.add(0, SignalPart{1, most});
  EXPECT_EQ(errorOf(plan.plan),
            "launch 'launch' has more signals than a kernel takes");
}

namespace {

/// An exchange of all of a buffer, and sums of the rows of what it leaves in
/// another, at `offset`, stored in a third.
class ExchangeAndRows {
public:
  ExchangeAndRows(int64_t rows, int64_t columns, Exchange exchange,
                  int64_t offset = 0) {
    int64_t count = rows * columns;
    int from = plan.argument({count}),
        to = plan.privateBuffer({offset + count});
    scaled = plan.argument({count});
    for (int rank : {0, 1}) {
      ExchangePart part;
      part.exchange = exchange;
      part.inputCount = part.outputCount = part.largestCount = count;
      part.from = view(from);
      part.to = view(to, offset);
      plan.add(rank, part);
      plan.add(rank, throughScratch(rows, columns, {to, offset, {columns, 1}},
                                    {scaled, 0, {columns, 1}}));
    }
  }

  std::string printed() { return printedKernel(plan.plan); }
  /// "ll packets(1024) ...", or whatever else the exchange is printed as.
  std::string exchange() {
    auto found = findAll(printed(), "\n *exchange (.*)");
    return found.empty() ? printed() : found[0];
  }
  /// What the rows wait for after the exchange: "block", "cluster" or "grid".
  std::string waits() {
    auto found = findAll(printed(), "wait\\((\\w+)\\) ");
    return found.size() == 1 ? found[0] : printed();
  }
  int64_t blocks() { return emit(plan.plan).launches[0][0].blocks; }
  bool hasClusters() { return emit(plan.plan).kernels.at(0).clusters; }

  PlanBuilder plan{2};
  int scaled;
};

constexpr const char *ofBlock = "block", *ofCluster = "cluster",
                     *ofGrid = "grid";

} // namespace

TEST(ExchangedRows, EachBlockExchangesItsRows) {
  // A row is that of a block, of a warp or of 4 threads: 1, 16 and 128 of a
  // block.
  ExchangeAndRows longRows(40, 2048, Exchange::LL);
  EXPECT_EQ(longRows.waits(), ofBlock);
  EXPECT_EQ(longRows.exchange(), "ll packets(40960) of_block(1024) batch(2)");
  EXPECT_EQ(longRows.blocks(), 40);
  ExchangeAndRows rows(40, 256, Exchange::Lamport);
  EXPECT_EQ(rows.waits(), ofBlock);
  EXPECT_EQ(rows.exchange(), "lamport packets(2560) of_block(1024) batch(2)");
  EXPECT_EQ(rows.blocks(), 3);
  ExchangeAndRows shortRows(1025, 6, Exchange::LL, /*offset=*/3);
  EXPECT_EQ(shortRows.waits(), ofBlock);
  EXPECT_EQ(shortRows.exchange(), "ll packets(3075) of_block(384) batch(1)");
  EXPECT_EQ(shortRows.blocks(), 9);
}

TEST(ExchangedRows, RowsOfOneBlockMayEndAnywhere) {
  ExchangeAndRows one(1, 2049, Exchange::LL);
  EXPECT_EQ(one.waits(), ofBlock);
  EXPECT_EQ(one.exchange(), "ll packets(1025) of_block(1025) batch(4)");
  EXPECT_EQ(one.blocks(), 1);
  ExchangeAndRows ofWarps(16, 33, Exchange::Lamport);
  EXPECT_EQ(ofWarps.waits(), ofBlock);
  EXPECT_EQ(ofWarps.exchange(), "lamport packets(132) of_block(132) batch(1)");
}

TEST(ExchangedRows, NoPacketIsOfTwoBlocks) {
  // 8196 bytes are no multiple of 8, and 8200 none of 16.
  EXPECT_EQ(ExchangeAndRows(65, 2049, Exchange::LL).waits(), ofGrid);
  EXPECT_EQ(ExchangeAndRows(65, 2050, Exchange::LL).waits(), ofBlock);
  ExchangeAndRows lamport(2, 2050, Exchange::Lamport);
  EXPECT_EQ(lamport.waits(), ofGrid);
  EXPECT_EQ(lamport.exchange(), "lamport packets(1025) of_block(512) batch(1)");
  EXPECT_EQ(lamport.blocks(), 3);
}

TEST(ExchangedRows, ALongRowIsExchangedByAll) {
  // 64 KiB, and more.
  EXPECT_EQ(ExchangeAndRows(2, 16384, Exchange::LL).waits(), ofBlock);
  ExchangeAndRows more(2, 16388, Exchange::LL);
  EXPECT_EQ(more.waits(), ofGrid);
  EXPECT_EQ(more.exchange(), "ll packets(16388) of_block(512) batch(1)");
  // The grid takes each row.
  EXPECT_EQ(ExchangeAndRows(1, 32768, Exchange::Lamport).waits(), ofGrid);
}

TEST(ExchangedRows, OthersThanTheBlocksOwnAreWaitedFor) {
  // Rows that begin within a block's, and such as read those of the next.
  for (int64_t shift : {0, 1}) {
    ExchangeAndRows plan(40, 2048, Exchange::LL, /*offset=*/4);
    for (int rank : {0, 1})
      std::get<RowsPart>(plan.plan.parts(rank)[1])
          .loops[0]
          .inputs[0]
          .view.offset -= shift;
    EXPECT_EQ(plan.waits(), shift == 0 ? ofBlock : ofGrid) << shift;
  }
  // A part of each row.
  ExchangeAndRows part(40, 2048, Exchange::LL);
  for (int rank : {0, 1})
    for (Loop &loop : std::get<RowsPart>(part.plan.parts(rank)[1]).loops) {
      loop.sizes.back() = 1148;
      if (loop.inputs[0].access == Access::Load)
        loop.inputs[0].view.offset = 900;
    }
  EXPECT_EQ(part.waits(), ofBlock);
}

TEST(ExchangedRows, ElementsInOrderAreTheBlocksOwn) {
  // 8 KiB of each block; in another order all wait.
  for (bool isTransposed : {false, true}) {
    ExchangeAndRows plan(40, 1000, Exchange::LL);
    for (int rank : {0, 1}) {
      auto &rows = std::get<RowsPart>(plan.plan.parts(rank)[1]);
      rows.loops.pop_back();
      Loop &only = rows.loops.front();
      only.outputs = {{Access::Store, view(plan.scaled), ElementType::F32}};
      only.outputs[0].view.strides = {1000, 1};
      if (isTransposed)
        only.inputs[0].view.strides = {1, 40};
    }
    EXPECT_EQ(plan.waits(), isTransposed ? ofGrid : ofBlock);
    EXPECT_EQ(plan.exchange(),
              isTransposed ? "ll packets(20000) of_block(512) batch(1)"
                           : "ll packets(20000) of_block(1024) batch(2)");
    EXPECT_EQ(plan.blocks(), isTransposed ? 40 : 20);
  }
}

TEST(ExchangedRows, BlocksOfAClusterExchangeWhatTheyTakeOfTheRows) {
  // More than a thread has in registers, and vectors that are no packets.
  ExchangeAndRows rows(40, 8192, Exchange::LL, /*offset=*/4);
  EXPECT_TRUE(rows.hasClusters());
  EXPECT_EQ(rows.waits(), ofBlock);
  EXPECT_EQ(rows.blocks(), 40);
  ExchangeAndRows one(1, 4097, Exchange::Lamport);
  EXPECT_TRUE(one.hasClusters());
  EXPECT_EQ(one.waits(), ofBlock);
  // Of the second half of a row the first is another block's.
  for (int64_t count : {1, 40}) {
    ExchangeAndRows part(count, 8192, Exchange::LL);
    for (int rank : {0, 1})
      for (Loop &loop : std::get<RowsPart>(part.plan.parts(rank)[1]).loops) {
        loop.sizes.back() = 4096;
        if (loop.inputs[0].access == Access::Load)
          loop.inputs[0].view.offset = 4096;
      }
    EXPECT_TRUE(part.hasClusters());
    EXPECT_EQ(part.waits(), ofCluster);
  }
  // What is not the cluster's own.
  ExchangeAndRows shifted(40, 4096, Exchange::LL, /*offset=*/4);
  for (int rank : {0, 1})
    std::get<RowsPart>(shifted.plan.parts(rank)[1])
        .loops[0]
        .inputs[0]
        .view.offset = 0;
  EXPECT_FALSE(shifted.hasClusters());
  EXPECT_EQ(shifted.waits(), ofGrid);
}

TEST(ExchangedRows, ThreadsOfClustersHaveWhatTheyExchange) {
  auto isExchanged = [](ExchangeAndRows &plan) {
    std::string kernel = plan.printed();
    bool isSo = has(kernel, "exchange of the rows that follow\n");
    EXPECT_NE(has(kernel, "wait(block)"), isSo) << kernel;
    return isSo;
  };
  for (Exchange exchange : {Exchange::LL, Exchange::Lamport})
    for (int64_t count : {1, 40}) {
      ExchangeAndRows rows(count, 4096, exchange, /*offset=*/4);
      EXPECT_TRUE(rows.hasClusters());
      EXPECT_EQ(rows.blocks(), count);
      EXPECT_TRUE(isExchanged(rows));
    }
  // Unless it is needed elsewhere too.
  ExchangeAndRows again(40, 4096, Exchange::LL);
  ExchangeAndRows inLoop(40, 4096, Exchange::LL);
  ExchangeAndRows isResult(40, 4096, Exchange::LL);
  ExchangeAndRows inPlace(40, 4096, Exchange::LL);
  again.plan.launch();
  int result = isResult.plan.argument({40 * 4096});
  for (int rank : {0, 1}) {
    auto partsOf = [&](ExchangeAndRows &plan) -> std::vector<Part> & {
      return plan.plan.parts(rank);
    };
    auto exchangeOf = [&](ExchangeAndRows &plan) -> ExchangePart & {
      return std::get<ExchangePart>(partsOf(plan)[0]);
    };
    auto rowsOf = [&](ExchangeAndRows &plan) -> RowsPart & {
      return std::get<RowsPart>(partsOf(plan)[1]);
    };
    again.plan.add(rank, copy(10, exchangeOf(again).to, view(again.scaled)));
    Loop &second = rowsOf(inLoop).loops[1];
    second.inputs.push_back(rowsOf(inLoop).loops[0].inputs[0]);
    exchangeOf(isResult).to = view(result);
    rowsOf(isResult).loops[0].inputs[0].view.buffer = result;
    // A thread may overwrite what another is still to send.
    exchangeOf(inPlace).from = view(inPlace.scaled);
  }
  for (ExchangeAndRows *plan : {&again, &inLoop, &isResult, &inPlace}) {
    EXPECT_TRUE(plan->hasClusters());
    EXPECT_FALSE(isExchanged(*plan));
  }
}

TEST(ExchangedRows, TwoExchangesServeTheSameRows) {
  ExchangeAndRows plan(40, 2048, Exchange::LL);
  int second = plan.plan.privateBuffer({40 * 2048});
  for (int rank : {0, 1}) {
    std::vector<Part> &parts = plan.plan.parts(rank);
    runtime::LoopOperand operand =
        std::get<RowsPart>(parts[1]).loops[0].inputs[0];
    operand.view.buffer = second;
    std::get<RowsPart>(parts[1]).loops[0].inputs.push_back(operand);
    ExchangePart exchange = std::get<ExchangePart>(parts[0]);
    exchange.to = view(second);
    parts.insert(parts.begin(), exchange);
  }
  EXPECT_EQ(barriersOf(printedKernel(plan.plan.plan)), "");
  // The other reads what the first leaves in another order.
  for (int rank : {0, 1})
    std::get<ExchangePart>(plan.plan.parts(rank)[1]).from = view(second, 1);
  EXPECT_EQ(barriersOf(printedKernel(plan.plan.plan)), "grid");
}

TEST(ExchangedRows, RowsOfTheSameBlocksNeedNoBarrierOfAll) {
  PlanBuilder plan(1);
  int in = plan.argument({40 * 2048}),
      between = plan.privateBuffer({40 * 2048});
  int out = plan.argument({40 * 2048});
  plan.add(
      0, throughScratch(40, 2048, {in, 0, {2048, 1}}, {between, 0, {2048, 1}}));
  plan.add(0, throughScratch(40, 2048, {between, 0, {2048, 1}},
                             {out, 0, {2048, 1}}));
  EXPECT_EQ(barriersOf(printedKernel(plan.plan)), "");
  EXPECT_FALSE(emit(plan.plan).kernels.at(0).clusters);
  // Warps take rows of another length.
  plan.add(0, throughScratch(80, 1024, {out, 0, {1024, 1}},
                             {between, 0, {1024, 1}}));
  EXPECT_EQ(barriersOf(printedKernel(plan.plan)), "grid");
}

TEST(Barriers, ClustersWaitForWhatTheirOtherBlocksHaveWritten) {
  auto between = [](int64_t first, int64_t count, bool isBack = false) {
    PlanBuilder plan(1);
    int in = plan.argument({40 * 8192}), kept = plan.privateBuffer({40 * 8192}),
        out = plan.argument({40 * 8192});
    View from{kept, first, {8192, 1}}, to{out, 0, {8192, 1}};
    plan.add(
        0, throughScratch(40, 8192, {in, 0, {8192, 1}}, {kept, 0, {8192, 1}}));
    plan.add(0, isBack ? throughScratch(40, count, to, from)
                       : throughScratch(40, count, from, to));
    std::string kernel = printedKernel(plan.plan);
    EXPECT_TRUE(has(kernel, " clusters")) << kernel;
    EXPECT_FALSE(has(kernel, " blocks_wait")) << kernel;
    EXPECT_EQ(findAll(kernel, "(open_cluster)").size(), 1u) << kernel;
    auto waits = findAll(kernel, "wait\\((\\w+)\\)");
    return waits.size() == 1 ? waits[0] : kernel;
  };
  EXPECT_EQ(between(0, 8192), ofBlock);
  EXPECT_EQ(between(0, 4096), ofCluster);
  EXPECT_EQ(between(4096, 4096), ofCluster);
  EXPECT_EQ(between(4096, 4096, /*isBack=*/true), ofCluster);
}

TEST(Barriers, BlocksOfAKernelThatDoesMoreAreAlone) {
  // Warps take the second rows, in the same places or not.
  for (bool meets : {true, false}) {
    PlanBuilder plan(1);
    int in = plan.argument({2 * 4096}), kept = plan.privateBuffer({2 * 4096}),
        out = plan.argument({2 * 4096});
    View from{in, 0, {4096, 1}}, to{kept, 0, {4096, 1}};
    plan.add(0, throughScratch(2, 4096, from, to));
    EXPECT_TRUE(emit(plan.plan).kernels.at(0).clusters);
    plan.add(0, throughScratch(32, 256, {meets ? kept : in, 0, {256, 1}},
                               {out, 0, {256, 1}}));
    GpuProgram program = emit(plan.plan);
    EXPECT_FALSE(program.kernels.at(0).clusters);
  }
}

TEST(Barriers, BlocksOfAKernelThatAwaitsASignalAreAlone) {
  for (bool awaits : {false, true}) {
    PlanBuilder plan(2);
    int in = plan.argument({2 * 4096}), out = plan.argument({2 * 4096});
    for (int rank : {0, 1}) {
      plan.add(rank, throughScratch(2, 4096, {in, 0, {4096, 1}},
                                    {out, 0, {4096, 1}}));
      if (awaits) {
        plan.add(rank, SignalPart{1 - rank, 0});
        plan.add(rank, AwaitPart{1 - rank, 0});
      }
    }
    plan.plan.ranks[0].flags = plan.plan.ranks[1].flags = 1;
    EXPECT_NE(emit(plan.plan).kernels.at(0).clusters, awaits);
  }
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
