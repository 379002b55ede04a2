//===- TimedTrees.cpp - Trees and their steps by a linear program ---------===//
//
// See TimedTrees.h.
//
//===----------------------------------------------------------------------===//

#include "synth/TimedTrees.h"
#include "synth/ColumnProgram.h"
#include "synth/FractionalTrees.h"
#include "synth/StepPrices.h"
#include "synth/TimedGrowth.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace ccn;
using namespace ccn::synth;

namespace {

EdgePrices mirrored(EdgePrices prices) {
  for (std::vector<double> &list : prices)
    std::reverse(list.begin(), list.end());
  return prices;
}

/// Takes away what brings the whole sum to where it was formed: if all of it
/// reaches the root, a CPU, from one host.
void dropDuplicates(const Fabric &fabric, int root,
                    const std::vector<TimedBranch> &in,
                    std::vector<TimedBranch> &out) {
  for (int holder = root; holder >= fabric.ranks;) {
    int only = -1, count = 0;
    for (const TimedBranch &branch : in)
      if (fabric.edges[branch.edge].dst == holder) {
        only = fabric.edges[branch.edge].src;
        ++count;
      }
    if (count != 1)
      return;
    std::erase_if(out, [&](const TimedBranch &branch) {
      return fabric.edges[branch.edge].dst == only;
    });
    holder = only;
  }
}

/// The linear program, and the trees that are added to it.
class TimedProgram {
public:
  TimedProgram(const Fabric &fabric, std::vector<int> roots, bool sums,
               int steps, const std::vector<std::vector<TreeShape>> &shapes);
  Result<TimedTrees> run(const TimedTrees *fewerSteps, const Limits &limits);

private:
  struct Candidate {
    int list = 0;
    double cost = 0;
    std::vector<TimedBranch> branches;
  };
  std::vector<Candidate> ask(const std::vector<double> &prices);
  std::vector<Candidate> bothWays(const EdgePrices &prices);
  std::vector<Candidate> away(const EdgePrices &prices);
  void addTowards(int root, std::vector<TimedBranch> towards,
                  Candidate &candidate);
  void addShapes(const EdgePrices &prices, std::vector<Candidate> &found);
  void add(Candidate candidate);
  size_t row(int set, int step) const {
    return static_cast<size_t>(step) * fabric.sets.size() + set;
  }
  bool seed(const Limits &limits);
  /// Trees for fewer steps, as the first and as the last of these steps.
  void addKnown(const TimedTrees &known);

