//===- TunedVariant.h - Which variant of a package is fastest ---*- C++ -*-===//
//
// What was measured on a machine is kept in the cache folder, by the package's
// hash and by what the machine is, for every later run of the package there.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_TUNEDVARIANT_H
#define CCN_RUNTIME_PLAN_TUNEDVARIANT_H

#include "runtime/plan/Package.h"

namespace ccn::runtime {

/// This machine's CPUs, for which packages are tuned: "64 x Intel(R) ...".
std::string cpuMachine();

/// Keeps that variant `number` of the package, as it was read, is the fastest
/// on `machine`; `seconds` are the times of all, negative where one failed.
/// Returns the file's path. An error if nothing can be kept, or there is no
/// cache folder.
Result<std::string> keepTuned(const Package &package,
                              const std::string &machine, size_t number,
                              const std::vector<double> &seconds);

/// The number that was kept, or 0: also if what is there is damaged.
size_t findTuned(const Package &package, const std::string &machine);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_TUNEDVARIANT_H
