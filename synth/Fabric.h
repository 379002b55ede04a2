//===- Fabric.h - A topology in whole rounds --------------------*- C++ -*-===//
//
// A topology as the step-by-step problem sees it: hosts (GPUs first, in rank
// order, then CPUs), edges between hosts (each a path through switches and
// NICs), and the edge sets with how many chunks they carry in a round. The
// physical links stay at hand for flows and cuts.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_FABRIC_H
#define CCN_SYNTH_FABRIC_H

#include "synth/Topology.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ccn::synth {

/// A way from one host to another in one step.
struct FabricEdge {
  int src = 0, dst = 0;
  /// Indices into Topology::links, in order of travel.
  std::vector<int> path;
  double us = 0;
};

/// Edges that share `cap` chunks a round.
struct FabricSet {
  std::vector<int> edges;
  int cap = 1;
  std::string name;
};

struct Fabric {
  Topology topology;
  int ranks = 0, hosts = 0;
  /// The topology's node of a host, and back (-1 for switches and NICs).
  std::vector<int> hostNode, nodeHost;
  std::vector<FabricEdge> edges;
  std::vector<FabricSet> sets;
  std::vector<std::vector<int>> in, out;
  /// Chunks a round of each physical link.
  std::vector<int> linkCap;
  /// What capacity 1 is.
  double unitGBps = 0;

  std::string hostName(int host) const {
    return topology.nodes[hostNode[host]].name;
  }
  /// Fewest edges from a host to every other, -1 where there is no way.
  std::vector<int> distancesFrom(int host) const;
};

/// Derives the fabric. `unitGBps` 0 takes the greatest common divisor of all
/// capacities, as decimal numbers of twelve digits, or where that is too fine a
/// unit to which they are rounded, in the fabric's topology as well; otherwise
/// capacities are rounded down to multiples of the unit, and a capacity below
/// it is an error. The topology's notes say what was rounded. Hosts are joined
/// along the paths through switches and NICs with the fewest links, all of them
/// where several tie.
Result<Fabric> makeFabric(const Topology &topology, double unitGBps = 0);

/// Finds the edges of ways, and adds to the fabric those that it lacks: ways
/// longer than the shortest. New edges come last, and sets count them once this
/// goes. Not for a fabric that was narrowed (withEdges).
class FabricWays {
public:
  explicit FabricWays(Fabric &fabric);
  ~FabricWays();
  FabricWays(const FabricWays &) = delete;
  FabricWays &operator=(const FabricWays &) = delete;

  /// The edge along these links, which lead from a host over switches and NICs
  /// to another host.
  int edgeAlong(const std::vector<int> &path);

private:
  Fabric &fabric;
  size_t before;
  std::map<std::vector<int>, int> edges;
};

/// The fabric with only the edges that `keep` marks, numbered anew; links and
/// bounds stay those of the whole machine.
Fabric withEdges(const Fabric &fabric, const std::vector<char> &keep);

/// Every link turned round; edge and set indices stay.
Fabric reversed(const Fabric &fabric);

} // namespace ccn::synth

#endif // CCN_SYNTH_FABRIC_H
