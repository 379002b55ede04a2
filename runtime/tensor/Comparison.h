//===- Comparison.h - Results that may differ by rounding -------*- C++ -*-===//
//
// Judges, element by element, two results of programs that may add in different
// orders, by bounds of the errors that rounding makes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_COMPARISON_H
#define CCN_RUNTIME_TENSOR_COMPARISON_H

#include "runtime/tensor/HostTensor.h"

namespace ccn::runtime {

/// How many times the bound of one program's error two results may differ: each
/// may be off by as much, and as much again is for the bounds themselves, which
/// are computed with rounding.
inline constexpr double boundFactor = 4;

struct ElementComparison {
  enum Verdict {
    /// Equal; NaN equals NaN.
    Same,
    /// A float that differs by no more than it may.
    Within,
    /// They differ, and nothing is known of how far they may.
    Unknown,
    Apart
  } verdict = Same;
  /// |found - expected|, and how large it may be; of integers 0.
  double difference = 0, limit = 0;
};

/// How far results of floats may be apart where no bound is known, which is so
/// where errors may have grown beyond all limits, as in deep networks of 16-bit
/// floats: twice the square root of the type's unit roundoff, times the largest
/// finite magnitude that is expected of any element. 0 of other types.
double looseLimit(const HostTensor &expected);

/// Element `index` of two arrays of one type and shape. `bound` holds bounds of
/// the error of each element, in f64, infinite or NaN where nothing is known;
/// it is null if the result is exact.
ElementComparison compareElement(const HostTensor &found,
                                 const HostTensor &expected,
                                 const HostTensor *bound, int64_t index);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_COMPARISON_H
