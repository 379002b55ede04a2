//===- BlasLt.h - CUDA's library of matrix products -------------*- C++ -*-===//
//
// The functions of libcublasLt.so that the runtime calls, found when it is
// opened. Only the implementation of the runtime for GPUs includes this: it
// needs CUDA's headers.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_BLASLT_H
#define CCN_RUNTIME_CUDA_BLASLT_H

#include "runtime/base/Status.h"

#include <cublasLt.h>

namespace ccn::runtime {

/// X(member, function)
#define CCN_BLASLT_FUNCTIONS(X)                                                \
  X(create, cublasLtCreate)                                                    \
  X(getStatusString, cublasLtGetStatusString)                                  \
  X(descCreate, cublasLtMatmulDescCreate)                                      \
  X(descDestroy, cublasLtMatmulDescDestroy)                                    \
  X(descSet, cublasLtMatmulDescSetAttribute)                                   \
  X(layoutCreate, cublasLtMatrixLayoutCreate)                                  \
  X(layoutDestroy, cublasLtMatrixLayoutDestroy)                                \
  X(layoutSet, cublasLtMatrixLayoutSetAttribute)                               \
  X(preferenceCreate, cublasLtMatmulPreferenceCreate)                          \
  X(preferenceDestroy, cublasLtMatmulPreferenceDestroy)                        \
  X(preferenceSet, cublasLtMatmulPreferenceSetAttribute)                       \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic)                                 \
  X(matmul, cublasLtMatmul)

struct BlasLt {
  /// Opens the library, once in a process. An error, the same each time, if
  /// there is none.
  static Result<const BlasLt *> get();

  /// The library's state on the current context's device, of number `device`,
  /// made once in a process.
  Result<cublasLtHandle_t> handle(int device) const;

#define CCN_MEMBER(member, function) decltype (&::function)(member) = nullptr;
  CCN_BLASLT_FUNCTIONS(CCN_MEMBER)
#undef CCN_MEMBER

  /// Success, or an error with the call's name and the library's text.
  Status check(cublasStatus_t result, const char *call) const;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_BLASLT_H
