//===- Compose.cpp - Schedules out of copying ones ------------------------===//
//
// See Compose.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Compose.h"

#include <algorithm>
#include <map>

using namespace ccn;
using namespace ccn::synth;

Result<Schedule> ccn::synth::scheduleByCopies(const Fabric &fabric,
                                              CollectiveKind kind, int root,
                                              const CopyingEngine &engine) {
  using enum CollectiveKind;
  if (kind == AllGather || kind == Broadcast)
    return engine(fabric, kind);
  if (kind != ReduceScatter && kind != Reduce && kind != AllReduce)
    return error("expected all_gather, reduce_scatter, all_reduce, broadcast "
                 "or reduce, found " +
                 std::string(kindName(kind)));
  Result<Schedule> turned =
      engine(reversed(fabric), kind == Reduce ? Broadcast : AllGather);
  if (!turned)
    return turned;
  Result<Schedule> reducing = invert(*turned);
  if (!reducing)
    return reducing;
  int chunks = turned->collective.chunksPerNode;
  Result<Collective> collective =
      makeCollective(kind, fabric.ranks,
                     kind == AllReduce ? chunks * fabric.ranks : chunks, root);
  if (!collective)
    return collective.status();
  reducing->collective = *collective;
  if (kind != AllReduce)
    return reducing;
  Result<Schedule> gathering = engine(fabric, AllGather);
  if (!gathering)
    return gathering;
  if (gathering->collective.chunksPerNode != chunks)
    return error("the halves of the all_reduce have different chunks");
  return concatenate(*reducing, *gathering, *collective);
}

Schedule ccn::synth::directSchedule(const Collective &collective) {
  Schedule schedule;
  schedule.collective = collective;
  schedule.hosts = collective.ranks;
  Step step;
  SendOp op = collective.combining ? SendOp::Reduce : SendOp::Copy;
  for (size_t c = 0; c < collective.chunks.size(); ++c) {
    const ChunkRelation &chunk = collective.chunks[c];
    for (int dst : chunk.post)
      for (int src : chunk.pre) {
        bool there =
            !collective.combining &&
            std::binary_search(chunk.pre.begin(), chunk.pre.end(), dst);
        if (src != dst && !there)
          step.sends.push_back({static_cast<int>(c), src, dst, op, -1, {}});
        if (!collective.combining)
          break;
      }
  }
  schedule.steps.push_back(std::move(step));
  return schedule;
}

Schedule ccn::synth::doublingAllGather(int ranks) {
  Schedule schedule;
  schedule.collective = *makeCollective(CollectiveKind::AllGather, ranks, 1);
  schedule.hosts = ranks;
  // Before each step a rank has the chunks of the ranks that are a multiple of
  // twice the distance away.
  for (int distance = ranks / 2; distance > 0; distance /= 2) {
    Step step;
    for (int rank = 0; rank < ranks; ++rank)
      for (int chunk = rank % (2 * distance); chunk < ranks;
           chunk += 2 * distance)
        step.sends.push_back(
            {chunk, rank, rank ^ distance, SendOp::Copy, -1, {}});
    schedule.steps.push_back(std::move(step));
  }
  return schedule;
}

Schedule ccn::synth::doublingAllReduce(int ranks) {
  Schedule schedule;
  schedule.collective = *makeCollective(CollectiveKind::AllReduce, ranks, 1);
  schedule.hosts = ranks;
  for (int distance = 1; distance < ranks; distance *= 2) {
    Step step;
    for (int rank = 0; rank < ranks; ++rank)
      step.sends.push_back({0, rank, rank ^ distance, SendOp::Reduce, -1, {}});
    schedule.steps.push_back(std::move(step));
  }
  return schedule;
}

Schedule ccn::synth::binomialBroadcast(int ranks, int root) {
  Schedule schedule;
  schedule.collective =
      *makeCollective(CollectiveKind::Broadcast, ranks, 1, root);
  schedule.hosts = ranks;
  for (int have = 1; have < ranks; have *= 2) {
    Step step;
    for (int i = 0; i < have && i + have < ranks; ++i)
      step.sends.push_back({0,
                            (root + i) % ranks,
                            (root + i + have) % ranks,
                            SendOp::Copy,
                            -1,
                            {}});
    schedule.steps.push_back(std::move(step));
  }
  return schedule;
}

