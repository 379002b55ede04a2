//===- Passes.h - Passes over plans -----------------------------*- C++ -*-===//
//
// The generated declarations of the passes in Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_PASSES_H
#define CCN_LIB_PLAN_PASSES_H

#include "dialect/plan/Plan.h"

#include "mlir/Pass/Pass.h"

namespace ccn::plan {

#define GEN_PASS_DECL
#include "lib/Plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Plan/Passes.h.inc"

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_PASSES_H
