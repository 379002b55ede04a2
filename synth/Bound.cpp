//===- Bound.cpp - Lower bounds with certificates -------------------------===//
//
// See Bound.h. Cuts beyond enumeration are found as ForestColl does: the ratio
// of demand over capacity is raised by maximum flows (Dinkelbach's method)
// until no cut exceeds it.
//
//===----------------------------------------------------------------------===//

#include "synth/Bound.h"
#include "synth/MaxFlow.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace ccn;
using namespace ccn::synth;

StepBound ccn::synth::stepBound(const Fabric &fabric,
                                const Collective &collective) {
  std::vector<std::vector<int>> distance;
  for (int h = 0; h < fabric.ranks; ++h)
    distance.push_back(fabric.distancesFrom(h));
  StepBound bound;
  int from = -1, to = -1;
  auto consider = [&](int chunk, int src, int dst) {
    int d = distance[src][dst];
    if (bound.steps < 0 || (d >= 0 && d <= bound.steps && from >= 0))
      return;
    bound.steps = d;
    bound.chunk = chunk;
    from = src;
    to = dst;
  };
  for (size_t c = 0; c < collective.chunks.size(); ++c) {
    const ChunkRelation &chunk = collective.chunks[c];
    for (int dst : chunk.post) {
      if (collective.combining) {
        for (int src : chunk.pre)
          if (src != dst)
            consider(c, src, dst);
        continue;
      }
      // The nearest source will do.
      int best = chunk.pre[0];
      for (int src : chunk.pre)
        if (distance[src][dst] >= 0 &&
            (distance[best][dst] < 0 ||
             distance[src][dst] < distance[best][dst]))
          best = src;
      if (best != dst)
        consider(c, best, dst);
    }
  }
  if (from < 0)
    return bound;
  bound.path = {from};
  if (bound.steps < 0) {
    bound.path.push_back(to);
    return bound;
  }
  while (bound.path.back() != to)
    for (int e : fabric.out[bound.path.back()]) {
      int next = fabric.edges[e].dst;
      std::vector<int> rest = fabric.distancesFrom(next);
      if (rest[to] ==
          distance[from][to] - static_cast<int>(bound.path.size())) {
        bound.path.push_back(next);
        break;
      }
    }
  return bound;
}

namespace {

/// The distance between neighbours if at most `mostRanks` of the ranks are
/// picked at equal distances.
int strideFor(int ranks, int mostRanks) {
  return 1 + (ranks - 1) / std::max(1, mostRanks);
}

/// Copying collectives only; see roundBound.
class CutSearch {
public:
  CutSearch(const Fabric &fabric, const Collective &collective, int mostRanks)
      : fabric(fabric), coll(collective), t(fabric.topology),
        stride(strideFor(fabric.ranks, mostRanks)) {
    for (const ChunkRelation &chunk : coll.chunks)
      ++classes[{chunk.pre, chunk.post}];
    setOf.assign(t.links.size(), -1);
    for (size_t s = 0; s < t.edgeSets.size(); ++s)
      for (int l : t.edgeSets[s].links)
        if (setOf[l] < 0)
          setOf[l] = static_cast<int>(s);
    for (const EdgeSet &set : t.edgeSets)
      setCap.push_back(static_cast<int64_t>(set.gbps / fabric.unitGBps + 1e-6));
    for (size_t v = 0; v < t.nodes.size(); ++v)
      if (!t.nodes[v].isHost())
        relays.push_back(v);
  }

