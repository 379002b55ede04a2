//===- ElementwiseKernels.h - From functions to loops -----------*- C++ -*-===//
//
// Private to the definitions of the elementwise operations: compiles a template
// in ScalarFunctions.h for all types on which it is computed.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_ELEMENTWISEKERNELS_H
#define CCN_DIALECT_CCN_ELEMENTWISEKERNELS_H

#include "dialect/ccn/ElementwiseFunction.h"
#include "dialect/ccn/ScalarFunctions.h"

#include <utility>

namespace ccn {

/// Calls F, a lambda without captures, for the elements of blocks. `Scalar` is
/// what a T is computed as.
template <typename F, typename Scalar, typename T, size_t... operand>
void computeBlock(const T *const *operands, T *result, int64_t n,
                  std::index_sequence<operand...>) {
  for (int64_t i = 0; i < n; ++i) {
    Scalar made = F()(Scalar{operands[operand][i]}...);
    if constexpr (std::is_same_v<Scalar, T>)
      result[i] = made;
    else
      result[i] = made.value;
  }
}

template <unsigned numOperands, ElementKinds elements, bool isWide, typename F>
constexpr ElementwiseFunction makeElementwise(ElementwiseFacts facts, F) {
  using Operands = std::make_index_sequence<numOperands>;
  ElementwiseFunction function{facts,   nullptr, nullptr,
                               nullptr, nullptr, nullptr};
  function.ofDoubles = [](const double *const *x, double *y, int64_t n) {
    computeBlock<F, double>(x, y, n, Operands());
  };
  if constexpr (!isWide)
    function.ofFloats = [](const float *const *x, float *y, int64_t n) {
      computeBlock<F, float>(x, y, n, Operands());
    };
  if constexpr (elements != ElementKinds::Float) {
    function.ofSigned = [](const int64_t *const *x, int64_t *y, int64_t n) {
      computeBlock<F, scalar::Integer<int64_t>>(x, y, n, Operands());
    };
    function.ofUnsigned = [](const uint64_t *const *x, uint64_t *y, int64_t n) {
      computeBlock<F, scalar::Integer<uint64_t>>(x, y, n, Operands());
    };
  }
  function.ofHandles = [](const scalar::Handle *x) {
    return [&]<size_t... operand>(std::index_sequence<operand...>) {
      return F()(x[operand]...);
    }(Operands());
  };
  return function;
}

} // namespace ccn

#endif // CCN_DIALECT_CCN_ELEMENTWISEKERNELS_H
