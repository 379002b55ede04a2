//===- TopologyImportTest.cpp - nvidia-smi's matrix and NCCL's dump -------===//
//
// Machines read from both say the same; their NVLinks are those of the named
// machines; malformed input is refused with its line.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/TopologyImport.h"
#include "Common.h"

#include <map>

using namespace ccn;
using namespace ccn::synth;

static std::string textOf(const std::string &name) {
  Result<std::string> text =
      readFile(std::string(CCN_SYNTH_TEST_DATA "/topologies/") + name);
  EXPECT_TRUE(bool(text)) << name;
  return text ? *text : "";
}

static Topology load(const std::string &name,
                     const ImportOptions &options = {}) {
  Result<Topology> topology = parseAnyTopology(textOf(name), name, options);
  EXPECT_TRUE(bool(topology)) << topology.message();
  return topology ? *topology : Topology();
}

using Pair = std::pair<std::string, std::string>;

/// Capacities by the names of the ends, NVSwitches called "nvswitch".
static std::map<Pair, double> linksOf(const Topology &t) {
  std::map<Pair, double> result;
  auto name = [&](int n) {
    return t.nodes[n].name.starts_with("nvswitch") ? "nvswitch"
                                                   : t.nodes[n].name;
  };
  for (const Link &l : t.links)
    result[{name(l.src), name(l.dst)}] = l.gbps;
  return result;
}

/// A link's capacity, or 0.
static double linkOf(const Topology &t, const std::string &a,
                     const std::string &b) {
  auto links = linksOf(t);
  auto it = links.find({a, b});
  return it == links.end() ? 0 : it->second;
}

/// Where a device's way over PCIe leads first.
static std::string above(const Topology &t, const std::string &device) {
  for (const Link &l : t.links)
    if (t.nodes[l.src].name == device &&
        t.nodes[l.dst].kind == NodeKind::Switch &&
        !t.nodes[l.dst].name.starts_with("nvswitch"))
      return t.nodes[l.dst].name;
  return "";
}

TEST(TopologyImport, NvlinksAreThoseOfTheNamedMachines) {
  ImportOptions only;
  only.nvlinkOnly = true;
  for (auto [file, spec] : {std::pair("dgx-a100.txt", "dgx-a100"),
                            std::pair("hgx-h100.txt", "hgx-h100"),
                            std::pair("hgx-h100.xml", "hgx-h100")}) {
    Topology imported = load(file, only);
    Result<Topology> named = buildTopology(spec);
    EXPECT_EQ(linksOf(imported), linksOf(*named)) << file;
    EXPECT_EQ(imported.numRanks(), named->numRanks());
  }
  // NVIDIA numbers a DGX-1 otherwise than the literature: what counts is the
  // bricks of a GPU, and that both sources agree.
  Topology text = load("dgx1.txt", only), xml = load("dgx1.xml", only);
  EXPECT_EQ(linksOf(text), linksOf(xml));
  Result<Topology> named = buildTopology("dgx1");
  auto sorted = [](const Topology &t) {
    std::map<int, std::multiset<double>> out;
    for (const Link &l : t.links)
      out[l.src].insert(l.gbps);
    std::multiset<std::multiset<double>> all;
    for (auto &[gpu, list] : out)
      all.insert(list);
    return all;
  };
  EXPECT_EQ(sorted(text), sorted(*named));
  EXPECT_EQ(linkOf(text, "gpu0", "gpu3"), 50);
  EXPECT_EQ(linkOf(text, "gpu0", "gpu1"), 25);
  EXPECT_EQ(linkOf(text, "gpu0", "gpu5"), 0);
}