  RoundBound run();

private:
  /// What a cut (by topology node) lets through; sums links of one edge set
  /// only up to the set's capacity.
  int64_t capacity(const std::vector<char> &side) const {
    int64_t total = 0;
    std::vector<int64_t> inSet(setCap.size());
    for (size_t l = 0; l < t.links.size(); ++l)
      if (side[t.links[l].src] && !side[t.links[l].dst]) {
        if (setOf[l] >= 0)
          inSet[setOf[l]] += fabric.linkCap[l];
        else
          total += fabric.linkCap[l];
      }
    for (size_t s = 0; s < inSet.size(); ++s)
      total += std::min(inSet[s], setCap[s]);
    return total;
  }
  int64_t demand(const std::vector<char> &side) const {
    int64_t total = 0;
    auto inside = [&](int r) { return side[fabric.hostNode[r]] != 0; };
    for (const auto &[key, count] : classes)
      if (std::all_of(key.first.begin(), key.first.end(), inside) &&
          !std::all_of(key.second.begin(), key.second.end(), inside))
        total += count;
    return total;
  }
  void consider(const std::vector<char> &side) {
    int64_t need = demand(side);
    if (need == 0)
      return;
    int64_t cap = capacity(side);
    Fraction ratio(need, cap * coll.chunksPerNode);
    if (!(best.roundsPerChunk < ratio))
      return;
    best.roundsPerChunk = ratio;
    best.demand = need;
    best.capacity = cap;
    best.nodes.clear();
    for (size_t v = 0; v < side.size(); ++v)
      if (side[v])
        best.nodes.push_back(v);
  }
  void enumerate();
  void aroundDestinations();
  void aroundGroups();
  /// Puts the switches on the side that makes the cut smallest.
  void placeRelays(std::vector<char> &side) const;

  const Fabric &fabric;
  const Collective &coll;
  const Topology &t;
  std::map<std::pair<std::vector<int>, std::vector<int>>, int64_t> classes;
  /// Cuts are sought around every so many-th rank.
  const int stride;
  std::vector<int> setOf, relays;
  std::vector<int64_t> setCap;
  RoundBound best;
};

void CutSearch::placeRelays(std::vector<char> &side) const {
  if (relays.empty())
    return;
  int n = static_cast<int>(t.nodes.size());
  MaxFlow flow(n + 2);
  for (size_t l = 0; l < t.links.size(); ++l)
    flow.addArc(t.links[l].src, t.links[l].dst, fabric.linkCap[l]);
  for (int node : fabric.hostNode)
    if (side[node])
      flow.addArc(n, node, MaxFlow::infinite);
    else
      flow.addArc(node, n + 1, MaxFlow::infinite);
  flow.augment(n, n + 1);
  std::vector<char> reached = flow.sourceSide(n);
  for (int v : relays)
    side[v] = reached[v];
}

void CutSearch::enumerate() {
  for (uint32_t mask = 1; mask + 1 < (uint32_t(1) << fabric.hosts); ++mask) {
    std::vector<char> side(t.nodes.size());
    for (int h = 0; h < fabric.hosts; ++h)
      side[fabric.hostNode[h]] = mask >> h & 1;
    // No cut through the hosts' own links can beat the best: skip early.
    if (demand(side) == 0)
      continue;
    placeRelays(side);
    consider(side);
  }
}

void CutSearch::aroundDestinations() {
  int n = static_cast<int>(t.nodes.size());
  for (int dst = 0; dst < fabric.ranks; dst += stride) {
    std::map<std::vector<int>, int64_t> supply;
    int64_t total = 0;
    for (const auto &[key, count] : classes)
      if (std::binary_search(key.second.begin(), key.second.end(), dst) &&
          !std::binary_search(key.first.begin(), key.first.end(), dst)) {
        supply[key.first] += count;
        total += count;
      }
    if (total == 0)
      continue;
    // Start from the destination alone.
    std::vector<char> side(t.nodes.size(), 1);
    side[fabric.hostNode[dst]] = 0;
    consider(side);
    while (true) {
      // Rounds for the whole collective, as a fraction.
      Fraction ratio(best.demand, best.capacity);
      if (best.capacity == 0)
        return;
      MaxFlow flow(n + 1);
      for (size_t l = 0; l < t.links.size(); ++l)
        flow.addArc(t.links[l].src, t.links[l].dst,
                    fabric.linkCap[l] * ratio.num);
      for (const auto &[sources, count] : supply) {
        int entry = n;
        if (sources.size() > 1) {
          entry = flow.addNode();
          flow.addArc(n, entry, count * ratio.den);
        }
        for (int r : sources)
          flow.addArc(entry, fabric.hostNode[r], count * ratio.den);
      }
      if (flow.augment(n, fabric.hostNode[dst]) == total * ratio.den)
        break;
      std::vector<char> reached = flow.sourceSide(n);
      reached.resize(n);
      Fraction before = best.roundsPerChunk;
      consider(reached);
      if (best.roundsPerChunk == before)
        break;
    }
  }
}

void CutSearch::aroundGroups() {
  std::set<int> caps(fabric.linkCap.begin(), fabric.linkCap.end());
  for (int threshold : caps) {
    std::vector<int> parts = findParts(
        t, [&](size_t link) { return fabric.linkCap[link] > threshold; });
    std::set<int> roots(parts.begin(), parts.end());
    if (roots.size() < 2)
      continue;
    // Each component, its complement, and the components up to each in turn.
    std::vector<char> prefix(t.nodes.size());
    for (int root : roots) {
      std::vector<char> side(t.nodes.size());
      for (size_t v = 0; v < t.nodes.size(); ++v)
        if (parts[v] == root)
          side[v] = prefix[v] = 1;
      for (bool complement : {false, true}) {
        std::vector<char> tried = side, up = prefix;
        if (complement) {
          for (char &c : tried)
            c = !c;
          for (char &c : up)
            c = !c;
        }
        placeRelays(tried);
        consider(tried);
        placeRelays(up);
        consider(up);
      }
    }
  }
}

RoundBound CutSearch::run() {
  bool bySink = coll.kind == CollectiveKind::AllGather ||
                coll.kind == CollectiveKind::Broadcast ||
                coll.kind == CollectiveKind::Gather;
  int limit = relays.empty() ? 18 : 12;
  if (fabric.hosts <= limit) {
    enumerate();
    return best;
  }
  aroundDestinations();
  if (!bySink) {
    aroundGroups();
    best.exact = false;
  } else {
    best.exact = t.edgeSets.empty() && stride == 1;
  }
  return best;
}

} // namespace

