//===- AtScale.cpp - Schedules by trees and flows -------------------------===//
//
// The commands trees and flows. Several methods are tried, and the schedule
// with the shortest predicted time is kept.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "synth/BalancedTrees.h"
#include "synth/FlowSchedule.h"
#include "synth/Hierarchy.h"
#include "synth/NodeBalance.h"

#include <chrono>
#include <cstdio>

namespace ccn::synth {

namespace {

/// The search ends at this part of the optimal throughput.
constexpr double enough = 0.97;
/// Packing takes long on more GPUs than the first number, where other trees are
/// tried first. On more than the second number, trees are packed only if
/// nothing else works.
constexpr int manyRanks = 32, veryManyRanks = 64;
/// Packed trees that make more sends are not scheduled.
constexpr int64_t maxSends = 4000000;

/// A schedule by trees.
struct Trees {
  Schedule schedule;
  /// With the ways that the trees need.
  Fabric fabric;
  /// A line for each direction, for people.
  std::vector<std::string> lines;
  /// Microseconds that no such schedule can do without for each byte of the
  /// buffer; 0: unknown.
  double idealUs = 0;
  /// At the size that counts: the predicted time.
  double us = 0;

  double share(double bytes) const { return us > 0 ? idealUs * bytes / us : 1; }
};

} // namespace

static bool isRooted(CollectiveKind kind) {
  return kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce;
}

static std::string treeLine(int64_t trees, const std::string &how, double algbw,
                            const RoundBound &bound, const Fabric &fabric,
                            bool rooted = false) {
  char text[128];
  std::snprintf(text, sizeof text, "%lld trees %s, %s %.2f GB/s of %s: ",
                static_cast<long long>(trees), rooted ? "in all" : "a rank",
                how.c_str(), algbw, rooted ? "the buffer" : "gathered bytes");
  return text + describe(bound, fabric);
}

/// The trees with their schedule, and its predicted time.
static Result<Trees> timed(Trees trees, Schedule schedule, double bytes) {
  trees.schedule = std::move(schedule);
  Result<Timing> timing = simulate(trees.schedule, trees.fabric, bytes);
  if (!timing)
    return timing.status();
  trees.us = timing->us();
  return trees;
}

static Result<Trees> packedTrees(const Fabric &machine, CollectiveKind kind,
                                 const TreesCommand &c, const Limits &limits,
                                 double bytes) {
  Trees trees;
  trees.fabric = machine;
  std::vector<Forest> forests;
  int64_t pairs = int64_t(isRooted(kind) ? 1 : machine.ranks) *
                  std::max(1, machine.ranks - 1);
  Result<Schedule> schedule =
      treeSchedule(trees.fabric, kind, c.pieces, limits, &forests,
                   static_cast<int>(std::max<int64_t>(64, maxSends / pairs)),
                   c.problem.root);
  if (!schedule)
    return schedule.status();
  for (const Forest &forest : forests) {
    trees.lines.push_back(treeLine(forest.treesPerRank, "optimal at",
                                   forest.algbwGBps, forest.bound, machine,
                                   isRooted(kind)));
    trees.idealUs += 1 / (forest.algbwGBps * 1000);
  }
  return timed(std::move(trees), std::move(*schedule), bytes);
}

static Result<Trees> evenTrees(const Fabric &machine, CollectiveKind kind,
                               const Groups &groups, const TreesCommand &c,
                               const Limits &limits, double bytes) {
  BalancedOptions options;
  options.pieces = c.pieces;
  options.limits = limits;
  Result<BalancedTrees> made = balancedTrees(machine, kind, groups, options);
  if (!made)
    return made.status();
  Trees trees;
  trees.fabric = machine;
  size_t size = static_cast<size_t>(machine.ranks);
  if (!groups.empty())
    size = groups[0].size();
  for (const std::vector<int> &group : groups)
    size = std::max(size, group.size());
  for (size_t i = 0; i < made->bounds.size(); ++i) {
    double rate = made->bounds[i].roundsPerChunk.value();
    double algbw = static_cast<double>(size) * machine.unitGBps / rate;
    char how[64];
    std::snprintf(how, sizeof how, "balanced, %.2f %% of",
                  100 * made->shares[i]);
    trees.lines.push_back(
        treeLine(made->treesPerRank, how, algbw, made->bounds[i], machine));
    trees.idealUs += 1 / (algbw * 1000);
  }
  return timed(std::move(trees), std::move(made->schedule), bytes);
}

/// Trees in the nodes of a machine and between them, with as many pieces as
/// asked for, or more.
static Result<Trees> nodeTrees(const Fabric &machine, CollectiveKind kind,
                               const TreesCommand &c, const Limits &limits,
                               double bytes) {
  Trees trees;
  trees.fabric = machine;
  for (int more : {1, 8}) {
    if (more > 1 && (trees.share(bytes) >= enough ||
                     trees.schedule.totalSends() * int64_t(more) > maxSends))
      break;
    Result<Schedule> schedule =
        hierarchicalSchedule(machine, kind, c.pieces * more, limits);
    if (!schedule)
      return schedule.status();
    Result<Timing> timing = simulate(*schedule, machine, bytes);
    if (!timing)
      return timing.status();
    if (more == 1)
      for (bool reduce : {false, true}) {
        if (kind == (reduce ? CollectiveKind::AllGather
                            : CollectiveKind::ReduceScatter))
          continue;
        RoundBound bound = roundBound(
            reduce ? reversed(machine) : machine,
            *makeCollective(CollectiveKind::AllGather, machine.ranks, 1));
        double algbw =
            machine.ranks * machine.unitGBps / bound.roundsPerChunk.value();
        char text[96];
        std::snprintf(text, sizeof text,
                      "trees in and between nodes, of at most %.2f GB/s of "
                      "gathered bytes: ",
                      algbw);
        trees.lines.push_back(text + describe(bound, machine));
        trees.idealUs += 1 / (algbw * 1000);
      }
    if (more > 1 && timing->us() >= trees.us)
      break;
    trees.us = timing->us();
    trees.schedule = std::move(*schedule);
  }
  return trees;
}

/// The best of packed trees, balanced trees, and trees in and between nodes.
/// Each kind is tried only if those before it lose more than a little
/// throughput.
static Result<Trees> bestTrees(const Fabric &fabric, CollectiveKind kind,
                               const Groups &groups, const TreesCommand &c,
                               const Limits &limits, double bytes) {
  std::optional<Result<Trees>> best;
  auto tryTrees = [&](Result<Trees> trees) {
    if (!best || !*best || (trees && trees->us < (*best)->us))
      if (!best || trees)
        best = std::move(trees);
    return *best && (*best)->share(bytes) >= enough;
  };
  auto even = [&] {
    return tryTrees(evenTrees(fabric, kind, groups, c, limits, bytes));
  };
  auto packed = [&] {
    return tryTrees(packedTrees(fabric, kind, c, limits, bytes));
  };
  if (isRooted(kind) && groups.empty()) {
    packed();
  } else if (!groups.empty()) {
    even();
  } else if (fabric.ranks <= manyRanks) {
    packed() || even();
  } else if (!tryTrees(nodeTrees(fabric, kind, c, limits, bytes)) && !even() &&
             (fabric.ranks <= veryManyRanks || !*best)) {
    packed();
  }
  if (!*best && limits.expired())
    return error(interrupted ? "interrupted" : "out of time");
  return std::move(*best);
}

int runTrees(const TreesCommand &c) {
  Result<std::vector<double>> bytes = parseSizes(c.sizes);
  if (!bytes)
    return fail(bytes.status(), Usage);
  if (int code =
          checkOutputs(c.output, "schedule", c.certificate, "certificate"))
    return code;
  Result<MachineInUnits> loaded = c.problem.inUnits();
  if (!loaded)
    return fail(loaded.status());
  auto &[machine, fabric] = *loaded;
  std::optional<CollectiveKind> kind =
      parseCollectiveKind(c.problem.collective);
  if (!kind)
    return fail("expected all_gather, reduce_scatter, all_reduce, broadcast or "
                "reduce, found \"" +
                c.problem.collective + "\"");
  if (c.problem.root < 0 || c.problem.root >= fabric.ranks)
    return fail("expected a root from 0 to " +
                std::to_string(fabric.ranks - 1) + ", found " +
                std::to_string(c.problem.root));
  Result<Groups> groups = c.problem.parseGroups(fabric.ranks);
  if (!groups)
    return fail(groups.status());
  if (c.hierarchical && !groups->empty())
    return fail("--hierarchical takes no groups", Usage);
  Limits limits = Limits::seconds(c.timeLimit, &interrupted);
  double size = bytes->empty() ? 1e9 : bytes->back();
  Result<Trees> trees = error("");
  if (c.hierarchical) {
    Result<Schedule> schedule =
        hierarchicalSchedule(fabric, *kind, c.pieces, limits);
    if (schedule)
      trees = Trees{std::move(*schedule), fabric, {}, 0, 0};
    else
      trees = schedule.status();
  } else {
    trees = bestTrees(fabric, *kind, *groups, c, limits, size);
  }
  if (!trees)
    return fail(trees.status(), trees.message() == "out of time" ||
                                        trees.message() == "interrupted"
                                    ? NoneFound
                                    : InputWrong);
  const Schedule &schedule = trees->schedule;
  std::string wrong = check(schedule, &trees->fabric);
  if (!wrong.empty())
    return fail("the schedule does not pass its check (a bug): " + wrong,
                Failed);
  for (const std::string &line : trees->lines)
    std::fprintf(stderr, "%s\n", line.c_str());
  std::fprintf(stderr, "%s: %zu steps, %d sends; checked\n",
               schedule.collective.name.c_str(), schedule.steps.size(),
               schedule.totalSends());
  // A certificate on standard output stands there alone.
  bool alone = c.certificate == "-";
  if (!bytes->empty() && !alone) {
    if (int code = printTimes(schedule, trees->fabric, *bytes))
      return code;
    // The halves of an all_reduce may overlap.
    if (trees->idealUs > 0)
      std::printf("at %.0f bytes: %.2f %% of the optimal throughput%s\n", size,
                  100 * trees->share(size),
                  trees->lines.size() > 1 ? " of its halves one by one" : "");
  }
  if (int code = drawGantt(c.gantt, schedule, trees->fabric, *bytes))
    return code;
  if (!c.certificate.empty())
    if (int code = emitTreeCertificates(c, machine, fabric, *kind))
      return code;
  if (c.output.empty() && (c.quiet || !bytes->empty() || alone))
    return Done;
  return emit(c.output, writeSchedule(schedule, &trees->fabric));
}

namespace {

/// A schedule by flows, or by balancing nodes.
struct Flows {
  Schedule schedule;
  Fraction bound;
  int multiplier = 1;
  std::string proof, remark;
  /// What proves the bound: lengths of links, or the cut.
  std::vector<int64_t> lengths;
  RoundBound cut;
};

} // namespace

static Result<Flows> findFlows(Fabric &fabric, const FlowsCommand &c) {
  int granule = c.problem.granule(fabric.ranks);
  auto collectiveOf = [&](int k) -> Result<Collective> {
    return c.problem.loadTimes(fabric, k * granule);
  };
  FlowOptions options;
  options.multiplier = c.multiplier;
  options.steps = c.steps;
  options.limits = Limits::seconds(c.timeLimit, &interrupted);
  std::optional<Flows> balanced;
  double share = 0;
  if (parseCollectiveKind(c.problem.collective) == CollectiveKind::AllToAllV &&
      c.multiplier == 0 && c.steps == 0)
    if (Result<NodeBalanced> made = nodeBalanced(fabric, collectiveOf)) {
      share = made->share;
      balanced = Flows{std::move(made->schedule),
                       made->bound.roundsPerChunk,
                       made->multiplier,
                       describe(made->bound, fabric),
                       ", nodes balanced",
                       {},
                       made->bound};
      // Counts have no symmetries: the program would be too large.
      if (share >= enough || fabric.ranks > manyRanks)
        return std::move(*balanced);
    }
  Result<FlowScheduleResult> result =
      flowSchedule(fabric, collectiveOf, options);
  if (!result && balanced)
    return std::move(*balanced);
  if (!result)
    return result.status();
  double least = result->bound.value() * result->multiplier;
  if (balanced && share >= least / roundsOfSteps(fabric, result->schedule))
    return std::move(*balanced);
  return Flows{std::move(result->schedule),
               result->bound,
               result->multiplier,
               "lengths of links",
               result->whole ? "" : ", chunks rounded from the flow",
               std::move(result->lengths),
               {}};
}

int runFlows(const FlowsCommand &c) {
  Result<std::vector<double>> bytes = parseSizes(c.sizes);
  if (!bytes)
    return fail(bytes.status(), Usage);
  if (int code =
          checkOutputs(c.output, "schedule", c.certificate, "certificate"))
    return code;
  Result<MachineInUnits> loaded = c.problem.inUnits();
  if (!loaded)
    return fail(loaded.status());
  auto &[machine, fabric] = *loaded;
  auto begin = std::chrono::steady_clock::now();
  Result<Flows> flows = findFlows(fabric, c);
  if (!flows)
    return fail(flows.status(),
                flows.message() == "out of time" ? NoneFound : InputWrong);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const Schedule &schedule = flows->schedule;
  std::string wrong = check(schedule, &fabric);
  if (!wrong.empty())
    return fail("the schedule does not pass its check (a bug): " + wrong,
                Failed);
  if (!c.certificate.empty()) {
    Result<Collective> one =
        c.problem.loadTimes(fabric, c.problem.granule(fabric.ranks));
    if (!one)
      return fail(one.status());
    // Lengths prove rounds of the whole collective, cuts those of a chunk.
    Fraction rate = flows->bound;
    if (!flows->lengths.empty())
      rate = Fraction(rate.num, rate.den * one->chunksPerNode);
    if (int code = emitCertificate(c.certificate, machine, fabric, *one, rate,
                                   flows->cut, {}, flows->lengths))
      return code;
  }
  double least = flows->bound.value() * flows->multiplier;
  std::fprintf(
      stderr,
      "%s on %s: %d chunks a node, %zu steps, %d rounds, %d sends; "
      "checked; found in %.2f s\nno schedule needs less than %s rounds "
      "for each of the %d times (%s): %.2f %% of the optimal "
      "throughput%s\n",
      schedule.collective.name.c_str(), fabric.topology.name.c_str(),
      schedule.collective.chunksPerNode, schedule.steps.size(),
      schedule.totalRounds(), schedule.totalSends(), took.count(),
      flows->bound.str().c_str(), flows->multiplier, flows->proof.c_str(),
      least > 0 ? 100 * least / roundsOfSteps(fabric, schedule) : 100.0,
      flows->remark.c_str());
  // A certificate on standard output stands there alone.
  bool alone = c.certificate == "-";
  if (!bytes->empty() && !alone) {
    if (int code = printTimes(schedule, fabric, *bytes))
      return code;
    double buffer = bytes->back();
    Result<Timing> timing = simulate(schedule, fabric, buffer);
    if (!timing)
      return fail(timing.status());
    double us = timing->us();
    double ideal = least * buffer / schedule.collective.bufferChunks /
                   (fabric.unitGBps * 1000);
    std::printf("at %.0f bytes: %.2f %% of the optimal throughput\n", buffer,
                us > 0 ? 100 * ideal / us : 100.0);
  }
  if (int code = drawGantt(c.gantt, schedule, fabric, *bytes))
    return code;
  if (c.output.empty() && (c.quiet || !bytes->empty() || alone))
    return Done;
  return emit(c.output, writeSchedule(schedule, &fabric));
}

} // namespace ccn::synth
