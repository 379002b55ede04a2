//===- StepPrices.h - What a send costs in a step ---------------*- C++ -*-===//
//
// Every edge set of a fabric has a price in each step, which rises
// exponentially with what the set carries there. If each send is moved to the
// cheapest step, again and again, the loads become even.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_STEPPRICES_H
#define CCN_SYNTH_STEPPRICES_H

#include "synth/Fabric.h"

#include <vector>

namespace ccn::synth {

/// The edge sets of each edge.
std::vector<std::vector<int>> setsOfEdges(const Fabric &fabric);

class StepPrices {
public:
  /// Prices are moderate as long as no set carries more in a step than it would
  /// if all steps together took `rounds` rounds for each of `chunks` chunks.
  /// `setsOf` is setsOfEdges(fabric).
  StepPrices(const Fabric &fabric, const std::vector<std::vector<int>> &setsOf,
             double rounds, int chunks, int steps);

  /// Prices for the loads as they are; from now on they rise so steeply.
  void reprice(double steepness);
  /// Adds `by` chunks to what an edge carries in a step.
  void add(int edge, int step, int by);
  /// `cost`, and the prices of an edge in a step.
  double plusPrice(double cost, int edge, int step) const {
    for (int set : setsOf[edge])
      cost += price[slot(set, step)];
    return cost;
  }
  /// Of all sets in all steps.
  double averagePrice() const {
    return sum / static_cast<double>(price.size());
  }
  /// The rounds, in fractions, that the steps take one after the other.
  double rounds() const;

private:
  size_t slot(int set, int step) const {
    return static_cast<size_t>(step) * fabric.sets.size() + set;
  }
  void setPrice(size_t at, int set);

  const Fabric &fabric;
  const std::vector<std::vector<int>> &setsOf;
  int steps;
  double steep = 1, sum = 0;
  /// By set, what it may carry in a step; by step and set, load and price.
  std::vector<double> room, price;
  std::vector<int> load;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_STEPPRICES_H
