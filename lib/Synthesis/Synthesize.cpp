//===- Synthesize.cpp - Algorithms for collectives of programs ------------===//
//
// Chooses the search by the objective.
//
//===----------------------------------------------------------------------===//

#include "lib/Synthesis/Synthesize.h"

#include "lib/Synthesis/DiskCache.h"
#include "synth/FlowSchedule.h"
#include "synth/Forest.h"
#include "synth/Hierarchy.h"
#include "synth/Pareto.h"
#include "synth/TopologyImport.h"

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Changes whenever the same question may get another answer.
constexpr const char *version = "ccn schedules 1";

/// Pieces of a tree's data that follow each other.
constexpr int pieces = 4;

/// One search for a schedule.
class Searching {
public:
  Searching(const SynthRequest &request, const Fabric &fabric)
      : request(request), fabric(fabric),
        limits(Limits::seconds(request.seconds)) {}

  Result<Schedule> run() {
    if (request.objective.empty())
      return solvePoint();
    if (request.objective == "bandwidth" && !rooted() &&
        request.kind != CollectiveKind::AllToAll) {
      Result<Schedule> trees =
          treeSchedule(fabric, request.kind, pieces, limits);
      if (!trees)
        trees = hierarchicalSchedule(fabric, request.kind, pieces, limits);
      if (trees)
        return trees;
    }
    if (request.objective == "bandwidth" &&
        request.kind == CollectiveKind::AllToAll) {
      FlowOptions options;
      options.limits = limits;
      Result<FlowScheduleResult> flow = flowSchedule(
          fabric,
          [&](int k) {
            return collective(k * static_cast<int>(request.ranks));
          },
          options);
      if (flow)
        return std::move(flow->schedule);
    }
    return searchFrontier();
  }

private:
  bool rooted() const {
    Collective collective;
    collective.kind = request.kind;
    return collective.rooted();
  }
  Result<Collective> collective(int chunks) const {
    return makeCollective(request.kind, static_cast<int>(request.ranks), chunks,
                          static_cast<int>(request.root));
  }
  Result<Schedule> solvePoint();
  Result<Schedule> searchFrontier();

  const SynthRequest &request;
  const Fabric &fabric;
  Limits limits;
};

Result<Schedule> Searching::solvePoint() {
  Result<Collective> wanted = collective(static_cast<int>(request.chunks));
  if (!wanted)
    return wanted.error();
  SolveOptions options;
  options.limits = limits;
  Result<SolveResult> result =
      solve(fabric, *wanted, static_cast<int>(request.steps),
            static_cast<int>(request.rounds), options);
  if (!result)
    return result.error();
  if (result->answer == Answer::Yes)
    return std::move(result->schedule);
  if (result->answer == Answer::No)
    return Error{"no such schedule exists: " + result->certificate};
  return Error{"no schedule was found in time"};
}

Result<Schedule> Searching::searchFrontier() {
  ParetoOptions options;
  options.solve.limits = limits;
  options.secondsPerTry = std::min(20.0, request.seconds);
  if (request.objective == "latency") {
    Result<Collective> smallest =
        collective(request.kind == CollectiveKind::AllToAll
                       ? static_cast<int>(request.ranks)
                       : 1);
    if (!smallest)
      return smallest.error();
    options.maxSteps = stepBound(fabric, *smallest).steps;
    if (options.maxSteps < 0)
      return Error{"the topology has ranks that cannot reach each other"};
  }
  Result<ParetoResult> frontier = paretoFrontier(
      fabric, [&](int chunks) { return collective(chunks); }, options);
  if (!frontier)
    return frontier.error();
  if (frontier->points.empty())
    return Error{"no schedule was found in time"};
  return std::move(request.objective == "latency"
                       ? frontier->points.front().schedule
                       : frontier->points.back().schedule);
}

} // namespace

Result<std::string> ccn::synthesize(const SynthRequest &request) {
  Result<Topology> topology = loadTopology(request.topology);
  if (!topology)
    return topology.error();
  Result<Fabric> fabric = makeFabric(*topology);
  if (!fabric)
    return fabric.error();
  if (fabric->ranks != request.ranks)
    return Error{"expected a topology of " + std::to_string(request.ranks) +
                 " GPUs, found '" + request.topology + "' with " +
                 std::to_string(fabric->ranks)};
  std::string question =
      std::string(version) + "\n" + std::string(kindName(request.kind)) + " " +
      std::to_string(request.ranks) + " " + std::to_string(request.root) +
      "\n" + request.objective + " " + std::to_string(request.chunks) + " " +
      std::to_string(request.steps) + " " + std::to_string(request.rounds) +
      "\n" + writeTopology(*topology);
  DiskCache cache;
  if (std::optional<std::string> known = cache.find(question))
    return *std::move(known);
  Result<Schedule> schedule = Searching(request, *fabric).run();
  if (!schedule)
    return schedule.error();
  std::string text = writeSchedule(*schedule);
  cache.keep(question, text);
  return text;
}
