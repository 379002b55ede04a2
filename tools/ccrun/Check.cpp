//===- Check.cpp - Results against those of the reference plan ------------===//
//
// Schedules may add in another order. The package's bounds say by how much each
// element may differ then. Elements without a bound may differ by a fraction of
// the largest element.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Comparison.h"
#include "tools/ccrun/Report.h"

#include <cmath>
#include <ostream>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// Facts about all elements of an array.
struct Comparison {
  /// The one that is closest to its limit, or furthest beyond it.
  ElementComparison closest;
  /// Its difference by its limit; -1 if there is none.
  double share = -1;
  int64_t at = 0, apart = 0;
  /// Those for which no bound is known, and how far they are apart at most.
  int64_t unknown = 0;
  double furthest = 0;
};

Comparison compare(const HostTensor &found, const HostTensor &expected,
                   const HostTensor *bound) {
  Comparison all;
  for (int64_t i = 0; i < found.count(); ++i) {
    ElementComparison here = compareElement(found, expected, bound, i);
    if (here.verdict == ElementComparison::Unknown) {
      ++all.unknown;
      // NaN is as far off as can be.
      all.furthest = std::isnan(here.difference)
                         ? INFINITY
                         : std::fmax(all.furthest, here.difference);
    }
    all.apart += here.verdict == ElementComparison::Apart;
    if (here.verdict == ElementComparison::Same ||
        here.verdict == ElementComparison::Unknown)
      continue;
    double part = here.difference / here.limit;
    part = std::isnan(part) ? INFINITY : part;
    if (part > all.share) {
      all.share = part;
      all.closest = here;
      all.at = i;
    }
  }
  return all;
}

} // namespace

bool ccn::printComparison(std::ostream &os, const std::string &name,
                          const HostTensor &found, const HostTensor &expected,
                          const HostTensor *bound) {
  os << "check " << name << ": ";
  if (!firstDifference(found, expected)) {
    os << "same bits\n";
    return true;
  }
  Comparison all = compare(found, expected, bound);
  if (all.share >= 0)
    os << "off by " << all.closest.difference << " at "
       << describeIndex(found.shape(), all.at) << ", " << found.textAt(all.at)
       << " instead of " << expected.textAt(all.at) << ", "
       << (all.apart ? "expected at most " : "within ") << all.closest.limit;
  else if (!all.unknown)
    os << "equal but for the signs of zeros";
  if (all.apart > 1)
    os << ", and " << all.apart - 1 << (all.apart == 2 ? " other" : " others");
  double limit = looseLimit(expected);
  bool isFar = all.unknown && !(all.furthest <= limit);
  if (all.unknown)
    os << (all.share >= 0 ? "; " : "") << all.unknown
       << (all.unknown == 1 ? " element differs" : " elements differ")
       << " where no bound is known, by " << all.furthest << " at most, "
       << (isFar ? "expected at most " : "within ") << limit;
  os << "\n";
  return all.apart == 0 && !isFar;
}
