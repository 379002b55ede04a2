//===- SymbolicArithmetic.h - Scalar functions on expressions ---*- C++ -*-===//
//
// Private to the symbolic kernels: evaluates functions of one element
// (dialect/ccn/ScalarFunctions.h) on expressions.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_SYMBOLICARITHMETIC_H
#define CCN_VERIFY_SYMBOLICARITHMETIC_H

#include "dialect/ccn/Scalar.h"
#include "lib/Verify/Expression.h"
#include "runtime/base/Status.h"

namespace ccn::verify {

/// The smallest and the largest value of an integer type.
struct Range {
  Rational low, high;
};
Range rangeOf(runtime::ElementType type);

/// Rounds towards zero.
Rational truncate(const Rational &value);

/// The maximum or minimum of any number of values of a type; there may be none.
Expr extremumOf(Expressions &exprs, bool isMax, runtime::ElementType type,
                std::vector<Expr> args);

/// Arithmetic whose ids are expressions for values of `type`.
class SymbolicArithmetic : public scalar::Arithmetic {
public:
  SymbolicArithmetic(Expressions &exprs, runtime::ElementType type)
      : exprs(exprs), type(type) {}

  /// An error of one of the computations so far; ok if there was none.
  const Status &getStatus() const { return status; }

  bool isReal() const override { return true; }
  Id constant(double number) override;
  Id negate(Id x) override;
  Id absolute(Id x) override;
  Id add(Id x, Id y) override;
  Id subtract(Id x, Id y) override;
  Id multiply(Id x, Id y) override;
  Id divide(Id x, Id y) override { return quotient(x, y, true); }
  Id remainder(Id x, Id y) override { return quotient(x, y, false); }
  Id minimum(Id x, Id y) override;
  Id maximum(Id x, Id y) override;
  Id apply(scalar::MathFunction function, const std::vector<Id> &x) override;
  Id less(Id x, Id y) override;
  Id select(Id condition, Id x, Id y) override;

private:
  Id quotient(Id x, Id y, bool isQuotient);
  static Expr of(Id x) { return static_cast<Expr>(x); }
  static Id of(Expr x) { return static_cast<Id>(x); }

  Expressions &exprs;
  runtime::ElementType type;
  Status status;
};

} // namespace ccn::verify

#endif // CCN_VERIFY_SYMBOLICARITHMETIC_H
