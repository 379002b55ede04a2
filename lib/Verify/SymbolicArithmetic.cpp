//===- SymbolicArithmetic.cpp - Scalar functions on expressions -----------===//
//
// Maps each operation to the operation of Expressions that it is over the
// reals.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/SymbolicArithmetic.h"

namespace ccn::verify {

using runtime::ElementType;
using runtime::isFloat;
using runtime::isUnsignedInteger;

namespace {

bool hasInfinity(ElementType type) {
  return isFloat(type) && type != ElementType::F8E4M3;
}

} // namespace

Range rangeOf(ElementType type) {
  int bits = 8 * sizeInBytes(type);
  auto powerOfTwo = [](int exponent) {
    return Rational(llvm::DynamicAPInt(llvm::APInt(80, 1).shl(exponent)));
  };
  if (isUnsignedInteger(type))
    return {Rational(0), powerOfTwo(bits) - Rational(1)};
  return {-powerOfTwo(bits - 1), powerOfTwo(bits - 1) - Rational(1)};
}

Rational truncate(const Rational &value) {
  return Rational(value.num / value.den);
}

Expr extremumOf(Expressions &exprs, bool isMax, ElementType type,
                std::vector<Expr> args) {
  if (!hasInfinity(type) && type != ElementType::Bool) {
    // The type's smallest value (for minima, its largest) is neutral, as -inf
    // is for wider floats. So an empty slice does not change a maximum.
    Rational least = isFloat(type) ? Rational(isMax ? -448 : 448)
                     : isMax       ? rangeOf(type).low
                                   : rangeOf(type).high;
    Expr neutral = exprs.number(least);
    std::erase(args, neutral);
    if (args.empty())
      return neutral;
  }
  if (args.empty())
    return type == ElementType::Bool ? exprs.truth(!isMax)
                                     : exprs.infinity(isMax);
  return isMax ? exprs.maximum(std::move(args))
               : exprs.minimum(std::move(args));
}

using Id = scalar::Arithmetic::Id;

Id SymbolicArithmetic::constant(double number) {
  return of(exprs.number(rationalOf(number)));
}

Id SymbolicArithmetic::negate(Id x) {
  return of(exprs.scale(Rational(-1), of(x)));
}

Id SymbolicArithmetic::absolute(Id x) {
  return isUnsignedInteger(type) ? x
                                 : of(exprs.maximum({of(x), of(negate(x))}));
}

Id SymbolicArithmetic::add(Id x, Id y) { return of(exprs.add(of(x), of(y))); }

Id SymbolicArithmetic::subtract(Id x, Id y) {
  return of(exprs.subtract(of(x), of(y)));
}

Id SymbolicArithmetic::multiply(Id x, Id y) {
  return of(exprs.product({of(x), of(y)}));
}

Id SymbolicArithmetic::quotient(Id a, Id b, bool isQuotient) {
  if (exprs.isNumber(of(b)) && exprs.numberOf(of(b)).num == 0) {
    status = error("a quotient or remainder by 0 has no value");
    return a;
  }
  if (isFloat(type))
    return of(isQuotient
                  ? exprs.product({of(a), exprs.inverse(of(b))})
                  : exprs.apply(Function::FloatRemainder, {of(a), of(b)}));
  if (exprs.isNumber(of(a)) && exprs.isNumber(of(b))) {
    Rational x = exprs.numberOf(of(a)), y = exprs.numberOf(of(b));
    Rational whole = truncate(x / y);
    return of(exprs.number(isQuotient ? whole : x - whole * y));
  }
  return of(exprs.apply(isQuotient ? Function::IntegerQuotient
                                   : Function::IntegerRemainder,
                        {of(a), of(b)}));
}

Id SymbolicArithmetic::minimum(Id x, Id y) {
  return of(extremumOf(exprs, false, type, {of(x), of(y)}));
}

Id SymbolicArithmetic::maximum(Id x, Id y) {
  return of(extremumOf(exprs, true, type, {of(x), of(y)}));
}

static Function functionOf(scalar::MathFunction function) {
  switch (function) {
  case scalar::MathFunction::Exp:
    return Function::Exp;
  case scalar::MathFunction::Log:
    return Function::Log;
  case scalar::MathFunction::Sqrt:
    return Function::Sqrt;
  case scalar::MathFunction::Tanh:
    return Function::Tanh;
  case scalar::MathFunction::Erfc:
    return Function::Erfc;
  case scalar::MathFunction::Pow:
    return Function::Pow;
  }
  return Function::Exp;
}

Id SymbolicArithmetic::apply(scalar::MathFunction function,
                             const std::vector<Id> &x) {
  return of(
      exprs.apply(functionOf(function), std::vector<Expr>(x.begin(), x.end())));
}

Id SymbolicArithmetic::less(Id x, Id y) { return of(exprs.less(of(x), of(y))); }

Id SymbolicArithmetic::select(Id condition, Id x, Id y) {
  return of(exprs.choose(of(condition), of(x), of(y)));
}

} // namespace ccn::verify
