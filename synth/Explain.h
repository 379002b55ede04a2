//===- Explain.h - A schedule in words --------------------------*- C++ -*-===//
//
// For people: what bounds a schedule, what each of its steps does, and by which
// way the last chunk arrives.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_EXPLAIN_H
#define CCN_SYNTH_EXPLAIN_H

#include "synth/Schedule.h"

#include <string>

namespace ccn::synth {

/// Several lines of text about a schedule that passed its check, for a buffer
/// of so many bytes. Sends without an edge take the fabric's first one, and
/// rounds are of the fabric's unit.
std::string explain(const Schedule &schedule, const Fabric &fabric,
                    double bytes);

} // namespace ccn::synth

#endif // CCN_SYNTH_EXPLAIN_H
