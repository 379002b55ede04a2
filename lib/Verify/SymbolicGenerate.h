//===- SymbolicGenerate.h - Tensors of expressions --------------*- C++ -*-===//
//
// The loop that all symbolic kernels use. Private to them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_SYMBOLICGENERATE_H
#define CCN_VERIFY_SYMBOLICGENERATE_H

#include "lib/Verify/SymbolicKernels.h"

namespace ccn::verify {

template <typename F>
SymbolicKernels::Tensor SymbolicKernels::generate(runtime::Shape shape,
                                                  F element) {
  Tensor result = HostTensor::uninitialized(ElementType::I64, std::move(shape));
  if (!result)
    return result;
  Expr *out = result->mutableDataAs<Expr>();
  for (int64_t i = 0; i < result->count(); ++i) {
    Result<Expr> expr = element(i);
    if (!expr)
      return expr.status();
    if (Status status = checkBudget(); !status)
      return status;
    out[i] = *expr;
  }
  return result;
}

} // namespace ccn::verify

#endif // CCN_VERIFY_SYMBOLICGENERATE_H
