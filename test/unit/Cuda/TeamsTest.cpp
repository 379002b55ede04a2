//===- TeamsTest.cpp - Who takes a row, and where scratch is --------------===//
//
// Rows that go through two loops, with what is between them in scratch: a
// thread takes a short row, a warp or a block a longer one, and the whole grid
// each of few very long ones.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Cuda/CompiledPlan.h"
#include "test/unit/Cuda/PlanBuilder.h"

#include <regex>

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;

namespace {

/// "Thread", "Warp" or "Block"; empty is the grid.
std::string teamOf(const std::string &body) {
  std::smatch team;
  std::regex_search(body, team, std::regex("const (\\w+)Team team;"));
  return team.empty() ? "" : team[1].str();
}

struct Expected {
  int64_t rows, columns;
  const char *team;
  int64_t blocks;
  /// The memory that scratch takes.
  int64_t shared, ofBlock, workspace;

  friend void PrintTo(const Expected &expected, std::ostream *os) {
    *os << expected.rows << " rows of " << expected.columns;
  }
};

class Teams : public testing::TestWithParam<Expected> {};

TEST_P(Teams, TakeRows) {
  const Expected &expected = GetParam();
  PlanBuilder plan(1);
  int64_t elements = expected.rows * expected.columns;
  int in = plan.argument({elements}), out = plan.argument({elements});
  plan.add(0, throughScratch(expected.rows, expected.columns,
                             {in, 0, {expected.columns, 1}},
                             {out, 0, {expected.columns, 1}}));
  GpuProgram program = emit(plan.plan);
  ASSERT_EQ(program.kernels.size(), 1u);
  const GpuKernel &kernel = program.kernels[0];
  const GpuLaunch &launch = program.launches[0][0];
  std::string body = bodyOf(program);
  EXPECT_EQ(kernel.threads, 512);
  EXPECT_EQ(teamOf(body), expected.team) << body;
  EXPECT_EQ(launch.blocks, expected.blocks);
  EXPECT_EQ(kernel.sharedBytes, expected.shared);
  EXPECT_EQ(kernel.blockBytes, expected.ofBlock);
  EXPECT_EQ(launch.workspaceBytes, expected.workspace);
  auto has = [&](const char *text) { return body.find(text) != body.npos; };
  EXPECT_EQ(has("extern __shared__"), expected.shared > 0) << body;
  EXPECT_EQ(has("Byte *const blockMemory = "), expected.ofBlock > 0) << body;
  // The grid's rows go from loop to loop together.
  bool isGrid = *expected.team == '\0';
  EXPECT_EQ(barriersOf(body), isGrid ? "grid" : "");
  EXPECT_EQ(kernel.waits, isGrid);
}

INSTANTIATE_TEST_SUITE_P(
    All, Teams,
    testing::Values(
        // 512 threads with a row of 8 floats each.
        Expected{1000, 8, "Thread", 2, 512 * 32, 0, 0},
        // A row's memory is a multiple of 16 bytes.
        Expected{1000, 5, "Thread", 2, 512 * 32, 0, 0},
        // 16 warps.
        Expected{1000, 9, "Warp", 63, 16 * 48, 0, 0},
        Expected{1000, 1024, "Warp", 63, 16 * 4096, 0, 0},
        Expected{1000, 1025, "Block", 1000, 4160, 0, 0},
        // The most that a block gets of shared memory is 96 KiB.
        Expected{100, 24576, "Block", 100, 98304, 0, 0},
        Expected{100, 24577, "Block", 100, 0, 98368, 0},
        Expected{33, 32768, "Block", 33, 0, 131072, 0},
        Expected{32, 32767, "Block", 32, 0, 131072, 0},
        // All rows at once.
        Expected{32, 32768, "", 16, 0, 0, 32 * 131072},
        Expected{1, 32768, "", 16, 0, 0, 131072}));

TEST(Rows, ElementsAreForThemselves) {
  // Without scratch no row belongs to anybody.
  PlanBuilder plan(1);
  int in = plan.argument({4096}), out = plan.argument({4096});
  runtime::LoopOperand from{Access::Load, view(in), ElementType::F32};
  runtime::LoopOperand to{Access::Store, view(out), ElementType::F32};
  plan.add(0, loop(4096, from, to));
  GpuProgram program = emit(plan.plan);
  std::string body = bodyOf(program);
  EXPECT_EQ(teamOf(body), "");
  EXPECT_EQ(barriersOf(body), "");
  EXPECT_EQ(program.launches[0][0].blocks, 2);
  // Four at once where addresses allow, with nothing left over.
  EXPECT_NE(body.find(".template at<4>(x0)"), std::string::npos) << body;
  EXPECT_NE(body.find("i < 1024LL"), std::string::npos) << body;
}

TEST(Rows, PartsTakeTheSameSharedMemory) {
  PlanBuilder plan(1);
  int in = plan.argument({200 * 2000}), out = plan.argument({200 * 2000});
  for (int64_t columns : {2000, 1500})
    plan.add(0, throughScratch(200, columns, {in, 0, {columns, 1}},
                               {out, 0, {columns, 1}}));
  GpuProgram program = emit(plan.plan);
  EXPECT_EQ(program.kernels.at(0).sharedBytes, 8000);
  EXPECT_EQ(barriersOf(bodyOf(program)), "grid");
}

TEST(Rows, FewLongSumsArePartialSumsOfBlocks) {
  PlanCompiler compiler;
  GpuProgram program = emitFor(compiler, "mesh m (d = 1)\n"
                                         "program f(x: f32[3, 40000]) {\n"
                                         "  let s = sum(x, 1)\n"
                                         "  return s\n"
                                         "}\n");
  ASSERT_EQ(program.kernels.size(), 1u);
  std::string body = bodyOf(program);
  EXPECT_EQ(teamOf(body), "");
  EXPECT_EQ(barriersOf(body), "grid");
  // Of each row and block a sum in f64.
  EXPECT_EQ(program.launches[0][0].workspaceBytes, 3 * 512 * 8);
  EXPECT_NE(body.find("[blockIdx.x] = sums;"), std::string::npos) << body;
}

TEST(Rows, ManyLongSumsAreThoseOfWarps) {
  PlanCompiler compiler;
  GpuProgram program = emitFor(compiler, "mesh m (d = 1)\n"
                                         "program f(x: f32[2, 1000, 48]) {\n"
                                         "  let s = sum(x, 1)\n"
                                         "  return s\n"
                                         "}\n");
  ASSERT_EQ(program.kernels.size(), 1u);
  std::string body = bodyOf(program);
  EXPECT_EQ(teamOf(body), "Warp");
  EXPECT_EQ(barriersOf(body), "");
  EXPECT_EQ(program.launches[0][0].workspaceBytes, 0);
}

} // namespace
