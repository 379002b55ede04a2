//===- BreadthFirst.cpp - Every chunk by the shortest ways ----------------===//
//
// See BreadthFirst.h. What a rank receives in a step does not depend on what
// others do: its neighbours on shortest ways have all chunks of the source by
// then. So each rank and step is a small transport problem of its own.
//
//===----------------------------------------------------------------------===//

#include "synth/BreadthFirst.h"
#include "synth/Compose.h"
#include "synth/EmptySchedule.h"
#include "synth/MaxFlow.h"

#include <algorithm>
#include <map>

using namespace ccn;
using namespace ccn::synth;

std::vector<int> ccn::synth::breadthFirstSources(const Collective &collective) {
  std::map<int, int> chunksOf;
  for (const ChunkRelation &chunk : collective.chunks) {
    if (collective.combining || chunk.pre.size() != 1 ||
        static_cast<int>(chunk.post.size()) +
                !std::binary_search(chunk.post.begin(), chunk.post.end(),
                                    chunk.pre[0]) !=
            collective.ranks)
      return {};
    ++chunksOf[chunk.pre[0]];
  }
  std::vector<int> sources;
  for (auto [source, count] : chunksOf) {
    if (count != chunksOf.begin()->second)
      return {};
    sources.push_back(source);
  }
  return sources;
}

BreadthFirst::Arrivals BreadthFirst::arrivals(int rank, int step) const {
  Arrivals result;
  result.edges = fabric.in[rank];
  for (size_t i = 0; i < sources.size(); ++i) {
    if (distance[i][rank] != step)
      continue;
    int index = static_cast<int>(result.sources.size());
    result.sources.push_back(static_cast<int>(i));
    for (size_t e = 0; e < result.edges.size(); ++e)
      if (distance[i][fabric.edges[result.edges[e]].src] == step - 1)
        result.ways.push_back({index, static_cast<int>(e)});
  }
  return result;
}

namespace {

/// A flow from node 0 to node 1: by the sources, which are nodes 2 and up, and
/// then by the edges that the rank receives from.
struct Transport {
  MaxFlow flow;
  std::vector<int> waysArcs;
  /// Each source has `supply`, each edge takes `rounds` times its capacity.
  template <typename Arrivals>
  Transport(const Arrivals &arrivals, const std::vector<int> &cap,
            int64_t supply, int64_t rounds) {
    int count = static_cast<int>(arrivals.sources.size());
    int edges = static_cast<int>(arrivals.edges.size());
    flow = MaxFlow(2 + count + edges);
    for (int i = 0; i < count; ++i)
      flow.addArc(0, 2 + i, supply);
    for (int e = 0; e < edges; ++e)
      flow.addArc(2 + count + e, 1, rounds * cap[arrivals.edges[e]]);
    for (auto [i, e] : arrivals.ways)
      waysArcs.push_back(flow.addArc(2 + i, 2 + count + e, MaxFlow::infinite));
    fits = flow.augment(0, 1) == supply * count;
  }
  bool fits = false;
};

} // namespace

/// The least number of rounds if each source has one chunk. It is the largest
/// ratio, over all sets of sources, of their number to the capacity of the
/// edges by which any of them can arrive.
Fraction BreadthFirst::worstRate(int rank, int step) const {
  Arrivals arriving = arrivals(rank, step);
  auto count = static_cast<int64_t>(arriving.sources.size());
  if (count == 0)
    return {};
  std::vector<char> used(arriving.edges.size());
  for (auto [i, e] : arriving.ways)
    used[e] = 1;
  int64_t capacity = 0;
  for (size_t e = 0; e < used.size(); ++e)
    capacity += used[e] ? cap[arriving.edges[e]] : 0;
  Fraction rate(count, capacity);
  // Each minimum cut of a rate that is too small names a set that needs more.
  while (true) {
    Transport transport(arriving, cap, rate.den, rate.num);
    if (transport.fits)
      return rate;
    std::vector<char> side = transport.flow.sourceSide(0);
    int64_t inside = 0;
    capacity = 0;
    for (int64_t i = 0; i < count; ++i)
      inside += side[2 + i];
    for (size_t e = 0; e < arriving.edges.size(); ++e)
      if (side[2 + count + e])
        capacity += cap[arriving.edges[e]];
    rate = Fraction(inside, capacity);
  }
}

Result<BreadthFirst> BreadthFirst::make(const Fabric &fabric,
                                        std::vector<int> sources,
                                        const Limits &limits) {
  if (sources.empty() || fabric.hosts != fabric.ranks)
    return error("breadth-first schedules need ranks that each chunk starts at "
                 "one of, and no CPUs");
  BreadthFirst result(fabric);
  result.sources = std::move(sources);
  result.cap.assign(fabric.edges.size(), INT32_MAX);
  for (const FabricSet &set : fabric.sets) {
    if (set.edges.size() > 1)
      return error("breadth-first schedules need links that are not shared, as "
                   "those of a switch are");
    int &cap = result.cap[set.edges.front()];
    cap = std::min(cap, set.cap);
  }
  int furthest = 0;
  for (int source : result.sources) {
    result.distance.push_back(fabric.distancesFrom(source));
    for (int steps : result.distance.back()) {
      if (steps < 0)
        return error("a rank cannot be reached");
      furthest = std::max(furthest, steps);
    }
  }
  for (int step = 1; step <= furthest; ++step) {
    Fraction most;
    for (int rank = 0; rank < fabric.ranks; ++rank) {
      if (limits.expired())
        return error("out of time");
      most = std::max(most, result.worstRate(rank, step));
    }
    result.rates.push_back(most);
  }
  return result;
}

