//===- Hierarchy.h - Schedules for many equal nodes -------------*- C++ -*-===//
//
// Machines of many equal nodes, each GPU with a way of its own to its
// counterpart in every other node ("rails"): trees are packed inside one node,
// a tree between nodes is the same for every source but turned, and both are
// composed. Thousands of GPUs take seconds.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_HIERARCHY_H
#define CCN_SYNTH_HIERARCHY_H

#include "synth/Forest.h"

#include <vector>

namespace ccn::synth {

/// The ranks of each node, in order; local index i of one node corresponds to
/// local index i of every other.
struct NodeGroups {
  std::vector<std::vector<int>> ranks;
  /// The topology's nodes that belong to the first group, and those links.
  Topology first;
};

/// Finds the nodes of a machine: the parts that stay connected by links above
/// some capacity, equal in size and in the links between their GPUs. Fails
/// where there are none, or a GPU has no way to a counterpart.
Result<NodeGroups> findGroups(const Fabric &fabric);

/// all_gather, reduce_scatter or all_reduce: every shard goes along its rail
/// down a binomial tree of nodes, and from where it enters a node down the
/// packed trees of that node. Between nodes every link carries each shard
/// once, so the NICs are used as well as any schedule can use them; inside, as
/// packTrees uses one node. `pieces` as in forestSchedule, `maxChunks` as in
/// treeSchedule.
Result<Schedule> hierarchicalSchedule(const Fabric &fabric, CollectiveKind kind,
                                      int pieces, const Limits &limits,
                                      int maxChunks = INT_MAX);

} // namespace ccn::synth

#endif // CCN_SYNTH_HIERARCHY_H
