//===- Solver.h - Asks Z3 about expressions ---------------------*- C++ -*-===//
//
// Asks Z3 whether two expressions can differ. Functions of which only the name
// is known are uninterpreted. If the expressions could differ, a second
// question adds simple facts about these functions for the arguments that
// occur.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_SOLVER_H
#define CCN_VERIFY_SOLVER_H

#include "lib/Verify/Expression.h"
#include "synth/Support.h"

#include <memory>

namespace ccn::verify {

/// An answer of Z3.
struct SolverAnswer {
  enum Kind : uint8_t { Equal, Different, Unknown } kind = Unknown;
  /// If Unknown: why.
  std::string reason = {};
  /// If Different: for each symbol for which Z3 chose a value, by number, that
  /// value as a double and as Z3 writes it.
  struct Value {
    double number;
    std::string text;
  };
  std::unordered_map<uint32_t, Value> model = {};
  /// The values of the expressions `shown` for this model.
  std::string first = {}, second = {};
};

/// Translates expressions for Z3, and asks it about them.
class Solver {
public:
  explicit Solver(const Expressions &exprs);
  ~Solver();

  /// Whether `a` and `b`, two numbers or two truth values, are equal for all
  /// values of the symbols. If they are not, also gives the values of the two
  /// expressions `shown`. Gives up after `seconds`, or when `limits` end.
  SolverAnswer compare(Expr a, Expr b, std::pair<Expr, Expr> shown,
                       double seconds, const synth::Limits &limits);

private:
  class Translation;
  std::unique_ptr<Translation> translation;
};

} // namespace ccn::verify

#endif // CCN_VERIFY_SOLVER_H