/// Rounds for `chunks` chunks a source. Whole rounds are enough wherever
/// fractions are, as flows between whole capacities are whole.
static int64_t roundsFor(const Fraction &rate, int64_t chunks) {
  return std::max<int64_t>(1, (rate.num * chunks + rate.den - 1) / rate.den);
}

int64_t BreadthFirst::rounds(int chunks) const {
  int64_t total = 0;
  for (const Fraction &rate : rates)
    total += roundsFor(rate, chunks);
  return total;
}

int BreadthFirst::bestChunks(int most) const {
  int best = 1;
  for (int chunks = 2; chunks <= most; ++chunks)
    if (Fraction(rounds(chunks), chunks) < Fraction(rounds(best), best))
      best = chunks;
  return best;
}

/// The step as two steps of half its rounds each.
std::pair<Step, Step> BreadthFirst::split(const Step &step) const {
  std::pair<Step, Step> parts;
  parts.first.rounds = step.rounds / 2;
  parts.second.rounds = step.rounds - parts.first.rounds;
  std::vector<int64_t> room(cap.size());
  for (size_t e = 0; e < cap.size(); ++e)
    room[e] = static_cast<int64_t>(cap[e]) * parts.first.rounds;
  for (const Send &send : step.sends)
    (room[send.edge]-- > 0 ? parts.first : parts.second).sends.push_back(send);
  return parts;
}

Result<Schedule> BreadthFirst::schedule(const Collective &collective,
                                        const Limits &limits,
                                        int wantedSteps) const {
  std::map<int, std::vector<int>> chunksOf;
  for (size_t c = 0; c < collective.chunks.size(); ++c)
    chunksOf[collective.chunks[c].pre[0]].push_back(static_cast<int>(c));
  auto chunks = static_cast<int64_t>(chunksOf.begin()->second.size());
  Schedule result = emptySchedule(collective, fabric);
  for (int step = 1; step <= steps(); ++step) {
    Step sends;
    sends.rounds = static_cast<int>(roundsFor(rates[step - 1], chunks));
    for (int rank = 0; rank < fabric.ranks; ++rank) {
      if (limits.expired())
        return error("out of time");
      Arrivals arriving = arrivals(rank, step);
      Transport transport(arriving, cap, chunks, sends.rounds);
      std::vector<size_t> taken(arriving.sources.size());
      for (size_t w = 0; w < arriving.ways.size(); ++w) {
        auto [source, way] = arriving.ways[w];
        const std::vector<int> &list =
            chunksOf[sources[arriving.sources[source]]];
        int edge = arriving.edges[way];
        for (int64_t n = transport.flow.flow(transport.waysArcs[w]); n > 0; --n)
          sends.sends.push_back({list[taken[source]++],
                                 fabric.edges[edge].src,
                                 rank,
                                 SendOp::Copy,
                                 edge,
                                 {}});
      }
    }
    result.steps.push_back(std::move(sends));
  }
  while (static_cast<int>(result.steps.size()) < wantedSteps) {
    auto longest = std::max_element(
        result.steps.begin(), result.steps.end(),
        [](const Step &a, const Step &b) { return a.rounds < b.rounds; });
    if (longest == result.steps.end() || longest->rounds < 2)
      break;
    auto [first, second] = split(*longest);
    *longest = std::move(second);
    result.steps.insert(longest, std::move(first));
  }
  return result;
}

static Result<Schedule> copyingSchedule(const Fabric &fabric,
                                        CollectiveKind kind, int root,
                                        int chunks, const Limits &limits) {
  std::vector<int> sources;
  for (int rank = 0; rank < fabric.ranks; ++rank)
    if (kind == CollectiveKind::AllGather || rank == root)
      sources.push_back(rank);
  Result<BreadthFirst> engine =
      BreadthFirst::make(fabric, std::move(sources), limits);
  if (!engine)
    return engine.status();
  constexpr int maxChunks = 64;
  if (chunks == 0)
    chunks = engine->bestChunks(maxChunks);
  Result<Collective> collective =
      makeCollective(kind, fabric.ranks, chunks, root);
  if (!collective)
    return collective.status();
  return engine->schedule(*collective, limits);
}

Result<Schedule> ccn::synth::breadthFirstSchedule(const Fabric &fabric,
                                                  CollectiveKind kind, int root,
                                                  int chunks,
                                                  const Limits &limits) {
  return scheduleByCopies(
      fabric, kind, root, [&](const Fabric &machine, CollectiveKind copying) {
        Result<Schedule> schedule =
            copyingSchedule(machine, copying, root, chunks, limits);
        // The other half of an all_reduce has as many.
        if (schedule)
          chunks = schedule->collective.chunksPerNode;
        return schedule;
      });
}
