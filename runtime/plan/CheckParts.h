//===- CheckParts.h - Whether a plan's part can be executed -----*- C++ -*-===//
//
// The part of checkPlan that looks at one part of one rank's launch.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_CHECKPARTS_H
#define CCN_RUNTIME_PLAN_CHECKPARTS_H

#include "runtime/plan/Plan.h"
#include "runtime/tensor/Convolution.h"

namespace ccn::runtime {

/// Whether it is one of the element types: it may come from a file.
bool isValid(ElementType type);

/// The product of sizes; an error if one is negative or it is too large for any
/// memory.
Result<int64_t> elementCount(std::span<const int64_t> sizes);

/// The sizes of a convolution, without its result's.
ConvolutionSizes convolutionSizes(const Conv2dPart &part);

/// Checks a part of `rank`, whose buffers have been checked.
Status checkPart(const Plan &plan, int rank, const Part &part);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_CHECKPARTS_H
