//===- Parts.h - The kernels of a plan's parts ------------------*- C++ -*-===//
//
// Makes what executes a part of a launch. Loops are in Rows.h.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_PARTS_H
#define CCN_RUNTIME_CPU_PARTS_H

#include "runtime/cpu/Rows.h"
#include "runtime/tensor/Convolution.h"

namespace ccn::runtime {

/// The sizes of a convolution, without its result's.
ConvolutionSizes convolutionSizes(const Conv2dPart &part);

/// The group of an exchange as collectives take it.
Group exchangeGroup(const Plan &plan, const ExchangePart &part);

/// What the schedule of an exchange, the one of launch `launch` with as many
/// before it as `number`, takes on the rank that needs most. checkPlan accepts
/// the plan.
Result<ScheduledMemory> largestSchedule(const Plan &plan, size_t launch,
                                        size_t number);

/// The bytes of symmetric memory per rank that an exchange takes.
Result<int64_t> exchangeBytes(const Plan &plan, size_t launch, size_t number);

/// The kernel of part `index` of launch `launch` of `memory`'s rank, for the
/// stream `context`. `plan` is accepted by checkPlan; `memory` has its own copy
/// of what the kernel uses. Exchanges allocate symmetric memory, and may wait
/// for the others to do so too.
Result<std::unique_ptr<PartKernel>>
makePart(const Plan &plan, const PlanMemory &memory, StreamContext &context,
         size_t launch, size_t index, const FunctionResolver &resolve);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_PARTS_H
