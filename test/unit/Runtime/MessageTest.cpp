//===- MessageTest.cpp - Ranks that send messages, and lose them ----------===//
//
// What the message transport promises beyond what collectives need: the order
// of stores, answers of ranks that have left, room in queues, and that who
// dies, differs or talks nonsense ends all others with its name.
//
//===----------------------------------------------------------------------===//

#include "TeamUtil.h"
#include "runtime/team/Protocols.h"
#include "runtime/team/RunIdentity.h"

#include <ctime>
#include <numeric>

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int64_t bytes = 1 << 20;

std::shared_ptr<FakeWires> makeWires(int ranks, uint64_t seed = 1) {
  return std::make_shared<FakeWires>(ranks, seed);
}

/// Notices soon who is silent.
MessageOptions impatient() {
  MessageOptions options;
  options.beat = 0.1;
  options.silence = 1;
  return options;
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

template <typename Done> void sleepUntil(Done done) {
  auto start = std::chrono::steady_clock::now();
  while (!done() && secondsSince(start) < 20)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(done());
}

/// Waits for the flag at 0 to become 1.
Status awaitFlag(RankMemory &memory, int other) {
  return memory.awaitFlag(0, other, {"test", "flag", 1},
                          [](uint32_t seen) { return seen == 1; });
}

} // namespace

TEST(Messages, NoOtherBlockHasAnAddress) {
  expectMessageTeam(3, bytes, [](RankMemory &memory) {
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(memory.isAddressable(rank), rank == memory.rank());
    return Status();
  });
}

TEST(Messages, AFlagComesAfterWhatWasStoredBefore) {
  // Pieces, full queues and random delays; all streams of rank 0 at once, each
  // with its own place and flag.
  constexpr int streams = 3, rounds = 40;
  constexpr int64_t words = 1000, area = words * 8;
  MessageTeam team(makeWires(2), bytes, smallMessages());
  auto place = [](int stream) { return 4096 + stream * area; };
  auto wait = [](RankMemory &memory, int stream, int other, int round) {
    return memory.awaitFlag(stream * 64, other, {"test", "flag", 1},
                            [round](uint32_t seen) {
                              return seen == static_cast<uint32_t>(round);
                            });
  };
  std::vector<std::thread> threads;
  for (int stream = 0; stream < streams; ++stream)
    for (int rank = 0; rank < 2; ++rank)
      threads.emplace_back([&, stream, rank] {
        RankMemory memory(*team.transports[static_cast<size_t>(rank)], rank,
                          60);
        std::vector<uint64_t> data(words);
        for (int round = 1; round <= rounds; ++round) {
          auto value = static_cast<uint64_t>(1000 * round + stream);
          if (rank == 0) {
            std::fill(data.begin(), data.end(), value);
            memory.put(1, place(stream), data.data(), area - 8);
            memory.putWord(1, place(stream) + area - 8, value);
            memory.storeRelease(1, stream * 64, static_cast<uint32_t>(round));
            EXPECT_TRUE(wait(memory, stream, 1, round).ok());
            continue;
          }
          EXPECT_TRUE(wait(memory, stream, 0, round).ok());
          std::memcpy(data.data(), memory.at(1, place(stream)), area);
          EXPECT_EQ(std::count(data.begin(), data.end(), value), words);
          memory.storeRelease(0, stream * 64, static_cast<uint32_t>(round));
        }
      });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Messages, AViewComesAfterWhatWasPutThere) {
  expectMessageTeam(
      2, bytes,
      [](RankMemory &memory) {
        if (memory.rank() == 1)
          return Status();
        // Rank 1 has left long before the last is read: it answers all the
        // same.
        std::vector<uint64_t> data(20000);
        std::vector<std::byte> scratch;
        for (uint64_t round = 0; round < 20; ++round) {
          std::iota(data.begin(), data.end(), round);
          auto size = static_cast<int64_t>(8 * data.size());
          memory.put(1, 64, data.data(), size);
          const std::byte *found = memory.view(1, 64, size, scratch);
          EXPECT_EQ(std::memcmp(found, data.data(), static_cast<size_t>(size)),
                    0);
        }
        return memory.failure();
      },
      nullptr, 1, smallMessages());
}

