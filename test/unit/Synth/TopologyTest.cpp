//===- TopologyTest.cpp - Named machines, files, symmetry -----------------===//
//
// Every named machine is valid and survives a round trip; bad files are
// refused at the right place; fabrics and automorphisms are what they should.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "synth/Symmetry.h"

using namespace ccn;
using namespace ccn::synth;

TEST(Topology, EveryBuiltinIsValidAndRoundTrips) {
  for (const BuiltinTopology &builtin : builtinTopologies()) {
    Result<Topology> t = buildTopology(builtin.example);
    ASSERT_TRUE(bool(t)) << builtin.example << ": " << t.message();
    EXPECT_EQ(validate(*t), "") << builtin.example;
    std::string text = writeTopology(*t);
    Result<Topology> again = parseTopology(text, "x.json");
    ASSERT_TRUE(bool(again)) << again.message();
    EXPECT_EQ(writeTopology(*again), text);
    EXPECT_TRUE(bool(makeFabric(*t)));
  }
}

TEST(Topology, RankCounts) {
  for (auto [spec, ranks] :
       std::initializer_list<std::pair<const char *, int>>{{"dgx1", 8},
                                                           {"z52", 8},
                                                           {"ndv2x4", 32},
                                                           {"dgx2x2", 32},
                                                           {"dgx-a100x2", 16},
                                                           {"hgx-h100x3", 24},
                                                           {"hgx-h100-4", 4},
                                                           {"mi250x2", 32},
                                                           {"byteps-pcie", 8},
                                                           {"torus(3,4,5)", 60},
                                                           {"hypercube(4)", 16},
                                                           {"mesh(2,3)", 6},
                                                           {"ring(1)", 1},
                                                           {"ring(2)", 2},
                                                           {"full(5)", 5}}) {
    Result<Topology> t = buildTopology(spec);
    ASSERT_TRUE(bool(t)) << spec;
    EXPECT_EQ(t->numRanks(), ranks) << spec;
  }
}

TEST(Topology, RefusesUnknownNames) {
  for (const char *spec :
       {"", "dgx", "ring", "ring()", "ring(0)", "ring(4", "torus(0,4)", "z52x2",
        "dgx2x3", "mesh(99999)", "ring(4,4)", "ndv2x999999999999"})
    EXPECT_FALSE(bool(buildTopology(spec))) << spec;
}

static std::string errorOf(const std::string &text) {
  Result<Topology> t = parseTopology(text, "t.json");
  return t ? "" : t.message();
}

TEST(Topology, LocatesErrors) {
  EXPECT_TRUE(errorOf("{\n  \"a\": }").starts_with("t.json:2:8: not valid"))
      << errorOf("{\n  \"a\": }");
  EXPECT_EQ(errorOf("[]"), "t.json: /: expected an object, found an array");
  EXPECT_EQ(
      errorOf(R"({"ccn_topology": 1, "name": "x", "nodes": [
      {"name": "a", "kind": "gpu"}, {"name": "a", "kind": "gpu"}],
      "links": []})"),
      "t.json: /nodes/1: expected distinct node names, found \"a\" twice");
  EXPECT_EQ(errorOf(R"({"ccn_topology": 1, "name": "x", "nodes": [
      {"name": "a", "kind": "tpu"}], "links": []})"),
            "t.json: /nodes/0/kind: expected \"gpu\", \"cpu\", \"switch\" or "
            "\"nic\", found \"tpu\"");
  std::string nodes = R"({"ccn_topology": 1, "name": "x", "nodes": [
      {"name": "a", "kind": "gpu"}, {"name": "b", "kind": "gpu"}], )";
  EXPECT_EQ(errorOf(nodes + R"("links": [{"from": "a", "to": "c",
      "GBps": 1}]})"),
            "t.json: /links/0/to: expected the name of a node, found \"c\"");
  EXPECT_EQ(errorOf(nodes + R"("links": [{"from": "a", "to": "b",
      "GBps": 0}]})"),
            "t.json: /links/0/GBps: expected a capacity above 0 GB/s and at "
            "most 1000000, found 0");
  EXPECT_EQ(errorOf(nodes + R"("links": [{"from": "a", "to": "b",
      "GBps": 1e300}]})"),
            "t.json: /links/0/GBps: expected a capacity above 0 GB/s and at "
            "most 1000000, found 1e+300");
  EXPECT_EQ(errorOf(nodes + R"("links": [{"from": "a", "to": "b",
      "GBps": 1, "us": 1e10}]})"),
            "t.json: /links/0/us: expected a latency from 0 to 1000000000 us, "
            "found 1e+10");
  EXPECT_EQ(errorOf(nodes + R"("links": [{"from": "a", "to": "b", "GBps": 1,
      "speed": 2}]})"),
            "t.json: /links/0: unknown key \"speed\", expected one of "
            "\"from\", \"to\", \"GBps\", \"us\", \"duplex\"");
}

