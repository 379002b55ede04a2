//===- ModelChecker.h - All interleavings of a protocol ---------*- C++ -*-===//
//
// Explores every way in which ranks that run a protocol can interleave, stores
// delayed included: the memory model of this checker has, for each rank, a
// buffer of stores that become visible in any order, but for stores to one
// place, which stay in order, and for release stores and fences, which wait for
// what was stored before. Loads happen in program order. In the order of
// messages a rank's stores to its own memory are visible at once, and those to
// another's in their order, but nothing orders those to one rank with those to
// another: what a flag says is then true of the memory of two ranks only.
//
// Programs are ordinary code over the interface of RankMemory, so what is
// checked is the code that runs. A rank's program is deterministic, so its
// state is the sequence of values it has loaded: the checker runs the program
// again from its start with these values and learns what it does next. Waits
// are single steps that can be taken when what is waited for is there; a state
// in which nobody can take a step and somebody has not finished is a hang.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_RUNTIME_MODELCHECKER_H
#define CCN_TEST_UNIT_RUNTIME_MODELCHECKER_H

#include "runtime/team/Wait.h"

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace ccn::runtime::model {

/// One way to break a protocol, as a change of one line would.
struct Mutation {
  /// Waits for this are not done: it goes on at once.
  std::string droppedWait = {};
  /// Release stores are ordinary ones: the flag may come before the data.
  bool dropRelease = false;
  bool dropFence = false;
  /// Stores of this value are not done.
  std::optional<uint64_t> droppedValue = {};
};

/// Which stores of a rank stay in their order.
enum class Order { SharedMemory, Messages };

/// A place in memory: rank and offset.
using Place = std::pair<int, int64_t>;

struct Store {
  Place place;
  uint64_t value = 0;
  enum Kind { Plain, Release, Fence } kind = Plain;
};

/// What a rank does next after the values it has loaded so far.
struct Node {
  /// Stores since the last load.
  std::vector<Store> stores;
  enum Kind { Load, Wait, Done, Wrong } kind = Done;
  Place place;
  std::function<bool(uint64_t)> arrived;
  std::string text;
  /// By the value that is loaded.
  std::map<uint64_t, int> next;
  std::vector<uint64_t> history;
};

/// The interface of RankMemory on modelled memory.
class ModelMemory {
public:
  ModelMemory(int rank, const std::vector<uint64_t> &history,
              const Mutation &mutation, Node &node)
      : own(rank), history(history), mutation(mutation), node(node) {}

  int rank() const { return own; }

  void putWord(int rank, int64_t offset, uint64_t value) {
    if (mutation.droppedValue != value)
      store({{rank, offset}, value, Store::Plain});
  }
  void put(int rank, int64_t offset, const void *data, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 8) {
      uint64_t value;
      std::memcpy(&value, static_cast<const char *>(data) + i, 8);
      store({{rank, offset + i}, value, Store::Plain});
    }
  }
  void storeRelease(int rank, int64_t offset, uint32_t value) {
    store({{rank, offset},
           value,
           mutation.dropRelease ? Store::Plain : Store::Release});
  }
  void fence() {
    if (!mutation.dropFence)
      store({{}, 0, Store::Fence});
  }
  const std::byte *view(int rank, int64_t offset, int64_t bytes,
                        std::byte *scratch) {
    for (int64_t i = 0; i < bytes; i += 8) {
      uint64_t value = load({rank, offset + i}, {}, "");
      std::memcpy(scratch + i, &value, 8);
    }
    return scratch;
  }
  template <typename Arrived>
  Status awaitFlag(int64_t offset, int other, const WaitReason &reason,
                   Arrived arrived) {
    if (mutation.droppedWait != reason.what)
      load(
          {own, offset},
          [arrived](uint64_t v) { return arrived(static_cast<uint32_t>(v)); },
          reason.what);
    return Status();
  }
  template <typename Arrived>
  Status awaitWord(int64_t offset, int other, const WaitReason &reason,
                   Arrived arrived, uint64_t &value) {
    if (mutation.droppedWait == reason.what)
      value = load({own, offset}, {}, "");
    else
      value = load({own, offset}, arrived, reason.what);
    return Status();
  }

  /// What the program claims; ends it if it does not hold.
  void expect(bool holds, const std::string &text) {
    if (holds)
      return;
    node.kind = Node::Wrong;
    node.text = "rank " + std::to_string(own) + ": " + text;
    throw Stop();
  }

  struct Stop {};

private:
  void store(Store store) {
    // What was stored before the last load is in the state already.
    if (loads == history.size())
      node.stores.push_back(store);
  }
  uint64_t load(Place place, std::function<bool(uint64_t)> arrived,
                const char *what) {
    if (loads < history.size())
      return history[loads++];
    node.kind = arrived ? Node::Wait : Node::Load;
    node.place = place;
    node.arrived = std::move(arrived);
    node.text = what;
    throw Stop();
  }

  int own;
  const std::vector<uint64_t> &history;
  size_t loads = 0;
  const Mutation &mutation;
  Node &node;
};

