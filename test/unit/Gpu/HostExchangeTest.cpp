//===- HostExchangeTest.cpp - What ranks tell each other ------------------===//
//
// With threads as ranks.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/HostExchange.h"
#include "runtime/team/SymmetricHeap.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int64_t recordBytes = 100;

/// Calls body(rank) on a thread for each rank; each leaves when it is done.
void onRanks(Transport &transport, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < transport.ranks(); ++rank)
    threads.emplace_back([&, rank] {
      body(rank);
      transport.leave(rank);
    });
  for (std::thread &thread : threads)
    thread.join();
}

std::unique_ptr<SymmetricHeap> makeHeap(int ranks) {
  auto heap =
      SymmetricHeap::create(ranks, HostExchange::bytes(ranks, recordBytes));
  EXPECT_TRUE(heap.ok());
  return *std::move(heap);
}

} // namespace

TEST(HostExchange, AllHaveTheRecordsOfAll) {
  for (int ranks : {1, 2, 5}) {
    auto heap = makeHeap(ranks);
    onRanks(*heap, [&](int rank) {
      auto exchange =
          HostExchange::create(*heap, rank, 10, recordBytes, "set-up of GPUs");
      ASSERT_TRUE(exchange.ok());
      // Ranks are fast and slow in turn, so that one that is early could
      // overwrite what another has not read.
      for (int call = 0; call < 200; ++call) {
        auto all = (*exchange)->gather(1000 * call + rank);
        ASSERT_TRUE(all.ok()) << all.message();
        for (int other = 0; other < ranks; ++other)
          ASSERT_EQ((*all)[size_t(other)], 1000 * call + other);
        if (call % ranks == rank)
          std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      std::vector<int> own = {rank, -rank};
      auto all = (*exchange)->gatherAll(std::span<const int>(own));
      ASSERT_TRUE(all.ok());
      for (int other = 0; other < ranks; ++other) {
        EXPECT_EQ((*all)[size_t(2 * other)], other);
        EXPECT_EQ((*all)[size_t(2 * other + 1)], -other);
      }
      static std::atomic<int> over;
      over = 0;
      ASSERT_TRUE((*exchange)->barrier("the end").ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(rank));
      ++over;
      EXPECT_TRUE((*exchange)->meetAtEnd(EndStage::RunsAreOver, 1));
      EXPECT_EQ(over, ranks);
      EXPECT_TRUE((*exchange)->meetAtEnd(EndStage::RunsAreOver, 1));
      EXPECT_TRUE((*exchange)->meetAtEnd(EndStage::PeersAreClosed, 1));
    });
    EXPECT_FALSE(heap->failed());
  }
}

TEST(HostExchange, RecordsHaveALargestSize) {
  auto heap = makeHeap(1);
  auto exchange = HostExchange::create(*heap, 0, 10, recordBytes, "set-up");
  ASSERT_TRUE(exchange.ok());
  std::vector<char> record(129);
  EXPECT_EQ((*exchange)->gatherAll(std::span<const char>(record)).message(),
            "rank 0: a record of 129 bytes does not fit 128");
}

TEST(HostExchange, WhoNeverComesIsNamed) {
  auto heap = makeHeap(2);
  onRanks(*heap, [&](int rank) {
    if (rank == 1)
      return;
    auto exchange =
        HostExchange::create(*heap, rank, 10, recordBytes, "set-up of GPUs");
    ASSERT_TRUE(exchange.ok());
    std::string why = (*exchange)->barrier("set-up of GPUs").message();
    EXPECT_NE(why.find("rank 1 has ended"), why.npos) << why;
    // Who is gone is not waited for at the end.
    EXPECT_TRUE((*exchange)->meetAtEnd(EndStage::RunsAreOver, 0.1));
  });
}

TEST(HostExchange, AfterAFailureTheEndIsNear) {
  auto heap = makeHeap(2);
  std::atomic<bool> isOver{false};
  onRanks(*heap, [&](int rank) {
    auto exchange =
        HostExchange::create(*heap, rank, 60, recordBytes, "set-up");
    ASSERT_TRUE(exchange.ok());
    ASSERT_TRUE((*exchange)->barrier("set-up of GPUs").ok());
    if (rank == 1) {
      while (!isOver)
        std::this_thread::yield();
      return;
    }
    (void)heap->fail(0, "because");
    EXPECT_FALSE((*exchange)->meetAtEnd(EndStage::RunsAreOver, 0.05));
    isOver = true;
  });
}
