//===- Blocks.cpp - Blocks of CUDA threads on the CPU ---------------------===//

#include "test/common/emulator/Blocks.h"

#include "test/common/emulator/Hopper.h"
// Its names are of no namespace, as CUDA has them.
#include "test/common/emulator/Intrinsics.h"
#include "test/common/emulator/WeakMachine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

using namespace ccn;
using namespace ccn::emulator;

thread_local CudaIndex threadIdx, blockIdx, blockDim, gridDim;
thread_local int emulator::flagDelay = 0;

namespace {

/// Half a packet, which may alias other types.
using Word [[gnu::may_alias]] = unsigned long long;

/// That of the thread that runs.
thread_local Block *ownBlock;
thread_local std::mt19937 random32(1);
/// Of threads of blocks that are done.
thread_local std::vector<std::unique_ptr<char[]>> spareStacks;

Thread &current() { return ownBlock->threads[threadIdx.x]; }
/// A thread of the current one's warp.
Thread &lane(unsigned number) {
  return ownBlock->threads[threadIdx.x / 32 * 32 + number];
}
unsigned ownLane() { return threadIdx.x % 32; }

/// Lets the others go on; this thread does so from `state`.
void await(Thread::State state) {
  Thread &own = current();
  own.state = state;
  own.fiber.pause();
}
/// Waits for the lanes of the warp that a mask names.
void awaitLanes(unsigned mask) {
  if ((mask >> ownLane() & 1) == 0) {
    std::fputs("a thread is not among the lanes that it waits for\n", stderr);
    std::abort();
  }
  current().awaited = mask;
  await(Thread::AwaitsWarp);
}
void awaitWarp() { awaitLanes(~0u); }

void threadMain() {
  ownBlock->kernel();
  ownBlock->endThread();
  if (ownBlock->cluster)
    ownBlock->cluster->leave(blockIdx.x);
  await(Thread::Done);
}

unsigned short elementOf(const void *row, unsigned number) {
  unsigned short element;
  std::memcpy(&element, static_cast<const char *>(row) + 2 * number, 2);
  return element;
}

void loadFour(unsigned (&to)[4], const void *row, bool isTransposed) {
  current().pointer = row;
  awaitWarp();
  unsigned line = ownLane() / 4, pair = ownLane() % 4 * 2;
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    auto element = [&](unsigned i, unsigned j) {
      return unsigned(elementOf(lane(8 * matrix + i).pointer, j));
    };
    to[matrix] = isTransposed
                     ? element(pair, line) | element(pair + 1, line) << 16
                     : element(line, pair) | element(line, pair + 1) << 16;
  }
  awaitWarp();
}

} // namespace

Block *emulator::currentBlock() { return ownBlock; }
unsigned emulator::currentThread() { return threadIdx.x; }
void emulator::seedOrder(unsigned seed) { random32.seed(seed); }
unsigned emulator::drawNumber() { return static_cast<unsigned>(random32()); }
void emulator::letOthersRun() { await(Thread::Runs); }
void emulator::waitAsleep() { await(Thread::Sleeps); }

Block::Block(int number, int blocks, int threadCount,
             const std::function<void()> &kernel, bool mayEnd, Cluster *cluster)
    : threads(static_cast<size_t>(threadCount)),
      number(static_cast<unsigned>(number)),
      blocks(static_cast<unsigned>(blocks)), kernel(kernel),
      endedIsHere(mayEnd), cluster(cluster) {
  constexpr size_t stackBytes = 128 << 10;
  for (Thread &thread : threads) {
    if (spareStacks.empty())
      spareStacks.emplace_back(new char[stackBytes]);
    thread.stack = std::move(spareStacks.back());
    spareStacks.pop_back();
    thread.fiber.start(thread.stack.get(), stackBytes, threadMain);
  }
}

Block::~Block() {
  for (Thread &thread : threads)
    spareStacks.push_back(std::move(thread.stack));
}

void Block::enter(unsigned thread) {
  ownBlock = this;
  threadIdx.x = thread;
  blockIdx.x = number;
  blockDim.x = static_cast<unsigned>(threads.size());
  gridDim.x = blocks;
}