RoundBound ccn::synth::roundBound(const Fabric &fabric,
                                  const Collective &collective, int mostRanks) {
  if (fabric.ranks == 1)
    return {};
  bool turn =
      (collective.combining || collective.kind == CollectiveKind::Scatter);
  if (turn) {
    if (Result<Collective> other = dual(collective)) {
      Fabric back = reversed(fabric);
      RoundBound bound = CutSearch(back, *other, mostRanks).run();
      // What leaves the set backwards enters it forwards: name the other side.
      std::vector<int> rest;
      for (size_t v = 0; v < fabric.topology.nodes.size(); ++v)
        if (!std::binary_search(bound.nodes.begin(), bound.nodes.end(),
                                static_cast<int>(v)))
          rest.push_back(v);
      bound.nodes = std::move(rest);
      return bound;
    }
  }
  if (!collective.combining)
    return CutSearch(fabric, collective, mostRanks).run();
  // Several destinations: what each rank contributes must reach all of them,
  // as if every chunk were broadcast from each of its ranks; one at a time.
  RoundBound best;
  std::set<std::pair<std::vector<int>, std::vector<int>>> kinds;
  for (const ChunkRelation &chunk : collective.chunks)
    kinds.insert({chunk.pre, chunk.post});
  std::vector<int> allRanks(collective.ranks);
  std::iota(allRanks.begin(), allRanks.end(), 0);
  // Where all ranks need what all contribute to, a cut lets some rank's
  // contributions out to another, and one of the two can be rank 0: a broadcast
  // from it, and what each other rank sends it, meet every cut.
  bool byRank0 = kinds.size() == 1 && kinds.begin()->first == allRanks &&
                 kinds.begin()->second == allRanks;
  for (int r = 0; r < collective.ranks;
       r += strideFor(collective.ranks, mostRanks)) {
    Collective part = collective;
    part.combining = false;
    part.kind =
        kinds.size() == 1 ? CollectiveKind::Broadcast : CollectiveKind::Custom;
    for (ChunkRelation &chunk : part.chunks)
      if (byRank0 && r > 0)
        chunk = {{r}, {0}};
      else
        chunk = std::binary_search(chunk.pre.begin(), chunk.pre.end(), r)
                    ? ChunkRelation{{r}, chunk.post}
                    : ChunkRelation{{r}, {r}};
    RoundBound bound = CutSearch(fabric, part, mostRanks).run();
    if (best.roundsPerChunk < bound.roundsPerChunk)
      best = bound;
    if (best.roundsPerChunk.den == 0)
      return best;
  }
  int64_t sends = 0;
  for (const ChunkRelation &chunk : collective.chunks) {
    // Until the first rank has the whole sum |pre| - 1 sends happen at least,
    // and each further destination receives one more.
    int64_t sources = chunk.pre.size(), targets = chunk.post.size();
    if (targets > 0)
      sends += sources - 1 + targets - 1;
  }
  // Every send enters a host over some last link and leaves one over a first.
  int64_t into = 0, outOf = 0;
  for (size_t l = 0; l < fabric.topology.links.size(); ++l) {
    const Link &link = fabric.topology.links[l];
    into += fabric.topology.nodes[link.dst].isHost() ? fabric.linkCap[l] : 0;
    outOf += fabric.topology.nodes[link.src].isHost() ? fabric.linkCap[l] : 0;
  }
  int64_t room = std::min(into, outOf);
  Fraction byCount(sends, room * collective.chunksPerNode);
  if (best.roundsPerChunk < byCount) {
    best.roundsPerChunk = byCount;
    best.nodes.clear();
    best.demand = sends;
    best.capacity = room;
    best.byCount = true;
  }
  best.exact = false;
  return best;
}

