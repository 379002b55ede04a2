//===- ProgramTimeTest.cpp - About how long a program takes ---------------===//
//
// Programs of one product on a machine where only products take time.
//
//===----------------------------------------------------------------------===//

#include "lib/CostModel/ProgramTime.h"

#include "lib/Driver/Phases.h"

#include <gtest/gtest.h>

using namespace ccn;

namespace {

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

double estimatedUs(const char *text, const MachineRates &rates) {
  mlir::MLIRContext context(makeRegistry(),
                            mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  SourceFile source("test.ccn", text);
  Diagnostics diagnostics;
  CompileOptions options;
  options.unscheduled = true;
  double us = -1;
  options.onScheduled = [&](mlir::ModuleOp module) {
    us = estimateUs(*module.getOps<ProgramOp>().begin(), rates);
  };
  mlir::OwningOpRef<mlir::ModuleOp> unused;
  EXPECT_EQ(compile(source, &context, options, diagnostics, unused),
            CompileStatus::Done);
  return us;
}

double productsUs(const char *text) {
  MachineRates rates;
  rates.readGBps = rates.linkGBps = 1e30;
  rates.libraryTflops["f32"] = rates.kernelTflops["f32"] = 1e-6;
  rates.convolutionTflops = 1e-6;
  return estimatedUs(text, rates);
}

// At 10^6 operations a second each takes a microsecond.
TEST(ProgramTimeTest, CountsTheOperationsOfProducts) {
  EXPECT_DOUBLE_EQ(productsUs(R"(
mesh m (dp = 1)
program f(a: f32[8, 4], b: f32[4, 2]) {
  return matmul(a, b)
})"),
                   2 * 8 * 4 * 2);
  // Batches multiply as they are.
  EXPECT_DOUBLE_EQ(productsUs(R"(
mesh m (dp = 1)
program f(a: f32[3, 8, 4], b: f32[3, 4, 2]) {
  return matmul(a, b)
})"),
                   2 * 3 * 8 * 4 * 2);
  // On each rank a part of what is summed.
  EXPECT_DOUBLE_EQ(productsUs(R"(
mesh m (tp = 2)
program f(a: f32[8, 4] sliced(1), b: f32[4, 2]) {
  return all_reduce(sum, matmul(a, b))
})"),
                   2 * 8 * 2 * 2);
  EXPECT_DOUBLE_EQ(productsUs(R"(
mesh m (dp = 1)
program f(x: f32[1, 3, 8, 8], w: f32[4, 3, 3, 3]) {
  return conv2d(x, w, 1, 1)
})"),
                   2 * 4 * 64 * 3 * 9);
}

// The bytes of an iota are its result's: it takes only the shape of its
// operand.
TEST(ProgramTimeTest, CountsNoOperandOfAnIota) {
  MachineRates rates;
  rates.readGBps = 1;
  rates.linkGBps = 1e30;
  EXPECT_DOUBLE_EQ(estimatedUs(R"(
mesh m (dp = 1)
program f(x: f32[1000]) {
  return iota(x, 0)
})",
                               rates),
                   8);
}

} // namespace
