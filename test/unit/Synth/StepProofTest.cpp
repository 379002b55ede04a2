//===- StepProofTest.cpp - Proofs that no schedule exists -----------------===//
//
// Right proofs pass, damaged ones do not, and none is found where a schedule
// exists.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "synth/Prove.h"
#include "synth/Solve.h"

#include <random>

using namespace ccn;
using namespace ccn::synth;

// x or y, and so on: all four clauses of two variables.
static const Cnf square = {2, {{1, 2}, {1, -2}, {-1, 2}, {-1, -2}}};

TEST(RupCheck, AcceptsLemmasThatFollow) {
  EXPECT_EQ(checkRup(square, "1 0\n"), "");
  EXPECT_EQ(checkRup(square, "1 2 0\n-2 0\n0\n"), "");
  // What is deleted after it was used.
  EXPECT_EQ(checkRup(square, "1 0\nd 1 2 0\n0\n"), "");
  // Without a lemma.
  EXPECT_EQ(checkRup({1, {{1}, {-1}}}, ""), "");
  EXPECT_EQ(checkRup({1, {{}}}, ""), "");
  int64_t lemmas = 0;
  EXPECT_EQ(checkRup({3,
                      {{1, 2, 3},
                       {1, 2, -3},
                       {1, -2, 3},
                       {1, -2, -3},
                       {-1, 2, 3},
                       {-1, 2, -3},
                       {-1, -2, 3},
                       {-1, -2, -3}}},
                     "1 2 0 1 0 -1 2 0 0", &lemmas),
            "");
  EXPECT_EQ(lemmas, 3);
}

TEST(RupCheck, RefusesOthers) {
  EXPECT_EQ(checkRup(square, ""),
            "the proof ends after 0 lemmas without a contradiction");
  EXPECT_EQ(checkRup(square, "0\n"), "lemma 1 does not follow by propagation");
  EXPECT_EQ(checkRup(square, "d 1 2 0\n1 0\n"),
            "lemma 1 does not follow by propagation");
  for (const char *text : {"1", "3 0", "1 x 0", "d 1", "d", "1 -3 0"})
    EXPECT_EQ(checkRup(square, text),
              "expected literals of 2 variables that end with 0 after lemma 0")
        << text;
  // It holds with x and y.
  Cnf possible = square;
  possible.clauses.pop_back();
  EXPECT_EQ(checkRup(possible, "1 0\n2 0\n0\n"),
            "lemma 3 does not follow by propagation");
}

// Whatever a proof says, clauses that some values satisfy are not refuted; and
// lemmas that name all variables but the last refute those that none does.
TEST(RupCheck, AgreesWithTables) {
  std::mt19937 random(1);
  int refuted = 0, satisfied = 0;
  for (int i = 0; i < 400; ++i) {
    constexpr int variables = 5;
    Cnf cnf{variables, {}};
    for (int c = 0; c < 24; ++c) {
      std::vector<int> &clause = cnf.clauses.emplace_back();
      for (int k = 0; k < 3; ++k)
        clause.push_back((1 + static_cast<int>(random() % variables)) *
                         (random() % 2 ? 1 : -1));
    }
    bool possible = false;
    for (unsigned values = 0; values < 1U << variables; ++values)
      possible |= std::all_of(
          cnf.clauses.begin(), cnf.clauses.end(), [&](const auto &clause) {
            return std::any_of(clause.begin(), clause.end(), [&](int literal) {
              return (values >> (std::abs(literal) - 1) & 1) ==
                     (literal > 0 ? 1U : 0U);
            });
          });
    // The leaves of the tree of decisions, and what is above them.
    std::string proof;
    for (int depth = variables - 1; depth >= 0; --depth)
      for (unsigned values = 0; values < 1U << depth; ++values) {
        for (int v = 1; v <= depth; ++v)
          proof += std::to_string(values >> (v - 1) & 1 ? v : -v) + " ";
        proof += "0\n";
      }
    EXPECT_EQ(checkRup(cnf, proof).empty(), !possible);
    ++(possible ? satisfied : refuted);
  }
  EXPECT_GT(refuted, 50);
  EXPECT_GT(satisfied, 50);
}

static Collective collectiveOf(CollectiveKind kind, int ranks, int chunks) {
  return *makeCollective(kind, ranks, chunks);
}

static Result<StepProof> proofOf(const std::string &topology,
                                 CollectiveKind kind, int chunks, int steps,
                                 int rounds) {
  Fabric fabric = fabricOf(topology);
  return proveNone(fabric.topology, fabric,
                   collectiveOf(kind, fabric.ranks, chunks), steps, rounds, {});
}

