//===- StepPrices.cpp - What a send costs in a step -----------------------===//
//
// See StepPrices.h.
//
//===----------------------------------------------------------------------===//

#include "synth/StepPrices.h"

#include <algorithm>
#include <cmath>

using namespace ccn::synth;

std::vector<std::vector<int>> ccn::synth::setsOfEdges(const Fabric &fabric) {
  std::vector<std::vector<int>> setsOf(fabric.edges.size());
  for (size_t s = 0; s < fabric.sets.size(); ++s)
    for (int e : fabric.sets[s].edges)
      setsOf[e].push_back(static_cast<int>(s));
  return setsOf;
}

StepPrices::StepPrices(const Fabric &fabric,
                       const std::vector<std::vector<int>> &setsOf,
                       double rounds, int chunks, int steps)
    : fabric(fabric), setsOf(setsOf), steps(steps),
      price(fabric.sets.size() * steps), load(price.size()) {
  for (const FabricSet &set : fabric.sets)
    room.push_back(set.cap * rounds * chunks / steps);
}

void StepPrices::setPrice(size_t at, int set) {
  double now =
      std::exp(std::min(300.0, steep * (load[at] / room[set] - 1))) / room[set];
  sum += now - price[at];
  price[at] = now;
}

void StepPrices::reprice(double steepness) {
  steep = steepness;
  for (size_t at = 0; at < price.size(); ++at)
    setPrice(at, static_cast<int>(at % fabric.sets.size()));
}

void StepPrices::add(int edge, int step, int by) {
  for (int set : setsOf[edge]) {
    size_t at = slot(set, step);
    load[at] += by;
    setPrice(at, set);
  }
}

double StepPrices::rounds() const {
  double total = 0;
  for (int step = 0; step < steps; ++step) {
    double most = 0;
    for (size_t s = 0; s < fabric.sets.size(); ++s)
      most = std::max(
          most, static_cast<double>(load[slot(static_cast<int>(s), step)]) /
                    fabric.sets[s].cap);
    total += most;
  }
  return total;
}
