//===- Prove.h - Makes proofs about schedules of some steps -----*- C++ -*-===//
//
// What StepProof.h verifies is found here: cuts by maximum flow, and lemmas by
// a SAT solver that writes them down.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_PROVE_H
#define CCN_SYNTH_PROVE_H

#include "synth/Bound.h"
#include "synth/Flow.h"
#include "synth/StepProof.h"

namespace ccn::synth {

/// A cut of the network of so many steps, in the form that proofs have.
TimedCut timedCut(const Topology &topology, int steps, const StepCut &cut);

/// A cut that is the same in all steps, or the count of sends.
TimedCut timedCut(const Topology &topology, int steps, const RoundBound &bound);

/// The cut of a machine whose links are turned round, for schedules backwards,
/// as one of the machine.
TimedCut turned(const Topology &topology, int steps, const TimedCut &cut);

/// A proof that no schedule has so many steps and rounds. `machine` is what
/// `fabric` was made of. An error says why there is none: a schedule may well
/// not exist even so.
Result<StepProof> proveNone(const Topology &machine, const Fabric &fabric,
                            const Collective &collective, int steps, int rounds,
                            const Limits &limits);

/// A proof that no schedule in so many steps has fewer rounds a chunk than
/// rateBound says; an error where that rests on a solver alone.
Result<StepProof> proveRate(const Topology &machine, const Fabric &fabric,
                            const Collective &collective, int steps,
                            const Limits &limits);

} // namespace ccn::synth

#endif // CCN_SYNTH_PROVE_H
