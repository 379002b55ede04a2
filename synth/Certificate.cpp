//===- Certificate.cpp - Bounds that others can verify --------------------===//
//
// See Certificate.h. Each proof is a sum over links in GB/s and one over
// chunks; data crosses a cut, or passes lengths, no faster than links carry it.
//
//===----------------------------------------------------------------------===//

#include "synth/Certificate.h"
#include "synth/Json.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// What all links of a kind carry together, where links of one edge set carry
/// no more than the set does.
template <typename Counts>
double carried(const Topology &t, const Counts &counts) {
  double total = 0;
  std::vector<char> done(t.links.size());
  for (const EdgeSet &set : t.edgeSets) {
    double inSet = 0;
    for (int l : set.links)
      if (counts(t.links[l]) && !done[l]) {
        inSet += t.links[l].gbps;
        done[l] = 1;
      }
    total += std::min(inSet, set.gbps);
  }
  for (size_t l = 0; l < t.links.size(); ++l)
    if (!done[l] && counts(t.links[l]))
      total += t.links[l].gbps;
  return total;
}

/// Chunks that must leave the cut: some of a sum's contributions, or all
/// copies of what is not summed, are in it, and not all that need it are.
double leaving(const Certificate &c, const std::vector<char> &inside) {
  std::vector<int> rankNodes = c.topology.rankNodes();
  auto isIn = [&](int rank) { return inside[rankNodes[rank]] != 0; };
  double chunks = 0;
  for (const ChunkRelation &chunk : c.collective.chunks) {
    bool has = c.collective.combining
                   ? std::any_of(chunk.pre.begin(), chunk.pre.end(), isIn)
                   : std::all_of(chunk.pre.begin(), chunk.pre.end(), isIn);
    if (has && !std::all_of(chunk.post.begin(), chunk.post.end(), isIn))
      ++chunks;
  }
  return chunks;
}

double byCut(const Certificate &c) {
  std::vector<char> inside(c.topology.nodes.size());
  for (int node : c.cut)
    inside[node] = 1;
  double capacity = carried(c.topology, [&](const Link &link) {
    return inside[link.src] && !inside[link.dst];
  });
  return capacity > 0 ? leaving(c, inside) / capacity : 0;
}

double bySends(const Certificate &c) {
  if (!c.collective.combining)
    return 0;
  double sends = 0;
  for (const ChunkRelation &chunk : c.collective.chunks)
    if (!chunk.post.empty() && !chunk.pre.empty())
      sends += static_cast<double>(chunk.pre.size() + chunk.post.size()) - 2;
  const std::vector<Node> &nodes = c.topology.nodes;
  double into = carried(
      c.topology, [&](const Link &link) { return nodes[link.dst].isHost(); });
  double outOf = carried(
      c.topology, [&](const Link &link) { return nodes[link.src].isHost(); });
  double room = std::min(into, outOf);
  return room > 0 ? sends / room : 0;
}

double byLengths(const Certificate &c) {
  const Topology &t = c.topology;
  if (c.lengths.size() != t.links.size() + t.edgeSets.size())
    return 0;
  std::vector<double> length(t.links.size());
  double room = 0;
  for (size_t l = 0; l < t.links.size(); ++l) {
    length[l] = static_cast<double>(c.lengths[l]);
    room += length[l] * t.links[l].gbps;
  }
  for (size_t s = 0; s < t.edgeSets.size(); ++s) {
    auto own = static_cast<double>(c.lengths[t.links.size() + s]);
    room += own * t.edgeSets[s].gbps;
    for (int l : t.edgeSets[s].links)
      length[l] += own;
  }
  std::vector<int> rankNodes = t.rankNodes();
  std::vector<std::vector<double>> from(rankNodes.size());
  double passed = 0;
  for (const ChunkRelation &chunk : c.collective.chunks) {
    if (chunk.pre.size() != 1 || chunk.post.size() != 1)
      return 0;
    std::vector<double> &distance = from[chunk.pre[0]];
    if (distance.empty()) {
      // As often as a shorter way is found: few nodes, and no queue to trust.
      distance.assign(t.nodes.size(), -1);
      distance[rankNodes[chunk.pre[0]]] = 0;
      for (bool changed = true; changed;) {
        changed = false;
        for (size_t l = 0; l < t.links.size(); ++l) {
          double there = distance[t.links[l].src];
          double &here = distance[t.links[l].dst];
          if (there < 0 || (here >= 0 && here <= there + length[l]))
            continue;
          here = there + length[l];
          changed = true;
        }
      }
    }
    passed += std::max(0.0, distance[rankNodes[chunk.post[0]]]);
  }
  return room > 0 ? passed / room : 0;
}

