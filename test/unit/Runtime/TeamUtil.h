//===- TeamUtil.h - Teams of rank threads for tests -------------*- C++ -*-===//
//
// Runs a body on ranks that are threads, and injects delays.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_RUNTIME_TEAMUTIL_H
#define CCN_TEST_UNIT_RUNTIME_TEAMUTIL_H

#include "runtime/Collectives.h"

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

/// Calls body for each rank in a thread and returns what each returned. Who
/// returns has left.
inline std::vector<Status>
runTeam(SymmetricHeap &heap, const std::function<Status(RankMemory &)> &body,
        double timeLimit = 60, AccessHook *hook = nullptr) {
  std::vector<Status> statuses(static_cast<size_t>(heap.ranks()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < heap.ranks(); ++rank)
    threads.emplace_back([&, rank] {
      RankMemory memory(heap, rank, timeLimit);
      memory.setHook(hook);
      statuses[static_cast<size_t>(rank)] = body(memory);
      heap.leave(rank);
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

/// Likewise on a heap of its own; every rank must succeed.
inline void expectTeam(int ranks, int64_t bytes,
                       const std::function<Status(RankMemory &)> &body,
                       AccessHook *hook = nullptr) {
  Result<std::unique_ptr<SymmetricHeap>> heap =
      SymmetricHeap::create(ranks, bytes);
  ASSERT_TRUE(heap.ok()) << heap.message();
  for (const Status &status : runTeam(**heap, body, 60, hook))
    EXPECT_TRUE(status.ok()) << status.message();
}

inline Group allRanks(int ranks) {
  Group group;
  for (int rank = 0; rank < ranks; ++rank)
    group.ranks.push_back(rank);
  return group;
}

} // namespace ccn::runtime

#endif // CCN_TEST_UNIT_RUNTIME_TEAMUTIL_H