using Program = std::function<void(ModelMemory &)>;

struct Outcome {
  /// Empty if all is right; else what is wrong: a hang or a wrong value.
  std::string problem;
  size_t states = 0;
};

class Checker {
public:
  /// Memory is zero but for `memory`.
  Checker(int ranks, Program program, std::map<Place, uint64_t> memory,
          Mutation mutation, Order order = Order::SharedMemory)
      : ranks(ranks), program(std::move(program)),
        startMemory(std::move(memory)), mutation(std::move(mutation)),
        order(order), nodes(static_cast<size_t>(ranks)) {}

  /// Explores all states, at most `limit`.
  Outcome run(size_t limit = 20000000) {
    State initial;
    initial.memory = startMemory;
    initial.at.assign(static_cast<size_t>(ranks), 0);
    initial.buffers.resize(static_cast<size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      enter(initial, rank, makeNode(rank, {}));
    visit(std::move(initial));
    while (!open.empty() && problem.empty()) {
      State state = std::move(open.back());
      open.pop_back();
      expand(state);
      if (seen.size() > limit)
        problem = "more than " + std::to_string(limit) + " states";
    }
    return {problem, seen.size()};
  }

private:
  struct State {
    std::vector<int> at;
    std::map<Place, uint64_t> memory;
    std::vector<std::vector<Store>> buffers;
  };

  Node &node(int rank, int index) {
    return *nodes[static_cast<size_t>(rank)][static_cast<size_t>(index)];
  }

  int makeNode(int rank, std::vector<uint64_t> history) {
    auto made = std::make_unique<Node>();
    made->history = std::move(history);
    ModelMemory memory(rank, made->history, mutation, *made);
    try {
      program(memory);
    } catch (const ModelMemory::Stop &) {
    }
    auto &list = nodes[static_cast<size_t>(rank)];
    list.push_back(std::move(made));
    return static_cast<int>(list.size()) - 1;
  }

  /// `rank` goes to a node: its stores enter the buffer, which nobody can see.
  void enter(State &state, int rank, int index) {
    state.at[static_cast<size_t>(rank)] = index;
    Node &n = node(rank, index);
    auto &buffer = state.buffers[static_cast<size_t>(rank)];
    for (const Store &store : n.stores)
      if (order == Order::SharedMemory)
        buffer.push_back(store);
      else if (store.kind != Store::Fence && store.place.first != rank)
        buffer.push_back(store);
      else if (store.kind != Store::Fence)
        state.memory[store.place] = store.value;
    dropLeadingFences(buffer);
    if (n.kind == Node::Wrong)
      problem = n.text;
  }

  static void dropLeadingFences(std::vector<Store> &buffer) {
    while (!buffer.empty() && buffer.front().kind == Store::Fence)
      buffer.erase(buffer.begin());
  }

  /// Whether store `i` of a buffer may become visible before those before it.
  bool mayFlush(const std::vector<Store> &buffer, size_t i) const {
    if (order == Order::Messages) {
      for (size_t j = 0; j < i; ++j)
        if (buffer[j].place.first == buffer[i].place.first)
          return false;
      return true;
    }
    if (buffer[i].kind == Store::Fence)
      return false;
    if (buffer[i].kind == Store::Release)
      return i == 0;
    for (size_t j = 0; j < i; ++j)
      if (buffer[j].kind == Store::Fence || buffer[j].place == buffer[i].place)
        return false;
    return true;
  }

  void expand(const State &state) {
    bool stepped = false;
    for (int rank = 0; rank < ranks && problem.empty(); ++rank) {
      const auto &buffer = state.buffers[static_cast<size_t>(rank)];
      for (size_t i = 0; i < buffer.size(); ++i) {
        if (!mayFlush(buffer, i))
          continue;
        stepped = true;
        State next = state;
        next.memory[buffer[i].place] = buffer[i].value;
        auto &rest = next.buffers[static_cast<size_t>(rank)];
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        dropLeadingFences(rest);
        visit(std::move(next));
      }
      int index = state.at[static_cast<size_t>(rank)];
      Node &n = node(rank, index);
      if (n.kind != Node::Load && n.kind != Node::Wait)
        continue;
      uint64_t value = read(state, rank, n.place);
      if (n.kind == Node::Wait && !n.arrived(value))
        continue;
      stepped = true;
      auto found = n.next.find(value);
      if (found == n.next.end()) {
        std::vector<uint64_t> history = n.history;
        history.push_back(value);
        found = n.next.emplace(value, makeNode(rank, std::move(history))).first;
      }
      State next = state;
      enter(next, rank, found->second);
      if (!problem.empty())
        return;
      visit(std::move(next));
    }
    if (stepped || !problem.empty())
      return;
    for (int rank = 0; rank < ranks; ++rank) {
      Node &n = node(rank, state.at[static_cast<size_t>(rank)]);
      if (n.kind == Node::Wait)
        problem = "hang: rank " + std::to_string(rank) + " waits for '" +
                  n.text + "'";
    }
  }

  /// The own latest store to a place, or what all see.
  static uint64_t read(const State &state, int rank, const Place &place) {
    const auto &buffer = state.buffers[static_cast<size_t>(rank)];
    for (size_t i = buffer.size(); i-- > 0;)
      if (buffer[i].kind != Store::Fence && buffer[i].place == place)
        return buffer[i].value;
    auto found = state.memory.find(place);
    return found == state.memory.end() ? 0 : found->second;
  }

  void visit(State state) {
    std::string key;
    auto add = [&key](uint64_t value) {
      key.append(reinterpret_cast<const char *>(&value), sizeof value);
    };
    auto addSmall = [&key](int value) {
      key.append(reinterpret_cast<const char *>(&value), 2);
    };
    for (int index : state.at)
      key.append(reinterpret_cast<const char *>(&index), sizeof index);
    for (const auto &[place, value] : state.memory) {
      addSmall(place.first);
      addSmall(static_cast<int>(place.second));
      add(value);
    }
    for (const auto &buffer : state.buffers) {
      addSmall(static_cast<int>(buffer.size()));
      for (const Store &store : buffer) {
        addSmall(store.place.first * 4 + store.kind);
        addSmall(static_cast<int>(store.place.second));
        add(store.value);
      }
    }
    if (seen.insert(std::move(key)).second)
      open.push_back(std::move(state));
  }

  int ranks;
  Program program;
  std::map<Place, uint64_t> startMemory;
  Mutation mutation;
  Order order;
  std::vector<std::vector<std::unique_ptr<Node>>> nodes;
  std::unordered_set<std::string> seen;
  std::vector<State> open;
  std::string problem;
};

} // namespace ccn::runtime::model

#endif // CCN_TEST_UNIT_RUNTIME_MODELCHECKER_H
