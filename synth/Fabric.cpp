//===- Fabric.cpp - A topology in whole rounds ----------------------------===//
//
// See Fabric.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Fabric.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <deque>
#include <functional>
#include <sstream>

using namespace ccn;
using namespace ccn::synth;

std::vector<int> Fabric::distancesFrom(int host) const {
  std::vector<int> distance(hosts, -1);
  std::deque<int> queue = {host};
  distance[host] = 0;
  while (!queue.empty()) {
    int u = queue.front();
    queue.pop_front();
    for (int e : out[u])
      if (distance[edges[e].dst] < 0) {
        distance[edges[e].dst] = distance[u] + 1;
        queue.push_back(edges[e].dst);
      }
  }
  return distance;
}

/// A way as an edge.
static FabricEdge edgeOf(const Fabric &fabric, const std::vector<int> &path) {
  const std::vector<Link> &links = fabric.topology.links;
  FabricEdge edge{fabric.nodeHost[links[path.front()].src],
                  fabric.nodeHost[links[path.back()].dst], path, 0};
  for (int link : path)
    edge.us += links[link].us;
  return edge;
}

/// Finds the shortest ways from `start` to all hosts with only switches and
/// NICs between, and adds each as an edge.
static void addEdgesFrom(Fabric &fabric,
                         const std::vector<std::vector<int>> &outLinks,
                         int start) {
  const Topology &t = fabric.topology;
  std::vector<int> distance(t.nodes.size(), -1);
  std::deque<int> queue = {start};
  distance[start] = 0;
  while (!queue.empty()) {
    int u = queue.front();
    queue.pop_front();
    if (u != start && t.nodes[u].isHost())
      continue;
    for (int l : outLinks[u]) {
      int v = t.links[l].dst;
      if (distance[v] < 0) {
        distance[v] = distance[u] + 1;
        queue.push_back(v);
      }
    }
  }
  std::vector<int> path;
  std::function<void(int)> walk = [&](int u) {
    for (int l : outLinks[u]) {
      int v = t.links[l].dst;
      if (distance[v] != distance[u] + 1)
        continue;
      path.push_back(l);
      if (t.nodes[v].isHost()) {
        fabric.edges.push_back(edgeOf(fabric, path));
      } else {
        walk(v);
      }
      path.pop_back();
    }
  };
  walk(start);
}

static void indexEdges(Fabric &fabric) {
  fabric.in.assign(fabric.hosts, {});
  fabric.out.assign(fabric.hosts, {});
  for (size_t e = 0; e < fabric.edges.size(); ++e) {
    fabric.out[fabric.edges[e].src].push_back(e);
    fabric.in[fabric.edges[e].dst].push_back(e);
  }
}

namespace {

/// So many units a capacity may have; finer differences are rounded away. More,
/// where a small capacity beside a large one would have few.
constexpr int64_t maxUnits = int64_t(1) << 20, maxOfAll = int64_t(1) << 30;
constexpr double fewUnits = 1024;

/// Capacities as whole numbers of a unit: links first, then edge sets.
struct Measured {
  double unitGBps = 0;
  std::vector<int64_t> units;
  /// The largest part of a capacity that rounding down took away, and whose.
  double lost = 0;
  size_t worst = 0;
};

/// A capacity as digits * 10^-decimals, of twelve significant digits: what was
/// computed in floating point may be off in the last.
struct Decimal {
  int64_t digits = 0;
  int decimals = 0;
};

} // namespace

static Decimal decimalOf(double gbps) {
  char text[400];
  auto end = std::to_chars(text, text + sizeof text, gbps,
                           std::chars_format::scientific, 11)
                 .ptr;
  Decimal result;
  const char *at = text;
  bool fraction = false;
  for (; at != end && *at != 'e'; ++at) {
    fraction |= *at == '.';
    if (*at == '.')
      continue;
    result.digits = result.digits * 10 + (*at - '0');
    result.decimals += fraction;
  }
  if (at != end) {
    int exponent = 0;
    at += at[1] == '+' ? 2 : 1;
    std::from_chars(at, end, exponent);
    result.decimals -= exponent;
  }
  for (; result.digits != 0 && result.digits % 10 == 0; --result.decimals)
    result.digits /= 10;
  return result;
}

