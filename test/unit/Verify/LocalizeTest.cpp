//===- LocalizeTest.cpp - Localized programs compute the same -------------===//
//
// Every program of examples/ under each of its schedules, and under none, and
// programs that hold every operation, on many meshes and at odd and tiny sizes:
// run for all ranks together, what is localized leaves the bits of the program
// that it was made from, chunk by chunk too.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"
#include "ProveUtil.h"

#include "lib/Verify/Localized.h"
#include "lib/Verify/Values.h"

#include "lib/Interpreter/Interpreter.h"

namespace ccn::verify {

namespace {

using Outputs = mlir::FailureOr<std::vector<interp::Output>>;

/// What two runs of one program leave, as text if they differ.
std::string compare(const Outputs &expected, const Outputs &found) {
  if (mlir::failed(expected) || mlir::failed(found))
    return mlir::failed(expected) == mlir::failed(found) ? "" : "one run fails";
  if (expected->size() != found->size())
    return "other outputs";
  for (size_t i = 0; i < expected->size(); ++i) {
    const interp::Output &a = (*expected)[i], &b = (*found)[i];
    if (a.name != b.name || a.tensor.shape() != b.tensor.shape())
      return "other outputs than '" + a.name + "'";
    if (auto at = interp::firstDifference(a.tensor, b.tensor))
      return "element " + std::to_string(*at) + " of '" + a.name + "' is " +
             b.tensor.textAt(*at) + ", expected " + a.tensor.textAt(*at);
  }
  return "";
}

/// Localizes a program for all ranks and compares what both leave.
std::string compareLocalized(ProgramOp program) {
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(
      program.getContext(), [&](mlir::Diagnostic &diagnostic) {
        messages += diagnostic.str() + "\n";
        return mlir::success();
      });
  auto localized = localizeForAllRanks(program);
  if (mlir::failed(localized))
    return messages;
  // All ranks do the same in the same order, so that they meet.
  auto namesOf = [](ProgramOp program) {
    std::vector<std::string> names;
    program.walk([&](mlir::Operation *op) {
      names.push_back(op->getName().getStringRef().str());
    });
    return names;
  };
  for (ProgramOp other : localized->programs)
    if (namesOf(other) != namesOf(localized->programs.front()))
      return "ranks have different operations";
  for (bool inChunks : {false, true}) {
    interp::RunOptions options;
    options.inChunks = inChunks;
    options.seed = 3;
    Outputs expected = interp::run(program, program.getMesh(), {}, options);
    if (mlir::failed(expected))
      return "the program fails: " + messages;
    Outputs found = interp::run(localized->programs, program.getMesh(), {},
                                options);
    std::string difference = compare(expected, found);
    if (!difference.empty())
      return difference + "\n" + messages;
  }
  return "";
}

class LocalizedExamples
    : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(LocalizedExamples, LeaveTheSameBitsOnAllMeshes) {
  Example example(GetParam());
  for (const std::vector<int64_t> &shape : example.meshShapes())
    for (const Settings &params : {example.smallParams(example.ranks(shape)),
                                   example.params(1), example.params(13)})
      for (const std::string &schedule : example.schedules()) {
        Variant variant;
        variant.phase = Phase::Schedule;
        variant.mesh = example.mesh(shape);
        variant.params = params;
        variant.schedule = schedule;
        Programs programs;
        ProgramOp program = programs.compile(example.text(), variant);
        ASSERT_TRUE(program);
        EXPECT_EQ(compareLocalized(program), "")
            << "schedule '" << schedule << "' on " << example.ranks(shape)
            << " ranks";
      }
}

INSTANTIATE_TEST_SUITE_P(All, LocalizedExamples,
                         testing::ValuesIn(findExamples()),
                         [](const auto &info) {
                           return info.param.stem().string();
                         });

} // namespace

} // namespace ccn::verify
