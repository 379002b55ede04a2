//===- ManyRanksTest.cpp - Times of many ranks ----------------------------===//
//
// Predicts times from plans of all ranks, and from those of ranks that stand
// for the others: they must be about the same.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/Skeletons.h"
#include "codegen/plan/ExportPlan.h"
#include "codegen/predict/Predict.h"
#include "lib/Driver/Phases.h"
#include "lib/Plan/RankClasses.h"

#include <gtest/gtest.h>

using namespace ccn;
using namespace ccn::codegen;

namespace {

constexpr const char *adam = R"(
mesh m (d = 2)
param N = 1048576
program f(g: f16[N] local, inout p: f32[N], inout mom: f32[N] sliced(0), lr: f32) {
  let avg = all_reduce(sum, g) / d
  mom <- 0.9 * mom + cast(avg, f32)
  p <- p - lr * mom
}
schedule split for f { split avg }
schedule fused for f {
  let (rs, ag) = split avg
  let (part, agp) = reorder ag after p
  fuse rs, part, agp
}
schedule overlapped for f {
  let (rs, ag) = split avg
  overlap rs, ag
}
schedule small for f {
  algorithm avg = one_shot
  protocol avg = ll
}
)";

constexpr const char *product = R"(
mesh m (d = 2)
param N = 1920
program f(x: bf16[N, 1024] sliced(0), w: bf16[1024, 4096] sliced(1)) {
  let all = all_gather(x)
  let y = matmul(all, w)
  return y
}
schedule fused for f { fuse all, y }
schedule overlapped for f { overlap all, y }
)";

constexpr const char *roots = R"(
mesh m (d = 2)
param N = 524288
program f(x: f32[N] local, y: f32[N] sliced(0)) {
  let a = reduce(sum, x, 1)
  let b = gather(y, 1)
  let c = broadcast(a, 1)
  return b, c
}
)";

constexpr const char *stages = R"(
mesh m (p = 2, d = 2)
param N = 1048576
program f(x: f32[N] local(p) sliced(0, d)) {
  let a = send(exp(x), p, +1)
  let b = send(exp(a), p, +1)
  let c = all_gather(b, d)
  return c
}
)";

struct Case {
  const char *text;
  std::vector<std::pair<std::string, std::string>> mesh;
  const char *schedule = "";
  int64_t planned = 0;
  /// By how much the times may differ.
  double tolerance = 0.02;
  int64_t nodeRanks = 0;
  const char *size = nullptr;
};

class ManyRanks : public testing::TestWithParam<Case> {
protected:
  ManyRanks() : context(registry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry made;
    registerDialects(made);
    return made;
  }

  Prediction predicted(const Case &own, int64_t maxPlannedRanks,
                       int64_t &planned) {
    SourceFile source("test.ccn", own.text);
    Diagnostics diagnostics;
    CompileOptions options;
    options.stopAfter = Phase::Plan;
    options.target = Target::anyGpu();
    options.lower.mesh = own.mesh;
    if (own.size)
      options.lower.params = {{"N", own.size}};
    options.lower.schedule = own.schedule;
    options.unscheduled = options.lower.schedule.empty();
    options.maxPlannedRanks = maxPlannedRanks;
    mlir::OwningOpRef<mlir::ModuleOp> plans;
    EXPECT_EQ(compile(source, &context, options, diagnostics, plans),
              CompileStatus::Done);
    for (const Diagnostic *diagnostic : diagnostics.getSorted())
      ADD_FAILURE() << diagnostic->message;
    if (!plans)
      return {};
    LoopLibrary library;
    runtime::Plan plan = exportPlan(*plans, "f", library);
    planned = static_cast<int64_t>(plan.ranks.size());
    PlannedRanks ranks(exportedRanks(*plans, "f"), plan.ranks.size(),
                       getMesh(*plans));
    LoopKernels bodies(library.kernels);
    Machine machine = *loadMachine("h200");
    MachineRates rates = *loadMachineFile("h200")->rates;
    rates.node.reset();
    if (own.nodeRanks > 0)
      rates.node = {own.nodeRanks, 45, 5, 0.2};
    auto kernels = mapKernels(plan, bodies, allSkeletons(), options.target,
                              machine, /*isPredicted=*/true);
    if (!kernels) {
      ADD_FAILURE() << llvm::toString(kernels.takeError());
      return {};
    }
    Result<Prediction> prediction =
        predict(plan, ranks, kernels->get(), bodies, machine, rates);
    if (!prediction) {
      ADD_FAILURE() << prediction.message();
      return {};
    }
    return *prediction;
  }

