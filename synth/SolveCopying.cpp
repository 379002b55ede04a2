//===- SolveCopying.cpp - Searching for copying schedules -----------------===//
//
// Round vectors are enumerated and filtered by cuts; what is left is tried
// under groups of automorphisms, the largest first, with growing effort.
//
//===----------------------------------------------------------------------===//

#include "synth/BreadthFirst.h"
#include "synth/CopyEncoding.h"
#include "synth/Flow.h"
#include "synth/SolveImpl.h"
#include "synth/Symmetry.h"

#include <algorithm>
#include <set>

using namespace ccn;
using namespace ccn::synth;

bool ccn::synth::forEachRoundVector(
    int steps, int rounds,
    const std::function<bool(const std::vector<int> &)> &visit) {
  std::vector<int> vector(steps, 1);
  std::function<bool(int, int)> extend = [&](int at, int left) {
    if (at + 1 == steps) {
      vector[at] = left;
      return visit(vector);
    }
    for (int r = 1; r <= left - (steps - at - 1); ++r) {
      vector[at] = r;
      if (!extend(at + 1, left - r))
        return false;
    }
    return true;
  };
  return extend(0, rounds);
}

namespace {

/// The search looks at no more round vectors than this.
constexpr size_t maxVectors = 20000;

class CopySearch {
public:
  CopySearch(const Fabric &fabric, const Collective &collective, int steps,
             int rounds, const SolveOptions &options)
      : fabric(fabric), coll(collective), steps(steps), rounds(rounds),
        options(options) {
    if (options.restriction) {
      forbidden = options.restriction->forbidden;
      if (!options.restriction->symmetry.empty())
        groups = {options.restriction->symmetry};
    }
    if (groups.empty())
      groups = candidateGroups(fabric, collective);
    std::erase_if(groups, [&](const Group &group) {
      return !keepsForbidden(group, forbidden);
    });
  }

  SolveResult run();

private:
  SolveResult byFlow();
  SolveResult bySat();
  bool filterVectors(SolveResult &result);
  void say(const std::string &text) const {
    if (options.progress)
      options.progress(text);
  }

