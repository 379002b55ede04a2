//===- NcclTopology.cpp - Topologies from NCCL's XML ----------------------===//
//
// NCCL's <system> has a <cpu> for each NUMA node of each host, below it the
// tree of <pci> devices (bridges, GPUs, NICs) with their link speeds, and for
// each GPU its links: NVLinks to other GPUs, NVSwitches or CPUs, xGMI to other
// GPUs (RCCL writes those), and C2C to the CPU.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/TopologyImport.h"
#include "synth/interop/Xml.h"

#include <map>
#include <set>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// The bandwidth between the parts of one PCIe switch, as NCCL assumes it.
constexpr double insideSwitchGBps = 5000;

class Reader : public XmlReader {
public:
  Reader(std::string_view text, std::string_view where,
         const ImportOptions &options)
      : XmlReader(text, where), options(options) {}
  Topology run();

private:
  struct Gpu {
    pugi::xml_node node;
    /// The index of its <cpu>.
    size_t cpu = 0;
    std::string busid;
    int order = 0, id = -1;
  };
  /// A NUMA node of a host.
  struct Cpu {
    pugi::xml_node node;
    int host = 0;
    int64_t numa = 0;
    int root = -1;
  };
  /// Bus ids tell devices of one host apart.
  using Place = std::pair<int, std::string>;

  void note(pugi::xml_node node, const std::string &message) {
    t.notes.push_back(at(node.offset_debug(), message));
  }
  void noteOthers(pugi::xml_node node,
                  std::initializer_list<std::string_view> known);
  std::string uniqueName(const std::string &name) const;
  void findCpus(pugi::xml_node system);
  void findGpus(pugi::xml_node node, size_t cpu);
  void orderGpus();
  double pcieGBps(pugi::xml_node pci);
  double smpGBps(pugi::xml_node cpu) const;
  double xgmiGBps(pugi::xml_node gpu);
  double nvlinkGBps(pugi::xml_node gpu);
  void addPci(pugi::xml_node node, int above, int host);
  void addPciLinks();
  void addNets(pugi::xml_node nic, int above, double most);
  void addGpuLinks();
  void addToCpus();
  void addTo(int gpu, int root, double gbps);

  ImportOptions options;
  Topology t;
  std::vector<Cpu> cpus;
  std::vector<Gpu> gpus;
  std::map<Place, int> gpuOfBus, bridgeOfBus;
  std::vector<std::pair<int, pugi::xml_node>> bridges;
  /// NVLinks and C2C to the CPU of a GPU, by GPU.
  std::map<size_t, double> toCpu;
};

void Reader::noteOthers(pugi::xml_node node,
                        std::initializer_list<std::string_view> known) {
  for (pugi::xml_node child : node.children())
    if (child.type() == pugi::node_element &&
        std::find(known.begin(), known.end(), child.name()) == known.end())
      note(child, std::string("<") + child.name() + "> within <" + node.name() +
                      "> is not known and left out");
}

/// The name, with a number appended if a node has the name already.
std::string Reader::uniqueName(const std::string &name) const {
  std::string result = name;
  for (int number = 2; t.findNode(result) >= 0; ++number)
    result = name + "." + std::to_string(number);
  return result;
}

void Reader::findCpus(pugi::xml_node system) {
  noteOthers(system, {"cpu"});
  std::map<std::string, int> hosts;
  std::set<std::pair<int, int64_t>> seen;
  for (pugi::xml_node node : system.children("cpu")) {
    // Old dumps are of one host and do not name it.
    std::string hash = node.attribute("host_hash").value();
    int host =
        hosts.emplace(hash, static_cast<int>(hosts.size())).first->second;
    int64_t numa = number(node, "numaid", -1, 4095);
    if (!seen.insert({host, numa}).second)
      fail(node.offset_debug(),
           "<cpu>: expected distinct numaids in a host, found " +
               std::to_string(numa) + " twice");
    noteOthers(node, {"pci", "nic"});
    findGpus(node, cpus.size());
    cpus.push_back({node, host, numa});
  }
}

/// GPUs with the bus id of the <pci> that has them.
void Reader::findGpus(pugi::xml_node node, size_t cpu) {
  for (pugi::xml_node child : node.children()) {
    if (std::string_view(child.name()) == "gpu") {
      if (std::string_view(node.name()) != "pci")
        fail(child.offset_debug(), std::string("<gpu>: expected within <pci>, "
                                               "found within <") +
                                       node.name() + ">");
      noteOthers(child, {"nvlink", "xgmi", "c2c"});
      gpus.push_back({child, cpu, attribute(node, "busid")});
    }
    findGpus(child, cpu);
  }
}

