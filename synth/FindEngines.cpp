//===- FindEngines.cpp - The engines that find compares -------------------===//
//
// See Find.h. Each engine is asked for several numbers of chunks or pieces: few
// are best for small buffers, many for large ones.
//
//===----------------------------------------------------------------------===//

#include "synth/BalancedTrees.h"
#include "synth/BreadthFirst.h"
#include "synth/Compose.h"
#include "synth/Find.h"
#include "synth/FindBounds.h"
#include "synth/FindTrees.h"
#include "synth/Flow.h"
#include "synth/FlowSchedule.h"
#include "synth/Hierarchy.h"
#include "synth/Matching.h"
#include "synth/NodeBalance.h"
#include "synth/Pareto.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Schedules with more sends are not tried.
constexpr int64_t maxSends = 4'000'000;
/// The limit for textbook schedules, since large machines have better ones.
constexpr int64_t maxTextbook = 300'000;

/// Sends of a schedule of the kind with `chunks` chunks a rank's share.
int64_t expectedSends(const Fabric &fabric, CollectiveKind kind,
                      int64_t chunks) {
  int64_t ranks = fabric.ranks;
  bool rooted =
      kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce;
  return chunks * ranks * (rooted ? 1 : ranks) *
         (kind == CollectiveKind::AllReduce ? 2 : 1);
}

/// Offers schedules of 1, 2, 4, ... pieces until more pieces make them slower.
void offerPieces(FindSearch &search, const std::string &engine,
                 const std::string &piece, int most,
                 const std::function<Result<Schedule>(Fabric &, int)> &make) {
  double best = 0;
  int inVain = 0;
  for (int pieces = 1; pieces <= most && inVain < 2 && !search.limits.expired();
       pieces *= 2) {
    auto fabric = std::make_shared<Fabric>(*search.fabric);
    Result<Schedule> schedule = make(*fabric, pieces);
    if (!schedule)
      return;
    int64_t sends = schedule->totalSends();
    double us = search.offer(engine, engine + ", " + counted(pieces, piece),
                             std::move(*schedule), fabric);
    if (us < 0)
      return;
    inVain = best > 0 && us >= best ? inVain + 1 : 0;
    best = best > 0 ? std::min(best, us) : us;
    if (2 * sends > maxSends)
      return;
  }
}

/// The largest number of ways from rank 0 to one other host.
int parallelWays(const Fabric &fabric) {
  int most = 1;
  std::vector<int> ways(fabric.hosts);
  for (int e : fabric.out[0])
    most = std::max(most, ++ways[fabric.edges[e].dst]);
  return most;
}

/// Sends every chunk directly to where it is needed. Tries one chunk per source
/// and destination, and as many as there are ways between two ranks.
void direct(FindSearch &search) {
  const Fabric &fabric = *search.fabric;
  using enum CollectiveKind;
  const int ways = parallelWays(fabric);
  for (int chunks = 1; chunks <= ways; chunks += std::max(1, ways - 1)) {
    Result<Collective> coll = search.collectiveOf(chunks * search.granule);
    if (!coll)
      return;
    int64_t sends = 0;
    for (const ChunkRelation &chunk : coll->chunks)
      sends += static_cast<int64_t>(chunk.post.size()) *
               (coll->combining ? static_cast<int64_t>(chunk.pre.size()) : 1);
    if (sends <= maxTextbook)
      search.offer("textbook", "direct sends", directSchedule(*coll),
                   search.fabric);
    if (coll->kind != AllReduce ||
        expectedSends(fabric, coll->kind, chunks) > maxTextbook)
      continue;
    if (Result<Schedule> schedule = scheduleByCopies(
            fabric, AllReduce, 0, [&](const Fabric &, CollectiveKind) {
              return Result<Schedule>(directSchedule(
                  *makeCollective(AllGather, fabric.ranks, chunks)));
            }))
      search.offer("textbook", "direct sends, two steps", std::move(*schedule),
                   search.fabric);
  }
}

/// Adds everything up at one rank, which sends the sum to all: for buffers too
/// small to be cut.
void toOneAndBack(FindSearch &search) {
  using enum CollectiveKind;
  const int ranks = search.collective.ranks;
  auto tree = [&](const Fabric &machine, CollectiveKind) -> Result<Schedule> {
    MatchingOptions options;
    options.bytes = search.bytes;
    options.seed = search.seed;
    options.limits = search.limits;
    double us = 0;
    return matchingSchedule(machine, *makeCollective(Broadcast, ranks, 1),
                            options, us);
  };
  Result<Schedule> up = scheduleByCopies(*search.fabric, Reduce, 0, tree);
  Result<Schedule> down = tree(*search.fabric, Broadcast);
  if (up && down)
    search.offer("textbook", "a tree to one rank and back",
                 concatenate(*up, *down, *makeCollective(AllReduce, ranks, 1)),
                 search.fabric);
}