TEST(TopologyImport, PcieTreesFromBothSourcesAgree) {
  for (auto [one, two, pcie, nic] :
       {std::tuple("dgx1.txt", "dgx1.xml", 12.0, 12.0),
        std::tuple("hgx-h100.txt", "hgx-h100.xml", 48.0, 48.0)}) {
    Topology text = load(one), xml = load(two);
    EXPECT_EQ(text.nodes.size(), xml.nodes.size());
    EXPECT_EQ(text.links.size(), xml.links.size());
    std::vector<double> a, b;
    for (const Link &l : text.links)
      a.push_back(l.gbps);
    for (const Link &l : xml.links)
      b.push_back(l.gbps);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    EXPECT_EQ(a, b) << one;
    for (const Topology *t : {&text, &xml}) {
      EXPECT_EQ(linkOf(*t, "gpu0", above(*t, "gpu0")), pcie);
      std::string card = t->findNode("mlx5_0") >= 0 ? "mlx5_0" : "NIC0";
      EXPECT_EQ(linkOf(*t, card, above(*t, card)), nic);
      // A GPU shares its bridge with its NIC.
      EXPECT_EQ(above(*t, "gpu0"), above(*t, card));
      EXPECT_EQ(linkOf(*t, "root0", "root1"), 10);
    }
    Fabric fabric = [&] {
      Result<Fabric> f = makeFabric(text);
      EXPECT_TRUE(bool(f)) << f.message();
      return *f;
    }();
    EXPECT_EQ(fabric.ranks, 8);
    EXPECT_EQ(fabric.hosts, 10);
  }
}

TEST(TopologyImport, LevelsOfTheMatrix) {
  Topology dgx1 = load("dgx1.txt");
  EXPECT_EQ(above(dgx1, "gpu0"), above(dgx1, "gpu1"));
  EXPECT_NE(above(dgx1, "gpu0"), above(dgx1, "gpu2"));
  EXPECT_EQ(above(dgx1, above(dgx1, "gpu0")), above(dgx1, above(dgx1, "gpu2")));
  EXPECT_NE(above(dgx1, above(dgx1, "gpu0")), above(dgx1, above(dgx1, "gpu4")));
  Topology pcie = load("pcie.txt");
  EXPECT_EQ(pcie.numRanks(), 4);
  EXPECT_EQ(above(pcie, "gpu0"), above(pcie, "gpu1"));
  EXPECT_NE(above(pcie, "gpu1"), above(pcie, "gpu2"));
  ImportOptions options;
  options.pcieGBps = 20;
  options.smpGBps = 7;
  pcie = load("pcie.txt", options);
  EXPECT_EQ(linkOf(pcie, "gpu0", above(pcie, "gpu0")), 20);
  EXPECT_EQ(linkOf(pcie, "root0", "root1"), 7);
  // NVLinks that a GPU has are direct, more than it has lead to a switch.
  Result<Topology> direct =
      parseNvidiaSmi("\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tNV12\t0-63\n"
                     "GPU1\tNV12\tX\t0-63\n",
                     "two.txt", {0, 0, 0, 0, true});
  ASSERT_TRUE(bool(direct)) << direct.message();
  EXPECT_EQ(linkOf(*direct, "gpu0", "gpu1"), 300);
}

/// Reads a text; a failure fails the test.
static Topology parsed(const std::string &text,
                       const ImportOptions &options = {}) {
  Result<Topology> topology = parseAnyTopology(text, "t", options);
  EXPECT_TRUE(bool(topology)) << topology.message();
  return topology ? *topology : Topology();
}

TEST(TopologyImport, AffinitiesGiveWayToCells) {
  // One affinity for both GPUs, as virtual machines show it; the cells say that
  // each has a root of its own.
  std::string text = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA "
                     "Affinity\n"
                     "GPU0\tX\tNV8\tPXB\tSYS\t0-31\t0\n"
                     "GPU1\tNV8\tX\tSYS\tPXB\t0-31\t0\n"
                     "NIC0\tPXB\tSYS\tX\tSYS\n"
                     "NIC1\tSYS\tPXB\tSYS\tX\n";
  Topology t = parsed(text);
  EXPECT_EQ(above(t, "gpu0"), above(t, "NIC0"));
  EXPECT_EQ(above(t, "gpu1"), above(t, "NIC1"));
  EXPECT_NE(above(t, "gpu0"), above(t, "gpu1"));
  EXPECT_EQ(linkOf(t, "root0", "root1"), 10);
  // Where no cell says so, they share one.
  t = parsed("\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tNV3\t0-47\n"
             "GPU1\tNV3\tX\t0-47\n");
  EXPECT_EQ(above(t, "gpu0"), "root0");
  EXPECT_EQ(above(t, "gpu1"), "root0");
  // A guess between two may not join others that are apart: of four GPUs with
  // one affinity two and two share a root.
  t = parsed("\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\n"
             "GPU0\tX\tNV4\tSYS\tNV4\t0-31\n"
             "GPU1\tNV4\tX\tNV4\tSYS\t0-31\n"
             "GPU2\tSYS\tNV4\tX\tNV4\t0-31\n"
             "GPU3\tNV4\tSYS\tNV4\tX\t0-31\n");
  EXPECT_NE(above(t, "gpu0"), above(t, "gpu2"));
  EXPECT_NE(above(t, "gpu1"), above(t, "gpu3"));
}

