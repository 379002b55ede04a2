//===- Placement.h - Hops into steps ----------------------------*- C++ -*-===//
//
// Trees and flows decide which hops the chunks make. Here each hop gets a step,
// so that all steps together hardly take longer than the busiest link needs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_PLACEMENT_H
#define CCN_SYNTH_PLACEMENT_H

#include "synth/Schedule.h"

#include <vector>

namespace ccn::synth {

/// One send of a chunk over an edge of the fabric, after that of index `parent`
/// (which is smaller), or from where the chunk is at the start (-1). The hops
/// of a chunk follow each other.
struct Hop {
  int chunk = 0, edge = 0, parent = -1;
};

struct Placed {
  Schedule schedule;
  /// Rounds, in fractions, that the busiest edge set needs for all hops, and
  /// that the steps need one after the other.
  double busiest = 0, total = 0;
  /// busiest / total.
  double share() const { return total > 0 ? busiest / total : 1; }
};

/// The rounds of the busiest edge set, in fractions.
double busiestSet(const Fabric &fabric, const std::vector<Hop> &hops);

/// The rounds, in fractions, of the busiest edge sets of all steps together.
double roundsOfSteps(const Fabric &fabric, const Schedule &schedule);

/// The schedule that sends each hop in its step (from 0). The sends of a step
/// are listed in an order in which links can serve them with little waiting.
Schedule listHops(const Fabric &fabric, const Collective &collective,
                  const std::vector<Hop> &hops, const std::vector<int> &stepOf);

/// A schedule that sends the hops in nearly the rounds of the busiest edge set.
/// Of several numbers of steps, it takes the fewest with which at most the
/// fraction `slack` of the time is lost, or else the one that loses least.
/// Every edge set has a price in each step, which rises exponentially with its
/// load; chunk after chunk takes the cheapest steps, again and again until the
/// loads are even.
Placed placeHops(const Fabric &fabric, const Collective &collective,
                 const std::vector<Hop> &hops, double slack = 0.015);

} // namespace ccn::synth

#endif // CCN_SYNTH_PLACEMENT_H
