//===- SolveTest.cpp - Every row of the published tables ------------------===//
//
// Each row is solved, with the engines that can, and each schedule checked.
//
//===----------------------------------------------------------------------===//

#include "synth/Solve.h"
#include "Common.h"
#include "synth/Bound.h"
#include "synth/Flow.h"
#include "synth/SumOrder.h"
#include "synth/interop/TopologyImport.h"

#include <nlohmann/json.hpp>

#include <fstream>

#include <random>

using namespace ccn;
using namespace ccn::synth;

static nlohmann::json facts() {
  std::ifstream in(CCN_SYNTH_TEST_DATA "/synthesis_rows.json");
  return nlohmann::json::parse(in);
}

static void expectRow(const Fabric &fabric, const Collective &collective,
                      const nlohmann::json &row, Engine engine,
                      ReduceMode mode = ReduceMode::Auto) {
  SolveOptions options;
  options.engine = engine;
  options.mode = mode;
  options.limits = Limits::seconds(120);
  Result<SolveResult> result =
      solve(fabric, collective, row["S"], row["R"], options);
  ASSERT_TRUE(bool(result)) << result.message();
  // The one row that the literature leaves open has no schedule.
  bool none = row["result"] != "sat";
  EXPECT_EQ(result->answer, none ? Answer::No : Answer::Yes)
      << fabric.topology.name << " " << collective.name << " " << row.dump();
  if (result->answer == Answer::Yes) {
    EXPECT_EQ(check(result->schedule, &fabric), "");
    EXPECT_EQ(result->schedule.totalRounds(), row["R"].get<int>());
    EXPECT_EQ(result->schedule.steps.size(), row["S"].get<size_t>());
  } else {
    EXPECT_FALSE(result->certificate.empty());
  }
}

TEST(Solve, PublishedRows) {
  nlohmann::json table = facts();
  for (auto [machine, spec] :
       {std::pair("dgx1_v100", "dgx1"), std::pair("z52_mi50", "z52")}) {
    Fabric fabric = fabricOf(spec);
    for (auto &[name, rows] : table[machine].items())
      for (const nlohmann::json &row : rows)
        expectRow(fabric, collectiveOf(name, 8, row["C"]), row, Engine::Auto);
  }
}

TEST(Solve, DirectAllReduceRows) {
  nlohmann::json table = facts()["allreduce_direct"];
  for (auto [machine, spec] :
       {std::pair("dgx1_v100", "dgx1"), std::pair("ring4", "ring(4)"),
        std::pair("ring5", "ring(5)"), std::pair("ring8 (z52)", "z52")}) {
    Fabric fabric = fabricOf(spec);
    for (const nlohmann::json &row : table[machine])
      expectRow(fabric, collectiveOf("all_reduce", fabric.ranks, row["C"]), row,
                Engine::Auto, ReduceMode::Direct);
  }
}

TEST(Solve, Torus) {
  for (auto [spec, steps] :
       {std::pair("torus(4,4)", 15), std::pair("torus(8,8)", 63)}) {
    Fabric fabric = fabricOf(spec);
    expectRow(fabric, collectiveOf("all_gather", fabric.ranks, 4),
              {{"C", 4}, {"S", steps}, {"R", steps}, {"result", "sat"}},
              Engine::Auto);
  }
}

TEST(Solve, EnginesAgreeOnSmallRows) {
  for (const char *spec : {"ring(4)", "line(3)", "star(4)", "hub(4)"}) {
    Fabric fabric = fabricOf(spec);
    for (const char *name :
         {"all_gather", "broadcast", "gather", "scatter", "all_to_all",
          "reduce", "reduce_scatter", "all_reduce"})
      for (int steps = 1; steps <= 3; ++steps)
        for (int rounds = steps; rounds <= steps + 2; ++rounds) {
          int chunks = std::string(name) == "all_to_all" ? fabric.ranks : 1;
          Collective collective = collectiveOf(name, fabric.ranks, chunks);
          std::vector<Engine> engines = {Engine::Auto, Engine::Sat, Engine::Z3};
          if (isPointToPoint(collective))
            engines.push_back(Engine::Flow);
          std::vector<Answer> answers;
          for (Engine engine : engines) {
            SolveOptions options;
            options.engine = engine;
            options.limits = Limits::seconds(60);
            Result<SolveResult> r =
                solve(fabric, collective, steps, rounds, options);
            ASSERT_TRUE(bool(r)) << r.message();
            answers.push_back(r->answer);
            EXPECT_NE(r->answer, Answer::Unknown)
                << spec << " " << name << " " << steps << " " << rounds << " "
                << engineName(engine);
          }
          for (Answer answer : answers)
            EXPECT_EQ(answer, answers[0])
                << spec << " " << name << " " << steps << " " << rounds;
        }
  }
}