void Block::resume(unsigned thread) {
  enter(thread);
  threads[thread].fiber.resume();
}

bool Block::isDone() const {
  return std::all_of(threads.begin(), threads.end(), [](const Thread &thread) {
    return thread.state == Thread::Done;
  });
}

BlockUnits &Block::units() {
  if (!ownUnits)
    ownUnits = std::make_unique<BlockUnits>(*this);
  return *ownUnits;
}

bool Block::goOn(bool wakes) {
  if (!ownUnits || isDone())
    return false;
  enter(0);
  return ownUnits->goOn(wakes);
}

void Block::seeFlag() {
  if (ownUnits)
    ownUnits->seeFlag();
}

void Block::endThread() {
  if (ownUnits)
    ownUnits->endThread();
}

bool Block::releaseBlock() {
  bool isAny = false;
  for (const Thread &thread : threads) {
    if (endedIsHere && thread.state == Thread::Done)
      continue;
    if (thread.state != Thread::AwaitsBlock)
      return false;
    isAny = true;
  }
  for (Thread &thread : threads)
    if (thread.state == Thread::AwaitsBlock)
      thread.state = Thread::Runs;
  barriers += isAny;
  return isAny;
}

/// Lanes wait for each other with the same mask. None may wait for one that has
/// come to the end of the kernel.
bool Block::releaseWarp(unsigned thread) {
  size_t begin = thread / 32 * 32;
  bool isAny = false;
  for (unsigned i = 0; i < 32; ++i) {
    if (threads[begin + i].state != Thread::AwaitsWarp)
      continue;
    unsigned mask = threads[begin + i].awaited;
    bool isHere = true;
    for (unsigned j = 0; j < 32; ++j) {
      const Thread &other = threads[begin + j];
      bool waits = other.state == Thread::AwaitsWarp && other.awaited == mask;
      isHere &= (mask >> j & 1) == 0 || waits || (endedIsHere && other.isLost);
    }
    for (unsigned j = 0; isHere && j < 32; ++j)
      if ((mask >> j & 1) != 0 &&
          threads[begin + j].state == Thread::AwaitsWarp)
        threads[begin + j].state = Thread::Runs;
    isAny |= isHere;
  }
  return isAny;
}

/// Runs the threads of a warp, in a random order, until all of them wait for
/// the block or are done; false if none could run.
bool Block::runWarp(size_t begin) {
  bool hasRun = false;
  unsigned order[32];
  std::iota(std::begin(order), std::end(order), static_cast<unsigned>(begin));
  do {
    std::shuffle(std::begin(order), std::end(order), random32);
    for (unsigned i : order)
      if (threads[i].state == Thread::Runs) {
        hasRun = true;
        resume(i);
      }
  } while (releaseWarp(order[0]));
  return hasRun;
}

void Block::run() {
  // A warp goes as far as it can before the next: what is not ordered by
  // barriers happens in the wrong order.
  std::vector<size_t> warps(threads.size() / 32);
  for (size_t i = 0; i < warps.size(); ++i)
    warps[i] = 32 * i;
  bool hasRun = true;
  while (hasRun) {
    hasRun = false;
    std::shuffle(warps.begin(), warps.end(), random32);
    for (size_t warp : warps)
      hasRun |= runWarp(warp);
    releaseBlock();
    if (ownUnits)
      hasRun |= ownUnits->progress();
    if (!hasRun)
      hasRun = goOn(/*wakes=*/true);
  }
  if (!isDone()) {
    std::fputs("a thread of a block waits for ever\n", stderr);
    std::abort();
  }
}

void emulator::runBlock(int number, int blocks, int threads,
                        const std::function<void()> &kernel, bool mayEnd,
                        Cluster *cluster) {
  Block(number, blocks, threads, kernel, mayEnd, cluster).run();
}

void emulator::runBlocks(int blocks, int threads,
                         const std::function<void()> &kernel, bool mayEnd) {
  for (int number = 0; number < blocks; ++number)
    runBlock(number, blocks, threads, kernel, mayEnd);
}

void __syncthreads() { await(Thread::AwaitsBlock); }

void __syncwarp(unsigned mask) { awaitLanes(mask); }