/// The GPUs in the order of their ranks, without those that have no rank. If
/// none has a rank: in the order of host and device.
void Reader::orderGpus() {
  auto hasRank = [](const Gpu &gpu) {
    return bool(gpu.node.attribute("rank"));
  };
  bool ranked = std::any_of(gpus.begin(), gpus.end(), hasRank);
  if (ranked)
    std::erase_if(gpus, [&](const Gpu &gpu) {
      if (!hasRank(gpu))
        note(gpu.node, "<gpu> without a rank takes no part and is left out");
      return !hasRank(gpu);
    });
  auto key = [&](const Gpu &gpu) {
    return std::pair(ranked ? 0 : cpus[gpu.cpu].host, gpu.order);
  };
  for (Gpu &gpu : gpus)
    gpu.order = static_cast<int>(
        number(gpu.node, ranked ? "rank" : "dev", 0, ranked ? 65535 : 4095));
  std::stable_sort(gpus.begin(), gpus.end(),
                   [&](const Gpu &a, const Gpu &b) { return key(a) < key(b); });
  bool severalHosts = std::any_of(cpus.begin(), cpus.end(),
                                  [](const Cpu &cpu) { return cpu.host > 0; });
  for (size_t g = 0; g < gpus.size(); ++g) {
    Gpu &gpu = gpus[g];
    if (g > 0 && key(gpu) == key(gpus[g - 1]))
      fail(gpu.node.offset_debug(), "<gpu>: expected distinct ranks, found " +
                                        std::to_string(gpu.order) + " twice");
    size_t name = ranked || !severalHosts ? static_cast<size_t>(gpu.order) : g;
    gpu.id = t.addNode("gpu" + std::to_string(name), NodeKind::Gpu);
    gpuOfBus[{cpus[gpu.cpu].host, gpu.busid}] = gpu.id;
  }
}

/// 16 lanes of 8 GT/s carry 12 GB/s, as NCCL assumes; unknown speeds count as
/// these.
double Reader::pcieGBps(pugi::xml_node pci) {
  if (options.pcieGBps > 0)
    return options.pcieGBps;
  static const std::map<std::string, double> perLane = {
      {"2.5", 15},   {"5", 30},     {"5.0", 30},    {"8", 60},     {"8.0", 60},
      {"16", 120},   {"16.0", 120}, {"32", 240},    {"32.0", 240}, {"64", 480},
      {"64.0", 480}, {"128", 960},  {"128.0", 960},
  };
  double speed = 60;
  std::string text = pci.attribute("link_speed").value();
  std::string first = text.substr(0, text.find(' '));
  if (auto it = perLane.find(first); it != perLane.end())
    speed = it->second;
  else if (!first.empty() && first != "Unknown")
    fail(pci.offset_debug(), "<pci link_speed>: expected a speed like \"16.0 "
                             "GT/s PCIe\", found \"" +
                                 text + "\"");
  int64_t width =
      pci.attribute("link_width") ? number(pci, "link_width", 0, 255) : 0;
  // Virtual machines show 63 or 255.
  if (width > 32) {
    note(pci, "<pci link_width>: " + std::to_string(width) +
                  " lanes cannot be; taken for 16");
    width = 0;
  }
  return static_cast<double>(width == 0 ? 16 : width) * speed / 80;
}

/// Between sockets, by the processor.
double Reader::smpGBps(pugi::xml_node cpu) const {
  if (options.smpGBps > 0)
    return options.smpGBps;
  std::string arch = cpu.attribute("arch").value();
  std::string vendor = cpu.attribute("vendor").value();
  if (arch == "ppc64")
    return 32;
  if (arch == "arm64")
    return 6;
  if (vendor == "AuthenticAMD")
    return 16;
  return 10;
}

/// One link between AMD's GPUs, as RCCL counts, by their architecture.
double Reader::xgmiGBps(pugi::xml_node gpu) {
  if (options.nvlinkGBps > 0)
    return options.nvlinkGBps;
  std::string gcn = gpu.attribute("gcn").value();
  if (gcn.starts_with("gfx94") || gcn.starts_with("gfx95"))
    return 48;
  // Old versions write numbers.
  if (gcn.starts_with("gfx90a") || gcn == "910")
    return 36;
  if (!gcn.starts_with("gfx906") && !gcn.starts_with("gfx908") &&
      gcn != "906" && gcn != "908")
    note(gpu, "<gpu gcn>: \"" + gcn +
                  "\" is not known; its xGMI links are taken for 24 GB/s each");
  return 24;
}

