//===- Rings.cpp - Rings that a machine's links carry at once -------------===//
//
// See Rings.h. Rings are found one after the other, by depth-first search over
// the links that have the most room left, and with each the one that goes the
// other way; this is tried several times, with other choices among equals.
//
//===----------------------------------------------------------------------===//

#include "synth/Rings.h"
#include "synth/Compose.h"
#include "synth/Hierarchy.h"

#include <algorithm>
#include <climits>
#include <random>

using namespace ccn;
using namespace ccn::synth;

namespace {

class RingSearch {
public:
  RingSearch(const Fabric &fabric,
             const std::vector<std::vector<int>> &machines, int units, int most,
             uint64_t seed)
      : fabric(fabric), units(units), most(most), random(seed),
        setsOf(fabric.edges.size()),
        machineOf(static_cast<size_t>(fabric.ranks)) {
    for (size_t m = 0; m < machines.size(); ++m)
      for (int rank : machines[m])
        machineOf[rank] = static_cast<int>(m);
    size =
        machines.empty() ? fabric.ranks : static_cast<int>(machines[0].size());
    for (size_t s = 0; s < fabric.sets.size(); ++s)
      for (int e : fabric.sets[s].edges)
        setsOf[e].push_back(s);
  }

  std::vector<std::vector<int>> run();

private:
  bool hasNic(int edge) const {
    return std::any_of(fabric.edges[edge].path.begin(),
                       fabric.edges[edge].path.end(), [&](int link) {
                         const Topology &t = fabric.topology;
                         return t.nodes[t.links[link].dst].kind ==
                                NodeKind::Nic;
                       });
  }
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
  int bestEdge(int from, int to) const;
  bool extend(std::vector<int> &ring);
  std::vector<int> nextRing();
  bool addBackwards(const std::vector<int> &ring);

  const Fabric &fabric;
  const int units, most;
  std::mt19937_64 random;
  std::vector<std::vector<size_t>> setsOf;
  std::vector<int> machineOf;
  /// The GPUs of a machine.
  int size = 0;
  std::vector<int> room;
  std::vector<char> isUsed;
  int64_t visited = 0;
};

int RingSearch::bestEdge(int from, int to) const {
  int best = -1;
  for (int e : fabric.out[from])
    if (fabric.edges[e].dst == to &&
        hasNic(e) == (machineOf[from] != machineOf[to]) && roomOn(e) >= units &&
        (best < 0 || roomOn(e) > roomOn(best)))
      best = e;
  return best;
}

/// Goes on from the last rank of the ring, until all are in it.
bool RingSearch::extend(std::vector<int> &ring) {
  constexpr int64_t maxVisited = 20000;
  if (++visited > maxVisited)
    return false;
  int here = ring.back();
  bool isWhole = static_cast<int>(ring.size()) == fabric.ranks;
  // A machine is left when all its GPUs were passed.
  bool leaves = static_cast<int>(ring.size()) % size == 0;
  struct Next {
    int edge, room;
    uint64_t order;
  };
  std::vector<Next> next;
  for (int to = 0; to < fabric.ranks; ++to) {
    if (isWhole ? to != ring.front() : isUsed[to] != 0)
      continue;
    if (!isWhole && leaves != (machineOf[to] != machineOf[here]))
      continue;
    if (int edge = bestEdge(here, to); edge >= 0)
      next.push_back({edge, roomOn(edge), random()});
  }
  std::sort(next.begin(), next.end(), [](const Next &a, const Next &b) {
    return a.room != b.room ? a.room > b.room : a.order < b.order;
  });
  for (const Next &choice : next) {
    int to = fabric.edges[choice.edge].dst;
    take(choice.edge, units);
    if (isWhole)
      return true;
    isUsed[to] = 1;
    ring.push_back(to);
    if (extend(ring))
      return true;
    ring.pop_back();
    isUsed[to] = 0;
    take(choice.edge, -units);
  }
  return false;
}

bool RingSearch::addBackwards(const std::vector<int> &ring) {
  std::vector<int> taken;
  for (size_t i = ring.size(); i-- > 0;) {
    int edge = bestEdge(ring[(i + 1) % ring.size()], ring[i]);
    if (edge < 0) {
      for (int e : taken)
        take(e, -units);
      return false;
    }
    take(edge, units);
    taken.push_back(edge);
  }
  return true;
}

/// Begins in the first machine, with any GPU by which a ring can enter it;
/// empty if there is no ring.
std::vector<int> RingSearch::nextRing() {
  std::vector<int> starts;
  for (int rank = 0; rank < fabric.ranks; ++rank)
    if (machineOf[rank] == 0)
      starts.push_back(rank);
  if (size == fabric.ranks)
    starts.resize(1);
  std::shuffle(starts.begin(), starts.end(), random);
  for (int start : starts) {
    std::vector<int> ring = {start};
    isUsed.assign(static_cast<size_t>(fabric.ranks), 0);
    isUsed[start] = 1;
    visited = 0;
    if (extend(ring))
      return ring;
  }
  return {};
}

std::vector<std::vector<int>> RingSearch::run() {
  room.clear();
  for (const FabricSet &set : fabric.sets)
    room.push_back(set.cap);
  std::vector<std::vector<int>> rings;
  while (static_cast<int>(rings.size()) < most) {
    std::vector<int> ring = nextRing();
    if (ring.empty())
      break;
    rings.push_back(ring);
    if (static_cast<int>(rings.size()) < most && addBackwards(ring)) {
      std::reverse(ring.begin() + 1, ring.end());
      rings.push_back(std::move(ring));
    }
  }
  return rings;
}

bool isNic(const Topology &t, int node) {
  return t.nodes[node].kind == NodeKind::Nic;
}

/// The units of the GPU with the least room in or out, besides NICs, or of the
/// NICs of a machine.
int mostUnitsOf(const Fabric &fabric,
                const std::vector<std::vector<int>> &machines) {
  const Topology &t = fabric.topology;
  int least = INT_MAX;
  for (int rank = 0; rank < fabric.ranks; ++rank) {
    int in = 0, out = 0, node = fabric.hostNode[rank];
    for (size_t l = 0; l < fabric.linkCap.size(); ++l) {
      if (t.links[l].dst == node && !isNic(t, t.links[l].src))
        in += fabric.linkCap[l];
      if (t.links[l].src == node && !isNic(t, t.links[l].dst))
        out += fabric.linkCap[l];
    }
    least = std::min({least, in, out});
  }
  for (const std::vector<int> &machine : machines) {
    // What leaves a NIC came into it.
    int units = 0;
    for (int nic : nicsOf(fabric, machine)) {
      int out = 0, in = 0;
      for (size_t l = 0; l < fabric.linkCap.size(); ++l) {
        out = std::max(out, t.links[l].src == nic ? fabric.linkCap[l] : 0);
        in = std::max(in, t.links[l].dst == nic ? fabric.linkCap[l] : 0);
      }
      units += std::min(in, out);
    }
    least = std::min(least, units);
  }
  return least;
}

/// The machines between which data passes NICs; none if there is only one.
std::vector<std::vector<int>> machinesOf(const Fabric &fabric) {
  bool anyNic = std::any_of(
      fabric.edges.begin(), fabric.edges.end(), [&](const FabricEdge &edge) {
        return std::any_of(edge.path.begin(), edge.path.end(), [&](int link) {
          return isNic(fabric.topology, fabric.topology.links[link].dst);
        });
      });
  if (!anyNic)
    return {};
  Result<NodeGroups> groups = findGroups(fabric);
  if (!groups || groups->ranks.size() < 2)
    return {};
  return groups->ranks;
}

} // namespace

