//===- Placement.cpp - Hops into steps ------------------------------------===//
//
// See Placement.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Placement.h"
#include "synth/EmptySchedule.h"
#include "synth/StepPrices.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace ccn::synth;

namespace {

constexpr double steepness = 20, steepest = 150;
constexpr int maxPasses = 25, passesInVain = 4;

/// Chooses a step for each hop, by the prices of the hop's edge sets in the
/// steps.
class Timer {
public:
  Timer(const Fabric &fabric, const std::vector<Hop> &hops,
        const std::vector<std::vector<int>> &setsOf, double busiest, int steps);

  /// Until the steps need at most `goal` rounds, or it gets no better.
  void run(double goal);
  double total() const { return best; }
  const std::vector<int> &steps() const { return bestSteps; }

private:
  /// Takes the cheapest steps for the hops of one chunk, [first, last).
  void choose(size_t first, size_t last);

  const std::vector<Hop> &hops;
  int count;
  double best = 1e300;
  StepPrices prices;
  std::vector<int> stepOf, bestSteps;
  /// Hops before each, and on the longest way after it.
  std::vector<int> depth, after;
  /// Of the chunk whose steps are chosen: by hop and step, the cost of it and
  /// all after it, and the cheapest step from each step on.
  std::vector<double> cost;
  std::vector<int> choice;
};

} // namespace

static double busiestOf(const Fabric &fabric,
                        const std::vector<int64_t> &loadOfEdge) {
  double most = 0;
  for (const FabricSet &set : fabric.sets) {
    int64_t total = 0;
    for (int e : set.edges)
      total += loadOfEdge[e];
    most = std::max(most, static_cast<double>(total) / set.cap);
  }
  return most;
}

double ccn::synth::busiestSet(const Fabric &fabric,
                              const std::vector<Hop> &hops) {
  std::vector<int64_t> load(fabric.edges.size());
  for (const Hop &hop : hops)
    ++load[hop.edge];
  return busiestOf(fabric, load);
}

double ccn::synth::roundsOfSteps(const Fabric &fabric,
                                 const Schedule &schedule) {
  double total = 0;
  for (const Step &step : schedule.steps) {
    std::vector<int64_t> load(fabric.edges.size());
    for (const Send &send : step.sends)
      ++load[send.edge];
    total += busiestOf(fabric, load);
  }
  return total;
}

Timer::Timer(const Fabric &fabric, const std::vector<Hop> &hops,
             const std::vector<std::vector<int>> &setsOf, double busiest,
             int steps)
    : hops(hops), count(steps), prices(fabric, setsOf, busiest, 1, steps),
      stepOf(hops.size(), -1), depth(hops.size()), after(hops.size()) {
  for (size_t i = 0; i < hops.size(); ++i)
    if (int parent = hops[i].parent; parent >= 0)
      depth[i] = depth[parent] + 1;
  for (size_t i = hops.size(); i-- > 0;)
    if (int parent = hops[i].parent; parent >= 0)
      after[parent] = std::max(after[parent], after[i] + 1);
}

void Timer::choose(size_t first, size_t last) {
  auto steps = static_cast<size_t>(count);
  cost.assign((last - first) * steps, 0);
  choice.assign((last - first) * steps, -1);
  // Last hops first: `cost` then holds what the hops after each cost at least.
  for (size_t i = last; i-- > first;) {
    double *own = &cost[(i - first) * steps];
    int *pick = &choice[(i - first) * steps];
    int cheapest = -1;
    for (int step = count - 1 - after[i]; step >= depth[i]; --step) {
      own[step] = prices.plusPrice(own[step], hops[i].edge, step);
      if (cheapest < 0 || own[step] < own[cheapest])
        cheapest = step;
      pick[step] = cheapest;
    }
    if (int parent = hops[i].parent; parent >= 0) {
      double *above = &cost[(static_cast<size_t>(parent) - first) * steps];
      for (int step = depth[parent]; step < count - 1 - after[i]; ++step)
        above[step] += own[pick[std::max(step + 1, depth[i])]];
    }
  }
  for (size_t i = first; i < last; ++i) {
    int from = hops[i].parent < 0 ? 0 : stepOf[hops[i].parent] + 1;
    stepOf[i] = choice[(i - first) * steps + std::max(from, depth[i])];
    prices.add(hops[i].edge, stepOf[i], 1);
  }
}

