//===- GroupsTest.cpp - Collectives of several process groups -------------===//
//
// Groups as one relation, apart again, and solved group by group.
//
//===----------------------------------------------------------------------===//

#include "synth/Groups.h"
#include "Common.h"
#include "synth/Bound.h"
#include "synth/Solve.h"

using namespace ccn;
using namespace ccn::synth;

TEST(Groups, OneRelationOfAll) {
  Result<Collective> c =
      makeGrouped(CollectiveKind::AllGather, 6, {{4, 1}, {0, 2, 3}}, 2);
  ASSERT_TRUE(bool(c)) << c.message();
  ASSERT_EQ(c->chunks.size(), 10u);
  EXPECT_EQ(c->chunks[0].pre, std::vector<int>{4});
  EXPECT_EQ(c->chunks[0].post, (std::vector<int>{1, 4}));
  EXPECT_EQ(c->chunks[9].pre, std::vector<int>{3});
  EXPECT_EQ(c->bufferChunks, 6);
  Groups apart = independentGroups(*c);
  EXPECT_EQ(apart, (Groups{{0, 2, 3}, {1, 4}}));
  std::vector<int> chunks;
  Collective part = partOf(*c, apart[0], chunks);
  EXPECT_EQ(part.ranks, 3);
  EXPECT_EQ(chunks, (std::vector<int>{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(part.chunks[5].pre, std::vector<int>{2});
  for (const Groups &wrong : {Groups{{0, 6}}, Groups{{0}, {0}}, Groups{{}}})
    EXPECT_FALSE(bool(makeGrouped(CollectiveKind::AllGather, 6, wrong, 1)));
}

TEST(Groups, AllKindsAreSolved) {
  Fabric fabric = fabricOf("dgx1");
  Groups groups = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  for (auto [kind, chunks, steps, rounds] :
       {std::tuple(CollectiveKind::AllGather, 4, 2, 3),
        std::tuple(CollectiveKind::ReduceScatter, 4, 2, 3),
        std::tuple(CollectiveKind::AllReduce, 4, 2, 2),
        std::tuple(CollectiveKind::Broadcast, 4, 2, 2),
        std::tuple(CollectiveKind::Reduce, 4, 2, 2),
        std::tuple(CollectiveKind::Gather, 4, 2, 3),
        std::tuple(CollectiveKind::Scatter, 4, 2, 3),
        std::tuple(CollectiveKind::AllToAll, 8, 1, 2)}) {
    Result<Collective> c = makeGrouped(kind, 8, groups, chunks);
    ASSERT_TRUE(bool(c)) << c.message();
    Result<SolveResult> solved = solve(fabric, *c, steps, rounds, {});
    ASSERT_TRUE(bool(solved)) << solved.message();
    EXPECT_EQ(solved->answer, Answer::Yes) << c->name;
    EXPECT_EQ(check(solved->schedule, &fabric), "") << c->name;
    // Not in fewer rounds than the bound.
    EXPECT_GE(rounds, leastRounds(roundBound(fabric, *c), chunks)) << c->name;
  }
}

TEST(Groups, SharesOfLinksAreEqual) {
  // Both groups pass the one switch link of two nodes.
  Topology t;
  t.name = "shared";
  for (int g = 0; g < 4; ++g)
    t.addNode("g" + std::to_string(g), NodeKind::Gpu);
  int a = t.addNode("a", NodeKind::Switch),
      b = t.addNode("b", NodeKind::Switch);
  for (int g = 0; g < 4; ++g)
    t.addDuplex(g, g % 2 ? b : a, 40, 0);
  t.addDuplex(a, b, 40, 0);
  Fabric fabric = *makeFabric(t, 10);
  Groups groups = {{0, 1}, {2, 3}};
  std::vector<int> edges, users = linkUsers(fabric, groups);
  Result<Fabric> part = fabricOfGroup(fabric, groups[0], users, edges);
  ASSERT_TRUE(bool(part)) << part.message();
  EXPECT_EQ(part->edges.size(), 2u);
  for (const FabricSet &set : part->sets)
    EXPECT_EQ(set.cap, set.name == "a->b" || set.name == "b->a" ? 2 : 4);
  // Where that leaves nothing, the groups cannot be taken apart.
  Fabric coarse = *makeFabric(t, 40);
  EXPECT_EQ(fabricOfGroup(coarse, groups[0], users, edges).message(),
            "the link from a to b carries less than one unit for each of 2 "
            "groups");
  // They are solved all the same.
  Collective c = *makeGrouped(CollectiveKind::AllGather, 4, groups, 1);
  Result<SolveResult> solved = solve(coarse, c, 1, 2, {});
  ASSERT_TRUE(bool(solved));
  EXPECT_EQ(solved->answer, Answer::Yes);
  solved = solve(coarse, c, 1, 1, {});
  ASSERT_TRUE(bool(solved));
  EXPECT_EQ(solved->answer, Answer::No);
}

TEST(Groups, ComposedOverTheLinksOfOthers) {
  Fabric fabric = fabricOf("ring(6)");
  Collective c =
      *makeGrouped(CollectiveKind::AllReduce, 6, {{0, 2, 4}, {1, 3, 5}}, 3);
  Result<SolveResult> solved = solve(fabric, c, 6, 12, {});
  ASSERT_TRUE(bool(solved)) << solved.message();
  EXPECT_EQ(solved->answer, Answer::Yes) << solved->certificate;
}
