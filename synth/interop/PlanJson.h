//===- PlanJson.h - What the readers of plans share -------------*- C++ -*-===//
//
// Small pieces of MSCCL++'s JSON that both generations of the format have.
// They throw JsonError as all readers do.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_PLANJSON_H
#define CCN_SYNTH_INTEROP_PLANJSON_H

#include "synth/Json.h"
#include "synth/interop/Plan.h"

#include <map>

namespace ccn::synth {

/// Larger than any index or size a plan can have.
constexpr int64_t planMany = 1 << 20;

PlanChannelType planChannelType(const JsonAt &at);
char planBufferName(const JsonAt &at);
std::vector<int> planIntegers(const JsonAt &at, int64_t hi);
CollectiveKind planCollective(const JsonAt &at);
std::string planCollectiveName(CollectiveKind kind);
uint64_t planBytes(const JsonAt &at);

/// The names of operations up to version 0.6, and what they are since.
const std::map<std::string, std::string> &legacyPlanNames();

/// A plan of version 0.6 or older, as the same plan for 0.7.
Plan readLegacyPlan(const JsonAt &root);

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_PLANJSON_H
