//===- FakeStreams.h - Streams of the driver without GPUs -------*- C++ -*-===//
//
// Streams have queues, as many in a context as CUDA_DEVICE_MAX_CONNECTIONS
// says, each a thread that does one thing after the other: what one stream has
// in a queue waits for all that others have put there before. With
// CCN_FAKE_LATE=N some things begin late, by up to N microseconds: what other
// streams should have waited for, but did not, is missing then. Threads that
// give something to a stream are late now and then, too: what others took or
// gave back meanwhile waits for what cannot end before.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_GPU_FAKESTREAMS_H
#define CCN_TEST_UNIT_GPU_FAKESTREAMS_H

#include "FakeDriver.h"
#include "test/common/emulator/Kernels.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace fake {

using Work = std::function<void()>;

/// Sleeps once in `times` times, up to `factor` times as long as CCN_FAKE_LATE
/// says. `state` is of who calls this.
void beLate(uint64_t &state, unsigned times, unsigned factor);

constexpr int multiprocessors = 8, blocksEach = 2;

/// A queue of a device, with room for so many things.
class Queue {
public:
  static constexpr size_t room = 1024;

  /// What is part of a graph takes none of the room.
  void add(Work next, bool isOfGraph) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return isOfGraph || taken < room; });
    taken += !isOfGraph;
    if (!hasThread)
      std::thread([this] { loop(); }).detach();
    hasThread = true;
    work.emplace_back(std::move(next), isOfGraph);
    changed.notify_all();
  }

private:
  void loop() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return !work.empty(); });
      auto [next, isOfGraph] = std::move(work.front());
      work.pop_front();
      taken -= !isOfGraph;
      changed.notify_all();
      lock.unlock();
      // What comes next may then read what is overwritten, and others may read
      // what it has not written.
      beLate(lateness, 2, 1);
      next();
      lock.lock();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<Work, bool>> work;
  size_t taken = 0;
  bool hasThread = false;
  uint64_t lateness = reinterpret_cast<uintptr_t>(this);
};

} // namespace fake

// The driver's opaque types.
struct CUctx_st {
  int device;
  int users = 0;
  std::array<fake::Queue, 32> queues;
  /// One thread gives something to a queue at a time, and the others wait where
  /// it has no room.
  std::recursive_mutex gives;
  /// What its queues have not done.
  std::mutex mutex;
  std::condition_variable changed;
  int pending = 0;
  /// How many streams have found one.
  std::atomic<unsigned> streams{0};
  /// How many threads begin to use a stream.
  std::atomic<int> beginners{0};
  /// For the blocks that it can have at once.
  ccn::emulator::Room room{fake::multiprocessors * fake::blocksEach};

  void count(int more) {
    std::lock_guard lock(mutex);
    pending += more;
    changed.notify_all();
  }
};
/// What was captured, in order: work of streams, and events by their numbers.
struct CUgraph_st {
  struct Step {
    CUstream stream;
    fake::Work work = {};
    int recorded = -1, awaited = -1;
  };
  CUstream origin;
  std::vector<Step> steps = {};
  int events = 0;
};
struct CUevent_st {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0, done = 0;
  std::chrono::steady_clock::time_point time;
  /// While it was recorded in a capture: where, and after how much.
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  int numberInGraph = 0;
  size_t streamWork = 0;

  void finish(uint64_t number) {
    std::lock_guard lock(mutex);
    time = std::chrono::steady_clock::now();
    done = std::max(done, number);
    changed.notify_all();
  }
  void wait(uint64_t number) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done >= number; });
  }
};
struct CUstream_st {
  static inline std::atomic<unsigned long long> created{0};
  std::mutex mutex;
  std::condition_variable changed;
  std::once_flag isBegun;
  CUctx_st *context = nullptr;
  fake::Queue *queue = nullptr;
  /// What it has in the queue.
  int pending = 0;
  const unsigned long long number = ++created;
  /// Of a capture.
  CUgraph graph = nullptr;
  bool isOrigin = false;
  size_t work = 0, joined = 0;

  void add(fake::Work next, bool isOfGraph = false) {
    if (graph) {
      graph->steps.push_back({this, std::move(next)});
      ++work;
      return;
    }
    std::call_once(isBegun, [&] { findQueue(); });
    thread_local uint64_t lateness = reinterpret_cast<uintptr_t>(&lateness);
    // Seldom, but longer than what others are given takes.
    fake::beLate(lateness, 256, 64);
    {
      std::lock_guard lock(mutex);
      ++pending;
    }
    std::lock_guard give(context->gives);
    context->count(1);
    queue->add(
        [this, context = context, next = std::move(next)] {
          next();
          {
            std::lock_guard lock(mutex);
            --pending;
            changed.notify_all();
          }
          context->count(-1);
        },
        isOfGraph);
  }
  bool isBusy() {
    std::lock_guard lock(mutex);
    return pending > 0;
  }
  void finish() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return pending == 0; });
  }

  /// As a branch of a graph, which has a queue when the graph is made.
  void beginAsBranch() {
    std::call_once(isBegun, [&] { takeQueue(); });
  }

private:
  void findQueue();
  /// The next one.
  void takeQueue();
};
/// The streams of a graph but the one that captured it become branches with
/// streams, and so queues, of their own.
struct CUgraphExec_st {
  CUgraph_st graph;
  std::map<CUstream, CUstream_st> branches = {};
};

namespace fake {

/// How many queues a context has; the environment says it when the driver
/// starts.
unsigned countQueues();

} // namespace fake

#endif // CCN_TEST_UNIT_GPU_FAKESTREAMS_H
