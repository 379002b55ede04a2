//===- NcclTopology.cpp - Topologies from NCCL's XML ----------------------===//
//
// NCCL's <system> has a <cpu> for each NUMA node, below it the tree of <pci>
// devices (bridges, GPUs, NICs) with their link speeds, and for each GPU its
// NVLinks: to other GPUs, or to NVSwitches.
//
//===----------------------------------------------------------------------===//

#include "synth/TopologyImport.h"
#include "synth/Xml.h"

#include <map>
#include <set>

using namespace ccn::synth;

namespace {

class Reader : public XmlReader {
public:
  Reader(std::string_view text, std::string_view where,
         const ImportOptions &options)
      : XmlReader(text, where), options(options) {}
  Topology run();

private:
  struct Gpu {
    pugi::xml_node node;
    std::string busid;
    int order = 0, id = -1;
  };

  void findGpus(pugi::xml_node node);
  double pcieGBps(pugi::xml_node pci) const;
  double smpGBps(pugi::xml_node cpu) const;
  void addPci(pugi::xml_node node, int above);
  void addNets(pugi::xml_node nic, int above, double most);
  void addNvlinks();

  ImportOptions options;
  Topology t;
  std::vector<Gpu> gpus;
  std::map<std::string, int> gpuOfBus;
};

/// GPUs with the bus id of the <pci> that has them.
void Reader::findGpus(pugi::xml_node node) {
  for (pugi::xml_node child : node.children()) {
    if (std::string_view(child.name()) == "gpu") {
      if (std::string_view(node.name()) != "pci")
        fail(child.offset_debug(), std::string("<gpu>: expected within <pci>, "
                                               "found within <") +
                                       node.name() + ">");
      gpus.push_back(
          {child, attribute(node, "busid"),
           static_cast<int>(number(
               child, child.attribute("rank") ? "rank" : "dev", 0, 4095)),
           -1});
    }
    findGpus(child);
  }
}

/// 16 lanes of 8 GT/s carry 12 GB/s, as NCCL counts; what is not known is
/// taken for that.
double Reader::pcieGBps(pugi::xml_node pci) const {
  if (options.pcieGBps > 0)
    return options.pcieGBps;
  static const std::map<std::string, double> perLane = {
      {"2.5", 15},   {"5", 30},   {"5.0", 30},   {"8", 60},
      {"8.0", 60},   {"16", 120}, {"16.0", 120}, {"32", 240},
      {"32.0", 240}, {"64", 480}, {"64.0", 480},
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
      pci.attribute("link_width") ? number(pci, "link_width", 0, 64) : 0;
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

void Reader::addNets(pugi::xml_node nic, int above, double most) {
  for (pugi::xml_node net : nic.children("net")) {
    std::string name = attribute(net, "name");
    // Ports of one card have one name.
    if (t.findNode(name) >= 0)
      name += "." + std::to_string(number(net, "dev", 0, 4095));
    double gbps = options.nicGBps;
    if (gbps <= 0) {
      int64_t megabits = number(net, "speed", -1, int64_t(1) << 40);
      // Unknown speeds are taken for 10 Gb/s.
      gbps = static_cast<double>(megabits > 0 ? megabits : 10000) / 8000;
    }
    int id = t.addNode(name, NodeKind::Nic);
    t.addDuplex(id, above, most > 0 ? std::min(gbps, most) : gbps, 0.5);
  }
}

void Reader::addPci(pugi::xml_node node, int above) {
  for (pugi::xml_node child : node.children()) {
    std::string_view name = child.name();
    if (name == "nic") {
      addNets(child, above, 0);
      continue;
    }
    if (name != "pci")
      continue;
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
    int bridge = t.addNode("pcie-" + busid, NodeKind::Switch);
    t.addDuplex(bridge, above, gbps, pcieUs);
    addPci(child, bridge);
  }
}

void Reader::addNvlinks() {
  std::map<std::pair<int, int>, double> direct;
  std::map<int, double> toSwitch;
  for (const Gpu &gpu : gpus) {
    double perLink =
        options.nvlinkGBps > 0
            ? options.nvlinkGBps
            : nvlinkGBpsOf(static_cast<int>(number(gpu.node, "sm", 0, 999)));
    for (pugi::xml_node link : gpu.node.children("nvlink")) {
      std::string target = attribute(link, "target");
      double gbps =
          perLink * static_cast<double>(number(link, "count", 1, 1024));
      auto other = gpuOfBus.find(target);
      std::string type = link.attribute("tclass").value();
      if (other != gpuOfBus.end()) {
        if (other->second == gpu.id)
          fail(link.offset_debug(),
               "<nvlink>: expected another GPU, found the same");
        direct[{gpu.id, other->second}] += gbps;
      } else if (type.starts_with("0x0680")) {
        toSwitch[gpu.id] += gbps;
      } else if (!type.starts_with("0x0302")) {
        // A GPU of the machine that takes no part is left out; a link to
        // anything but GPUs and switches is not known.
        fail(link.offset_debug(),
             "<nvlink tclass>: expected a GPU (0x0302...) or an NVSwitch "
             "(0x0680...), found \"" +
                 type + "\"");
      }
    }
  }
  for (auto [pair, gbps] : direct) {
    auto back = direct.find({pair.second, pair.first});
    if (back == direct.end() || back->second != gbps)
      throw XmlError(std::string(where) + ": NVLinks between " +
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

Topology Reader::run() {
  pugi::xml_node system = root("system");
  t.name = where;
  findGpus(system);
  if (gpus.empty())
    fail(system.offset_debug(), "<system>: expected a <gpu>, found none");
  std::stable_sort(gpus.begin(), gpus.end(), [](const Gpu &a, const Gpu &b) {
    return a.order < b.order;
  });
  for (size_t g = 0; g < gpus.size(); ++g) {
    if (g > 0 && gpus[g].order == gpus[g - 1].order)
      fail(gpus[g].node.offset_debug(),
           "<gpu>: expected distinct ranks, found " +
               std::to_string(gpus[g].order) + " twice");
    gpus[g].id =
        t.addNode("gpu" + std::to_string(gpus[g].order), NodeKind::Gpu);
    gpuOfBus[gpus[g].busid] = gpus[g].id;
  }
  addNvlinks();
  if (options.nvlinkOnly)
    return std::move(t);
  std::vector<std::pair<int, double>> roots;
  std::set<int64_t> seen;
  for (pugi::xml_node cpu : system.children("cpu")) {
    int64_t numa = number(cpu, "numaid", -1, 4095);
    if (!seen.insert(numa).second)
      fail(cpu.offset_debug(), "<cpu>: expected distinct numaids, found " +
                                   std::to_string(numa) + " twice");
    std::string suffix = std::to_string(roots.size());
    int rootNode = t.addNode("root" + suffix, NodeKind::Switch);
    addPci(cpu, rootNode);
    // Chips with GPU and CPU in one package: NCCL gives MB/s and links.
    for (Gpu &gpu : gpus)
      if (pugi::xml_node c2c = gpu.node.child("c2c"))
        for (pugi::xml_node up = gpu.node; up; up = up.parent())
          if (up == cpu) {
            double gbps = static_cast<double>(number(c2c, "bw", 1, 1 << 30)) *
                          static_cast<double>(number(c2c, "count", 1, 1024)) /
                          1000;
            for (Link &link : t.links)
              if ((link.src == gpu.id && link.dst == rootNode) ||
                  (link.dst == gpu.id && link.src == rootNode))
                link.gbps += gbps;
          }
    addCpu(t, rootNode, "cpu" + suffix);
    for (auto [other, gbps] : roots)
      t.addDuplex(other, rootNode, std::min(gbps, smpGBps(cpu)), pcieUs);
    roots.push_back({rootNode, smpGBps(cpu)});
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
  return sm >= 100 ? 50 : sm >= 70 ? 25 : 20;
}

Result<Topology> ccn::synth::parseNcclTopology(std::string_view text,
                                               std::string_view where,
                                               const ImportOptions &options) {
  try {
    Topology topology = Reader(text, where, options).run();
    std::string problem = validate(topology);
    if (!problem.empty())
      return Error{std::string(where) + ": " + problem};
    return topology;
  } catch (const XmlError &e) {
    return Error{e.what()};
  }
}

Result<Topology> ccn::synth::parseAnyTopology(std::string_view text,
                                              std::string_view where,
                                              const ImportOptions &options) {
  size_t at = text.find_first_not_of(" \t\r\n");
  char first = at == std::string_view::npos ? '{' : text[at];
  if (first == '{')
    return parseTopology(text, where);
  return first == '<' ? parseNcclTopology(text, where, options)
                      : parseNvidiaSmi(text, where, options);
}