double ccn::synth::keptByRounding(const Fabric &fabric) {
  const Topology &t = fabric.topology;
  double kept = 1;
  for (const EdgeSet &set : t.edgeSets)
    kept = std::min(kept, std::floor(set.gbps / fabric.unitGBps + 1e-6) *
                              fabric.unitGBps / set.gbps);
  for (size_t l = 0; l < t.links.size(); ++l)
    kept =
        std::min(kept, fabric.linkCap[l] * fabric.unitGBps / t.links[l].gbps);
  return kept;
}

int64_t ccn::synth::leastRounds(const RoundBound &bound,
                                int64_t chunksPerNode) {
  const Fraction &f = bound.roundsPerChunk;
  return f.den == 0 ? -1 : (f.num * chunksPerNode + f.den - 1) / f.den;
}

std::string ccn::synth::describe(const StepBound &bound, const Fabric &fabric) {
  if (bound.path.empty())
    return "0 steps";
  if (bound.steps < 0)
    return "no way from " + fabric.hostName(bound.path[0]) + " to " +
           fabric.hostName(bound.path.back());
  std::string text = std::to_string(bound.steps) + " steps: chunk " +
                     std::to_string(bound.chunk) + " along ";
  for (size_t i = 0; i < bound.path.size(); ++i)
    text += (i ? " -> " : "") + fabric.hostName(bound.path[i]);
  return text;
}

std::string ccn::synth::describe(const RoundBound &bound,
                                 const Fabric &fabric) {
  std::string text = bound.roundsPerChunk.str() + " rounds a chunk: ";
  if (bound.roundsPerChunk.num == 0)
    return text + "nothing need cross";
  if (bound.byCount)
    return text + "at least " + std::to_string(bound.demand) +
           " sends, and all links carry " + std::to_string(bound.capacity) +
           " a round";
  text += std::to_string(bound.demand) + " chunks must leave {";
  for (size_t i = 0; i < bound.nodes.size(); ++i)
    text += (i ? " " : "") + fabric.topology.nodes[bound.nodes[i]].name;
  return text + "} over links that carry " + std::to_string(bound.capacity) +
         " a round" + (bound.exact ? "" : " (not all cuts were tried)");
}
