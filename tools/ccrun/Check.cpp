//===- Check.cpp - Results against those of the reference plan ------------===//
//
// Schedules may add in another order. What that may make of each element, the
// package's bounds say.
//
//===----------------------------------------------------------------------===//

#include "runtime/Comparison.h"
#include "tools/ccrun/Report.h"

#include <cmath>
#include <ostream>

using namespace ccn;
using namespace ccn::runtime;

bool ccn::printComparison(std::ostream &os, const std::string &name,
                          const HostTensor &found, const HostTensor &expected,
                          const HostTensor *bound) {
  os << "check " << name << ": ";
  if (!firstDifference(found, expected)) {
    os << "same bits\n";
    return true;
  }
  ElementComparison closest;
  double share = -1;
  int64_t at = 0, apart = 0, unknown = 0;
  for (int64_t i = 0; i < found.count(); ++i) {
    ElementComparison here = compareElement(found, expected, bound, i);
    apart += here.verdict == ElementComparison::Apart;
    unknown += here.verdict == ElementComparison::Unknown;
    if (here.verdict == ElementComparison::Same ||
        here.verdict == ElementComparison::Unknown)
      continue;
    // NaN is as far off as can be.
    double part = here.difference / here.limit;
    part = std::isnan(part) ? INFINITY : part;
    if (part > share) {
      share = part;
      closest = here;
      at = i;
    }
  }
  if (share >= 0)
    os << "off by " << closest.difference << " at "
       << describeIndex(found.shape(), at) << ", " << found.textAt(at)
       << " instead of " << expected.textAt(at) << ", "
       << (apart ? "expected at most " : "within ") << closest.limit;
  else if (!unknown)
    os << "equal but for the signs of zeros";
  if (apart > 1)
    os << ", and " << apart - 1 << (apart == 2 ? " other" : " others");
  if (unknown)
    os << (share >= 0 ? "; " : "") << unknown
       << (unknown == 1 ? " element differs" : " elements differ")
       << " where no bound is known";
  os << "\n";
  return apart == 0 && unknown == 0;
}
