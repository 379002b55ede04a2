//===- WeakMachine.cpp - Ranks on memory that is seen late ----------------===//

#include "test/common/emulator/WeakMachine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ccn::emulator;

namespace {
thread_local WeakMachine *runningMachine = nullptr;
} // namespace

struct WeakMachine::Rank {
  std::unique_ptr<WeakLevel> device;
  std::vector<std::unique_ptr<WeakLevel>> levels;
  std::deque<WeakLaunch> launches;
  /// Of the launch that runs.
  std::vector<std::function<void()>> kernels;
  std::deque<Cluster> clusters;
  std::vector<std::unique_ptr<Block>> blocks;
  /// How often it goes on, compared to the others, and how seldom its stores
  /// get further.
  unsigned speed = 1, lazy = 1;
  Pick last = {};
  /// What its host does next, if no kernel runs.
  enum { Writes, Launches, Waits, Reads } next = Writes;
};

WeakMachine *WeakMachine::current() { return runningMachine; }

WeakMachine::WeakMachine(int rankCount, int blocks, size_t wanted,
                         const MemoryInstructions &instructions, unsigned seed)
    : instructions(instructions), random(seed),
      bytes((wanted + 255) / 256 * 256) {
  auto levels = static_cast<size_t>(1 + rankCount * (1 + blocks));
  arena.resize(levels * bytes + 256);
  auto *next = reinterpret_cast<std::byte *>(
      (reinterpret_cast<uintptr_t>(arena.data()) + 255) / 256 * 256);
  auto level = [&](WeakLevel *parent) {
    next += bytes;
    return std::make_unique<WeakLevel>(next - bytes, bytes, parent, changes);
  };
  system = level(nullptr);
  auto oneOf = [&](std::initializer_list<unsigned> values) {
    return values.begin()[random() % values.size()];
  };
  stays = oneOf({1, 2, 8, 64, 1024});
  drains = oneOf({0, 2, 16, 128, 1024});
  freshens = oneOf({0, 2, 16});
  first = static_cast<decltype(first)>(oneOf({Small, Large, Any, Any}));
  for (int i = 0; i < rankCount; ++i) {
    auto rank = std::make_unique<Rank>();
    rank->device = level(system.get());
    for (int block = 0; block < blocks; ++block)
      rank->levels.push_back(level(rank->device.get()));
    rank->speed = oneOf({1, 1, 30, 1000});
    rank->lazy = oneOf({1, 1, 10, 1000});
    ranks.push_back(std::move(rank));
  }
  seedOrder(static_cast<unsigned>(random()));
}
WeakMachine::~WeakMachine() = default;

std::byte *WeakMachine::view(int rank, int block) {
  return ranks[static_cast<size_t>(rank)]
      ->levels[static_cast<size_t>(block)]
      ->memory;
}

void WeakMachine::write(size_t offset, const void *data, size_t size) {
  std::memcpy(system->memory + offset, data, size);
  // Of what others have it is as if a store had come.
  system->add({});
}

void WeakMachine::submit(int rank, WeakLaunch launch) {
  ranks[static_cast<size_t>(rank)]->launches.push_back(std::move(launch));
}

//===----------------------------------------------------------------------===//
// What threads do
//===----------------------------------------------------------------------===//

bool WeakMachine::isOwn(const void *address) const {
  auto *byte = static_cast<const std::byte *>(address);
  return std::less_equal<>()(arena.data(), byte) &&
         std::less<>()(byte, arena.data() + arena.size());
}

size_t WeakMachine::offsetOf(const void *address) const {
  const WeakLevel &level =
      *running->levels[static_cast<size_t>(currentBlock()->number)];
  auto *byte = static_cast<const std::byte *>(address);
  if (byte < level.memory || byte >= level.memory + bytes) {
    std::fputs("a block accesses what another one sees of memory\n", stderr);
    std::abort();
  }
  return static_cast<size_t>(byte - level.memory);
}

