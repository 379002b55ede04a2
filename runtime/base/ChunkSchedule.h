//===- ChunkSchedule.h - A collective as transfers of chunks ----*- C++ -*-===//
//
// A schedule says which chunk travels in which step from which member to which,
// and whether the receiver stores it, adds it or keeps it apart. Schedules that
// the synthesizer finds or reads from a file are compiled and executed in this
// form.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_CHUNKSCHEDULE_H
#define CCN_RUNTIME_BASE_CHUNKSCHEDULE_H

#include <cstdint>
#include <string>
#include <vector>

namespace ccn::runtime {

enum class TransferOp {
  Copy,   ///< replaces the receiver's value of the chunk
  Reduce, ///< is added to the receiver's value of the chunk
  Stash,  ///< the receiver keeps it apart, as another partial sum
};

/// A chunk that one member sends to another. Members are numbered by their
/// position in the group.
struct Transfer {
  int chunk = 0, source = 0, destination = 0;
  TransferOp op = TransferOp::Copy;
  /// The members whose contributions are sent. The sender must be able to form
  /// their sum from distinct parts that it has: its own contribution, its
  /// running sum, and the sums that it keeps apart. If this is empty, the
  /// running sum is sent.
  std::vector<int> sums = {};
};

/// A part of the data: the members that hold it (or contribute to its sum) at
/// the beginning, the members that need it at the end, and its place in their
/// inputs and outputs, in elements.
struct Chunk {
  std::vector<int> sources, destinations;
  int64_t inputFirst = 0, outputFirst = 0, count = 0;
};

struct ChunkSchedule {
  /// For error messages: "all_gather".
  std::string name;
  int members = 0;
  /// Whether the contributions of a chunk's sources are combined; if not, all
  /// its sources hold the same data.
  bool combining = false;
  std::vector<Chunk> chunks = {};
  /// All transfers of a step read what was there before the step.
  std::vector<std::vector<Transfer>> steps = {};
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_BASE_CHUNKSCHEDULE_H
