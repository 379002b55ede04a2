//===- NodeBalance.cpp - all_to_allv over many nodes ----------------------===//
//
// See NodeBalance.h.
//
//===----------------------------------------------------------------------===//

#include "synth/NodeBalance.h"
#include "synth/Flow.h"

#include <algorithm>
#include <cmath>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// The machine: nodes of `local` GPUs each.
class Balance {
public:
  Balance(const Fabric &fabric, const std::vector<std::vector<int>> &nodes);

  /// The ways of all chunks, or nothing where one has none.
  std::optional<std::vector<Hop>> hops(const Collective &collective) const;

private:
  /// By chunk: the GPU by which it leaves its source's node, and that by which
  /// it enters its destination's; {-1, -1} for what stays in a node.
  using Doors = std::vector<std::pair<int, int>>;
  /// Any GPU reaches any of another node: what leaves and what enters is spread
  /// each on its own, and moves as little as that allows.
  Doors anyDoors(const Collective &collective) const;
  /// GPUs reach their counterparts: what one node has for another is spread
  /// over the rails.
  Doors rails(const Collective &collective) const;
  bool crosses(const ChunkRelation &chunk) const {
    return !chunk.post.empty() && nodeOf[chunk.pre[0]] != nodeOf[chunk.post[0]];
  }
  int edge(int src, int dst) const {
    return edgeOf[static_cast<size_t>(src) * fabric.ranks + dst];
  }

  const Fabric &fabric;
  const std::vector<std::vector<int>> &nodes;
  int local;
  /// Of each rank: its node, and its place there.
  std::vector<int> nodeOf, placeOf;
  std::vector<int> edgeOf;
};

/// How much the NICs of a node's GPUs can still send, or still receive.
class Side {
public:
  Side(const std::vector<std::vector<int>> &nodes, int ranks, int64_t quota)
      : nodes(nodes), room(ranks, quota), own(ranks), next(nodes.size()) {}

  /// A GPU's own chunks use its own NIC, as far as the NIC's quota goes.
  void reserve(int rank, int64_t wanted) {
    own[rank] = std::min(wanted, room[rank]);
    room[rank] -= own[rank];
  }
  int door(int rank, int node) {
    if (own[rank] > 0) {
      --own[rank];
      return rank;
    }
    const std::vector<int> &others = nodes[node];
    for (size_t tries = 0; tries < others.size(); ++tries) {
      int other = others[next[node]];
      next[node] = (next[node] + 1) % others.size();
      if (room[other] > 0) {
        --room[other];
        return other;
      }
    }
    return rank;
  }

private:
  const std::vector<std::vector<int>> &nodes;
  std::vector<int64_t> room, own;
  std::vector<size_t> next;
};

} // namespace

Balance::Balance(const Fabric &fabric,
                 const std::vector<std::vector<int>> &nodes)
    : fabric(fabric), nodes(nodes), local(static_cast<int>(nodes[0].size())),
      nodeOf(fabric.ranks), placeOf(fabric.ranks),
      edgeOf(static_cast<size_t>(fabric.ranks) * fabric.ranks, -1) {
  for (size_t n = 0; n < nodes.size(); ++n)
    for (int i = 0; i < local; ++i) {
      nodeOf[nodes[n][i]] = static_cast<int>(n);
      placeOf[nodes[n][i]] = i;
    }
  for (size_t e = fabric.edges.size(); e-- > 0;)
    if (const FabricEdge &way = fabric.edges[e];
        way.src < fabric.ranks && way.dst < fabric.ranks)
      edgeOf[static_cast<size_t>(way.src) * fabric.ranks + way.dst] =
          static_cast<int>(e);
}

