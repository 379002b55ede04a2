//===- SolveTest.cpp - Every row of the published tables ------------------===//
//
// Each row is solved, with the engines that can, and each schedule checked.
//
//===----------------------------------------------------------------------===//

#include "synth/Solve.h"
#include "Common.h"
#include "synth/Flow.h"

#include <nlohmann/json.hpp>

#include <fstream>

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
  ASSERT_TRUE(bool(result)) << result.error().text;
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
            ASSERT_TRUE(bool(r)) << r.error().text;
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
  ASSERT_TRUE(bool(r)) << r.error().text;
  EXPECT_EQ(r->answer, Answer::Yes);
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
  ASSERT_TRUE(bool(r)) << r.error().text;
  EXPECT_EQ(r->answer, Answer::Yes);
}
