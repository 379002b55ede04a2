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

/// A[..., M, K] times B[..., K, N] gives [..., M, N]. The batch dimensions are
/// equal, or one of A and B has rank 2 and serves every batch. Both have one
/// type, which the result has too; bool is refused.
///
/// Each element is the sum over k in increasing order, starting from 0. f64 and
/// f32 multiply and accumulate in f64, narrower floats in f32, and the sum is
/// rounded once; integers wrap.
Result<HostTensor> matmul(const HostTensor &a, const HostTensor &b);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_MATMUL_H
