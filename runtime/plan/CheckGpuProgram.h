//===- CheckGpuProgram.h - Whether kernels fit their plan -------*- C++ -*-===//
//
// Checks programs for GPUs, which come from files, as checkPlan checks plans.
// The kernels themselves are trusted, as object code is. Everything else that
// an executor does with a program that passes stays within the memory that it
// has taken.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_CHECKGPUPROGRAM_H
#define CCN_RUNTIME_PLAN_CHECKGPUPROGRAM_H

#include "runtime/base/Status.h"
#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/Plan.h"

namespace ccn::runtime {

/// An error that says where and why the program cannot execute `plan`, which
/// checkPlan accepts: more ranks than a kernel can address, names that are no
/// identifiers, sizes out of range, launches that differ in number from the
/// plan's or in numbers from their kernel's, fills outside of symmetric memory,
/// messages outside of what they are of.
Status checkGpuProgram(const Plan &plan, const GpuProgram &program);

/// How many addresses of arguments kernels get (GpuAbi.h).
size_t addressCount(const Plan &plan, const GpuProgram &program);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_CHECKGPUPROGRAM_H
