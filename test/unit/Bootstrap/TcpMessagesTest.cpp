//===- TcpMessagesTest.cpp - Messages over TCP ----------------------------===//
//
// All arrive, whole and in their order, be they many or big, whoever receives
// when; what is held back is bounded; who ends is named to who waits for it.
//
//===----------------------------------------------------------------------===//

#include "TcpUtil.h"
#include "runtime/team/MessageTransport.h"
#include "runtime/team/RankMemory.h"

#include <numeric>
#include <random>

using namespace ccn;
using namespace ccn::runtime;

static std::vector<TcpOptions> team(int ranks) {
  uint16_t port = freePort();
  std::vector<TcpOptions> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(optionsFor(rank, ranks, port));
  return all;
}

/// What rank `from` says to rank `to` as its n-th.
static Message numbered(int from, int to, int n, size_t mostBytes) {
  std::mt19937 random(static_cast<unsigned>((from * 100 + to) * 100000 + n));
  Message message(random() % (mostBytes + 1));
  for (std::byte &byte : message)
    byte = static_cast<std::byte>(random());
  return message;
}

/// Each rank sends `count` messages to each, also to itself, and receives.
static Status sendToAll(Network &network, int count, size_t mostBytes) {
  int ranks = network.ranks(), own = network.rank();
  std::vector<int> sent(static_cast<size_t>(ranks)),
      received(static_cast<size_t>(ranks));
  std::mt19937 random(static_cast<unsigned>(own));
  int left = ranks * count;
  Message next;
  int to = -1;
  Clock::time_point start = Clock::now();
  auto all = [](const std::vector<int> &counts) {
    return std::accumulate(counts.begin(), counts.end(), 0);
  };
  while (left > 0 || all(sent) < ranks * count || !*network.allSent()) {
    if (secondsSince(start) > 60)
      return error("too slow");
    if (to < 0 && all(sent) < ranks * count) {
      do
        to = static_cast<int>(random() % static_cast<unsigned>(ranks));
      while (sent[static_cast<size_t>(to)] == count);
      next = numbered(own, to, sent[static_cast<size_t>(to)], mostBytes);
    }
    if (to >= 0) {
      Result<bool> taken = network.send(to, next);
      if (!taken)
        return taken.status();
      if (*taken) {
        EXPECT_TRUE(next.empty());
        ++sent[static_cast<size_t>(to)];
        to = -1;
      }
    }
    // From anybody, or from one.
    int from = random() % 2
                   ? Network::anyRank
                   : static_cast<int>(random() % static_cast<unsigned>(ranks));
    int wanted = from;
    if (from >= 0 && received[static_cast<size_t>(from)] == count)
      continue;
    Message message;
    Result<bool> arrived = network.receive(from, message);
    if (!arrived)
      return arrived.status();
    if (!*arrived)
      continue;
    EXPECT_TRUE(wanted < 0 || wanted == from);
    int &n = received[static_cast<size_t>(from)];
    if (message != numbered(from, own, n, mostBytes))
      return error("message ", n, " of rank ", from, " is another");
    ++n;
    --left;
  }
  return Status();
}

TEST(TcpMessages, ManySmallOnes) {
  for (int ranks : {2, 3, 4, 8})
    expectAllWell(runTcpRanks(team(ranks), [](Network &network) {
      return sendToAll(network, 1000, 200);
    }));
}

TEST(TcpMessages, SomeBigOnes) {
  for (int ranks : {2, 3})
    expectAllWell(runTcpRanks(team(ranks), [](Network &network) {
      return sendToAll(network, 4, 8 << 20);
    }));
}

TEST(TcpMessages, OfEverySizeAboutWhatIsReadAtOnce) {
  expectAllWell(runTcpRanks(team(2), [](Network &network) {
    int other = 1 - network.rank();
    for (size_t size : {0, 1, 15, 16, 17, 65519, 65520, 65521, 65535, 65536,
                        65537, 131056, 131072, 131088, 524288, 600001}) {
      Message sent(size);
      for (size_t i = 0; i < size; ++i)
        sent[i] = static_cast<std::byte>(i * 7 + i / 251);
      Message copy = sent;
      Result<bool> taken = network.send(other, copy);
      EXPECT_TRUE(taken && *taken);
      Result<Message> message = receiveSoon(network, other);
      if (!message)
        return message.status();
      EXPECT_EQ(*message, sent) << size;
    }
    return Status();
  }));
}

TEST(TcpMessages, TooBigOnesAreRefused) {
  expectAllWell(runTcpRanks(team(2), [](Network &network) {
    if (network.rank() == 0) {
      Message message((size_t(1) << 24) + 1);
      Result<bool> taken = network.send(1, message);
      EXPECT_EQ(taken.message(), "expected a message of at most 16777216 "
                                 "bytes, found 16777217");
    }
    return exchangeNames(network);
  }));
}