/// What it costs to get from each node (row) to each other by links and the
/// nodes that hold nothing; -1 where there is no way.
std::vector<std::vector<int64_t>>
directCosts(const Topology &t, const std::vector<int64_t> &price) {
  const size_t nodes = t.nodes.size();
  std::vector<std::vector<int64_t>> cost(nodes,
                                         std::vector<int64_t>(nodes, -1));
  for (size_t l = 0; l < t.links.size(); ++l) {
    int64_t &known = cost[t.links[l].src][t.links[l].dst];
    if (known < 0 || price[l] < known)
      known = price[l];
  }
  for (size_t k = 0; k < nodes; ++k) {
    if (t.nodes[k].isHost())
      continue;
    for (size_t i = 0; i < nodes; ++i)
      for (size_t j = 0; j < nodes && cost[i][k] >= 0; ++j)
        if (cost[k][j] >= 0 &&
            (cost[i][j] < 0 || cost[i][k] + cost[k][j] < cost[i][j]))
          cost[i][j] = cost[i][k] + cost[k][j];
  }
  return cost;
}

/// Where ways that cost no more than some price join hosts to blocks, each
/// chunk that all ranks add to and need is sent from block to block at least
/// twice as often as there are blocks with ranks but one: the first host that
/// has the sum got something from each other block, and each of these gets
/// something after that. Each such send costs more than the price.
double byPrices(const Certificate &c) {
  const Topology &t = c.topology;
  const auto ranks = static_cast<size_t>(c.collective.ranks);
  if (!c.collective.combining || c.prices.size() != t.links.size())
    return 0;
  for (const ChunkRelation &chunk : c.collective.chunks)
    if (chunk.pre.size() != ranks || chunk.post.size() != ranks)
      return 0;
  double room = 0;
  for (size_t l = 0; l < t.links.size(); ++l)
    room += static_cast<double>(c.prices[l]) * t.links[l].gbps;
  std::vector<std::vector<int64_t>> cost = directCosts(t, c.prices);
  std::vector<int64_t> levels;
  for (size_t i = 0; i < t.nodes.size(); ++i)
    for (size_t j = 0; j < t.nodes.size(); ++j)
      if (i != j && t.nodes[i].isHost() && t.nodes[j].isHost() &&
          cost[i][j] >= 0)
        levels.push_back(cost[i][j]);
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  // By node, its block at the level; at first each is alone.
  std::vector<size_t> block(t.nodes.size());
  std::iota(block.begin(), block.end(), 0);
  const std::vector<int> rankNodes = t.rankNodes();
  double total = 0;
  int64_t below = 0;
  for (int64_t level : levels) {
    std::set<size_t> apart;
    for (int node : rankNodes)
      apart.insert(block[node]);
    total += 2 * static_cast<double>(level - below) *
             static_cast<double>(apart.size() - 1);
    below = level;
    for (size_t i = 0; i < t.nodes.size(); ++i)
      for (size_t j = 0; j < t.nodes.size(); ++j)
        if (t.nodes[i].isHost() && t.nodes[j].isHost() && cost[i][j] >= 0 &&
            cost[i][j] <= level && block[i] != block[j])
          std::replace(block.begin(), block.end(), block[j], size_t(block[i]));
  }
  return room > 0
             ? total * static_cast<double>(c.collective.chunks.size()) / room
             : 0;
}

/// The fewest steps from one rank to another; -1 if there is no way. A step
/// passes switches and NICs, and ends at a GPU or a CPU.
int distanceInSteps(const Topology &t, int from, int to) {
  std::vector<int> rankNodes = t.rankNodes();
  std::vector<int> steps(t.nodes.size(), -1);
  std::deque<int> queue = {rankNodes[from]};
  steps[rankNodes[from]] = 0;
  // Hosts cost a step, all else nothing: it goes in front.
  std::vector<char> done(t.nodes.size());
  while (!queue.empty()) {
    int node = queue.front();
    queue.pop_front();
    if (done[node])
      continue;
    done[node] = 1;
    for (const Link &link : t.links) {
      if (link.src != node)
        continue;
      bool host = t.nodes[link.dst].isHost();
      int known = steps[link.dst], now = steps[node] + (host ? 1 : 0);
      if (known >= 0 && known <= now)
        continue;
      steps[link.dst] = now;
      if (host)
        queue.push_back(link.dst);
      else
        queue.push_front(link.dst);
    }
  }
  return steps[rankNodes[to]];
}

