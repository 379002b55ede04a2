//===- Matching.h - Chunks matched to links as time goes on -----*- C++ -*-===//
//
// A greedy engine for machines of any shape and links of any speed: as soon as
// a link is free it takes a chunk that its one end has and its other end lacks,
// the rarest first. This is TACOS's matching in a time-expanded network (Won
// et al., MICRO'24) without steps of equal length, with two rules of its own:
// nothing is sent that would arrive after a deadline, and a slow link is left
// idle where faster ones bring the rest sooner. Many tries from other seeds
// follow, each with the best time so far as its deadline.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_MATCHING_H
#define CCN_SYNTH_MATCHING_H

#include "synth/Schedule.h"

namespace ccn::synth {

struct MatchingOptions {
  /// Of the buffer, as Collective::bufferChunks defines it.
  double bytes = 1e6;
  uint64_t seed = 1;
  /// Microseconds; 0: none.
  double deadline = 0;
  /// Whether slow links are left idle where faster ones bring the rest sooner.
  bool sparesSlowLinks = false;
  Limits limits;
};

/// One try for a copying collective. Fails where a chunk does not reach a rank
/// that needs it: it would have to pass ranks that do not, or comes after the
/// deadline; or with "out of time". `us` is when the last chunk arrives; a step
/// of the schedule is not earlier than that of the send before it on its link.
Result<Schedule> matchingSchedule(const Fabric &fabric,
                                  const Collective &collective,
                                  const MatchingOptions &options, double &us);

} // namespace ccn::synth

#endif // CCN_SYNTH_MATCHING_H