void Timer::run(double goal) {
  // Chunks in turns far apart, so that no rank's all come first.
  std::vector<std::pair<size_t, size_t>> chunks;
  for (size_t first = 0, next = 0; first < hops.size(); first = next) {
    for (next = first + 1;
         next < hops.size() && hops[next].chunk == hops[first].chunk;)
      ++next;
    chunks.push_back({first, next});
  }
  size_t stride = std::max<size_t>(1, chunks.size() * 618 / 1000);
  while (std::gcd(stride, chunks.size()) != 1)
    ++stride;
  int inVain = 0;
  double steep = steepness;
  for (int pass = 0; pass < maxPasses && inVain < passesInVain; ++pass) {
    prices.reprice(steep);
    for (size_t k = 0, at = 0; k < chunks.size();
         ++k, at = (at + stride) % chunks.size()) {
      auto [first, last] = chunks[at];
      for (size_t i = first; i < last && pass > 0; ++i)
        prices.add(hops[i].edge, stepOf[i], -1);
      choose(first, last);
    }
    double now = prices.rounds();
    inVain = now < best - 1e-9 ? 0 : inVain + 1;
    if (now < best) {
      best = now;
      bestSteps = stepOf;
    }
    if (best <= goal)
      break;
    steep = std::min(steepest, steep * 1.3);
  }
}

/// A stable sort by small keys.
template <typename Key>
static void sortByKey(std::vector<int> &list, size_t keys, Key key) {
  std::vector<int> count(keys + 1), sorted(list.size());
  for (int i : list)
    ++count[key(i) + 1];
  std::partial_sum(count.begin(), count.end(), count.begin());
  for (int i : list)
    sorted[count[key(i)]++] = i;
  list = std::move(sorted);
}

namespace {

/// Orders the hops of one step as links could serve them: slot by slot, where
/// every link is busy for as long in each slot.
class Slots {
public:
  Slots(const Fabric &fabric, const std::vector<Hop> &hops,
        const std::vector<std::vector<int>> &setsOf, std::vector<int> members);

  std::vector<int> order();

private:
  /// Slot by slot, of those that fit the hops over links with most left to
  /// carry, else as they are listed. How many slots that takes.
  size_t fill(std::vector<int> ready, std::vector<int> &result) const;

  const Fabric &fabric;
  const std::vector<Hop> &hops;
  const std::vector<std::vector<int>> &setsOf;
  std::vector<int> members;
  /// Rounds that each set needs, the longest, and those of a slot.
  std::vector<double> needs;
  double longest = 0, slot = 0;
};

} // namespace

Slots::Slots(const Fabric &fabric, const std::vector<Hop> &hops,
             const std::vector<std::vector<int>> &setsOf, std::vector<int> all)
    : fabric(fabric), hops(hops), setsOf(setsOf), members(std::move(all)),
      needs(fabric.sets.size()) {
  sortByKey(members, static_cast<size_t>(fabric.hosts), [&](int i) {
    const FabricEdge &edge = fabric.edges[hops[i].edge];
    return static_cast<size_t>((edge.dst - edge.src + fabric.hosts) %
                               fabric.hosts);
  });
  for (int i : members)
    for (int s : setsOf[hops[i].edge]) {
      needs[s] += 1.0 / fabric.sets[s].cap;
      slot = std::max(slot, 1.0 / fabric.sets[s].cap);
      longest = std::max(longest, needs[s]);
    }
}

