//===- Elementwise.h - Elementwise kernels ----------------------*- C++ -*-===//
//
// Elementwise operations on host tensors. Operands have the same type and the
// same shape, or one is a scalar (rank 0), which is broadcast; the result is a
// new tensor. Anything else is an error.
//
// Floats are computed in the type that the function says, and rounded once to
// their own, so that results are correctly rounded in practice and do not
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

/// Any type; as C compares (NaN is unequal to everything; false < true).
enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

/// The function of each element. Floats: a remainder is C's fmod; min and max
/// are IEEE 754-2019 minimum and maximum (NaN if either is NaN, -0 < +0).
/// Integers: quotient and remainder truncate toward zero, a lowest value
/// divided by -1 wraps; a zero divisor is an error naming the element. Types
/// that the function does not take are refused.
Result<HostTensor> elementwise(const ElementwiseFunction &function,
                               std::span<const HostTensor> operands);

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
