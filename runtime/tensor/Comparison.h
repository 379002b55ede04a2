//===- Comparison.h - Results that rounding may change ----------*- C++ -*-===//
//
// Compares the results of two programs that may add in different orders,
// element by element. Bounds of the rounding errors say which differences are
// allowed.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_COMPARISON_H
#define CCN_RUNTIME_TENSOR_COMPARISON_H

#include "runtime/tensor/HostTensor.h"

namespace ccn::runtime {

/// Two results may differ by this factor times the error bound. Each result may
/// be off by the bound, and the other two are a reserve, since the bounds
/// themselves are computed with rounding.
inline constexpr double boundFactor = 4;

struct ElementComparison {
  enum Verdict {
    /// The elements are equal; NaN equals NaN.
    Same,
    /// Floats that differ by at most the limit.
    Within,
    /// The elements differ, and no bound is known.
    Unknown,
    Apart
  } verdict = Same;
  /// |found - expected|, and the largest value allowed, which is 0 for
  /// integers.
  double difference = 0, limit = 0;
};

/// The largest allowed difference of floats where no bound is known, which
/// happens when errors may have grown without limit, as in deep networks of
/// 16-bit floats: twice the square root of the type's unit roundoff, times the
/// largest finite magnitude of all expected elements. 0 for types that are not
/// floats.
double looseLimit(const HostTensor &expected);

/// Compares element `index` of two arrays of the same type and shape. `bound`
/// has the error bound of each element, in f64, infinite or NaN if none is
/// known. It is null if the result must be exact.
ElementComparison compareElement(const HostTensor &found,
                                 const HostTensor &expected,
                                 const HostTensor *bound, int64_t index);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_COMPARISON_H
