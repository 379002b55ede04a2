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

struct Rings {
  /// The ranks in the order of each ring.
  std::vector<std::vector<int>> rings;
  /// What each carries.
  int units = 1;
  /// No rings carry more in all: what the GPU with the least room sends or
  /// receives, or the NICs of a machine do.
  int mostUnits = 0;
  /// The ranks of each of several equal machines. Each ring then passes one
  /// after the other, and between them NICs.
  std::vector<std::vector<int>> machines;
};

/// The NICs of a machine with these ranks, which its GPUs reach directly or
/// over switches, in the order of the topology.
std::vector<int> nicsOf(const Fabric &fabric, const std::vector<int> &ranks);

/// As many rings as are found, at most `most`. They depend on the seed alone.
/// Fails where there are none.
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
