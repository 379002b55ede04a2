//===- LinearProgram.h - Linear and integer programs ------------*- C++ -*-===//
//
// A program with whole coefficients and two solvers behind it: Clp, fast and
// in floating point, and Z3, exact. What Clp calls infeasible is confirmed by
// Z3 before it counts as a proof.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_LINEARPROGRAM_H
#define CCN_SYNTH_LINEARPROGRAM_H

#include "synth/Sat.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ccn::synth {

enum class LpSolver { Clp, Z3 };

class LinearProgram {
public:
  /// Below is strict, which only Z3 can say: Clp takes it as AtMost.
  enum class Relation { Equal, AtMost, AtLeast, Below };
  using Terms = std::map<int, int64_t>;
  using TermList = std::vector<std::pair<int, int64_t>>;

  /// A column with a lower bound; columns count from 1 (0 can mean "none").
  int addColumn(int64_t lower) {
    lowerBounds.push_back(lower);
    return static_cast<int>(lowerBounds.size());
  }
  void addRow(const Terms &terms, Relation relation, int64_t bound) {
    rows.push_back({{terms.begin(), terms.end()}, relation, bound});
  }
  /// The same from a list that names each column once.
  void addRow(TermList terms, Relation relation, int64_t bound) {
    rows.push_back({std::move(terms), relation, bound});
  }

  /// Whether the program has a solution in fractions; No is exact.
  Answer relax(LpSolver solver, const Limits &limits) const;
  /// A solution in whole numbers (`values` by column), any one. `effort` bounds
  /// the nodes of the branching over Clp.
  Answer solveIntegers(LpSolver solver, const Limits &limits, int64_t effort,
                       std::vector<int64_t> &values) const;
  /// Minimizes the sum of `cost` times columns in floating point by Clp;
  /// Yes fills `values` and the rows' dual values.
  Answer minimize(const Terms &cost, const Limits &limits,
                  std::vector<double> &values,
                  std::vector<double> &duals) const;

  /// The same for a program with symmetries, of any size: columns (and rows)
  /// that colour refinement does not tell apart get one value, which keeps the
  /// optimum (Grohe, Kersting, Mladenov and Selman, "Dimension reduction via
  /// colour refinement", ESA'14). Dual values are shared by the rows alike.
  Answer minimizeAlike(const Terms &cost, const Limits &limits,
                       std::vector<double> &values,
                       std::vector<double> &duals) const;
  size_t numColumns() const { return lowerBounds.size(); }

private:
  struct Row {
    TermList terms;
    Relation relation;
    int64_t bound;
  };
  /// Whether whole values satisfy every row and bound, in exact arithmetic.
  bool holds(const std::vector<int64_t> &values) const;
  friend class ClpProgram;
  friend class Colouring;
  Answer solveZ3(bool integers, const Limits &limits,
                 std::vector<int64_t> *values) const;

  std::vector<int64_t> lowerBounds;
  std::vector<Row> rows;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_LINEARPROGRAM_H