TEST(Topology, RefusesWhatJsonLibrariesTake) {
  EXPECT_EQ(errorOf("{\n\"links\": [1e999]}"),
            "t.json:2:15: not valid JSON: number overflow parsing '1e999'");
  EXPECT_EQ(errorOf("{\"links\": [-1e999]}"),
            "t.json:1:17: not valid JSON: number overflow parsing '-1e999'");
  EXPECT_EQ(errorOf(std::string("{}\0{}", 5)),
            "t.json:1:3: not valid JSON: found a zero byte");
  EXPECT_EQ(errorOf("{\"name\": \"a\", \"name\": \"b\"}"),
            "t.json: expected distinct keys in an object, found \"name\" "
            "twice");
  // The same key in objects beside and within each other is right.
  EXPECT_EQ(errorOf("[{\"a\": {\"a\": 1}}, {\"a\": 1}]"),
            "t.json: /: expected an object, found an array");
  EXPECT_EQ(errorOf(std::string(1000000, '[')),
            "t.json: expected at most 100 lists and objects within each "
            "other, found more");
  EXPECT_EQ(errorOf("{\"ccn_topology\": 18446744073709551615}"),
            "t.json: /ccn_topology: expected an integer from 1 to 1, found "
            "18446744073709551615");
}

TEST(Fabric, WaysLongerThanTheShortestAreAddedOnce) {
  // Two GPUs linked directly, and by a switch.
  Topology t = *buildTopology("star(2)");
  t.addDuplex(0, 1, 25, 1);
  Fabric f = *makeFabric(t);
  ASSERT_EQ(f.edges.size(), 2u);
  ASSERT_EQ(f.sets.size(), 2u);
  std::vector<int> path;
  int sw = static_cast<int>(t.nodes.size()) - 1;
  for (auto [from, to] : {std::pair(0, sw), std::pair(sw, 1)})
    for (size_t l = 0; l < t.links.size(); ++l)
      if (t.links[l].src == from && t.links[l].dst == to)
        path.push_back(static_cast<int>(l));
  ASSERT_EQ(path.size(), 2u);
  {
    FabricWays ways(f);
    EXPECT_EQ(ways.edgeAlong(f.edges[0].path), 0);
    EXPECT_EQ(ways.edgeAlong(path), 2);
    EXPECT_EQ(ways.edgeAlong(path), 2);
  }
  ASSERT_EQ(f.edges.size(), 3u);
  EXPECT_EQ(f.edges[2].src, 0);
  EXPECT_EQ(f.edges[2].dst, 1);
  EXPECT_EQ(f.out[0].size(), 2u);
  EXPECT_EQ(f.in[1].size(), 2u);
  EXPECT_EQ(f.sets.size(), 4u);
}

TEST(Fabric, SwitchesAreSharedCapacityNotLinksOfPairs) {
  Fabric f = fabricOf("dgx-a100");
  EXPECT_EQ(f.edges.size(), 56u);
  // One set for each GPU's way in and one for its way out.
  EXPECT_EQ(f.sets.size(), 16u);
  for (const FabricSet &set : f.sets) {
    EXPECT_EQ(set.cap, 1);
    EXPECT_EQ(set.edges.size(), 7u);
  }
}

TEST(Fabric, UnitsAreCommonDivisors) {
  EXPECT_EQ(fabricOf("dgx1").unitGBps, 25);
  EXPECT_EQ(fabricOf("ndv2x2").unitGBps, 12.5);
  Result<Topology> dgx1 = buildTopology("dgx1");
  EXPECT_FALSE(bool(makeFabric(*dgx1, 30)));
}

TEST(Symmetry, AutomorphismCounts) {
  EXPECT_EQ(automorphisms(fabricOf("dgx1"), 1000).size(), 4u);
  EXPECT_EQ(automorphisms(fabricOf("ring(8)"), 1000).size(), 16u);
  EXPECT_EQ(automorphisms(fabricOf("hypercube(3)"), 1000).size(), 48u);
  EXPECT_EQ(automorphisms(fabricOf("line(4)"), 1000).size(), 2u);
  EXPECT_EQ(automorphisms(fabricOf("star(4)"), 1000).size(), 24u);
  EXPECT_EQ(automorphisms(fabricOf("full(8)"), 100).size(), 100u);
}
