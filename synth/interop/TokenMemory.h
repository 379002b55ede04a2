//===- TokenMemory.h - Buffers that hold contributions ----------*- C++ -*-===//
//
// What the checkers of executable programs (MSCCL XML, MSCCL++ plans) share:
// the ranks' buffers as a collective lays them out, filled with sets of
// contributions instead of numbers, and the rule that two accesses to a place
// of which one writes must be ordered.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_TOKENMEMORY_H
#define CCN_SYNTH_INTEROP_TOKENMEMORY_H

#include "synth/Collective.h"

#include <map>
#include <string>
#include <vector>

namespace ccn::synth {

/// An access: which thread of control, which of its steps, and which element
/// of the step (elements of one step are ordered by nothing).
struct TokenEvent {
  int thread = -1, step = 0, lane = 0;
  friend auto operator<=>(const TokenEvent &, const TokenEvent &) = default;
};

/// The sum of some contributions, each named by rank * inputs + index in that
/// rank's input, sorted. `depth` counts the transfers between ranks on the
/// longest way here.
struct TokenValue {
  std::vector<int> parts;
  int depth = 0;
  /// The accesses this value went through, sorted, if they are kept: whatever
  /// is done with the value is done after them.
  std::vector<TokenEvent> trail;
};

/// Adds `more`; returns a contribution that would be counted twice, or -1.
int addTokens(TokenValue &sum, const TokenValue &more);

/// A value that went from one rank to another while a program ran; its depth
/// counts this transfer too.
struct TokenTransfer {
  int src = 0, dst = 0;
  TokenValue value;
};

/// What an executed program did: places in a rank's input, and what was sent.
struct ProgramTrace {
  int inputs = 0;
  std::vector<TokenTransfer> transfers;
};

/// For each thread, how many of its steps are known to be done.
using TokenClock = std::vector<int>;

/// Takes the later of each.
void joinClock(TokenClock &clock, const TokenClock &other);

struct TokenCell {
  TokenValue value;
  bool written = false;
  /// Written as a packet: readers wait for it, and see nothing else by it.
  bool packet = false;
  /// The last write, and the reads since.
  TokenEvent writer;
  std::vector<TokenEvent> readers;
};

/// Why an access is wrong.
struct TokenConflict {
  enum Kind { None, Unwritten, WriteNotOrdered, ReadNotOrdered };
  Kind kind = None;
  /// The other access.
  TokenEvent event;
  explicit operator bool() const { return kind != None; }
};

/// Chunks in the buffers of one rank.
struct BufferSizes {
  int input = 0, output = 0, scratch = 0;
};

class TokenMemory {
public:
  /// Lays out the buffers of all ranks and writes the contributions. In place,
  /// a program may give 0 chunks for the buffer that it does not name. Every
  /// chunk is cut into `slices` places. Returns what is wrong with the sizes.
  std::string layOut(CollectiveKind collective,
                     const std::vector<BufferSizes> &sizes, bool inPlace,
                     int slices = 1);

  /// Makes `thread` the one that owns the input and output of `rank` at first:
  /// who touches them must know that its step 0 is done.
  void own(int rank, int thread);
  /// From now on values keep their trails.
  void keepTrails() { trails = true; }

  /// The place, or null outside the buffer. Buffers are 'i', 'o' and 's'.
  TokenCell *cell(int rank, char buffer, int offset);

  /// Reads a cell as `event`. `clock` is what the thread knows to be visible.
  TokenConflict read(TokenCell &cell, const TokenEvent &event,
                     const TokenClock &clock, TokenValue &value);
  /// Writes a cell. `order` is what the thread knows to have been read; it may
  /// know more than `clock`. What is in the value's trail is known, too.
  TokenConflict write(TokenCell &cell, const TokenEvent &event,
                      const TokenClock &clock, const TokenClock &order,
                      TokenValue value);

  /// Empty, or which output place lacks what it should have.
  std::string post();

  /// Places in a rank's input and output; a chunk is `slices` places.
  int inputs = 0, outputs = 0;

private:
  CollectiveKind kind = CollectiveKind::AllReduce;
  int ranks = 0;
  bool trails = false;
  std::vector<std::vector<TokenCell>> memory;
  /// Per rank, where a buffer starts and how many places it has.
  std::vector<std::map<char, std::pair<int, int>>> buffers;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_TOKENMEMORY_H
