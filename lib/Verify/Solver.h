//===- Solver.h - Z3 on expressions -----------------------------*- C++ -*-===//
//
// Asks Z3 whether two expressions can differ. Functions that are known by name
// only are uninterpreted; a second question, asked if they could differ, adds
// what is simple about them at the places where they are applied.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_SOLVER_H
#define CCN_VERIFY_SOLVER_H

#include "lib/Verify/Expression.h"
#include "synth/Support.h"

#include <memory>

namespace ccn::verify {

struct SolverAnswer {
  enum Kind : uint8_t { Equal, Different, Unknown } kind = Unknown;
  /// Why it is not known.
  std::string reason = {};
  /// A value of each symbol that Z3 chose one for, by its number, as a double
  /// and as Z3 writes it. Only where Different.
  struct Value {
    double number;
    std::string text;
  };
  std::unordered_map<uint32_t, Value> model = {};
  /// The values of the shown expressions there.
  std::string first = {}, second = {};
};

class Solver {
public:
  explicit Solver(const Expressions &exprs);
  ~Solver();

  /// Whether `a` and `b`, two numbers or two truth values, are equal for all
  /// values of the symbols. Where they are not, tells the values of the two
  /// expressions `shown`. Gives up after `seconds`, or with the limits.
  SolverAnswer compare(Expr a, Expr b, std::pair<Expr, Expr> shown,
                       double seconds, const synth::Limits &limits);

private:
  class Translation;
  std::unique_ptr<Translation> translation;
};

} // namespace ccn::verify

#endif // CCN_VERIFY_SOLVER_H
