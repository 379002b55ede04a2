//===- Elementwise.h - Elementwise kernels ----------------------*- C++ -*-===//
//
// Elementwise operations on host tensors. Operands must have the same type and
// the same shape, or one must be a scalar (rank 0), which is broadcast;
// anything else is an error. The result is a new tensor.
//
// Floats are computed in the type that the function specifies, and rounded once
// to their own type. So results are correctly rounded in practice, and do not
// depend on a vector library. Integers wrap.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_ELEMENTWISE_H
#define CCN_INTERPRETER_ELEMENTWISE_H

#include "dialect/ccn/ElementwiseFunction.h"
#include "runtime/tensor/HostTensor.h"

#include <span>

namespace ccn::interp {

using runtime::ElementType;
using runtime::HostTensor;

/// Comparisons of values of any type, as in C (NaN is unequal to everything;
/// false < true).
enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

/// Applies a function to each element. For floats, the remainder is C's fmod,
/// and min and max are IEEE 754-2019 minimum and maximum (NaN if either is NaN,
/// -0 < +0). For integers, quotient and remainder truncate toward zero, and the
/// lowest value divided by -1 wraps; a zero divisor is an error that names the
/// element. Fails for types that the function does not support.
Result<HostTensor> elementwise(const ElementwiseFunction &function,
                               std::span<const HostTensor> operands);

/// The result's type is Bool.
Result<HostTensor> compare(CompareOp op, const HostTensor &a,
                           const HostTensor &b);
/// Elements of `a` where `condition` (Bool) is true, else of `b`. Each of the
/// three may be a scalar.
Result<HostTensor> select(const HostTensor &condition, const HostTensor &a,
                          const HostTensor &b);

/// Converts between any two types. Float to float and integer to float round
/// once, to nearest even. Float to integer truncates toward zero and saturates;
/// NaN becomes 0. Integer to integer wraps. Any type to bool is `!= 0` (so NaN
/// is true); bool to any type is 0 or 1.
Result<HostTensor> cast(const HostTensor &x, ElementType type);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_ELEMENTWISE_H
