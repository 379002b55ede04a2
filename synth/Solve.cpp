//===- Solve.cpp - Finding a schedule, or proving there is none -----------===//
//
// Bounds first, then inversion, composition or direct search; every schedule
// passes the checker before it is returned.
//
//===----------------------------------------------------------------------===//

#include "synth/Solve.h"
#include "synth/Bound.h"
#include "synth/SolveImpl.h"

#include <algorithm>
#include <map>

using namespace ccn;
using namespace ccn::synth;

std::string_view ccn::synth::engineName(Engine engine) {
  switch (engine) {
  case Engine::Auto:
    return "auto";
  case Engine::Z3:
    return "z3";
  case Engine::Sat:
    return "sat";
  case Engine::Flow:
    return "flow";
  }
  return "";
}

std::optional<Engine> ccn::synth::parseEngine(std::string_view text) {
  for (Engine engine : {Engine::Auto, Engine::Z3, Engine::Sat, Engine::Flow})
    if (text == engineName(engine))
      return engine;
  return std::nullopt;
}

/// Whether the inverse is solved instead: a gather as a scatter, which has one
/// commodity instead of many, and a sum that ends in one place as a copy.
static bool betterInverted(const Collective &collective) {
  if (collective.combining)
    return true;
  if (collective.kind == CollectiveKind::Gather)
    return true;
  return false;
}

static Result<SolveResult> solveWithin(const Fabric &fabric,
                                       const Collective &collective, int steps,
                                       int rounds, const SolveOptions &options);

/// The reduce_scatter and the all_gather that together are an all_reduce (or
/// one in each group). Nothing if a group's chunks are no multiple of its
/// ranks.
static std::optional<std::pair<Collective, Collective>>
halvesOf(const Collective &collective) {
  int ranks = collective.ranks, chunks = collective.chunksPerNode;
  if (collective.kind == CollectiveKind::AllReduce) {
    if (chunks % ranks != 0)
      return std::nullopt;
    return std::pair(
        *makeCollective(CollectiveKind::ReduceScatter, ranks, chunks / ranks),
        *makeCollective(CollectiveKind::AllGather, ranks, chunks / ranks));
  }
  std::map<std::vector<int>, size_t> total, seen;
  for (const ChunkRelation &chunk : collective.chunks) {
    if (chunk.pre != chunk.post)
      return std::nullopt;
    ++total[chunk.pre];
  }
  for (const auto &[group, count] : total)
    if (count % group.size() != 0)
      return std::nullopt;
  Collective scatter = collective;
  for (ChunkRelation &chunk : scatter.chunks) {
    size_t share = total[chunk.pre] / chunk.pre.size();
    chunk.post = {chunk.pre[seen[chunk.pre]++ / share]};
  }
  Result<Collective> gather = dual(scatter);
  if (!gather)
    return std::nullopt;
  return std::pair(std::move(scatter), std::move(*gather));
}

/// Tries a reduce_scatter followed by an all_gather, with every division of the
/// steps and rounds between them.
static Result<SolveResult> solveComposed(const Fabric &fabric,
                                         const Collective &collective,
                                         int steps, int rounds,
                                         const SolveOptions &options) {
  SolveResult none;
  auto halves = halvesOf(collective);
  if (!halves) {
    none.certificate = "composition needs a multiple of the ranks as chunks";
    return none;
  }
  // The halves first, then uneven shares.
  std::vector<std::pair<int, int>> shares;
  for (int s = 1; s < steps; ++s)
    for (int r = s; r <= rounds - (steps - s); ++r)
      shares.push_back({s, r});
  std::stable_sort(shares.begin(), shares.end(), [&](auto a, auto b) {
    auto off = [&](auto x) {
      return std::abs(2 * x.first - steps) + std::abs(2 * x.second - rounds);
    };
    return off(a) < off(b);
  });
  bool allNo = true;
  for (auto [s, r] : shares) {
    Result<SolveResult> second =
        solveWithin(fabric, halves->second, steps - s, rounds - r, options);
    if (!second)
      return second;
    allNo &= second->answer == Answer::No;
    if (second->answer != Answer::Yes)
      continue;
    Result<SolveResult> first =
        solveWithin(fabric, halves->first, s, r, options);
    if (!first)
      return first;
    allNo &= first->answer == Answer::No;
    if (first->answer != Answer::Yes)
      continue;
    SolveResult result;
    result.answer = Answer::Yes;
    result.schedule =
        concatenate(first->schedule, second->schedule, collective);
    result.method = "composed (" + second->method + ")";
    return result;
  }
  if (allNo)
    none.certificate = "no composition has these steps and rounds";
  return none;
}

