//===- Scalar.h - Arithmetic on one element ---------------------*- C++ -*-===//
//
// What functions of one element (ScalarFunctions.h) are written in. Such a
// function is a template, which is computed
//
// - on float and double;
// - on Integer, an integer that wraps;
// - on Handle, a value of which only an Arithmetic knows what it is: a value of
//   the IR, for which computing means to make operations, or an expression.
//
// So the interpreter, the bodies of loops and proofs cannot differ. Where the
// order of two operations shows in what is made, a function computes them in
// statements of their own.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_SCALAR_H
#define CCN_DIALECT_CCN_SCALAR_H

#include "runtime/tensor/Blocks.h"

#include <cmath>
#include <concepts>
#include <limits>
#include <vector>

namespace ccn::scalar {

/// The functions that have no definition by others.
enum class MathFunction : uint8_t { Exp, Log, Sqrt, Tanh, Erfc, Pow };

/// Computes on values that are known by a number: an index or a pointer. All
/// values but truth values are of one type.
class Arithmetic {
public:
  using Id = uint64_t;
  virtual ~Arithmetic() = default;

  /// Whether numbers are real: nothing rounds or overflows.
  virtual bool isReal() const = 0;

  virtual Id constant(double number) = 0;
  virtual Id negate(Id x) = 0;
  virtual Id absolute(Id x) = 0;
  virtual Id add(Id x, Id y) = 0;
  virtual Id subtract(Id x, Id y) = 0;
  virtual Id multiply(Id x, Id y) = 0;
  /// Of integers, towards zero, and an error where y is 0.
  virtual Id divide(Id x, Id y) = 0;
  /// Has the sign of x.
  virtual Id remainder(Id x, Id y) = 0;
  /// NaN if either is NaN; -0 < +0; of truth values `and` and `or`.
  virtual Id minimum(Id x, Id y) = 0;
  virtual Id maximum(Id x, Id y) = 0;
  virtual Id apply(MathFunction function, const std::vector<Id> &x) = 0;

  /// A truth value.
  virtual Id less(Id x, Id y) = 0;
  virtual Id select(Id condition, Id x, Id y) = 0;
};

//===----------------------------------------------------------------------===//
// Values of an Arithmetic
//===----------------------------------------------------------------------===//

struct Handle {
  Arithmetic *arithmetic;
  Arithmetic::Id id;
};

inline Handle operator-(Handle x) {
  return {x.arithmetic, x.arithmetic->negate(x.id)};
}
inline Handle operator+(Handle x, Handle y) {
  return {x.arithmetic, x.arithmetic->add(x.id, y.id)};
}
inline Handle operator-(Handle x, Handle y) {
  return {x.arithmetic, x.arithmetic->subtract(x.id, y.id)};
}
inline Handle operator*(Handle x, Handle y) {
  return {x.arithmetic, x.arithmetic->multiply(x.id, y.id)};
}
inline Handle operator/(Handle x, Handle y) {
  return {x.arithmetic, x.arithmetic->divide(x.id, y.id)};
}
inline Handle operator<(Handle x, Handle y) {
  return {x.arithmetic, x.arithmetic->less(x.id, y.id)};
}
inline Handle absolute(Handle x) {
  return {x.arithmetic, x.arithmetic->absolute(x.id)};
}
inline Handle remainderOf(Handle x, Handle y) {
  return {x.arithmetic, x.arithmetic->remainder(x.id, y.id)};
}
inline Handle minimum(Handle x, Handle y) {
  return {x.arithmetic, x.arithmetic->minimum(x.id, y.id)};
}
inline Handle maximum(Handle x, Handle y) {
  return {x.arithmetic, x.arithmetic->maximum(x.id, y.id)};
}
inline Handle select(Handle condition, Handle x, Handle y) {
  return {x.arithmetic, x.arithmetic->select(condition.id, x.id, y.id)};
}
/// A constant of the type of `like`.
inline Handle constant(Handle like, double number) {
  return {like.arithmetic, like.arithmetic->constant(number)};
}
inline bool isReal(Handle x) { return x.arithmetic->isReal(); }
template <MathFunction function, typename... T>
Handle apply(Handle x, const T &...more) {
  return {x.arithmetic, x.arithmetic->apply(function, {x.id, more.id...})};
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

template <std::floating_point T> T absolute(T x) { return std::fabs(x); }
/// Exact in every format.
template <std::floating_point T> T remainderOf(T x, T y) {
  return std::fmod(x, y);
}
template <std::floating_point T> T minimum(T x, T y) {
  return runtime::minimum(x, y);
}
template <std::floating_point T> T maximum(T x, T y) {
  return runtime::maximum(x, y);
}
template <std::floating_point T> T select(bool condition, T x, T y) {
  return condition ? x : y;
}
template <std::floating_point T> T constant(T, double number) {
  return static_cast<T>(number);
}
template <std::floating_point T> bool isReal(T) { return false; }

template <MathFunction function, std::floating_point T> T apply(T x) {
  if constexpr (function == MathFunction::Exp)
    return std::exp(x);
  else if constexpr (function == MathFunction::Log)
    return std::log(x);
  else if constexpr (function == MathFunction::Sqrt)
    return std::sqrt(x);
  else if constexpr (function == MathFunction::Tanh)
    return std::tanh(x);
  else {
    static_assert(function == MathFunction::Erfc);
    return std::erfc(x);
  }
}
template <MathFunction function, std::floating_point T> T apply(T x, T y) {
  static_assert(function == MathFunction::Pow);
  return std::pow(x, y);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// int64_t or uint64_t; narrower ones are cut when they are stored.
template <typename T> struct Integer {
  T value;

  friend Integer operator-(Integer x) {
    return {runtime::subtractWrapping(T(0), x.value)};
  }
  friend Integer operator+(Integer x, Integer y) {
    return {runtime::addWrapping(x.value, y.value)};
  }
  friend Integer operator-(Integer x, Integer y) {
    return {runtime::subtractWrapping(x.value, y.value)};
  }
  friend Integer operator*(Integer x, Integer y) {
    return {runtime::multiplyWrapping(x.value, y.value)};
  }
  /// By 0, which its caller refuses, anything. The quotient of the lowest value
  /// and -1 does not fit; it wraps.
  friend Integer operator/(Integer x, Integer y) {
    if (y.value == 0)
      return {0};
    if (std::is_signed_v<T> && y.value == T(-1))
      return -x;
    return {x.value / y.value};
  }
  friend Integer remainderOf(Integer x, Integer y) {
    if (y.value == 0 || (std::is_signed_v<T> && y.value == T(-1)))
      return {0};
    return {x.value % y.value};
  }
  friend bool operator<(Integer x, Integer y) { return x.value < y.value; }
  friend Integer absolute(Integer x) { return x.value < 0 ? -x : x; }
  friend Integer minimum(Integer x, Integer y) { return y < x ? y : x; }
  friend Integer maximum(Integer x, Integer y) { return x < y ? y : x; }
  friend Integer select(bool condition, Integer x, Integer y) {
    return condition ? x : y;
  }
  friend Integer constant(Integer, double number) {
    return {static_cast<T>(number)};
  }
  friend bool isReal(Integer) { return false; }
};

} // namespace ccn::scalar

#endif // CCN_DIALECT_CCN_SCALAR_H