TEST(TcpMessages, WhoDoesNotReceiveHoldsBackWhoSends) {
  expectAllWell(runTcpRanks(team(2), [](Network &network) {
    constexpr size_t size = 1 << 16;
    constexpr int most = 100000;
    int count = 0;
    if (network.rank() == 0) {
      int refused = 0;
      while (count < most && refused < 200) {
        Message message(size);
        Result<bool> taken = network.send(1, message);
        if (!taken)
          return taken.status();
        if (!*taken) {
          // It has kept what was not taken.
          EXPECT_EQ(message.size(), size);
          ++refused;
          sleepFor(0.002);
          continue;
        }
        refused = 0;
        ++count;
      }
      EXPECT_LT(count, most);
      EXPECT_FALSE(*network.allSent());
      if (Status status = sendSoon(network, 1, messageOf("end")); !status)
        return status;
      return receiveSoon(network, 1).status();
    }
    // Looking for what others sent takes none of it in without bounds.
    Clock::time_point start = Clock::now();
    while (secondsSince(start) < 1) {
      int own = 1;
      Message message;
      Result<bool> arrived = network.receive(own, message);
      EXPECT_TRUE(arrived && !*arrived);
      std::this_thread::yield();
    }
    for (;; ++count) {
      Result<Message> message = receiveSoon(network, 0);
      if (!message)
        return message.status();
      if (*message == messageOf("end"))
        break;
    }
    EXPECT_GT(count, 4);
    return sendSoon(network, 0, messageOf("thanks"));
  }));
}

TEST(TcpMessages, WhatWasSentBeforeTheEndArrives) {
  // Rank 0 ends at once; the others take their time.
  expectAllWell(runTcpRanks(team(3), [](Network &network) {
    if (network.rank() == 0) {
      for (int to : {1, 2})
        for (int n = 0; n < 20; ++n)
          if (Status status = sendSoon(network, to, numbered(0, to, n, 5000));
              !status)
            return status;
      return Status();
    }
    sleepFor(0.3);
    for (int n = 0; n < 20; ++n) {
      EXPECT_FALSE(network.isCut(0));
      Result<Message> message = receiveSoon(network, 0);
      if (!message)
        return message.status();
      EXPECT_EQ(*message, numbered(0, network.rank(), n, 5000));
    }
    EXPECT_EQ(receiveSoon(network, 0).message(), "rank 0 has ended");
    EXPECT_TRUE(network.isCut(0));
    EXPECT_FALSE(network.isCut(network.rank()));
    Message late(1);
    EXPECT_EQ(network.send(0, late).message(), "rank 0 has ended");
    int anybody = Network::anyRank;
    Result<bool> arrived = network.receive(anybody, late);
    EXPECT_TRUE(arrived && !*arrived);
    return Status();
  }));
}

TEST(TcpMessages, WhoHasMetAllMayEndAtOnce) {
  // Nor do they wait for each other's end for long.
  Clock::time_point start = Clock::now();
  for (int i = 0; i < 20; ++i)
    expectAllWell(runTcpRanks(team(4), [](Network &) { return Status(); }));
  EXPECT_LT(secondsSince(start), 15);
}

TEST(TcpMessages, TheFirstCauseIsPassedOn) {
  // Rank 2 ends; rank 0 finds that, and tells rank 1, which waits for rank 0.
  std::vector<Status> statuses = runTcpRanks(team(3), [](Network &network) {
    if (network.rank() == 2)
      return Status();
    return receiveSoon(network, network.rank() == 0 ? 2 : 0).status();
  });
  EXPECT_TRUE(statuses[2].ok());
  EXPECT_EQ(statuses[0].message(), "rank 2 has ended");
  EXPECT_EQ(statuses[1].message(), "rank 2 has ended");
}

TEST(TcpMessages, CarryWhatRanksDoToEachOthersMemory) {
  constexpr int64_t words = 20000;
  std::vector<TcpOptions> all = team(4);
  std::vector<Status> statuses(all.size());
  std::vector<std::thread> threads;
  for (const TcpOptions &options : all)
    threads.emplace_back([&] {
      Status &status = statuses[static_cast<size_t>(options.rank)];
      Result<std::unique_ptr<Network>> network = joinTcpNetwork(options);
      if (!network) {
        status = network.status();
        return;
      }
      Result<std::unique_ptr<MessageTransport>> transport =
          MessageTransport::start(*std::move(network), 1 << 20);
      if (!transport) {
        status = transport.status();
        return;
      }
      RankMemory memory(**transport, options.rank, 30);
      int to = (options.rank + 1) % 4, from = (options.rank + 3) % 4;
      std::vector<uint64_t> data(words);
      for (uint32_t round = 1; round <= 20 && status; ++round) {
        std::iota(data.begin(), data.end(),
                  round * 1000 + static_cast<uint64_t>(options.rank));
        memory.put(to, 4096, data.data(), words * 8);
        memory.storeRelease(to, 0, round);
        status = memory.awaitFlag(0, from, {"test", "flag", round},
                                  [&](uint32_t seen) { return seen == round; });
        if (!status)
          break;
        std::memcpy(data.data(), memory.at(options.rank, 4096), words * 8);
        EXPECT_EQ(data.front(), round * 1000 + static_cast<uint64_t>(from));
        EXPECT_EQ(data.back(), data.front() + words - 1);
        memory.storeRelease(from, 64, round);
        status = memory.awaitFlag(64, to, {"test", "taken", round},
                                  [&](uint32_t seen) { return seen == round; });
      }
      EXPECT_TRUE((*transport)->close());
    });
  for (std::thread &thread : threads)
    thread.join();
  expectAllWell(statuses);
}