std::vector<int> ccn::synth::nicsOf(const Fabric &fabric,
                                    const std::vector<int> &ranks) {
  const Topology &t = fabric.topology;
  std::vector<char> reached(t.nodes.size());
  for (int rank : ranks)
    reached[fabric.hostNode[rank]] = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Link &link : t.links) {
      bool goesOn =
          reached[link.src] && !isNic(t, link.src) && !reached[link.dst];
      if (!goesOn || t.nodes[link.dst].isHost())
        continue;
      reached[link.dst] = 1;
      changed = true;
    }
  }
  std::vector<int> nics;
  for (int node = 0; node < static_cast<int>(t.nodes.size()); ++node)
    if (reached[node] && isNic(t, node))
      nics.push_back(node);
  return nics;
}

Result<Rings> ccn::synth::packRings(const Fabric &fabric, int most,
                                    uint64_t seed) {
  constexpr int tries = 50;
  if (fabric.ranks < 2)
    return error("expected at least 2 GPUs, found " +
                 std::to_string(fabric.ranks));
  Rings best;
  best.machines = machinesOf(fabric);
  best.mostUnits = mostUnitsOf(fabric, best.machines);
  // So wide that few enough carry all; narrower ones if links are.
  for (best.units = std::max(1, (best.mostUnits + most - 1) / most);
       best.units > 0; --best.units) {
    for (int i = 0; i < tries; ++i) {
      RingSearch search(fabric, best.machines, best.units, most,
                        seed + static_cast<uint64_t>(i));
      std::vector<std::vector<int>> rings = search.run();
      if (rings.size() > best.rings.size())
        best.rings = std::move(rings);
      if (static_cast<int>(best.rings.size() + 1) * best.units > best.mostUnits)
        break;
    }
    if (!best.rings.empty())
      return best;
  }
  return error(fabric.topology.name +
               ": no ring joins all GPUs without passing NICs within a "
               "machine");
}

/// Chunk `piece` of ring `ring` goes from place to place along it.
static void addChain(Schedule &schedule, const std::vector<int> &order,
                     int chunk, size_t firstStep, SendOp op) {
  for (size_t hop = 0; hop + 1 < order.size(); ++hop) {
    if (schedule.steps.size() <= firstStep + hop)
      schedule.steps.resize(firstStep + hop + 1);
    schedule.steps[firstStep + hop].sends.push_back(
        {chunk, order[hop], order[hop + 1], op, -1, {}});
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
    std::vector<int> order = rings.rings[r];
    if (isRooted) {
      std::rotate(order.begin(), std::find(order.begin(), order.end(), 0),
                  order.end());
      for (int p = 0; p < pieces; ++p)
        addChain(schedule, order, r * pieces + p, static_cast<size_t>(p),
                 SendOp::Copy);
      continue;
    }
    for (int i = 0; i < ranks; ++i) {
      addChain(schedule, order, order[0] * count + r, 0, SendOp::Copy);
      std::rotate(order.begin(), order.begin() + 1, order.end());
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
      addChain(schedule, up, chunk, static_cast<size_t>(p), SendOp::Reduce);
      addChain(schedule, down, chunk, static_cast<size_t>(p + ranks - 1),
               SendOp::Copy);
    }
  return schedule;
}
