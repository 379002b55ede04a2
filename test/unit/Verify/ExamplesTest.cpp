//===- ExamplesTest.cpp - Every example is proved -------------------------===//
//
// Every program of examples/ under each of its schedules, and under none, at
// small shapes on many meshes, against the program as it was written.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include "llvm/Support/FormatVariadic.h"

namespace ccn::verify {

namespace {

class Examples : public testing::TestWithParam<std::filesystem::path> {
protected:
  /// Proves the program as it was written equal to it under each schedule and
  /// under none.
  static void proveAll(const std::vector<std::vector<int64_t>> &meshes,
                       const ProveOptions &options);
};

void Examples::proveAll(const std::vector<std::vector<int64_t>> &meshes,
                        const ProveOptions &options) {
  Example example(GetParam());
  ASSERT_LE(example.axes.size(), 2U);
  for (const std::vector<int64_t> &mesh : meshes) {
    if (mesh.size() != example.axes.size())
      continue;
    for (const std::string &schedule : example.schedules) {
      Programs programs;
      ProgramOp before =
          programs.compile(example.text, example.variant(Phase::Parse, mesh));
      ProgramOp after = programs.compile(
          example.text, example.variant(Phase::Schedule, mesh, schedule));
      ASSERT_TRUE(before && after);
      Proof proof = prove(before, after, options);
      std::string where =
          llvm::formatv("{0} {1} on {2:$[ x ]}", example.name,
                        schedule.empty() ? "unscheduled" : schedule,
                        llvm::make_range(mesh.begin(), mesh.end()));
      EXPECT_TRUE(is(Proof::Proved, proof)) << where;
      EXPECT_GT(proof.elements, 0);
      if (!options.normalize)
        EXPECT_EQ(proof.byNormalization, 0);
      std::cout << llvm::formatv("{0,-32} {1,4} elements, {2,3} by the solver, "
                                 "{3:f4} s\n",
                                 where, proof.elements, proof.bySolver,
                                 proof.seconds)
                       .str();
    }
  }
}

TEST_P(Examples, AreProvedOnAllMeshes) {
  proveAll(
      {{1}, {2}, {3}, {4}, {8}, {1, 1}, {1, 3}, {2, 2}, {3, 2}, {2, 4}, {4, 1}},
      {});
}

// The normal form is not trusted: Z3 comes to the same result without it.
TEST_P(Examples, AreProvedByTheSolverAlone) {
  ProveOptions options;
  options.normalize = false;
  options.sample = false;
  proveAll({{1}, {3}, {4}, {2, 2}, {3, 2}}, options);
}

INSTANTIATE_TEST_SUITE_P(All, Examples, testing::ValuesIn(findExamples()),
                         [](const auto &info) {
                           return info.param.stem().string();
                         });

} // namespace

} // namespace ccn::verify
