//===- TimedGrowth.h - Cheap trees for prices of steps ----------*- C++ -*-===//
//
// Trees and the steps of their branches, by a price for each edge in each step.
// Which tree is the cheapest is hard to say; here trees grow by their cheapest
// branches and are then changed branch by branch as long as that costs less, or
// a tree of a known shape gets the cheapest steps.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_TIMEDGROWTH_H
#define CCN_SYNTH_TIMEDGROWTH_H

#include "synth/Arborescence.h"
#include "synth/TimedTrees.h"

namespace ccn::synth {

/// Prices by edge and step.
using EdgePrices = std::vector<std::vector<double>>;

/// Grows trees away from a root in the steps [first, steps).
class Grower {
public:
  Grower(const Fabric &fabric, const EdgePrices &prices, int steps);

  /// The cost, `unreachable` where no tree was found; `branches` receives it.
  double grow(int root, int first, std::vector<TimedBranch> &branches);

private:
  struct Best {
    double cost = unreachable;
    int step = -1;
  };
  /// The cheapest step of an edge in [from, to).
  Best cheapest(int edge, int from, int to) const {
    Best best;
    for (int step = from; step < to; ++step)
      if (prices[edge][step] < best.cost)
        best = {prices[edge][step], step};
    return best;
  }
  bool extend();
  void join(int edge, int step);
  bool improve(int host);
  /// Takes CPUs off that lead nowhere.
  void prune();
  bool isBelow(int host, int above) const {
    for (; host >= 0; host = parent(host))
      if (host == above)
        return true;
    return false;
  }
  int parent(int host) const {
    return by[host] < 0 ? -1 : fabric.edges[by[host]].src;
  }
  /// Steps that are left after a host has the data, for those farther away.
  int lastStep(int host) const {
    return steps - std::max(0, reach - far[host]);
  }

  const Fabric &fabric;
  const EdgePrices &prices;
  int steps, reach = 0;
  std::vector<int> far;
  /// By host: whether it is in the tree, the edge that leads to it, its step,
  /// and from which step on it has the data.
  std::vector<char> in;
  std::vector<int> by, at, from;
};

/// The cheapest steps for the edges of a tree of a known shape.
class ShapeTimer {
public:
  ShapeTimer(const Fabric &fabric, const EdgePrices &prices, int steps)
      : fabric(fabric), prices(prices), steps(steps) {}

  /// By the step from which on the root has the data, what all edges cost.
  std::vector<double> costs(const std::vector<int> &edges);
  /// The branches for such a step, after `costs`.
  std::vector<TimedBranch> branches(const std::vector<int> &edges,
                                    int first) const;

private:
  const Fabric &fabric;
  const EdgePrices &prices;
  int steps;
  /// By host, the edge that leads to it as a place in the list, or -1.
  std::vector<int> by;
  /// By place and step from which on the sender has the data: the cost of the
  /// edge and all after it, and the edge's step.
  std::vector<std::vector<double>> least;
  std::vector<std::vector<int>> choice;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_TIMEDGROWTH_H
