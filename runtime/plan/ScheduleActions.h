//===- ScheduleActions.h - The actions of a schedule's member ---*- C++ -*-===//
//
// Derives from a schedule in chunks the list of one member's actions, for the
// collective on the CPU and for the tables that GPUs execute.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_SCHEDULEACTIONS_H
#define CCN_RUNTIME_PLAN_SCHEDULEACTIONS_H

#include "runtime/base/ChunkSchedule.h"
#include "runtime/tensor/Combine.h"

namespace ccn::runtime {

/// A part of a sum: where it is, how many contributions it holds (`size`), and
/// the lowest of their members (`first`).
struct SumPart {
  enum Where { Input, Slot, Scratch } where = Input;
  /// The number of the chunk, of this member's slot, or of the scratch array.
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
  /// The parts of the sum, in the order in which they are added.
  std::vector<SumPart> parts = {};
  bool finish = false;
};

/// Where in a buffer of symmetric memory a chunk arrives, from which member,
/// and in which type: that of partial sums if it holds several contributions,
/// but not all.
struct ScheduleSlot {
  int64_t offset;
  int source;
  ElementType type;
};

/// The symmetric memory that a schedule needs: a member's flags, and the bytes
/// of its slots in one buffer.
struct ScheduledMemory {
  int64_t flags = 0, bufferBytes = 0;

  /// The bytes that makeScheduled allocates in all for `members` members.
  int64_t bytes(int members) const;
};

struct MemberActions {
  std::vector<ScheduleAction> actions;
  /// The slots of each member; slot i has flag i.
  std::vector<std::vector<ScheduleSlot>> slots;
  /// The memory of the member that needs most.
  ScheduledMemory memory;
  /// The chunk that each scratch array holds.
  std::vector<int> scratchChunks;
};

/// The actions of member `own`, with or without a body. Errors are those of
/// makeScheduled. The member waits once for each receiver, before it writes the
/// receiver's first slot, and tells each sender once when it has read all of
/// its own slots.
Result<MemberActions> planSchedule(const ChunkSchedule &schedule, int own,
                                   ElementType type, ReduceKind kind,
                                   bool hasBody);

/// The memory that `schedule` needs. Errors are those of makeScheduled.
Result<ScheduledMemory> scheduledMemory(const ChunkSchedule &schedule,
                                        ElementType type, ReduceKind kind);

/// An error if schedules cannot combine elements of `type` by `kind`.
Status checkScheduled(ReduceKind kind, ElementType type);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_SCHEDULEACTIONS_H