/// The latency of the quickest way from one rank to another; 0 if there is
/// none.
double latency(const Topology &t, int from, int to) {
  std::vector<int> rankNodes = t.rankNodes();
  std::vector<double> us(t.nodes.size(), -1);
  us[rankNodes[from]] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Link &link : t.links) {
      double there = us[link.src];
      double &here = us[link.dst];
      if (there < 0 || (here >= 0 && here <= there + link.us))
        continue;
      here = there + link.us;
      changed = true;
    }
  }
  return std::max(0.0, us[rankNodes[to]]);
}

/// Whether the second rank needs, of some chunk, what only the first has.
bool mustTravel(const Collective &coll, int from, int to) {
  return std::any_of(
      coll.chunks.begin(), coll.chunks.end(), [&](const ChunkRelation &chunk) {
        bool has = std::count(chunk.pre.begin(), chunk.pre.end(), from) > 0 &&
                   (coll.combining || chunk.pre.size() == 1);
        return has && std::count(chunk.post.begin(), chunk.post.end(), to) > 0;
      });
}

} // namespace

double ccn::synth::provedUs(const Certificate &c) {
  double byLatency = mustTravel(c.collective, c.latencyFrom, c.latencyTo)
                         ? latency(c.topology, c.latencyFrom, c.latencyTo)
                         : 0;
  double work = provedUsPerGB(c) * c.bytes / 1e9;
  // The last of it ends with a link into a host.
  double least = -1;
  for (const Link &link : c.topology.links)
    if (c.topology.nodes[link.dst].isHost() && (least < 0 || link.us < least))
      least = link.us;
  return std::max(byLatency, work > 0 ? work + std::max(least, 0.0) : 0);
}

double ccn::synth::provedUsPerGB(const Certificate &c) {
  double chunksPerGBps = c.countsSends        ? bySends(c)
                         : !c.prices.empty()  ? byPrices(c)
                         : !c.lengths.empty() ? byLengths(c)
                                              : byCut(c);
  // 1 GB/s is 1000 bytes a microsecond.
  return chunksPerGBps * 1e9 / c.collective.bufferChunks / 1000;
}

std::string ccn::synth::verify(const Certificate &c) {
  if (c.topology.numRanks() != c.collective.ranks)
    return "expected a collective of the topology's " +
           std::to_string(c.topology.numRanks()) + " ranks, found " +
           std::to_string(c.collective.ranks);
  // The sums are of floating point numbers.
  constexpr double rounding = 1 + 1e-9;
  double proved = provedUsPerGB(c);
  if (c.leastUsPerGB > proved * rounding)
    return "expected a proof of " + std::to_string(c.leastUsPerGB) +
           " us for 1 GB, found one of " + std::to_string(proved);
  if (c.bytes > 0 && c.leastUs > provedUs(c) * rounding)
    return "expected a proof of " + std::to_string(c.leastUs) + " us for " +
           std::to_string(c.bytes) + " bytes, found one of " +
           std::to_string(provedUs(c));
  if (c.steps < 0)
    return "";
  if (!mustTravel(c.collective, c.from, c.to))
    return "rank " + std::to_string(c.to) + " needs nothing that only rank " +
           std::to_string(c.from) + " has";
  int steps = distanceInSteps(c.topology, c.from, c.to);
  if (steps >= 0 && steps < c.steps)
    return "expected " + std::to_string(c.steps) + " steps from rank " +
           std::to_string(c.from) + " to rank " + std::to_string(c.to) +
           ", found " + std::to_string(steps);
  return "";
}

