//===- ScheduledCollective.h - Executes a schedule in chunks ----*- C++ -*-===//
//
// The skeleton that executes a schedule in chunks (ChunkSchedule.h).
//
// There is no barrier: each transfer has its own slot and flag in the
// receiver's memory, over a channel of two buffers, and a rank waits for a
// chunk only when it needs it, to send it on or at the end. Sums are formed
// when they are sent, straight into the receiver's slot: small parts first, and
// of parts of as many contributions that with the lowest member. So results
// repeat, and are the ranks' order where all contributions come one by one.
// Sums of some contributions travel in f32 where the elements are narrower
// floats (partialType), so that what they become is rounded once; contributions
// and whole sums travel in the element type. synth/SumOrder.h says of a
// schedule whether all get their sums by the same tree.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_SCHEDULEDCOLLECTIVE_H
#define CCN_RUNTIME_CPU_SCHEDULEDCOLLECTIVE_H

#include "runtime/cpu/Collectives.h"
#include "runtime/plan/ScheduleActions.h"

#include <functional>

namespace ccn::runtime {

/// What is done to a chunk's whole sum where it is formed, before it is sent
/// on: elements [first, first + count) of the output, in place. Every member
/// that forms the sum does it, so where several do it must be a function of the
/// sum.
using ChunkBody =
    std::function<void(int64_t first, int64_t count, std::byte *values)>;

/// A collective that executes `schedule`. An error if it does not implement its
/// chunks: something is sent before it is there, added twice or missing at the
/// end. Elements of the output that no chunk brings stay as they are. Groups
/// whose schedules differ give what the largest needs as `atLeast`.
Result<CollectivePtr> makeScheduled(RankMemory &memory, const Group &group,
                                    ElementType type, ReduceKind kind,
                                    const ChunkSchedule &schedule,
                                    ChunkBody body = {},
                                    ScheduledMemory atLeast = {});

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_SCHEDULEDCOLLECTIVE_H
