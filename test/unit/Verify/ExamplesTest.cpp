//===- ExamplesTest.cpp - Every example is proved -------------------------===//
//
// Every program of examples/ under each of its schedules, and under none, at
// small shapes on many meshes, against the program as it was written.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"
#include "ProveUtil.h"

#include "llvm/Support/FormatVariadic.h"

namespace ccn::verify {

namespace {

class Examples : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Examples, AreProvedOnAllMeshes) {
  Example example(GetParam());
  for (const std::vector<int64_t> &shape : example.meshShapes()) {
    int64_t ranks = Example::ranks(shape);
    Variant variant;
    variant.mesh = example.mesh(shape);
    variant.params = example.smallParams(ranks);
    for (const std::string &schedule : example.schedules()) {
      Programs programs;
      ProgramOp before = programs.compile(example.text(), variant);
      Variant scheduled = variant;
      scheduled.phase = Phase::Schedule;
      scheduled.schedule = schedule;
      ProgramOp after = programs.compile(example.text(), scheduled);
      ASSERT_TRUE(before && after);
      Proof proof = prove(before, after, {});
      EXPECT_TRUE(is(Proof::Proved, proof))
          << "schedule '" << schedule << "' on " << ranks << " ranks";
      EXPECT_GT(proof.elements, 0);
      EXPECT_EQ(proof.byNormalization + proof.bySolver, proof.elements);
      std::cout << llvm::formatv("{0,-14} {1,-8} {2,2} ranks: {3,5} elements, "
                                 "{4} by the solver, "
                                 "{5:f2} s\n",
                                 GetParam().stem().string(),
                                 schedule.empty() ? "-" : schedule, ranks,
                                 proof.elements, proof.bySolver, proof.seconds)
                       .str();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Examples, testing::ValuesIn(findExamples()),
                         [](const auto &info) {
                           return info.param.stem().string();
                         });

} // namespace

} // namespace ccn::verify
