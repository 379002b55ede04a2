//===- Builders.cpp - The machines known by name --------------------------===//
//
// Topologies by name: published machines (their link counts, capacities and
// latencies are the vendors' or the literature's; latencies that nobody
// published are our assumption and marked so) and regular graphs.
//
//===----------------------------------------------------------------------===//

#include "synth/Topology.h"

#include <array>
#include <charconv>
#include <set>

using namespace ccn;
using namespace ccn::synth;

namespace {

// Regular graphs are made of links like one NVLink brick of a V100.
constexpr double brickGBps = 25, brickUs = 0.7;

// NVLink bricks between the GPUs of a DGX-1 with V100s.
constexpr std::array<std::array<int, 8>, 8> dgx1Bricks = {{
    {0, 2, 1, 1, 2, 0, 0, 0},
    {2, 0, 1, 2, 0, 1, 0, 0},
    {1, 1, 0, 2, 0, 0, 2, 0},
    {1, 2, 2, 0, 0, 0, 0, 1},
    {2, 0, 0, 0, 0, 2, 1, 1},
    {0, 1, 0, 0, 2, 0, 1, 2},
    {0, 0, 2, 0, 1, 1, 0, 2},
    {0, 0, 0, 1, 1, 2, 2, 0},
}};

// xGMI links of an MI250 node: (die, die, links).
constexpr std::array<std::array<int, 3>, 28> mi250Links = {{
    {0, 1, 4},   {0, 4, 2},   {0, 8, 1},   {1, 5, 1},   {1, 9, 1},
    {1, 10, 1},  {2, 3, 4},   {2, 6, 1},   {2, 9, 1},   {2, 10, 1},
    {3, 7, 2},   {3, 11, 1},  {4, 5, 4},   {4, 6, 1},   {5, 6, 1},
    {5, 7, 1},   {6, 7, 4},   {8, 9, 4},   {8, 12, 2},  {9, 13, 1},
    {10, 11, 4}, {10, 14, 1}, {11, 15, 2}, {12, 13, 4}, {12, 14, 1},
    {13, 14, 1}, {13, 15, 1}, {14, 15, 4},
}};

std::string tag(std::string_view base, int i) {
  return std::string(base) + std::to_string(i);
}

/// `count` GPUs named from the number the topology has so far.
std::vector<int> addGpus(Topology &t, int count) {
  std::vector<int> ids;
  int first = t.numRanks();
  for (int i = 0; i < count; ++i)
    ids.push_back(t.addNode(tag("gpu", first + i), NodeKind::Gpu));
  return ids;
}

std::vector<int> addDgx1Node(Topology &t) {
  std::vector<int> gpus = addGpus(t, 8);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      if (dgx1Bricks[i][j])
        t.addLink(gpus[i], gpus[j], brickGBps * dgx1Bricks[i][j], brickUs);
  return gpus;
}

/// GPUs behind one switch of their own.
std::vector<int> addSwitchedNode(Topology &t, int node, int gpuCount,
                                 double gbps, double us) {
  std::vector<int> gpus = addGpus(t, gpuCount);
  int sw = t.addNode(tag("nvswitch", node), NodeKind::Switch);
  for (int gpu : gpus)
    t.addDuplex(gpu, sw, gbps, us);
  return gpus;
}

/// One NIC a GPU, to the fabric that `fabricOf(local index)` names.
template <typename F>
void addNics(Topology &t, const std::vector<int> &gpus, int node, double gbps,
             F fabricOf) {
  for (size_t i = 0; i < gpus.size(); ++i) {
    int nic = t.addNode(tag(tag("nic", node) + "_", i), NodeKind::Nic);
    // 0.5 + 1.0 us each side of the fabric: our assumption.
    t.addDuplex(gpus[i], nic, gbps, 0.5);
    t.addDuplex(nic, fabricOf(i), gbps, 1.0);
  }
}

Topology ndv2(int n) {
  Topology t;
  std::vector<std::vector<int>> nodes;
  for (int i = 0; i < n; ++i)
    nodes.push_back(addDgx1Node(t));
  if (n == 2) {
    t.addLink(nodes[0][1], nodes[1][0], 12.5, 1.3);
    t.addLink(nodes[1][1], nodes[0][0], 12.5, 1.3);
  } else if (n > 2) {
    int fabric = t.addNode("fabric", NodeKind::Switch);
    for (const std::vector<int> &gpus : nodes) {
      t.addLink(gpus[0], fabric, 12.5, 0.65);
      t.addLink(fabric, gpus[1], 12.5, 0.65);
    }
  }
  return t;
}

Topology dgx2(int n) {
  Topology t;
  std::vector<std::vector<int>> nodes;
  for (int i = 0; i < n; ++i)
    nodes.push_back(addSwitchedNode(t, i, 16, 125, 0.35));
  if (n == 2)
    for (int i = 1; i < 16; i += 2) {
      t.addLink(nodes[0][i], nodes[1][i - 1], 12.5, 2.6);
      t.addLink(nodes[1][i], nodes[0][i - 1], 12.5, 2.6);
    }
  return t;
}

Topology dgxA100(int n) {
  Topology t;
  std::array<int, 2> fabric = {};
  if (n > 1)
    fabric = {t.addNode("fabric0", NodeKind::Switch),
              t.addNode("fabric1", NodeKind::Switch)};
  for (int i = 0; i < n; ++i) {
    std::vector<int> gpus = addSwitchedNode(t, i, 8, 300, 0.35);
    if (n > 1)
      addNics(t, gpus, i, 25, [&](size_t k) { return fabric[k % 2]; });
  }
  return t;
}

Topology hgxH100(int n, int gpuCount) {
  Topology t;
  int fabric = n > 1 ? t.addNode("fabric", NodeKind::Switch) : -1;
  for (int i = 0; i < n; ++i) {
    std::vector<int> gpus = addSwitchedNode(t, i, gpuCount, 450, 0.35);
    if (n > 1)
      addNics(t, gpus, i, 50, [&](size_t) { return fabric; });
  }
  return t;
}

Topology mi250(int n) {
  Topology t;
  int fabric = n > 1 ? t.addNode("fabric", NodeKind::Switch) : -1;
  for (int i = 0; i < n; ++i) {
    std::vector<int> gpus = addGpus(t, 16);
    for (const std::array<int, 3> &link : mi250Links)
      t.addDuplex(gpus[link[0]], gpus[link[1]], 50.0 * link[2], 0.7);
    if (n > 1)
      addNics(t, gpus, i, 16, [&](size_t) { return fabric; });
  }
  return t;
}

/// The machines of BytePS (OSDI'20): GPUs in pairs or fours under PCIe
/// switches, these under the root complex of a CPU; 128 Gb/s links of which
/// 105 Gb/s are reached inside a switch and 80 Gb/s across; a 100 Gb/s NIC.
Topology byteps(int n, bool nvlink) {
  Topology t;
  int fabric = n > 1 ? t.addNode("fabric", NodeKind::Switch) : -1;
  int switches = nvlink ? 4 : 2;
  for (int i = 0; i < n; ++i) {
    std::vector<int> gpus = nvlink ? addDgx1Node(t) : addGpus(t, 8);
    std::array<int, 2> roots = {};
    for (int k = 0; k < 2; ++k) {
      std::string suffix = std::to_string(i) + "_" + std::to_string(k);
      roots[k] = t.addNode("root" + suffix, NodeKind::Switch);
      int cpu = t.addNode("cpu" + suffix, NodeKind::Cpu);
      t.addDuplex(cpu, roots[k], 16, 0.3);
    }
    t.addDuplex(roots[0], roots[1], 10, 0.3);
    for (int s = 0; s < switches; ++s) {
      int sw = t.addNode("pcie" + std::to_string(i) + "_" + std::to_string(s),
                         NodeKind::Switch);
      t.addDuplex(sw, roots[s * 2 / switches], 13.125, 0.3);
      for (int g = s * 8 / switches; g < (s + 1) * 8 / switches; ++g)
        t.addDuplex(gpus[g], sw, 13.125, 0.3);
    }
    if (n > 1) {
      int nic = t.addNode(tag("nic", i), NodeKind::Nic);
      t.addDuplex(roots[0], nic, 12.5, 0.5);
      t.addDuplex(nic, fabric, 12.5, 1.0);
    }
  }
  return t;
}

/// A grid of any number of dimensions; `wrap` makes it a torus (a dimension
/// of two has one link each way, not two).
Topology grid(const std::vector<int> &shape, bool wrap) {
  Topology t;
  int total = 1;
  for (int extent : shape)
    total *= extent;
  addGpus(t, total);
  for (int v = 0; v < total; ++v) {
    int stride = total;
    for (int extent : shape) {
      stride /= extent;
      int x = v / stride % extent;
      if (x + 1 < extent)
        t.addDuplex(v, v + stride, brickGBps, brickUs);
      else if (wrap && extent > 2)
        t.addDuplex(v, v - x * stride, brickGBps, brickUs);
    }
  }
  return t;
}

Topology full(int n) {
  Topology t;
  addGpus(t, n);
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j)
      t.addDuplex(i, j, brickGBps, brickUs);
  return t;
}