TEST(Solve, IsDeterministic) {
  Fabric fabric = fabricOf("dgx1");
  Collective collective = collectiveOf("broadcast", 8, 12);
  std::string first;
  for (int i = 0; i < 2; ++i) {
    SolveOptions options;
    options.seed = 5;
    Result<SolveResult> r = solve(fabric, collective, 4, 4, options);
    ASSERT_TRUE(bool(r));
    std::string text = writeSchedule(r->schedule, &fabric);
    if (i == 0)
      first = text;
    EXPECT_EQ(text, first);
  }
}

TEST(Solve, StopsWhenAsked) {
  Fabric fabric = fabricOf("torus(4,4)");
  std::atomic<bool> stop{true};
  SolveOptions options;
  options.limits.interrupt = &stop;
  for (Engine engine : {Engine::Sat, Engine::Z3}) {
    options.engine = engine;
    Result<SolveResult> r =
        solve(fabric, collectiveOf("all_gather", 16, 4), 15, 15, options);
    ASSERT_TRUE(bool(r));
    EXPECT_EQ(r->answer, Answer::Unknown);
  }
}

TEST(Solve, SpareCpusServeAllReduce) {
  // Three GPUs and a CPU around a switch-less hub: only the CPU joins them.
  Topology t;
  t.name = "server";
  for (const char *name : {"g0", "g1", "g2"})
    t.addNode(name, NodeKind::Gpu);
  int cpu = t.addNode("c", NodeKind::Cpu);
  for (int g = 0; g < 3; ++g)
    t.addDuplex(g, cpu, 10, 1);
  Result<Fabric> fabric = makeFabric(t);
  ASSERT_TRUE(bool(fabric));
  Result<SolveResult> r =
      solve(*fabric, collectiveOf("all_reduce", 3, 1), 2, 2, {});
  ASSERT_TRUE(bool(r)) << r.message();
  EXPECT_EQ(r->answer, Answer::Yes);
}

TEST(Solve, HelpersPassContributionsOn) {
  auto expectSolved = [](const Fabric &fabric, int steps, int rounds,
                         ReduceMode mode) {
    SolveOptions options;
    options.mode = mode;
    options.limits = Limits::seconds(120);
    Result<SolveResult> r =
        solve(fabric, collectiveOf("all_reduce", fabric.ranks, 1), steps,
              rounds, options);
    ASSERT_TRUE(bool(r)) << r.message();
    ASSERT_EQ(r->answer, Answer::Yes) << r->certificate;
    EXPECT_EQ(check(r->schedule, &fabric), "");
    if (mode == ReduceMode::OneSum)
      EXPECT_EQ(differingSums(r->schedule), "");
  };
  // Three GPUs in a triangle, and a CPU where what one of them sends is lost.
  Topology t;
  t.name = "triangle";
  for (const char *name : {"g0", "g1", "g2"})
    t.addNode(name, NodeKind::Gpu);
  int cpu = t.addNode("c", NodeKind::Cpu);
  for (int g = 0; g < 3; ++g)
    t.addDuplex(g, (g + 1) % 3, 10, 0.5);
  t.addDuplex(1, cpu, 10, 0.5);
  Result<Fabric> triangle = makeFabric(t);
  ASSERT_TRUE(bool(triangle)) << triangle.message();
  for (ReduceMode mode :
       {ReduceMode::OneSum, ReduceMode::Direct, ReduceMode::Auto}) {
    expectSolved(*triangle, 3, 6, mode);
    expectSolved(*triangle, 4, 8, mode);
  }
  Result<std::string> text =
      readFile(CCN_SYNTH_TEST_DATA "/topologies/dgx1.xml");
  ASSERT_TRUE(bool(text));
  Result<Topology> dgx1 = parseAnyTopology(*text, "dgx1.xml", {});
  ASSERT_TRUE(bool(dgx1)) << dgx1.message();
  Result<Fabric> fabric = makeFabric(*dgx1);
  ASSERT_TRUE(bool(fabric)) << fabric.message();
  expectSolved(*fabric, 2, 8, ReduceMode::OneSum);
}