std::optional<CollectiveKind> ccn::synth::kindOf(const Collective &c) {
  std::optional<CollectiveKind> kind = parseCollectiveKind(c.name);
  if (!kind || c.chunks.empty())
    return std::nullopt;
  auto isRight = [&](const Result<Collective> &made) {
    return made && made->combining == c.combining &&
           made->bufferChunks == c.bufferChunks &&
           std::equal(made->chunks.begin(), made->chunks.end(),
                      c.chunks.begin(), c.chunks.end(),
                      [](const ChunkRelation &a, const ChunkRelation &b) {
                        return a.pre == b.pre && a.post == b.post;
                      });
  };
  if (kind == CollectiveKind::AllToAllV) {
    Counts counts(c.ranks, std::vector<int>(c.ranks));
    for (const ChunkRelation &chunk : c.chunks) {
      if (chunk.pre.size() != 1 || chunk.post.size() != 1)
        return std::nullopt;
      ++counts[chunk.pre[0]][chunk.post[0]];
    }
    return isRight(makeAllToAllV(counts, 1)) ? kind : std::nullopt;
  }
  // The buffer has the chunks of one node or of all; the root, if there is
  // one, is where the first chunk comes from or goes to.
  const ChunkRelation &first = c.chunks.front();
  for (int nodes : {1, c.ranks})
    for (int root :
         {first.pre.front(), first.post.empty() ? 0 : first.post.front()})
      if (c.bufferChunks % nodes == 0 &&
          isRight(makeCollective(*kind, c.ranks, c.bufferChunks / nodes, root)))
        return kind;
  return std::nullopt;
}

bool ccn::synth::isCertificate(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r\n");
  return (first != std::string_view::npos && text[first] == '[') ||
         hasKey(text, "ccn_certificate");
}

std::string ccn::synth::writeCertificate(const Certificate &c) {
  using json = nlohmann::ordered_json;
  json out;
  out["ccn_certificate"] = 1;
  out["least_us_per_GB"] = c.leastUsPerGB;
  if (c.countsSends)
    out["sends"] = true;
  else if (!c.prices.empty())
    out["prices"] = c.prices;
  else if (!c.lengths.empty())
    out["lengths"] = c.lengths;
  else
    for (int node : c.cut)
      out["cut"].push_back(c.topology.nodes[node].name);
  if (c.bytes > 0)
    out["size"] = {{"bytes", c.bytes},
                   {"least_us", c.leastUs},
                   {"latency", {c.latencyFrom, c.latencyTo}}};
  if (c.steps >= 0)
    out["steps"] = {{"from", c.from}, {"to", c.to}, {"least", c.steps}};
  out["topology"] = json::parse(writeTopology(c.topology));
  out["collective"] = json::parse(writeCollective(c.collective));
  return out.dump(1) + "\n";
}

Result<Certificate> ccn::synth::parseCertificate(std::string_view text,
                                                 std::string_view where) {
  try {
    nlohmann::json value = parseJson(text, where);
    JsonAt root(value, std::string(where), "");
    root.onlyKeys({"ccn_certificate", "least_us_per_GB", "sends", "lengths",
                   "prices", "cut", "size", "steps", "topology", "collective"});
    root.at("ccn_certificate").integer(1, 1);
    Certificate c;
    Result<Topology> topology =
        parseTopology(root.at("topology").json().dump(), where);
    if (!topology)
      return topology.status();
    c.topology = *std::move(topology);
    Result<Collective> collective =
        parseCollective(root.at("collective").json().dump(), where);
    if (!collective)
      return collective.status();
    c.collective = *std::move(collective);
    c.leastUsPerGB = root.at("least_us_per_GB").number();
    c.countsSends = root.has("sends") && root.at("sends").boolean();
    for (auto [key, list] :
         {std::pair("lengths", &c.lengths), std::pair("prices", &c.prices)})
      if (root.has(key))
        for (size_t i = 0, n = root.at(key).arraySize(); i < n; ++i)
          list->push_back(root.at(key).at(i).integer(0, int64_t(1) << 40));
    if (root.has("cut"))
      for (size_t i = 0, n = root.at("cut").arraySize(); i < n; ++i) {
        std::string name = root.at("cut").at(i).string();
        c.cut.push_back(c.topology.findNode(name));
        if (c.cut.back() < 0)
          root.at("cut").at(i).fail("the topology has no node \"" + name +
                                    "\"");
      }
    int64_t last = c.topology.numRanks() - 1;
    if (root.has("size")) {
      JsonAt size = root.at("size");
      c.bytes = size.at("bytes").number();
      c.leastUs = size.at("least_us").number();
      JsonAt latency = size.at("latency");
      c.latencyFrom = static_cast<int>(latency.at(size_t(0)).integer(0, last));
      c.latencyTo = static_cast<int>(latency.at(1).integer(0, last));
    }
    if (root.has("steps")) {
      JsonAt steps = root.at("steps");
      c.from = static_cast<int>(steps.at("from").integer(0, last));
      c.to = static_cast<int>(steps.at("to").integer(0, last));
      c.steps = static_cast<int>(steps.at("least").integer(0, 1 << 20));
    }
    return c;
  } catch (const JsonError &wrong) {
    return error(wrong.what());
  }
}