size_t Slots::fill(std::vector<int> ready, std::vector<int> &result) const {
  constexpr size_t levels = 512;
  std::vector<int> later;
  std::vector<double> rest = needs;
  std::vector<int64_t> left(fabric.sets.size());
  size_t slots = 0;
  for (; !ready.empty(); ++slots) {
    double most = *std::max_element(rest.begin(), rest.end());
    for (size_t s = 0; s < left.size(); ++s)
      left[s] = std::max<int64_t>(
          1, static_cast<int64_t>(fabric.sets[s].cap * slot + 1e-9));
    sortByKey(ready, levels, [&](int i) {
      double lag = 0;
      for (int s : setsOf[hops[i].edge])
        lag = std::max(lag, rest[s]);
      return levels - 1 -
             static_cast<size_t>(std::clamp(lag / most, 0.0, 1.0) *
                                 (levels - 1));
    });
    later.clear();
    for (int i : ready) {
      const std::vector<int> &sets = setsOf[hops[i].edge];
      if (!std::all_of(sets.begin(), sets.end(),
                       [&](int s) { return left[s] > 0; })) {
        later.push_back(i);
        continue;
      }
      for (int s : sets) {
        --left[s];
        rest[s] -= 1.0 / fabric.sets[s].cap;
      }
      result.push_back(i);
    }
    ready.swap(later);
  }
  return slots;
}

std::vector<int> Slots::order() {
  // What may be spent, in hops times slots.
  constexpr double maxWork = 2e7;
  constexpr int maxTries = 200;
  double work = longest / slot * static_cast<double>(members.size());
  if (work > maxWork)
    return members;
  std::vector<int> best;
  size_t fewest = fill(members, best);
  auto enough = static_cast<size_t>(std::ceil(longest / slot * 1.02 - 1e-9));
  // Another order may need fewer.
  std::mt19937 random(1);
  int tries = static_cast<int>(std::min<double>(maxTries, maxWork / work));
  for (int k = 1; k < tries && fewest > enough; ++k) {
    std::vector<int> shuffled = members, result;
    for (size_t i = shuffled.size(); i-- > 1;)
      std::swap(shuffled[i], shuffled[random() % (i + 1)]);
    size_t slots = fill(std::move(shuffled), result);
    if (slots >= fewest)
      continue;
    fewest = slots;
    best = std::move(result);
  }
  return best;
}

Schedule ccn::synth::listHops(const Fabric &fabric,
                              const Collective &collective,
                              const std::vector<Hop> &hops,
                              const std::vector<int> &stepOf) {
  Schedule schedule = emptySchedule(collective, fabric);
  std::vector<std::vector<int>> setsOf = setsOfEdges(fabric);
  int last = -1;
  for (int step : stepOf)
    last = std::max(last, step);
  std::vector<std::vector<int>> steps(last + 1);
  for (size_t i = 0; i < hops.size(); ++i)
    steps[stepOf[i]].push_back(static_cast<int>(i));
  for (std::vector<int> &members : steps) {
    if (members.empty())
      continue;
    members = Slots(fabric, hops, setsOf, std::move(members)).order();
    Step &step = schedule.steps.emplace_back();
    step.sends.reserve(members.size());
    for (int i : members) {
      const FabricEdge &edge = fabric.edges[hops[i].edge];
      step.sends.push_back(
          {hops[i].chunk, edge.src, edge.dst, SendOp::Copy, hops[i].edge, {}});
    }
  }
  fitRounds(schedule, fabric);
  return schedule;
}

Placed ccn::synth::placeHops(const Fabric &fabric, const Collective &collective,
                             const std::vector<Hop> &hops, double slack) {
  std::vector<std::vector<int>> setsOf = setsOfEdges(fabric);
  Placed best;
  best.busiest = busiestSet(fabric, hops);
  int depth = 1;
  std::vector<int> depths(hops.size(), 1), bestSteps;
  for (size_t i = 0; i < hops.size(); ++i) {
    if (hops[i].parent >= 0)
      depths[i] = depths[hops[i].parent] + 1;
    depth = std::max(depth, depths[i]);
  }
  double goal = best.busiest / (1 - slack);
  std::vector<int> tries = {depth};
  if (depth > 1)
    tries = {depth + 1, 2 * depth, 3 * depth, 4 * depth, 6 * depth};
  for (int steps : tries) {
    Timer timer(fabric, hops, setsOf, best.busiest, steps);
    timer.run(goal);
    if (bestSteps.empty() || timer.total() < best.total * (1 - slack / 4)) {
      best.total = timer.total();
      bestSteps = timer.steps();
    }
    if (best.total <= goal)
      break;
  }
  best.schedule = listHops(fabric, collective, hops, bestSteps);
  return best;
}