WeakLevel &WeakMachine::ownBlock() {
  return *running->levels[static_cast<size_t>(currentBlock()->number)];
}
WeakLevel &WeakMachine::ownDevice() { return *running->device; }

void WeakMachine::add(size_t offset, size_t size) {
  WeakStore store;
  store.offset = offset;
  store.size = static_cast<uint8_t>(size);
  std::memcpy(store.bytes, ownBlock().memory + offset, size);
  store.thread = currentThread();
  store.barriers = currentBlock()->barriers;
  ownBlock().add(store);
}

void WeakMachine::takeDown() {
  // Vectors may be seen in parts.
  while (storeSize > 0) {
    size_t size = std::min<size_t>(storeSize == 8 ? 8 : 4, storeSize);
    add(storeOffset, size);
    storeOffset += size;
    storeSize -= size;
  }
}

void WeakMachine::beforeStore(void *to, size_t size) {
  takeDown();
  if (!isOwn(to))
    return;
  storeOffset = offsetOf(to);
  storeSize = size;
}

void WeakMachine::beforeLoad(const void *from, size_t size) {
  takeDown();
  if (!isOwn(from) || !oneIn(freshens))
    return;
  if (oneIn(2))
    ownDevice().refresh(offsetOf(from), size);
  ownBlock().refresh(offsetOf(from), size);
}

void WeakMachine::look(const void *at, size_t size) {
  takeDown();
  Thread &thread = currentBlock()->threads[currentThread()];
  thread.spins = thread.lookedAt == at;
  letOthersRun();
  thread.spins = false;
  thread.lookedAt = at;
  thread.lookedBytes = size;
  thread.lookedAfter = changes;
}

void WeakMachine::acquire(Scope scope) {
  takeDown();
  if (scope == Scope::System)
    ownDevice().refreshAll();
  if (scope != Scope::Block)
    ownBlock().refreshAll();
}

void WeakMachine::fence(Scope scope) {
  takeDown();
  if (scope == Scope::Block)
    return;
  ownBlock().drainBefore(currentThread(), currentBlock()->barriers);
  if (scope == Scope::System)
    ownDevice().drainAll();
  acquire(scope);
}

/// What one instruction does of `size` bytes is seen in such parts. PTX
/// promises no more of vectors than of their elements, but 8 bytes are seen at
/// once by all devices there are.
static int partOf(const MemoryInstruction &how, int size) {
  return std::min({how.bytes, size, 8});
}

void WeakMachine::load(const MemoryInstruction &how, const void *from, void *to,
                       int size) {
  look(from, static_cast<size_t>(size));
  size_t offset = offsetOf(from);
  const int part = partOf(how, size);
  for (int done = 0; done < size; done += part) {
    if (done > 0)
      letOthersRun();
    auto count = static_cast<size_t>(part);
    size_t at = offset + static_cast<size_t>(done);
    ownDevice().refresh(at, count);
    ownBlock().refresh(at, count);
    std::memcpy(static_cast<char *>(to) + done, ownBlock().memory + at, count);
    if (how.order == Order::Acquire)
      acquire(how.scope);
  }
  std::memcpy(currentBlock()->threads[currentThread()].seen, to,
              static_cast<size_t>(size));
}

void WeakMachine::store(const MemoryInstruction &how, void *to,
                        const void *from, int size) {
  takeDown();
  if (how.order == Order::Release && how.scope != Scope::Block) {
    ownBlock().drainBefore(currentThread(), currentBlock()->barriers);
    if (how.scope == Scope::System)
      ownDevice().drainAll();
  }
  size_t offset = offsetOf(to);
  const int part = partOf(how, size);
  for (int done = 0; done < size; done += part) {
    if (done > 0)
      letOthersRun();
    auto count = static_cast<size_t>(part);
    size_t at = offset + static_cast<size_t>(done);
    std::memcpy(ownBlock().memory + at, static_cast<const char *>(from) + done,
                count);
    add(at, count);
  }
}

