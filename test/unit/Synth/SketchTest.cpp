//===- SketchTest.cpp - Solving within a sketch ---------------------------===//
//
// Schedules keep to what a sketch says of links, senders and symmetry; where
// nothing is left, the parts to blame are named; what does not fit is refused.
//
//===----------------------------------------------------------------------===//

#include "synth/Sketch.h"
#include "Common.h"

#include <set>

using namespace ccn;
using namespace ccn::synth;

static Sketch sketchOf(const std::string &text) {
  Result<Sketch> sketch = parseSketch(text, "s.json");
  EXPECT_TRUE(bool(sketch)) << sketch.message();
  return sketch ? *sketch : Sketch();
}

static Sketch sketchFile(const std::string &name) {
  Result<std::string> text =
      readFile(std::string(CCN_SYNTH_TEST_DATA "/sketches/") + name);
  EXPECT_TRUE(bool(text));
  return sketchOf(*text);
}

static SolveResult solved(const std::string &spec, const Collective &coll,
                          int steps, int rounds, const Sketch &sketch,
                          Engine engine = Engine::Auto) {
  Fabric fabric = fabricOf(spec);
  SolveOptions options;
  options.engine = engine;
  Result<SolveResult> result =
      solveSketch(fabric, coll, steps, rounds, sketch, options);
  EXPECT_TRUE(bool(result)) << result.message();
  if (result && result->answer == Answer::Yes)
    EXPECT_EQ(check(result->schedule, &fabric), "");
  return result ? *result : SolveResult();
}

/// Whether moving all ranks maps the schedule onto itself (all_gather: chunks
/// move with their ranks).
static bool isInvariant(const Schedule &s, int offset, int size) {
  int perRank = s.collective.chunksPerNode;
  auto move = [&](int r) {
    return r / size * size + (r % size + offset) % size;
  };
  for (const Step &step : s.steps) {
    std::set<std::tuple<int, int, int>> sends;
    for (const Send &x : step.sends)
      sends.insert({x.chunk, x.src, x.dst});
    for (const Send &x : step.sends)
      if (!sends.count({move(x.chunk / perRank) * perRank + x.chunk % perRank,
                        move(x.src), move(x.dst)}))
        return false;
  }
  return true;
}

TEST(Sketch, PublishedKindsAreKept) {
  Collective gather = collectiveOf("all_gather", 16, 1);
  SolveResult ndv2 = solved("ndv2x2", gather, 6, 10, sketchFile("ndv2x2.json"));
  ASSERT_EQ(ndv2.answer, Answer::Yes) << ndv2.certificate;
  EXPECT_TRUE(isInvariant(ndv2.schedule, 8, 16));

  Sketch sketch = sketchFile("dgx2x2.json");
  EXPECT_EQ(sketchChunks(sketch, "all_gather", 32), 1);
  EXPECT_EQ(sketchChunks(sketch, "all_to_all", 32), 32);
  gather = collectiveOf("all_gather", 32, 1);
  SolveResult dgx2 = solved("dgx2x2", gather, 6, 8, sketch);
  ASSERT_EQ(dgx2.answer, Answer::Yes) << dgx2.certificate;
  EXPECT_TRUE(isInvariant(dgx2.schedule, 2, 16));
  EXPECT_TRUE(isInvariant(dgx2.schedule, 16, 32));
  std::map<int, std::set<int>> peers;
  for (const Step &step : dgx2.schedule.steps)
    for (const Send &send : step.sends) {
      if (send.src / 16 == send.dst / 16) {
        peers[send.src].insert(send.dst);
        continue;
      }
      EXPECT_EQ(send.src % 16, send.dst % 16 + 1);
      // Sender s serves itself and the GPU before it.
      int source = send.chunk % 16;
      EXPECT_EQ(source / 2, send.src % 16 / 2) << source;
    }
  // As few peers behind the switch as do: 4 of 15.
  EXPECT_NE(dgx2.method.find("4 peers a switch"), std::string::npos)
      << dgx2.method;
  for (const auto &[gpu, list] : peers)
    EXPECT_LE(list.size(), 4u);
}

