//===- TopologyEdit.h - Machines with parts lost or lumped ------*- C++ -*-===//
//
// Topologies without some of their links and nodes, as after a fault, and the
// unit in which measured capacities are whole numbers that a search can count.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_TOPOLOGYEDIT_H
#define CCN_SYNTH_TOPOLOGYEDIT_H

#include "synth/Topology.h"

namespace ccn::synth {

/// The topology without some parts: "gpu3" is a node, "gpu3-gpu5" the links
/// between two nodes, "gpu3->gpu5" that in one direction, and the name of an
/// edge set all its links. GPUs behind one that is lost move up by one rank,
/// which a note says. Fails on names of nothing, and where some GPUs no longer
/// reach others.
Result<Topology> withoutParts(const Topology &topology,
                              const std::vector<std::string> &parts);

/// Which GPUs cannot reach which, over any nodes; empty if all reach all.
std::string unreachable(const Topology &topology);

/// A unit (GB/s) for searches over whole chunks: 0 where the greatest common
/// divisor of the capacities does, else one of which the least capacity is at
/// most 16 and that takes least away when others are rounded down to multiples.
double unitForSteps(const Topology &topology);

} // namespace ccn::synth

#endif // CCN_SYNTH_TOPOLOGYEDIT_H
