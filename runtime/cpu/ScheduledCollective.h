//===- ScheduledCollective.h - Any chunk-level algorithm --------*- C++ -*-===//
//
// The skeleton that executes a schedule in chunks: which chunk travels when
// from whom to whom, and whether the receiver stores it, adds it or keeps it
// apart. The synthesizer's schedules and those of any file it reads take this
// form.
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

#include <functional>
#include <string>

namespace ccn::runtime {

enum class TransferOp {
  Copy,   ///< replaces what the receiver has of the chunk
  Reduce, ///< is added to what the receiver has of the chunk
  Stash,  ///< is kept apart, as one more partial sum
};

/// A chunk on its way. Members are numbered as in the group.
struct Transfer {
  int chunk = 0, source = 0, destination = 0;
  TransferOp op = TransferOp::Copy;
  /// The members whose contributions it holds, which must be a sum of distinct
  /// parts that the sender has: its own, its running sum, and what it keeps
  /// apart. Empty is the running sum.
  std::vector<int> sums = {};
};

/// A part of the data: who holds it (or contributes to its sum) before, who
/// needs it after, and where it lies in elements.
struct Chunk {
  std::vector<int> sources, destinations;
  int64_t inputFirst = 0, outputFirst = 0, count = 0;
};

struct ChunkSchedule {
  /// For messages: "all_gather".
  std::string name;
  int members = 0;
  /// Whether the sources' contributions are combined; else all hold the same.
  bool combining = false;
  std::vector<Chunk> chunks = {};
  /// All transfers of a step read what was there before the step.
  std::vector<std::vector<Transfer>> steps = {};
};

/// What is done to a chunk's whole sum where it is formed, before it is sent
/// on: elements [first, first + count) of the output, in place. Every member
/// that forms the sum does it, so where several do it must be a function of the
/// sum.
using ChunkBody =
    std::function<void(int64_t first, int64_t count, std::byte *values)>;

/// The symmetric memory of a schedule: the flags of a member, and the bytes of
/// its slots in one buffer.
struct ScheduledMemory {
  int64_t flags = 0, bufferBytes = 0;

  /// All that makeScheduled allocates for so many members.
  int64_t bytes(int members) const;
};

/// What `schedule` needs; an error as in makeScheduled.
Result<ScheduledMemory> scheduledMemory(const ChunkSchedule &schedule,
                                        ElementType type, ReduceKind kind);

/// Whether schedules combine elements of `type` so.
Status checkScheduled(ReduceKind kind, ElementType type);

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