Schedule ccn::synth::chainBroadcast(int ranks, int root, int chunks) {
  Schedule schedule;
  schedule.collective =
      *makeCollective(CollectiveKind::Broadcast, ranks, chunks, root);
  schedule.hosts = ranks;
  for (int time = 0; time + 2 < ranks + chunks; ++time) {
    Step step;
    for (int hop = std::max(0, time - chunks + 1);
         hop <= std::min(time, ranks - 2); ++hop)
      step.sends.push_back({time - hop,
                            (root + hop) % ranks,
                            (root + hop + 1) % ranks,
                            SendOp::Copy,
                            -1,
                            {}});
    schedule.steps.push_back(std::move(step));
  }
  return schedule;
}

Schedule ccn::synth::relayBroadcast(std::vector<std::vector<int>> nodes,
                                    int root, int pieces) {
  size_t local = 0;
  for (std::vector<int> &node : nodes)
    if (auto it = std::find(node.begin(), node.end(), root); it != node.end()) {
      local = static_cast<size_t>(it - node.begin());
      std::swap(node, nodes[0]);
      break;
    }
  std::vector<size_t> relays;
  for (size_t i = 0; i < nodes[0].size(); ++i)
    if (nodes.size() > 1 || i != local)
      relays.push_back(i);
  Schedule schedule;
  schedule.hosts = static_cast<int>(nodes.size() * nodes[0].size());
  schedule.collective =
      *makeCollective(CollectiveKind::Broadcast, schedule.hosts,
                      static_cast<int>(relays.size()) * pieces, root);
  schedule.steps.resize(nodes.size() + static_cast<size_t>(pieces));
  for (size_t part = 0; part < relays.size(); ++part)
    for (int piece = 0; piece < pieces; ++piece) {
      int chunk = static_cast<int>(part) * pieces + piece;
      auto step = static_cast<size_t>(piece);
      auto send = [&](int src, int dst) {
        if (src != dst && dst != root)
          schedule.steps[step].sends.push_back(
              {chunk, src, dst, SendOp::Copy, -1, {}});
      };
      send(root, nodes[0][relays[part]]);
      for (size_t node = 0; node < nodes.size(); ++node) {
        ++step;
        int relay = nodes[node][relays[part]];
        if (node + 1 < nodes.size())
          send(relay, nodes[node + 1][relays[part]]);
        // The root has the relays to send to: one of them, in turn, passes on
        // what the root itself would.
        if (relay == root && nodes[0].size() > 1) {
          size_t turn = static_cast<size_t>(piece) % (nodes[0].size() - 1);
          relay = nodes[0][turn < local ? turn : turn + 1];
          send(root, relay);
          ++step;
        }
        for (int other : nodes[node])
          send(relay, other);
        if (node == 0)
          step = static_cast<size_t>(piece) + 1;
      }
    }
  return schedule;
}

namespace {

/// The edges of a fabric from one host to another, in their order.
class EdgesBetween {
public:
  explicit EdgesBetween(const Fabric &fabric)
      : fabric(fabric), toHost(fabric.hosts), used(fabric.hosts) {}

  /// The first edge, or the next one of those from the same sender; -1 if there
  /// is none. The first to a receiver depends on how far on it is, so that
  /// different ones use different edges.
  int find(int src, int dst, bool next) {
    if (toHost[src].empty()) {
      toHost[src].resize(fabric.hosts);
      for (int e : fabric.out[src])
        toHost[src][fabric.edges[e].dst].push_back(e);
    }
    const std::vector<int> &edges = toHost[src][dst];
    if (edges.empty())
      return -1;
    if (!next || edges.size() == 1)
      return edges.front();
    size_t turn = static_cast<size_t>(dst + fabric.hosts - src) +
                  static_cast<size_t>(used[dst][src]++);
    return edges[turn % edges.size()];
  }

private:
  const Fabric &fabric;
  /// By sender, once it sends, and receiver.
  std::vector<std::vector<std::vector<int>>> toHost;
  /// How often, by receiver and sender.
  std::vector<std::map<int, int>> used;
};

} // namespace

std::string ccn::synth::placeOn(Schedule &schedule, const Fabric &fabric,
                                bool spread) {
  EdgesBetween edges(fabric);
  for (Step &step : schedule.steps)
    for (Send &send : step.sends) {
      if (send.edge < 0)
        send.edge = edges.find(send.src, send.dst, spread);
      if (send.edge < 0)
        return "rank " + std::to_string(send.src) + " sends to rank " +
               std::to_string(send.dst) + ", and " + fabric.topology.name +
               " has no link for it";
    }
  schedule.topology = fabric.topology.name;
  schedule.hosts = fabric.hosts;
  fitRounds(schedule, fabric);
  return "";
}
