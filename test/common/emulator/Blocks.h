//===- Blocks.h - Blocks of CUDA threads on the CPU -------------*- C++ -*-===//
//
// Runs kernels on the CPU: the blocks one after the other, or each on a thread
// of the caller's. The threads of a block are fibers that take turns wherever
// they wait for each other, as far out of order as the barriers allow.
// Instructions of a warp are done as their documentation says; asynchronous
// copies at once or as late as may be.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_EMULATOR_BLOCKS_H
#define CCN_TEST_COMMON_EMULATOR_BLOCKS_H

#include "test/common/emulator/Fiber.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace ccn::emulator {

class BlockUnits;

/// What the blocks of a cluster share, each of which runs on a thread of its
/// own.
class Cluster {
public:
  /// Of so many threads in each block.
  Cluster(int blocks, int threads)
      : anchors(static_cast<size_t>(blocks)),
        running(anchors.size(), static_cast<unsigned>(threads)),
        expected(static_cast<unsigned>(blocks * threads)) {}

  /// A thread of a block, which has shared memory at that distance from the
  /// anchor, comes to the next barrier, whose number this is.
  unsigned arrive(unsigned block, char *anchor);
  bool isOver(unsigned barrier);
  /// A thread of a block is not waited for any more; how many of its threads
  /// are left.
  unsigned leave(unsigned block);
  /// Null before one of the block's threads has come to a barrier, and when all
  /// have ended.
  char *anchor(unsigned block);

private:
  std::mutex mutex;
  std::vector<char *> anchors;
  /// The threads of each block that have not ended, and all.
  std::vector<unsigned> running;
  unsigned expected, arrived = 0, barriers = 0;
};

/// A thread of a block.
struct Thread {
  /// Who sleeps goes on when somebody sets it to Runs.
  enum State { Runs, AwaitsWarp, AwaitsBlock, Sleeps, Done };
  struct Copy {
    void *to;
    const void *from;
    int bytes;
  };

  State state = Runs;
  Fiber fiber;
  std::unique_ptr<char[]> stack;
  /// Asynchronous copies that have not happened.
  std::vector<Copy> copies;
  /// What it shows to the other threads of its warp or block.
  const void *pointer = nullptr;
  unsigned registers[6] = {};
  /// The rows that it gave to its last two storeMatrices, and how many it has
  /// done.
  void *rows[2] = {};
  unsigned stores = 0;
  /// Of one that sleeps: whether it goes on when nobody else can.
  bool mayWakeUp = false;
  /// The lanes of its warp that it waits for.
  unsigned awaited = 0;
  /// Whether it has ended before its kernel does.
  bool isLost = false;
  bool predicate = false;
  /// The barrier of the cluster to which it has come.
  unsigned barrier = 0;
  bool hasArrived = false;
  /// In weak memory: what it looked at last, and how often anything had changed
  /// by then. If it looks there again it need not go on before it changes.
  const void *lookedAt = nullptr;
  size_t lookedBytes = 0;
  char seen[16] = {};
  uint64_t lookedAfter = 0;
  bool spins = false;
};

/// The threads of a block, which take turns on the thread that resumes them.
class Block {
public:
  /// Block `number` of `blocks`, with a multiple of 32 threads. `kernel` and
  /// `cluster`, which may be null, must outlive it. Where `mayEnd`, threads
  /// that have ended are not waited for, as GPUs do it.
  Block(int number, int blocks, int threads,
        const std::function<void()> &kernel, bool mayEnd, Cluster *cluster);
  ~Block();

  /// Lets a thread that runs do so until it waits or lets others go on.
  void resume(unsigned thread);
  /// Lets threads go on that wait for each other and have all come; false if
  /// there are none.
  bool releaseWarp(unsigned thread);
  bool releaseBlock();
  /// Runs all threads to their ends, as far out of order as barriers allow.
  void run();

  bool isDone() const;
  /// What it has of sm_90a, made when it is first needed.
  BlockUnits &units();
  /// As no thread can run: lets something that threads have begun happen, or,
  /// if `wakes`, those go on that look again and again; false if there is
  /// nothing.
  bool goOn(bool wakes);
  /// The current thread has come to the end of the kernel, or sees a flag.
  void endThread();
  void seeFlag();
  std::vector<Thread> threads;
  /// How often its threads have waited for each other.
  unsigned barriers = 0;
  const unsigned number, blocks;
  const std::function<void()> &kernel;
  const bool endedIsHere;
  Cluster *const cluster;

private:
  void enter(unsigned thread);
  bool runWarp(size_t begin);

  std::unique_ptr<BlockUnits> ownUnits;
};

/// The block of the thread that runs, and the numbers that the order of threads
/// is drawn from.
Block *currentBlock();
unsigned currentThread();
void seedOrder(unsigned seed);
unsigned drawNumber();
/// Lets other threads of the block go on.
void letOthersRun();
/// Likewise, until somebody wakes this one.
void waitAsleep();

/// Runs `blocks` blocks of `threads` threads, a multiple of 32; ends the
/// program if threads wait for ones that do not come. Where `mayEnd`, threads
/// that have ended are not waited for, as GPUs do it.
void runBlocks(int blocks, int threads, const std::function<void()> &kernel,
               bool mayEnd = false);

/// Runs block `block` of as many, maybe of a cluster.
void runBlock(int block, int blocks, int threads,
              const std::function<void()> &kernel, bool mayEnd = false,
              Cluster *cluster = nullptr);

/// How long the blocks that this thread runs take for each access to a flag, in
/// microseconds.
extern thread_local int flagDelay;

} // namespace ccn::emulator

#endif // CCN_TEST_COMMON_EMULATOR_BLOCKS_H
