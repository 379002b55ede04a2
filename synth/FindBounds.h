//===- FindBounds.h - What no schedule can beat -----------------*- C++ -*-===//
//
// The bounds with which findSchedule compares what it finds.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_FINDBOUNDS_H
#define CCN_SYNTH_FINDBOUNDS_H

#include "synth/Find.h"

namespace ccn::synth {

/// The microseconds of the rounds for one chunk per node, plus the least
/// latency of a send.
double timeOf(const FindSearch &search, double roundsPerChunk);

/// Raises the bound by latency, cuts, and the number of sends.
void raiseBounds(FindSearch &search);

} // namespace ccn::synth

#endif // CCN_SYNTH_FINDBOUNDS_H