void textbook(FindSearch &search) {
  const Collective &coll = search.collective;
  using enum CollectiveKind;
  int ranks = coll.ranks;
  direct(search);
  auto offer = [&](const std::string &method, Schedule schedule) {
    search.offer("textbook", method, std::move(schedule), search.fabric);
  };
  auto offerCopies = [&](const std::string &method,
                         const CopyingEngine &engine) {
    if (Result<Schedule> schedule =
            scheduleByCopies(*search.fabric, coll.kind, coll.root, engine))
      offer(method, std::move(*schedule));
  };
  bool rooted = coll.kind == Broadcast || coll.kind == Reduce;
  if (rooted)
    offerCopies("binomial tree", [&](const Fabric &, CollectiveKind) {
      return Result<Schedule>(binomialBroadcast(ranks, coll.root));
    });
  if (rooted)
    offerPieces(search, "chain", "chunk", 1024, [&](Fabric &machine, int n) {
      return scheduleByCopies(
          machine, coll.kind, coll.root, [&](const Fabric &, CollectiveKind) {
            return Result<Schedule>(chainBroadcast(ranks, coll.root, n));
          });
    });
  bool copied = coll.kind == AllGather || coll.kind == ReduceScatter ||
                coll.kind == AllReduce;
  bool isPower = ranks > 1 && (ranks & (ranks - 1)) == 0;
  if (coll.kind == AllReduce)
    toOneAndBack(search);
  if (coll.kind == AllReduce && isPower)
    offer("doubling of whole buffers", doublingAllReduce(ranks));
  if (!copied || expectedSends(*search.fabric, coll.kind, 1) > maxTextbook)
    return;
  offer("ring", ringSchedule(coll.kind, ranks));
  if (isPower)
    offerCopies("doubling", [&](const Fabric &, CollectiveKind) {
      return Result<Schedule>(doublingAllGather(ranks));
    });
}

/// Tries one chunk, which takes the least time to search; then the number of
/// chunks with the fewest rounds per chunk; then multiples of it, whose sends
/// overlap better.
void breadthFirst(FindSearch &search) {
  const Collective &coll = search.collective;
  int best = 1;
  for (int times : {1, 0, 2, 4}) {
    if (search.limits.expired() ||
        expectedSends(*search.fabric, coll.kind, times * best) > maxSends)
      return;
    Result<Schedule> schedule = breadthFirstSchedule(
        *search.fabric, coll.kind, coll.root, times * best, search.limits);
    if (!schedule)
      return;
    int chunks = schedule->collective.chunksPerNode;
    if (coll.kind == CollectiveKind::AllReduce)
      chunks /= coll.ranks;
    if (times == 0)
      best = chunks;
    if (expectedSends(*search.fabric, coll.kind, chunks) > maxSends)
      return;
    search.offer("breadth-first",
                 "breadth-first flows, " + counted(chunks, "chunk") +
                     (coll.rooted() ? "" : " a rank"),
                 std::move(*schedule), search.fabric);
  }
}

/// Tries one seed after the other, each with the best time so far as its
/// deadline; then doubles the chunks until that makes the schedules slower.
void matching(FindSearch &search, uint64_t firstSeed) {
  const Collective &coll = search.collective;
  const Fabric &fabric = *search.fabric;
  constexpr int maxChunks = 128, triesInVain = 6;
  constexpr int64_t maxMatched = 1'000'000;
  // A rank's share is little where there are many.
  bool rooted = coll.rooted();
  uint64_t seed = search.seed + firstSeed;
  double best = 0;
  int costs = 0;
  for (int chunks = 1; chunks <= maxChunks * (rooted ? 8 : 1) && costs < 2 &&
                       expectedSends(fabric, coll.kind, chunks) <= maxMatched;
       chunks *= 2) {
    bool gained = false;
    // By the direction of the fabric and the collective: the best time.
    std::vector<double> deadlines(2);
    std::vector<std::optional<Schedule>> halves(2);
    for (int inVain = 0; inVain < triesInVain; ++inVain) {
      if (search.limits.expired())
        return;
      size_t half = 0;
      bool faster = false;
      auto engine = [&](const Fabric &machine,
                        CollectiveKind kind) -> Result<Schedule> {
        // Reversed: the first half of an all_reduce.
        size_t at = half++;
        Result<Collective> copying =
            makeCollective(kind, machine.ranks, chunks, coll.root);
        if (!copying)
          return copying.status();
        MatchingOptions options;
        options.bytes = search.bytes;
        options.seed = ++seed;
        options.deadline = deadlines[at] * (1 - 1e-6);
        options.sparesSlowLinks = seed % 2;
        options.limits = search.limits;
        double us = 0;
        Result<Schedule> schedule =
            matchingSchedule(machine, *copying, options, us);
        if (schedule) {
          faster = true;
          deadlines[at] = us;
          halves[at] = *schedule;
        }
        if (!halves[at])
          return schedule;
        return *halves[at];
      };
      Result<Schedule> schedule =
          scheduleByCopies(fabric, coll.kind, coll.root, engine);
      if (!schedule)
        return;
      if (!faster)
        continue;
      double us = search.offer("matching",
                               "matching, " + counted(chunks, "chunk") +
                                   (rooted ? "" : " a rank"),
                               std::move(*schedule), search.fabric);
      if (best == 0 || us < best) {
        best = us;
        gained = true;
        inVain = -1;
      }
    }
    costs = gained ? 0 : costs + 1;
  }
}

