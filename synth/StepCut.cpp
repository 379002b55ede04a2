//===- StepCut.cpp - Cuts of the time-expanded network --------------------===//
//
// The filter for round vectors: one maximum flow a destination.
//
//===----------------------------------------------------------------------===//

#include "synth/Flow.h"
#include "synth/MaxFlow.h"

#include <algorithm>
#include <map>

using namespace ccn::synth;

std::string StepCut::str(const Fabric &fabric) const {
  std::string text = "with rounds";
  for (int r : rounds)
    text += " " + std::to_string(r);
  text += ", rank " + std::to_string(rank) + " needs " + std::to_string(need) +
          " chunks and can get " + std::to_string(can) + ", over";
  const Topology &t = fabric.topology;
  size_t shown = 0;
  for (auto [link, step] : links) {
    if (++shown > 24) {
      text += " and " + std::to_string(links.size() - 24) + " more";
      break;
    }
    text += (shown > 1 ? ", " : " ") + t.nodes[t.links[link].src].name + "->" +
            t.nodes[t.links[link].dst].name + " in step " +
            std::to_string(step);
  }
  return text;
}

namespace {

/// Node (n, t) is host n after step t, or switch n during step t.
struct Network {
  Network(const Fabric &fabric, const std::vector<int> &rounds)
      : nodes(static_cast<int>(fabric.topology.nodes.size())),
        flow(nodes * static_cast<int>(rounds.size() + 1) + 1) {
    int steps = static_cast<int>(rounds.size());
    source = flow.numNodes() - 1;
    for (int s = 1; s <= steps; ++s) {
      for (int h : fabric.hostNode)
        flow.addArc(at(h, s - 1), at(h, s), MaxFlow::infinite);
      for (size_t l = 0; l < fabric.linkCap.size(); ++l) {
        const Link &link = fabric.topology.links[l];
        bool fromHost = fabric.topology.nodes[link.src].isHost();
        int from = at(link.src, fromHost ? s - 1 : s), to = at(link.dst, s);
        int64_t cap = static_cast<int64_t>(fabric.linkCap[l]) * rounds[s - 1];
        arcs.push_back(
            {flow.addArc(from, to, cap), static_cast<int>(l), s, from, to});
      }
    }
  }
  int at(int node, int time) const { return time * nodes + node; }

  struct LinkArc {
    int arc, link, step, from, to;
  };
  int nodes, source;
  MaxFlow flow;
  std::vector<LinkArc> arcs;
};

} // namespace

std::optional<StepCut> ccn::synth::findStepCut(const Fabric &fabric,
                                               const Collective &collective,
                                               const std::vector<int> &rounds,
                                               const std::vector<int> &ranks,
                                               int64_t scale) {
  int steps = static_cast<int>(rounds.size());
  const Network network(fabric, rounds);
  for (int dst = 0; dst < collective.ranks; ++dst) {
    if (!ranks.empty() &&
        std::find(ranks.begin(), ranks.end(), dst) == ranks.end())
      continue;
    // Chunks that may come from the same ranks enter together.
    std::map<std::vector<int>, int64_t> supply;
    int64_t need = 0;
    for (const ChunkRelation &chunk : collective.chunks)
      if (std::binary_search(chunk.post.begin(), chunk.post.end(), dst) &&
          !std::binary_search(chunk.pre.begin(), chunk.pre.end(), dst)) {
        supply[chunk.pre] += scale;
        need += scale;
      }
    if (need == 0)
      continue;
    MaxFlow flow = network.flow;
    for (const auto &[sources, count] : supply) {
      int entry = network.source;
      if (sources.size() > 1) {
        entry = flow.addNode();
        flow.addArc(network.source, entry, count);
      }
      for (int r : sources)
        flow.addArc(entry, network.at(fabric.hostNode[r], 0), count);
    }
    int sink = network.at(fabric.hostNode[dst], steps);
    int64_t can = flow.augment(network.source, sink);
    if (can == need)
      continue;
    StepCut cut;
    cut.rounds = rounds;
    cut.rank = dst;
    cut.need = need;
    cut.can = can;
    std::vector<char> side = flow.sourceSide(network.source);
    cut.fixed = can;
    for (const Network::LinkArc &arc : network.arcs)
      if (side[arc.from] && !side[arc.to]) {
        cut.links.push_back({arc.link, arc.step});
        cut.fixed -= static_cast<int64_t>(fabric.linkCap[arc.link]) *
                     rounds[arc.step - 1];
      }
    side.resize(static_cast<size_t>(network.nodes) * (rounds.size() + 1));
    cut.inside = std::move(side);
    return cut;
  }
  return std::nullopt;
}
