//===- Places.h - Where programs keep chunks --------------------*- C++ -*-===//
//
// What the writers of MSCCL's and MSCCL++'s programs share: in which buffer of
// a rank each chunk is, and where the rank keeps what it adds up.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_PLACES_H
#define CCN_SYNTH_INTEROP_PLACES_H

#include "synth/interop/Transfers.h"

#include <compare>
#include <functional>

namespace ccn::synth {

/// A place for one chunk in a rank's memory: in its input ('i'), its output
/// ('o'), which may be the same memory, or scratch memory ('s').
struct Place {
  char buffer = 'i';
  int index = 0;
  /// Whether the chunk lies there as packets.
  bool isPacket = false;
  friend auto operator<=>(const Place &, const Place &) = default;
};

/// Whether buffers have a layout for the collective: all_gather,
/// reduce_scatter, all_reduce or all_to_all.
bool hasBuffers(const Collective &collective);
/// Whether hosts that are no GPUs take part.
bool usesCpus(const Schedule &schedule);

class Places {
public:
  /// `schedule` must have passed its check, and hasBuffers().
  explicit Places(const Schedule &schedule);

  /// Chunks of a rank's input and output.
  int inputChunks() const;
  int outputChunks() const;
  /// Chunks of its scratch memory so far.
  int scratchChunks(int rank) const { return scratch[rank]; }
  Place newScratch(int rank, bool isPacket = false) {
    return {'s', scratch[rank]++, isPacket};
  }

  /// Where a rank has a chunk at first, or gets it: where it stays if the rank
  /// needs it at the end, and else scratch memory.
  Place home(int chunk, int rank);
  /// Where a rank has a sum of a chunk (see HeldSums): 0 its running sum, 1 its
  /// own contribution, then the sums it keeps apart.
  Place &sum(int chunk, int rank, size_t index);
  /// The place of the next sum that a rank keeps apart.
  void addSum(int chunk, int rank, const Place &place);
  /// Whether a rank's own contribution is needed after the first sum has been
  /// written in its place. The first question says so, later ones say no.
  bool takeOwnNeeded(int chunk, int rank);

  /// Calls `body` for each rank that needs a chunk's whole sum, unless that is
  /// its running sum; `terms` are the sums of which it is made.
  void forEachFinalSum(
      const std::function<void(int chunk, int rank,
                               const std::vector<size_t> &terms)> &body) const;

  /// What the schedule sends.
  const std::vector<Transfer> &transfers() const { return sent; }

private:
  const Collective &coll;
  int ranks;
  std::vector<int> scratch;
  /// What the hosts of a combining collective have at the end.
  HeldMap held;
  std::vector<Transfer> sent;
  /// By chunk and rank.
  std::map<std::pair<int, int>, Place> relays;
  std::map<std::pair<int, int>, std::vector<Place>> sums;
  std::map<std::pair<int, int>, bool> ownNeeded;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_PLACES_H
