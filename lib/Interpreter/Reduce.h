//===- Reduce.h - Reductions of a tensor and across ranks -------*- C++ -*-===//
//
// Reductions over dimensions of a host tensor, and the combination of the
// tensors that ranks contribute to a collective. Both have one fixed order, so
// results repeat bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_REDUCE_H
#define CCN_INTERPRETER_REDUCE_H

#include "runtime/tensor/Combine.h"
#include "runtime/tensor/HostTensor.h"

namespace ccn::interp {

using runtime::HostTensor;
using runtime::name;
using runtime::ReduceKind;

/// Reduces `x` over `dims` (distinct, in any order), which vanish from the
/// result's shape; the type stays.
///
/// Elements are taken in row-major index order. f64 and f32 accumulate in f64,
/// narrower floats in f32, with one rounding at the end; integers wrap. Max and
/// Min are IEEE maximum and minimum (NaN wins). Mean (floats only) is the sum
/// divided, before it is rounded, by `meanDivisor`: the number of elements that
/// the whole, unsliced reduction has, which may be more than `x` has here. A
/// divisor of 0 gives NaN, as 0/0 does.
///
/// Of nothing: sum and mean 0, prod 1, max the type's smallest and min its
/// largest value: the infinities where the type has them, else (f8e4m3,
/// integers) the extreme finite values. Each is neutral, so an empty slice
/// contributes nothing to a reduction across ranks.
///
/// Bool takes Max (or) and Min (and).
Result<HostTensor> reduce(ReduceKind kind, const HostTensor &x,
                          const std::vector<int64_t> &dims,
                          double meanDivisor = 0);

/// Combines tensors of one type and shape elementwise, in the order given (the
/// ranks' order): the first with the second, the result with the third, and so
/// on. f64 in f64; f32 in f32, rounding at each step; narrower floats in f32
/// with one rounding at the end; integers wrap; bool as in `reduce`. Mean is
/// the sum divided by the number of tensors, before the rounding. There must be
/// at least one tensor.
Result<HostTensor> combine(ReduceKind kind,
                           const std::vector<HostTensor> &tensors);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_REDUCE_H