double Reader::nvlinkGBps(pugi::xml_node gpu) {
  if (options.nvlinkGBps > 0)
    return options.nvlinkGBps;
  constexpr int newest = 103;
  int sm = static_cast<int>(number(gpu, "sm", 0, 999));
  if (sm > newest)
    note(gpu, "<gpu sm>: " + std::to_string(sm) +
                  " is not known; its NVLinks are taken for " +
                  std::to_string(static_cast<int>(nvlinkGBpsOf(sm))) +
                  " GB/s each");
  return nvlinkGBpsOf(sm);
}

void Reader::addNets(pugi::xml_node nic, int above, double most) {
  noteOthers(nic, {"net"});
  for (pugi::xml_node net : nic.children("net")) {
    std::string name = attribute(net, "name");
    // Ports of one card have one name.
    if (t.findNode(name) >= 0)
      name += "." + std::to_string(number(net, "dev", 0, 4095));
    double gbps = options.nicGBps;
    if (gbps <= 0) {
      int64_t megabits = number(net, "speed", -1, int64_t(1) << 40);
      // Unknown speeds are taken for 10 Gb/s.
      if (megabits <= 0)
        note(net,
             "<net speed>: of \"" + name + "\" not known; taken for 10 Gb/s");
      gbps = static_cast<double>(megabits > 0 ? megabits : 10000) / 8000;
    }
    int id = t.addNode(uniqueName(name), NodeKind::Nic);
    t.addDuplex(id, above, most > 0 ? std::min(gbps, most) : gbps, 0.5);
  }
}

void Reader::addPci(pugi::xml_node node, int above, int host) {
  for (pugi::xml_node child : node.children()) {
    std::string_view name = child.name();
    if (name == "nic") {
      addNets(child, above, 0);
      continue;
    }
    if (name != "pci")
      continue;
    noteOthers(child, {"pci", "gpu", "nic", "pcilink"});
    std::string busid = attribute(child, "busid");
    double gbps = pcieGBps(child);
    bool device = false;
    for (Gpu &gpu : gpus)
      if (gpu.node.parent() == child) {
        t.addDuplex(gpu.id, above, gbps, pcieUs);
        device = true;
      }
    if (child.child("nic")) {
      for (pugi::xml_node nic : child.children("nic"))
        addNets(nic, above, gbps);
      device = true;
    }
    if (!child.child("pci"))
      continue;
    if (device)
      fail(child.offset_debug(), "<pci>: expected a device or a bridge with "
                                 "devices, found both");
    // Hosts number their buses alike, and some bridges share one.
    int bridge = t.addNode(uniqueName("pcie-" + busid), NodeKind::Switch);
    t.addDuplex(bridge, above, gbps, pcieUs);
    bridgeOfBus.emplace(Place(host, busid), bridge);
    bridges.push_back({host, child});
    addPci(child, bridge, host);
  }
}

/// Joins the parts that belong to one PCIe switch, which shows as several.
void Reader::addPciLinks() {
  std::set<std::pair<int, int>> seen;
  for (auto [host, node] : bridges)
    for (pugi::xml_node link : node.children("pcilink")) {
      int from = bridgeOfBus.at({host, attribute(node, "busid")});
      auto to = bridgeOfBus.find({host, attribute(link, "target")});
      if (to == bridgeOfBus.end()) {
        note(link, "<pcilink>: target \"" + attribute(link, "target") +
                       "\" is no bridge of the host and left out");
      } else if (to->second != from &&
                 seen.insert(std::minmax(from, to->second)).second) {
        t.addDuplex(from, to->second, insideSwitchGBps, 0);
      }
    }
}

