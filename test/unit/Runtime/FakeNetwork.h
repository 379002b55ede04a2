//===- FakeNetwork.h - A network within one process -------------*- C++ -*-===//
//
// What the message transport runs on in tests: messages between ranks that are
// threads. Each takes a random time, so that those of different senders
// overtake each other, those of one sender to one rank never. Few may be on
// their way at a time, so that senders are held back. Ranks can be cut off.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_RUNTIME_FAKENETWORK_H
#define CCN_TEST_UNIT_RUNTIME_FAKENETWORK_H

#include "runtime/team/Network.h"

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <random>

namespace ccn::runtime {

/// All messages on their way.
class FakeWires {
public:
  FakeWires(int ranks, uint64_t seed, int maxMicroseconds = 50,
            size_t mostOnTheWay = 3)
      : count(ranks), maxMicroseconds(maxMicroseconds),
        mostOnTheWay(mostOnTheWay), random(seed),
        wires(static_cast<size_t>(ranks) * static_cast<size_t>(ranks)),
        dead(static_cast<size_t>(ranks)) {}

  int ranks() const { return count; }

  bool send(int from, int to, Message &message) {
    std::lock_guard<std::mutex> lock(mutex);
    auto &wire = between(from, to);
    if (isDead(from) || isDead(to)) {
      message.clear();
      return true;
    }
    if (wire.size() >= mostOnTheWay)
      return false;
    auto arrival = Clock::now();
    if (maxMicroseconds > 0)
      arrival += std::chrono::microseconds(
          random() % static_cast<uint64_t>(maxMicroseconds));
    wire.push_back({arrival, std::move(message)});
    return true;
  }

  bool receive(int &from, int to, Message &message) {
    std::lock_guard<std::mutex> lock(mutex);
    if (isDead(to))
      return false;
    auto now = Clock::now();
    auto first = static_cast<int>(random() % static_cast<uint64_t>(count));
    for (int i = 0; i < count; ++i) {
      int sender = from == Network::anyRank ? (first + i) % count : from;
      auto &wire = between(sender, to);
      if (wire.empty() || wire.front().arrival > now)
        continue;
      message = std::move(wire.front().message);
      wire.pop_front();
      from = sender;
      return true;
    }
    return false;
  }

  bool allSent(int from) {
    std::lock_guard<std::mutex> lock(mutex);
    for (int to = 0; to < count; ++to)
      if (!between(from, to).empty())
        return false;
    return true;
  }

  /// From now on nothing comes from or to this rank.
  void cut(int rank) {
    std::lock_guard<std::mutex> lock(mutex);
    dead[static_cast<size_t>(rank)] = true;
  }

private:
  using Clock = std::chrono::steady_clock;
  struct OnTheWay {
    Clock::time_point arrival;
    Message message;
  };
  std::deque<OnTheWay> &between(int from, int to) {
    return wires[static_cast<size_t>(from * count + to)];
  }
  bool isDead(int rank) const { return dead[static_cast<size_t>(rank)]; }

  int count;
  int maxMicroseconds;
  size_t mostOnTheWay;
  std::mutex mutex;
  std::mt19937_64 random;
  std::vector<std::deque<OnTheWay>> wires;
  std::vector<bool> dead;
};

class FakeNetwork : public Network {
public:
  FakeNetwork(std::shared_ptr<FakeWires> wires, int rank)
      : wires(std::move(wires)), own(rank) {}

  int rank() const override { return own; }
  int ranks() const override { return wires->ranks(); }
  Result<bool> send(int to, Message &message) override {
    return wires->send(own, to, message);
  }
  Result<bool> receive(int &from, Message &message) override {
    return wires->receive(from, own, message);
  }
  Result<bool> allSent() override { return wires->allSent(own); }

private:
  std::shared_ptr<FakeWires> wires;
  int own;
};

} // namespace ccn::runtime

#endif // CCN_TEST_UNIT_RUNTIME_FAKENETWORK_H
