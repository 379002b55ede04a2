//===- RendezvousTest.cpp - Where ranks meet ------------------------------===//

#include "lib/Interpreter/RankThreads.h"
#include "lib/Interpreter/Reduce.h"

#include "TestUtil.h"

#include <atomic>
#include <thread>

using namespace ccn;
using namespace ccn::interp;

namespace {

using enum ElementType;

Meeting meetingOf(uint64_t id, int64_t sequence, std::string name) {
  return {id, sequence, [name = std::move(name)] { return name; }};
}

RankGroup allOf(int ranks) {
  RankGroup group;
  for (int rank = 0; rank < ranks; ++rank)
    group.push_back(rank);
  return group;
}

/// A rank that meets others in one meeting after the other.
class Walker {
public:
  struct Stop {
    RankGroup group;
    Meeting meeting;
    HostTensor value;
  };

  Walker(Rendezvous &meetings, int rank) : meetings(meetings), rank(rank) {}

  /// Goes on for as long as `next` gives a stop. `take` gets what was shown
  /// there.
  template <typename Next, typename Take> Pause run(Next next, Take take) {
    while (std::optional<Stop> stop = next(round)) {
      Result<Shown> shown =
          meetings.exchange(rank, stop->group, stop->meeting, stop->value);
      if (!shown && meetings.isWaiting(rank)) {
        ++waits;
        return Pause::Waits;
      }
      if (!shown) {
        failure = shown.status();
        return Pause::Done;
      }
      take(round, (*shown)->values);
      ++round;
    }
    return Pause::Done;
  }

