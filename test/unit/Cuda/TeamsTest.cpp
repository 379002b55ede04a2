//===- TeamsTest.cpp - Who takes a row, and where scratch is --------------===//
//
// Rows that go through two loops, with what is between them in scratch: some
// lanes of a warp take a short row, a block a longer one, and the whole grid
// each of few very long ones. Where threads need only what they made themselves
// they have it themselves.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Cuda/CompiledPlan.h"
#include "test/unit/Cuda/PlanBuilder.h"
#include "test/unit/Cuda/PrintedPlan.h"

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;

namespace {

struct Expected {
  /// Each element of a row is used so many times, by other threads than have
  /// made it if that is more than once.
  int64_t rows, columns, uses;
  /// Empty: the grid.
  const char *team;
  int64_t threads, blocks;
  /// The memory that scratch takes.
  int64_t shared, ofBlock, workspace;

  friend void PrintTo(const Expected &expected, std::ostream *os) {
    *os << expected.rows << " rows of " << expected.columns << " x "
        << expected.uses;
  }
};

class Teams : public testing::TestWithParam<Expected> {};

TEST_P(Teams, TakeRows) {
  const Expected &expected = GetParam();
  PlanBuilder plan(1);
  int64_t elements = expected.rows * expected.columns;
  int in = plan.argument({elements}),
      out = plan.argument({elements * expected.uses});
  RowsPart rows = throughScratch(expected.rows, expected.columns,
                                 {in, 0, {expected.columns, 1}},
                                 {out, 0, {expected.columns, 1}});
  if (expected.uses > 1) {
    Loop &second = rows.loops[1];
    second.sizes.push_back(expected.uses);
    second.inputs[0].view.strides.push_back(0);
    second.outputs[0].view.strides = {expected.columns * expected.uses,
                                      expected.uses, 1};
  }
  plan.add(0, rows);
  GpuProgram program = emit(plan.plan);
  ASSERT_EQ(program.kernels.size(), 1u);
  const GpuKernel &kernel = program.kernels[0];
  const GpuLaunch &launch = program.launches[0][0];
  std::string kernels = printedKernels(plan.plan);
  bool isGrid = *expected.team == '\0';
  EXPECT_EQ(kernel.threads, expected.threads);
  EXPECT_EQ(teamsIn(kernels), isGrid ? std::vector<std::string>()
                                     : std::vector<std::string>{expected.team})
      << kernels;
  EXPECT_EQ(has(kernels, " grid rows("), isGrid) << kernels;
  EXPECT_EQ(launch.blocks, expected.blocks);
  EXPECT_EQ(kernel.sharedBytes, expected.shared);
  EXPECT_EQ(kernel.blockBytes, expected.ofBlock);
  EXPECT_EQ(launch.workspaceBytes, expected.workspace);
  // The grid's rows go from loop to loop together.
  EXPECT_EQ(kernel.waits, isGrid);
  // Threads wait for what is used, and then before it is made of the next row.
  bool mayWait = expected.uses > 1 && !isGrid;
  EXPECT_EQ(has(kernels, " waits_before"), mayWait) << kernels;
  EXPECT_EQ(has(kernels, " waits_after"), mayWait && expected.rows > 1)
      << kernels;
  EXPECT_EQ(has(kernels, " own("),
            !isGrid && expected.shared == 0 && expected.ofBlock == 0)
      << kernels;
}

INSTANTIATE_TEST_SUITE_P(
    All, Teams,
    testing::Values(
        // Each thread has what it makes: a vector of 4 floats,
        Expected{99999, 4, 1, "lanes(1)", 256, 391, 0, 0, 0},
        // as many lanes as there are vectors, up to 64 bytes at once,
        Expected{99999, 8, 1, "lanes(2)", 256, 782, 0, 0, 0},
        Expected{99998, 8, 1, "lanes(2)", 256, 782, 0, 0, 0},
        Expected{99984, 8, 1, "lanes(2)", 256, 782, 0, 0, 0},
        Expected{99999, 6, 1, "lanes(4)", 256, 1563, 0, 0, 0},
        Expected{99999, 7, 1, "lanes(8)", 256, 3125, 0, 0, 0},
        Expected{99999, 9, 1, "lanes(16)", 256, 6250, 0, 0, 0},
        Expected{99999, 31, 1, "lanes(16)", 256, 6250, 0, 0, 0},
        Expected{99999, 64, 1, "lanes(4)", 256, 1563, 0, 0, 0},
        // as many as have 128 bytes each,
        Expected{99999, 65, 1, "lanes(16)", 256, 6250, 0, 0, 0},
        Expected{99999, 68, 1, "lanes(4)", 256, 1563, 0, 0, 0},
        Expected{99999, 512, 1, "lanes(16)", 256, 6250, 0, 0, 0},
        // and of more than a warp those of a block.
        Expected{99999, 1024, 1, "lanes(32)", 256, 12500, 0, 0, 0},
        Expected{99999, 1025, 1, "block(64)", 64, 99999, 0, 0, 0},
        Expected{99999, 2048, 1, "block(64)", 64, 99999, 0, 0, 0},
        Expected{99999, 2052, 1, "block(128)", 128, 99999, 0, 0, 0},
        Expected{100, 512 * 32, 1, "block(512)", 512, 100, 0, 0, 0},
        // Of few rows each lane has one vector, or a warp two.
        Expected{64, 1000, 1, "block(256)", 256, 64, 0, 0, 0},
        Expected{64, 256, 1, "lanes(32)", 256, 8, 0, 0, 0},
        Expected{64, 64, 1, "lanes(16)", 256, 4, 0, 0, 0},
        Expected{1, 1, 1, "lanes(1)", 256, 1, 0, 0, 0},
        // 32 teams with a row of 4 floats each.
        Expected{99999, 4, 2, "lanes(8)", 256, 3125, 32 * 16, 0, 0},
        // A row's memory is a multiple of 16 bytes.
        Expected{99999, 3, 2, "lanes(8)", 256, 3125, 32 * 16, 0, 0},
        Expected{1000, 512, 2, "block(64)", 64, 1000, 2048, 0, 0},
        Expected{1, 513, 2, "block(512)", 512, 1, 2112, 0, 0},
        // More than registers are for.
        Expected{100, 512 * 32 + 4, 1, "block(512)", 512, 100, 65600, 0, 0},
        // The most that a block gets of shared memory is 96 KiB.
        Expected{100, 24576, 1, "block(512)", 512, 100, 98304, 0, 0},
        Expected{100, 24577, 1, "block(512)", 512, 100, 0, 98368, 0},
        Expected{33, 32768, 1, "block(512)", 512, 33, 0, 131072, 0},
        Expected{32, 32767, 1, "block(512)", 512, 32, 0, 131072, 0},
        // All rows at once.
        Expected{32, 32768, 1, "", 512, 16, 0, 0, 32 * 131072},
        Expected{1, 32768, 1, "", 512, 16, 0, 0, 131072}));

TEST(Rows, ElementsAreForThemselves) {
  // Without scratch no row belongs to anybody.
  PlanBuilder plan(1);
  int in = plan.argument({4096}), out = plan.argument({4096});
  runtime::LoopOperand from{Access::Load, view(in), ElementType::F32};
  runtime::LoopOperand to{Access::Store, view(out), ElementType::F32};
  plan.add(0, loop(4096, from, to));
  GpuProgram program = emit(plan.plan);
  std::string kernels = printedKernels(plan.plan), body = bodyOf(program);
  EXPECT_TRUE(has(kernels, "blocks(2)\n    elements\n"
                           "      copy elements(4096) width(4)"))
      << kernels;
  EXPECT_FALSE(program.kernels[0].waits);
  // Four at once where addresses allow, with nothing left over.
  EXPECT_NE(body.find(".template at<4>(x0)"), std::string::npos) << body;
  EXPECT_NE(body.find("i < 1024LL"), std::string::npos) << body;
}

TEST(Rows, PartsTakeTheSameSharedMemory) {
  PlanBuilder plan(1);
  int in = plan.argument({200 * 20000}), out = plan.argument({200 * 20000});
  for (int64_t columns : {20000, 18000})
    plan.add(0, throughScratch(200, columns, {in, 0, {columns, 1}},
                               {out, 0, {columns, 1}}));
  GpuProgram program = emit(plan.plan);
  EXPECT_EQ(program.kernels.at(0).sharedBytes, 80000);
  EXPECT_TRUE(has(printedKernels(plan.plan), "    wait(grid) teams "));
}

// Of a norm's row the sum is the one thing that threads wait for, and all loops
// take as many elements at a time.
TEST(Rows, ThreadsOfANormWaitOnce) {
  PlanCompiler compiler;
  for (const char *columns : {"1000", "8192", "20000"}) {
    std::string kernels =
        printedKernels(compiler,
                       std::string("mesh m (d = 1)\n"
                                   "param H = ") +
                           columns +
                           "\n"
                           "program f(x: bf16[300, H], r: bf16[300, H], "
                           "g: bf16[H]) {\n"
                           "  let res = r + x\n"
                           "  let y = rms_norm(res, g, 1e-5)\n"
                           "  return y, res\n"
                           "}\n"
                           "schedule fused for f {\n"
                           "  fuse res, y\n"
                           "}\n",
                       {.phase = Phase::Plan, .schedule = "fused"});
    EXPECT_FALSE(has(kernels, " waits_")) << kernels;
    EXPECT_FALSE(has(kernels, " wait(")) << kernels;
    // Each thread has the sum, and the scalars that are made of it.
    EXPECT_EQ(findAll(kernels, "loop (\\w+) .* of_every_thread"),
              (std::vector<std::string>{"loop1", "loop2"}))
        << kernels;
    EXPECT_EQ(findAll(kernels, " width\\((\\d+)\\)"),
              (std::vector<std::string>{"8", "8", "1", "8"}))
        << kernels;
  }
}

/// Whether a fused norm of rows of 8192 has these texts, in this order.
void expectInOrder(const char *rows,
                   std::initializer_list<const char *> texts) {
  PlanCompiler compiler;
  GpuProgram program =
      emitFor(compiler, fusedNorm("2", rows, "8192", "  protocol total = ll\n"),
              {.phase = Phase::Plan, .schedule = "fused"});
  ASSERT_EQ(program.kernels.size(), 1u);
  std::string body = bodyOf(program);
  size_t at = 0;
  for (const char *next : texts) {
    at = body.find(next, at);
    ASSERT_NE(at, body.npos) << next << "\n" << body;
  }
}

// What does not depend on an exchange is on its way before blocks wait for it,
// and in registers before threads wait for the sum.
TEST(Rows, ComeWhileBlocksWait) {
  expectInOrder("65",
                {"prefetchRow(BlockTeam<512>(), 65LL, (a.at[1] + 0LL), "
                 "16384LL, 16384LL);\n",
                 "prefetchRow(BlockTeam<512>(), 65LL, (a.at[2] + 0LL), 0LL, "
                 "16384LL);\n",
                 "exchange<", "Fetched<8> f3[2];", "Fetched<8> f0[2];",
                 "merge(", "f3[turn.value]);"});
}

// Threads that exchange what they take have it, and all else, in registers.
TEST(Rows, ComeWhileThreadsExchange) {
  expectInOrder(
      "2", {"beginCluster(c);\n", "ClusterTeam team(c, false);\n",
            "ExchangedRow<LowLatency, bf16, Kind::Sum, 2, 8, 2> exchanged(",
            "exchanged.template send<turn.value>(", "f3[turn.value] = l3.",
            "auto f = l0.template fetch<8>(",
            "f.v1 = exchanged.template receive<turn.value>(",
            "l0.template at<8>(r, x0, e, f);", "merge(", "f3[turn.value]);",
            "team.open();\n"});
}

// Few rows, which have a vector for each thread, and of which threads need
// nothing that others made but sums.
TEST(Rows, AreOfClustersWhereTheyAreFewAndLong) {
  struct Norm {
    const char *ranks, *rows, *columns, *choice;
    bool clusters;
  };
  PlanCompiler compiler;
  for (const Norm &norm : {
           Norm{"2", "1", "8192", "  protocol total = ll\n", true},
           Norm{"4", "64", "8192", "  protocol total = lamport\n", true},
           Norm{"4", "65", "8192", "  protocol total = lamport\n", false},
           Norm{"2", "2", "8184", "  protocol total = ll\n", false},
           // A thread does not have so much for itself.
           Norm{"2", "2", "20000", "  protocol total = ll\n", false},
           // Blocks wait for all others, between the sums and the rows.
           Norm{"2", "2", "8192", "  algorithm total = two_shot\n", false},
           Norm{"2", "2", "8192", "  algorithm total = ring\n", false},
       }) {
    std::string kernels = printedKernels(
        compiler, fusedNorm(norm.ranks, norm.rows, norm.columns, norm.choice),
        {.phase = Phase::Plan, .schedule = "fused"});
    EXPECT_EQ(has(kernels, " clusters"), norm.clusters) << kernels;
    EXPECT_TRUE(has(kernels, " threads(512)")) << kernels;
    if (norm.clusters)
      EXPECT_TRUE(has(kernels, std::string(" blocks(") + norm.rows + ")"))
          << kernels;
    EXPECT_EQ(
        teamsIn(kernels),
        std::vector<std::string>{norm.clusters ? "cluster" : "block(512)"})
        << kernels;
  }
}

TEST(Rows, FewLongSumsArePartialSumsOfBlocks) {
  PlanCompiler compiler;
  std::string kernels =
      printedKernels(compiler, "mesh m (d = 1)\n"
                               "program f(x: f32[3, 40000]) {\n"
                               "  let s = sum(x, 1)\n"
                               "  return s\n"
                               "}\n");
  // Of each row and block a sum in f64.
  EXPECT_TRUE(has(kernels, " workspace(" + std::to_string(3 * 512 * 8) + ")"))
      << kernels;
  EXPECT_TRUE(has(kernels, " blocks_wait\n    grid rows(3)\n")) << kernels;
  EXPECT_TRUE(has(kernels, " few_sums")) << kernels;
}

TEST(Rows, ManyLongSumsAreThoseOfWarps) {
  PlanCompiler compiler;
  std::string kernels =
      printedKernels(compiler, "mesh m (d = 1)\n"
                               "program f(x: f32[64, 480, 1000]) {\n"
                               "  let s = sum(x, 2)\n"
                               "  return s\n"
                               "}\n");
  EXPECT_EQ(teamsIn(kernels), std::vector<std::string>{"lanes(32)"}) << kernels;
  EXPECT_FALSE(has(kernels, " blocks_wait")) << kernels;
  EXPECT_FALSE(has(kernels, " workspace(")) << kernels;
}

} // namespace
