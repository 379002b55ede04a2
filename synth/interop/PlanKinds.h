//===- PlanKinds.h - Operations on buffers of one kind each -----*- C++ -*-===//
//
// Operations of an MSCCL++ plan may take chunks of different sizes and buffers;
// those of its older format may not, so they become several.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_PLANKINDS_H
#define CCN_SYNTH_INTEROP_PLANKINDS_H

#include "synth/interop/Plan.h"

namespace ccn::synth {

/// Whether an operation takes a source for each target.
bool takesPairs(const PlanOp &op);

/// The same with operations that each take pairs of one size, between one
/// buffer here and one there, and sums of what is in one buffer, besides their
/// first source.
PlanGpu withOneKindEach(PlanGpu gpu);

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_PLANKINDS_H
