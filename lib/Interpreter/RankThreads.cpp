//===- RankThreads.cpp - Runs many ranks on few threads -------------------===//
//
// Each thread takes a rank that can run, until none is left.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/RankThreads.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <system_error>
#include <thread>

namespace ccn::interp {

namespace {

/// The ranks of one run, which threads share.
class RankQueue {
public:
  RankQueue(int ranks, Rendezvous &meetings,
            const std::function<Pause(int)> &run)
      : meetings(meetings), run(run), states(static_cast<size_t>(ranks)),
        left(ranks) {
    for (int rank = 0; rank < ranks; ++rank)
      queue.push_back(rank);
  }

  /// Runs ranks until none is left; the work of one thread.
  void work();

private:
  enum class State : uint8_t {
    Queued,
    Running,
    /// Running, and about to pause for what it need not wait for any longer.
    Woken,
    Waiting,
    Done,
  };

  State &stateOf(int rank) { return states[static_cast<size_t>(rank)]; }
  void enqueue(int rank) {
    stateOf(rank) = State::Queued;
    queue.push_back(rank);
  }
  void wake(const std::vector<int> &ranks);

  Rendezvous &meetings;
  const std::function<Pause(int)> &run;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<int> queue;
  std::vector<State> states;
  int left, running = 0;
};

void RankQueue::wake(const std::vector<int> &ranks) {
  for (int rank : ranks)
    if (stateOf(rank) == State::Waiting)
      enqueue(rank);
    else if (stateOf(rank) == State::Running)
      stateOf(rank) = State::Woken;
}

void RankQueue::work() {
  std::unique_lock<std::mutex> lock(mutex);
  while (left > 0) {
    if (queue.empty() && running > 0) {
      changed.wait(lock);
      continue;
    }
    if (queue.empty()) {
      meetings.failForever();
      wake(meetings.takeReady());
      continue;
    }
    int rank = queue.front();
    queue.pop_front();
    stateOf(rank) = State::Running;
    ++running;
    lock.unlock();
    Pause pause = run(rank);
    std::vector<int> ready = meetings.takeReady();
    lock.lock();
    --running;
    if (pause == Pause::Done) {
      stateOf(rank) = State::Done;
      --left;
    } else if (stateOf(rank) == State::Woken) {
      enqueue(rank);
    } else {
      stateOf(rank) = State::Waiting;
    }
    wake(ready);
    changed.notify_all();
  }
}

} // namespace

void runRanks(int ranks, unsigned threads, Rendezvous &meetings,
              const std::function<Pause(int)> &run) {
  RankQueue queue(ranks, meetings, run);
  std::vector<std::thread> others;
  threads = std::min(threads, static_cast<unsigned>(ranks));
  try {
    while (others.size() + 1 < threads)
      others.emplace_back([&] { queue.work(); });
  } catch (const std::system_error &) {
    // Those that run do all.
  }
  queue.work();
  for (std::thread &thread : others)
    thread.join();
}

} // namespace ccn::interp
