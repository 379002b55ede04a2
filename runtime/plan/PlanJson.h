//===- PlanJson.h - Plans as JSON -------------------------------*- C++ -*-===//
//
// The form of plans in packages. What many ranks have in common is stored once:
// launches, lists of buffers and whole rank plans are in tables, to which
// everything else refers by index; what differs in numbers that grow evenly is
// a series (Series.h).
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

/// Whether all fields of two plans that packages store are equal.
bool isSamePlan(const Plan &a, const Plan &b);

/// Reads a plan and checks the names and types of its fields; checkPlan checks
/// whether the numbers make sense. Every field must be there, and no other. An
/// error names the field, after `where`: "plan.launches[3].parts[0].kind:
/// expected ...". JSON whose references expand to a huge plan is refused.
Result<Plan> planFromJson(const nlohmann::json &json, const std::string &where);

/// The most values that series of a package may stand for.
inline constexpr int64_t mostInSeries = int64_t(1) << 25;

/// Puts the entries of a plan's series in their place, as planFromJson expects
/// it, and takes them from `valuesLeft`. An error names the list, as
/// planFromJson does; JSON of any other form stays as it is, for planFromJson
/// to refuse.
Status unpackPlan(nlohmann::json &plan, const std::string &where,
                  int64_t &valuesLeft);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PLANJSON_H