  mlir::MLIRContext context;
};

TEST_P(ManyRanks, TakeAsLongAsThoseThatStandForThem) {
  Case own = GetParam();
  int64_t all = 0, some = 0;
  Prediction ofAll = predicted(own, 65536, all),
             ofSome = predicted(own, 1, some);
  EXPECT_EQ(ofAll.ranks, all);
  EXPECT_EQ(ofSome.ranks, all);
  EXPECT_EQ(some, own.planned);
  EXPECT_GT(ofAll.totalUs, 0);
  EXPECT_NEAR(ofSome.totalUs, ofAll.totalUs, own.tolerance * ofAll.totalUs);
  // The first rank, which is among those that stand for others, moves as much.
  ASSERT_EQ(ofSome.launches.size() * static_cast<size_t>(all),
            ofAll.launches.size() * static_cast<size_t>(some));
  for (auto [one, other] : llvm::zip(ofSome.launches, ofAll.launches)) {
    if (one.rank != 0)
      break;
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.linkBytes, other.linkBytes);
    EXPECT_EQ(one.flops, other.flops);
  }
}

using Mesh = std::vector<std::pair<std::string, std::string>>;
const Mesh eight = {{"d", "8"}}, twenty = {{"d", "20"}},
           several = {{"p", "4"}, {"d", "6"}};

INSTANTIATE_TEST_SUITE_P(
    Programs, ManyRanks,
    testing::Values(
        Case{adam, eight, "", 2}, Case{adam, eight, "split", 2},
        Case{adam, eight, "fused", 2}, Case{adam, eight, "overlapped", 2},
        Case{adam, eight, "small", 2, 0.02, 0, "1024"},
        Case{adam, twenty, "fused", 2, 0.02},
        Case{adam, twenty, "split", 2, 0.02},
        // Slices of one size, a shorter one, and none.
        Case{adam, eight, "split", 2, 0.02, 0, "50001"},
        Case{adam, eight, "fused", 4, 0.1, 0, "17"},
        Case{product, eight, "", 2}, Case{product, eight, "fused", 2},
        Case{product, eight, "overlapped", 2, 0.1},
        Case{roots, eight, "", 4, 0.05}, Case{roots, twenty, "", 4, 0.05},
        Case{stages, several, "", 8, 0.02},
        // Between nodes there is a network.
        // Ranks that take turns between near and far ones collide at times.
        Case{adam, eight, "", 2, 0.4, 4},
        Case{adam, eight, "fused", 2, 0.05, 4},
        Case{product, twenty, "overlapped", 2, 0.05, 4}));

TEST(RankClasses, AreOfTheirNumbers) {
  mlir::MLIRContext context;
  context.loadDialect<CcnDialect>();
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto mesh = MeshOp::create(builder, builder.getUnknownLoc(), "m",
                             builder.getStrArrayAttr({"a", "b"}),
                             builder.getDenseI64ArrayAttr({8, 5}));
  // Positions 0, 3 and 7 of the first axis, 0 and 4 of the second one.
  std::vector<int64_t> ranks = {0, 4, 15, 19, 35, 39};
  auto classes = plan::RankClasses::of(mesh, ranks);
  EXPECT_EQ(classes.representatives(), ranks);
  EXPECT_TRUE(plan::RankClasses::standForAll(mesh, ranks));
  EXPECT_EQ(classes.representativeOf(3), 0);
  EXPECT_EQ(classes.representativeOf(4), 4);
  EXPECT_EQ(classes.representativeOf(2 * 5 + 4), 4);
  EXPECT_EQ(classes.representativeOf(6 * 5 + 1), 15);
  EXPECT_EQ(classes.representativeOf(7 * 5 + 3), 35);
  EXPECT_FALSE(plan::RankClasses::standForAll(mesh, {0, 4, 15, 19}));
  EXPECT_FALSE(plan::RankClasses::standForAll(mesh, {0, 4, 15, 35, 39}));
  EXPECT_FALSE(plan::RankClasses::standForAll(mesh, {}));
}

} // namespace