Topology hub(int n) {
  Topology t;
  addGpus(t, n);
  for (int i = 1; i < n; ++i)
    t.addDuplex(0, i, brickGBps, brickUs);
  return t;
}

/// A link, or more capacity where there is one already.
void addArc(Topology &t, int from, int to) {
  if (from == to)
    return;
  for (Link &link : t.links)
    if (link.src == from && link.dst == to) {
      link.gbps += brickGBps;
      return;
    }
  t.addLink(from, to, brickGBps, brickUs);
}

/// Node i has links to -d i - 1, ..., -d i - d modulo n (Imase and Itoh).
Topology kautz(int degree, int n) {
  Topology t;
  addGpus(t, n);
  for (int i = 0; i < n; ++i)
    for (int a = 1; a <= degree; ++a) {
      int64_t to = (-static_cast<int64_t>(degree) * i - a) % n;
      addArc(t, i, static_cast<int>(to < 0 ? to + n : to));
    }
  return t;
}

/// Node i is linked with i + a and i - a modulo n for each offset a.
Topology circulant(int n, const std::vector<int> &offsets) {
  Topology t;
  addGpus(t, n);
  for (int a : offsets)
    for (int i = 0; i < n; ++i) {
      int to = (i + a) % n;
      t.addLink(i, to, brickGBps, brickUs);
      if (2 * a != n)
        t.addLink(to, i, brickGBps, brickUs);
    }
  return t;
}