TEST(TopologyImport, EscapesMayBeLost) {
  std::string rows = "GPU0\tX\tPIX\t0-3\t0\t\tN/A\n"
                     "GPU1\tPIX\tX\t0-3\t0\t\tN/A\n";
  for (std::string escape :
       {"", "\x1b", "^[", "\\033", "\\e", "\\x1b", "\\u001b"}) {
    std::string head = escape +
                       "[4m\tGPU0\tGPU1\tCPU Affinity\tNUMA "
                       "Affinity\tGPU NUMA ID" +
                       escape + "[0m\n";
    Topology t = parsed(head + rows);
    EXPECT_EQ(t.numRanks(), 2) << escape;
    EXPECT_EQ(t.nodes[0].name, "gpu0") << escape;
  }
  EXPECT_EQ(parseNvidiaSmi(rows, "t.txt").message(),
            "t.txt:2: expected the header, whose words name the devices, "
            "before the row of GPU1");
}

/// A <system> of one NUMA node for each text.
static std::string systemOf(const std::vector<std::string> &cpus,
                            const std::string &attributes = "") {
  std::string text = "<system version=\"2\">\n";
  for (size_t c = 0; c < cpus.size(); ++c)
    text += "<cpu numaid=\"" + std::to_string(c) + "\" " + attributes + ">\n" +
            cpus[c] + "</cpu>\n";
  return text + "</system>\n";
}

/// A device or bridge on PCIe with what is in it.
static std::string pciOf(const std::string &bus, const std::string &inner,
                         const std::string &width = "16") {
  return "<pci busid=\"" + bus +
         "\" link_speed=\"16.0 GT/s PCIe\" "
         "link_width=\"" +
         width + "\">\n" + inner + "</pci>\n";
}

/// A GPU with what is in it.
static std::string gpuOf(int dev, const std::string &inner,
                         const std::string &attributes = "sm=\"90\"") {
  return "<gpu dev=\"" + std::to_string(dev) + "\" " + attributes + ">" +
         inner + "</gpu>\n";
}

TEST(TopologyImport, XgmiLinksByGeneration) {
  auto pair = [](const std::string &gcn) {
    auto gpu = [&](int dev, const std::string &other) {
      return gpuOf(dev,
                   "<xgmi target=\"" + other +
                       "\" count=\"2\" tclass=\"0x120000\"/>",
                   "sm=\"304\" gcn=\"" + gcn + "\"");
    };
    return systemOf({pciOf("a", gpu(0, "b")) + pciOf("b", gpu(1, "a"))});
  };
  for (auto [gcn, gbps, known] :
       {std::tuple("gfx906", 24.0, true), std::tuple("gfx908", 24.0, true),
        std::tuple("gfx90a:sramecc+:xnack-", 36.0, true),
        std::tuple("910", 36.0, true), std::tuple("gfx942", 48.0, true),
        std::tuple("gfx950", 48.0, true), std::tuple("gfx1250", 24.0, false)}) {
    Topology t = parsed(pair(gcn));
    EXPECT_EQ(linkOf(t, "gpu0", "gpu1"), 2 * gbps) << gcn;
    EXPECT_EQ(linkOf(t, "gpu1", "gpu0"), 2 * gbps) << gcn;
    EXPECT_EQ(t.notes.empty(), known) << gcn;
  }
  // A GPU that takes no part is none to link with.
  Topology one = parsed(systemOf({pciOf(
      "a", gpuOf(0, "<xgmi target=\"b\" count=\"1\" tclass=\"0x038000\"/>",
                 "gcn=\"gfx942\""))}));
  EXPECT_EQ(one.numRanks(), 1);
}

