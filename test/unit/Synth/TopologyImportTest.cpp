//===- TopologyImportTest.cpp - nvidia-smi's matrix and NCCL's dump -------===//
//
// Machines read from both say the same; their NVLinks are those of the named
// machines; malformed input is refused with its line.
//
//===----------------------------------------------------------------------===//

#include "synth/TopologyImport.h"
#include "Common.h"

#include <map>

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
  EXPECT_TRUE(bool(topology)) << topology.error().text;
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
      EXPECT_TRUE(bool(f)) << f.error().text;
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
  ASSERT_TRUE(bool(direct)) << direct.error().text;
  EXPECT_EQ(linkOf(*direct, "gpu0", "gpu1"), 300);
}

TEST(TopologyImport, MalformedMatricesNameTheLine) {
  auto errorOf = [](const std::string &text) {
    Result<Topology> t = parseNvidiaSmi(text, "t.txt");
    return t ? "" : t.error().text;
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
    return t ? "" : t.error().text;
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
      "t.xml: NVLinks between gpu0 and gpu1: expected as many one way as "
      "the other");
  std::string strange = "<gpu dev=\"0\" sm=\"80\"><nvlink target=\"b\" "
                        "count=\"4\" tclass=\"0x0c0300\"/></gpu>";
  EXPECT_EQ(errorOf(cpu(pci("a", strange))),
            "t.xml:3: <nvlink tclass>: expected a GPU (0x0302...) or an "
            "NVSwitch (0x0680...), found \"0x0c0300\"");
}