bool WeakMachine::change(void *word, size_t size,
                         const std::function<void(void *)> &change) {
  takeDown();
  if (!isOwn(word))
    return false;
  letOthersRun();
  size_t offset = offsetOf(word);
  ownBlock().drainPlace(offset, size);
  WeakStore store;
  store.offset = offset;
  store.size = static_cast<uint8_t>(size);
  std::memcpy(store.bytes, ownDevice().memory + offset, size);
  change(store.bytes);
  ownDevice().put(store);
  std::memcpy(ownBlock().memory + offset, store.bytes, size);
  return true;
}

//===----------------------------------------------------------------------===//
// Who goes on
//===----------------------------------------------------------------------===//

/// What a rank's host does, each for itself, as ranks may do much in between.
bool WeakMachine::doHostsPart(Rank &rank) {
  if (rank.launches.empty() || rank.next == Rank::Waits)
    return false;
  switch (rank.next) {
  case Rank::Writes:
    rank.launches.front().before();
    rank.next = Rank::Launches;
    break;
  case Rank::Launches:
    rank.next = Rank::Waits;
    begin(rank);
    if (rank.blocks.empty())
      end(rank);
    break;
  default:
    rank.next = Rank::Writes;
    rank.launches.front().after();
    rank.launches.pop_front();
  }
  ++changes;
  return true;
}

void WeakMachine::begin(Rank &rank) {
  const WeakLaunch &launch = rank.launches.front();
  rank.device->refreshAll();
  for (int number = 0; number < launch.blocks; ++number)
    rank.kernels.push_back(launch.kernel(number));
  for (int number = 0; number < launch.blocks; ++number) {
    auto index = static_cast<size_t>(number);
    rank.levels[index]->refreshAll();
    if (launch.clusterBlocks > 1 && number % launch.clusterBlocks == 0)
      rank.clusters.emplace_back(launch.clusterBlocks, launch.threads);
    rank.blocks.push_back(std::make_unique<Block>(
        number, launch.blocks, launch.threads, rank.kernels[index],
        /*mayEnd=*/true,
        launch.clusterBlocks > 1 ? &rank.clusters.back() : nullptr));
  }
}

/// All that a launch has done is seen when it is over.
void WeakMachine::end(Rank &rank) {
  for (auto &level : rank.levels)
    level->drainAll();
  rank.device->drainAll();
  rank.blocks.clear();
  rank.kernels.clear();
  rank.clusters.clear();
  rank.last = {};
  rank.next = Rank::Reads;
}

/// Of a thread that looks at the same again and again: whether it may see
/// something else.
bool WeakMachine::canRun(const Block &block, const Thread &thread) const {
  if (thread.state != Thread::Runs)
    return false;
  if (!thread.spins)
    return true;
  if (block.cluster && thread.lookedAt == block.cluster)
    return block.cluster->isOver(thread.barrier);
  const WeakLevel &own = *running->levels[block.number];
  size_t at = static_cast<size_t>(
      static_cast<const std::byte *>(thread.lookedAt) - own.memory);
  return thread.lookedAfter != changes &&
         own.hasOther(at, thread.lookedBytes, thread.seen);
}

bool WeakMachine::findThread(Rank &rank, Pick &found) {
  if (rank.last.block &&
      canRun(*rank.last.block, rank.last.block->threads[rank.last.thread]) &&
      !oneIn(stays)) {
    found = rank.last;
    return true;
  }
  size_t start = first == Any ? random() : 0;
  for (size_t i = 0; i < rank.blocks.size(); ++i) {
    Block &block = *rank.blocks[(start + i) % rank.blocks.size()];
    size_t count = block.threads.size();
    size_t begin = first == Any ? random() % count : 0;
    for (size_t j = 0; j < count; ++j) {
      size_t thread = first == Large ? count - 1 - j : (begin + j) % count;
      if (!canRun(block, block.threads[thread]))
        continue;
      found = {&block, static_cast<unsigned>(thread)};
      return true;
    }
  }
  return false;
}

