//===- Groups.h - Collectives of several process groups ---------*- C++ -*-===//
//
// The same collective within each of several groups of ranks, all at once.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_GROUPS_H
#define CCN_SYNTH_GROUPS_H

#include "synth/Collective.h"
#include "synth/Fabric.h"

namespace ccn::synth {

/// The ranks of each group, in its order.
using Groups = std::vector<std::vector<int>>;

/// What is wrong with groups of a machine's ranks, or nothing: each has a rank
/// at least, and no rank is in two.
std::string wrongGroups(const Groups &groups, int ranks);

/// The collective in each group, as one relation of all ranks; `root` is the
/// place of the root in its group. Chunks are in the order of the groups.
Result<Collective> makeGrouped(CollectiveKind kind, int ranks,
                               const Groups &groups, int chunksPerNode,
                               int root = 0);

/// The ranks that chunks join, directly or by others: groups with nothing to
/// exchange. Sorted; ranks without chunks to send or receive are left out.
Groups independentGroups(const Collective &collective);

/// The part of a collective in one group, for ranks numbered as in the group;
/// `chunks` receives the indices of its chunks. Where all contribute to and
/// need every chunk it is an all_reduce.
Collective partOf(const Collective &collective, const std::vector<int> &group,
                  std::vector<int> &chunks);

/// The fabric of one group: the ways between its ranks, numbered as in the
/// group. What several groups use is shared equally: `users`, by link and then
/// edge set, says among how many. `edges` receives the edges' indices in the
/// whole fabric. An error says what is too small to share.
Result<Fabric> fabricOfGroup(const Fabric &fabric,
                             const std::vector<int> &group,
                             const std::vector<int> &users,
                             std::vector<int> &edges);

/// How many groups use each link, then each edge set of the topology.
std::vector<int> linkUsers(const Fabric &fabric, const Groups &groups);

} // namespace ccn::synth

#endif // CCN_SYNTH_GROUPS_H
