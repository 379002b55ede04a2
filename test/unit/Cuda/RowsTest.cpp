//===- RowsTest.cpp - Rows of teams of every size, on the CPU -------------===//
//
// Rows of all types and of lengths around those where teams change, executed
// on the CPU against the interpreter: many rows, so that the teams of a warp
// have unequal numbers of them, and few; where addresses are aligned and where
// they are not. Values are small whole numbers, so that sums are exact in any
// order.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Cuda/ComparedTeam.h"
#include "test/unit/Cuda/PrintedPlan.h"
#include "test/unit/Plan/PlanUtil.h"

#include <set>

using namespace ccn;
using namespace ccn::test;

namespace {

/// Runs a program of one rank, with so many blocks for the rows of a kernel,
/// and returns the teams of its kernels.
std::set<std::string> run(const std::string &text, int blocks) {
  ComparedTeam compared;
  if (testing::AssertionResult made = compared.create(text, "fused", blocks);
      !made) {
    ADD_FAILURE() << made.message();
    return {};
  }
  EXPECT_TRUE(compared.run(/*seed=*/1)) << text;
  std::vector<std::string> teams = teamsIn(printedKernels(compared.plans()));
  return std::set<std::string>(teams.begin(), teams.end());
}

/// Of rows of each length, from element `first` of memory on, what is less than
/// the largest, and the sum; of bools what is not all.
std::string programOf(const std::string &element, int rows, int first,
                      const std::vector<int> &lengths) {
  std::string parameters, body, results, schedule;
  bool isBool = element == "bool";
  for (int length : lengths) {
    std::string n = std::to_string(length), shape = "[T, " + n + "]",
                whole = std::to_string(int64_t(rows) * length),
                from = std::to_string(first);
    auto separated = [&](const std::string &list) {
      return list.empty() ? "" : ", ";
    };
    parameters += separated(parameters) + ("x" + n + ": " + element + "[") +
                  whole + " + " + from + "]";
    body += "  let v" + n + " = reshape(slice(x" + n + ", 0, " + from + ", " +
            whole + " + " + from + "), " + shape + ")\n";
    std::string value = "v" + n;
    if (isBool) {
      body += "  let w" + n + " = cast(v" + n + ", i8)\n";
      value = "w" + n;
    }
    body += "  let m" + n + " = max(" + value + ", [1])\n" + "  let d" + n +
            " = " + value + " - broadcast_to(reshape(m" + n + ", [T, 1]), " +
            shape + ")\n  let s" + n + " = sum(d" + n + ", 1)\n  let y" + n +
            " = d" + n + " - broadcast_to(reshape(s" + n + ", [T, 1]), " +
            shape + ")\n";
    results += separated(results) + ("y" + n) + ", s" + n;
    schedule += "  fuse " + (isBool ? "w" + n + ", " : std::string()) + "m" +
                n + ", d" + n + ", s" + n + ", y" + n + "\n";
  }
  return "mesh m (d = 1)\nparam T = " + std::to_string(rows) + "\nprogram f(" +
         parameters + ") {\n" + body + "  return " + results +
         "\n}\nschedule fused for f {\n" + schedule + "}\n";
}

class RowsOfTypes : public testing::TestWithParam<const char *> {};

} // namespace

TEST_P(RowsOfTypes, AreThoseOfTeams) {
  const std::vector<int> lengths = {1, 2, 7, 8, 9, 16, 31, 33, 63, 64, 65, 128};
  // The last block has not enough rows for all teams of its warps.
  std::set<std::string> teams =
      run(programOf(GetParam(), 1111, /*first=*/0, lengths), 2);
  EXPECT_TRUE(teams.count("lanes(1)"));
  EXPECT_GE(teams.size(), 4u);
  // All have as many rows.
  teams = run(programOf(GetParam(), 96, /*first=*/1, {7, 8, 31, 64, 65}), 1);
  EXPECT_FALSE(teams.empty());
}

TEST_P(RowsOfTypes, AreThoseOfBlocks) {
  std::set<std::string> teams =
      run(programOf(GetParam(), 3, /*first=*/0, {1000, 1024, 1025}), 2);
  EXPECT_TRUE(teams.count("block(512)"));
  run(programOf(GetParam(), 3, /*first=*/1, {1000, 1024, 2056}), 2);
}

// Of many rows each lane has several vectors.
TEST(Rows, HaveSeveralVectorsOfALane) {
  std::set<std::string> teams =
      run(programOf("bf16", 8203, /*first=*/0, {64, 65, 256}), 3);
  EXPECT_EQ(teams,
            (std::set<std::string>{"lanes(4)", "lanes(32)", "lanes(8)"}));
  teams = run(programOf("bf16", 8200, /*first=*/1, {64}), 3);
  EXPECT_EQ(teams, std::set<std::string>{"lanes(4)"});
  // A block of two warps.
  teams = run(programOf("bf16", 515, /*first=*/0, {528}), 3);
  EXPECT_EQ(teams, std::set<std::string>{"block(64)"});
}

INSTANTIATE_TEST_SUITE_P(All, RowsOfTypes,
                         testing::Values("f64", "f32", "f16", "bf16", "f8e4m3",
                                         "f8e5m2", "i64", "u32", "i16", "u8",
                                         "bool"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });
