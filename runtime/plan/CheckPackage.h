//===- CheckPackage.h - Whether a package can be run ------------*- C++ -*-===//
//
// What decodePackage leaves open: whether what a package holds makes sense.
// Everything that runs packages asks this first.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_CHECKPACKAGE_H
#define CCN_RUNTIME_PLAN_CHECKPACKAGE_H

#include "runtime/plan/Package.h"

namespace ccn::runtime {

/// Whether the target is known, the plans and the program for GPUs make sense,
/// and those to compare with are of the same program. Whether this machine can
/// execute it is for checkMachine and checkGpus to say.
Status checkPackage(const Package &package);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_CHECKPACKAGE_H
