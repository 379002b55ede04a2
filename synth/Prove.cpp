//===- Prove.cpp - Makes proofs about schedules of some steps -------------===//
//
// See Prove.h. Divisions of the rounds that the cuts so far allow are looked at
// one after the other: each is excluded by a cut of its own, or else by a
// search.
//
//===----------------------------------------------------------------------===//

#include "synth/Prove.h"
#include "synth/Pareto.h"

#include <cadical.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// A copying collective, each destination of which needs what it needs in every
/// schedule of the collective: of it itself, or of it backwards.
struct View {
  Collective collective;
  bool isBackwards = false;
};

std::vector<View> viewsOf(const Collective &coll) {
  std::vector<View> views;
  auto turned = [](Collective part) {
    for (ChunkRelation &chunk : part.chunks)
      std::swap(chunk.pre, chunk.post);
    return View{std::move(part), true};
  };
  Collective copied = coll;
  copied.combining = false;
  auto all = [&](auto one) {
    return std::all_of(coll.chunks.begin(), coll.chunks.end(), one);
  };
  bool oneEnd = all([](const ChunkRelation &c) { return c.post.size() == 1; });
  bool oneBegin = all([](const ChunkRelation &c) { return c.pre.size() == 1; });
  if (!coll.combining)
    views.push_back({copied});
  if (oneEnd && (coll.combining || oneBegin))
    views.push_back(turned(copied));
  if (!coll.combining || oneEnd)
    return views;
  // What each rank contributes must reach all that need the sum, and each of
  // these must be reached by all.
  for (int rank = 0; rank < coll.ranks; ++rank) {
    auto only = [&](auto member) {
      Collective part = copied;
      for (ChunkRelation &chunk : part.chunks) {
        std::vector<int> &ranks = chunk.*member;
        if (std::binary_search(ranks.begin(), ranks.end(), rank))
          ranks = {rank};
        else
          chunk = {{rank}, {rank}};
      }
      return part;
    };
    views.push_back({only(&ChunkRelation::pre)});
    views.push_back(turned(only(&ChunkRelation::post)));
  }
  return views;
}

TimedCut emptyCut(const Topology &topology, int steps) {
  TimedCut cut;
  cut.holdsFrom.assign(topology.nodes.size(), steps + 1);
  cut.passes.resize(topology.nodes.size());
  return cut;
}

class Prover {
public:
  Prover(const Topology &machine, const Fabric &fabric,
         const Collective &collective, int steps, int rounds,
         const Limits &limits)
      : fabric(fabric), back(reversed(fabric)), views(viewsOf(collective)),
        limits(limits) {
    proof.topology = machine;
    proof.collective = collective;
    proof.unitGBps = fabric.unitGBps;
    proof.steps = steps;
    proof.rounds = rounds;
  }

  Result<StepProof> run();

private:
  void addKnownBounds();
  /// Adds a cut that these rounds do not meet.
  bool addCut(std::vector<int> rounds);
  std::string addSearch(const std::vector<int> &rounds);
  void dropUnused();

  const Fabric &fabric;
  const Fabric back;
  const std::vector<View> views;
  const Limits &limits;
  StepProof proof;
};

/// The cuts of the bounds of steps and rounds, which are the same in all steps,
/// and the number of sends.
void Prover::addKnownBounds() {
  StepBound least = stepBound(fabric, proof.collective);
  if (!least.path.empty()) {
    // Where data can be after each step; switches pass it on within one.
    std::vector<int> distance = fabric.distancesFrom(least.path.front());
    TimedCut cut = emptyCut(proof.topology, proof.steps);
    for (int h = 0; h < fabric.hosts; ++h)
      if (distance[h] >= 0)
        cut.holdsFrom[fabric.hostNode[h]] =
            std::min(distance[h], proof.steps + 1);
    for (int s = 1; s <= proof.steps; ++s) {
      std::vector<char> inside(proof.topology.nodes.size());
      for (bool changed = true; changed;) {
        changed = false;
        for (const Link &link : proof.topology.links) {
          const Node &from = proof.topology.nodes[link.src];
          bool isIn = from.isHost() ? cut.holdsFrom[link.src] < s
                                    : inside[link.src] != 0;
          if (!isIn || proof.topology.nodes[link.dst].isHost() ||
              inside[link.dst])
            continue;
          inside[link.dst] = 1;
          cut.passes[link.dst].push_back(s);
          changed = true;
        }
      }
    }
    proof.cuts.push_back(std::move(cut));
  }
  proof.cuts.push_back(timedCut(proof.topology, proof.steps,
                                roundBound(fabric, proof.collective)));
}

bool Prover::addCut(std::vector<int> rounds) {
  for (const View &view : views) {
    if (limits.expired())
      return false;
    std::vector<int> own = rounds;
    if (view.isBackwards)
      std::reverse(own.begin(), own.end());
    auto cut =
        findStepCut(view.isBackwards ? back : fabric, view.collective, own);
    if (!cut)
      continue;
    TimedCut found = timedCut(proof.topology, proof.steps, *cut);
    proof.cuts.push_back(view.isBackwards
                             ? turned(proof.topology, proof.steps, found)
                             : std::move(found));
    return true;
  }
  return false;
}

