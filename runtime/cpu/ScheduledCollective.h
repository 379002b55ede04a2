//===- ScheduledCollective.h - Executes a schedule in chunks ----*- C++ -*-===//
//
// The skeleton that executes a schedule in chunks (ChunkSchedule.h).
//
// There is no barrier. Each transfer has its own slot and flag in the
// receiver's memory, in a channel of two buffers. A rank waits for a chunk only
// when it needs the chunk, to send it on or at the end.
//
// A sum is formed when it is sent, straight into the receiver's slot. Parts of
// fewer contributions are added first; of parts of equally many, the one with
// the lowest member. So results are the same in every run, and follow the
// ranks' order where all contributions arrive one by one. Partial sums of
// floats narrower than f32 travel in f32 (partialType), so that the whole sum
// is rounded once; single contributions and whole sums travel in the element
// type. synth/SumOrder.h says whether a schedule gives all members their sums
// by the same tree.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_SCHEDULEDCOLLECTIVE_H
#define CCN_RUNTIME_CPU_SCHEDULEDCOLLECTIVE_H

#include "runtime/cpu/Collectives.h"
#include "runtime/plan/ScheduleActions.h"

#include <functional>

namespace ccn::runtime {

/// Changes a chunk's whole sum in place, elements [first, first + count) of the
/// output, after it was formed and before it is sent on. Every member that
/// forms the sum calls it; where several members do, the result must depend on
/// the sum alone.
using ChunkBody =
    std::function<void(int64_t first, int64_t count, std::byte *values)>;

/// Makes a collective that executes `schedule`. An error if the schedule is
/// wrong: a chunk is sent before it is there, added twice, or missing at the
/// end. Output elements that belong to no chunk stay as they are. If schedules
/// differ between groups, all pass the memory of the largest as `atLeast`,
/// since ranks must allocate the same.
Result<CollectivePtr> makeScheduled(RankMemory &memory, const Group &group,
                                    ElementType type, ReduceKind kind,
                                    const ChunkSchedule &schedule,
                                    ChunkBody body = {},
                                    ScheduledMemory atLeast = {});

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_SCHEDULEDCOLLECTIVE_H
