//===- CheckPackage.h - Checks packages -------------------------*- C++ -*-===//
//
// Checks whether the content of a package makes sense, which decodePackage does
// not. All code that runs packages calls this first.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_CHECKPACKAGE_H
#define CCN_RUNTIME_PLAN_CHECKPACKAGE_H

#include "runtime/plan/Package.h"

namespace ccn::runtime {

/// An error if the target is unknown, if a plan or the GPU program is
/// malformed, or if the reference or the error bounds belong to another
/// program. Does not check whether this machine can execute the package:
/// checkMachine and checkGpus do.
Status checkPackage(const Package &package);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_CHECKPACKAGE_H