  const Fabric &fabric;
  const Collective &coll;
  int steps, rounds;
  const SolveOptions &options;
  std::vector<Group> groups;
  Forbidden forbidden;
  std::vector<std::vector<int>> vectors;
  bool allVectors = true;
};

SolveResult CopySearch::byFlow() {
  say("integer flow");
  SolveResult result;
  bool z3 = options.engine == Engine::Z3;
  FlowResult flow =
      solveFlow(fabric, coll, steps, rounds, groups,
                z3 ? LpSolver::Z3 : LpSolver::Clp, options.limits, forbidden);
  result.answer = flow.answer;
  result.method = z3 ? "flow (Z3)" : "flow";
  result.certificate = flow.reason;
  result.schedule = std::move(flow.schedule);
  return result;
}

/// Fills `vectors`. True if there is none to try: then the result is No.
bool CopySearch::filterVectors(SolveResult &result) {
  // One destination of each orbit is enough.
  std::vector<int> destinations;
  std::set<int> seen;
  for (int r = 0; r < coll.ranks; ++r) {
    if (seen.count(r))
      continue;
    destinations.push_back(r);
    for (const Automorphism &g : groups[0])
      seen.insert(g.hosts[r]);
  }
  result.method = "step cut";
  // If all slack in every step is not enough, no vector is.
  std::vector<int> generous(steps, rounds - steps + 1);
  if (auto cut = findStepCut(fabric, coll, generous, destinations)) {
    result.answer = Answer::No;
    result.certificate = cut->str(fabric);
    if (steps > 1 && rounds > steps)
      result.certificate += " (and with fewer rounds in a step no more)";
    return true;
  }
  size_t refuted = 0;
  std::string lastCut;
  allVectors = forEachRoundVector(steps, rounds, [&](const auto &vector) {
    if (options.limits.expired() || vectors.size() + refuted >= maxVectors)
      return false;
    if (auto cut = findStepCut(fabric, coll, vector, destinations)) {
      ++refuted;
      lastCut = cut->str(fabric);
      if (refuted <= 20)
        result.certificate +=
            (result.certificate.empty() ? "" : "\n") + lastCut;
    } else {
      vectors.push_back(vector);
    }
    return true;
  });
  if (vectors.empty() && allVectors) {
    result.answer = Answer::No;
    if (refuted > 20)
      result.certificate += "\nand likewise the other " +
                            std::to_string(refuted - 20) + " round vectors";
    return true;
  }
  result.certificate.clear();
  // Even vectors first: they have the most schedules, by experience.
  auto unevenness = [](const std::vector<int> &v) {
    int64_t sum = 0;
    for (int r : v)
      sum += static_cast<int64_t>(r) * r;
    return sum;
  };
  std::stable_sort(vectors.begin(), vectors.end(),
                   [&](const auto &a, const auto &b) {
                     return unevenness(a) < unevenness(b);
                   });
  return false;
}

SolveResult CopySearch::bySat() {
  SolveResult result;
  if (filterVectors(result))
    return result;
  SatSolver solver = satSolverOf(options.engine);
  // Refuted pairs of (vector, group), and vectors refuted without symmetry.
  std::set<std::pair<size_t, size_t>> dead;
  std::set<size_t> refuted;
  // Z3 depends much on its seed: what the first level of effort did not find
  // is looked for with another.
  uint64_t seed = options.seed;
  Effort spend(options);
  for (int64_t effort : {2000, 30000, 400000, 0}) {
    if (!spend.allows(effort))
      break;
    if (effort != 2000 && solver == SatSolver::Z3)
      seed = options.seed + 3;
    for (size_t g = 0; g < groups.size(); ++g)
      for (size_t v = 0; v < vectors.size(); ++v) {
        bool trivial = g + 1 == groups.size();
        if (dead.count({v, g}) || refuted.count(v) || (effort == 0 && !trivial))
          continue;
        if (options.limits.expired() || !spend.allows(effort))
          return result;
        say(std::string(satSolverName(options.engine)) + ", group of " +
            std::to_string(groups[g].size()) + ", round vector " +
            std::to_string(v + 1) + " of " + std::to_string(vectors.size()));
        CopyEncoding encoding(fabric, coll, vectors[v], groups[g], forbidden);
        SatResult sat =
            solveModel(encoding.model(), solver, options.limits, effort, seed);
        if (sat.answer == Answer::Unknown)
          spend.undecidedAfter(effort);
        if (sat.answer == Answer::Yes) {
          result.answer = Answer::Yes;
          result.schedule = encoding.decode(sat.values);
          result.method = satSolverName(options.engine);
          if (!trivial)
            result.method += ", group of " + std::to_string(groups[g].size());
          return result;
        }
        if (sat.answer == Answer::No) {
          dead.insert({v, g});
          if (trivial)
            refuted.insert(v);
        }
      }
    if (refuted.size() == vectors.size() && allVectors) {
      result.answer = Answer::No;
      result.method = satSolverName(options.engine);
      result.certificate =
          groups.back().size() > 1
              ? "exhaustive search under the symmetry asked for"
              : "exhaustive search without symmetry";
      return result;
    }
  }
  if (!options.limits.expired())
    result.certificate =
        vectors.empty()
            ? "cuts exclude the " + std::to_string(maxVectors) +
                  " ways to share the rounds among the steps that are looked at"
            : "no way that was looked at to share the rounds among the steps "
              "has a schedule";
  return result;
}

SolveResult CopySearch::run() {
  bool pointToPoint = isPointToPoint(coll);
  if (options.engine == Engine::Flow) {
    if (pointToPoint)
      return byFlow();
    SolveResult result;
    if (!filterVectors(result))
      result.certificate = "flows decide only collectives whose chunks have "
                           "one source and one destination";
    return result;
  }
  if (options.engine != Engine::Sat && pointToPoint) {
    SolveResult result = byFlow();
    if (result.answer != Answer::Unknown || options.limits.expired())
      return result;
  }
  return bySat();
}

} // namespace

/// A breadth-first schedule, which is found at once, if the rounds suffice for
/// it and can be divided among the steps.
static bool solveBreadthFirst(const Fabric &fabric,
                              const Collective &collective, int steps,
                              int rounds, const SolveOptions &options,
                              SolveResult &result) {
  if (options.restriction ||
      (options.engine != Engine::Auto && options.engine != Engine::Flow))
    return false;
  std::vector<int> sources = breadthFirstSources(collective);
  if (sources.empty())
    return false;
  Result<BreadthFirst> engine =
      BreadthFirst::make(fabric, std::move(sources), options.limits);
  if (!engine || engine->steps() > steps)
    return false;
  int chunks = static_cast<int>(collective.chunks.size() /
                                breadthFirstSources(collective).size());
  int64_t spare = rounds - engine->rounds(chunks);
  if (spare < 0)
    return false;
  Result<Schedule> schedule =
      engine->schedule(collective, options.limits, steps);
  if (!schedule || static_cast<int>(schedule->steps.size()) != steps)
    return false;
  schedule->steps.back().rounds += static_cast<int>(spare);
  result.answer = Answer::Yes;
  result.method = "breadth-first flows";
  result.schedule = std::move(*schedule);
  return true;
}

SolveResult ccn::synth::solveCopying(const Fabric &fabric,
                                     const Collective &collective, int steps,
                                     int rounds, const SolveOptions &options) {
  SolveResult result;
  if (solveBreadthFirst(fabric, collective, steps, rounds, options, result))
    return result;
  return CopySearch(fabric, collective, steps, rounds, options).run();
}
