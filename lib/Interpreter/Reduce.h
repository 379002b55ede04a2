//===- Reduce.h - Reductions of a tensor and across ranks -------*- C++ -*-===//
//
// Reduces dimensions of a host tensor, and combines the tensors that ranks
// contribute to a collective. Both have a fixed order, so results are the same
// bits in every run.
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

/// Reduces `x` over `dims` (distinct, in any order). The result has the type of
/// `x`, and its shape without `dims`.
///
/// Elements are reduced in row-major order. f64 and f32 accumulate in f64,
/// narrower floats in f32, with one rounding at the end; integers wrap. Max and
/// Min are IEEE 754-2019 maximum and minimum (NaN wins). Mean (floats only) is
/// the sum divided, before it is rounded, by `meanDivisor`: the number of
/// elements of the whole, unsliced reduction, which may be more than `x` has. A
/// divisor of 0 gives NaN, like 0/0.
///
/// A reduction of no elements gives 0 for sum and mean, 1 for prod, the type's
/// smallest value for max and its largest for min: an infinity if the type has
/// one, else (f8e4m3, integers) the extreme finite value. Each is neutral, so
/// an empty slice contributes nothing to a reduction across ranks.
///
/// For bool, only Max (or) and Min (and) are defined.
Result<HostTensor> reduce(ReduceKind kind, const HostTensor &x,
                          const std::vector<int64_t> &dims,
                          double meanDivisor = 0);

/// Combines tensors of one type and shape elementwise, in the order given (the
/// ranks' order): the first with the second, the result with the third, and so
/// on. f64 is combined in f64; f32 in f32, with a rounding at each step;
/// narrower floats in f32, with one rounding at the end. Integers wrap; bool is
/// as in `reduce`. Mean is the sum divided by the number of tensors, before the
/// rounding. There must be at least one tensor.
Result<HostTensor> combine(ReduceKind kind,
                           const std::vector<HostTensor> &tensors);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_REDUCE_H
