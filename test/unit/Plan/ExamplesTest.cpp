//===- ExamplesTest.cpp - What schedules promise is what executes ---------===//
//
// Every program of examples/ under each of its schedules, and under none, at
// small sizes on many meshes: compiled to a package, executed by a thread for
// each rank, and compared with the reference interpreter, bit for bit.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Verify/Examples.h"
#include "PlanUtil.h"

#include "lib/Verify/Retype.h"
#include "lib/Verify/Values.h"

#include "llvm/ADT/StringExtras.h"

using namespace ccn::test;

namespace ccn::verify {

namespace {

class PlansOfExamples : public testing::TestWithParam<std::filesystem::path> {
protected:
  /// Compiles and compares. Whether the program and the schedule are legal at
  /// these sizes; they must be if `isLegal`.
  bool compareAll(const Example &example, const Variant &variant, bool isLegal);

  /// Compares with the interpreter: two runs, of which the second starts with
  /// the inout arguments as the first left them.
  static void compareRuns(ProgramOp program, PlanTeam &team, ValueSet values,
                          uint64_t seed);

  PlanCompiler compiler;
};

void PlansOfExamples::compareRuns(ProgramOp program, PlanTeam &team,
                                  ValueSet values, uint64_t seed) {
  auto inputs = drawInputs(program, values, Integers::Any, seed);
  ASSERT_TRUE(mlir::succeeded(inputs));
  for (bool isFirst : {true, false}) {
    auto expected = interp::run(program, program.getMesh(), *inputs, {});
    ASSERT_TRUE(mlir::succeeded(expected));
    Result<Outputs> found = isFirst ? team.run(*inputs) : team.runAgain();
    ASSERT_TRUE(found) << found.message();
    EXPECT_TRUE(haveSameBits(*expected, *found))
        << "on values '" << name(values).str()
        << (isFirst ? "', first run" : "', second run");
    for (const interp::Output &output : *expected)
      if (auto input = inputs->find(output.name); input != inputs->end())
        input->second = output.tensor;
  }
}

bool PlansOfExamples::compareAll(const Example &example, const Variant &variant,
                                 bool isLegal) {
  std::string messages;
  auto scheduled =
      compiler.compileTo(Phase::Schedule, example.text, variant, messages);
  if (!scheduled) {
    EXPECT_FALSE(isLegal) << messages;
    return false;
  }
  auto plans = compiler.compileTo(Phase::Plan, example.text, variant, messages);
  EXPECT_TRUE(plans) << messages;
  if (!plans)
    return true;
  ProgramOp program = onlyProgram(*scheduled);
  auto team = PlanTeam::create(*plans, program.getSymName());
  EXPECT_TRUE(team) << team.message();
  if (!team)
    return true;
  compareRuns(program, **team, ValueSet::Signed, 1);
  compareRuns(program, **team, ValueSet::Special, 2);
  return true;
}

TEST_P(PlansOfExamples, ExecuteAsTheInterpreter) {
  Example example(GetParam());
  std::vector<std::vector<int64_t>> meshes;
  if (example.axes.size() == 1)
    meshes = {{1}, {2}, {3}, {4}, {8}};
  else
    meshes = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {2, 4}};
  int64_t compared = 0;
  for (const std::vector<int64_t> &mesh : meshes) {
    int64_t ranks = 1;
    for (int64_t size : mesh)
      ranks *= size;
    for (const std::string &schedule : example.schedules)
      // Sizes of which slices are ragged; then, for all params, one that slices
      // divide, and those at which most ranks or all have nothing.
      for (int64_t size : {int64_t(-1), 2 * ranks, int64_t(1), int64_t(0)}) {
        Variant variant = example.variant(Phase::Plan, mesh, schedule);
        std::string where = example.name + " under '" + schedule + "'";
        for (auto &[name, value] : variant.mesh)
          where += ", " + name + " = " + value;
        for (auto &[name, value] : variant.params) {
          if (size >= 0)
            value = std::to_string(size);
          where += ", " + name + " = " + value;
        }
        SCOPED_TRACE(where);
        compared += compareAll(example, variant, size < 0 || size > 1);
      }
  }
  // No size but the smallest may be refused.
  EXPECT_GE(compared,
            static_cast<int64_t>(2 * meshes.size() * example.schedules.size()));
  std::cout << compared << " packages\n";
}

INSTANTIATE_TEST_SUITE_P(All, PlansOfExamples,
                         testing::ValuesIn(findExamples()),
                         [](const auto &info) {
                           return info.param.stem().string();
                         });

} // namespace

} // namespace ccn::verify
