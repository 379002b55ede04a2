//===- Parts.h - The kernels of a plan's parts ------------------*- C++ -*-===//
//
// Makes the kernel that executes a part of a launch. Rows.h has the kernel of
// loops.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_PARTS_H
#define CCN_RUNTIME_CPU_PARTS_H

#include "runtime/cpu/Rows.h"

namespace ccn::runtime {

/// Makes the kernel of part `index` of launch `launch`, for the rank of
/// `memory` and the stream of `context`. checkPlan must have accepted `plan`.
/// The kernel refers to `memory`, not to `plan`. An exchange allocates
/// symmetric memory, and may wait until the other ranks have done so too.
Result<std::unique_ptr<PartKernel>>
makePart(const Plan &plan, const PlanMemory &memory, StreamContext &context,
         size_t launch, size_t index, const FunctionResolver &resolve);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_PARTS_H
