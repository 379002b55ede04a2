//===- ScalarFunctions.h - Elementwise operations on one element *- C++ -*-===//
//
// What each operation that ElementwiseOps.td defines as a function of its
// elements does to one of them. The operation finds its function by its name;
// T is one of the types in Scalar.h, of integers only if the operation takes
// them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_SCALARFUNCTIONS_H
#define CCN_DIALECT_CCN_SCALARFUNCTIONS_H

#include "dialect/ccn/Scalar.h"

namespace ccn::scalar::functions {

template <typename T> T neg(T x) { return -x; }
template <typename T> T abs(T x) { return absolute(x); }

/// NaN stays NaN, -0 becomes +0.
template <typename T> T relu(T x) { return maximum(x, constant(x, 0)); }

template <typename T> T exp(T x) { return apply<MathFunction::Exp>(x); }
template <typename T> T log(T x) { return apply<MathFunction::Log>(x); }
template <typename T> T sqrt(T x) { return apply<MathFunction::Sqrt>(x); }
template <typename T> T tanh(T x) { return apply<MathFunction::Tanh>(x); }

template <typename T> T rsqrt(T x) {
  T one = constant(x, 1);
  return one / apply<MathFunction::Sqrt>(x);
}

/// 1 / (1 + exp(-x)) in the one of two forms whose exponential does not
/// overflow.
template <typename T> T sigmoid(T x) {
  T one = constant(x, 1);
  if (isReal(x))
    return one / (one + apply<MathFunction::Exp>(-x));
  auto isNegative = x < constant(x, 0);
  T power = apply<MathFunction::Exp>(select(isNegative, x, -x));
  T dividend = select(isNegative, power, one);
  return dividend / (one + power);
}

template <typename T> T silu(T x) { return x * sigmoid(x); }

/// x / 2 * (1 + erf(x / sqrt(2))) by erfc, which keeps its digits for negative
/// x.
template <typename T> T gelu(T x) {
  T negative = -x;
  T scaled = negative * constant(x, 0.70710678118654752440);
  T half = constant(x, 0.5) * x;
  return half * apply<MathFunction::Erfc>(scaled);
}

template <typename T> T add(T x, T y) { return x + y; }
template <typename T> T sub(T x, T y) { return x - y; }
template <typename T> T mul(T x, T y) { return x * y; }
template <typename T> T div(T x, T y) { return x / y; }
template <typename T> T rem(T x, T y) { return remainderOf(x, y); }
template <typename T> T min(T x, T y) { return minimum(x, y); }
template <typename T> T max(T x, T y) { return maximum(x, y); }
template <typename T> T pow(T x, T y) { return apply<MathFunction::Pow>(x, y); }

} // namespace ccn::scalar::functions

#endif // CCN_DIALECT_CCN_SCALARFUNCTIONS_H
