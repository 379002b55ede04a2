//===- FindBounds.cpp - What no schedule can beat -------------------------===//
//
// See FindBounds.h.
//
//===----------------------------------------------------------------------===//

#include "synth/FindBounds.h"
#include "synth/Bound.h"
#include "synth/FractionalTrees.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// The latency, in microseconds, from a host to each node by the quickest way.
std::vector<double> latenciesFrom(const Fabric &fabric, int host) {
  const Topology &t = fabric.topology;
  std::vector<std::vector<int>> out(t.nodes.size());
  for (size_t l = 0; l < t.links.size(); ++l)
    out[t.links[l].src].push_back(static_cast<int>(l));
  std::vector<double> least(t.nodes.size(), -1);
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.push({0, fabric.hostNode[host]});
  while (!queue.empty()) {
    auto [us, at] = queue.top();
    queue.pop();
    if (least[at] >= 0)
      continue;
    least[at] = us;
    for (int l : out[at])
      queue.push({us + t.links[l].us, t.links[l].dst});
  }
  return least;
}

/// Over all pairs of ranks between which data must go: the largest latency of
/// the quickest way.
void boundLatency(FindSearch &search) {
  const Fabric &fabric = *search.fabric;
  std::vector<std::vector<double>> from(fabric.ranks);
  double most = 0;
  int src = 0, dst = 0;
  for (const ChunkRelation &chunk : search.collective.chunks)
    for (int to : chunk.post) {
      // A copy may come from any of them, a sum needs all.
      double nearest = -1;
      int nearestFrom = 0;
      for (int rank : chunk.pre) {
        if (from[rank].empty())
          from[rank] = latenciesFrom(fabric, rank);
        double us = from[rank][fabric.hostNode[to]];
        bool takes = search.collective.combining ? us > nearest
                                                 : nearest < 0 || us < nearest;
        if (takes) {
          nearest = us;
          nearestFrom = rank;
        }
      }
      if (nearest > most) {
        most = nearest;
        src = nearestFrom;
        dst = to;
      }
    }
  search.raiseBound(most,
                    "the latency from " + fabric.hostName(src) + " to " +
                        fabric.hostName(dst),
                    {.latencyFrom = src, .latencyTo = dst});
}

/// A latency that every send has at least: that of the fastest link into a
/// host.
double leastLatency(const Topology &t) {
  double least = -1;
  for (const Link &link : t.links)
    if (t.nodes[link.dst].isHost() && (least < 0 || link.us < least))
      least = link.us;
  return std::max(least, 0.0);
}

/// A sum that all ranks need takes 2 (ranks - 1) sends of each byte, and every
/// send enters a host.
void boundSends(FindSearch &search) {
  const Topology &t = search.fabric->topology;
  double into = 0;
  for (const Link &link : t.links)
    into += t.nodes[link.dst].isHost() ? link.gbps : 0;
  int sends = 2 * (search.fabric->ranks - 1);
  if (sends == 0)
    return;
  search.raiseBound(timeOf(search, 0) + sends * search.bytes / (into * 1000),
                    std::to_string(sends) +
                        " sends of the buffer over all links",
                    {.countsSends = true});
}

/// The links up to some speed join parts of the machine, as NICs join nodes:
/// what sums take over these alone.
void boundSlowLinks(FindSearch &search) {
  const Fabric &fabric = *search.fabric;
  constexpr int maxRanks = 256;
  if (fabric.ranks < 2 || fabric.ranks > maxRanks)
    return;
  const std::set<int> speeds(fabric.linkCap.begin(), fabric.linkCap.end());
  for (int speed : speeds) {
    std::vector<double> prices;
    for (int cap : fabric.linkCap)
      prices.push_back(cap <= speed ? 1 : 0);
    double rounds = leastSumRounds(fabric, prices);
    search.raiseBound(
        timeOf(search, rounds),
        std::to_string(rounds) + " rounds a buffer, over links of up to " +
            std::to_string(static_cast<int>(speed * fabric.unitGBps)) + " GB/s",
        {.prices = {prices.begin(), prices.end()}});
    if (search.limits.expired())
      return;
  }
}

} // namespace

double ccn::synth::timeOf(const FindSearch &search, double roundsPerChunk) {
  const Fabric &fabric = *search.fabric;
  return leastLatency(fabric.topology) +
         keptByRounding(fabric) * roundsPerChunk *
             search.collective.chunksPerNode * search.bytes /
             search.collective.bufferChunks / (fabric.unitGBps * 1000);
}

void ccn::synth::raiseBounds(FindSearch &search) {
  boundLatency(search);
  const Fabric &fabric = *search.fabric;
  if (search.collective.kind == CollectiveKind::AllReduce) {
    boundSends(search);
    boundSlowLinks(search);
  }
  // All cuts take long on large machines.
  constexpr int many = 512, some = 16;
  RoundBound bound = roundBound(fabric, search.collective,
                                fabric.ranks > many ? some : fabric.ranks);
  if (bound.roundsPerChunk.den > 0 && bound.roundsPerChunk.num > 0)
    search.raiseBound(timeOf(search, bound.roundsPerChunk.value()),
                      describe(bound, fabric),
                      {.cut = bound.nodes, .countsSends = bound.byCount});
}
