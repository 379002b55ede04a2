//===- ExamplesTest.cpp - Every example is proved -------------------------===//
//
// Every program of examples/ under each of its schedules, and under none, at
// small shapes on many meshes, against the program as it was written.
//
//===----------------------------------------------------------------------===//

#include "ProveUtil.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace ccn::verify {

namespace {

std::string read(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> findExamples() {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(CCN_EXAMPLES))
    if (entry.path().extension() == ".ccn")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The first group of every match.
std::vector<std::string> matches(const std::string &text, const char *pattern) {
  std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end;
       ++it)
    found.push_back((*it)[1]);
  return found;
}

/// Sizes that slices do not divide, by the names that examples use.
Settings smallParams(const std::string &text, int64_t ranks) {
  std::map<std::string, int64_t> sizes = {{"N", 2 * ranks + 1},
                                          {"B", 3},
                                          {"S", 2},
                                          {"H", 5},
                                          {"T", 5},
                                          {"F", 6},
                                          {"E", 5},
                                          {"C", 3}};
  Settings params;
  for (const std::string &name : matches(text, "param (\\w+) = [0-9]+\\s"))
    params.emplace_back(name,
                        std::to_string(sizes.contains(name) ? sizes[name] : 4));
  return params;
}

class Examples : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Examples, AreProvedOnAllMeshes) {
  std::string text = read(GetParam());
  std::string mesh = matches(text, "\nmesh \\w+ \\((.*)\\)")[0];
  std::vector<std::string> axes = matches(mesh, "(\\w+) =");
  std::vector<std::string> schedules = matches(text, "\nschedule (\\w+) for");
  schedules.emplace_back();
  std::vector<std::vector<int64_t>> sizes = {{1}, {2}, {3}, {4}, {8}};
  if (axes.size() == 2)
    sizes = {{1, 1}, {1, 3}, {2, 2}, {3, 2}, {2, 4}, {4, 1}};
  ASSERT_LE(axes.size(), 2U);
  for (const std::vector<int64_t> &shape : sizes) {
    Variant variant;
    int64_t ranks = 1;
    for (size_t i = 0; i < axes.size(); ++i) {
      variant.mesh.emplace_back(axes[i], std::to_string(shape[i]));
      ranks *= shape[i];
    }
    variant.params = smallParams(text, ranks);
    for (const std::string &schedule : schedules) {
      Programs programs;
      ProgramOp before = programs.compile(text, variant);
      Variant scheduled = variant;
      scheduled.phase = Phase::Schedule;
      scheduled.schedule = schedule;
      ProgramOp after = programs.compile(text, scheduled);
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