/// "name", "name(a,b)" and "namexN" taken apart; empty name on a bad text.
struct Spec {
  std::string name;
  std::vector<int> args;
  int copies = 1;
  bool ok = true;
};

Spec parseSpec(std::string_view text) {
  Spec spec;
  auto number = [&](std::string_view digits) {
    int value = 0;
    auto [end, ec] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (ec != std::errc() || end != digits.data() + digits.size() || value < 1)
      spec.ok = false;
    return value;
  };
  size_t open = text.find('(');
  if (open != std::string_view::npos) {
    spec.name = text.substr(0, open);
    if (text.back() != ')') {
      spec.ok = false;
      return spec;
    }
    std::string_view rest = text.substr(open + 1, text.size() - open - 2);
    while (true) {
      size_t comma = rest.find(',');
      spec.args.push_back(number(rest.substr(0, comma)));
      if (comma == std::string_view::npos)
        break;
      rest = rest.substr(comma + 1);
    }
    return spec;
  }
  size_t x = text.rfind('x');
  // The digits of dgx1 and dgx2 are part of the name.
  bool counted =
      x != std::string_view::npos && x + 1 < text.size() && x > 0 &&
      text.substr(0, x) != "dg" &&
      text.find_first_not_of("0123456789", x + 1) == std::string_view::npos;
  spec.name = text.substr(0, counted ? x : text.size());
  if (counted)
    spec.copies = number(text.substr(x + 1));
  return spec;
}

constexpr int maxNodes = 4096;

} // namespace

const std::vector<BuiltinTopology> &ccn::synth::builtinTopologies() {
  static const std::vector<BuiltinTopology> table = {
      {"dgx1", "dgx1", "NVIDIA DGX-1: 8 V100, NVLink bricks of 25 GB/s"},
      {"z52", "z52", "Gigabyte Z52: 8 MI50 in a ring"},
      {"ndv2[xN]", "ndv2x2", "Azure NDv2: DGX-1 nodes, one 12.5 GB/s NIC each"},
      {"dgx2[xN]", "dgx2x2", "NVIDIA DGX-2: 16 V100 behind a switch, N <= 2"},
      {"dgx-a100[xN]", "dgx-a100x2",
       "8 A100 behind NVSwitch, a 25 GB/s NIC a GPU"},
      {"hgx-h100[xN]", "hgx-h100x2",
       "8 H100 behind NVSwitch, a 50 GB/s NIC a GPU"},
      {"hgx-h100-4[xN]", "hgx-h100-4", "as hgx-h100 with 4 GPUs a node"},
      {"mi250[xN]", "mi250x2", "16 MI250 dies on xGMI, a 16 GB/s NIC a die"},
      {"byteps-pcie[xN]", "byteps-pcie",
       "8 GPUs under 2 PCIe switches, 2 CPUs"},
      {"byteps-nvlink[xN]", "byteps-nvlink",
       "a DGX-1 with its PCIe switches and CPUs"},
      {"ring(N)", "ring(8)", "N GPUs in a ring, links both ways"},
      {"line(N)", "line(4)", "N GPUs in a line"},
      {"star(N)", "star(8)", "N GPUs around a switch"},
      {"hub(N)", "hub(5)", "GPU 0 linked with N - 1 others (hub and spoke)"},
      {"full(N)", "full(8)", "every pair of N GPUs linked"},
      {"mesh(A,B,...)", "mesh(4,4)", "a grid of GPUs"},
      {"torus(A,B,...)", "torus(4,4)", "a grid with wrap-around links"},
      {"hypercube(D)", "hypercube(3)", "2^D GPUs"},
      {"kautz(D,N)", "kautz(2,6)",
       "generalized Kautz graph: N GPUs with D links out and in"},
      {"circulant(N,A,...)", "circulant(8,1,3)",
       "N GPUs, each linked with those A, ... places on and back"},
  };
  return table;
}