Balance::Doors Balance::anyDoors(const Collective &collective) const {
  std::vector<int64_t> out(fabric.ranks), in(fabric.ranks);
  std::vector<int64_t> nodeOut(nodes.size()), nodeIn(nodes.size());
  for (const ChunkRelation &chunk : collective.chunks) {
    if (!crosses(chunk))
      continue;
    ++out[chunk.pre[0]];
    ++in[chunk.post[0]];
    ++nodeOut[nodeOf[chunk.pre[0]]];
    ++nodeIn[nodeOf[chunk.post[0]]];
  }
  // No door needs more than the busiest node's share; in other nodes little or
  // nothing has to move.
  int64_t busiest = 0;
  for (size_t n = 0; n < nodes.size(); ++n)
    busiest = std::max({busiest, nodeOut[n], nodeIn[n]});
  int64_t quota = (busiest + local - 1) / local;
  Side leave(nodes, fabric.ranks, quota), enter = leave;
  for (int r = 0; r < fabric.ranks; ++r) {
    leave.reserve(r, out[r]);
    enter.reserve(r, in[r]);
  }
  Doors doors;
  for (const ChunkRelation &chunk : collective.chunks) {
    doors.push_back({-1, -1});
    if (crosses(chunk))
      doors.back() = {leave.door(chunk.pre[0], nodeOf[chunk.pre[0]]),
                      enter.door(chunk.post[0], nodeOf[chunk.post[0]])};
  }
  return doors;
}

Balance::Doors Balance::rails(const Collective &collective) const {
  size_t n = nodes.size();
  std::vector<int64_t> total(n * n), room(n * n * local);
  auto pairOf = [&](const ChunkRelation &chunk) {
    return nodeOf[chunk.pre[0]] * n + nodeOf[chunk.post[0]];
  };
  for (const ChunkRelation &chunk : collective.chunks)
    if (crosses(chunk))
      ++total[pairOf(chunk)];
  // Remainders go to other rails for other pairs.
  for (size_t p = 0; p < n * n; ++p)
    for (int i = 0; i < local; ++i)
      room[p * local + (i + p + p / n) % local] =
          total[p] / local + (i < total[p] % local);
  Doors doors(collective.chunks.size(), {-1, -1});
  auto take = [&](size_t c, int rail) {
    const ChunkRelation &chunk = collective.chunks[c];
    if (doors[c].first >= 0 || room[pairOf(chunk) * local + rail] == 0)
      return;
    --room[pairOf(chunk) * local + rail];
    doors[c] = {nodes[nodeOf[chunk.pre[0]]][rail],
                nodes[nodeOf[chunk.post[0]]][rail]};
  };
  // First what needs no hop more, then one more, then any.
  for (int turn = 0; turn < 3; ++turn)
    for (size_t c = 0; c < doors.size(); ++c) {
      const ChunkRelation &chunk = collective.chunks[c];
      if (!crosses(chunk))
        continue;
      int from = placeOf[chunk.pre[0]], to = placeOf[chunk.post[0]];
      if (turn > 0 || from == to)
        take(c, c % 2 ? from : to);
      if (turn > 0)
        take(c, c % 2 ? to : from);
      for (int i = 0; turn == 2 && i < local; ++i)
        take(c, (i + static_cast<int>(c % local)) % local);
    }
  return doors;
}

std::optional<std::vector<Hop>>
Balance::hops(const Collective &collective) const {
  bool any = true;
  for (int a : nodes[0])
    for (int b : nodes[1])
      any &= edge(a, b) >= 0;
  Doors doors = any ? anyDoors(collective) : rails(collective);
  std::vector<Hop> result;
  result.reserve(collective.chunks.size() * 5 / 4);
  for (size_t c = 0; c < collective.chunks.size(); ++c) {
    const ChunkRelation &chunk = collective.chunks[c];
    if (chunk.post.empty())
      continue;
    int at = chunk.pre[0], dst = chunk.post[0], parent = -1;
    auto [from, to] = doors[c];
    for (int next : {from, to, dst}) {
      if (next < 0 || next == at)
        continue;
      int e = edge(at, next);
      if (e < 0)
        return std::nullopt;
      result.push_back({static_cast<int>(c), e, parent});
      parent = static_cast<int>(result.size()) - 1;
      at = next;
    }
  }
  return result;
}

