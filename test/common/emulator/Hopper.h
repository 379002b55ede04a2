//===- Hopper.h - What blocks of GPUs of sm_90a have ------------*- C++ -*-===//
//
// The instructions of codegen/gpu/device/hopper.cuh on the CPU: barriers that
// count arrivals and bytes, copies of boxes of tensors, products of warpgroups.
//
// Copies and products happen some time after they have begun, and see shared
// memory by another way (the async proxy) than the threads' loads and stores:
// here they have a copy of it, into which a thread's fence brings what was
// stored before. When something happens is drawn at random, from at once to
// when somebody waits for it or nothing else can go on. So what was not waited
// for, or not fenced, is not there, or is what was there before. What hardware
// leaves undefined ends the program, with what is wrong.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_EMULATOR_HOPPER_H
#define CCN_TEST_COMMON_EMULATOR_HOPPER_H

#include "test/common/emulator/TensorMap.h"

#include <array>
#include <list>
#include <map>
#include <memory>
#include <vector>

namespace ccn::emulator {

class Block;

/// Ends the program: something that the thread does has no meaning.
[[noreturn]] void endWith(const char *why);

/// The dynamic shared memory of a block, as its threads see it, and as copies
/// and products do.
class SharedMemory {
public:
  void use(char *memory, size_t size);
  /// Brings to the copies what threads have stored.
  void fence();
  /// A range as copies see it.
  char *ofCopies(const void *begin, size_t size);
  /// The place of a byte, which descriptors have.
  size_t offsetOf(const void *at) const;
  const char *ofCopies(size_t offset, size_t size) const;
  /// Where a byte of the threads' memory is.
  char *at(size_t offset) const { return memory + offset; }

private:
  char *memory = nullptr;
  size_t bytes = 0;
  /// Aligned as the memory.
  std::vector<char> space;
  char *copy = nullptr;
};

/// A barrier of phases in shared memory (mbarrier).
struct PhaseBarrier {
  /// Of a phase, and of the current phase those that are missing.
  unsigned arrivals = 0, missing = 0;
  /// Bytes that were announced and have not come.
  int64_t bytes = 0;
  unsigned phase = 0;
  /// Whether copies see it.
  bool isPublished = false;
};

/// The elements of operands of a product.
struct OperandType {
  int bytes;
  float (*decode)(unsigned bits);
};

struct ProductCall {
  unsigned long long a, b;
  int adds, columns;
  bool isATransposed, isBTransposed;
  OperandType type;
  /// The thread's part of A, if it is in registers.
  const unsigned *packed = nullptr;
};

/// The products of four warps.
class Warpgroup {
public:
  static constexpr int threads = 128;

  explicit Warpgroup(SharedMemory &memory) : memory(memory) {}

  // What thread `thread` of the warpgroup does.
  void fence(int thread) { own[index(thread)].isFenced = true; }
  /// Returns whether this was the last of its threads.
  bool begin(int thread, float *sums, const ProductCall &call);
  void commit(int thread);
  /// Whether all threads have begun what all but the last `left` groups of this
  /// one have; then finish() does that.
  bool canFinish(int thread, int left) const;
  void finish(int thread, int left);
  /// Whether a thread may end.
  bool isDone(int thread) const { return own[index(thread)].registers == 0; }

  /// Does the next product, if all threads have begun it.
  bool canMultiply() const;
  void multiply();

private:
  /// The sums of one array of registers of each thread.
  struct Sums {
    int columns;
    /// Of 64 rows.
    std::vector<float> values;
    std::array<float *, threads> registers{};
    /// The last product of each thread.
    std::array<int64_t, threads> last{};
  };
  struct Product {
    ProductCall call;
    Sums *sums = nullptr;
    int begun = 0;
    /// The parts of A of all threads, and what they had when they began.
    std::array<const unsigned *, threads> packed{};
    std::array<std::array<unsigned, 4>, threads> had{};
  };
  struct Own {
    /// How many products it has begun, and had when it committed groups.
    int64_t begun = 0;
    std::vector<int64_t> groups;
    bool isFenced = false;
    /// The arrays of registers that it must not touch.
    int registers = 0;
  };

  static size_t index(int number) { return static_cast<size_t>(number); }
  static size_t place(int thread, int number, int columns);
  int64_t endOf(int thread, int left) const;
  Sums *sumsOf(int thread, float *registers, Product &product);
  /// A's 64 rows, one after the other for each k.
  static void fetchPacked(const Product &product, float *to);
  /// Lets the thread have the sums of its first `end` products.
  void giveBack(int thread, int64_t end);

  SharedMemory &memory;
  std::array<Own, threads> own;
  std::vector<Product> products;
  int64_t done = 0;
  std::list<Sums> allSums;
};

/// Of a block.
class BlockUnits {
public:
  explicit BlockUnits(Block &block);

  SharedMemory memory;

  void beginBarrier(const void *at, unsigned arrivals);
  void publishBarriers();
  /// Announces bytes, and arrives.
  void arrive(const void *at, int64_t bytes);
  bool isPhaseOver(const void *at, unsigned parity);
  void meet(int number, int threads, bool waits);

  void load(void *to, const void *map, const int *at, int dims,
            const void *barrier);
  void store(const void *map, const int *at, int dims, const void *from);
  void commitStores();
  /// Until all but the last `left` groups of this thread have read, or written.
  void awaitStores(int left, bool areWritten);
  /// Before copies of global memory that a flag has told of.
  void fenceAll();
  void seeFlag();

  Warpgroup &warpgroup();
  void multiply(float *sums, const ProductCall &call);
  void awaitProducts(int left);

  /// Something that has begun may happen; whether it does.
  bool progress();
  /// As no thread can go on: lets something happen, or, if `wakes`, those go on
  /// that only look at a barrier; false if there is nothing.
  bool goOn(bool wakes);
  /// A thread has come to the end of the kernel.
  void endThread();

private:
  struct Load {
    TensorMap map;
    std::array<int, TensorMap::maxDims> at;
    char *to;
    PhaseBarrier *barrier;
  };
  struct Store {
    TensorMap map;
    std::array<int, TensorMap::maxDims> at;
    const char *from;
    unsigned thread;
    /// Of the thread; -1 before it is committed.
    int group = -1;
    /// What it has read, at the same place in 1024 bytes as it was.
    std::vector<char> box;
    const char *read = nullptr;
    /// Whether the thread has waited until it was read.
    bool isAwaited = false;
  };
  struct Named {
    int threads = 0, arrived = 0;
    unsigned generation = 0;
  };

  PhaseBarrier &barrierAt(const void *at);
  void endPhase(const void *at, PhaseBarrier &barrier);
  void land(size_t number);
  void read(Store &store);
  void write(Store &store);
  bool happen();
  void sleep(bool mayWakeUp);
  void wake(const void *barrier);

  Block &block;
  std::map<const void *, PhaseBarrier> barriers;
  std::array<Named, 16> named;
  std::vector<Load> loads;
  std::list<Store> stores;
  /// By thread: the groups of stores, and whether it has seen a flag since it
  /// fenced.
  std::vector<int> groups;
  std::vector<bool> hasSeenFlag;
  std::map<unsigned, Warpgroup> warpgroups;
  /// Once in so many times something happens.
  unsigned laziness;
};

} // namespace ccn::emulator

#endif // CCN_TEST_COMMON_EMULATOR_HOPPER_H