/// NVLinks and xGMI.
void Reader::addGpuLinks() {
  std::map<std::pair<int, int>, double> direct;
  std::map<int, double> toSwitch;
  for (size_t g = 0; g < gpus.size(); ++g)
    for (const char *kind : {"nvlink", "xgmi"}) {
      const Gpu &gpu = gpus[g];
      if (!gpu.node.child(kind))
        continue;
      bool nvlink = kind[0] == 'n';
      double perLink = nvlink ? nvlinkGBps(gpu.node) : xgmiGBps(gpu.node);
      for (pugi::xml_node link : gpu.node.children(kind)) {
        std::string element = std::string("<") + kind;
        double gbps =
            perLink * static_cast<double>(number(link, "count", 1, 1024));
        auto other =
            gpuOfBus.find({cpus[gpu.cpu].host, attribute(link, "target")});
        std::string type = link.attribute("tclass").value();
        if (other != gpuOfBus.end()) {
          if (other->second == gpu.id)
            fail(link.offset_debug(),
                 element + ">: expected another GPU, found the same");
          direct[{gpu.id, other->second}] += gbps;
        } else if (nvlink && type.starts_with("0x068001")) {
          toCpu[g] += gbps;
        } else if (nvlink && type.starts_with("0x0680")) {
          toSwitch[gpu.id] += gbps;
        } else if (!type.starts_with("0x03") && !type.starts_with("0x12")) {
          // A GPU of the machine that takes no part is left out; a link to
          // anything but GPUs, switches and CPUs is not known.
          fail(link.offset_debug(),
               element + " tclass>: expected a GPU (0x0302..., 0x12...)" +
                   (nvlink ? ", an NVSwitch (0x068000) or a CPU (0x068001)"
                           : "") +
                   ", found \"" + type + "\"");
        }
      }
    }
  for (auto [pair, gbps] : direct) {
    auto back = direct.find({pair.second, pair.first});
    if (back == direct.end() || back->second != gbps)
      throw XmlError(std::string(where) + ": links between " +
                     t.nodes[pair.first].name + " and " +
                     t.nodes[pair.second].name +
                     ": expected as many one way as the other");
    t.addLink(pair.first, pair.second, gbps, nvlinkUs);
  }
  if (toSwitch.empty())
    return;
  int sw = t.addNode("nvswitch0", NodeKind::Switch);
  for (auto [gpu, gbps] : toSwitch)
    t.addDuplex(gpu, sw, gbps, nvswitchUs);
}

/// Capacity from a GPU to its CPU, beside the way over PCIe.
void Reader::addTo(int gpu, int root, double gbps) {
  bool known = false;
  for (Link &link : t.links)
    if ((link.src == gpu && link.dst == root) ||
        (link.dst == gpu && link.src == root)) {
      link.gbps += gbps;
      known = true;
    }
  // With a bridge between, the GPU has this way and that.
  if (!known)
    t.addDuplex(gpu, root, gbps, nvlinkUs);
}

/// C2C of chips with GPU and CPU in one package, for which NCCL gives MB/s and
/// links, and NVLinks to CPUs.
void Reader::addToCpus() {
  for (size_t g = 0; g < gpus.size(); ++g) {
    double gbps = toCpu.count(g) ? toCpu[g] : 0;
    for (pugi::xml_node c2c : gpus[g].node.children("c2c"))
      gbps += static_cast<double>(number(c2c, "bw", 1, 1 << 30)) *
              static_cast<double>(number(c2c, "count", 1, 1024)) / 1000;
    if (gbps > 0)
      addTo(gpus[g].id, cpus[gpus[g].cpu].root, gbps);
  }
}

Topology Reader::run() {
  pugi::xml_node system = root("system");
  t.name = where;
  findCpus(system);
  if (gpus.empty())
    fail(system.offset_debug(), "<system>: expected a <gpu>, found none");
  orderGpus();
  addGpuLinks();
  if (options.nvlinkOnly)
    return std::move(t);
  for (size_t c = 0; c < cpus.size(); ++c) {
    cpus[c].root = t.addNode("root" + std::to_string(c), NodeKind::Switch);
    addPci(cpus[c].node, cpus[c].root, cpus[c].host);
  }
  addPciLinks();
  addToCpus();
  for (size_t c = 0; c < cpus.size(); ++c) {
    addCpu(t, cpus[c].root, "cpu" + std::to_string(c));
    for (size_t other = 0; other < c; ++other)
      if (cpus[other].host == cpus[c].host)
        t.addDuplex(cpus[other].root, cpus[c].root,
                    std::min(smpGBps(cpus[other].node), smpGBps(cpus[c].node)),
                    pcieUs);
  }
  return std::move(t);
}

} // namespace

void ccn::synth::addCpu(Topology &topology, int root, std::string name) {
  double ports = 0;
  for (const Link &link : topology.links)
    if (link.dst == root)
      ports += link.gbps;
  int cpu = topology.addNode(std::move(name), NodeKind::Cpu);
  if (ports > 0)
    topology.addDuplex(cpu, root, ports, pcieUs);
}

double ccn::synth::nvlinkGBpsOf(int sm) {
  // What GPUs without HBM have: four narrow links.
  if (sm == 86)
    return 14;
  return sm >= 100 ? 50 : sm >= 70 ? 25 : 20;
}

Result<Topology> ccn::synth::parseNcclTopology(std::string_view text,
                                               std::string_view where,
                                               const ImportOptions &options) {
  try {
    Topology topology = Reader(text, where, options).run();
    std::string problem = validate(topology);
    if (!problem.empty())
      return error(std::string(where) + ": " + problem);
    return topology;
  } catch (const XmlError &e) {
    return error(e.what());
  }
}