/// A broadcast through every GPU of the root's node, and from node to node.
void relays(FindSearch &search) {
  const Collective &coll = search.collective;
  if (coll.ranks < 3)
    return;
  std::vector<std::vector<int>> nodes(1);
  Result<NodeGroups> found = findGroups(*search.fabric);
  if (found && found->ranks[0].size() > 1)
    nodes = found->ranks;
  else
    for (int rank = 0; rank < coll.ranks; ++rank)
      nodes[0].push_back(rank);
  if (expectedSends(*search.fabric, coll.kind,
                    static_cast<int64_t>(nodes[0].size())) > maxSends)
    return;
  offerPieces(search, "relays", "piece", 1024, [&](Fabric &machine, int n) {
    return scheduleByCopies(
        machine, coll.kind, coll.root, [&](const Fabric &, CollectiveKind) {
          return Result<Schedule>(relayBroadcast(nodes, coll.root, n));
        });
  });
}

/// Packed trees. A broadcast needs many pieces, which follow each other down
/// its few trees.
void packedTrees(FindSearch &search) {
  const Collective &coll = search.collective;
  bool rooted = coll.rooted();
  offerPieces(search, "trees", "piece", rooted ? 1024 : 128,
              [&](Fabric &machine, int pieces) {
                return treeSchedule(machine, coll.kind, pieces, search.limits,
                                    nullptr, INT_MAX, coll.root);
              });
}

/// Trees by the prices of links: the fewest trees that come near the bound,
/// then more trees, which fill the links earlier.
void growTrees(FindSearch &search) {
  constexpr int maxPieces = 16, triesInVain = 2;
  double best = 0;
  int vain = 0;
  for (int pieces = 1; pieces <= maxPieces && vain < triesInVain; pieces *= 2) {
    BalancedOptions options;
    options.pieces = pieces;
    options.seed = search.seed;
    options.limits = search.limits;
    Result<BalancedTrees> made = balancedTrees(
        *search.fabric,
        search.groups.empty() ? search.collective.kind : search.groupKind,
        search.groups, options);
    if (!made)
      return;
    double us = search.offer(
        "balanced trees",
        "balanced trees, " + counted(made->treesPerRank, "tree") + " a rank",
        std::move(made->schedule), search.fabric);
    vain = best == 0 || us < best ? 0 : vain + 1;
    best = best == 0 ? us : std::min(best, us);
  }
}

/// Point-to-point traffic that is balanced over the NICs of each node.
void nodes(FindSearch &search) {
  Result<NodeBalanced> made = nodeBalanced(*search.fabric, [&](int k) {
    return search.collectiveOf(k * search.granule);
  });
  if (!made)
    return;
  search.offer("nodes", "balanced nodes, " + counted(made->multiplier, "time"),
               std::move(made->schedule), search.fabric);
}

void flows(FindSearch &search) {
  for (int multiplier : {0, 1, 2, 4}) {
    if (search.limits.expired())
      return;
    auto fabric = std::make_shared<Fabric>(*search.fabric);
    FlowOptions options;
    options.multiplier = multiplier;
    options.limits = search.limits;
    Result<FlowScheduleResult> result = flowSchedule(
        *fabric, [&](int k) { return search.collectiveOf(k * search.granule); },
        options);
    if (!result)
      return;
    search.raiseBound(
        timeOf(search, result->bound.value() / search.collective.chunksPerNode),
        result->bound.str() + " rounds, by the lengths of links",
        {.lengths = result->lengths});
    search.offer("flows", "flows, " + counted(result->multiplier, "time"),
                 std::move(result->schedule), fabric);
  }
}

/// The frontier of steps against rounds, as the compiler searches it: bounded
/// by conflicts, not by time.
void frontier(FindSearch &search) {
  ParetoOptions options;
  options.solve.limits = search.limits;
  options.solve.seed = search.seed;
  options.solve.exhaustive = false;
  options.solve.maxConflicts = 30000;
  options.granule = search.granule;
  options.onPoint = [&](const ParetoPoint &point) {
    search.offer("frontier",
                 "frontier (" + std::to_string(point.chunks) + "," +
                     std::to_string(point.steps) + "," +
                     std::to_string(point.rounds) + "), " + point.method,
                 point.schedule, search.fabric);
  };
  (void)paretoFrontier(*search.fabric, search.collectiveOf, options);
}

