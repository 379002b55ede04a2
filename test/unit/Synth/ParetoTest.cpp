//===- ParetoTest.cpp - Frontiers and their proofs ------------------------===//
//
// The DGX-1 frontiers are complete and proved; files resume.
//
//===----------------------------------------------------------------------===//

#include "synth/Pareto.h"
#include "Common.h"

using namespace ccn;
using namespace ccn::synth;

static ParetoResult frontier(const Fabric &fabric, const std::string &name,
                             ParetoOptions options = {}) {
  Result<ParetoResult> result = paretoFrontier(
      fabric,
      [&](int chunks) {
        return makeCollective(*parseCollectiveKind(name), fabric.ranks, chunks);
      },
      options);
  EXPECT_TRUE(bool(result)) << result.message();
  for (const ParetoPoint &p : result->points)
    EXPECT_EQ(check(p.schedule, &fabric), "");
  return *result;
}

TEST(Pareto, Dgx1FrontiersAreComplete) {
  Fabric fabric = fabricOf("dgx1");
  using Points = std::vector<std::pair<int, std::string>>;
  for (auto [name, expected] :
       std::initializer_list<std::pair<const char *, Points>>{
           {"all_gather", {{2, "3/2"}, {3, "7/6"}}},
           {"reduce_scatter", {{2, "3/2"}, {3, "7/6"}}},
           {"gather", {{2, "7/6"}}},
           {"all_to_all", {{2, "1/3"}}},
           {"all_reduce", {{2, "1"}, {3, "1/2"}, {4, "1/3"}, {5, "7/24"}}}}) {
    ParetoResult result = frontier(fabric, name);
    EXPECT_TRUE(result.reachesBandwidthBound) << name;
    Points found;
    for (const ParetoPoint &p : result.points) {
      EXPECT_EQ(p.proof, Proof::Optimal) << name << " " << p.steps;
      found.push_back({p.steps, p.rate().str()});
    }
    EXPECT_EQ(found, expected) << name;
  }
}

TEST(Pareto, RateBoundsOfBroadcast) {
  // The best rate at three steps is 9/22; nothing beats 1/3 for all_reduce in
  // four steps on a DGX-1.
  Fabric fabric = fabricOf("dgx1");
  EXPECT_EQ(
      rateBound(fabric, collectiveOf("broadcast", 8, 1), 3, {}).rate.str(),
      "9/22");
  RateBound bound = rateBound(fabric, collectiveOf("all_reduce", 8, 1), 4, {});
  EXPECT_EQ(bound.rate.str(), "1/3");
  EXPECT_FALSE(bound.why.empty());
}

TEST(Pareto, FilesResume) {
  Fabric fabric = fabricOf("z52");
  ParetoResult first = frontier(fabric, "all_gather");
  std::string text = paretoJson(first, fabric);
  Result<std::vector<ParetoPoint>> known = parsePareto(text, "p.json", fabric);
  ASSERT_TRUE(bool(known)) << known.message();
  ParetoOptions options;
  options.known = *known;
  EXPECT_EQ(paretoJson(frontier(fabric, "all_gather", options), fabric), text);
  Result<std::string> svg = paretoSvg(first, fabric);
  ASSERT_TRUE(bool(svg));
  EXPECT_NE(svg->find("<polyline"), std::string::npos);
}

TEST(Pareto, TriesTheBoundsOwnPointsFirst) {
  // Six steps take long and seven do not.
  ParetoOptions options;
  options.secondsPerTry = 0.5;
  options.maxSteps = 7;
  options.solve.limits = Limits::seconds(5);
  Fabric fabric = fabricOf("z52");
  ParetoResult result = frontier(fabric, "all_reduce", options);
  ASSERT_FALSE(result.points.empty());
  EXPECT_TRUE(result.reachesBandwidthBound);
  EXPECT_EQ(result.points.back().steps, 7);
  EXPECT_EQ(result.points.back().rate().str(), "7/8");
  EXPECT_EQ(result.open, std::vector<int>{6});
  EXPECT_NE(paretoTable(result, fabric).find("out of time for steps 6"),
            std::string::npos);
}

TEST(Pareto, BoundedConflictsEndInTime) {
  // With what was found there are always more rounds to try.
  ParetoOptions options;
  options.solve.maxConflicts = 30000;
  options.solve.limits = Limits::seconds(1);
  Fabric fabric = fabricOf("hgx-h100-4");
  auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(frontier(fabric, "broadcast", options).outOfTime);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(Pareto, BoundedConflictsFindSomeSoon) {
  for (auto [spec, mode, steps, expected] :
       {std::tuple("dgx1", ReduceMode::OneSum, 3, "4 3"),
        // A rank must get seven others..
        std::tuple("dgx-a100", ReduceMode::OneSum, 2, "8 14"),
        std::tuple("ring(4)", ReduceMode::Composition, 4, "8 6"),
        std::tuple("hypercube(3)", ReduceMode::Auto, 3, "3 3")}) {
    ParetoOptions options;
    options.solve.mode = mode;
    options.solve.maxConflicts = 30000;
    options.minSteps = options.maxSteps = steps;
    Fabric fabric = fabricOf(spec);
    ParetoResult result = frontier(fabric, "all_reduce", options);
    ASSERT_EQ(result.points.size(), 1u) << spec;
    const ParetoPoint &point = result.points[0];
    EXPECT_EQ(std::to_string(point.chunks) + " " + std::to_string(point.rounds),
              expected)
        << spec;
    EXPECT_EQ(paretoJson(frontier(fabric, "all_reduce", options), fabric),
              paretoJson(result, fabric));
  }
}