/// All capacities as multiples of the same power of ten, or nothing where these
/// would be too large.
static std::vector<int64_t> wholes(const std::vector<double> &gbps,
                                   int &decimals) {
  std::vector<Decimal> numbers;
  decimals = 0;
  for (double x : gbps) {
    numbers.push_back(decimalOf(x));
    decimals = std::max(decimals, numbers.back().decimals);
  }
  std::vector<int64_t> result;
  for (const Decimal &number : numbers) {
    int64_t value = number.digits;
    for (int k = number.decimals; k < decimals; ++k)
      if (__builtin_mul_overflow(value, 10, &value))
        return {};
    result.push_back(value);
  }
  return result;
}

/// Rounds capacities down to multiples of a unit.
static void roundTo(Measured &measured, const std::vector<double> &gbps,
                    double unit) {
  measured.unitGBps = unit;
  for (size_t i = 0; i < gbps.size(); ++i) {
    // A multiple that the division misses by a hair is one.
    auto units =
        static_cast<int64_t>(std::min(gbps[i] / unit * (1 + 1e-12), 9e18));
    measured.units.push_back(units);
    double lost = 1 - static_cast<double>(units) * unit / gbps[i];
    if (lost > measured.lost && lost > 1e-9) {
      measured.lost = lost;
      measured.worst = i;
    }
  }
}

/// `unit` 0: the greatest common divisor, or a fine one where that would be too
/// fine.
static Measured measure(const std::vector<double> &gbps, double unit) {
  Measured measured;
  if (unit > 0) {
    roundTo(measured, gbps, unit);
    return measured;
  }
  if (gbps.empty())
    return measured;
  auto [low, high] = std::minmax_element(gbps.begin(), gbps.end());
  bool wide = *high / static_cast<double>(maxUnits) > *low / fewUnits;
  int64_t most = wide ? maxOfAll : maxUnits;
  int decimals = 0;
  std::vector<int64_t> exact = wholes(gbps, decimals);
  int64_t divisor = 0, largest = 0;
  for (int64_t value : exact) {
    divisor = std::gcd(divisor, value);
    largest = std::max(largest, value);
  }
  if (divisor > 0 && largest / divisor <= most) {
    double scale = std::pow(10.0, decimals);
    measured.unitGBps = static_cast<double>(divisor) / scale;
    for (int64_t value : exact)
      measured.units.push_back(value / divisor);
    return measured;
  }
  roundTo(measured, gbps,
          std::max(*high / static_cast<double>(most),
                   wide ? *low / fewUnits : 0.0));
  return measured;
}

/// One set for each link and each edge set of the topology that edges use.
static void indexSets(Fabric &fabric) {
  const Topology &t = fabric.topology;
  std::vector<std::vector<int>> users(t.links.size());
  for (size_t e = 0; e < fabric.edges.size(); ++e)
    for (int l : fabric.edges[e].path)
      users[l].push_back(static_cast<int>(e));
  fabric.sets.clear();
  for (size_t l = 0; l < t.links.size(); ++l)
    if (!users[l].empty())
      fabric.sets.push_back(
          {users[l], fabric.linkCap[l],
           t.nodes[t.links[l].src].name + "->" + t.nodes[t.links[l].dst].name});
  for (const EdgeSet &edgeSet : t.edgeSets) {
    FabricSet set;
    set.name = edgeSet.name;
    set.cap = static_cast<int>(edgeSet.gbps / fabric.unitGBps + 1e-6);
    for (int l : edgeSet.links)
      set.edges.insert(set.edges.end(), users[l].begin(), users[l].end());
    std::sort(set.edges.begin(), set.edges.end());
    set.edges.erase(std::unique(set.edges.begin(), set.edges.end()),
                    set.edges.end());
    if (!set.edges.empty())
      fabric.sets.push_back(std::move(set));
  }
}