static Result<SolveResult> solveWithin(const Fabric &fabric,
                                       const Collective &collective, int steps,
                                       int rounds,
                                       const SolveOptions &options) {
  SolveResult result;
  auto none = [&](std::string method, std::string why) {
    result.answer = Answer::No;
    result.method = std::move(method);
    result.certificate = std::move(why);
    return result;
  };
  StepBound least = stepBound(fabric, collective);
  if (least.steps < 0 || least.steps > steps)
    return none("step bound", describe(least, fabric));
  if (steps == 0) {
    result.answer = Answer::Yes;
    result.schedule.collective = collective;
    result.schedule.topology = fabric.topology.name;
    result.schedule.hosts = fabric.hosts;
    result.method = "nothing to do";
    return result;
  }
  RoundBound bound = roundBound(fabric, collective);
  int64_t needed = leastRounds(bound, collective.chunksPerNode);
  if (needed < 0 || needed > rounds)
    return none("round bound", describe(bound, fabric));
  SolveOptions quick = options;
  quick.exhaustive = false;
  SolveResult apart =
      solveGroups(fabric, collective, steps, rounds, quick,
                  [&](const Fabric &part, const Collective &own) {
                    return solveWithin(part, own, steps, rounds, quick);
                  });
  if (apart.answer == Answer::Yes)
    return apart;
  // What is forbidden is said of sources, which inversion would change.
  bool forbids = options.restriction && !options.restriction->forbidden.empty();
  if (betterInverted(collective) && !forbids) {
    if (Result<Collective> other = dual(collective)) {
      Fabric back = reversed(fabric);
      SolveResult inverse = solveCopying(back, *other, steps, rounds, options);
      inverse.method += ", inverted";
      if (inverse.answer == Answer::Yes) {
        Result<Schedule> turned = invert(inverse.schedule);
        if (!turned)
          return turned.status();
        inverse.schedule = std::move(*turned);
        inverse.schedule.collective = collective;
      }
      return inverse;
    }
  }
  if (!collective.combining)
    return solveCopying(fabric, collective, steps, rounds, options);
  if (options.mode != ReduceMode::Direct) {
    quick.exhaustive = options.mode == ReduceMode::Composition;
    Result<SolveResult> composed =
        solveComposed(fabric, collective, steps, rounds, quick);
    if (!composed || composed->answer == Answer::Yes ||
        options.mode == ReduceMode::Composition)
      return composed;
  }
  return solveReduceDirect(fabric, collective, steps, rounds, options);
}

Result<SolveResult> ccn::synth::solve(const Fabric &fabric,
                                      const Collective &collective, int steps,
                                      int rounds, const SolveOptions &options) {
  if (collective.ranks != fabric.ranks)
    return error("expected a collective on the topology's " +
                 std::to_string(fabric.ranks) + " ranks, found " +
                 std::to_string(collective.ranks));
  if (steps < 0 || rounds < steps)
    return error("expected at least as many rounds as steps, found " +
                 std::to_string(rounds) + " rounds for " +
                 std::to_string(steps) + " steps");
  Result<SolveResult> result =
      solveWithin(fabric, collective, steps, rounds, options);
  if (result && result->answer == Answer::Yes) {
    std::string problem = check(result->schedule, &fabric);
    if (!problem.empty())
      return error("the schedule found does not pass its check (a bug): " +
                   problem);
  }
  return result;
}
