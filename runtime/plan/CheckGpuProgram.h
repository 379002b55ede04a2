//===- CheckGpuProgram.h - Checks GPU programs ------------------*- C++ -*-===//
//
// Checks GPU programs, which come from files, as checkPlan checks plans. The
// kernels themselves are trusted, like object code. Everything else that an
// executor does with an accepted program stays within the memory that the
// executor has allocated.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_CHECKGPUPROGRAM_H
#define CCN_RUNTIME_PLAN_CHECKGPUPROGRAM_H

#include "runtime/base/Status.h"
#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/Plan.h"

namespace ccn::runtime {

/// An error that says where and why the program cannot execute `plan`, which
/// checkPlan must have accepted: more ranks than a kernel can address, names
/// that are not identifiers, sizes out of range, another number of launches
/// than the plan has, another number of numbers than the kernel takes, fills
/// outside of symmetric memory, messages outside of the memory that they name.
Status checkGpuProgram(const Plan &plan, const GpuProgram &program);

/// How many argument addresses kernels get (GpuAbi.h).
size_t addressCount(const Plan &plan, const GpuProgram &program);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_CHECKGPUPROGRAM_H
