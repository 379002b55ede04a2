//===- CheckPackage.cpp - Checks packages ---------------------------------===//
//
// Checks each plan by itself, then what the plans must have in common.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/CheckPackage.h"

#include "runtime/plan/CheckGpuProgram.h"
#include "runtime/plan/CheckPlan.h"

namespace ccn::runtime {

/// Checks that the reference plan has the arguments and results of the plan.
static Status checkReference(const Plan &plan, const Plan &reference) {
  if (Status status = checkPlan(reference); !status)
    return error("reference plan: ", status.message());
  bool isAlike = plan.ranks.size() == reference.ranks.size() &&
                 plan.arguments.size() == reference.arguments.size();
  for (size_t i = 0; isAlike && i < plan.arguments.size(); ++i) {
    const Argument &a = plan.arguments[i], &b = reference.arguments[i];
    isAlike = a.name == b.name && a.kind == b.kind && a.type == b.type &&
              a.shape == b.shape;
  }
  return isAlike ? Status()
                 : error("the reference plan has other arguments or ranks");
}

/// Checks that the plan of the error bounds has the program's arguments, and
/// the results that `bounded` lists.
static Status checkBounds(const Package &package) {
  const Plan &plan = package.plan, &bounds = *package.bounds;
  if (Status status = checkPlan(bounds); !status)
    return error("error bounds: ", status.message());
  auto wide = [](ElementType type) {
    return isFloat(type) ? ElementType::F64 : type;
  };
  bool fits = package.reference && plan.ranks.size() == bounds.ranks.size();
  size_t inputs = 0;
  for (; fits && inputs < plan.arguments.size() &&
         plan.arguments[inputs].kind != ArgumentKind::Result;
       ++inputs) {
    const Argument &a = plan.arguments[inputs];
    fits = inputs < bounds.arguments.size();
    if (!fits)
      break;
    const Argument &b = bounds.arguments[inputs];
    fits = a.name == b.name && b.kind == ArgumentKind::Input &&
           b.type == wide(a.type) && a.shape == b.shape;
  }
  fits = fits && bounds.arguments.size() == inputs + package.bounded.size();
  for (size_t i = 0; fits && i < package.bounded.size(); ++i) {
    auto number = static_cast<size_t>(package.bounded[i]);
    const Argument &b = bounds.arguments[inputs + i];
    fits = package.bounded[i] >= 0 && number < plan.arguments.size() &&
           plan.arguments[number].kind != ArgumentKind::Input &&
           b.kind == ArgumentKind::Result && b.type == ElementType::F64 &&
           b.shape == plan.arguments[number].shape;
  }
  return fits ? Status() : error("the error bounds are of another program");
}

Status checkPackage(const Package &package) {
  if (Status status = checkTarget(package); !status)
    return status;
  if (Status status = checkPlan(package.plan); !status)
    return error("plan: ", status.message());
  if (package.gpu)
    if (Status status = checkGpuProgram(package.plan, *package.gpu); !status)
      return error("program for GPUs: ", status.message());
  if (package.reference)
    if (Status status = checkReference(package.plan, *package.reference);
        !status)
      return status;
  return package.bounds ? checkBounds(package) : Status();
}

} // namespace ccn::runtime