/// Tries the fastest schedule so far with its sends in other orders.
void reorder(FindSearch &search) {
  constexpr int triesInVain = 30, mostReordered = 300'000;
  std::string method;
  uint64_t seed = search.seed;
  double tried = -1;
  // The others need the time more.
  const double half = search.limits.remaining() / 2;
  while (search.othersRun() && search.limits.remaining() > half &&
         !search.limits.expired())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  while (!search.limits.expired()) {
    std::optional<FoundSchedule> best = search.fastest(tried, mostReordered);
    if (!best) {
      if (!search.othersRun())
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    if (best->engine != "reordering")
      method = best->method;
    std::optional<Schedule> faster =
        fasterOrder(best->schedule, *best->fabric, search.bytes, triesInVain,
                    ++seed, search.limits);
    if (faster)
      search.offer("reordering", method + ", sends reordered",
                   std::move(*faster), best->fabric);
    else
      tried = best->us;
  }
}

} // namespace

std::optional<Schedule> ccn::synth::fasterOrder(const Schedule &schedule,
                                                const Fabric &fabric,
                                                double bytes, int tries,
                                                uint64_t seed,
                                                const Limits &limits) {
  // Less than this is no gain.
  constexpr double gain = 0.999;
  Result<Timing> before = simulate(schedule, fabric, bytes);
  if (!before)
    return std::nullopt;
  double us = before->us();
  std::mt19937_64 random(seed);
  for (int i = 0; i < tries && !limits.expired(); ++i) {
    Schedule other = schedule;
    for (Step &step : other.steps)
      if (i % 2 == 0 || random() % 4 == 0)
        std::shuffle(step.sends.begin(), step.sends.end(), random);
    Result<Timing> timing = simulate(other, fabric, bytes);
    if (timing && timing->eventUs < gain * us)
      return other;
  }
  return std::nullopt;
}

std::vector<FindEngine> ccn::synth::findEngines(const Fabric &fabric,
                                                const Collective &collective,
                                                double bytes, unsigned cores) {
  using enum CollectiveKind;
  CollectiveKind kind = collective.kind;
  bool copied = kind == AllGather || kind == ReduceScatter || kind == AllReduce;
  bool rooted = kind == Broadcast || kind == Reduce;
  // Searches over steps are for machines of one or a few nodes.
  constexpr int maxSearched = 64, maxPacked = 160;
  // Linear programs have columns for trees and rows for links (and steps).
  constexpr int maxWeighted = 40, maxTimed = 16;
  std::vector<FindEngine> engines = {{"textbook", textbook}};
  if (copied || rooted)
    engines.push_back({"breadth-first", breadthFirst});
  if (isPointToPoint(collective)) {
    engines.push_back({"nodes", nodes});
    engines.push_back({"flows", flows});
  }
  if (copied) {
    engines.push_back({"hierarchy", [kind](FindSearch &search) {
                         offerPieces(search, "hierarchy", "piece", 16,
                                     [&](Fabric &machine, int pieces) {
                                       return hierarchicalSchedule(
                                           machine, kind, pieces,
                                           search.limits);
                                     });
                       }});
  }
  // Those of groups are of no kind of their own.
  if (copied || kind == Custom)
    engines.push_back({"balanced trees", growTrees});
  // Packing takes longest.
  if (rooted)
    engines.push_back({"relays", relays});
  if ((copied || rooted) && fabric.ranks <= maxPacked)
    engines.push_back({"trees", packedTrees});
  if ((copied || rooted) && fabric.ranks <= maxWeighted)
    engines.push_back({"weighted trees", findWeightedTrees});
  if ((copied || rooted) && fabric.ranks <= maxTimed)
    engines.push_back({"timed trees", findTimedTrees});
  engines.push_back({"bounds", raiseBounds});
  if (fabric.ranks <= maxSearched)
    engines.push_back({"frontier", frontier});
  // What depends on chance gains most from more cores.
  if (copied || rooted)
    for (unsigned i = 0; i < std::max(1U, cores / 2); ++i)
      engines.push_back(
          {"matching", [i](FindSearch &search) { matching(search, i << 20); }});
  engines.push_back({"reordering", reorder});
  // Linear programs find what fills links; searches, what takes few sends.
  constexpr double large = 16e6;
  for (FindEngine &engine : engines) {
    bool isProgram =
        engine.name == "weighted trees" || engine.name == "timed trees";
    bool isSearch = engine.name == "frontier" || engine.name == "matching" ||
                    engine.name == "reordering";
    engine.givesWay = bytes < large ? isProgram : isSearch;
  }
  return engines;
}