TEST(TopologyImport, HostsAreToldApartByTheirHash) {
  std::string device =
      pciOf("8:0", pciOf("8:6", gpuOf(0,
                                      "<nvlink target=\"fffffff:ff:ff.0\" "
                                      "count=\"18\" tclass=\"0x068000\"/>"
                                      "<c2c bw=\"44712\" count=\"5\"/>",
                                      "sm=\"100\" rank=\"RANK\"")) +
                       pciOf("8:7", "<nic><net name=\"mlx5_0\" dev=\"0\" "
                                    "speed=\"400000\"/></nic>"));
  auto host = [&](const std::string &hash, const std::string &rank) {
    std::string text = device;
    text.replace(text.find("RANK"), 4, rank);
    return "<cpu host_hash=\"" + hash + "\" numaid=\"0\" arch=\"arm64\">\n" +
           text + "</cpu>\n";
  };
  Topology t =
      parsed("<system>" + host("0x1", "1") + host("0x2", "0") + "</system>");
  EXPECT_EQ(t.numRanks(), 2);
  EXPECT_EQ(t.notes, std::vector<std::string>());
  // Ranks keep their numbers; the second host has rank 0.
  EXPECT_EQ(linkOf(t, "gpu1", "root0"), 223.56);
  EXPECT_EQ(linkOf(t, "gpu0", "root1"), 223.56);
  EXPECT_EQ(linkOf(t, "gpu0", "nvswitch"), 900);
  EXPECT_EQ(linkOf(t, "gpu1", "nvswitch"), 900);
  // Hosts have no way over PCIe to each other, and bus ids and cards of one
  // name.
  EXPECT_EQ(linkOf(t, "root0", "root1"), 0);
  EXPECT_EQ(linkOf(t, "pcie-8:0", "root0"), 24);
  EXPECT_EQ(linkOf(t, "pcie-8:0.2", "root1"), 24);
  EXPECT_GE(t.findNode("mlx5_0"), 0);
  EXPECT_GE(t.findNode("mlx5_0.0"), 0);
  EXPECT_EQ(parseNcclTopology("<system>" + host("0x1", "0") + host("0x1", "1") +
                                  "</system>",
                              "t.xml")
                .message(),
            "t.xml:10: <cpu>: expected distinct numaids in a host, found 0 "
            "twice");
}

TEST(TopologyImport, HostsMayTakeTurns) {
  // Without ranks GPUs are numbered by host and device, wherever the last
  // <cpu> is.
  auto node = [](const std::string &hash, int numa, int dev) {
    return "<cpu host_hash=\"" + hash + "\" numaid=\"" + std::to_string(numa) +
           "\">\n" + pciOf(hash + std::to_string(numa), gpuOf(dev, "")) +
           "</cpu>\n";
  };
  Topology t = parsed("<system>" + node("0xa", 0, 0) + node("0xb", 0, 0) +
                      node("0xa", 1, 1) + "</system>");
  EXPECT_EQ(t.numRanks(), 3);
  EXPECT_EQ(above(t, "gpu0"), "root0");
  EXPECT_EQ(above(t, "gpu1"), "root2");
  EXPECT_EQ(above(t, "gpu2"), "root1");
}

TEST(TopologyImport, LinksToCpus) {
  // C2C with a bridge between, and without.
  std::string c2c = "<c2c bw=\"1000\" count=\"100\"/>";
  Topology t = parsed(systemOf(
      {pciOf("a", pciOf("b", gpuOf(0, c2c))), pciOf("c", gpuOf(1, c2c))}));
  EXPECT_EQ(linkOf(t, "gpu0", "root0"), 100);
  EXPECT_EQ(linkOf(t, "gpu0", "pcie-a"), 24);
  EXPECT_EQ(linkOf(t, "gpu1", "root1"), 124);
  EXPECT_EQ(linkOf(t, "cpu0", "root0"), 124);
  // NVLinks of POWER9 lead to the CPU, not to a switch that joins all.
  std::string power = "<nvlink target=\"x\" count=\"3\" tclass=\"0x068001\"/>";
  t = parsed(systemOf({pciOf("a", gpuOf(0, power, "sm=\"70\"")),
                       pciOf("b", gpuOf(1, power, "sm=\"70\""))},
                      "arch=\"ppc64\""));
  EXPECT_EQ(linkOf(t, "gpu0", "root0"), 24 + 75);
  EXPECT_EQ(linkOf(t, "root0", "root1"), 32);
  EXPECT_EQ(t.findNode("nvswitch0"), -1);
}