TEST(Messages, EveryoneFloodsEveryone) {
  // Far more than queues and wires hold, in all directions at once, while
  // nobody waits for anything.
  expectMessageTeam(
      4, bytes,
      [](RankMemory &memory) {
        std::vector<std::byte> data(100000);
        for (int round = 0; round < 10; ++round)
          for (int rank = 0; rank < 4; ++rank)
            if (rank != memory.rank()) {
              int64_t place = (1 + memory.rank()) * 128 * 1024;
              memory.put(rank, place, data.data(), 100000);
              memory.putWord(rank, place + 100000, 1);
            }
        return memory.failure();
      },
      nullptr, 1, smallMessages());
}

TEST(Messages, ASilentRankIsNamed) {
  auto wires = makeWires(3);
  MessageTeam team(wires, bytes, impatient());
  auto start = std::chrono::steady_clock::now();
  std::vector<Status> statuses =
      runTeam(team.transports, [&](RankMemory &memory) {
        if (memory.rank() == 2) {
          wires->cut(2);
          return Status();
        }
        // Neither waits for it.
        return awaitFlag(memory, 1 - memory.rank());
      });
  for (size_t rank : {0, 1})
    EXPECT_NE(statuses[rank].message().find(
                  "rank 2 has ended: nothing was heard of it for 1 s"),
              std::string::npos)
        << statuses[rank].message();
  std::vector<char> clean = team.close();
  EXPECT_FALSE(clean[0] || clean[1]);
  EXPECT_LT(secondsSince(start), 10);
}

TEST(Messages, ARankThatComputesIsNotLost) {
  MessageTeam team(makeWires(2), bytes, impatient());
  for (const Status &status : runTeam(team.transports, [](RankMemory &memory) {
         if (memory.rank() == 1)
           return awaitFlag(memory, 0);
         auto start = std::chrono::steady_clock::now();
         while (secondsSince(start) < 2.5)
           ;
         memory.storeRelease(1, 0, 1);
         return Status();
       }))
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Messages, RanksEndWhileTheyBeat) {
  // Who has heard all others' farewells may be gone: nothing follows them.
  MessageOptions options;
  options.beat = 1e-9;
  for (int round = 0; round < 100; ++round) {
    MessageTeam team(
        std::make_shared<FakeWires>(3, static_cast<uint64_t>(round)), 1 << 12,
        options);
    // About when the next beat is due.
    std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
    for (char clean : team.close())
      EXPECT_TRUE(clean);
  }
}

TEST(Messages, AnEndedProcessIsNamed) {
  std::atomic<bool> ended = false;
  MessageOptions options = impatient();
  options.hasEnded = [&](int rank) { return rank == 1 && ended; };
  auto wires = makeWires(2);
  MessageTeam team(wires, bytes, options);
  auto start = std::chrono::steady_clock::now();
  std::vector<Status> statuses =
      runTeam(team.transports, [&](RankMemory &memory) {
        if (memory.rank() == 1) {
          wires->cut(1);
          ended = true;
          return Status();
        }
        // In the middle of storing and of reading.
        std::vector<std::byte> data(10000);
        while (memory.failure().ok()) {
          std::fill(data.begin(), data.end(), std::byte(1));
          memory.put(1, 0, data.data(), 10000);
          memory.view(1, 0, 10000, data.data());
        }
        // What could not be read is zero.
        EXPECT_EQ(std::count(data.begin(), data.end(), std::byte(0)), 10000);
        return memory.failure();
      });
  EXPECT_EQ(statuses[0].message(),
            "rank 0: rank 1 has ended: its process is gone");
  EXPECT_LT(secondsSince(start), 5);
}

TEST(Messages, AFailureEndsTheOthers) {
  MessageTeam team(makeWires(4), bytes);
  auto start = std::chrono::steady_clock::now();
  std::atomic<int> done = 0;
  std::vector<Status> statuses =
      runTeam(team.transports, [&](RankMemory &memory) {
        Status status = memory.rank() == 3 ? memory.fail("no more memory")
                                           : awaitFlag(memory, 3);
        // It stays, so that nothing but its failure ends them.
        ++done;
        sleepUntil([&] { return done == 4; });
        return status;
      });
  for (const Status &status : statuses)
    EXPECT_EQ(status.message(), "rank 3: no more memory");
  EXPECT_LT(secondsSince(start), 5);
  for (char clean : team.close())
    EXPECT_TRUE(clean);
}