  Rendezvous &meetings;
  int rank;
  int64_t round = 0, waits = 0;
  Status failure;
};

std::vector<Walker> walkersOf(Rendezvous &meetings, int ranks) {
  std::vector<Walker> walkers;
  for (int rank = 0; rank < ranks; ++rank)
    walkers.emplace_back(meetings, rank);
  return walkers;
}

/// Runs ranks that meet once each, on `threads` threads, and returns them.
std::vector<Walker>
meetOnce(Rendezvous &meetings, int ranks, unsigned threads,
         const std::function<std::optional<Walker::Stop>(int)> &stopOf) {
  std::vector<Walker> walkers = walkersOf(meetings, ranks);
  runRanks(ranks, threads, meetings, [&](int rank) {
    return walkers[static_cast<size_t>(rank)].run(
        [&](int64_t round) { return round ? std::nullopt : stopOf(rank); },
        [](int64_t, const std::vector<HostTensor> &) {});
  });
  return walkers;
}

class RanksOnThreads : public testing::TestWithParam<unsigned> {};

TEST_P(RanksOnThreads, ExchangeInGroupOrder) {
  Rendezvous meetings(4);
  std::vector<Walker> walkers = walkersOf(meetings, 4);
  // Values of different shapes, in an order that is not the ranks'.
  RankGroup group = {2, 0, 3, 1};
  std::atomic<int> shown{0};
  runRanks(4, GetParam(), meetings, [&](int rank) {
    return walkers[static_cast<size_t>(rank)].run(
        [&](int64_t round) -> std::optional<Walker::Stop> {
          if (round == 1)
            return std::nullopt;
          return Walker::Stop{group, meetingOf(1, 0, "gather"),
                              iota(I32, {rank, 2})};
        },
        [&](int64_t, const std::vector<HostTensor> &values) {
          ASSERT_EQ(values.size(), 4u);
          for (size_t i = 0; i < 4; ++i)
            EXPECT_EQ(values[i].size(0), group[i]);
          ++shown;
        });
  });
  EXPECT_EQ(shown, 4);
  EXPECT_TRUE(meetings.firstFailure().ok());
}

TEST_P(RanksOnThreads, ManyRoundsOnTwoAxes) {
  // A mesh of 2 x 4: rows and columns interleave, each rank at its own pace.
  constexpr int rows = 2, columns = 4;
  constexpr int64_t rounds = 300;
  Rendezvous meetings(rows * columns);
  std::vector<Walker> walkers = walkersOf(meetings, rows * columns);
  runRanks(rows * columns, GetParam(), meetings, [&](int rank) {
    int row = rank / columns, column = rank % columns;
    RankGroup rowGroup, columnGroup;
    for (int c = 0; c < columns; ++c)
      rowGroup.push_back(row * columns + c);
    for (int r = 0; r < rows; ++r)
      columnGroup.push_back(r * columns + column);
    return walkers[static_cast<size_t>(rank)].run(
        [&](int64_t step) -> std::optional<Walker::Stop> {
          if (step == 2 * rounds)
            return std::nullopt;
          int64_t round = step / 2;
          if ((round + row) % 3 == 0)
            std::this_thread::yield();
          HostTensor mine = ints(I64, {1}, {rank + round});
          return step % 2 == 0
                     ? Walker::Stop{rowGroup, meetingOf(1, round, "row"), mine}
                     : Walker::Stop{columnGroup, meetingOf(2, round, "column"),
                                    mine};
        },
        [&](int64_t step, const std::vector<HostTensor> &values) {
          int64_t round = step / 2;
          int64_t sum = get(combine(ReduceKind::Sum, values)).integerAt(0);
          if (step % 2 == 0)
            ASSERT_EQ(sum, columns * round + row * columns * columns + 6);
          else
            ASSERT_EQ(sum, 2 * (column + round) + columns);
        });
  });
  for (const Walker &walker : walkers) {
    EXPECT_TRUE(walker.failure.ok()) << walker.failure.message();
    EXPECT_EQ(walker.round, 2 * rounds);
    // It is called again when others have come, not to ask whether they have.
    EXPECT_LE(walker.waits, 2 * rounds);
  }
}

TEST_P(RanksOnThreads, AreMoreThanThreads) {
  constexpr int ranks = 5000;
  Rendezvous meetings(ranks);
  RankGroup group = allOf(ranks);
  std::vector<Walker> walkers = meetOnce(meetings, ranks, GetParam(), [&](int) {
    return Walker::Stop{group, meetingOf(1, 0, "op"), HostTensor()};
  });
  for (const Walker &walker : walkers)
    ASSERT_EQ(walker.round, 1);
}

TEST_P(RanksOnThreads, FailIfOthersHaveFinished) {
  Rendezvous meetings(4);
  auto walkers = meetOnce(
      meetings, 4, GetParam(), [&](int rank) -> std::optional<Walker::Stop> {
        if (rank > 1)
          return std::nullopt;
        return Walker::Stop{
            allOf(4), meetingOf(1, 0, "all_reduce at a.ccn:3:5"), HostTensor()};
      });
  for (int rank : {0, 1})
    expectError(walkers[static_cast<size_t>(rank)].failure,
                "all_reduce at a.ccn:3:5 of ranks 0, 1, 2, 3 would wait "
                "forever: ranks 2, 3 did not arrive");
  // Who comes late gets the same failure.
  expectError(
      meetings.exchange(2, allOf(4), meetingOf(1, 0, "x"), HostTensor()),
      "ranks 2, 3");
  expectError(meetings.firstFailure(), "ranks 2, 3");
}

TEST_P(RanksOnThreads, FailIfTheyWaitInACircle) {
  Rendezvous meetings(3);
  // 0 waits for 1, 1 for 2, 2 for 0.
  auto walkers = meetOnce(meetings, 3, GetParam(), [&](int rank) {
    return Walker::Stop{{rank, (rank + 1) % 3},
                        meetingOf(rank ? 1 : 2, 0, "op" + std::to_string(rank)),
                        HostTensor()};
  });
  for (const Walker &walker : walkers)
    expectError(walker.failure, "would wait forever", "did not arrive; rank",
                "is waiting in op");
}

TEST_P(RanksOnThreads, FailInDifferentOperations) {
  Rendezvous meetings(3);
  auto walkers = meetOnce(meetings, 3, GetParam(), [&](int rank) {
    return Walker::Stop{allOf(3),
                        rank == 2 ? meetingOf(2, 0, "all_gather y")
                                  : meetingOf(1, 0, "all_reduce x"),
                        HostTensor()};
  });
  for (const Walker &walker : walkers)
    expectError(walker.failure, "different operations", "all_reduce x",
                "all_gather y", "rank 2");
}

TEST_P(RanksOnThreads, FailInDifferentExecutions) {
  Rendezvous meetings(2);
  auto walkers = meetOnce(meetings, 2, GetParam(), [&](int rank) {
    return Walker::Stop{allOf(2), meetingOf(1, 5 + rank, "send z"),
                        HostTensor()};
  });
  for (const Walker &walker : walkers)
    expectError(walker.failure, "different operations", "send z", "number 5",
                "number 6");
}

TEST_P(RanksOnThreads, AreWokenWhereOneFails) {
  Rendezvous meetings(4);
  auto walkers = meetOnce(
      meetings, 4, GetParam(), [&](int rank) -> std::optional<Walker::Stop> {
        if (rank == 3) {
          meetings.abort(3, error("division by zero"));
          meetings.abort(2, error("too late"));
          return std::nullopt;
        }
        return Walker::Stop{rank == 0 ? RankGroup{0, 3} : RankGroup{1, 2, 3},
                            meetingOf(1, 0, "op"), HostTensor()};
      });
  for (int rank : {0, 1, 2})
    expectError(walkers[static_cast<size_t>(rank)].failure,
                "rank 3 failed: division by zero");
  expectError(meetings.firstFailure(), "rank 3 failed");
}

TEST_P(RanksOnThreads, ShareStorage) {
  // Readers and writers of tensors passed around, for the thread sanitizer.
  Rendezvous meetings(4);
  std::vector<Walker> walkers = walkersOf(meetings, 4);
  std::vector<HostTensor> mine;
  for (int rank = 0; rank < 4; ++rank)
    mine.push_back(get(HostTensor::splat(F32, {1000}, rank)));
  runRanks(4, GetParam(), meetings, [&](int rank) {
    HostTensor &own = mine[static_cast<size_t>(rank)];
    return walkers[static_cast<size_t>(rank)].run(
        [&](int64_t round) -> std::optional<Walker::Stop> {
          if (round == 50)
            return std::nullopt;
          return Walker::Stop{allOf(4), meetingOf(1, round, "sum"), own};
        },
        [&](int64_t, const std::vector<HostTensor> &all) {
          own = get(combine(ReduceKind::Mean, all));
          ASSERT_EQ(own.doubleAt(999), 1.5);
        });
  });
}

INSTANTIATE_TEST_SUITE_P(All, RanksOnThreads, testing::Values(1u, 2u, 8u),
                         [](const auto &info) {
                           return std::to_string(info.param) + "_threads";
                         });

TEST(RendezvousTest, GroupOfOne) {
  Rendezvous meetings(1);
  auto result =
      meetings.exchange(0, {0}, meetingOf(1, 0, "alone"), iota(F32, {3}));
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(meetings.isWaiting(0));
  EXPECT_TRUE(same((*result)->values[0], iota(F32, {3})));
}

TEST(RendezvousTest, WhoAsksAgainStillWaits) {
  Rendezvous meetings(2);
  Meeting meeting = meetingOf(1, 0, "op");
  for (int time = 0; time < 2; ++time) {
    EXPECT_FALSE(meetings.exchange(0, {0, 1}, meeting, iota(F32, {3})));
    EXPECT_TRUE(meetings.isWaiting(0));
    EXPECT_TRUE(meetings.takeReady().empty());
  }
  EXPECT_TRUE(meetings.exchange(1, {0, 1}, meeting, iota(F32, {3})));
  EXPECT_EQ(meetings.takeReady(), std::vector<int>{0});
  EXPECT_TRUE(meetings.exchange(0, {0, 1}, meeting, iota(F32, {3})));
  EXPECT_FALSE(meetings.isWaiting(0));
}

TEST(RendezvousTest, WrongGroups) {
  for (const RankGroup &group : {RankGroup{1, 2}, RankGroup{}, RankGroup{0, 3},
                                 RankGroup{0, -1}, RankGroup{0, 1, 1}}) {
    Rendezvous meetings(3);
    expectError(
        meetings.exchange(0, group, meetingOf(1, 0, "op"), HostTensor()),
        "rank 0 of 3 cannot take part in op");
    EXPECT_FALSE(meetings.isWaiting(0));
  }
}

} // namespace
