//===- Report.h - What ccrun says of packages and runs ----------*- C++ -*-===//
//
// --info, --bench and --check.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_REPORT_H
#define CCN_TOOLS_CCRUN_REPORT_H

#include "runtime/plan/Package.h"
#include "tools/ccrun/RunMemory.h"

#include <iosfwd>
#include <vector>

namespace ccn {

/// Prints what a package is, and which of its variants is run on `machine`.
void printInfo(std::ostream &os, const runtime::Package &package,
               const std::string &machine);

/// Prints the times of the timed runs, and the bytes that a run moves, by rank.
/// A run begins when the first rank begins it and ends when the last one ends.
/// On GPUs prints the times of the slowest rank.
void printBench(std::ostream &os, RunMemory &memory);

/// Writes the same to a JSON file, with each run's time. `ranksAre` says what
/// ranks are: "threads".
Status writeBench(const std::string &path, const runtime::Package &package,
                  RunMemory &memory, const std::string &ranksAre);

/// The median time of the timed runs, in seconds.
double medianSeconds(RunMemory &memory);

/// The median of at least one value.
double median(std::vector<double> values);

/// Compares an array with that of the reference plan, element by element by the
/// bounds of the reference's errors (see runtime/tensor/Comparison.h; null if
/// it is exact), and returns whether none differs by more, nor without a bound.
/// Prints that they are the same or, of the element that comes closest to its
/// bound or exceeds it most, by how much it differs and how much it may; and
/// how many differ where no bound is known, which may not be by more than
/// looseLimit (Comparison.h) says.
bool printComparison(std::ostream &os, const std::string &name,
                     const runtime::HostTensor &found,
                     const runtime::HostTensor &expected,
                     const runtime::HostTensor *bound);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_REPORT_H
