//===- NodeBalance.h - all_to_allv over many nodes --------------*- C++ -*-===//
//
// What leaves a node goes first, where that is needed, to GPUs whose NICs have
// less to send, and arrives at GPUs whose NICs have less to receive, so that
// all NICs of a node carry the same (as FAST does, Lei et al. 2025). No linear
// program: some hundreds of GPUs take a fraction of a second.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_NODEBALANCE_H
#define CCN_SYNTH_NODEBALANCE_H

#include "synth/Bound.h"
#include "synth/Hierarchy.h"
#include "synth/Placement.h"

#include <functional>

namespace ccn::synth {

struct NodeBalanced {
  Schedule schedule;
  /// The cut around a node or a GPU that needs the most rounds, for the
  /// collective of multiplier 1.
  RoundBound bound;
  int multiplier = 1;
  /// What part of the bound's throughput the steps have.
  double share = 0;
};

/// Chunks with one source and one destination, on a machine of equal nodes
/// (findGroups) whose GPUs reach those of other nodes. `collectiveOf(k)` is the
/// collective with k times the chunks; k doubles until `enough` of the bound's
/// throughput is reached, at most `mostMultiplier`. Fails on other machines.
Result<NodeBalanced>
nodeBalanced(const Fabric &fabric,
             const std::function<Result<Collective>(int)> &collectiveOf,
             double enough = 0.97, int mostMultiplier = 16);

/// The bound alone: cuts around each GPU and each node, both ways. The nodes
/// come last in `groups`.
RoundBound boundAroundNodes(const Fabric &fabric, const Collective &collective,
                            const std::vector<std::vector<int>> &groups);

} // namespace ccn::synth

#endif // CCN_SYNTH_NODEBALANCE_H