// Bounds, cuts through space and time, and sends.
TEST(StepProof, CutsProveWhatSolveSays) {
  using enum CollectiveKind;
  for (auto [topology, kind, chunks, steps, rounds] :
       {std::tuple("dgx1", AllGather, 6, 2, 7),
        {"dgx1", AllGather, 6, 3, 6},
        {"dgx1", AllReduce, 24, 5, 7},
        {"dgx1", AllReduce, 48, 5, 13},
        {"dgx1", ReduceScatter, 6, 2, 7},
        {"dgx1", Reduce, 6, 2, 5},
        {"dgx1", Scatter, 6, 2, 6},
        {"dgx1", Gather, 6, 1, 100},
        {"ring(5)", Broadcast, 4, 2, 3},
        {"hgx-h100x2", AllGather, 1, 1, 7},
        {"dgx-a100x2", AllReduce, 16, 2, 3}}) {
    Result<StepProof> proof = proofOf(topology, kind, chunks, steps, rounds);
    ASSERT_TRUE(bool(proof)) << topology << kindName(kind) << proof.message();
    EXPECT_TRUE(proof->searches.empty());
    EXPECT_EQ(verify(*proof), "");
    // It comes back from its text.
    Result<StepProof> read = parseStepProof(writeStepProof(*proof), "text");
    ASSERT_TRUE(bool(read)) << read.message();
    EXPECT_EQ(writeStepProof(*read), writeStepProof(*proof));
    EXPECT_EQ(verify(*read), "");
    // Nor in fewer rounds; but each cut was needed, and more rounds suffice.
    for (size_t i = 0; i < proof->cuts.size(); ++i) {
      StepProof less = *proof;
      less.cuts.erase(less.cuts.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_NE(verify(less), "");
    }
    StepProof wider = *proof;
    wider.rounds += 100;
    if (kind != Gather) {
      EXPECT_NE(verify(wider), "") << topology << kindName(kind);
    }
    for (Link &link : read->topology.links)
      link.gbps *= 100;
    for (EdgeSet &set : read->topology.edgeSets)
      set.gbps *= 100;
    if (kind != Gather) {
      EXPECT_NE(verify(*read), "") << topology << kindName(kind);
    }
  }
}

TEST(StepProof, RatesAreProved) {
  using enum CollectiveKind;
  for (auto [kind, steps, num, den] : {std::tuple(AllGather, 2, 3, 2),
                                       {AllGather, 3, 7, 6},
                                       {ReduceScatter, 2, 3, 2},
                                       {AllReduce, 4, 1, 3},
                                       {AllReduce, 5, 7, 24},
                                       {Broadcast, 3, 9, 22},
                                       {Reduce, 3, 9, 22}}) {
    Fabric fabric = fabricOf("dgx1");
    Result<StepProof> proof =
        proveRate(fabric.topology, fabric, collectiveOf(kind, 8, 1), steps, {});
    ASSERT_TRUE(bool(proof)) << proof.message();
    EXPECT_EQ(proof->least, Fraction(num, den)) << kindName(kind);
    StepProof more = *proof;
    more.least = Fraction(num * 1000 + 1, den * 1000);
    EXPECT_NE(verify(more), "");
    more = *proof;
    more.cuts.pop_back();
    EXPECT_NE(verify(more), "");
  }
}

// Random machines: a proof is found just where solve finds no schedule.
TEST(StepProof, AgreesWithSolve) {
  std::mt19937 random(7);
  auto draw = [&](int count) { return static_cast<int>(random() % count); };
  int proved = 0, searched = 0, found = 0;
  for (int i = 0; i < 60; ++i) {
    Topology t;
    int ranks = 3 + draw(3);
    for (int r = 0; r < ranks; ++r)
      t.addNode("gpu" + std::to_string(r), NodeKind::Gpu);
    for (int a = 0; a < ranks; ++a)
      for (int b = 0; b < ranks; ++b)
        if (b == (a + 1) % ranks || (a != b && draw(4) == 0))
          t.addLink(a, b, 10 * (1 + draw(2)), 1);
    if (draw(2))
      t.edgeSets.push_back({"set", {0, 1}, 10});
    Fabric fabric = *makeFabric(t, 10);
    auto kind = std::vector{
        CollectiveKind::AllGather, CollectiveKind::Broadcast,
        CollectiveKind::ReduceScatter, CollectiveKind::AllToAll}[draw(4)];
    int steps = 2 + draw(3), rounds = steps + draw(4);
    Collective c = collectiveOf(
        kind, ranks, kind == CollectiveKind::AllToAll ? ranks : 1 + draw(2));
    SolveOptions options;
    options.limits = Limits::seconds(10);
    Result<SolveResult> solved = solve(fabric, c, steps, rounds, options);
    ASSERT_TRUE(bool(solved)) << solved.message();
    if (solved->answer == Answer::Unknown)
      continue;
    Result<StepProof> proof = proveNone(t, fabric, c, steps, rounds, {});
    EXPECT_EQ(bool(proof), solved->answer == Answer::No)
        << proof.message() << " " << solved->certificate;
    if (!proof) {
      EXPECT_EQ(proof.message(), "the clauses of a proof allow a schedule");
      ++found;
      continue;
    }
    ++proved;
    int64_t lemmas = 0;
    EXPECT_EQ(verify(*proof, &lemmas), "");
    if (lemmas == 0)
      continue;
    ++searched;
    // Propagation alone does not refute it.
    StepProof damaged = *proof;
    for (RoundsSearch &search : damaged.searches)
      search.lemmas = "0\n";
    EXPECT_EQ(verify(damaged),
              "a search: lemma 1 does not follow by propagation");
    damaged = *proof;
    damaged.searches.pop_back();
    EXPECT_NE(verify(damaged).find("nothing excludes steps of"),
              std::string::npos);
  }
  EXPECT_GT(proved, 10);
  EXPECT_GT(searched, 1);
  EXPECT_GT(found, 10);
}

// Two GPUs that send each other a chunk over links that carry 8e14 units: what
// carries nearly everything proves nothing, whatever is multiplied with it.
TEST(StepProof, LargeNumbersDoNotOverflow) {
  auto verdictOf = [](const std::string &claim, const std::string &cut,
                      const std::string &unit) {
    Result<StepProof> proof = parseStepProof(
        R"({"ccn_certificate": 1, "in_steps": 1, )" + claim +
            R"(, "unit_GBps": )" + unit + R"(, "cuts": [{)" + cut +
            R"("holds_from": {"a": 0}}],
 "topology": {"ccn_topology": 1, "name": "pair",
  "nodes": [{"name": "a", "kind": "gpu"}, {"name": "b", "kind": "gpu"}],
  "links": [{"from": "a", "to": "b", "GBps": 900000, "us": 1},
            {"from": "b", "to": "a", "GBps": 900000, "us": 1}]},
 "collective": {"ccn_collective": 1, "name": "x", "ranks": 2,
  "combining": false, "chunks": [{"pre": [0], "post": [0, 1]},
                                 {"pre": [1], "post": [0, 1]}]}})",
        "text");
    return proof ? verify(*proof) : proof.message();
  };
  for (const char *unit : {"1.1e-09", "1.3e-09", "2e-09", "1"})
    for (const char *rounds : {"1048576", "900000", "30000", "1"})
      EXPECT_EQ(
          verdictOf(std::string("\"none_in_rounds\": ") + rounds, "", unit),
          std::string("nothing excludes steps of ") + rounds + " rounds")
          << unit;
  std::string most = std::to_string(int64_t(1) << 40);
  for (int bits = 0; bits <= 40; ++bits)
    EXPECT_NE(
        verdictOf("\"least_rounds\": [" + most + ", 1]",
                  "\"weight\": " + std::to_string(int64_t(1) << bits) + ", ",
                  "1.1e-09"),
        "")
        << bits;
  EXPECT_EQ(verdictOf("\"least_rounds\": [1, 900000]", "\"weight\": 1, ", "1"),
            "");
  EXPECT_EQ(verdictOf("\"least_rounds\": [1, 899999]", "\"weight\": 1, ", "1"),
            "the cuts do not prove 1/899999 rounds");
}