TEST(Sketch, TheReasonIsNamed) {
  // A ring cannot gather in two steps, whatever the symmetry.
  Sketch ring = sketchOf(
      R"({"nnodes": 1, "intranode_sketch": {"strategy": "relay",
          "intranode_conn": {"0": [1], "1": [2], "2": [3], "3": [0]}},
          "symmetry_offsets": [[1, 4]]})");
  Collective gather = collectiveOf("all_gather", 4, 1);
  SolveResult result = solved("full(4)", gather, 2, 3, ring);
  EXPECT_EQ(result.answer, Answer::No);
  EXPECT_NE(result.certificate.find(
                "\nthe parts of the sketch that leave none: intranode_sketch"),
            std::string::npos)
      << result.certificate;
  EXPECT_EQ(result.certificate.find("symmetry_offsets"), std::string::npos);
  EXPECT_EQ(solved("full(4)", gather, 3, 3, ring).answer, Answer::Yes);

  // All rotations are too many for this one, two of them are not.
  Collective all = collectiveOf("all_to_all", 8, 8);
  Sketch rotations = sketchOf(
      R"({"nnodes": 1, "intranode_sketch": {"strategy": "none"},
          "symmetry_offsets": [[1, 8]]})");
  result = solved("z52", all, 4, 8, rotations);
  EXPECT_EQ(result.answer, Answer::No);
  EXPECT_NE(result.certificate.find("leave none: symmetry_offsets/0"),
            std::string::npos)
      << result.certificate;
  rotations.symmetries = {{4, 8}};
  EXPECT_EQ(solved("z52", all, 4, 8, rotations).answer, Answer::Yes);

  // Two parts together: a relay that serves only itself.
  Sketch relay = sketchOf(
      R"({"nnodes": 2, "intranode_sketch": {"strategy": "none"},
          "internode_sketch": {"strategy": "relay",
            "internode_conn": {"0": [0]},
            "gpus_to_sender_rev_map": {"0": [0], "1": [1]}}})");
  result = solved("full(4)", gather, 4, 8, relay);
  EXPECT_EQ(result.answer, Answer::No);
  EXPECT_NE(
      result.certificate.find("leave none: internode_sketch/internode_conn, "
                              "internode_sketch/gpus_to_sender_rev_map"),
      std::string::npos)
      << result.certificate;

  // Nobody is to blame for what the machine cannot do.
  result = solved("ring(4)", gather, 1, 1,
                  rotations = sketchOf(
                      R"({"nnodes": 1, "intranode_sketch": {"strategy": "none"},
          "symmetry_offsets": [[1, 4]]})"));
  EXPECT_NE(result.certificate.find("no part of the sketch is to blame"),
            std::string::npos);
}

TEST(Sketch, EnginesAgree) {
  Sketch relay = sketchOf(
      R"({"nnodes": 2, "intranode_sketch": {"strategy": "none"},
          "internode_sketch": {"strategy": "relay",
            "internode_conn": {"0": [1], "1": [0]},
            "gpus_to_sender_rev_map": {"0": [1], "1": [0]}},
          "symmetry_offsets": [[2, 4]]})");
  for (const char *name : {"all_gather", "all_to_all"}) {
    Collective coll =
        collectiveOf(name, 4, std::string(name) == "all_to_all" ? 4 : 1);
    for (int steps = 1; steps <= 3; ++steps)
      for (int rounds = steps; rounds <= 4; ++rounds) {
        SolveResult a = solved("full(4)", coll, steps, rounds, relay);
        SolveResult b =
            solved("full(4)", coll, steps, rounds, relay, Engine::Z3);
        SolveResult c =
            solved("full(4)", coll, steps, rounds, relay, Engine::Sat);
        EXPECT_EQ(a.answer, b.answer) << name << steps << rounds;
        EXPECT_EQ(a.answer, c.answer) << name << steps << rounds;
        EXPECT_NE(a.answer, Answer::Unknown);
        if (a.answer != Answer::Yes)
          continue;
        for (const SolveResult *r : {&a, &b, &c})
          for (const Step &step : r->schedule.steps)
            for (const Send &send : step.sends)
              if (send.src / 2 != send.dst / 2) {
                int perRank = coll.chunks.size() / 4;
                EXPECT_EQ(send.chunk / perRank % 2, 1 - send.src % 2);
                EXPECT_EQ(send.src % 2, 1 - send.dst % 2);
              }
      }
  }
}

