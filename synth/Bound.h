//===- Bound.h - Lower bounds with certificates -----------------*- C++ -*-===//
//
// How many steps and how many rounds a chunk any schedule needs, each with
// what proves it: a path, a cut, or a count of sends.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_BOUND_H
#define CCN_SYNTH_BOUND_H

#include "synth/Collective.h"
#include "synth/Fabric.h"

#include <climits>
#include <string>
#include <vector>

namespace ccn::synth {

struct StepBound {
  /// -1: some rank cannot be reached at all (from path.front(), path.back()).
  int steps = 0;
  int chunk = 0;
  /// Hosts along a shortest path from a source to a rank that needs it.
  std::vector<int> path;
};

struct RoundBound {
  /// Rounds for one chunk a node (R/C >= this).
  Fraction roundsPerChunk;
  /// The certificate: a set of topology nodes, the chunks that must leave it
  /// (for the whole collective) and the links that leave it with what they
  /// carry in a round. For a count of sends `nodes` is empty and `demand` and
  /// `capacity` are sends and what all links carry in a round.
  std::vector<int> nodes;
  int64_t demand = 0, capacity = 0;
  /// Whether this is the largest bound over all cuts; false where there were
  /// too many cuts to try them all.
  bool exact = true;
  bool byCount = false;
};

/// The largest distance from a source to a rank that needs the chunk.
StepBound stepBound(const Fabric &fabric, const Collective &collective);

/// The largest, over cuts, of the chunks that must cross over the capacity of
/// the cut. All sets of ranks are tried (up to 20 hosts, orbits not needed);
/// beyond, the cuts around each source or destination by maximum flow (exact
/// for all_gather, broadcast, gather and their duals) and around connected
/// groups of nodes. Combining collectives are bounded by their duals, and
/// all_reduce besides by the 2(P-1) sends that every chunk needs (a one-way
/// gossip argument).
///
/// Where there are too many cuts to try all, those around `mostRanks` ranks,
/// spread evenly, are enough of a bound (which is then not exact).
RoundBound roundBound(const Fabric &fabric, const Collective &collective,
                      int mostRanks = INT_MAX);

/// A fabric's capacities are whole units; the machine's may be more. A time
/// that the fabric needs, times this (at most 1), is one that the machine
/// needs.
double keptByRounding(const Fabric &fabric);

/// The least R with R / C >= bound.
int64_t leastRounds(const RoundBound &bound, int64_t chunksPerNode);

std::string describe(const StepBound &bound, const Fabric &fabric);
std::string describe(const RoundBound &bound, const Fabric &fabric);

} // namespace ccn::synth

#endif // CCN_SYNTH_BOUND_H
