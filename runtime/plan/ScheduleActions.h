//===- ScheduleActions.h - What one member of a schedule does ---*- C++ -*-===//
//
// From a schedule in chunks to the list of what one member has to do, for the
// collective on the CPU and for the tables that GPUs execute.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_SCHEDULEACTIONS_H
#define CCN_RUNTIME_PLAN_SCHEDULEACTIONS_H

#include "runtime/base/ChunkSchedule.h"
#include "runtime/tensor/Combine.h"

namespace ccn::runtime {

/// Where a part of a sum is, how many contributions it holds and the lowest
/// member of them.
struct SumPart {
  enum Where { Input, Slot, Scratch } where = Input;
  /// The number of the chunk, of the own slot or of the scratch array.
  int index = 0;
  size_t size = 1;
  int first = 0;
};

struct ScheduleAction {
  enum Kind {
    Await,  ///< waits for slot `index` of `peer`
    Finish, ///< forms the sum in scratch `index` and applies the body
    Send,   ///< forms the sum in slot `index` of `peer`
    Result, ///< forms the sum in the output, and applies the body if `finish`
    AwaitFree, ///< waits until `peer` says that its slots may be written
    TellFree,  ///< says so to `peer`
  } kind;
  int chunk = 0, peer = 0, index = 0;
  /// In the order in which they are added.
  std::vector<SumPart> parts = {};
  bool finish = false;
};

/// Where in a buffer of symmetric memory a chunk arrives, from whom, and in
/// which type: that of partial sums where it holds several contributions, but
/// not all.
struct ScheduleSlot {
  int64_t offset;
  int source;
  ElementType type;
};

/// The symmetric memory of a schedule: the flags of a member, and the bytes of
/// its slots in one buffer.
struct ScheduledMemory {
  int64_t flags = 0, bufferBytes = 0;

  /// All that makeScheduled allocates for so many members.
  int64_t bytes(int members) const;
};

struct MemberActions {
  std::vector<ScheduleAction> actions;
  /// The slots of each member; slot i has flag i.
  std::vector<std::vector<ScheduleSlot>> slots;
  /// What the member that needs most takes.
  ScheduledMemory memory;
  /// The chunk that each scratch array holds.
  std::vector<int> scratchChunks;
};

/// What member `own` does, without or with a body; an error as in
/// makeScheduled. It waits once for each member that it sends to, before the
/// first slot that it writes, and tells each that sends to it when all of its
/// own slots have been read.
Result<MemberActions> planSchedule(const ChunkSchedule &schedule, int own,
                                   ElementType type, ReduceKind kind,
                                   bool hasBody);

/// What `schedule` needs; an error as in makeScheduled.
Result<ScheduledMemory> scheduledMemory(const ChunkSchedule &schedule,
                                        ElementType type, ReduceKind kind);

/// Whether schedules combine elements of `type` so.
Status checkScheduled(ReduceKind kind, ElementType type);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_SCHEDULEACTIONS_H
