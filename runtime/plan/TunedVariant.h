//===- TunedVariant.h - Which variant of a package is fastest ---*- C++ -*-===//
//
// Records in the cache folder which variant of a package was fastest on a
// machine, so that later runs there use it. The key is the package's hash and
// the machine's name.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_TUNEDVARIANT_H
#define CCN_RUNTIME_PLAN_TUNEDVARIANT_H

#include "runtime/plan/Package.h"

namespace ccn::runtime {

/// The name of this machine for tuning on CPUs: "64 x Intel(R) ...".
std::string cpuMachine();

/// Records that variant `number` of the package, as numbered in its file, is
/// the fastest on `machine`. `seconds` has the time of each variant, negative
/// if it failed. Returns the path of the record. An error if the record cannot
/// be written or there is no cache folder.
Result<std::string> keepTuned(const Package &package,
                              const std::string &machine, size_t number,
                              const std::vector<double> &seconds);

/// The variant that was recorded; 0 if there is no record or it is damaged.
size_t findTuned(const Package &package, const std::string &machine);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_TUNEDVARIANT_H