// Sums of capacities beyond all chunks are those of a machine that carries all.
TEST(StepProof, SumsOfCapacitiesEnd) {
  Topology t;
  for (int r = 0; r < 40; ++r)
    t.addNode("gpu" + std::to_string(r), NodeKind::Gpu);
  for (int a = 0; a < 40; ++a)
    for (int b = 0; b < 40; ++b)
      if (a != b)
        t.addLink(a, b, 1e6, 1);
  StepProof proof;
  proof.topology = t;
  proof.collective = collectiveOf(CollectiveKind::AllReduce, 40, 40);
  proof.unitGBps = 1.1e-9;
  proof.steps = 1;
  proof.cuts.emplace_back().countsSends = true;
  proof.cuts[0].weight = 1;
  proof.least = Fraction(1, int64_t(1) << 40);
  EXPECT_EQ(verify(proof), "expected a larger unit: too many fit into a round "
                           "to be counted");
  proof.rounds = 1 << 20;
  EXPECT_EQ(verify(proof), "nothing excludes steps of 1048576 rounds");
}

// A count of half of many sends would need a billion clauses.
TEST(StepProof, ClausesAreNotTooMany) {
  Topology t;
  t.addNode("a", NodeKind::Gpu);
  t.addNode("b", NodeKind::Gpu);
  t.addLink(0, 1, 10, 1);
  StepProof proof;
  proof.topology = t;
  proof.collective = collectiveOf(CollectiveKind::Broadcast, 2, 20000);
  proof.unitGBps = 10;
  proof.steps = 1;
  proof.rounds = 10000;
  Result<Cnf> cnf = clausesOf(proof, {10000});
  ASSERT_FALSE(bool(cnf));
  EXPECT_EQ(cnf.message(), "a search is proved of up to 4000000 clauses only");
}