Result<Fabric> ccn::synth::makeFabric(const Topology &topology,
                                      double unitGBps) {
  std::string problem = validate(topology);
  if (!problem.empty())
    return error(topology.name + ": " + problem);
  Fabric fabric;
  fabric.topology = topology;
  const Topology &t = fabric.topology;
  fabric.nodeHost.assign(t.nodes.size(), -1);
  for (NodeKind kind : {NodeKind::Gpu, NodeKind::Cpu})
    for (size_t i = 0; i < t.nodes.size(); ++i)
      if (t.nodes[i].kind == kind) {
        fabric.nodeHost[i] = fabric.hosts++;
        fabric.hostNode.push_back(i);
        fabric.ranks += kind == NodeKind::Gpu;
      }
  std::vector<double> capacities;
  for (const Link &link : t.links)
    capacities.push_back(link.gbps);
  for (const EdgeSet &set : t.edgeSets)
    capacities.push_back(set.gbps);
  Measured measured = measure(capacities, unitGBps);
  fabric.unitGBps = measured.unitGBps > 0 ? measured.unitGBps : 1;
  auto placeOf = [&](size_t i) {
    return i < t.links.size()
               ? "/links/" + std::to_string(i)
               : "/edge_sets/" + std::to_string(i - t.links.size());
  };
  for (size_t i = 0; i < capacities.size(); ++i) {
    std::ostringstream text;
    if (measured.units[i] == 0)
      text << "expected at least the unit of " << fabric.unitGBps
           << " GB/s, found " << capacities[i];
    if (measured.units[i] > INT_MAX)
      text << "expected at most 2147483647 units of " << fabric.unitGBps
           << " GB/s, found " << capacities[i];
    if (!text.str().empty())
      return error(t.name + ": " + placeOf(i) + ": " + text.str());
  }
  if (measured.lost > 0) {
    std::ostringstream note;
    note << t.name << ": capacities are rounded down to multiples of "
         << fabric.unitGBps << " GB/s, that of " << placeOf(measured.worst)
         << " most, by " << 100 * measured.lost << " %";
    fabric.topology.notes.push_back(note.str());
    // What nobody asked to be rounded is so for simulations, too, so that none
    // is faster than a bound.
    if (unitGBps <= 0) {
      for (size_t l = 0; l < t.links.size(); ++l)
        fabric.topology.links[l].gbps =
            static_cast<double>(measured.units[l]) * fabric.unitGBps;
      for (size_t s = 0; s < t.edgeSets.size(); ++s)
        fabric.topology.edgeSets[s].gbps =
            static_cast<double>(measured.units[t.links.size() + s]) *
            fabric.unitGBps;
    }
  }
  std::vector<std::vector<int>> outLinks(t.nodes.size());
  for (size_t l = 0; l < t.links.size(); ++l) {
    outLinks[t.links[l].src].push_back(static_cast<int>(l));
    fabric.linkCap.push_back(static_cast<int>(measured.units[l]));
  }
  for (int node : fabric.hostNode)
    addEdgesFrom(fabric, outLinks, node);
  indexEdges(fabric);
  indexSets(fabric);
  return fabric;
}

FabricWays::FabricWays(Fabric &fabric)
    : fabric(fabric), before(fabric.edges.size()) {
  for (size_t e = 0; e < before; ++e)
    edges.emplace(fabric.edges[e].path, static_cast<int>(e));
}

FabricWays::~FabricWays() {
  if (fabric.edges.size() == before)
    return;
  indexEdges(fabric);
  indexSets(fabric);
}

int FabricWays::edgeAlong(const std::vector<int> &path) {
  auto [it, isNew] = edges.emplace(path, static_cast<int>(fabric.edges.size()));
  if (isNew)
    fabric.edges.push_back(edgeOf(fabric, path));
  return it->second;
}

Fabric ccn::synth::withEdges(const Fabric &fabric,
                             const std::vector<char> &keep) {
  Fabric result = fabric;
  std::vector<int> renamed(fabric.edges.size(), -1);
  result.edges.clear();
  for (size_t e = 0; e < fabric.edges.size(); ++e)
    if (keep[e]) {
      renamed[e] = static_cast<int>(result.edges.size());
      result.edges.push_back(fabric.edges[e]);
    }
  result.sets.clear();
  for (const FabricSet &set : fabric.sets) {
    FabricSet kept{{}, set.cap, set.name};
    for (int e : set.edges)
      if (renamed[e] >= 0)
        kept.edges.push_back(renamed[e]);
    if (!kept.edges.empty())
      result.sets.push_back(std::move(kept));
  }
  indexEdges(result);
  return result;
}

Fabric ccn::synth::reversed(const Fabric &fabric) {
  Fabric result = fabric;
  for (Link &link : result.topology.links)
    std::swap(link.src, link.dst);
  for (FabricEdge &edge : result.edges) {
    std::swap(edge.src, edge.dst);
    std::reverse(edge.path.begin(), edge.path.end());
  }
  indexEdges(result);
  return result;
}