  const Fabric &fabric;
  const Fabric back;
  const std::vector<std::vector<TreeShape>> &shapes;
  std::vector<int> roots;
  bool sums;
  int steps;
  size_t rows;
  double chunks = 1;
  std::vector<std::vector<int>> setsOf;
  std::optional<ColumnProgram> program;
  std::vector<Candidate> columns, pending;
};

TimedProgram::TimedProgram(const Fabric &fabric, std::vector<int> roots,
                           bool sums, int steps,
                           const std::vector<std::vector<TreeShape>> &shapes)
    : fabric(fabric), back(reversed(fabric)), shapes(shapes),
      roots(std::move(roots)), sums(sums), steps(steps),
      rows(fabric.sets.size() * steps), setsOf(setsOfEdges(fabric)) {
  for (const FabricSet &set : fabric.sets)
    chunks = std::max<double>(chunks, set.cap);
  std::vector<double> atMost(rows);
  std::vector<char> equal(rows);
  atMost.resize(rows + this->roots.size(), chunks);
  equal.resize(rows + this->roots.size(), 1);
  program.emplace(atMost, equal);
  for (int step = 0; step < steps; ++step) {
    std::vector<std::pair<int, double>> room;
    for (size_t set = 0; set < fabric.sets.size(); ++set)
      room.push_back({static_cast<int>(row(static_cast<int>(set), step)),
                      -static_cast<double>(fabric.sets[set].cap)});
    program->addColumn(1, room);
  }
}

void TimedProgram::add(Candidate candidate) {
  std::map<int, double> terms;
  for (const TimedBranch &branch : candidate.branches)
    for (int set : setsOf[branch.edge])
      terms[static_cast<int>(row(set, branch.step))] += 1;
  terms[static_cast<int>(rows) + candidate.list] = 1;
  program->addColumn(0, {terms.begin(), terms.end()});
  columns.push_back(std::move(candidate));
}

/// Trees to a root in the steps before a pivot, and away from it after.
std::vector<TimedProgram::Candidate>
TimedProgram::bothWays(const EdgePrices &prices) {
  EdgePrices backwards = mirrored(prices);
  Grower out(fabric, prices, steps), in(back, backwards, steps);
  std::vector<Candidate> found;
  for (int root = 0; root < fabric.hosts; ++root)
    for (int pivot = 1; pivot < steps; ++pivot) {
      Candidate candidate;
      std::vector<TimedBranch> towards;
      double first = in.grow(root, steps - pivot, towards);
      if (first >= unreachable)
        continue;
      double second = out.grow(root, pivot, candidate.branches);
      if (second >= unreachable)
        break;
      candidate.cost = first + second;
      addTowards(root, towards, candidate);
      found.push_back(std::move(candidate));
    }
  return found;
}

/// Adds the branches towards the root, which are those of the reversed fabric.
void TimedProgram::addTowards(int root, std::vector<TimedBranch> towards,
                              Candidate &candidate) {
  for (TimedBranch &branch : towards)
    branch = {branch.edge, steps - 1 - branch.step, SendOp::Reduce};
  dropDuplicates(fabric, root, towards, candidate.branches);
  candidate.branches.insert(candidate.branches.end(), towards.begin(),
                            towards.end());
}

/// Known shapes at the cheapest steps.
void TimedProgram::addShapes(const EdgePrices &prices,
                             std::vector<Candidate> &found) {
  EdgePrices backwards = mirrored(prices);
  ShapeTimer out(fabric, prices, steps), in(back, backwards, steps);
  for (size_t list = 0; list < shapes.size(); ++list)
    for (const TreeShape &shape : shapes[list]) {
      std::vector<double> after = out.costs(shape.out);
      std::vector<double> before(after.size());
      if (sums)
        before = in.costs(shape.in);
      int pivot = 0;
      double least = unreachable;
      for (int step = 0; step <= (sums ? steps : 0); ++step)
        if (double cost = after[step] + (sums ? before[steps - step] : 0);
            cost < least) {
          least = cost;
          pivot = step;
        }
      if (least >= unreachable)
        continue;
      Candidate candidate;
      candidate.list = static_cast<int>(list);
      candidate.cost = least;
      candidate.branches = out.branches(shape.out, pivot);
      if (sums)
        addTowards(fabric.edges[shape.out[0]].src,
                   in.branches(shape.in, steps - pivot), candidate);
      found.push_back(std::move(candidate));
    }
}

std::vector<TimedProgram::Candidate>
TimedProgram::ask(const std::vector<double> &prices) {
  EdgePrices ofEdges(fabric.edges.size(), std::vector<double>(steps));
  for (size_t e = 0; e < fabric.edges.size(); ++e)
    for (int step = 0; step < steps; ++step)
      for (int set : setsOf[e])
        ofEdges[e][step] += prices[row(set, step)];
  std::vector<Candidate> found = sums ? bothWays(ofEdges) : away(ofEdges);
  addShapes(ofEdges, found);
  std::stable_sort(
      found.begin(), found.end(),
      [](const Candidate &a, const Candidate &b) { return a.cost < b.cost; });
  // Of each list some.
  constexpr int maxAdded = 16;
  std::vector<int> added(roots.size());
  const int each = sums ? maxAdded : 3;
  std::erase_if(found, [&](const Candidate &candidate) {
    return ++added[candidate.list] > each;
  });
  return found;
}

std::vector<TimedProgram::Candidate>
TimedProgram::away(const EdgePrices &prices) {
  std::vector<Candidate> found;
  Grower grower(fabric, prices, steps);
  for (size_t i = 0; i < roots.size(); ++i) {
    Candidate candidate;
    candidate.list = static_cast<int>(i);
    candidate.cost = grower.grow(roots[i], 0, candidate.branches);
    if (candidate.cost < unreachable)
      found.push_back(std::move(candidate));
  }
  return found;
}

/// Some trees by prices that rise with the loads so far.
bool TimedProgram::seed(const Limits &limits) {
  constexpr int tries = 30;
  std::vector<double> load(rows);
  for (int i = 0; i < tries && !limits.expired(); ++i) {
    std::vector<double> prices(rows);
    double most = 1e-9;
    for (size_t r = 0; r < rows; ++r)
      most = std::max(most, load[r] / fabric.sets[r % fabric.sets.size()].cap);
    for (size_t r = 0; r < rows; ++r) {
      double cap = fabric.sets[r % fabric.sets.size()].cap;
      prices[r] = std::exp(6 * load[r] / cap / most) / cap;
    }
    std::vector<char> seen(roots.size());
    for (Candidate &candidate : ask(prices)) {
      if (!seen[candidate.list]++)
        for (const TimedBranch &branch : candidate.branches)
          for (int set : setsOf[branch.edge])
            ++load[row(set, branch.step)];
      pending.push_back(std::move(candidate));
    }
    if (std::count(seen.begin(), seen.end(), 0) > 0)
      return false;
  }
  return !pending.empty();
}

void TimedProgram::addKnown(const TimedTrees &known) {
  for (size_t list = 0; list < known.trees.size(); ++list)
    for (const TimedTree &tree : known.trees[list])
      for (int later : {0, steps - known.steps}) {
        Candidate candidate;
        candidate.list = static_cast<int>(list);
        candidate.branches = tree.branches;
        for (TimedBranch &branch : candidate.branches)
          branch.step += later;
        pending.push_back(std::move(candidate));
      }
}

Result<TimedTrees> TimedProgram::run(const TimedTrees *fewerSteps,
                                     const Limits &limits) {
  constexpr double gain = 5e-4;
  constexpr int maxInVain = 6;
  if (!seed(limits))
    return error(limits.expired() ? "out of time"
                                  : "some ranks are not reached in " +
                                        std::to_string(steps) + " steps");
  if (fewerSteps)
    addKnown(*fewerSteps);
  TimedTrees result;
  result.steps = steps;
  std::vector<double> values, duals, weights, smooth(rows);
  double best = 1e300;
  for (int inVain = 0; !pending.empty() && inVain < maxInVain;) {
    for (Candidate &candidate : pending)
      add(std::move(candidate));
    pending.clear();
    if (program->minimize(limits, values, duals) != Answer::Yes)
      break;
    weights.assign(values.begin() + steps, values.end());
    double rounds = 0;
    for (int step = 0; step < steps; ++step)
      rounds += values[step] / chunks;
    inVain = rounds < best * (1 - gain) ? 0 : inVain + 1;
    best = std::min(best, rounds);
    std::vector<double> prices(rows);
    for (size_t r = 0; r < rows; ++r) {
      prices[r] = std::max(0.0, -duals[r]);
      smooth[r] = 0.7 * smooth[r] + 0.3 * prices[r];
    }
    for (const std::vector<double> *each : {&prices, &smooth})
      for (Candidate &candidate : ask(*each)) {
        double cost = 0;
        for (const TimedBranch &branch : candidate.branches)
          for (int set : setsOf[branch.edge])
            cost += prices[row(set, branch.step)];
        if (cost < duals[rows + candidate.list] * (1 - 1e-6))
          pending.push_back(std::move(candidate));
      }
  }
  if (weights.empty())
    return error("out of time");
  result.rounds = best;
  result.trees.resize(roots.size());
  for (size_t c = 0; c < weights.size(); ++c)
    if (weights[c] > 1e-7 * chunks)
      result.trees[columns[c].list].push_back(
          {columns[c].branches, weights[c] / chunks});
  return result;
}

} // namespace

Result<TimedTrees>
ccn::synth::timedTrees(const Fabric &fabric, CollectiveKind kind, int root,
                       int steps,
                       const std::vector<std::vector<TreeShape>> &shapes,
                       const TimedTrees *fewerSteps, const Limits &limits) {
  using enum CollectiveKind;
  if (kind != AllGather && kind != Broadcast && kind != AllReduce)
    return error("expected all_gather, broadcast or all_reduce");
  if (fabric.ranks < 2)
    return error("expected at least two ranks");
  std::vector<int> roots = rootsOf(kind, fabric.ranks, root);
  return TimedProgram(fabric, roots, kind == AllReduce, steps, shapes)
      .run(fewerSteps, limits);
}