TEST(Messages, WhoWaitsForWhomIsKnown) {
  MessageTeam team(makeWires(2), bytes, impatient());
  for (const Status &status : runTeam(team.transports, [&](RankMemory &memory) {
         if (memory.rank() == 1)
           return awaitFlag(memory, 0);
         sleepUntil([&] { return team.transports[0]->waitingFor(1) == 0; });
         memory.storeRelease(1, 0, 1);
         return Status();
       }))
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Messages, DifferingAllocationsFailTheTeam) {
  MessageTeam team(makeWires(3), bytes);
  auto statuses = runTeam(team.transports, [](RankMemory &memory) {
    if (Result<int64_t> first = memory.allocate(64); !first)
      return first.status();
    // Rank 0, which compares, is not the one that differs.
    (void)memory.allocate(memory.rank() == 2 ? 128 : 64);
    return awaitFlag(memory, (memory.rank() + 1) % 3);
  });
  for (const Status &status : statuses)
    EXPECT_NE(status.message().find("symmetric allocation 2 is of "),
              std::string::npos)
        << status.message();
}

TEST(Messages, NonsenseIsRefused) {
  // Headers as they travel: what, how many bytes, where, and a value.
  struct Header {
    uint32_t kind, bytes;
    int64_t offset;
    uint64_t value;
  };
  const Header nonsense[] = {
      {0, 0, -8, 0},        // a store before the block
      {0, 4096, 0, 0},      // with less data than it says
      {1, 0, bytes, 0},     // a word behind the block
      {1, 0, 4, 0},         // a word that is not aligned
      {2, 0, bytes - 2, 0}, // a flag half behind the block
      {3, 1 << 30, 0, 0},   // a request for more than there is
      {4, 0, 0, 77},        // an answer to no question
      {5, 0, 1 << 20, 0},   // an allocation that cannot be
      {8, 0, 5, 0},         // waiting for a rank that does not exist
      {99, 0, 0, 0},        // nothing that exists
  };
  for (const Header &header : nonsense) {
    auto wires = makeWires(2);
    auto transport = MessageTransport::start(
        std::make_unique<FakeNetwork>(wires, 0), bytes, impatient());
    ASSERT_TRUE(transport.ok());
    const auto *data = reinterpret_cast<const std::byte *>(&header);
    Message message(data, data + sizeof header);
    EXPECT_TRUE(wires->send(1, 0, message));
    sleepUntil([&] { return (*transport)->failed(); });
    EXPECT_EQ((*transport)->failure().message(),
              "rank 0: rank 1 sent what does not fit the memory here")
        << "record " << header.kind;
  }
}

TEST(Messages, IdleRanksTakeLittleTime) {
  MessageTeam team(makeWires(2), bytes);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  // Of both; a thread that looked all the time would take one core or more.
  EXPECT_LT(used, 0.3);
}

TEST(Network, ExchangeGivesAllTextsToAll) {
  auto wires = makeWires(4, 7);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      FakeNetwork network(wires, rank);
      // Twice: what who is ahead sends next is not taken for its first.
      for (int round = 0; round < 2; ++round) {
        auto textOf = [round](int r) {
          return std::string(static_cast<size_t>(r), 'x') +
                 std::to_string(round);
        };
        auto texts = exchange(network, textOf(rank), 20);
        ASSERT_TRUE(texts.ok()) << texts.message();
        for (int other = 0; other < 4; ++other)
          EXPECT_EQ((*texts)[static_cast<size_t>(other)], textOf(other));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Network, ExchangeNamesWhoIsMissing) {
  FakeNetwork network(makeWires(2), 0);
  EXPECT_EQ(exchange(network, "here", 0.1).message(),
            "rank 1 did not join within 0.1 s");
}

TEST(RunIdentity, DifferencesNameRanksAndValues) {
  auto identity = [](int ranks, const char *content, int64_t size = 64) {
    return *RunIdentity::make(ranks, size, content);
  };
  auto message = [](const std::vector<RankIdentity> &all) {
    return compareIdentities(all).message();
  };
  EXPECT_EQ(message({{0, identity(2, "a")}, {1, identity(2, "a")}}), "");
  std::string differs = message({{0, identity(4, "a")},
                                 {1, identity(4, "b")},
                                 {2, identity(4, "a")},
                                 {3, identity(4, "a")}});
  for (const char *part : {"'a' on ranks 0, 2 and 3", "'b' on rank 1"})
    EXPECT_NE(differs.find(part), std::string::npos) << differs;
  differs = message({{0, identity(2, "a")}, {1, identity(3, "a")}});
  EXPECT_NE(differs.find("'2' on rank 0, '3' on rank 1"), std::string::npos)
      << differs;
  EXPECT_FALSE(RunIdentity::make(2, 64, std::string(256, 'x')).ok());
  EXPECT_TRUE(RunIdentity::make(2, 64, std::string(255, 'x')).ok());
}
