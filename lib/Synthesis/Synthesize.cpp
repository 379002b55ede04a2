//===- Synthesize.cpp - Algorithms for collectives of programs ------------===//
//
// Chooses how to search by the objective.
//
//===----------------------------------------------------------------------===//

#include "lib/Synthesis/Synthesize.h"

#include "lib/Synthesis/DiskCache.h"
#include "lib/Synthesis/GroupSchedules.h"
#include "runtime/base/File.h"
#include "synth/FlowSchedule.h"
#include "synth/Forest.h"
#include "synth/Hierarchy.h"
#include "synth/Pareto.h"
#include "synth/SumOrder.h"
#include "synth/interop/TopologyImport.h"

#include "llvm/ADT/STLExtras.h"

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

using namespace ccn;
using namespace ccn::synth;

std::string ccn::describeSize(const Schedule &schedule) {
  auto count = [](int number, const char *what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  return count(static_cast<int>(schedule.steps.size()), "step") + " and " +
         count(schedule.totalRounds(), "round") + " for " +
         count(schedule.collective.chunksPerNode, "chunk");
}

namespace {

/// Part of the cache's questions. It changes whenever the same request may get
/// another answer.
constexpr const char *version = "ccn schedules 5";

/// How many pieces of a tree's data are sent one after another.
constexpr int pieces = 4;
/// The most chunks of a rank's data that packed trees may use. Machines with
/// equal links need few trees; a need for more chunks than this means that the
/// links' speeds have odd proportions, and that differences of one percent
/// decide. Every chunk is a separate transfer in the program: for eight ranks,
/// this many chunks are 7,168 transfers, in 300 KB of text.
constexpr int maxChunks = 128;

/// The part of a topology with only the marked nodes and links; edge sets keep
/// the links that remain.
Topology partOf(const Topology &whole, const std::vector<char> &keepNode,
                const std::vector<char> &keepLink) {
  Topology part;
  part.name = whole.name;
  std::vector<int> nodes(whole.nodes.size(), -1), links(whole.links.size(), -1);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (keepNode[i])
      nodes[i] = part.addNode(whole.nodes[i].name, whole.nodes[i].kind);
  for (size_t i = 0; i < links.size(); ++i) {
    const Link &link = whole.links[i];
    if (!keepLink[i] || nodes[link.src] < 0 || nodes[link.dst] < 0)
      continue;
    links[i] = static_cast<int>(part.links.size());
    part.addLink(nodes[link.src], nodes[link.dst], link.gbps, link.us);
  }
  for (const EdgeSet &set : whole.edgeSets) {
    EdgeSet kept{set.name, {}, set.gbps};
    for (int link : set.links)
      if (links[link] >= 0)
        kept.links.push_back(links[link]);
    if (!kept.links.empty())
      part.edgeSets.push_back(std::move(kept));
  }
  return part;
}

/// One search for a schedule.
class Searching {
public:
  Searching(const SynthRequest &request, const Fabric &fabric,
            ReduceMode mode = ReduceMode::Auto)
      : request(request), fabric(fabric), mode(mode),
        limits(Limits::seconds(request.seconds)) {}

  Result<Schedule> run() {
    if (request.objective.empty())
      return solvePoint();
    if (request.objective == "bandwidth" && !rooted()) {
      for (Fabric &part : narrowed())
        if (std::optional<Schedule> found = pack(part))
          return *std::move(found);
      if (Result<Schedule> trees = hierarchicalSchedule(
              fabric, request.kind, pieces, half(), maxChunks))
        return trees;
    }
    return searchFrontier();
  }

private:
  /// Half of the remaining time.
  Limits half() const {
    return Limits::seconds(std::max(0.01, limits.remaining() / 2));
  }
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
  std::vector<Fabric> narrowed() const;
  bool takesShortestWays(const Schedule &schedule, const Fabric &part) const;
  std::optional<Schedule> pack(Fabric &part) const;
  Result<Schedule> searchFrontier();
  int leastSteps(const Collective &wanted) const;

  const SynthRequest &request;
  const Fabric &fabric;
  const ReduceMode mode;
  Limits limits;
};

Result<Schedule> Searching::solvePoint() {
  Result<Collective> wanted = collective(static_cast<int>(request.chunks));
  if (!wanted)
    return wanted.status();
  SolveOptions options;
  options.limits = limits;
  options.mode = mode;
  Result<SolveResult> result =
      solve(fabric, *wanted, static_cast<int>(request.steps),
            static_cast<int>(request.rounds), options);
  if (!result)
    return result.status();
  if (result->answer == Answer::Yes)
    return std::move(result->schedule);
  if (result->answer == Answer::No)
    return error("no such schedule exists: " + result->certificate);
  return error("no schedule was found in time");
}

/// The whole fabric, then fabrics with fewer and fewer links: each has only the
/// paths of up to some number of links. Packed trees and flows use every path.
/// On a machine with NVLinks and PCIe they would take detours and have many
/// parts in odd proportions, so they are also searched on the better links
/// alone.
std::vector<Fabric> Searching::narrowed() const {
  const std::vector<Link> &links = fabric.topology.links;
  std::set<size_t, std::greater<>> lengths;
  for (const FabricEdge &edge : fabric.edges)
    lengths.insert(edge.path.size());
  std::vector<Fabric> parts;
  auto add = [&](const std::vector<char> &keep) {
    // With fewer links, the unit of bandwidth may be larger, and schedules then
    // have fewer chunks.
    Result<Fabric> part = makeFabric(
        partOf(fabric.topology,
               std::vector<char>(fabric.topology.nodes.size(), 1), keep));
    if (part && (parts.empty() || part->topology.links.size() <
                                      parts.back().topology.links.size()))
      parts.push_back(*std::move(part));
  };
  add(std::vector<char>(links.size(), 1));
  for (size_t length : lengths) {
    std::vector<char> keep(links.size());
    for (const FabricEdge &edge : fabric.edges)
      if (edge.path.size() <= length)
        for (int link : edge.path)
          keep[link] = 1;
    add(keep);
  }
  return parts;
}

/// Whether all sends of a schedule take shortest paths. A program only says
/// which rank sends to which, and the shortest path is taken. A schedule with
/// other paths would not run as planned, nor as simulated.
bool Searching::takesShortestWays(const Schedule &schedule,
                                  const Fabric &part) const {
  std::map<std::pair<int, int>, size_t> shortest;
  for (const FabricEdge &edge : fabric.edges)
    shortest.emplace(std::pair(edge.src, edge.dst), edge.path.size());
  return llvm::all_of(schedule.steps, [&](const Step &step) {
    return llvm::all_of(step.sends, [&](const Send &send) {
      auto it = shortest.find({send.src, send.dst});
      return it != shortest.end() &&
             part.edges[send.edge].path.size() == it->second;
    });
  });
}

/// Packed trees or flows on a part of the fabric that has the same hosts.
std::optional<Schedule> Searching::pack(Fabric &part) const {
  if (request.kind == CollectiveKind::AllToAll) {
    FlowOptions options;
    options.limits = half();
    Result<FlowScheduleResult> flow = flowSchedule(
        part,
        [&](int k) { return collective(k * static_cast<int>(request.ranks)); },
        options);
    if (flow && takesShortestWays(flow->schedule, part))
      return std::move(flow->schedule);
    return std::nullopt;
  }
  Result<Schedule> trees =
      treeSchedule(part, request.kind, pieces, half(), nullptr, maxChunks);
  if (trees && takesShortestWays(*trees, part))
    return *std::move(trees);
  return std::nullopt;
}

/// A lower bound on the steps of schedules that `mode` allows; -1 if there are
/// no such schedules.
int Searching::leastSteps(const Collective &wanted) const {
  if (mode == ReduceMode::Composition) {
    int steps = 0;
    for (CollectiveKind kind :
         {CollectiveKind::ReduceScatter, CollectiveKind::AllGather}) {
      int half =
          stepBound(fabric, *makeCollective(kind, fabric.ranks, 1)).steps;
      if (half < 0)
        return -1;
      steps += half;
    }
    return steps;
  }
  if (mode != ReduceMode::OneSum)
    return stepBound(fabric, wanted).steps;
  // Data goes to one rank, or to two ranks that exchange their halves, and
  // back.
  Fabric back = reversed(fabric);
  Collective spread;
  spread.ranks = fabric.ranks;
  spread.chunks.emplace_back();
  for (int rank = 0; rank < fabric.ranks; ++rank)
    spread.chunks[0].post.push_back(rank);
  auto stepsFrom = [&](std::vector<int> roots) {
    spread.chunks[0].pre = std::move(roots);
    int up = stepBound(back, spread).steps;
    int down = stepBound(fabric, spread).steps;
    return up < 0 || down < 0 ? -1 : up + down;
  };
  auto joins = [&](int src, int dst) {
    return llvm::any_of(fabric.out[src], [&](int edge) {
      return fabric.edges[edge].dst == dst;
    });
  };
  int least = -1;
  auto take = [&](int steps) {
    if (steps >= 0 && (least < 0 || steps < least))
      least = steps;
  };
  for (int root = 0; root < fabric.ranks; ++root) {
    int steps = stepsFrom({root});
    if (steps < 0)
      return -1;
    take(steps);
    for (int other = 0; other < root; ++other)
      if (joins(root, other) && joins(other, root))
        take(stepsFrom({other, root}) + 1);
  }
  return least;
}

Result<Schedule> Searching::searchFrontier() {
  ParetoOptions options;
  options.solve.limits = limits;
  options.solve.mode = mode;
  options.secondsPerTry = std::min(20.0, request.seconds);
  // The solver can refute only few candidates. A limit on conflicts, not on
  // time, keeps each try short.
  options.solve.maxConflicts = 30000;
  Result<Collective> smallest = collective(
      request.kind == CollectiveKind::AllToAll ? static_cast<int>(request.ranks)
                                               : 1);
  if (!smallest)
    return smallest.status();
  options.minSteps = leastSteps(*smallest);
  if (options.minSteps < 0)
    return error("the topology has ranks that cannot reach each other");
  if (request.objective == "latency")
    options.maxSteps = options.minSteps;
  Result<ParetoResult> frontier = paretoFrontier(
      fabric, [&](int chunks) { return collective(chunks); }, options);
  if (!frontier)
    return frontier.status();
  if (frontier->points.empty())
    return error("no schedule was found in time");
  return std::move(request.objective == "latency"
                       ? frontier->points.front().schedule
                       : frontier->points.back().schedule);
}

/// The best schedule. If ranks must add in the same order but do not in that
/// schedule, then the best one in which one or two ranks add for all, and
/// `note` says why, in one line.
Result<Schedule> search(const SynthRequest &request, const Fabric &fabric,
                        std::string &note) {
  Result<Schedule> best = Searching(request, fabric).run();
  if (best)
    if (std::string wrong = check(*best); !wrong.empty())
      return error("the schedule found does not pass its check (a bug): " +
                   wrong);
  // On large machines, the search does not find sums in the fewest steps.
  bool fallsBack = request.kind == CollectiveKind::AllReduce &&
                   request.objective == "latency";
  if (!best && fallsBack) {
    Result<Schedule> trees =
        Searching(request, fabric, ReduceMode::OneSum).run();
    if (trees)
      best = std::move(trees);
  }
  if (!best || !request.ordered)
    return best;
  std::string differing = differingSums(*best);
  if (differing.empty())
    return best;
  Result<Schedule> same = Searching(request, fabric, ReduceMode::OneSum).run();
  std::string why = "a schedule of " + describeSize(*best) +
                    " gives ranks different floats, as " + differing;
  if (!same)
    return error(why +
                 "; of those in which one rank, or two that exchange "
                 "their halves, add for all: " +
                 same.message());
  note = "took one of " + describeSize(*same) + ": " + why;
  return same;
}

/// The content of a cache entry, if it is an answer to the request. This must
/// be checked, since any program may have written the entry.
std::optional<Synthesized> readAnswer(const std::string &entry,
                                      const SynthRequest &request,
                                      const Fabric &fabric) {
  size_t end = entry.find('\n');
  if (end == std::string::npos)
    return std::nullopt;
  Synthesized answer{entry.substr(end + 1), entry.substr(0, end)};
  Result<Schedule> schedule = parseSchedule(answer.schedule, "cache");
  if (!schedule)
    return std::nullopt;
  const Collective &found = schedule->collective;
  bool fits = found.kind == request.kind && found.ranks == request.ranks &&
              (!found.rooted() || found.root == request.root) &&
              schedule->hosts <= fabric.hosts &&
              (!request.objective.empty() ||
               (found.chunksPerNode == request.chunks &&
                static_cast<int64_t>(schedule->steps.size()) <= request.steps &&
                schedule->totalRounds() <= request.rounds));
  if (!fits || !check(*schedule).empty() ||
      (request.ordered && !differingSums(*schedule).empty()))
    return std::nullopt;
  return answer;
}

/// The fabric without CPUs, which do not take part in programs, if its ranks
/// can reach each other without them; else the whole fabric.
Fabric withoutCpus(Fabric fabric) {
  if (fabric.hosts == fabric.ranks)
    return fabric;
  const Topology &whole = fabric.topology;
  std::vector<char> keep;
  for (const Node &node : whole.nodes)
    keep.push_back(node.kind != NodeKind::Cpu);
  // The unit of bandwidth stays the same, so that rounds keep their meaning.
  Result<Fabric> part =
      makeFabric(partOf(whole, keep, std::vector<char>(whole.links.size(), 1)),
                 fabric.unitGBps);
  if (!part)
    return fabric;
  for (int rank = 0; rank < part->ranks; ++rank)
    if (llvm::is_contained(part->distancesFrom(rank), -1))
      return fabric;
  return *std::move(part);
}

/// The machine of the request: with a GPU for each rank of the schedule.
Result<Fabric> machineFor(const SynthRequest &request,
                          const Topology &topology) {
  Result<Fabric> fabric = makeFabric(topology);
  if (!fabric)
    return fabric;
  int64_t inGroups = 0;
  for (const std::vector<int> &group : request.groups)
    inGroups += static_cast<int64_t>(group.size());
  bool hasGroups = fabric->ranks == inGroups;
  if (!hasGroups && fabric->ranks != request.ranks)
    return error(
        "expected a topology of " + std::to_string(request.ranks) + " GPUs" +
        (inGroups > request.ranks
             ? ", or of " + std::to_string(inGroups) + " for all groups"
             : "") +
        ", found '" + request.topology + "' with " +
        std::to_string(fabric->ranks));
  *fabric = withoutCpus(*fabric);
  if (!hasGroups || isWhole(request.groups, *fabric))
    return fabric;
  return fabricOfGroups(*fabric, request.groups);
}

/// The groups, as a part of a question; nothing where one is the machine.
std::string textOf(const Groups &groups, const Fabric &fabric) {
  std::string text;
  if (isWhole(groups, fabric))
    return text;
  for (const std::vector<int> &group : groups) {
    text += "group";
    for (int rank : group)
      text += " " + std::to_string(rank);
    text += "\n";
  }
  return text;
}

} // namespace

Result<Synthesized> ccn::synthesize(const SynthRequest &request) {
  Result<Topology> topology = loadTopology(request.topology);
  if (!topology)
    return topology.status();
  Result<Fabric> fabric = machineFor(request, *topology);
  if (!fabric)
    return fabric.status();
  std::string question =
      std::string(version) + "\n" + std::string(kindName(request.kind)) + " " +
      std::to_string(request.ranks) + " " + std::to_string(request.root) +
      "\n" + request.objective + " " + std::to_string(request.chunks) + " " +
      std::to_string(request.steps) + " " + std::to_string(request.rounds) +
      "\n" + (request.ordered ? "rounds each step" : "any order") + "\n" +
      writeTopology(*topology) + textOf(request.groups, *fabric);
  // An answer is the note, in a line, and the schedule.
  DiskCache cache;
  if (std::optional<std::string> known = cache.find(question))
    if (std::optional<Synthesized> answer =
            readAnswer(*known, request, *fabric))
      return *std::move(answer);
  std::string note;
  Result<Schedule> schedule = search(request, *fabric, note);
  if (!schedule)
    return schedule.status();
  std::string text = writeSchedule(*schedule);
  cache.keep(question, note + "\n" + text);
  return Synthesized{text, note};
}

/// The content of a topology's file; empty if `topology` is a name.
static std::string contentOf(const std::string &topology) {
  constexpr int64_t most = 1 << 26;
  std::error_code none;
  if (!std::filesystem::is_regular_file(topology, none))
    return "";
  Result<std::optional<std::string>> text = readText(topology, most);
  return text && *text ? **text : "";
}

Result<Synthesized> ccn::synthesizeOnce(const SynthRequest &request) {
  auto key = std::make_tuple(request.kind, request.ranks, request.root,
                             request.topology, contentOf(request.topology),
                             request.objective, request.chunks, request.steps,
                             request.rounds, request.ordered, request.seconds,
                             request.groups);
  static std::mutex mutex;
  static std::map<decltype(key), Result<Synthesized>> known;
  std::lock_guard lock(mutex);
  auto it = known.find(key);
  if (it == known.end())
    it = known.emplace(key, synthesize(request)).first;
  return it->second;
}