std::string Prover::addSearch(const std::vector<int> &rounds) {
  Result<Cnf> cnf = clausesOf(proof, rounds);
  if (!cnf)
    return cnf.message();
  struct Terminator : CaDiCaL::Terminator {
    explicit Terminator(const Limits &limits) : limits(limits) {}
    bool terminate() override { return limits.expired(); }
    const Limits &limits;
  } terminator(limits);
  char *text = nullptr;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return "out of memory";
  int status = 0;
  {
    CaDiCaL::Solver solver;
    solver.set("quiet", 1);
    solver.set("binary", 0);
    solver.trace_proof(out, "proof");
    for (const std::vector<int> &clause : cnf->clauses) {
      for (int literal : clause)
        solver.add(literal);
      solver.add(0);
    }
    solver.connect_terminator(&terminator);
    status = solver.solve();
    solver.disconnect_terminator();
    solver.flush_proof_trace();
    solver.close_proof_trace();
  }
  std::fclose(out);
  if (status == 20)
    proof.searches.push_back({rounds, std::string(text, size)});
  std::free(text);
  return status == 20   ? ""
         : status == 10 ? "the clauses of a proof allow a schedule"
                        : "out of time";
}

/// Leaves out what the proof does without.
void Prover::dropUnused() {
  for (size_t i = proof.cuts.size(); i-- > 0;) {
    StepProof less = proof;
    less.cuts.erase(less.cuts.begin() + static_cast<std::ptrdiff_t>(i));
    bool tooMany = false;
    if (!uncovered(less, tooMany) && !tooMany)
      proof = std::move(less);
  }
}

Result<StepProof> Prover::run() {
  constexpr size_t maxCuts = 500, maxDropped = 60;
  if (proof.steps < 1 || proof.rounds < proof.steps)
    return error("a proof is about at least a step, and a round for each");
  addKnownBounds();
  bool tooMany = false;
  // More rounds than there are in every step.
  if (uncovered(proof, tooMany))
    addCut(std::vector<int>(static_cast<size_t>(proof.steps),
                            proof.rounds - proof.steps + 1));
  while (auto open = uncovered(proof, tooMany)) {
    size_t before = proof.cuts.size();
    if (before < maxCuts && addCut(*open)) {
      // One that does not exclude them would be found again.
      auto still = uncovered(proof, tooMany);
      if (!still || *still != *open)
        continue;
    }
    if (std::string wrong = addSearch(*open); !wrong.empty())
      return error(wrong);
  }
  if (tooMany)
    return error("there are too many divisions of the rounds among the steps");
  if (proof.cuts.size() <= maxDropped)
    dropUnused();
  if (std::string wrong = verify(proof); !wrong.empty())
    return error("the proof does not pass its check (a bug): " + wrong);
  return std::move(proof);
}

} // namespace

TimedCut ccn::synth::timedCut(const Topology &topology, int steps,
                              const StepCut &cut) {
  size_t nodes = topology.nodes.size();
  TimedCut timed = emptyCut(topology, steps);
  for (size_t n = 0; n < nodes; ++n)
    for (int s = steps; s >= 0; --s) {
      if (!cut.inside[static_cast<size_t>(s) * nodes + n])
        continue;
      if (topology.nodes[n].isHost())
        timed.holdsFrom[n] = s;
      else if (s > 0)
        timed.passes[n].insert(timed.passes[n].begin(), s);
    }
  return timed;
}

TimedCut ccn::synth::timedCut(const Topology &topology, int steps,
                              const RoundBound &bound) {
  TimedCut timed = emptyCut(topology, steps);
  timed.countsSends = bound.byCount;
  for (int node : bound.nodes) {
    timed.holdsFrom[node] = 0;
    if (!topology.nodes[node].isHost())
      for (int s = 1; s <= steps; ++s)
        timed.passes[node].push_back(s);
  }
  return timed;
}

TimedCut ccn::synth::turned(const Topology &topology, int steps,
                            const TimedCut &cut) {
  // What is outside there, after a step from the end, is inside here.
  TimedCut other = cut;
  if (cut.countsSends)
    return other;
  for (size_t n = 0; n < topology.nodes.size(); ++n)
    if (topology.nodes[n].isHost()) {
      other.holdsFrom[n] = std::max(0, steps + 1 - cut.holdsFrom[n]);
    } else {
      other.passes[n].clear();
      for (int s = 1; s <= steps; ++s)
        if (std::find(cut.passes[n].begin(), cut.passes[n].end(),
                      steps + 1 - s) == cut.passes[n].end())
          other.passes[n].push_back(s);
    }
  return other;
}

Result<StepProof> ccn::synth::proveRate(const Topology &machine,
                                        const Fabric &fabric,
                                        const Collective &collective, int steps,
                                        const Limits &limits) {
  RateBound bound = rateBound(fabric, collective, steps, limits);
  if (bound.cuts.empty())
    return error("the bound is a solver's");
  StepProof proof;
  proof.topology = machine;
  proof.collective = collective;
  proof.unitGBps = fabric.unitGBps;
  proof.steps = steps;
  proof.least =
      Fraction(bound.rate.num * collective.chunksPerNode, bound.rate.den);
  proof.cuts = std::move(bound.cuts);
  if (std::string wrong = verify(proof); !wrong.empty())
    return error("the proof does not pass its check (a bug): " + wrong);
  return proof;
}

Result<StepProof> ccn::synth::proveNone(const Topology &machine,
                                        const Fabric &fabric,
                                        const Collective &collective, int steps,
                                        int rounds, const Limits &limits) {
  return Prover(machine, fabric, collective, steps, rounds, limits).run();
}
