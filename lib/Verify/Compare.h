//===- Compare.h - Are two expressions equal? -------------------*- C++ -*-===//
//
// Puts the ways to compare two expressions in order: the same id, the same id
// when products are multiplied out, a few points, and the solver.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_COMPARE_H
#define CCN_VERIFY_COMPARE_H

#include "lib/Verify/Evaluate.h"
#include "lib/Verify/Solver.h"

#include <map>
#include <set>

namespace ccn::verify {

struct Judgement {
  enum Kind : uint8_t { Identical, Solved, Different, Unknown } kind = Unknown;
  std::string reason = {};
  /// Where Different: the symbols that matter, with values, and both values.
  std::vector<std::pair<std::string, std::string>> inputs = {};
  std::string first = {}, second = {};
  /// Functions in whose place others were needed to tell the values apart.
  std::vector<std::string> functions = {};
};

class Comparer {
public:
  struct Options {
    bool normalize, sample;
    double elementTimeLimit;
    synth::Limits limits;
  };

  Comparer(Expressions &exprs, Options options)
      : exprs(exprs), options(options), solver(exprs) {}

  /// What is found without the solver; none if that is not enough.
  std::optional<Judgement> compareQuickly(Expr a, Expr b);
  /// What the solver says about what compareQuickly leaves open. The same
  /// question is asked once.
  const Judgement &solve(Expr a, Expr b);

private:
  Judgement ask(Expr a, Expr b);
  /// The result at the first of some points at which they differ.
  std::optional<Judgement> sample(Expr a, Expr b);
  Judgement describeDifference(Expr a, Expr b, const SolverAnswer &answer);

  Expressions &exprs;
  Options options;
  Solver solver;
  /// Pairs that points do not tell apart.
  std::set<std::pair<Expr, Expr>> open;
  std::map<std::pair<Expr, Expr>, Judgement> solved;
};

} // namespace ccn::verify

#endif // CCN_VERIFY_COMPARE_H
