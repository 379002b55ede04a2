//===- Arborescence.h - The cheapest spanning tree from a root --*- C++ -*-===//
//
// Trees by the prices of links: the cheapest ways between hosts, and the
// cheapest trees that reach all ranks over such ways, with CPUs on the way
// where that costs less.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_ARBORESCENCE_H
#define CCN_SYNTH_ARBORESCENCE_H

#include "synth/Fabric.h"

#include <vector>

namespace ccn::synth {

/// What it costs to get from each of some nodes (row) directly to each other
/// (column); `unreachable` where there is no way.
using Costs = std::vector<std::vector<double>>;
constexpr double unreachable = 1e300;

/// The cheapest tree from the root to all nodes (Chu and Liu, Edmonds): of each
/// node the one before it, -1 of the root. Empty where there is none.
std::vector<int> cheapestTree(const Costs &costs, int root);

/// The cheapest way between each two hosts that passes no other host.
struct HostWays {
  Costs costs;
  /// By hosts, the links in order of travel.
  std::vector<std::vector<std::vector<int>>> paths;
};

/// `prices`: of the topology's links, not negative. Of ways that cost the same
/// the one with fewer links counts.
HostWays cheapestWays(const Fabric &fabric, const std::vector<double> &prices);

/// A tree over all ranks and perhaps some CPUs.
struct SpanningTree {
  double cost = unreachable;
  /// By host, -2 of hosts that are not in it, -1 of the root.
  std::vector<int> parent;
};

/// With at most so many CPUs all sets of them are tried.
constexpr int maxRelayedCpus = 4;

/// The cheapest tree away from the root, a host, to all ranks (where there are
/// many CPUs: one that hardly costs more); `costs` are those between hosts (for
/// trees towards the root: turned round).
SpanningTree cheapestSpanningTree(const Costs &costs, int ranks, int root);

} // namespace ccn::synth

#endif // CCN_SYNTH_ARBORESCENCE_H
