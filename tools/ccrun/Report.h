//===- Report.h - What ccrun says of packages and runs ----------*- C++ -*-===//
//
// --info, --bench and --check.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_REPORT_H
#define CCN_TOOLS_CCRUN_REPORT_H

#include "runtime/Package.h"
#include "tools/ccrun/RunMemory.h"

#include <iosfwd>
#include <vector>

namespace ccn {

/// Prints what a package is.
void printInfo(std::ostream &os, const runtime::Package &package);

/// Prints the times of the timed runs, and the bytes that a run moves, by rank.
/// A run begins when the first rank begins it and ends when the last one ends.
/// On GPUs prints the times of the slowest rank.
void printBench(std::ostream &os, RunMemory &memory);

/// Writes the same to a JSON file, with each run's time. `ranksAre` says what
/// ranks are: "threads".
Status writeBench(const std::string &path, const runtime::Package &package,
                  RunMemory &memory, const std::string &ranksAre);

/// Of at least one value.
double median(std::vector<double> values);

/// How far two arrays of a type may be apart: this times the largest magnitude
/// of the expected array. Schedules may sum in another order, and round in
/// between. 0 for all but floats.
double tolerance(runtime::ElementType type);

/// Compares an array with that of the reference plan, prints the largest
/// difference, and returns whether it is within the tolerance. NaNs are equal,
/// infinities equal only to themselves.
bool printComparison(std::ostream &os, const std::string &name,
                     const runtime::HostTensor &found,
                     const runtime::HostTensor &expected);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_REPORT_H
