//===- ComparedPrograms.h - Programs as plans and interpreted ---*- C++ -*-===//
//
// A fixture for tests that execute small programs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_PLAN_COMPAREDPROGRAMS_H
#define CCN_TEST_UNIT_PLAN_COMPAREDPROGRAMS_H

#include "PlanUtil.h"

#include "dialect/plan/Plan.h"
#include "lib/Verify/Retype.h"
#include "lib/Verify/Values.h"

namespace ccn::verify {

class ComparedPrograms : public testing::Test {
protected:
  /// Compares twice, the second time as the first left the inout arguments.
  void compare(const std::string &text, const std::string &schedule = {}) {
    Variant variant = {.phase = Phase::Plan, .schedule = schedule};
    std::string messages;
    auto scheduled =
        compiler.compileTo(Phase::Schedule, text, variant, messages);
    ASSERT_TRUE(scheduled) << messages;
    auto plans = compiler.compileTo(Phase::Plan, text, variant, messages);
    ASSERT_TRUE(plans) << messages;
    ProgramOp program = onlyProgram(*scheduled);
    auto team = test::PlanTeam::create(*plans, program.getSymName());
    ASSERT_TRUE(team) << team.message();
    auto inputs =
        drawInputs(program, ValueSet::Signed, Integers::Any, /*seed=*/1);
    ASSERT_TRUE(mlir::succeeded(inputs));
    for (bool isFirst : {true, false}) {
      auto expected = interp::run(program, program.getMesh(), *inputs, {});
      ASSERT_TRUE(mlir::succeeded(expected));
      auto found = isFirst ? (*team)->run(*inputs) : (*team)->runAgain();
      ASSERT_TRUE(found) << found.message();
      EXPECT_TRUE(test::haveSameBits(*expected, *found));
      for (const interp::Output &output : *expected)
        if (auto input = inputs->find(output.name); input != inputs->end())
          input->second = output.tensor;
    }
  }

  test::PlanCompiler compiler;
};

} // namespace ccn::verify

#endif // CCN_TEST_UNIT_PLAN_COMPAREDPROGRAMS_H
