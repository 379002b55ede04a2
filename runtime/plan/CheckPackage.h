//===- CheckPackage.h - Whether a package can be run ------------*- C++ -*-===//
//
// Checks that the content of a package makes sense, which decodePackage does
// not. Everything that runs packages asks this first.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_CHECKPACKAGE_H
#define CCN_RUNTIME_PLAN_CHECKPACKAGE_H

#include "runtime/plan/Package.h"

namespace ccn::runtime {

/// An error if the target is unknown, if the plans or the program for GPUs make
/// no sense, or if the plans to compare with are of another program. Whether
/// this machine can execute the package is for checkMachine and checkGpus to
/// say.
Status checkPackage(const Package &package);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_CHECKPACKAGE_H
