//===- Rings.cpp - Rings that a machine's links carry at once -------------===//
//
// See Rings.h. Rings are found one after the other, by depth-first search over
// the links that have the most room left, and with each the one that goes the
// other way; this is tried several times, with other choices among equals, for
// each width at which rings may fill links.
//
//===----------------------------------------------------------------------===//

#include "synth/Rings.h"
#include "synth/Compose.h"

#include <algorithm>
#include <climits>
#include <map>
#include <random>
#include <set>
#include <tuple>

using namespace ccn;
using namespace ccn::synth;

namespace {

bool isNic(const Topology &t, int node) {
  return t.nodes[node].kind == NodeKind::Nic;
}

class RingSearch {
public:
  RingSearch(const Fabric &fabric, const std::vector<RingMachine> &machines);

  /// Rings of a width; `fewestFirst` goes on to the ranks with the fewest free
  /// neighbours first.
  Rings run(int width, int most, uint64_t seed, bool fewestFirst);
  /// Whether a search ended before it had tried all ways.
  bool gaveUp() const { return hasGivenUp; }
  int64_t visitedInAll() const { return allVisited; }

private:
  /// The edges over which a ring may go on to a rank.
  struct Hop {
    int to;
    std::vector<int> edges;
  };
  struct Next {
    int edge, room;
    size_t freeAfter;
    uint64_t order;
  };

  int roomOn(int edge) const {
    int least = INT_MAX;
    for (size_t s : setsOf[edge])
      least = std::min(least, room[s]);
    return least;
  }
  /// Takes the room of an edge, or with a negative number gives it back.
  void take(int edge, int amount) {
    for (size_t s : setsOf[edge])
      room[s] -= amount;
  }
  /// The edge with the most room; none if that is less than a ring's.
  int bestEdge(const Hop &hop) const;
  std::vector<Next> nextOf(const std::vector<int> &ring);
  bool extend(std::vector<int> &ring, std::vector<int> &edges);
  bool addRing(Rings &rings);
  bool addBackwards(Rings &rings);

