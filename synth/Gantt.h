//===- Gantt.h - Links over time, as a drawing ------------------*- C++ -*-===//

#ifndef CCN_SYNTH_GANTT_H
#define CCN_SYNTH_GANTT_H

#include "synth/Schedule.h"

namespace ccn::synth {

/// An SVG drawing: a row for each link, on it the sends of each step one after
/// the other, as long as they keep the link busy; steps follow each other, as
/// in Timing::stepwiseUs. The links of the cut that bounds the rounds are red
/// and come first, then the busiest links, as many as a page holds. Every send
/// has an edge of the fabric (see fitRounds), or is on the first there is.
Result<std::string> ganttSvg(const Schedule &schedule, const Fabric &fabric,
                             double bytes);

} // namespace ccn::synth

#endif // CCN_SYNTH_GANTT_H
