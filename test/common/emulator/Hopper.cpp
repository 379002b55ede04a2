//===- Hopper.cpp - What blocks of GPUs of sm_90a have --------------------===//

#include "test/common/emulator/Hopper.h"

#include "test/common/emulator/Blocks.h"
#include "test/common/emulator/WeakMachine.h"

// Its names are of no namespace, as CUDA has them.
#include "test/common/emulator/Intrinsics.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

using namespace ccn::emulator;

using u64 = unsigned long long;

void ccn::emulator::endWith(const char *why) {
  std::fprintf(stderr, "thread %u of block %u: %s\n", currentThread(),
               currentBlock()->number, why);
  std::abort();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

void SharedMemory::use(char *begin, size_t size) {
  constexpr size_t alignment = 1024;
  if (memory == begin)
    return;
  memory = begin;
  bytes = size;
  // What copies do not see yet is not a number.
  space.assign(size + alignment, '\xff');
  auto wanted = reinterpret_cast<uintptr_t>(begin) % alignment,
       found = reinterpret_cast<uintptr_t>(space.data()) % alignment;
  copy = space.data() + (wanted + alignment - found) % alignment;
}

void SharedMemory::fence() {
  if (bytes > 0)
    std::memcpy(copy, memory, bytes);
}

size_t SharedMemory::offsetOf(const void *at) const {
  auto *byte = static_cast<const char *>(at);
  if (!memory || byte < memory || byte >= memory + bytes)
    endWith("a copy or a product is not in dynamic shared memory");
  return static_cast<size_t>(byte - memory);
}

const char *SharedMemory::ofCopies(size_t offset, size_t size) const {
  if (offset > bytes || size > bytes - offset)
    endWith("a copy or a product goes beyond shared memory");
  return copy + offset;
}

char *SharedMemory::ofCopies(const void *begin, size_t size) {
  return const_cast<char *>(
      std::as_const(*this).ofCopies(offsetOf(begin), size));
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

BlockUnits::BlockUnits(Block &block)
    : block(block), groups(block.threads.size()),
      hasSeenFlag(block.threads.size()) {
  constexpr unsigned chances[] = {1, 2, 8, 64};
  laziness = chances[drawNumber() % std::size(chances)];
}

PhaseBarrier &BlockUnits::barrierAt(const void *at) {
  auto found = barriers.find(at);
  if (found == barriers.end())
    endWith("a barrier is used that was not begun");
  return found->second;
}

void BlockUnits::beginBarrier(const void *at, unsigned arrivals) {
  if (arrivals == 0)
    endWith("a barrier of no arrivals");
  if (!barriers.try_emplace(at, PhaseBarrier{arrivals, arrivals}).second)
    endWith("a barrier is begun twice");
}

void BlockUnits::publishBarriers() {
  for (auto &[at, barrier] : barriers)
    barrier.isPublished = true;
  memory.fence();
}

void BlockUnits::endPhase(const void *at, PhaseBarrier &barrier) {
  if (barrier.missing > 0 || barrier.bytes != 0)
    return;
  barrier.missing = barrier.arrivals;
  ++barrier.phase;
  // As in meet().
  ++block.barriers;
  wake(at);
}

void BlockUnits::arrive(const void *at, int64_t bytes) {
  PhaseBarrier &barrier = barrierAt(at);
  if (barrier.missing == 0)
    endWith("more threads arrive at a barrier than its phase has");
  barrier.bytes += bytes;
  --barrier.missing;
  endPhase(at, barrier);
}

bool BlockUnits::isPhaseOver(const void *at, unsigned parity) {
  progress();
  PhaseBarrier &barrier = barrierAt(at);
  auto isOver = [&] { return (barrier.phase & 1) != parity; };
  if (isOver())
    return true;
  block.threads[currentThread()].awaited = 0;
  block.threads[currentThread()].pointer = at;
  sleep(/*mayWakeUp=*/true);
  return isOver();
}

void BlockUnits::meet(int number, int threads, bool waits) {
  if (number < 1 || number > 15 || threads <= 0 || threads % 32 != 0)
    endWith("a barrier of warps has a number or a count that it cannot have");
  // A store before it is done.
  if (WeakMachine *machine = WeakMachine::current())
    machine->acquire(Scope::Block);
  Named &barrier = named[static_cast<size_t>(number)];
  if (barrier.arrived > 0 && barrier.threads != threads)
    endWith("threads wait at a barrier for different numbers of threads");
  barrier.threads = threads;
  unsigned generation = barrier.generation;
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    ++barrier.generation;
    // What the block's threads stored before is before what they do next.
    ++block.barriers;
    wake(&barrier);
    return;
  }
  while (waits && barrier.generation == generation) {
    block.threads[currentThread()].pointer = &barrier;
    sleep(/*mayWakeUp=*/false);
  }
}

void BlockUnits::sleep(bool mayWakeUp) {
  Thread &thread = block.threads[currentThread()];
  thread.mayWakeUp = mayWakeUp;
  waitAsleep();
}

/// Those that wait for it go on.
void BlockUnits::wake(const void *barrier) {
  for (Thread &thread : block.threads)
    if (thread.state == Thread::Sleeps && thread.pointer == barrier)
      thread.state = Thread::Runs;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void BlockUnits::load(void *to, const void *map, const int *at, int dims,
                      const void *barrier) {
  Load load{decode(map), {}, static_cast<char *>(to), &barrierAt(barrier)};
  if (const char *why = load.map.whyNot(load.to, at, dims))
    endWith((std::string("a copy ") + why).c_str());
  if (!load.barrier->isPublished)
    endWith("a copy counts on a barrier that was not published to copies");
  if (hasSeenFlag[currentThread()])
    endWith("a copy follows a flag without fenceAllForCopies");
  (void)memory.ofCopies(to, load.map.boxBytes());
  std::copy_n(at, dims, load.at.begin());
  loads.push_back(load);
  progress();
}

/// A box comes to shared memory, where all see it.
void BlockUnits::land(size_t number) {
  Load load = loads[number];
  loads.erase(loads.begin() + static_cast<std::ptrdiff_t>(number));
  size_t bytes = load.map.boxBytes();
  load.map.load(load.to, load.at.data());
  std::memcpy(memory.ofCopies(load.to, bytes), load.to, bytes);
  load.barrier->bytes -= static_cast<int64_t>(bytes);
  for (auto &[at, barrier] : barriers)
    if (&barrier == load.barrier)
      endPhase(at, barrier);
}

void BlockUnits::store(const void *map, const int *at, int dims,
                       const void *from) {
  Store &store = stores.emplace_back();
  store.map = decode(map);
  store.from = static_cast<const char *>(from);
  store.thread = currentThread();
  if (const char *why = store.map.whyNot(store.from, at, dims))
    endWith((std::string("a copy ") + why).c_str());
  (void)memory.ofCopies(from, store.map.boxBytes());
  std::copy_n(at, dims, store.at.begin());
  progress();
}

void BlockUnits::read(Store &store) {
  constexpr size_t alignment = 1024;
  size_t bytes = store.map.boxBytes();
  const char *from = memory.ofCopies(store.from, bytes);
  store.box.resize(bytes + alignment);
  auto wanted = reinterpret_cast<uintptr_t>(from) % alignment,
       found = reinterpret_cast<uintptr_t>(store.box.data()) % alignment;
  char *to = store.box.data() + (wanted + alignment - found) % alignment;
  std::memcpy(to, from, bytes);
  store.read = to;
}

void BlockUnits::write(Store &store) {
  if (!store.read)
    read(store);
  store.map.store(store.read, store.at.data());
}

void BlockUnits::commitStores() {
  unsigned thread = currentThread();
  for (Store &store : stores)
    if (store.thread == thread && store.group < 0)
      store.group = groups[thread];
  ++groups[thread];
}

void BlockUnits::awaitStores(int left, bool areWritten) {
  unsigned thread = currentThread();
  for (auto it = stores.begin(); it != stores.end();) {
    bool isMeant = it->thread == thread && it->group >= 0 &&
                   it->group < groups[thread] - left;
    it->isAwaited |= isMeant;
    if (isMeant && !it->read)
      read(*it);
    if (isMeant && areWritten) {
      write(*it);
      it = stores.erase(it);
    } else {
      ++it;
    }
  }
}

void BlockUnits::fenceAll() {
  hasSeenFlag[currentThread()] = false;
  memory.fence();
}
void BlockUnits::seeFlag() { hasSeenFlag[currentThread()] = true; }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Warpgroup &BlockUnits::warpgroup() {
  return warpgroups.try_emplace(currentThread() / Warpgroup::threads, memory)
      .first->second;
}

static int threadOfGroup() {
  return static_cast<int>(currentThread()) % Warpgroup::threads;
}

void BlockUnits::multiply(float *sums, const ProductCall &call) {
  Warpgroup &group = warpgroup();
  if (!group.begin(threadOfGroup(), sums, call))
    return;
  // Others may wait for this.
  wake(&group);
  progress();
}

void BlockUnits::awaitProducts(int left) {
  Warpgroup &group = warpgroup();
  while (!group.canFinish(threadOfGroup(), left)) {
    block.threads[currentThread()].pointer = &group;
    sleep(/*mayWakeUp=*/false);
  }
  group.finish(threadOfGroup(), left);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// One of the things that have begun and are not done; false if there are none.
bool BlockUnits::happen() {
  std::vector<Store *> unread;
  for (Store &store : stores)
    if (!store.read)
      unread.push_back(&store);
  std::vector<Warpgroup *> ready;
  for (auto &[number, group] : warpgroups)
    if (group.canMultiply())
      ready.push_back(&group);
  size_t count = loads.size() + unread.size() + ready.size();
  if (count == 0)
    return false;
  size_t which = drawNumber() % count;
  if (which < loads.size())
    land(which);
  else if (which -= loads.size(); which < unread.size())
    read(*unread[which]);
  else
    ready[which - unread.size()]->multiply();
  return true;
}

bool BlockUnits::progress() {
  bool isAny = false;
  while (drawNumber() % laziness == 0 && happen()) {
    isAny = true;
    // Those that are never lazy leave something, too.
    if (laziness == 1 && drawNumber() % 2)
      break;
  }
  return isAny;
}

bool BlockUnits::goOn(bool wakes) {
  if (happen())
    return true;
  bool isAny = false;
  for (Thread &thread : block.threads)
    if (wakes && thread.state == Thread::Sleeps && thread.mayWakeUp) {
      thread.state = Thread::Runs;
      isAny = true;
    }
  return isAny;
}

void BlockUnits::endThread() {
  unsigned thread = currentThread();
  auto group = warpgroups.find(thread / Warpgroup::threads);
  if (group != warpgroups.end() && !group->second.isDone(threadOfGroup()))
    endWith("it ends before its products were waited for");
  for (auto it = stores.begin(); it != stores.end();) {
    if (it->thread != thread) {
      ++it;
      continue;
    }
    if (it->group < 0)
      endWith("it ends with copies to global memory that were not committed");
    if (!it->isAwaited)
      endWith("it ends before its copies to global memory were waited for");
    write(*it);
    it = stores.erase(it);
  }
  bool isLast = std::count_if(block.threads.begin(), block.threads.end(),
                              [](const Thread &other) {
                                return other.state != Thread::Done;
                              }) == 1;
  if (isLast && !loads.empty())
    endWith("the block ends before copies to its memory have come");
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static BlockUnits &units() { return currentBlock()->units(); }

void useSharedMemory(void *memory, unsigned long bytes) {
  units().memory.use(static_cast<char *>(memory), bytes);
}

void beginBarrier(u64 *barrier, unsigned arrivals) {
  units().beginBarrier(barrier, arrivals);
}
void publishBarriers() { units().publishBarriers(); }
void arrive(u64 *barrier) { units().arrive(barrier, 0); }
void arriveExpecting(u64 *barrier, unsigned bytes) {
  units().arrive(barrier, bytes);
}
bool isPhaseOver(u64 *barrier, unsigned parity) {
  return units().isPhaseOver(barrier, parity);
}
void syncThreads(int number, int threads) {
  units().meet(number, threads, true);
}
void arriveThreads(int number, int threads) {
  units().meet(number, threads, false);
}

void fenceForCopies() { units().memory.fence(); }
void fenceAllForCopies() { units().fenceAll(); }
void prefetchMap(const void *map) {
  if (decode(map).magic != TensorMap::right)
    endWith("a tensor map is fetched that the driver has not made");
}
void loadBox(void *to, const void *map, const int *at, int dims, u64 *barrier) {
  units().load(to, map, at, dims, barrier);
}
void storeBox(const void *map, const int *at, int dims, const void *from) {
  units().store(map, at, dims, from);
}
void commitStores() { units().commitStores(); }
void awaitStores(int left, bool areWritten) {
  units().awaitStores(left, areWritten);
}

u64 describeTile(const void *at, unsigned leadingBytes, unsigned strideBytes) {
  constexpr u64 swizzledBy128Bytes = u64(1) << 62;
  return u64(units().memory.offsetOf(at) >> 4) | u64(leadingBytes >> 4) << 16 |
         u64(strideBytes >> 4) << 32 | swizzledBy128Bytes;
}
void beginProducts() { units().warpgroup().fence(threadOfGroup()); }
void commitProducts() { units().warpgroup().commit(threadOfGroup()); }
void awaitProducts(int left) { units().awaitProducts(left); }
void multiplyShared(float *sums, int columns, bool isATransposed,
                    bool isBTransposed, u64 a, u64 b, int adds, int bytes,
                    float (*decode)(unsigned)) {
  units().multiply(
      sums,
      {a, b, adds, columns, isATransposed, isBTransposed, {bytes, decode}});
}
void multiplyPacked(float *sums, int columns, bool isBTransposed,
                    const unsigned *a, u64 b, int adds,
                    float (*decode)(unsigned)) {
  units().multiply(sums,
                   {0, b, adds, columns, false, isBTransposed, {2, decode}, a});
}
