//===- Parts.h - The kernels of a plan's parts ------------------*- C++ -*-===//
//
// Makes what executes a part of a launch. Loops are in Rows.h.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_PARTS_H
#define CCN_RUNTIME_CPU_PARTS_H

#include "runtime/cpu/Rows.h"

namespace ccn::runtime {

/// The kernel of part `index` of launch `launch` of `memory`'s rank, for the
/// stream `context`. `plan` is accepted by checkPlan; `memory` has its own copy
/// of what the kernel uses. Exchanges allocate symmetric memory, and may wait
/// for the others to do so too.
Result<std::unique_ptr<PartKernel>>
makePart(const Plan &plan, const PlanMemory &memory, StreamContext &context,
         size_t launch, size_t index, const FunctionResolver &resolve);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_PARTS_H