  const Fabric &fabric;
  std::vector<std::vector<size_t>> setsOf;
  std::vector<std::vector<Hop>> hops;
  std::vector<int> machineOf;
  /// The GPUs of a machine.
  int size = 0;
  int units = 1;
  bool fewestFirst = false;
  std::mt19937_64 random;
  std::vector<int> room;
  std::vector<char> isUsed;
  int64_t visited = 0, allVisited = 0;
  bool hasGivenUp = false;
};

RingSearch::RingSearch(const Fabric &fabric,
                       const std::vector<RingMachine> &machines)
    : fabric(fabric), setsOf(fabric.edges.size()),
      hops(static_cast<size_t>(fabric.ranks)),
      machineOf(static_cast<size_t>(fabric.ranks)) {
  const Topology &t = fabric.topology;
  int count = std::max(1, static_cast<int>(machines.size()));
  for (int m = 0; m < static_cast<int>(machines.size()); ++m)
    for (int rank : machines[m].ranks)
      machineOf[rank] = m;
  size = fabric.ranks / count;
  for (size_t s = 0; s < fabric.sets.size(); ++s)
    for (int e : fabric.sets[s].edges)
      setsOf[e].push_back(s);
  for (int rank = 0; rank < fabric.ranks; ++rank)
    for (int e : fabric.out[rank]) {
      const FabricEdge &edge = fabric.edges[e];
      if (edge.dst >= fabric.ranks)
        continue;
      bool hasNic =
          std::any_of(edge.path.begin(), edge.path.end(),
                      [&](int link) { return isNic(t, t.links[link].dst); });
      int from = machineOf[rank], to = machineOf[edge.dst];
      if (hasNic ? from == to || to != (from + 1) % count : from != to)
        continue;
      auto hop =
          std::find_if(hops[rank].begin(), hops[rank].end(),
                       [&](const Hop &known) { return known.to == edge.dst; });
      if (hop == hops[rank].end())
        hop = hops[rank].insert(hop, Hop{edge.dst, {}});
      hop->edges.push_back(e);
    }
}

int RingSearch::bestEdge(const Hop &hop) const {
  int best = -1;
  for (int e : hop.edges)
    if (roomOn(e) >= units && (best < 0 || roomOn(e) > roomOn(best)))
      best = e;
  return best;
}

/// The ways on from the last rank of a ring, the most promising first.
std::vector<RingSearch::Next> RingSearch::nextOf(const std::vector<int> &ring) {
  int here = ring.back();
  bool isWhole = static_cast<int>(ring.size()) == fabric.ranks;
  // A machine is left when all its GPUs were passed.
  bool leaves = static_cast<int>(ring.size()) % size == 0;
  std::vector<Next> next;
  for (const Hop &hop : hops[here]) {
    if (isWhole ? hop.to != ring.front() : isUsed[hop.to] != 0)
      continue;
    if (!isWhole && leaves != (machineOf[hop.to] != machineOf[here]))
      continue;
    int edge = bestEdge(hop);
    if (edge < 0)
      continue;
    size_t freeAfter = 0;
    if (fewestFirst)
      for (const Hop &after : hops[hop.to])
        freeAfter += !isUsed[after.to];
    next.push_back({edge, roomOn(edge), freeAfter, random()});
  }
  std::sort(next.begin(), next.end(), [](const Next &a, const Next &b) {
    return std::tuple(-a.room, a.freeAfter, a.order) <
           std::tuple(-b.room, b.freeAfter, b.order);
  });
  return next;
}

/// Goes on from the last rank of the ring, until all are in it.
bool RingSearch::extend(std::vector<int> &ring, std::vector<int> &edges) {
  constexpr int64_t maxVisited = 20000;
  if (++visited > maxVisited) {
    hasGivenUp = true;
    return false;
  }
  ++allVisited;
  bool isWhole = static_cast<int>(ring.size()) == fabric.ranks;
  for (const Next &choice : nextOf(ring)) {
    int to = fabric.edges[choice.edge].dst;
    take(choice.edge, units);
    edges.push_back(choice.edge);
    if (isWhole)
      return true;
    isUsed[to] = 1;
    ring.push_back(to);
    if (extend(ring, edges))
      return true;
    ring.pop_back();
    isUsed[to] = 0;
    edges.pop_back();
    take(choice.edge, -units);
  }
  return false;
}

/// The last ring, backwards.
bool RingSearch::addBackwards(Rings &rings) {
  const std::vector<int> &ring = rings.rings.back();
  std::vector<int> order = {ring.front()}, edges;
  order.insert(order.end(), ring.rbegin(), ring.rend() - 1);
  for (size_t i = 0; i < order.size(); ++i) {
    int to = order[(i + 1) % order.size()], edge = -1;
    for (const Hop &hop : hops[order[i]])
      if (hop.to == to)
        edge = bestEdge(hop);
    if (edge < 0) {
      for (int e : edges)
        take(e, -units);
      return false;
    }
    take(edge, units);
    edges.push_back(edge);
  }
  rings.rings.push_back(std::move(order));
  rings.edges.push_back(std::move(edges));
  return true;
}

/// Begins in the first machine, with any GPU by which a ring can enter it.
bool RingSearch::addRing(Rings &rings) {
  std::vector<int> starts;
  for (int rank = 0; rank < fabric.ranks; ++rank)
    if (machineOf[rank] == 0)
      starts.push_back(rank);
  if (size == fabric.ranks)
    starts.resize(1);
  std::shuffle(starts.begin(), starts.end(), random);
  for (int start : starts) {
    std::vector<int> ring = {start}, edges;
    isUsed.assign(static_cast<size_t>(fabric.ranks), 0);
    isUsed[start] = 1;
    visited = 0;
    if (extend(ring, edges)) {
      rings.rings.push_back(std::move(ring));
      rings.edges.push_back(std::move(edges));
      return true;
    }
  }
  return false;
}

Rings RingSearch::run(int width, int most, uint64_t seed, bool fewest) {
  units = width;
  fewestFirst = fewest;
  random.seed(seed);
  room.clear();
  for (const FabricSet &set : fabric.sets)
    room.push_back(set.cap);
  Rings rings;
  rings.units = width;
  while (static_cast<int>(rings.rings.size()) < most && addRing(rings))
    if (static_cast<int>(rings.rings.size()) < most)
      addBackwards(rings);
  return rings;
}

/// By node, the first node of what hangs together without NICs.
std::vector<int> partsWithoutNics(const Topology &t) {
  std::vector<int> parts = findParts(t, [&](size_t link) {
    return !isNic(t, t.links[link].src) && !isNic(t, t.links[link].dst);
  });
  std::map<int, int> first;
  for (int node = 0; node < static_cast<int>(parts.size()); ++node)
    parts[node] = first.emplace(parts[node], node).first->second;
  return parts;
}

/// Whether a name is that of several of our machines, as ndv2x2.
bool namesSeveral(const std::string &name) {
  return std::any_of(
      builtinTopologies().begin(), builtinTopologies().end(),
      [&](const BuiltinTopology &known) {
        std::string pattern = known.pattern;
        size_t end = pattern.find("[xN]");
        if (end == std::string::npos)
          return false;
        std::string prefix = pattern.substr(0, end) + "x";
        return name.size() > prefix.size() && name.starts_with(prefix) &&
               name.find_first_not_of("0123456789", prefix.size()) ==
                   std::string::npos &&
               name.substr(prefix.size()) != "1";
      });
}

/// The machines between which data passes NICs; none if there is only one.
Result<std::vector<RingMachine>> machinesOf(const Fabric &fabric,
                                            const std::vector<int> &parts) {
  const Topology &t = fabric.topology;
  std::map<int, RingMachine> byPart;
  for (int rank = 0; rank < fabric.ranks; ++rank)
    byPart[parts[fabric.hostNode[rank]]].ranks.push_back(rank);
  std::vector<std::set<int>> sidesOf(t.nodes.size());
  for (const Link &link : t.links) {
    sidesOf[link.src].insert(parts[link.dst]);
    sidesOf[link.dst].insert(parts[link.src]);
  }
  for (int node = 0; node < static_cast<int>(t.nodes.size()); ++node)
    if (isNic(t, node))
      for (int part : sidesOf[node])
        if (auto it = byPart.find(part); it != byPart.end())
          it->second.nics.push_back(node);
  std::vector<RingMachine> machines;
  for (auto &[part, machine] : byPart) {
    machines.push_back(std::move(machine));
    size_t first = machines.front().ranks.size();
    size_t count = machines.back().ranks.size();
    if (count != first)
      return error(t.name + ": expected machines with equally many GPUs, " +
                   "found " + std::to_string(first) + " and " +
                   std::to_string(count) + " joined without NICs");
  }
  if (machines.size() > 1)
    return machines;
  if (namesSeveral(t.name))
    return error(t.name + ": expected NICs (nodes of the kind nic) between "
                          "machines, found none");
  return std::vector<RingMachine>();
}

/// No rings of a width carry more units in all: what the GPU with the least
/// room sends or receives, and what the NICs of a machine do.
int64_t mostUnitsOf(const Fabric &fabric,
                    const std::vector<RingMachine> &machines,
                    const std::vector<int> &parts, int width) {
  const Topology &t = fabric.topology;
  std::vector<int64_t> into(t.nodes.size()), outOf(t.nodes.size());
  // Of a NIC: from and to its own machine.
  std::vector<int64_t> fromHere(t.nodes.size()), toHere(t.nodes.size());
  std::set<int> here;
  for (int rank = 0; rank < fabric.ranks; ++rank)
    here.insert(parts[fabric.hostNode[rank]]);
  for (size_t l = 0; l < t.links.size(); ++l) {
    const Link &link = t.links[l];
    int64_t units = fabric.linkCap[l] / width * width;
    // Rings of one machine pass no NICs.
    if (machines.empty() && (isNic(t, link.src) || isNic(t, link.dst)))
      continue;
    into[link.dst] += units;
    outOf[link.src] += units;
    fromHere[link.dst] += here.count(parts[link.src]) ? units : 0;
    toHere[link.src] += here.count(parts[link.dst]) ? units : 0;
  }
  int64_t least = INT_MAX;
  for (int rank = 0; rank < fabric.ranks; ++rank)
    least = std::min(
        {least, into[fabric.hostNode[rank]], outOf[fabric.hostNode[rank]]});
  for (const RingMachine &machine : machines) {
    int64_t leaving = 0, entering = 0;
    for (int nic : machine.nics) {
      leaving += std::min(fromHere[nic], outOf[nic] - toHere[nic]);
      entering += std::min(into[nic] - fromHere[nic], toHere[nic]);
    }
    least = std::min({least, leaving, entering});
  }
  return least;
}

/// Widths worth a try, with what rings of each can carry in all: at which some
/// link is full. Those that can carry the most come first, of these the widest.
std::vector<std::pair<int64_t, int>>
widthsOf(const Fabric &fabric, const std::vector<RingMachine> &machines,
         const std::vector<int> &parts, int most) {
  std::set<int> widths = {1};
  for (const FabricSet &set : fabric.sets)
    for (int count = 1; count <= std::min(most, set.cap); ++count)
      widths.insert(set.cap / count);
  std::vector<std::pair<int64_t, int>> result;
  for (int width : widths) {
    int64_t units = std::min(mostUnitsOf(fabric, machines, parts, width),
                             static_cast<int64_t>(most) * width);
    if (units > 0)
      result.push_back({units, width});
  }
  std::sort(result.rbegin(), result.rend());
  return result;
}

/// What rings are compared by: all that they carry; then few rings, over few
/// links, so that none passes PCIe beside NVLinks without need.
std::tuple<int64_t, int64_t, int64_t> worthOf(const Rings &rings,
                                              const Fabric &fabric) {
  auto count = static_cast<int64_t>(rings.rings.size());
  int64_t links = 0;
  for (const std::vector<int> &edges : rings.edges)
    for (int e : edges)
      links += static_cast<int64_t>(fabric.edges[e].path.size());
  return {count * rings.units, -count, -links};
}

} // namespace

