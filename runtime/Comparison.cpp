//===- Comparison.cpp - Results that may differ by rounding ---------------===//
//
// One element at a time.
//
//===----------------------------------------------------------------------===//

#include "runtime/Comparison.h"

#include <cmath>

using namespace ccn::runtime;

ElementComparison ccn::runtime::compareElement(const HostTensor &found,
                                               const HostTensor &expected,
                                               const HostTensor *bound,
                                               int64_t index) {
  bool isReal = isFloat(found.type());
  double x = found.doubleAt(index), y = expected.doubleAt(index);
  ElementComparison result;
  if (isReal ? x == y || (std::isnan(x) && std::isnan(y))
             : found.integerAt(index) == expected.integerAt(index))
    return result;
  double error = bound ? bound->doubleAt(index) : 0;
  result.difference = std::fabs(x - y);
  if (!std::isfinite(error)) {
    result.verdict = ElementComparison::Unknown;
    return result;
  }
  if (isReal)
    result.limit = boundFactor * error;
  // Large integers may differ though their doubles do not.
  else
    result.difference = std::fmax(result.difference, 1);
  // NaN is within nothing.
  result.verdict = isReal && result.difference <= result.limit
                       ? ElementComparison::Within
                       : ElementComparison::Apart;
  return result;
}
