//===- Events.h - Sends that wait for data and links ------------*- C++ -*-===//
//
// The event simulation behind simulate() (see Schedule.h): each send starts as
// soon as its data is there and its links are free.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_EVENTS_H
#define CCN_SYNTH_EVENTS_H

#include "synth/Fabric.h"

#include <cstdint>
#include <vector>

namespace ccn::synth {

/// What the event simulation knows of a send.
struct TimedSend {
  int chunk = 0, src = 0, dst = 0, step = 0;
  /// An index into EventProblem::edges.
  int edge = 0;
  /// How many times as large as a chunk it is.
  double size = 1;
};

/// A way that sends take: it keeps all its resources busy.
struct TimedEdge {
  double us = 0;
  std::vector<int> resources;
};

/// What chunks of some bytes cost on a fabric. Resources are the topology's
/// links, then its edge sets.
class EdgeTimes {
public:
  EdgeTimes(const Fabric &fabric, double chunkBytes);
  TimedEdge edge(int edge) const;
  /// Microseconds that one chunk keeps a resource busy.
  const std::vector<double> &cost() const { return costs; }

private:
  const Fabric &fabric;
  std::vector<double> costs;
  /// The edge sets that each link is in, as resources.
  std::vector<std::vector<int>> setsOf;
};

struct EventProblem {
  /// By step.
  std::vector<TimedSend> sends;
  std::vector<TimedEdge> edges;
  /// Of EdgeTimes.
  std::vector<double> cost;
  int hosts = 0;
};

/// Microseconds until the last send has arrived. A send of a step waits for all
/// that arrives of its chunk at its sender in earlier steps. Of those that can
/// start at the same time the one of the earlier step goes first, and of one
/// step either the one that is listed first, or the one whose receiver comes
/// first when hosts are counted on from its sender (so that not all senders
/// turn to the same receiver): in whichever of the two orders all takes less
/// time.
///
/// The work grows with the sends and their resources: a send that waits stands
/// in line at one busy resource, and is looked at again only when it is first
/// in that line as the resource becomes free.
double simulateEvents(const EventProblem &problem);

} // namespace ccn::synth

#endif // CCN_SYNTH_EVENTS_H
