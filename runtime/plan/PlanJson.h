//===- PlanJson.h - Plans as JSON -------------------------------*- C++ -*-===//
//
// Plans as packages hold them. What many ranks have in common is stored once:
// launches, buffer lists and whole rank plans are in tables that the rest
// refers to by index.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_PLANJSON_H
#define CCN_RUNTIME_PLAN_PLANJSON_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <nlohmann/json_fwd.hpp>

namespace ccn::runtime {

/// Equal plans give equal JSON.
nlohmann::json planToJson(const Plan &plan);

/// Whether two plans are equal in everything.
bool isSamePlan(const Plan &a, const Plan &b);

/// The plan, as far as types and names go: that its numbers make sense is for
/// checkPlan to say. Every field must be there and no other. An error names the
/// field, under `where`: "plan.launches[3].parts[0].kind: expected ...". JSON
/// that stands for far more than it is, by repetition, is refused.
Result<Plan> planFromJson(const nlohmann::json &json, const std::string &where);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PLANJSON_H
