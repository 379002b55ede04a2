//===- TimedGrowth.cpp - Cheap trees for prices of steps ------------------===//
//
// See TimedGrowth.h.
//
//===----------------------------------------------------------------------===//

#include "synth/TimedGrowth.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::synth;

Grower::Grower(const Fabric &fabric, const EdgePrices &prices, int steps)
    : fabric(fabric), prices(prices), steps(steps), in(fabric.hosts),
      by(fabric.hosts), at(fabric.hosts), from(fabric.hosts) {}

void Grower::join(int edge, int step) {
  int host = fabric.edges[edge].dst;
  in[host] = 1;
  by[host] = edge;
  at[host] = step;
  from[host] = step + 1;
}

/// Adds the cheapest way to one more rank, over a CPU at most.
bool Grower::extend() {
  double least = unreachable;
  int edge = -1, step = 0, second = -1, secondStep = 0;
  for (int x = 0; x < fabric.hosts; ++x) {
    if (!in[x])
      continue;
    for (int e : fabric.out[x]) {
      int y = fabric.edges[e].dst;
      if (in[y])
        continue;
      if (y < fabric.ranks) {
        Best found = cheapest(e, from[x], lastStep(y));
        if (found.step >= 0 && found.cost < least) {
          least = found.cost;
          edge = e;
          step = found.step;
          second = -1;
        }
        continue;
      }
      Best found = cheapest(e, from[x], lastStep(y) - 1);
      if (found.step < 0 || found.cost >= least)
        continue;
      for (int f : fabric.out[y]) {
        int z = fabric.edges[f].dst;
        if (in[z] || z >= fabric.ranks)
          continue;
        Best onward = cheapest(f, found.step + 1, lastStep(z));
        if (onward.step >= 0 && found.cost + onward.cost < least) {
          least = found.cost + onward.cost;
          edge = e;
          step = found.step;
          second = f;
          secondStep = onward.step;
        }
      }
    }
  }
  if (edge < 0)
    return false;
  join(edge, step);
  if (second >= 0)
    join(second, secondStep);
  return true;
}

/// Moves a host to where it costs less, and says whether that was possible.
bool Grower::improve(int host) {
  int needed = steps;
  for (int other = 0; other < fabric.hosts; ++other)
    if (in[other] && by[other] >= 0 && parent(other) == host)
      needed = std::min(needed, at[other]);
  double now = prices[by[host]][at[host]];
  int edge = -1, step = 0;
  for (int e : fabric.in[host]) {
    int x = fabric.edges[e].src;
    if (!in[x] || isBelow(x, host))
      continue;
    Best found = cheapest(e, from[x], needed);
    if (found.step >= 0 && found.cost < now * (1 - 1e-9)) {
      now = found.cost;
      edge = e;
      step = found.step;
    }
  }
  if (edge >= 0)
    join(edge, step);
  return edge >= 0;
}

void Grower::prune() {
  for (bool changed = true; changed;) {
    changed = false;
    for (int cpu = fabric.ranks; cpu < fabric.hosts; ++cpu) {
      if (!in[cpu] || by[cpu] < 0)
        continue;
      bool used = false;
      for (int other = 0; other < fabric.hosts; ++other)
        used |= in[other] && by[other] >= 0 && parent(other) == cpu;
      if (used)
        continue;
      in[cpu] = 0;
      by[cpu] = -1;
      changed = true;
    }
  }
}

double Grower::grow(int root, int first, std::vector<TimedBranch> &branches) {
  constexpr int maxSweeps = 4;
  far = fabric.distancesFrom(root);
  reach = *std::max_element(far.begin(), far.begin() + fabric.ranks);
  std::fill(in.begin(), in.end(), 0);
  std::fill(by.begin(), by.end(), -1);
  in[root] = 1;
  from[root] = first;
  while (std::count(in.begin(), in.begin() + fabric.ranks, 0) > 0)
    if (!extend())
      return unreachable;
  for (int sweep = 0; sweep < maxSweeps; ++sweep) {
    bool changed = false;
    for (int host = 0; host < fabric.hosts; ++host)
      if (in[host] && by[host] >= 0)
        changed |= improve(host);
    prune();
    if (!changed)
      break;
  }
  branches.clear();
  double cost = 0;
  for (int host = 0; host < fabric.hosts; ++host)
    if (in[host] && by[host] >= 0) {
      branches.push_back({by[host], at[host], SendOp::Copy});
      cost += prices[by[host]][at[host]];
    }
  return cost;
}

std::vector<double> ShapeTimer::costs(const std::vector<int> &edges) {
  by.assign(fabric.hosts, -1);
  for (size_t i = 0; i < edges.size(); ++i)
    by[fabric.edges[edges[i]].dst] = static_cast<int>(i);
  const auto all = static_cast<size_t>(steps);
  least.assign(edges.size(), std::vector<double>(all + 1, unreachable));
  choice.assign(edges.size(), std::vector<int>(all + 1, -1));
  // What hangs on each edge, by the step from which on its receiver has it.
  std::vector<std::vector<double>> after(edges.size(),
                                         std::vector<double>(all + 1));
  std::vector<double> total(all + 1);
  for (size_t i = edges.size(); i-- > 0;) {
    for (size_t step = all; step-- > 0;) {
      double cost = prices[edges[i]][step] + after[i][step + 1];
      bool better = cost < least[i][step + 1];
      least[i][step] = better ? cost : least[i][step + 1];
      choice[i][step] = better ? static_cast<int>(step) : choice[i][step + 1];
    }
    int parent = by[fabric.edges[edges[i]].src];
    std::vector<double> &above = parent < 0 ? total : after[parent];
    for (size_t step = 0; step <= all; ++step)
      above[step] = std::min(unreachable, above[step] + least[i][step]);
  }
  return total;
}

std::vector<TimedBranch> ShapeTimer::branches(const std::vector<int> &edges,
                                              int first) const {
  std::vector<TimedBranch> result;
  for (size_t i = 0; i < edges.size(); ++i) {
    int parent = by[fabric.edges[edges[i]].src];
    int from = parent < 0 ? first : result[parent].step + 1;
    result.push_back({edges[i], choice[i][from], SendOp::Copy});
  }
  return result;
}
