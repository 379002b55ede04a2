//===- WeakMachine.h - Ranks on memory that is seen late --------*- C++ -*-===//
//
// Runs the kernels of several ranks, each rank's one after the other and as far
// ahead of the other ranks as they let it, on one thread of the CPU: which
// thread of which block goes on, and which store gets further, is drawn from a
// seed. Memory is weak (WeakMemory.h), and its instructions order what those in
// the program's text do.
//
// Kernels are compiled with hooks for their accesses (Kernels.h). A store is
// done when its hook has returned, so the next hook takes down what it left.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_EMULATOR_WEAKMACHINE_H
#define CCN_TEST_COMMON_EMULATOR_WEAKMACHINE_H

#include "test/common/emulator/Blocks.h"
#include "test/common/emulator/MemoryInstructions.h"
#include "test/common/emulator/WeakMemory.h"

#include <deque>
#include <random>
#include <string>

namespace ccn::emulator {

/// A kernel of a rank; all it did is seen when `after` is called, and what the
/// host writes in `before` when it begins.
struct WeakLaunch {
  std::function<void()> before, after;
  int blocks = 1, threads = 32, clusterBlocks = 1;
  /// A thread of a block.
  std::function<std::function<void()>(int block)> kernel;
};

class WeakMachine {
public:
  /// `blocks` is the most that a launch has.
  WeakMachine(int ranks, int blocks, size_t bytes,
              const MemoryInstructions &instructions, unsigned seed);
  ~WeakMachine();

  /// That in which the current thread of the CPU runs blocks; else null.
  static WeakMachine *current();

  /// Memory as a block of a rank sees it, and as all do.
  std::byte *view(int rank, int block);
  std::byte *memory() { return system->memory; }
  /// A host writes to memory of its rank.
  void write(size_t offset, const void *data, size_t size);

  void submit(int rank, WeakLaunch launch);
  /// Runs all; returns what is wrong, or nothing.
  std::string run();
  /// Lets it return early.
  void giveUp() { isOver = true; }

  // What the running thread does.
  void load(const MemoryInstruction &how, const void *from, void *to, int size);
  void store(const MemoryInstruction &how, void *to, const void *from,
             int size);
  unsigned loadWord(const MemoryInstruction &how, const unsigned *from) {
    unsigned value;
    load(how, from, &value, sizeof value);
    return value;
  }
  void storeWord(const MemoryInstruction &how, unsigned *to, unsigned value) {
    store(how, to, &value, sizeof value);
  }
  void fence(Scope scope);
  void acquire(Scope scope);
  /// `change` is done to a word of the rank's memory, which an atomic operation
  /// of the device changes; false if it is not the machine's.
  bool change(void *word, size_t size,
              const std::function<void(void *)> &change);
  /// Ordinary accesses: before them.
  void beforeLoad(const void *from, size_t size);
  void beforeStore(void *to, size_t size);
  /// Lets others go on; if the thread has looked there before, until what it
  /// has seen there changes, or the barrier is over if that is the cluster.
  void look(const void *at, size_t size);

  const MemoryInstructions instructions;

private:
  struct Rank;
  struct Pick {
    Block *block;
    unsigned thread;
  };

  bool isOwn(const void *address) const;
  size_t offsetOf(const void *address) const;
  WeakLevel &ownBlock();
  WeakLevel &ownDevice();
  void takeDown();
  void add(size_t offset, size_t size);

  bool doHostsPart(Rank &rank);
  void begin(Rank &rank);
  void end(Rank &rank);
  bool findThread(Rank &rank, Pick &found);
  bool canRun(const Block &block, const Thread &thread) const;
  void resume(const Pick &pick);
  bool drainSomething(bool mustBe);
  bool step();
  std::string whoWaits() const;
  bool oneIn(unsigned count) { return count > 0 && random() % count == 0; }

  std::mt19937 random;
  uint64_t changes = 0;
  bool isOver = false;
  size_t bytes;
  std::vector<std::byte> arena;
  std::unique_ptr<WeakLevel> system;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::vector<std::pair<unsigned, Rank *>> order;
  /// The rank whose thread runs.
  Rank *running = nullptr;
  /// An ordinary store that may not be done yet.
  size_t storeOffset = 0, storeSize = 0;
  /// Once in so many times a thread does not go on, a store gets further, a
  /// load is fresh; 0 is never, but stores get through at once.
  unsigned stays, drains, freshens;
  /// Whether threads with small or with large numbers go first, or any.
  enum { Small, Large, Any } first;
};

} // namespace ccn::emulator

#endif // CCN_TEST_COMMON_EMULATOR_WEAKMACHINE_H