TEST(TopologyImport, PartsOfASwitchAreJoined) {
  auto half = [](const std::string &bus, const std::string &other, int dev) {
    return pciOf(bus, pciOf(bus + "-gpu", gpuOf(dev, "")) +
                          "<pcilink target=\"" + other + "\"/>\n");
  };
  Topology t = parsed(systemOf({half("a", "b", 0), half("b", "a", 1)}));
  EXPECT_EQ(linkOf(t, "pcie-a", "pcie-b"), 5000);
  EXPECT_EQ(linkOf(t, "pcie-b", "pcie-a"), 5000);
  EXPECT_TRUE(t.notes.empty());
  t = parsed(systemOf({half("a", "gone", 0), half("b", "a", 1)}));
  EXPECT_EQ(t.notes, std::vector<std::string>{
                         "t:7: <pcilink>: target \"gone\" is no bridge of the "
                         "host and left out"});
}

TEST(TopologyImport, WhatIsNotKnownIsSaid) {
  Topology t = parsed(
      "<system>\n<cpu numaid=\"0\">\n" +
      pciOf("a", gpuOf(0, "<ualink target=\"b\"/>", "sm=\"200\" rank=\"0\""),
            "255") +
      pciOf("b", gpuOf(1, "")) + "<pci busid=\"c\"><tape/></pci>\n" +
      "<nic><net name=\"eth0\" dev=\"0\" speed=\"-1\"/></nic>\n" +
      "</cpu>\n<rack/></system>");
  EXPECT_EQ(
      t.notes,
      (std::vector<std::string>{
          "t:12: <rack> within <system> is not known and left out",
          "t:4: <ualink> within <gpu> is not known and left out",
          "t:7: <gpu> without a rank takes no part and is left out",
          "t:3: <pci link_width>: 255 lanes cannot be; taken for 16",
          "t:9: <tape> within <pci> is not known and left out",
          "t:10: <net speed>: of \"eth0\" not known; taken for 10 Gb/s"}));
  EXPECT_EQ(t.numRanks(), 1);
  EXPECT_EQ(linkOf(t, "gpu0", "root0"), 24);
}

TEST(TopologyImport, MalformedMatricesNameTheLine) {
  auto errorOf = [](const std::string &text) {
    Result<Topology> t = parseNvidiaSmi(text, "t.txt");
    return t ? "" : t.message();
  };
  std::string head = "\tGPU0\tGPU1\tCPU Affinity\n";
  EXPECT_EQ(errorOf("nothing\n"),
            "t.txt:1: expected the matrix of nvidia-smi topo -m, whose header "
            "begins with GPU0, found none");
  EXPECT_EQ(errorOf(head + "GPU0\tX\tNV2\t0\n"),
            "t.txt:2: expected a row for GPU1, found none");
  EXPECT_EQ(errorOf(head + "GPU0\tX\n"),
            "t.txt:2: GPU0: expected 2 entries, found 1");
  EXPECT_EQ(errorOf(head + "GPU0\tX\tNVx\t0\nGPU1\tNVx\tX\t0\n"),
            "t.txt:2: GPU0 and GPU1: expected NV#, PIX, PXB, PHB, NODE or SYS, "
            "found \"NVx\"");
  EXPECT_EQ(errorOf(head + "GPU0\tNV2\tX\t0\nGPU1\tX\tNV2\t0\n"),
            "t.txt:2: GPU0 and GPU0: expected X, found \"NV2\"");
  EXPECT_EQ(errorOf(head + "GPU0\tX\tPIX\t0\nGPU1\tSYS\tX\t0\n"),
            "t.txt:3: GPU1 and GPU0: expected \"PIX\" as the other way round, "
            "found \"SYS\"");
  EXPECT_EQ(errorOf(head + "GPU0\tX\tPIX\t0\nGPU0\tX\tPIX\t0\n"),
            "t.txt:3: expected one row for GPU0, found a second");
  EXPECT_EQ(errorOf("\tGPU0\tGPU0\tCPU Affinity\n"),
            "t.txt:1: expected distinct devices, found \"GPU0\" twice");
  EXPECT_EQ(errorOf("\tGPU0\tGPU1\tGPU2\n"
                    "GPU0\tX\tPIX\tSYS\nGPU1\tPIX\tX\tPIX\n"
                    "GPU2\tSYS\tPIX\tX\n"),
            "t.txt:4: GPU2 and GPU0: expected at most PIX, as their ways to "
            "other devices say, found SYS");
}

