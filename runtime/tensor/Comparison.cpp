//===- Comparison.cpp - Results that rounding may change ------------------===//
//
// Compares one element at a time.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Comparison.h"

#include <cmath>

using namespace ccn::runtime;

/// Half the distance from 1 to the next larger number of the type.
static double unitRoundoff(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 0x1p-53;
  case ElementType::F32:
    return 0x1p-24;
  case ElementType::F16:
    return 0x1p-11;
  case ElementType::BF16:
    return 0x1p-8;
  case ElementType::F8E4M3:
    return 0x1p-4;
  case ElementType::F8E5M2:
    return 0x1p-3;
  default:
    return 0;
  }
}

double ccn::runtime::looseLimit(const HostTensor &expected) {
  double largest = 0;
  for (int64_t i = 0; i < expected.count(); ++i)
    if (double x = std::fabs(expected.doubleAt(i)); std::isfinite(x))
      largest = std::fmax(largest, x);
  return 2 * std::sqrt(unitRoundoff(expected.type())) * largest;
}

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
  // Large integers may differ even if they are equal as doubles.
  else
    result.difference = std::fmax(result.difference, 1);
  // A difference that is NaN is above every limit.
  result.verdict = isReal && result.difference <= result.limit
                       ? ElementComparison::Within
                       : ElementComparison::Apart;
  return result;
}
