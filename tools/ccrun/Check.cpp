//===- Check.cpp - Results against those of the reference plan ------------===//
//
// The bound is coarse: it finds what is wrong, not what is unlucky. `cccompile
// --verify` judges schedules more exactly.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Report.h"

#include <cmath>
#include <ostream>

using namespace ccn;
using namespace ccn::runtime;

double ccn::tolerance(ElementType type) {
  // 64 roundings of the types that accumulate in themselves, 4 of the others:
  // one for each collective on the way.
  switch (type) {
  case ElementType::F64:
    return 64 * 0x1p-52;
  case ElementType::F32:
    return 64 * 0x1p-23;
  case ElementType::F16:
    return 4 * 0x1p-10;
  case ElementType::BF16:
    return 4 * 0x1p-7;
  case ElementType::F8E4M3:
    return 4 * 0x1p-3;
  case ElementType::F8E5M2:
    return 4 * 0x1p-2;
  default:
    return 0;
  }
}

bool ccn::printComparison(std::ostream &os, const std::string &name,
                          const HostTensor &found, const HostTensor &expected) {
  os << "check " << name << ": ";
  if (!firstDifference(found, expected)) {
    os << "same bits\n";
    return true;
  }
  double scale = 0, largest = -1;
  int64_t at = 0;
  bool isFloatType = isFloat(found.type());
  for (int64_t i = 0; i < found.count(); ++i) {
    double a = found.doubleAt(i), b = expected.doubleAt(i);
    if (std::isfinite(b))
      scale = std::max(scale, std::fabs(b));
    double difference = 0;
    if (!isFloatType)
      difference = found.integerAt(i) != expected.integerAt(i)
                       ? std::max(std::fabs(a - b), 1.0)
                       : 0;
    else if (std::isnan(a) != std::isnan(b) ||
             (a != b && (std::isinf(a) || std::isinf(b))))
      difference = INFINITY;
    else if (!std::isnan(a) && a != b)
      difference = std::fabs(a - b);
    if (difference > largest) {
      largest = difference;
      at = i;
    }
  }
  double bound = tolerance(found.type()) * scale;
  bool isWithin = largest <= bound;
  os << "largest difference " << largest << " at "
     << describeIndex(found.shape(), at) << ", " << found.textAt(at)
     << " instead of " << expected.textAt(at) << ", "
     << (isWithin ? "within " : "expected at most ") << bound << "\n";
  return isWithin;
}