Result<Topology> ccn::synth::buildTopology(std::string_view text) {
  Spec spec = parseSpec(text);
  const std::string &name = spec.name;
  auto unknown = [&]() -> Status {
    return error("unknown topology \"", text,
                 "\", expected a file ending in .json, .xml or .txt or a name "
                 "that \"ccsynth topologies\" lists");
  };
  if (!spec.ok)
    return unknown();
  static const std::set<std::string> machines = {
      "ndv2",       "dgx2",  "dgx-a100",    "hgx-h100",
      "hgx-h100-4", "mi250", "byteps-pcie", "byteps-nvlink"};
  static const std::set<std::string> sized = {"ring", "line", "star",
                                              "hub",  "full", "hypercube"};
  Topology t;
  int n = spec.copies;
  if (name == "dgx1" || name == "z52") {
    if (n != 1 || !spec.args.empty())
      return unknown();
    if (name == "dgx1")
      addDgx1Node(t);
    else
      t = grid({8}, true);
  } else if (machines.count(name)) {
    if (!spec.args.empty() || n > maxNodes / 32)
      return error("topology \"" + std::string(text) + "\": expected at most " +
                   std::to_string(maxNodes / 32) + " nodes");
    if (name == "dgx2" && n > 2)
      return error("topology \"" + std::string(text) +
                   "\": expected at most 2 nodes, found " + std::to_string(n));
    t = name == "ndv2"            ? ndv2(n)
        : name == "dgx2"          ? dgx2(n)
        : name == "dgx-a100"      ? dgxA100(n)
        : name == "hgx-h100"      ? hgxH100(n, 8)
        : name == "hgx-h100-4"    ? hgxH100(n, 4)
        : name == "mi250"         ? mi250(n)
        : name == "byteps-nvlink" ? byteps(n, true)
                                  : byteps(n, false);
  } else if (sized.count(name)) {
    if (spec.args.size() != 1)
      return error("topology \"" + std::string(text) +
                   "\": expected one size, as in " + name + "(4)");
    int size = spec.args[0];
    if (size > (name == "hypercube" ? 10 : name == "full" ? 256 : maxNodes))
      return error("topology \"" + std::string(text) + "\": too large");
    if (name == "ring" || name == "line")
      t = grid({size}, name == "ring");
    else if (name == "full")
      t = full(size);
    else if (name == "hub")
      t = hub(size);
    else if (name == "star")
      addSwitchedNode(t, 0, size, brickGBps, brickUs / 2);
    else
      t = grid(std::vector<int>(size, 2), false);
  } else if (name == "mesh" || name == "torus") {
    int64_t total = 1;
    for (int extent : spec.args)
      total = std::min<int64_t>(total * extent, maxNodes + 1);
    if (spec.args.empty() || total > maxNodes)
      return error("topology \"" + std::string(text) +
                   "\": expected sizes with a product of at most " +
                   std::to_string(maxNodes));
    t = grid(spec.args, name == "torus");
  } else if (name == "kautz" || name == "circulant") {
    constexpr int maxGraph = 1024, maxLinks = 64;
    const std::vector<int> &args = spec.args;
    bool isKautz = name == "kautz";
    if (args.size() < 2 || (isKautz && args.size() > 2))
      return error("topology \"" + std::string(text) + "\": expected " +
                   (isKautz ? "links a GPU and GPUs, as in kautz(2,6)"
                            : "GPUs and offsets, as in circulant(8,1,3)"));
    int gpus = args[isKautz ? 1 : 0];
    std::vector<int> offsets(args.begin() + 1, args.end());
    if (gpus > maxGraph || args.size() > maxLinks ||
        (isKautz && args[0] > maxLinks))
      return error("topology \"" + std::string(text) + "\": too large");
    std::set<int> distinct(offsets.begin(), offsets.end());
    if (!isKautz &&
        (distinct.size() != offsets.size() || *distinct.rbegin() > gpus / 2))
      return error("topology \"" + std::string(text) +
                   "\": expected different offsets of at most half of the " +
                   std::to_string(gpus) + " GPUs");
    t = isKautz ? kautz(args[0], gpus) : circulant(gpus, offsets);
  } else {
    return unknown();
  }
  t.name = text;
  return t;
}
