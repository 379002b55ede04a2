//===- PlanJson.h - What the readers of plans share -------------*- C++ -*-===//
//
// Small pieces of MSCCL++'s JSON that both generations of the format have.
// They throw JsonError as all readers do.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_PLANJSON_H
#define CCN_SYNTH_PLANJSON_H

#include "synth/Json.h"
#include "synth/Plan.h"

namespace ccn::synth {

/// Larger than any index or size a plan can have.
constexpr int64_t planMany = 1 << 20;

PlanChannelType planChannelType(const JsonAt &at);
char planBufferName(const JsonAt &at);
std::vector<int> planIntegers(const JsonAt &at, int64_t hi);
CollectiveKind planCollective(const JsonAt &at);

/// A plan of version 0.6 or older, as the same plan for 0.7.
Plan readLegacyPlan(const JsonAt &root);

} // namespace ccn::synth

#endif // CCN_SYNTH_PLANJSON_H