Result<Rings> ccn::synth::packRings(const Fabric &fabric, int most,
                                    uint64_t seed) {
  constexpr uint64_t tries = 400;
  constexpr int64_t maxVisitedInAll = 3000000;
  if (fabric.ranks < 2)
    return error("expected at least 2 GPUs, found " +
                 std::to_string(fabric.ranks));
  std::vector<int> parts = partsWithoutNics(fabric.topology);
  Result<std::vector<RingMachine>> machines = machinesOf(fabric, parts);
  if (!machines)
    return machines.status();
  std::vector<std::pair<int64_t, int>> widths =
      widthsOf(fabric, *machines, parts, most);
  RingSearch search(fabric, *machines);
  Rings best;
  auto carried = [&] {
    return static_cast<int64_t>(best.rings.size()) * best.units;
  };
  bool isDone = widths.empty();
  for (uint64_t i = 0; i < tries && !isDone; ++i)
    for (auto [units, width] : widths) {
      isDone = carried() == widths.front().first ||
               search.visitedInAll() > maxVisitedInAll;
      // Of the widths that follow none can carry more.
      if (isDone || units < carried())
        break;
      Rings found = search.run(width, most, seed + i, i % 2 == 1);
      if (worthOf(found, fabric) > worthOf(best, fabric))
        best = std::move(found);
    }
  if (best.rings.empty() && search.gaveUp())
    return error(fabric.topology.name +
                 ": expected a ring that joins all GPUs, found none by a "
                 "search that does not try all ways");
  if (best.rings.empty())
    return error(fabric.topology.name +
                 ": no ring joins all GPUs without passing NICs within a "
                 "machine");
  best.machines = *std::move(machines);
  best.mostUnits =
      static_cast<int>(mostUnitsOf(fabric, best.machines, parts, 1));
  return best;
}