unsigned __shfl_xor_sync(unsigned mask, unsigned value, int lanes) {
  unsigned from = ownLane() ^ static_cast<unsigned>(lanes);
  if ((mask >> from & 1) == 0) {
    std::fputs("a thread shuffles with a lane that it does not wait for\n",
               stderr);
    std::abort();
  }
  current().registers[0] = value;
  awaitLanes(mask);
  unsigned result = lane(from).registers[0];
  awaitLanes(mask);
  return result;
}

/// Lets other threads of the block go on, and others of the CPU.
static void yieldThread() {
  std::this_thread::yield();
  letOthersRun();
}

static void delayFlag() {
  if (emulator::flagDelay > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(emulator::flagDelay));
}

static unsigned awaitWord(const unsigned *from) {
  delayFlag();
  yieldThread();
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
unsigned loadAcquire(const unsigned *from) {
  ownBlock->seeFlag();
  if (WeakMachine *machine = WeakMachine::current())
    return machine->loadWord(machine->instructions.flagLoad, from);
  return awaitWord(from);
}
unsigned loadAcquireOwn(const unsigned *from) {
  if (WeakMachine *machine = WeakMachine::current())
    return machine->loadWord(machine->instructions.ownLoad, from);
  return awaitWord(from);
}
void storeRelease(unsigned *to, unsigned value) {
  if (WeakMachine *machine = WeakMachine::current())
    return machine->storeWord(machine->instructions.flagStore, to, value);
  delayFlag();
  __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

static void fence(Scope scope) {
  if (WeakMachine *machine = WeakMachine::current())
    return machine->fence(scope);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __threadfence() { fence(Scope::Device); }
void __threadfence_system() { fence(Scope::System); }

unsigned long long nanoseconds() {
  // There, who waits for ever is found out in another way.
  if (WeakMachine::current())
    return 1;
  return static_cast<unsigned long long>(
      std::chrono::steady_clock::now().time_since_epoch().count());
}

void endThread() {
  // Others may still write to what a block of a cluster has.
  if (ownBlock->cluster && ownBlock->cluster->leave(blockIdx.x) == 0) {
    std::fputs("a block of a cluster ends before its kernel does\n", stderr);
    std::abort();
  }
  current().isLost = true;
  await(Thread::Done);
}

unsigned Cluster::arrive(unsigned block, char *anchor) {
  std::lock_guard lock(mutex);
  anchors[block % anchors.size()] = anchor;
  unsigned number = barriers;
  if (++arrived == expected) {
    arrived = 0;
    ++barriers;
  }
  return number;
}
bool Cluster::isOver(unsigned barrier) {
  std::lock_guard lock(mutex);
  return barriers != barrier;
}
unsigned Cluster::leave(unsigned block) {
  std::lock_guard lock(mutex);
  unsigned left = --running[block % running.size()];
  if (--expected == arrived && expected > 0) {
    arrived = 0;
    ++barriers;
  }
  return left;
}
char *Cluster::anchor(unsigned block) {
  std::lock_guard lock(mutex);
  return running[block] > 0 ? anchors[block] : nullptr;
}

void arriveInCluster(char *anchor) {
  if (std::exchange(current().hasArrived, true)) {
    std::fputs("a thread comes to a cluster's barrier before it has waited for "
               "the one before\n",
               stderr);
    std::abort();
  }
  WeakMachine *machine = WeakMachine::current();
  if (machine && machine->instructions.arriveInCluster == Order::Release)
    machine->fence(Scope::Device);
  current().barrier = ownBlock->cluster->arrive(blockIdx.x, anchor);
}
void awaitCluster() {
  WeakMachine *machine = WeakMachine::current();
  current().hasArrived = false;
  while (!ownBlock->cluster->isOver(current().barrier))
    if (machine)
      machine->look(ownBlock->cluster, 0);
    else
      yieldThread();
  if (machine && machine->instructions.awaitCluster == Order::Acquire)
    machine->acquire(Scope::Device);
}
void *sharedOfBlock(void *own, unsigned block, char *anchor) {
  char *other = ownBlock->cluster->anchor(block);
  if (!other) {
    std::fputs("a block of a cluster may not have begun, or has ended\n",
               stderr);
    std::abort();
  }
  return other + (static_cast<char *>(own) - anchor);
}

// Of packets as much comes at once as of 8 bytes.
uint4 loadPacket(const uint4 *from) {
  if (WeakMachine *machine = WeakMachine::current()) {
    uint4 packet;
    machine->load(machine->instructions.packetLoad, from, &packet,
                  sizeof packet);
    return packet;
  }
  yieldThread();
  uint4 packet;
  for (int half : {0, 1})
    reinterpret_cast<Word *>(&packet)[half] = __atomic_load_n(
        reinterpret_cast<const Word *>(from) + half, __ATOMIC_RELAXED);
  return packet;
}
void storePacket(uint4 *to, uint4 packet) {
  if (WeakMachine *machine = WeakMachine::current())
    return machine->store(machine->instructions.packetStore, to, &packet,
                          sizeof packet);
  for (int half : {1, 0})
    __atomic_store_n(reinterpret_cast<Word *>(to) + half,
                     reinterpret_cast<const Word *>(&packet)[half],
                     __ATOMIC_RELAXED);
}

int __syncthreads_or(int predicate) {
  current().predicate = predicate != 0;
  __syncthreads();
  int any = 0;
  for (const Thread &thread : ownBlock->threads)
    any |= thread.predicate;
  __syncthreads();
  return any;
}

int __syncthreads_count(int predicate) {
  current().predicate = predicate != 0;
  __syncthreads();
  int count = 0;
  for (const Thread &thread : ownBlock->threads)
    count += thread.state != Thread::Done && thread.predicate;
  __syncthreads();
  return count;
}

unsigned __ballot_sync(unsigned, int predicate) {
  current().predicate = predicate != 0;
  awaitWarp();
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; ++i)
    bits |= unsigned(lane(i).predicate) << i;
  awaitWarp();
  return bits;
}

void storeMatrices(void *row, const unsigned (&from)[4]) {
  // No lane sees what the others store without a wait of its own. One may be at
  // the next of these before others have looked at this one's address.
  unsigned turn = current().stores++ % 2;
  current().rows[turn] = row;
  awaitWarp();
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    auto *to = static_cast<char *>(lane(8 * matrix + ownLane() / 4).rows[turn]);
    std::memcpy(to + ownLane() % 4 * 4, &from[matrix], 4);
  }
}

void loadMatrices(unsigned (&to)[4], const void *row) {
  loadFour(to, row, false);
}
void loadTransposed(unsigned (&to)[4], const void *row) {
  loadFour(to, row, true);
}

void multiplyTiles(float (&sums)[4], const unsigned (&a)[4], const unsigned *b,
                   float (*decode)(unsigned short)) {
  std::copy_n(a, 4, current().registers);
  std::copy_n(b, 2, current().registers + 4);
  awaitWarp();
  auto half = [&](const Thread &thread, unsigned number, unsigned k) {
    return decode(
        static_cast<unsigned short>(thread.registers[number] >> (k % 2 * 16)));
  };
  for (unsigned i = 0; i < 4; ++i) {
    unsigned row = ownLane() / 4 + i / 2 * 8,
             column = ownLane() % 4 * 2 + i % 2;
    for (unsigned k = 0; k < 16; ++k)
      sums[i] += half(lane(row % 8 * 4 + k % 8 / 2), row / 8 + k / 8 * 2, k) *
                 half(lane(column * 4 + k % 8 / 2), 4 + k / 8, k);
  }
  awaitWarp();
}

static void run(const Thread::Copy &copy) {
  std::memset(copy.to, 0, 16);
  std::memcpy(copy.to, copy.from, static_cast<size_t>(copy.bytes));
}
void copyAsync(void *to, const void *from, int bytes) {
  Thread::Copy copy = {to, from, bytes};
  if (random32() % 2)
    run(copy);
  else
    current().copies.push_back(copy);
}

void awaitCopies() {
  WeakMachine *machine = WeakMachine::current();
  if (machine && !machine->instructions.awaitsCopies)
    return;
  for (const Thread::Copy &copy : current().copies)
    run(copy);
  current().copies.clear();
}
