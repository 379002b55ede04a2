//===- LinearProgramTest.cpp - Linear and integer programs ----------------===//
//
// Both solvers agree on small random programs, dual values prove the minimum,
// and a search ends when it is told to.
//
//===----------------------------------------------------------------------===//

#include "synth/LinearProgram.h"

#include <gtest/gtest.h>

#include <random>

using namespace ccn::synth;
using Relation = LinearProgram::Relation;
using TermList = LinearProgram::TermList;

namespace {

/// A program with whole coefficients whose columns are at most `most`.
LinearProgram randomProgram(std::mt19937 &random, int columns, int rows,
                            int64_t most) {
  LinearProgram lp;
  for (int c = 0; c < columns; ++c)
    lp.addRow(
        TermList{{lp.addColumn(static_cast<int64_t>(random() % 3) - 1), 1}},
        Relation::AtMost, most);
  for (int r = 0; r < rows; ++r) {
    LinearProgram::Terms terms;
    for (int c = 1; c <= columns; ++c)
      terms[c] = static_cast<int64_t>(random() % 7) - 3;
    lp.addRow(terms, static_cast<Relation>(random() % 3),
              static_cast<int64_t>(random() % 9) - 3);
  }
  return lp;
}

TEST(LinearProgram, SolversAgree) {
  std::mt19937 random(11);
  int yes = 0, no = 0;
  for (int i = 0; i < 60; ++i) {
    LinearProgram lp = randomProgram(random, 2 + i % 4, 1 + i % 3, 4);
    EXPECT_EQ(lp.relax(LpSolver::Clp, {}), lp.relax(LpSolver::Z3, {})) << i;
    std::vector<int64_t> clp, z3;
    Answer answer = lp.solveIntegers(LpSolver::Clp, {}, 10000, clp);
    EXPECT_EQ(answer, lp.solveIntegers(LpSolver::Z3, {}, 0, z3)) << i;
    yes += answer == Answer::Yes;
    no += answer == Answer::No;
  }
  EXPECT_GT(yes, 20);
  EXPECT_GT(no, 10);
}

TEST(LinearProgram, DualValuesProveTheMinimum) {
  // Two kinds of food: least cost for 10 and 8 of what they have.
  LinearProgram lp;
  int bread = lp.addColumn(0), milk = lp.addColumn(0);
  lp.addRow(TermList{{bread, 2}, {milk, 1}}, Relation::AtLeast, 10);
  lp.addRow(TermList{{bread, 1}, {milk, 3}}, Relation::AtLeast, 8);
  std::vector<double> values, duals;
  ASSERT_EQ(lp.minimize({{bread, 3}, {milk, 4}}, {}, values, duals),
            Answer::Yes);
  EXPECT_NEAR(values[bread], 4.4, 1e-9);
  EXPECT_NEAR(values[milk], 1.2, 1e-9);
  ASSERT_EQ(duals.size(), 2u);
  EXPECT_NEAR(10 * duals[0] + 8 * duals[1], 3 * 4.4 + 4 * 1.2, 1e-9);
  EXPECT_GE(duals[0], 0);
  EXPECT_GE(duals[1], 0);
  // Without end, and impossible.
  EXPECT_EQ(lp.minimize({{bread, -1}}, {}, values, duals), Answer::Unknown);
  lp.addRow(TermList{{bread, 1}, {milk, 1}}, Relation::AtMost, 2);
  EXPECT_EQ(lp.minimize({{bread, 1}}, {}, values, duals), Answer::No);
}

TEST(LinearProgram, FractionsAloneAreNoSolution) {
  LinearProgram lp;
  int x = lp.addColumn(0), y = lp.addColumn(0);
  lp.addRow(TermList{{x, 2}, {y, 2}}, Relation::Equal, 3);
  EXPECT_EQ(lp.relax(LpSolver::Clp, {}), Answer::Yes);
  std::vector<int64_t> values;
  EXPECT_EQ(lp.solveIntegers(LpSolver::Clp, {}, 1000, values), Answer::No);
  // One node is not enough to say so.
  EXPECT_EQ(lp.solveIntegers(LpSolver::Clp, {}, 1, values), Answer::Unknown);
}

TEST(LinearProgram, EndsWhenTold) {
  std::mt19937 random(3);
  LinearProgram lp = randomProgram(random, 400, 300, 1000);
  std::atomic<bool> stop{true};
  Limits interrupted, late = Limits::seconds(0.02);
  interrupted.interrupt = &stop;
  std::vector<int64_t> values;
  std::vector<double> x, y;
  EXPECT_EQ(lp.relax(LpSolver::Clp, interrupted), Answer::Unknown);
  EXPECT_EQ(lp.solveIntegers(LpSolver::Clp, interrupted, 1000, values),
            Answer::Unknown);
  EXPECT_EQ(lp.minimize({{1, 1}}, interrupted, x, y), Answer::Unknown);
  auto before = Limits::Clock::now();
  lp.solveIntegers(LpSolver::Clp, late, int64_t(1) << 40, values);
  EXPECT_LT(Limits::Clock::now() - before, std::chrono::seconds(20));
}

} // namespace