RoundBound
ccn::synth::boundAroundNodes(const Fabric &fabric, const Collective &collective,
                             const std::vector<std::vector<int>> &groups) {
  const Topology &t = fabric.topology;
  RoundBound best;
  best.exact = false;
  std::vector<std::vector<int>> sides = groups;
  for (int r = 0; r < fabric.ranks; ++r)
    sides.push_back({r});
  // Which side a rank is on, among the groups; a single GPU is one besides.
  std::vector<int> groupOf(fabric.ranks, -1);
  for (size_t g = 0; g < groups.size(); ++g)
    for (int rank : groups[g])
      groupOf[rank] = static_cast<int>(g);
  std::vector<int64_t> leaves(sides.size()), enters(sides.size());
  for (const ChunkRelation &chunk : collective.chunks) {
    if (chunk.post.empty() || chunk.pre[0] == chunk.post[0])
      continue;
    int p = chunk.pre[0], q = chunk.post[0];
    ++leaves[groups.size() + p];
    ++enters[groups.size() + q];
    if (groupOf[p] == groupOf[q])
      continue;
    ++leaves[groupOf[p]];
    ++enters[groupOf[q]];
  }
  for (size_t i = 0; i < sides.size(); ++i) {
    std::vector<char> in(t.nodes.size());
    for (int rank : sides[i])
      in[fabric.hostNode[rank]] = 1;
    // Relays go with whom they have more links.
    std::vector<int64_t> lean(t.nodes.size());
    if (sides[i].size() > 1)
      for (size_t l = 0; l < t.links.size(); ++l) {
        auto [a, b] = std::pair(t.links[l].src, t.links[l].dst);
        lean[a] += in[b] ? fabric.linkCap[l] : -fabric.linkCap[l];
        lean[b] += in[a] ? fabric.linkCap[l] : -fabric.linkCap[l];
      }
    for (size_t v = 0; v < t.nodes.size(); ++v)
      if (!t.nodes[v].isHost() && lean[v] > 0)
        in[v] = 1;
    for (bool leaving : {true, false}) {
      int64_t capacity = 0;
      for (size_t l = 0; l < t.links.size(); ++l)
        if (in[t.links[l].src] != in[t.links[l].dst] &&
            (in[t.links[l].src] != 0) == leaving)
          capacity += fabric.linkCap[l];
      int64_t demand = leaving ? leaves[i] : enters[i];
      Fraction rate(demand, capacity * collective.chunksPerNode);
      if (capacity == 0 || !(best.roundsPerChunk < rate))
        continue;
      best.roundsPerChunk = rate;
      best.demand = demand;
      best.capacity = capacity;
      best.nodes.clear();
      for (size_t v = 0; v < t.nodes.size(); ++v)
        if ((in[v] != 0) == leaving)
          best.nodes.push_back(static_cast<int>(v));
    }
  }
  return best;
}

Result<NodeBalanced> ccn::synth::nodeBalanced(
    const Fabric &fabric,
    const std::function<Result<Collective>(int)> &collectiveOf, double enough,
    int mostMultiplier) {
  Result<NodeGroups> groups = findGroups(fabric);
  if (!groups)
    return groups.status();
  Balance balance(fabric, groups->ranks);
  NodeBalanced best;
  for (int k = 1; k <= mostMultiplier; k *= 2) {
    Result<Collective> collective = collectiveOf(k);
    if (!collective)
      return collective.status();
    if (!isPointToPoint(*collective))
      return error(collective->name + ": expected one source and one "
                                      "destination for each chunk");
    if (k == 1) {
      best.bound = boundAroundNodes(fabric, *collective, groups->ranks);
      if (best.bound.roundsPerChunk.num == 0)
        return error("nothing need be sent");
    }
    std::optional<std::vector<Hop>> hops = balance.hops(*collective);
    if (!hops)
      return error(fabric.topology.name + ": expected a way from each GPU to "
                                          "its counterparts and neighbours");
    Placed placed = placeHops(fabric, *collective, *hops);
    double share = static_cast<double>(best.bound.demand) * k /
                   static_cast<double>(best.bound.capacity) / placed.total;
    if (share > best.share) {
      best.share = share;
      best.multiplier = k;
      best.schedule = std::move(placed.schedule);
    }
    if (share >= enough || hops->size() > 200000)
      break;
  }
  return best;
}
