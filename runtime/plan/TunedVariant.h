//===- TunedVariant.h - Which variant of a package is fastest ---*- C++ -*-===//
//
// Keeps in the cache folder which variant of a package was fastest on a
// machine, by the package's hash and the machine's name, for every later run
// there.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_TUNEDVARIANT_H
#define CCN_RUNTIME_PLAN_TUNEDVARIANT_H

#include "runtime/plan/Package.h"

namespace ccn::runtime {

/// This machine's CPUs, for which packages are tuned: "64 x Intel(R) ...".
std::string cpuMachine();

/// Records that variant `number` of the package, as numbered in its file, is
/// the fastest on `machine`. `seconds` are the times of all variants, negative
/// where one failed. Returns the file's path. An error if nothing can be kept,
/// or there is no cache folder.
Result<std::string> keepTuned(const Package &package,
                              const std::string &machine, size_t number,
                              const std::vector<double> &seconds);

/// The number that was recorded; 0 if none was, or the record is damaged.
size_t findTuned(const Package &package, const std::string &machine);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_TUNEDVARIANT_H