void WeakMachine::resume(const Pick &pick) {
  pick.block->resume(pick.thread);
  takeDown();
  Thread &thread = pick.block->threads[pick.thread];
  switch (thread.state) {
  case Thread::Runs:
    return;
  // What it looks at next it may look at for another reason.
  case Thread::AwaitsWarp:
    thread.lookedAt = nullptr;
    pick.block->releaseWarp(pick.thread);
    return;
  case Thread::AwaitsBlock:
    thread.lookedAt = nullptr;
    pick.block->releaseBlock();
    return;
  case Thread::Sleeps:
    thread.lookedAt = nullptr;
    return;
  case Thread::Done:
    // Others need not wait for it any more.
    pick.block->releaseWarp(pick.thread);
    pick.block->releaseBlock();
    ++changes;
    return;
  }
}

/// Lets a store get further, seldom one of a lazy rank unless it must be;
/// false if none could.
bool WeakMachine::drainSomething(bool mustBe) {
  std::vector<WeakLevel *> levels, lazy;
  for (auto &rank : ranks) {
    std::vector<WeakLevel *> &to = oneIn(rank->lazy) ? levels : lazy;
    to.push_back(rank->device.get());
    for (auto &level : rank->levels)
      to.push_back(level.get());
  }
  auto isIdle = [](const WeakLevel *level) { return !level->isPending(); };
  std::erase_if(levels, isIdle);
  std::erase_if(lazy, isIdle);
  if (levels.empty() && mustBe)
    std::swap(levels, lazy);
  if (levels.empty())
    return false;
  levels[random() % levels.size()]->drainOne(random);
  return true;
}

/// Lets a rank go on, one of the fast ones mostly; false if none can.
bool WeakMachine::step() {
  order.clear();
  for (auto &rank : ranks)
    order.emplace_back(random() % (1000 * rank->speed), rank.get());
  std::sort(order.begin(), order.end(), std::greater<>());
  for (auto [unused, rank] : order) {
    running = rank;
    if (doHostsPart(*rank))
      return true;
    Pick pick;
    if (!findThread(*rank, pick)) {
      // Nobody's time is up here, so nobody need look again.
      if (std::any_of(rank->blocks.begin(), rank->blocks.end(),
                      [](auto &block) { return block->goOn(false); }))
        return true;
      continue;
    }
    rank->last = pick;
    resume(pick);
    if (pick.block->threads[pick.thread].state == Thread::Done &&
        std::all_of(rank->blocks.begin(), rank->blocks.end(),
                    [](const auto &block) { return block->isDone(); }))
      end(*rank);
    return true;
  }
  return false;
}

/// Of each block with threads that have not ended: how many of them look at
/// something, and wait for others.
std::string WeakMachine::whoWaits() const {
  std::string text;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    for (const auto &block : ranks[rank]->blocks) {
      int looking = 0, waiting = 0;
      for (const Thread &thread : block->threads) {
        looking += thread.state == Thread::Runs;
        waiting += thread.state != Thread::Runs && thread.state != Thread::Done;
      }
      text += "; rank " + std::to_string(rank) + ", block " +
              std::to_string(block->number) + ": " + std::to_string(looking) +
              " threads look, " + std::to_string(waiting) + " wait";
    }
  return text;
}

std::string WeakMachine::run() {
  constexpr uint64_t mostSteps = 100'000'000;
  runningMachine = this;
  std::string problem = "it does not end";
  for (uint64_t steps = 0; steps < mostSteps; ++steps) {
    if (oneIn(drains))
      drainSomething(false);
    while (drains == 0 && drainSomething(true)) {
    }
    if (!isOver && step())
      continue;
    isOver |= std::all_of(ranks.begin(), ranks.end(), [](const auto &rank) {
      return rank->launches.empty();
    });
    // Stores get through at last.
    if (!isOver && drainSomething(true))
      continue;
    problem = isOver ? "" : "all wait for ever" + whoWaits();
    break;
  }
  runningMachine = nullptr;
  return problem;
}
