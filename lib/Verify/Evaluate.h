//===- Evaluate.h - Evaluates expressions at a point ------------*- C++ -*-===//
//
// Evaluates expressions for given values of the symbols, with the real
// functions. Results are intervals that contain the exact values. So if the
// intervals of two expressions do not meet, the expressions differ, in spite of
// rounding.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_EVALUATE_H
#define CCN_VERIFY_EVALUATE_H

#include "lib/Verify/Expression.h"

namespace ccn::verify {

/// The value lies in [low, high]; a truth value is 0 or 1. Both are NaN if
/// nothing is known, such as where a function is not defined.
struct Interval {
  double low, high;

  bool isPoint() const { return low == high; }
  bool isDefined() const { return low <= high; }
  /// Whether the two values certainly differ.
  bool isApart(const Interval &other) const {
    return isDefined() && other.isDefined() &&
           (high < other.low || other.high < low);
  }
};

/// A value of each symbol, by its number; a truth value is 0 or 1.
using Assignment = std::function<double(uint32_t)>;

/// The values of the roots, in their order.
std::vector<Interval> evaluate(const Expressions &exprs,
                               const std::vector<Expr> &roots,
                               const Assignment &assignment);

} // namespace ccn::verify

#endif // CCN_VERIFY_EVALUATE_H
