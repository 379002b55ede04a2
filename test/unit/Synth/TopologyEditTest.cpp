//===- TopologyEditTest.cpp - Lost links, and odd capacities --------------===//
//
// Parts that are lost are gone and nothing else is; capacities are counted
// exactly as far as that goes, and rounded with a note beyond.
//
//===----------------------------------------------------------------------===//

#include "synth/TopologyEdit.h"
#include "Common.h"
#include "synth/Bound.h"

using namespace ccn;
using namespace ccn::synth;

TEST(TopologyEdit, LosesWhatIsNamed) {
  Topology t = *buildTopology("ring(4)");
  t.edgeSets.push_back({"nic", {0, 1, 2}, 30});
  t.edgeSets.push_back({"other", {0}, 30});
  Result<Topology> rest = withoutParts(t, {"gpu0->gpu1"});
  ASSERT_TRUE(bool(rest)) << rest.message();
  EXPECT_EQ(rest->links.size(), t.links.size() - 1);
  EXPECT_EQ(validate(*rest), "");
  ASSERT_EQ(rest->edgeSets.size(), t.links[0].src == 0 ? 1u : 2u);
  EXPECT_TRUE(rest->notes.empty());
  rest = withoutParts(t, {"gpu0-gpu1"});
  ASSERT_TRUE(bool(rest));
  EXPECT_EQ(rest->links.size(), t.links.size() - 2);
  rest = withoutParts(t, {"gpu2"});
  ASSERT_TRUE(bool(rest));
  EXPECT_EQ(rest->numRanks(), 3);
  EXPECT_EQ(rest->links.size(), t.links.size() - 4);
  EXPECT_EQ(rest->notes.size(), 1u);
  EXPECT_EQ(validate(*rest), "");
  rest = withoutParts(t, {"other"});
  ASSERT_TRUE(bool(rest));
  EXPECT_EQ(rest->links.size(), t.links.size() - 1);
  // Two links of a ring part it.
  rest = withoutParts(t, {"gpu0-gpu1", "gpu2-gpu3"});
  ASSERT_FALSE(bool(rest));
  EXPECT_NE(rest.message().find("gpu1 gpu2 cannot reach gpu0 gpu3"),
            std::string::npos)
      << rest.message();
  for (const char *wrong : {"gpu9", "gpu0-gpu2", "gpu0-", "-", ""})
    EXPECT_FALSE(bool(withoutParts(t, {wrong}))) << wrong;
}

TEST(TopologyEdit, NamesWithDashes) {
  Topology t;
  t.name = "dashes";
  for (const char *name : {"a-b", "c", "a", "b-c"})
    t.addNode(name, NodeKind::Gpu);
  t.addDuplex(0, 1, 1, 0);
  t.addDuplex(1, 2, 1, 0);
  t.addDuplex(2, 3, 1, 0);
  t.addDuplex(3, 0, 1, 0);
  Result<Topology> rest = withoutParts(t, {"a-b"});
  ASSERT_TRUE(bool(rest)) << rest.message();
  EXPECT_EQ(rest->numRanks(), 3);
  // "a-b" with "c" before "a" with "b-c": the first that is a link.
  rest = withoutParts(t, {"a-b-c"});
  ASSERT_TRUE(bool(rest));
  EXPECT_EQ(rest->links.size(), 6u);
}

TEST(Fabric, CapacitiesAreExactOrRoundedWithANote) {
  auto pair = [](double one, double two) {
    Topology t;
    t.name = "pair";
    t.addNode("a", NodeKind::Gpu);
    t.addNode("b", NodeKind::Gpu);
    t.addLink(0, 1, one, 0);
    t.addLink(1, 0, two, 0);
    return t;
  };
  Fabric exact = *makeFabric(pair(53.6870912, 80.5306368));
  EXPECT_EQ(exact.linkCap, (std::vector<int>{2, 3}));
  EXPECT_TRUE(exact.topology.notes.empty());
  // Off by a hair, as what was computed may be.
  exact = *makeFabric(pair(0.1 + 0.2, 0.6));
  EXPECT_EQ(exact.linkCap, (std::vector<int>{1, 2}));
  exact = *makeFabric(pair(1e6, 1e-3));
  EXPECT_EQ(exact.linkCap, (std::vector<int>{1000000000, 1}));
  for (auto [one, two] :
       {std::pair(3.14159265358979, 2.71828182845905), std::pair(1e6, 1.0 / 3),
        std::pair(47.3182818284, 1e-2 / 7)}) {
    Result<Fabric> odd = makeFabric(pair(one, two));
    ASSERT_TRUE(bool(odd)) << odd.message();
    ASSERT_EQ(odd->topology.notes.size(), 1u) << one;
    double values[] = {one, two};
    for (int l = 0; l < 2; ++l) {
      EXPECT_LE(odd->linkCap[l] * odd->unitGBps, values[l] * (1 + 1e-12));
      // Simulations see the same.
      EXPECT_DOUBLE_EQ(odd->topology.links[l].gbps,
                       odd->linkCap[l] * odd->unitGBps);
    }
  }
  // Rounded as asked, which is noted, and the machine stays as it is.
  Fabric floored = *makeFabric(pair(125, 75), 40);
  EXPECT_EQ(floored.linkCap, (std::vector<int>{3, 1}));
  ASSERT_EQ(floored.topology.notes.size(), 1u);
  EXPECT_NE(floored.topology.notes[0].find("/links/1 most, by 46.6667 %"),
            std::string::npos)
      << floored.topology.notes[0];
  EXPECT_EQ(floored.topology.links[0].gbps, 125);
}

TEST(TopologyEdit, UnitsForSteps) {
  EXPECT_EQ(unitForSteps(*buildTopology("dgx1")), 0);
  Topology t = *buildTopology("ring(4)");
  for (size_t l = 0; l < t.links.size(); ++l)
    t.links[l].gbps = 47.31 + 0.0137 * static_cast<double>(l);
  double unit = unitForSteps(t);
  EXPECT_NEAR(unit, 47.31, 0.2);
  Fabric fabric = *makeFabric(t, unit);
  EXPECT_EQ(fabric.linkCap, std::vector<int>(t.links.size(), 1));
  // One twice as fast as the others carries twice as much.
  t.links[3].gbps *= 2;
  fabric = *makeFabric(t, unitForSteps(t));
  EXPECT_EQ(fabric.linkCap[3], 2 * fabric.linkCap[0]);
}
