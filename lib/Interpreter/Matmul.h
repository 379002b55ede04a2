//===- Matmul.h - Matrix products -------------------------------*- C++ -*-===//
//
// The (batched) matrix product of host tensors.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_MATMUL_H
#define CCN_INTERPRETER_MATMUL_H

#include "runtime/tensor/HostTensor.h"

namespace ccn::interp {

using runtime::HostTensor;

/// Multiplies A[..., M, K] by B[..., K, N]; the result has the shape [..., M,
/// N]. The batch dimensions must be equal, or one of A and B has rank 2 and is
/// used for every batch. All have the same type; bool is an error.
///
/// Each element is the sum over k in increasing order, starting from 0. f64 and
/// f32 are multiplied and accumulated in f64, narrower floats in f32, and the
/// sum is rounded once. Integers wrap.
Result<HostTensor> matmul(const HostTensor &a, const HostTensor &b);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_MATMUL_H
