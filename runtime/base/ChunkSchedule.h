//===- ChunkSchedule.h - Any chunk-level algorithm --------------*- C++ -*-===//
//
// Which chunk travels when from whom to whom, and whether the receiver stores
// it, adds it or keeps it apart: the form in which the synthesizer's schedules,
// and those of any file it reads, are compiled and executed.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_CHUNKSCHEDULE_H
#define CCN_RUNTIME_BASE_CHUNKSCHEDULE_H

#include <cstdint>
#include <string>
#include <vector>

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

} // namespace ccn::runtime

#endif // CCN_RUNTIME_BASE_CHUNKSCHEDULE_H
