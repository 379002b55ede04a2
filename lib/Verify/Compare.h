//===- Compare.h - Compares two expressions ---------------------*- C++ -*-===//
//
// Compares two expressions in four ways, in this order: by id, by id after
// products are multiplied out, at a few points, and by the solver.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_COMPARE_H
#define CCN_VERIFY_COMPARE_H

#include "lib/Verify/Evaluate.h"
#include "lib/Verify/Solver.h"

#include <map>
#include <set>

namespace ccn::verify {

/// The result of comparing two expressions.
struct Judgement {
  enum Kind : uint8_t { Identical, Solved, Different, Unknown } kind = Unknown;
  std::string reason = {};
  /// If Different: the symbols that matter, with values, and the values of both
  /// expressions.
  std::vector<std::pair<std::string, std::string>> inputs = {};
  std::string first = {}, second = {};
  /// Functions that the solver had to replace by others to make the values
  /// differ.
  std::vector<std::string> functions = {};
};

/// Compares expressions, and remembers earlier results.
class Comparer {
public:
  struct Options {
    bool normalize, sample;
    double elementTimeLimit;
    synth::Limits limits;
  };

  Comparer(Expressions &exprs, Options options)
      : exprs(exprs), options(options), solver(exprs) {}

  /// Compares without the solver; none if that does not decide.
  std::optional<Judgement> compareQuickly(Expr a, Expr b);
  /// Asks the solver about two expressions that compareQuickly cannot decide.
  /// Remembers answers.
  const Judgement &solve(Expr a, Expr b);

private:
  Judgement ask(Expr a, Expr b);
  /// The judgement at the first of some points at which the expressions differ;
  /// none if they differ at none.
  std::optional<Judgement> sample(Expr a, Expr b);
  Judgement describeDifference(Expr a, Expr b, const SolverAnswer &answer);

  Expressions &exprs;
  Options options;
  Solver solver;
  /// Pairs that differ at none of the points.
  std::set<std::pair<Expr, Expr>> open;
  std::map<std::pair<Expr, Expr>, Judgement> solved;
};

} // namespace ccn::verify

#endif // CCN_VERIFY_COMPARE_H