TEST(Sketch, SumsAndShares) {
  // reduce_scatter and all_reduce on the listed links, in symmetry.
  Sketch ring = sketchOf(
      R"({"nnodes": 1, "intranode_sketch": {"strategy": "relay",
          "intranode_conn": {"0": [1], "1": [2], "2": [3], "3": [0]}},
          "symmetry_offsets": [[1, 4]]})");
  for (auto [name, c, s] :
       {std::tuple("reduce_scatter", 1, 3), std::tuple("all_reduce", 4, 6)}) {
    SolveResult result =
        solved("full(4)", collectiveOf(name, 4, c), s, s, ring);
    ASSERT_EQ(result.answer, Answer::Yes) << name << result.certificate;
    for (const Step &step : result.schedule.steps)
      for (const Send &send : step.sends)
        EXPECT_EQ(send.dst, (send.src + 1) % 4);
  }
  // Half of the link for each of two that share a NIC.
  Sketch share = sketchOf(
      R"({"nnodes": 2, "intranode_sketch": {"strategy": "none"},
          "internode_sketch": {"strategy": "relay",
            "internode_conn": "fully-connected", "beta_split": {"0": 2}}})");
  Fabric pair = fabricOf("full(2)", 12.5);
  Collective gather = collectiveOf("all_gather", 2, 2);
  Result<SolveResult> whole = solve(pair, gather, 1, 1, {});
  EXPECT_EQ(whole->answer, Answer::Yes);
  Result<SolveResult> half = solveSketch(pair, gather, 1, 1, share, {});
  ASSERT_TRUE(bool(half)) << half.message();
  EXPECT_EQ(half->answer, Answer::No);
  EXPECT_NE(half->certificate.find("internode_sketch/beta_split"),
            std::string::npos)
      << half->certificate;
  EXPECT_EQ(solveSketch(pair, gather, 1, 2, share, {})->answer, Answer::Yes);
}

TEST(Sketch, WhatDoesNotFitIsRefused) {
  auto parseError = [](const std::string &text) {
    Result<Sketch> sketch = parseSketch(text, "s.json");
    return sketch ? "" : sketch.message();
  };
  EXPECT_EQ(
      parseError(R"({"nnodes": 1, "intranode_sketch": {"strategy": "x"}})"),
      "s.json: /intranode_sketch/strategy: expected \"none\", \"switch\" "
      "or \"relay\", found \"x\"");
  EXPECT_EQ(parseError(
                R"({"nnodes": 1, "intranode_sketch": {"strategy": "switch",
              "switches": [[0]], "switch_hyperedge_strategy": []}})"),
            "s.json: /intranode_sketch/switch_hyperedge_strategy: expected one "
            "strategy for each of 1 switches, found 0");
  EXPECT_EQ(
      parseError(R"({"nnodes": 1, "intranode_sketch": {"strategy": "none"},
                           "symmetry_offsets": [[4, 4]]})"),
      "s.json: /symmetry_offsets/0: expected an offset below the size, "
      "found 4 and 4");
  auto solveError = [](const std::string &text, const std::string &spec,
                       const std::string &collective) {
    Fabric fabric = fabricOf(spec);
    Result<SolveResult> result =
        solveSketch(fabric, collectiveOf(collective, fabric.ranks, 1), 2, 4,
                    sketchOf(text), {});
    return result ? "" : result.message();
  };
  EXPECT_EQ(
      solveError(R"({"nnodes": 3, "intranode_sketch": {"strategy": "none"}})",
                 "ring(4)", "all_gather"),
      "nnodes: expected a divisor of the topology's 4 ranks, found 3");
  EXPECT_EQ(
      solveError(R"({"nnodes": 1, "intranode_sketch": {"strategy": "none"},
                           "symmetry_offsets": [[1, 4]]})",
                 "line(4)", "all_gather"),
      "symmetry_offsets/0: the way from gpu2 to gpu3 has no counterpart "
      "from gpu3 to gpu0");
  EXPECT_EQ(
      solveError(R"({"nnodes": 1, "intranode_sketch": {"strategy": "none"},
                           "symmetry_offsets": [[1, 4]]})",
                 "ring(4)", "broadcast"),
      "symmetry_offsets/0: broadcast does not have this symmetry");
  EXPECT_EQ(
      solveError(R"({"nnodes": 2, "intranode_sketch": {"strategy": "none"},
                     "internode_sketch": {"strategy": "none",
                       "gpus_to_sender_rev_map": {"0": [0]}}})",
                 "ring(4)", "reduce_scatter"),
      "gpus_to_sender_rev_map: it restricts copies by their source, and "
      "reduce_scatter adds");
}
