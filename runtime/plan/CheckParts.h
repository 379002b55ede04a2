//===- CheckParts.h - Checks the parts of plans -----------------*- C++ -*-===//
//
// The checks that checkPlan makes for each part of each launch.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_CHECKPARTS_H
#define CCN_RUNTIME_PLAN_CHECKPARTS_H

#include "runtime/plan/Plan.h"
#include "runtime/tensor/Convolution.h"

namespace ccn::runtime {

/// Whether `type` is one of the enumerators, which may not hold for a value
/// from a file.
bool isValid(ElementType type);

/// The product of `sizes`. An error if a size is negative or the product is too
/// large for any memory.
Result<int64_t> elementCount(std::span<const int64_t> sizes);

/// The sizes of a convolution, without those of its result.
ConvolutionSizes convolutionSizes(const Conv2dPart &part);

/// Checks a part of the plan of `rank`. The rank's buffers must have been
/// checked before.
Status checkPart(const Plan &plan, int rank, const Part &part);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_CHECKPARTS_H
