//===- Gather.h - Brings what ranks leave to rank 0 -------------*- C++ -*-===//
//
// Ranks on different hosts share no memory of a run. They send its results to
// rank 0 through the symmetric memory of their team, so results travel as the
// program's data does.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_GATHER_H
#define CCN_TOOLS_CCRUN_GATHER_H

#include "runtime/team/Protocols.h"
#include "runtime/team/RankMemory.h"

#include <functional>
#include <memory>
#include <span>

namespace ccn {

/// Bytes in several places, taken in order.
using Pieces = std::vector<std::span<std::byte>>;

class Gather {
public:
  /// The symmetric memory of each of so many ranks.
  static int64_t bytes(int ranks);

  /// All ranks call this at the same point.
  static Result<std::unique_ptr<Gather>> create(runtime::RankMemory &memory);

  /// Called by all ranks but 0: sends the bytes of the pieces.
  Status send(const Pieces &pieces);
  /// Called by rank 0: receives from each other rank as many bytes as it sends,
  /// into `pieces(rank)`. It listens to all in turn, so none waits longer than
  /// a part of its own takes, times the ranks.
  Status receive(const std::function<Pieces(int rank)> &pieces);

private:
  explicit Gather(runtime::RankMemory &memory) : memory(memory) {}

  runtime::RankMemory &memory;
  /// `full` is in rank 0's memory, a flag for each sender; `free` in the
  /// sender's. A sender fills its own memory, from where rank 0 reads.
  runtime::Channel<2> channel;
  int64_t buffers = 0;
  /// By sender: the last chunk.
  std::vector<runtime::Epoch> chunks;
  std::vector<std::byte> scratch;
};

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_GATHER_H
