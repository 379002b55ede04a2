//===- BalancedTrees.h - Trees by the prices of links -----------*- C++ -*-===//
//
// Packing trees (Forest.h) is exact, but its trees may be deep, and capacities
// without a small common measure need very many. Here the trees are few and
// flat: each grows along the cheapest links, whose prices rise exponentially
// with their load, and is grown anew until the loads are even (as in Garg and
// Könemann's packings). It is not exact; how near it comes to the bound of the
// cuts is known afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_BALANCEDTREES_H
#define CCN_SYNTH_BALANCEDTREES_H

#include "synth/Bound.h"
#include "synth/Groups.h"
#include "synth/Placement.h"

namespace ccn::synth {

struct BalancedOptions {
  /// Trees of each rank: the fewest of several numbers that come near the
  /// bound, in multiples of this.
  int pieces = 1;
  /// The part of the bound's throughput that is enough.
  double enough = 0.98;
  /// More sends are not made.
  int64_t maxSends = 1500000;
  uint64_t seed = 1;
  Limits limits;
};

struct BalancedTrees {
  Schedule schedule;
  int treesPerRank = 0;
  /// Of gathering, of reducing, or of both in this order: the bound, and what
  /// part of its throughput the steps one after the other have.
  std::vector<RoundBound> bounds;
  std::vector<double> shares;
};

/// all_gather, reduce_scatter or all_reduce within each group (one of all
/// ranks, if there are none). Groups may share links, and ranks pass on what is
/// not for them where that gains. Groups of an all_reduce are equally large.
Result<BalancedTrees> balancedTrees(const Fabric &fabric, CollectiveKind kind,
                                    const Groups &groups,
                                    const BalancedOptions &options);

} // namespace ccn::synth

#endif // CCN_SYNTH_BALANCEDTREES_H