TEST(Solve, CustomRelations) {
  Result<Collective> shift = parseCollective(
      R"({"ccn_collective": 1, "name": "shift", "ranks": 4, "chunks": [
        {"pre": [0], "post": [1]}, {"pre": [1], "post": [2]},
        {"pre": [2], "post": [3]}, {"pre": [3], "post": [0]},
        {"pre": [0, 2], "post": [1, 3]}]})",
      "c.json");
  ASSERT_TRUE(bool(shift));
  Fabric fabric = fabricOf("ring(4)");
  Result<SolveResult> r = solve(fabric, *shift, 1, 2, {});
  ASSERT_TRUE(bool(r)) << r.message();
  EXPECT_EQ(r->answer, Answer::Yes);
}

TEST(AllToAllV, EqualCountsAreAllToAll) {
  Result<Collective> v = makeAllToAllV(Counts(4, std::vector<int>(4, 1)), 2);
  ASSERT_TRUE(bool(v)) << v.message();
  Collective plain = collectiveOf("all_to_all", 4, 8);
  ASSERT_EQ(v->chunks.size(), plain.chunks.size());
  for (size_t c = 0; c < plain.chunks.size(); ++c) {
    EXPECT_EQ(v->chunks[c].pre, plain.chunks[c].pre);
    EXPECT_EQ(v->chunks[c].post, plain.chunks[c].post);
  }
  EXPECT_EQ(v->bufferChunks, plain.bufferChunks);
}

TEST(AllToAllV, EnginesAgreeAndSchedulesSurviveTheirFile) {
  std::mt19937 random(3);
  Fabric fabric = fabricOf("ring(4)");
  for (int i = 0; i < 6; ++i) {
    Counts counts(4, std::vector<int>(4));
    for (auto &row : counts)
      for (int &count : row)
        count = static_cast<int>(random() % 3);
    Result<Collective> coll = makeAllToAllV(counts, 1);
    ASSERT_TRUE(bool(coll)) << coll.message();
    RoundBound bound = roundBound(fabric, *coll);
    for (int rounds = 2; rounds <= 7; ++rounds) {
      Result<SolveResult> flow = solve(fabric, *coll, 2, rounds, {});
      SolveOptions z3;
      z3.engine = Engine::Z3;
      Result<SolveResult> other = solve(fabric, *coll, 2, rounds, z3);
      ASSERT_TRUE(flow && other);
      EXPECT_NE(flow->answer, Answer::Unknown);
      EXPECT_EQ(flow->answer, other->answer) << i << ", " << rounds;
      if (flow->answer != Answer::Yes)
        continue;
      EXPECT_GE(rounds, leastRounds(bound, 1));
      Result<Schedule> again =
          parseSchedule(writeSchedule(flow->schedule), "v.json");
      ASSERT_TRUE(bool(again)) << again.message();
      EXPECT_EQ(again->collective.counts, counts);
      EXPECT_EQ(check(*again), "");
      EXPECT_GT(simulate(flow->schedule, fabric, 1e6)->eventUs, 0);
    }
  }
}

TEST(AllToAllV, ErrorsNameTheCount) {
  auto errorOf = [](const std::string &text) {
    Result<Counts> counts = parseCounts(text, "c.json");
    return counts ? "" : counts.message();
  };
  EXPECT_EQ(errorOf("[[0,1],[2]]"), "c.json: /1: expected 2 counts, found 1");
  EXPECT_EQ(errorOf("[[0,-1],[2,0]]"),
            "c.json: /0/1: expected an integer from 0 to 1048576, found -1");
  EXPECT_EQ(makeAllToAllV({{0, 0}, {0, 0}}, 1).message(),
            "all_to_allv: expected a count above 0, found none");
  EXPECT_EQ(loadCollective("all_to_allv", 3, 1, 0, {{1}}).message(),
            "all_to_allv: expected counts for the topology's 3 ranks "
            "(--counts), found 1");
}
