//===- Blocks.cpp - Blocks of CUDA threads on the CPU ---------------------===//

#include "test/common/emulator/Blocks.h"

// Its names are of no namespace, as CUDA has them.
#include "test/common/emulator/Intrinsics.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <ucontext.h>
#include <utility>

using namespace ccn;
using emulator::Cluster;

thread_local CudaIndex threadIdx, blockIdx, blockDim, gridDim;
thread_local int emulator::flagDelay = 0;

namespace {

/// Half a packet, which may alias other types.
using Word [[gnu::may_alias]] = unsigned long long;

struct Copy {
  void *to;
  const void *from;
  int bytes;

  void run() const {
    std::memset(to, 0, 16);
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
};

struct Thread {
  enum State { Runs, AwaitsWarp, AwaitsBlock, Done };

  State state = Runs;
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  /// Asynchronous copies that have not happened.
  std::vector<Copy> copies;
  /// What it shows to the other threads of its warp or block.
  const void *pointer = nullptr;
  unsigned registers[6] = {};
  /// The lanes of its warp that it waits for.
  unsigned awaited = 0;
  /// Whether it has ended before its kernel does.
  bool isLost = false;
  bool predicate = false;
  /// The barrier of the cluster to which it has come.
  unsigned barrier = 0;
  bool hasArrived = false;
};

thread_local std::vector<Thread> threads;
thread_local ucontext_t scheduler;
thread_local const std::function<void()> *kernel;
thread_local std::mt19937 random32(1);
/// Whether threads that have ended are not waited for.
thread_local bool endedIsHere = false;
/// That of the block; null if it is alone.
thread_local Cluster *ownCluster = nullptr;

Thread &current() { return threads[threadIdx.x]; }
/// A thread of the current one's warp.
Thread &lane(unsigned number) {
  return threads[threadIdx.x / 32 * 32 + number];
}
unsigned ownLane() { return threadIdx.x % 32; }

/// Lets the others go on; this thread does so from `state`.
void await(Thread::State state) {
  unsigned own = threadIdx.x;
  threads[own].state = state;
  swapcontext(&threads[own].context, &scheduler);
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
  (*kernel)();
  if (ownCluster)
    ownCluster->leave(blockIdx.x);
  current().state = Thread::Done;
}

/// Lets the threads of [begin, end) go on if all that count are in `state`.
bool release(size_t begin, size_t end, Thread::State state) {
  bool isAny = false;
  for (size_t i = begin; i < end; ++i) {
    if (endedIsHere && threads[i].state == Thread::Done)
      continue;
    if (threads[i].state != state)
      return false;
    isAny = true;
  }
  for (size_t i = begin; i < end; ++i)
    if (threads[i].state == state)
      threads[i].state = Thread::Runs;
  return isAny;
}

/// Lets the lanes of a warp go on that wait for each other, all with the same
/// mask. None may wait for one that has come to the end of the kernel.
bool releaseLanes(size_t begin) {
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
bool runWarp(size_t begin, std::mt19937 &random) {
  bool hasRun = false;
  unsigned order[32];
  std::iota(std::begin(order), std::end(order), static_cast<unsigned>(begin));
  do {
    std::shuffle(std::begin(order), std::end(order), random);
    for (unsigned i : order)
      if (threads[i].state == Thread::Runs) {
        hasRun = true;
        threadIdx.x = i;
        swapcontext(&scheduler, &threads[i].context);
      }
  } while (releaseLanes(begin));
  return hasRun;
}

void runThreads(size_t count) {
  constexpr size_t stackBytes = 128 << 10;
  threads = std::vector<Thread>(count);
  for (Thread &thread : threads) {
    thread.stack.reset(new char[stackBytes]);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = stackBytes;
    thread.context.uc_link = &scheduler;
    makecontext(&thread.context, threadMain, 0);
  }
  // A warp goes as far as it can before the next: what is not ordered by
  // barriers happens in the wrong order.
  std::vector<size_t> warps(count / 32);
  for (size_t i = 0; i < warps.size(); ++i)
    warps[i] = 32 * i;
  bool hasRun = true;
  while (hasRun) {
    hasRun = false;
    std::shuffle(warps.begin(), warps.end(), random32);
    for (size_t warp : warps)
      hasRun |= runWarp(warp, random32);
    release(0, count, Thread::AwaitsBlock);
  }
  for (const Thread &thread : threads)
    if (thread.state != Thread::Done) {
      std::fputs("a thread of a block waits for ever\n", stderr);
      std::abort();
    }
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

void emulator::runBlock(int block, int blocks, int threadCount,
                        const std::function<void()> &function, bool mayEnd,
                        Cluster *cluster) {
  ownCluster = cluster;
  kernel = &function;
  endedIsHere = mayEnd;
  blockIdx.x = static_cast<unsigned>(block);
  blockDim.x = static_cast<unsigned>(threadCount);
  gridDim.x = static_cast<unsigned>(blocks);
  runThreads(static_cast<size_t>(threadCount));
}

void emulator::runBlocks(int blocks, int threadCount,
                         const std::function<void()> &function, bool mayEnd) {
  for (int block = 0; block < blocks; ++block)
    runBlock(block, blocks, threadCount, function, mayEnd);
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
  await(Thread::Runs);
}

static void delayFlag() {
  if (emulator::flagDelay > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(emulator::flagDelay));
}

unsigned loadAcquire(const unsigned *from) {
  delayFlag();
  yieldThread();
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
void storeRelease(unsigned *to, unsigned value) {
  delayFlag();
  __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

unsigned long long nanoseconds() {
  return static_cast<unsigned long long>(
      std::chrono::steady_clock::now().time_since_epoch().count());
}

void endThread() {
  // Others may still write to what a block of a cluster has.
  if (ownCluster && ownCluster->leave(blockIdx.x) == 0) {
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
  current().barrier = ownCluster->arrive(blockIdx.x, anchor);
}
void awaitCluster() {
  current().hasArrived = false;
  while (!ownCluster->isOver(current().barrier))
    yieldThread();
}
void *sharedOfBlock(void *own, unsigned block, char *anchor) {
  char *other = ownCluster->anchor(block);
  if (!other) {
    std::fputs("a block of a cluster may not have begun, or has ended\n",
               stderr);
    std::abort();
  }
  return other + (static_cast<char *>(own) - anchor);
}

// Of packets as much comes at once as of 8 bytes.
uint4 loadPacket(const uint4 *from) {
  yieldThread();
  uint4 packet;
  for (int half : {0, 1})
    reinterpret_cast<Word *>(&packet)[half] = __atomic_load_n(
        reinterpret_cast<const Word *>(from) + half, __ATOMIC_RELAXED);
  return packet;
}
void storePacket(uint4 *to, uint4 packet) {
  for (int half : {1, 0})
    __atomic_store_n(reinterpret_cast<Word *>(to) + half,
                     reinterpret_cast<const Word *>(&packet)[half],
                     __ATOMIC_RELAXED);
}

int __syncthreads_or(int predicate) {
  current().predicate = predicate != 0;
  __syncthreads();
  int any = 0;
  for (const Thread &thread : threads)
    any |= thread.predicate;
  __syncthreads();
  return any;
}

int __syncthreads_count(int predicate) {
  current().predicate = predicate != 0;
  __syncthreads();
  int count = 0;
  for (const Thread &thread : threads)
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

void copyAsync(void *to, const void *from, int bytes) {
  Copy copy = {to, from, bytes};
  if (random32() % 2)
    copy.run();
  else
    current().copies.push_back(copy);
}

void awaitCopies() {
  for (const Copy &copy : current().copies)
    copy.run();
  current().copies.clear();
}
