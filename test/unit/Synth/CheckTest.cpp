//===- CheckTest.cpp - The checker accepts right and refuses wrong --------===//
//
// Hand-made schedules, each kind of mistake in one, and a comparison with a
// brute-force token simulation on random mutations.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "synth/Solve.h"

#include <map>
#include <random>

using namespace ccn;
using namespace ccn::synth;

TEST(Check, RingAllGatherIsRight) {
  Schedule s = ringAllGather(5);
  Fabric f = fabricOf("ring(5)");
  EXPECT_EQ(check(s, &f), "");
}

TEST(Check, NamesWhatIsWrong) {
  Schedule s = ringAllGather(4);
  Schedule dropped = s;
  dropped.steps[2].sends.erase(dropped.steps[2].sends.begin());
  EXPECT_EQ(check(dropped), "at the end: rank 1 does not have chunk 2");
  Schedule early = s;
  std::swap(early.steps[0], early.steps[1]);
  EXPECT_EQ(check(early), "step 1: chunk 3 from rank 0 to rank 1: the sender "
                          "does not have it yet");
  Schedule twice = s;
  twice.steps[1].sends.push_back(twice.steps[0].sends[0]);
  EXPECT_EQ(check(twice), "step 2: chunk 0 from rank 0 to rank 1: the receiver "
                          "has it already");
  Fabric line = fabricOf("line(4)");
  EXPECT_EQ(check(s, &line), "step 1: chunk 3 from rank 3 to rank 0: the "
                             "topology has no link for it");
}

TEST(Check, CountsCapacity) {
  Schedule s;
  s.collective = collectiveOf("broadcast", 2, 3);
  s.hosts = 2;
  s.steps = {{2, {}}};
  for (int c = 0; c < 3; ++c)
    s.steps[0].sends.push_back({c, 0, 1, SendOp::Copy, -1, {}});
  Fabric f = fabricOf("ring(2)");
  EXPECT_EQ(check(s, &f), "step 1: expected at most 2 chunks over gpu0->gpu1 "
                          "in 2 rounds, found 3");
  s.steps[0].rounds = 3;
  EXPECT_EQ(check(s, &f), "");
}

TEST(Check, RefusesAddingTwice) {
  Schedule s;
  s.collective = collectiveOf("all_reduce", 2, 1);
  s.hosts = 2;
  s.steps = {
      {1,
       {{0, 0, 1, SendOp::Reduce, -1, {}}, {0, 1, 0, SendOp::Reduce, -1, {}}}}};
  EXPECT_EQ(check(s), "");
  s.steps.push_back({1, {{0, 0, 1, SendOp::Reduce, -1, {}}}});
  EXPECT_EQ(check(s), "step 2: chunk 0 from rank 0 to rank 1: the contribution "
                      "of rank 0 would be added twice");
}

TEST(Check, StashedSumsMustFitTogether) {
  // Three ranks on a line: the ends' contributions cross the middle.
  Schedule s;
  s.collective = collectiveOf("all_reduce", 3, 1);
  s.hosts = 3;
  s.steps = {
      {1,
       {{0, 0, 1, SendOp::Stash, -1, {0}}, {0, 2, 1, SendOp::Stash, -1, {2}}}},
      {1,
       {{0, 1, 0, SendOp::Stash, -1, {1, 2}},
        {0, 1, 2, SendOp::Stash, -1, {0, 1}}}}};
  EXPECT_EQ(check(s), "");
  s.steps[1].sends[0].sums = {0, 1};
  EXPECT_EQ(check(s), "at the end: rank 0 does not have the sum of chunk 0, "
                      "the contributions of {2} are missing");
  s.steps[0].sends[0].sums = {0, 1};
  EXPECT_EQ(check(s), "step 1: chunk 0 from rank 0 to rank 1: the sender "
                      "cannot form the sum of {0,1} from what it has");
}

/// Counts every contribution as a token at each rank; knows only running sums.
static bool tokensRight(const Schedule &s) {
  int ranks = s.collective.ranks, chunks = s.collective.chunks.size();
  using Bag = std::map<int, int>;
  std::vector<Bag> at(chunks * ranks);
  for (int c = 0; c < chunks; ++c)
    for (int r : s.collective.chunks[c].pre)
      at[c * ranks + r][s.collective.combining ? r : 0] = 1;
  for (const Step &step : s.steps) {
    std::vector<Bag> before = at;
    std::map<int, int> writes;
    std::map<int, bool> copied;
    for (const Send &send : step.sends) {
      const Bag &bag = before[send.chunk * ranks + send.src];
      int to = send.chunk * ranks + send.dst;
      if (bag.empty())
        return false;
      ++writes[to];
      if (send.op == SendOp::Reduce) {
        for (auto [k, n] : bag)
          at[to][k] += n;
      } else {
        copied[to] = true;
        // Nothing may be lost, nor come again.
        for (auto [k, n] : at[to])
          if (!bag.count(k))
            return false;
        if (at[to] == bag)
          return false;
        at[to] = bag;
      }
      for (auto [k, n] : at[to])
        if (n > 1)
          return false;
    }
    for (auto [to, n] : writes)
      if (n > 1 && copied[to])
        return false;
  }
  for (int c = 0; c < chunks; ++c)
    for (int r : s.collective.chunks[c].post) {
      size_t want =
          s.collective.combining ? s.collective.chunks[c].pre.size() : 1;
      if (at[c * ranks + r].size() != want)
        return false;
    }
  return true;
}

