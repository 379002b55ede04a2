//===- RendezvousTest.cpp - Where rank threads meet -----------------------===//

#include "lib/Interpreter/Rendezvous.h"

#include "lib/Interpreter/Reduce.h"

#include "TestUtil.h"

#include <chrono>
#include <thread>

using namespace ccn;
using namespace ccn::interp;

namespace {

using enum ElementType;

/// Runs body(rank) in one thread each.
template <typename Body> void onRanks(int ranks, Body body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([=] { body(rank); });
  for (std::thread &thread : threads)
    thread.join();
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

RankGroup allOf(int ranks) {
  RankGroup group;
  for (int rank = 0; rank < ranks; ++rank)
    group.push_back(rank);
  return group;
}

TEST(RendezvousTest, ExchangesInGroupOrder) {
  Rendezvous rendezvous(4, 60);
  constexpr uint64_t operation = 1;
  onRanks(4, [&](int rank) {
    // Values of different shapes, in an order that is not the ranks'.
    RankGroup group = {2, 0, 3, 1};
    auto result = rendezvous.exchange(rank, group, {operation, 0, "gather"},
                                      iota(I32, {rank, 2}));
    ASSERT_TRUE(result.ok()) << result.message();
    ASSERT_EQ(result->size(), 4u);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ((*result)[i].size(0), group[i]);
  });
  EXPECT_TRUE(rendezvous.firstFailure().ok());
}

TEST(RendezvousTest, ManyRoundsOnTwoAxes) {
  // A mesh of 2 x 4: rows and columns interleave, each rank at its own pace.
  constexpr int rows = 2, columns = 4, rounds = 300;
  Rendezvous rendezvous(rows * columns, 60);
  constexpr uint64_t rowOp = 1, columnOp = 2;
  onRanks(rows * columns, [&](int rank) {
    int row = rank / columns, column = rank % columns;
    RankGroup rowGroup, columnGroup;
    for (int c = 0; c < columns; ++c)
      rowGroup.push_back(row * columns + c);
    for (int r = 0; r < rows; ++r)
      columnGroup.push_back(r * columns + column);
    for (int64_t round = 0; round < rounds; ++round) {
      HostTensor mine = ints(I64, {1}, {rank + round});
      auto across =
          rendezvous.exchange(rank, rowGroup, {rowOp, round, "row"}, mine);
      ASSERT_TRUE(across.ok()) << across.message();
      int64_t rowSum = get(combine(ReduceKind::Sum, *across)).integerAt(0);
      ASSERT_EQ(rowSum, columns * round + row * columns * columns + 6);
      if ((round + row) % 3 == 0)
        std::this_thread::yield();
      auto down = rendezvous.exchange(rank, columnGroup,
                                      {columnOp, round, "column"}, mine);
      ASSERT_TRUE(down.ok()) << down.message();
      ASSERT_EQ(get(combine(ReduceKind::Sum, *down)).integerAt(0),
                2 * (column + round) + columns);
    }
  });
}

TEST(RendezvousTest, Barrier) {
  Rendezvous rendezvous(3, 60);
  std::atomic<int> arrived{0};
  constexpr uint64_t operation = 1;
  onRanks(3, [&](int rank) {
    for (int64_t round = 1; round <= 100; ++round) {
      ++arrived;
      ASSERT_TRUE(
          rendezvous.barrier(rank, {0, 1, 2}, {operation, round, "barrier"})
              .ok());
      ASSERT_GE(arrived.load(), 3 * round);
    }
  });
}

TEST(RendezvousTest, GroupOfOne) {
  Rendezvous rendezvous(1, 0);
  constexpr uint64_t operation = 1;
  auto result =
      rendezvous.exchange(0, {0}, {operation, 0, "alone"}, iota(F32, {3}));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(same((*result)[0], iota(F32, {3})));
}

TEST(RendezvousTest, TimeLimitNamesTheMissing) {
  Rendezvous rendezvous(4, 0.2);
  constexpr uint64_t operation = 1;
  onRanks(2, [&](int rank) {
    auto result = rendezvous.exchange(rank, allOf(4),
                                      {operation, 0, "all_reduce at a.ccn:3:5"},
                                      HostTensor());
    expectError(result, "time limit of 0.2 s",
                "all_reduce at a.ccn:3:5 of ranks 0, 1, 2, 3",
                "ranks 2, 3 did not arrive");
  });
  // Who comes late gets the same failure at once.
  auto start = std::chrono::steady_clock::now();
  expectError(
      rendezvous.exchange(2, allOf(4), {operation, 0, "x"}, HostTensor()),
      "ranks 2, 3");
  EXPECT_LT(secondsSince(start), 0.15);
  expectError(rendezvous.firstFailure(), "ranks 2, 3");
}

TEST(RendezvousTest, TimeLimitSaysWhereTheMissingWait) {
  Rendezvous rendezvous(3, 0.3);
  constexpr uint64_t a = 1, b = 2;
  onRanks(3, [&](int rank) {
    // 0 waits for 1, 1 for 2, 2 for 0.
    RankGroup group = {rank, (rank + 1) % 3};
    auto result = rendezvous.exchange(
        rank, group, {rank ? a : b, 0, "op" + std::to_string(rank)},
        HostTensor());
    expectError(result, "time limit", "did not arrive; rank",
                "is waiting in op");
  });
}

TEST(RendezvousTest, DifferentOperations) {
  Rendezvous rendezvous(3, 60);
  constexpr uint64_t a = 1, b = 2;
  auto start = std::chrono::steady_clock::now();
  onRanks(3, [&](int rank) {
    Meeting meeting = rank == 2 ? Meeting{b, 0, "all_gather y"}
                                : Meeting{a, 0, "all_reduce x"};
    auto result = rendezvous.exchange(rank, allOf(3), meeting, HostTensor());
    expectError(result, "different operations", "all_reduce x", "all_gather y",
                "rank 2");
  });
  EXPECT_LT(secondsSince(start), 10);
}

TEST(RendezvousTest, DifferentSequence) {
  Rendezvous rendezvous(2, 60);
  constexpr uint64_t a = 1;
  onRanks(2, [&](int rank) {
    auto result = rendezvous.exchange(rank, allOf(2), {a, 5 + rank, "send z"},
                                      HostTensor());
    expectError(result, "different operations", "send z", "number 5",
                "number 6");
  });
}

TEST(RendezvousTest, AbortWakesEveryone) {
  Rendezvous rendezvous(4, 60);
  constexpr uint64_t a = 1;
  auto start = std::chrono::steady_clock::now();
  onRanks(4, [&](int rank) {
    if (rank == 3) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      rendezvous.abort(3, error("division by zero"));
      rendezvous.abort(2, error("too late"));
      return;
    }
    RankGroup group = rank == 0 ? RankGroup{0, 3} : RankGroup{1, 2, 3};
    auto result = rendezvous.exchange(rank, group, {a, 0, "op"}, HostTensor());
    expectError(result, "rank 3 failed: division by zero");
  });
  EXPECT_LT(secondsSince(start), 10);
  expectError(rendezvous.firstFailure(), "rank 3 failed");
}

TEST(RendezvousTest, WrongGroups) {
  constexpr uint64_t a = 1;
  for (const RankGroup &group : {RankGroup{1, 2}, RankGroup{}, RankGroup{0, 3},
                                 RankGroup{0, -1}, RankGroup{0, 1, 1}}) {
    Rendezvous rendezvous(3, 60);
    expectError(rendezvous.exchange(0, group, {a, 0, "op"}, HostTensor()),
                "rank 0 of 3 cannot take part in op");
  }
}

TEST(RendezvousTest, TheSameRankTwice) {
  Rendezvous rendezvous(2, 60);
  constexpr uint64_t a = 1;
  std::thread first([&] {
    auto result = rendezvous.exchange(0, {0, 1}, {a, 0, "op"}, HostTensor());
    expectError(result, "twice");
  });
  // Until the first has posted, this one posts first; either way it fails.
  auto result = rendezvous.exchange(0, {0, 1}, {a, 0, "op"}, HostTensor());
  expectError(result, "rank 0 takes part twice in op");
  first.join();
}

TEST(RendezvousTest, StorageIsSharedBetweenThreads) {
  // Readers and writers of tensors passed around, for the thread sanitizer.
  Rendezvous rendezvous(4, 60);
  constexpr uint64_t a = 1;
  onRanks(4, [&](int rank) {
    HostTensor mine = get(HostTensor::splat(F32, {1000}, rank));
    for (int64_t round = 0; round < 50; ++round) {
      auto all = rendezvous.exchange(rank, allOf(4), {a, round, "sum"},
                                     std::move(mine));
      ASSERT_TRUE(all.ok());
      mine = get(combine(ReduceKind::Mean, *all));
      ASSERT_EQ(mine.doubleAt(999), 1.5);
    }
  });
}

} // namespace
