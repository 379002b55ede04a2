//===- Elementwise.h - Elementwise kernels ----------------------*- C++ -*-===//
//
// Elementwise operations on host tensors. Operands have the same type and the
// same shape, or one is a scalar (rank 0), which is broadcast; the result is a
// new tensor. Anything else is an error.
//
// Arithmetic: f64 in f64; f32 and narrower floats in f32 with one rounding to
// the type at the end; exp, log, tanh, sigmoid, gelu, silu and pow of f32 and
// narrower floats in f64 with one rounding, so that results are correctly
// rounded in practice and do not depend on a vector library. Integers wrap.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_ELEMENTWISE_H
#define CCN_INTERPRETER_ELEMENTWISE_H

#include "runtime/tensor/HostTensor.h"

namespace ccn::interp {

using runtime::ElementType;
using runtime::HostTensor;

/// Neg, Abs (wrapping) and Relu work on floats and integers, the others on
/// floats.
///   Rsqrt    1 / sqrt(x)
///   Sigmoid  1 / (1 + exp(-x))
///   Relu     maximum(x, 0): NaN stays NaN, -0 becomes +0
///   Gelu     x/2 * (1 + erf(x / sqrt(2))), computed as x/2 * erfc(-x /
///   sqrt(2)),
///            which keeps its digits for negative x
///   Silu     x * sigmoid(x)
enum class UnaryOp : uint8_t {
  Neg,
  Abs,
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Tanh,
  Sigmoid,
  Relu,
  Gelu,
  Silu
};

/// Floats: Rem is C's fmod; Min and Max are IEEE 754-2019 minimum and maximum
/// (NaN if either is NaN, -0 < +0); Pow is C's pow. Integers: Add, Sub, Mul and
/// Pow wrap, Div and Rem truncate toward zero, a lowest value divided by -1
/// wraps; a zero divisor and a negative exponent are errors naming the element.
/// Bool: Min is and, Max is or; the others are refused.
enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, Rem, Min, Max, Pow };

/// Any type; as C compares (NaN is unequal to everything; false < true).
enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

Result<HostTensor> unary(UnaryOp op, const HostTensor &x);
Result<HostTensor> binary(BinaryOp op, const HostTensor &a,
                          const HostTensor &b);
/// The result's type is Bool.
Result<HostTensor> compare(CompareOp op, const HostTensor &a,
                           const HostTensor &b);
/// Elements of `a` where `condition` (Bool) holds, else of `b`. Each of the
/// three may be a scalar.
Result<HostTensor> select(const HostTensor &condition, const HostTensor &a,
                          const HostTensor &b);

/// Converts between any two types. Float to float and integer to float round
/// once, to nearest even; float to integer truncates toward zero and saturates,
/// NaN gives 0; integer to integer wraps; anything to bool is `!= 0` (so NaN is
/// true); bool to anything is 0 or 1.
Result<HostTensor> cast(const HostTensor &x, ElementType type);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_ELEMENTWISE_H