TEST(Check, AgreesWithTokensOnMutations) {
  std::mt19937 random(7);
  int wrong = 0;
  for (auto [spec, name, c, st, r] :
       {std::tuple("dgx1", "all_gather", 2, 2, 3),
        std::tuple("dgx1", "reduce_scatter", 2, 2, 3),
        std::tuple("z52", "all_reduce", 8, 7, 7),
        std::tuple("dgx1", "all_to_all", 8, 2, 3),
        std::tuple("ring(5)", "all_reduce", 5, 4, 4)}) {
    Fabric f = fabricOf(spec);
    Result<SolveResult> solved =
        solve(f, collectiveOf(name, f.ranks, c), st, r, {});
    ASSERT_TRUE(bool(solved));
    ASSERT_EQ(solved->answer, Answer::Yes) << name;
    EXPECT_TRUE(tokensRight(solved->schedule));
    for (int i = 0; i < 200; ++i) {
      Schedule s = solved->schedule;
      auto &sends = s.steps[random() % s.steps.size()].sends;
      if (sends.empty())
        continue;
      size_t at = random() % sends.size();
      switch (random() % 4) {
      case 0:
        sends.erase(sends.begin() + at);
        break;
      case 1:
        s.steps[random() % s.steps.size()].sends.push_back(sends[at]);
        break;
      case 2:
        sends[at].dst = random() % f.ranks;
        break;
      case 3: {
        Send moved = sends[at];
        sends.erase(sends.begin() + at);
        s.steps[random() % s.steps.size()].sends.push_back(moved);
        break;
      }
      }
      bool self = false;
      for (const Step &step : s.steps)
        for (const Send &send : step.sends)
          self |= send.src == send.dst;
      bool right = !self && tokensRight(s);
      EXPECT_EQ(check(s) == "", right) << name << ": " << check(s);
      wrong += !right;
    }
  }
  EXPECT_GT(wrong, 500);
}

TEST(Schedule, JsonRoundTrips) {
  for (const char *spec : {"dgx1", "dgx-a100"}) {
    Fabric f = fabricOf(spec);
    Result<SolveResult> solved =
        solve(f, collectiveOf("reduce_scatter", 8, 1), 2, 8, {});
    ASSERT_TRUE(bool(solved));
    ASSERT_EQ(solved->answer, Answer::Yes);
    std::string text = writeSchedule(solved->schedule, &f);
    Result<Schedule> again = parseSchedule(text, "s.json", &f);
    ASSERT_TRUE(bool(again)) << again.message();
    EXPECT_EQ(check(*again, &f), "");
    EXPECT_EQ(writeSchedule(*again, &f), text);
  }
}

TEST(Schedule, InvertingTwiceGivesTheSame) {
  Schedule s = ringAllGather(4);
  Result<Schedule> back = invert(s);
  ASSERT_TRUE(bool(back));
  EXPECT_EQ(back->collective.name, "reduce_scatter");
  EXPECT_EQ(check(*back), "");
  Result<Schedule> again = invert(*back);
  ASSERT_TRUE(bool(again));
  EXPECT_EQ(writeSchedule(*again), writeSchedule(s));
}

TEST(Collective, CustomFilesRoundTripAndLocateErrors) {
  std::string text = R"({"ccn_collective": 1, "name": "shift", "ranks": 3,
    "chunks": [{"pre": [0], "post": [1]}, {"pre": [1], "post": [2]}]})";
  Result<Collective> c = parseCollective(text, "c.json");
  ASSERT_TRUE(bool(c)) << c.message();
  Result<Collective> again = parseCollective(writeCollective(*c), "c.json");
  ASSERT_TRUE(bool(again)) << again.message();
  EXPECT_EQ(writeCollective(*again), writeCollective(*c));
  Result<Collective> bad = parseCollective(
      R"({"ccn_collective": 1, "name": "x", "ranks": 3,
          "chunks": [{"pre": [3], "post": []}]})",
      "c.json");
  ASSERT_FALSE(bool(bad));
  EXPECT_EQ(bad.message(), "c.json: /chunks/0/pre/0: expected an integer "
                           "from 0 to 2, found 3");
}
