//===- TeamUtil.h - Teams of rank threads for tests -------------*- C++ -*-===//
//
// Runs a body on ranks that are threads, over each of the transports, and
// injects delays.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_RUNTIME_TEAMUTIL_H
#define CCN_TEST_UNIT_RUNTIME_TEAMUTIL_H

#include "FakeNetwork.h"
#include "runtime/cpu/Collectives.h"
#include "runtime/team/MessageTransport.h"
#include "runtime/team/SymmetricHeap.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>
#include <thread>

namespace ccn::runtime {

/// Before one in `period` accesses sleeps up to some microseconds.
class RandomDelays : public AccessHook {
public:
  RandomDelays(uint64_t seed, int ranks, unsigned period = 20)
      : period(period) {
    for (int rank = 0; rank < ranks; ++rank)
      generators.emplace_back(seed * 1000 + static_cast<uint64_t>(rank));
  }
  void beforeAccess(int rank) override {
    std::mt19937_64 &random = generators[static_cast<size_t>(rank)];
    if (random() % period == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 50));
  }

private:
  unsigned period;
  std::vector<std::mt19937_64> generators;
};

using TeamBody = std::function<Status(RankMemory &)>;

/// Calls body for each rank in a thread, with its transport, and returns what
/// each returned. Who returns has left.
inline std::vector<Status> runTeam(const std::vector<Transport *> &transports,
                                   const TeamBody &body, double timeLimit = 60,
                                   AccessHook *hook = nullptr) {
  std::vector<Status> statuses(transports.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < transports.size(); ++i)
    threads.emplace_back([&, i] {
      auto rank = static_cast<int>(i);
      RankMemory memory(*transports[i], rank, timeLimit);
      memory.setHook(hook);
      statuses[i] = body(memory);
      transports[i]->leave(rank);
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

/// Likewise on a heap that all share.
inline std::vector<Status> runTeam(SymmetricHeap &heap, const TeamBody &body,
                                   double timeLimit = 60,
                                   AccessHook *hook = nullptr) {
  return runTeam(
      std::vector<Transport *>(static_cast<size_t>(heap.ranks()), &heap), body,
      timeLimit, hook);
}

/// Ranks that reach each other by messages only.
class MessageTeam {
public:
  MessageTeam(std::shared_ptr<FakeWires> wires, int64_t bytes,
              const MessageOptions &options = {}) {
    for (int rank = 0; rank < wires->ranks(); ++rank) {
      auto transport = MessageTransport::start(
          std::make_unique<FakeNetwork>(wires, rank), bytes, options);
      EXPECT_TRUE(transport.ok()) << transport.message();
      owned.push_back(*std::move(transport));
      transports.push_back(owned.back().get());
    }
  }
  /// All at once: each waits for the others.
  ~MessageTeam() { close(); }
  /// Whether each ended in good order.
  std::vector<char> close() {
    std::vector<char> clean(owned.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < owned.size(); ++i)
      threads.emplace_back([this, i, &clean] { clean[i] = owned[i]->close(); });
    for (std::thread &thread : threads)
      thread.join();
    return clean;
  }

  std::vector<Transport *> transports;

private:
  std::vector<std::unique_ptr<MessageTransport>> owned;
};

/// Small enough that everything is cut into pieces and queues are often full.
inline MessageOptions smallMessages() {
  MessageOptions options;
  options.messageBytes = 1 << 10;
  options.queueBytes = 1 << 12;
  return options;
}

/// Likewise by messages that take random times; every rank must succeed.
inline void expectMessageTeam(int ranks, int64_t bytes, const TeamBody &body,
                              AccessHook *hook = nullptr, uint64_t seed = 1,
                              const MessageOptions &options = {}) {
  MessageTeam team(std::make_shared<FakeWires>(ranks, seed), bytes, options);
  for (const Status &status : runTeam(team.transports, body, 60, hook))
    EXPECT_TRUE(status.ok()) << status.message();
  for (char clean : team.close())
    EXPECT_TRUE(clean);
}

/// Over shared memory, and then by messages; every rank must succeed.
inline void expectTeam(int ranks, int64_t bytes, const TeamBody &body,
                       AccessHook *hook = nullptr) {
  Result<std::unique_ptr<SymmetricHeap>> heap =
      SymmetricHeap::create(ranks, bytes);
  ASSERT_TRUE(heap.ok()) << heap.message();
  for (const Status &status : runTeam(**heap, body, 60, hook))
    EXPECT_TRUE(status.ok()) << status.message();
  expectMessageTeam(ranks, bytes, body, hook, 1,
                    ranks % 2 ? MessageOptions() : smallMessages());
}

inline Group allRanks(int ranks) {
  Group group;
  for (int rank = 0; rank < ranks; ++rank)
    group.ranks.push_back(rank);
  return group;
}

} // namespace ccn::runtime

#endif // CCN_TEST_UNIT_RUNTIME_TEAMUTIL_H