/// Chunk `piece` of ring `ring` goes from place to place along it.
/// No edges: any.
static void addChain(Schedule &schedule, const std::vector<int> &order,
                     const std::vector<int> &edges, int chunk, size_t firstStep,
                     SendOp op) {
  for (size_t hop = 0; hop + 1 < order.size(); ++hop) {
    if (schedule.steps.size() <= firstStep + hop)
      schedule.steps.resize(firstStep + hop + 1);
    schedule.steps[firstStep + hop].sends.push_back(
        {chunk,
         order[hop],
         order[hop + 1],
         op,
         edges.empty() ? -1 : edges[hop],
         {}});
  }
}

Result<Schedule> ccn::synth::ringsSchedule(const Rings &rings,
                                           CollectiveKind kind, int pieces) {
  int count = static_cast<int>(rings.rings.size());
  int ranks = static_cast<int>(rings.rings[0].size());
  bool isRooted =
      kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce;
  if (kind == CollectiveKind::AllReduce) {
    Result<Schedule> scatter =
        ringsSchedule(rings, CollectiveKind::ReduceScatter, pieces);
    Result<Schedule> gather =
        ringsSchedule(rings, CollectiveKind::AllGather, pieces);
    if (!scatter || !gather)
      return scatter ? gather : scatter;
    return concatenate(*scatter, *gather,
                       *makeCollective(kind, ranks, ranks * count));
  }
  if (kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::Reduce) {
    // Backwards, along the rings that go the other way.
    Rings back = rings;
    for (std::vector<int> &ring : back.rings)
      std::reverse(ring.begin(), ring.end());
    for (std::vector<int> &edges : back.edges)
      std::reverse(edges.begin(), edges.end() - 1);
    Result<Schedule> copies = ringsSchedule(
        back, isRooted ? CollectiveKind::Broadcast : CollectiveKind::AllGather,
        pieces);
    return copies ? invert(*copies) : copies;
  }
  if (kind != CollectiveKind::AllGather && !isRooted)
    return error("rings make all_gather, reduce_scatter, all_reduce, broadcast "
                 "and reduce, not " +
                 std::string(kindName(kind)));
  Schedule schedule;
  schedule.collective =
      *makeCollective(kind, ranks, isRooted ? count * pieces : count);
  schedule.hosts = ranks;
  for (int r = 0; r < count; ++r) {
    std::vector<int> order = rings.rings[r], edges = rings.edges[r];
    auto turn = [&](std::ptrdiff_t places) {
      std::rotate(order.begin(), order.begin() + places, order.end());
      std::rotate(edges.begin(), edges.begin() + places, edges.end());
    };
    if (isRooted) {
      turn(std::find(order.begin(), order.end(), 0) - order.begin());
      for (int p = 0; p < pieces; ++p)
        addChain(schedule, order, edges, r * pieces + p, static_cast<size_t>(p),
                 SendOp::Copy);
      continue;
    }
    for (int i = 0; i < ranks; ++i) {
      addChain(schedule, order, edges, order[0] * count + r, 0, SendOp::Copy);
      turn(1);
    }
  }
  return schedule;
}

Schedule ccn::synth::chainsSchedule(const Rings &rings, int pieces) {
  int count = static_cast<int>(rings.rings.size());
  int ranks = static_cast<int>(rings.rings[0].size());
  Schedule schedule;
  schedule.collective =
      *makeCollective(CollectiveKind::AllReduce, ranks, count * pieces);
  schedule.hosts = ranks;
  for (int r = 0; r < count; ++r)
    for (int p = 0; p < pieces; ++p) {
      std::vector<int> down = rings.rings[r], up = down;
      std::reverse(up.begin(), up.end());
      int chunk = r * pieces + p;
      addChain(schedule, up, {}, chunk, static_cast<size_t>(p), SendOp::Reduce);
      addChain(schedule, down, rings.edges[r], chunk,
               static_cast<size_t>(p + ranks - 1), SendOp::Copy);
    }
  return schedule;
}
