//===- TopologyEdit.cpp - Machines with parts lost or lumped --------------===//
//
// See TopologyEdit.h.
//
//===----------------------------------------------------------------------===//

#include "synth/TopologyEdit.h"
#include "synth/Fabric.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Marks what is lost.
class Edit {
public:
  explicit Edit(const Topology &topology)
      : t(topology), lostNode(t.nodes.size()), lostLink(t.links.size()) {}

  /// What is wrong with the part's name, or nothing.
  std::string lose(const std::string &part);
  Topology rest() const;

private:
  /// Loses the links between nodes `a` and `b`; false if there are none.
  bool loseBetween(int a, int b, bool bothWays);
  std::string neighbours(int node) const;

  const Topology &t;
  std::vector<char> lostNode, lostLink;
};

} // namespace

/// The first names of a list, and how many there are besides.
static std::string listed(const std::vector<std::string> &names) {
  constexpr size_t most = 12;
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i)
    text += (i ? " " : "") + names[i];
  if (names.size() > most)
    text += " and " + std::to_string(names.size() - most) + " others";
  return text;
}

bool Edit::loseBetween(int a, int b, bool bothWays) {
  bool any = false;
  for (size_t l = 0; l < t.links.size(); ++l)
    if ((t.links[l].src == a && t.links[l].dst == b) ||
        (bothWays && t.links[l].src == b && t.links[l].dst == a))
      any = lostLink[l] = 1;
  return any;
}

std::string Edit::neighbours(int node) const {
  std::vector<std::string> names;
  for (const Link &link : t.links)
    if (link.src == node)
      names.push_back(t.nodes[link.dst].name);
  return names.empty() ? "it has no links"
                       : "its links lead to " + listed(names);
}

std::string Edit::lose(const std::string &part) {
  if (int node = t.findNode(part); node >= 0) {
    lostNode[node] = 1;
    return "";
  }
  for (const EdgeSet &set : t.edgeSets)
    if (set.name == part) {
      for (int l : set.links)
        lostLink[l] = 1;
      return "";
    }
  // Names may have dashes themselves.
  std::string wrong;
  for (size_t at = part.find('-'); at != std::string::npos;
       at = part.find('-', at + 1)) {
    bool arrow = part.compare(at, 2, "->") == 0;
    std::string from = part.substr(0, at),
                to = part.substr(at + (arrow ? 2 : 1));
    int a = t.findNode(from), b = t.findNode(to);
    if (a >= 0 && b >= 0) {
      if (loseBetween(a, b, !arrow))
        return "";
      wrong = from + " has no link " + (arrow ? "to " : "with ") + to + "; " +
              neighbours(a);
    } else if (wrong.empty() && (a >= 0 || b >= 0)) {
      wrong = t.name + " has no node \"" + (a >= 0 ? to : from) + "\"";
    }
  }
  if (!wrong.empty())
    return wrong;
  std::vector<std::string> names;
  for (const Node &node : t.nodes)
    names.push_back(node.name);
  return "expected a node, or a link as a-b or a->b; the nodes are " +
         listed(names);
}

Topology Edit::rest() const {
  Topology result;
  result.name = t.name;
  result.notes = t.notes;
  std::vector<int> node(t.nodes.size(), -1), link(t.links.size(), -1);
  for (size_t v = 0; v < t.nodes.size(); ++v)
    if (!lostNode[v])
      node[v] = result.addNode(t.nodes[v].name, t.nodes[v].kind);
  for (size_t l = 0; l < t.links.size(); ++l) {
    Link kept = t.links[l];
    kept.src = node[kept.src];
    kept.dst = node[kept.dst];
    if (lostLink[l] || kept.src < 0 || kept.dst < 0)
      continue;
    link[l] = static_cast<int>(result.links.size());
    result.links.push_back(kept);
  }
  for (const EdgeSet &set : t.edgeSets) {
    EdgeSet kept{set.name, {}, set.gbps};
    for (int l : set.links)
      if (link[l] >= 0)
        kept.links.push_back(link[l]);
    if (!kept.links.empty())
      result.edgeSets.push_back(std::move(kept));
  }
  return result;
}

std::string ccn::synth::unreachable(const Topology &topology) {
  std::vector<std::vector<int>> out(topology.nodes.size());
  for (const Link &link : topology.links)
    out[link.src].push_back(link.dst);
  std::vector<int> gpus = topology.rankNodes();
  // GPUs that miss the same others, together.
  std::map<std::vector<std::string>, std::vector<std::string>> missing;
  for (int gpu : gpus) {
    std::vector<char> seen(topology.nodes.size());
    std::vector<int> queue = {gpu};
    seen[gpu] = 1;
    for (size_t i = 0; i < queue.size(); ++i)
      for (int next : out[queue[i]])
        if (!seen[next]) {
          seen[next] = 1;
          queue.push_back(next);
        }
    std::vector<std::string> lost;
    for (int other : gpus)
      if (!seen[other])
        lost.push_back(topology.nodes[other].name);
    if (!lost.empty())
      missing[lost].push_back(topology.nodes[gpu].name);
  }
  std::string text;
  for (const auto &[lost, from] : missing)
    text += (text.empty() ? "" : "; ") + listed(from) + " cannot reach " +
            listed(lost);
  return text;
}

Result<Topology>
ccn::synth::withoutParts(const Topology &topology,
                         const std::vector<std::string> &parts) {
  Edit edit(topology);
  std::string names;
  for (const std::string &part : parts) {
    if (std::string wrong = edit.lose(part); !wrong.empty())
      return error("--without " + part + ": " + wrong);
    names += (names.empty() ? "" : ", ") + part;
  }
  Topology rest = edit.rest();
  rest.name = topology.name + " without " + names;
  if (rest.numRanks() == 0)
    return error(rest.name + ": no GPU is left");
  if (std::string wrong = unreachable(rest); !wrong.empty())
    return error(rest.name + ": the topology falls apart: " + wrong);
  if (rest.numRanks() < topology.numRanks()) {
    std::vector<std::string> ranks;
    for (int gpu : rest.rankNodes())
      ranks.push_back(rest.nodes[gpu].name);
    rest.notes.push_back(std::to_string(ranks.size()) +
                         " ranks are left, in this order: " + listed(ranks));
  }
  return rest;
}

double ccn::synth::unitForSteps(const Topology &topology) {
  Result<Fabric> exact = makeFabric(topology);
  if (!exact || exact->linkCap.empty())
    return 0;
  auto [low, high] =
      std::minmax_element(exact->linkCap.begin(), exact->linkCap.end());
  // A search counts some hundreds of chunks, not thousands.
  constexpr int coarse = 16, fine = 100;
  if (*low <= fine)
    return 0;
  std::vector<double> capacities;
  for (const Link &link : exact->topology.links)
    capacities.push_back(link.gbps);
  for (const EdgeSet &set : exact->topology.edgeSets)
    capacities.push_back(set.gbps);
  double least = *std::min_element(capacities.begin(), capacities.end());
  // What is lost by rounding, and a little for every chunk more in a round.
  double best = 0, bestCost = 2;
  for (double capacity : capacities)
    for (int parts = 1; capacity / parts >= least / coarse; ++parts) {
      double unit = capacity / parts;
      if (unit > least * (1 + 1e-12))
        continue;
      double lost = 0;
      for (double x : capacities)
        lost =
            std::max(lost, 1 - std::floor(x / unit * (1 + 1e-12)) * unit / x);
      double cost = lost + 0.002 * least / unit;
      if (cost < bestCost - 1e-12) {
        bestCost = cost;
        best = unit;
      }
    }
  return best;
}
