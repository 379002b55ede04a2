//===- Rings.h - Rings that a machine's links carry at once -----*- C++ -*-===//
//
// As NCCL runs its collectives: along several rings of all GPUs, each a channel
// of the same speed, or along the chains that are left if each ring is opened.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_RINGS_H
#define CCN_SYNTH_RINGS_H

#include "synth/Schedule.h"

#include <optional>
#include <vector>

namespace ccn::synth {

/// One of several machines: what hangs together without NICs.
struct RingMachine {
  std::vector<int> ranks;
  /// Nodes of the topology, in its order.
  std::vector<int> nics;
};

struct Rings {
  /// The ranks in the order of each ring.
  std::vector<std::vector<int>> rings;
  /// The fabric's edge from each rank of a ring to the one after it.
  std::vector<std::vector<int>> edges;
  /// What each carries.
  int units = 1;
  /// No rings carry more in all: what the GPU with the least room sends or
  /// receives, or the NICs of a machine do.
  int mostUnits = 0;
  /// Several equal machines, or none. Each ring passes all GPUs of one, then
  /// those of the next, by NICs between them; NCCL joins them in this order.
  std::vector<RingMachine> machines;
};

/// At most `most` rings, of the width at which those that are found carry the
/// most in all. They depend on the seed alone. Fails where there are none, or
/// where machines are not alike or not joined by NICs.
Result<Rings> packRings(const Fabric &fabric, int most, uint64_t seed);

/// all_gather, reduce_scatter, all_reduce, broadcast or reduce along all rings
/// at once: a chunk of each rank's share on each ring, or `pieces` chunks of
/// the buffer that follow each other from the root on.
Result<Schedule> ringsSchedule(const Rings &rings, CollectiveKind kind,
                               int pieces);

/// all_reduce up the chain of each ring, from its last rank to its first, and
/// down again, in `pieces` chunks that follow each other.
Schedule chainsSchedule(const Rings &rings, int pieces);

} // namespace ccn::synth

#endif // CCN_SYNTH_RINGS_H