TEST(TopologyImport, MalformedDumpsNameTheLine) {
  auto errorOf = [](const std::string &text) {
    Result<Topology> t = parseNcclTopology(text, "t.xml");
    return t ? "" : t.message();
  };
  auto pci = [](const std::string &bus, const std::string &inner) {
    return "<pci busid=\"" + bus +
           "\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">" + inner +
           "</pci>\n";
  };
  auto cpu = [](const std::string &inner) {
    return "<system version=\"1\">\n<cpu numaid=\"0\">\n" + inner +
           "</cpu></system>";
  };
  EXPECT_EQ(errorOf("<graphs/>"), "t.xml:1: expected <system>, found <graphs>");
  // Within <system> and <cpu>, each on a line of its own.
  auto nested = [&](int count) {
    std::string begin, end;
    for (int i = 0; i < count; ++i) {
      begin += "<a>\n";
      end += "</a>";
    }
    return errorOf(cpu(begin + "text" + end));
  };
  EXPECT_EQ(nested(98), "t.xml:1: <system>: expected a <gpu>, found none");
  for (int count : {99, 200'000})
    EXPECT_EQ(nested(count), "t.xml:101: expected at most 100 elements within "
                             "each other, found more");
  EXPECT_TRUE(errorOf("<system>\n<cpu").starts_with("t.xml:2: not valid XML:"));
  EXPECT_EQ(errorOf(cpu("")),
            "t.xml:1: <system>: expected a <gpu>, found none");
  EXPECT_EQ(errorOf(cpu("<gpu dev=\"0\" sm=\"80\"/>")),
            "t.xml:3: <gpu>: expected within <pci>, found within <cpu>");
  EXPECT_EQ(errorOf(cpu(pci("a", "<gpu dev=\"x\" sm=\"80\"/>"))),
            "t.xml:3: <gpu dev>: expected an integer from 0 to 4095, found "
            "\"x\"");
  std::string gpu = "<gpu dev=\"0\" sm=\"80\"/>";
  EXPECT_EQ(errorOf(cpu(pci("a", gpu) + pci("b", gpu))),
            "t.xml:4: <gpu>: expected distinct ranks, found 0 twice");
  EXPECT_EQ(
      errorOf(cpu("<pci busid=\"a\" link_speed=\"fast\">" + gpu + "</pci>")),
      "t.xml:3: <pci link_speed>: expected a speed like \"16.0 GT/s "
      "PCIe\", found \"fast\"");
  std::string linked = "<gpu dev=\"0\" sm=\"80\"><nvlink target=\"b\" "
                       "count=\"4\" tclass=\"0x030200\"/></gpu>";
  EXPECT_EQ(
      errorOf(cpu(pci("a", linked) + pci("b", "<gpu dev=\"1\" sm=\"80\"/>"))),
      "t.xml: links between gpu0 and gpu1: expected as many one way as "
      "the other");
  std::string strange = "<gpu dev=\"0\" sm=\"80\"><nvlink target=\"b\" "
                        "count=\"4\" tclass=\"0x0c0300\"/></gpu>";
  EXPECT_EQ(errorOf(cpu(pci("a", strange))),
            "t.xml:3: <nvlink tclass>: expected a GPU (0x0302..., 0x12...), an "
            "NVSwitch (0x068000) or a CPU (0x068001), found \"0x0c0300\"");
}
