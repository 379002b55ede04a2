//===- CheckPlan.h - Checks plans -------------------------------*- C++ -*-===//
//
// Plans come from files that may hold anything. A plan that checkPlan accepts
// accesses only its own memory and its arguments when it is executed.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_CHECKPLAN_H
#define CCN_RUNTIME_PLAN_CHECKPLAN_H

#include "runtime/plan/Plan.h"

namespace ccn::runtime {

/// An error that says where and why a plan is malformed: indices out of range,
/// views outside of their buffers, sizes that are negative or do not agree,
/// flags that two ranks set or that nobody sets, waits for later launches,
/// ranks whose launches differ.
Status checkPlan(const Plan &plan);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_CHECKPLAN_H
