//===- RankMemory.h - A rank's view of the symmetric heap -------*- C++ -*-===//
//
// The operations on symmetric memory of which protocols consist. Protocols are
// templates over this interface ("Memory"), so that the code that runs here is
// also the code that the tests' model checker explores. An address is a rank
// and an offset.
//
// - putWord: an 8-byte store that is never torn, in no order with others
// - storeRelease: a 4-byte store after everything that the rank did before
// - fence: what the rank did before is done before its later stores
// - awaitFlag: waits for a 4-byte word; what its writer did before is visible
// - awaitWord: waits for an 8-byte word
// - put, view: plain data, ordered by flags only
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_RANKMEMORY_H
#define CCN_RUNTIME_RANKMEMORY_H

#include "runtime/Wait.h"

#include <atomic>
#include <cstring>

namespace ccn::runtime {

/// For tests: called before every access, to vary who is when where.
class AccessHook {
public:
  virtual ~AccessHook() = default;
  virtual void beforeAccess(int rank) = 0;
};

class RankMemory {
public:
  /// For the thread that runs as `rank`; a wait ends after `timeLimit` seconds.
  RankMemory(SymmetricHeap &heap, int rank, double timeLimit)
      : heap(heap), waiter(heap, rank, timeLimit), ownRank(rank) {}

  int rank() const { return ownRank; }
  int ranks() const { return heap.ranks(); }

  /// See SymmetricHeap::allocate.
  Result<int64_t> allocate(int64_t bytes) {
    return heap.allocate(ownRank, bytes);
  }
  /// Fails the team: the others end with this rank's name and the cause.
  Status fail(const std::string &cause) { return heap.fail(ownRank, cause); }
  Status failure() const { return heap.failure(); }

  /// Plain memory of `rank`, to be accessed only when flags allow it.
  std::byte *at(int rank, int64_t offset) {
    step();
    return heap.base(rank) + offset;
  }
  void put(int rank, int64_t offset, const void *data, int64_t bytes) {
    if (bytes > 0)
      std::memcpy(at(rank, offset), data, static_cast<size_t>(bytes));
  }
  /// The bytes there, in place or copied to `scratch`.
  const std::byte *view(int rank, int64_t offset, int64_t bytes,
                        std::byte *scratch) {
    return at(rank, offset);
  }

  void putWord(int rank, int64_t offset, uint64_t value) {
    word<uint64_t>(rank, offset).store(value, std::memory_order_relaxed);
  }
  void storeRelease(int rank, int64_t offset, uint32_t value) {
    word<uint32_t>(rank, offset).store(value, std::memory_order_release);
  }
  void fence() {
    step();
    // Words only are ordered by it, so that ThreadSanitizer, which knows no
    // fences, has nothing to complain about.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// Waits until arrived(word) of the own word at `offset`, which `other` must
  /// bring about.
  template <typename Arrived>
  Status awaitFlag(int64_t offset, int other, const WaitReason &reason,
                   Arrived arrived) {
    auto flag = word<uint32_t>(ownRank, offset);
    return waiter.wait(other, reason, [&] {
      return arrived(flag.load(std::memory_order_acquire));
    });
  }
  template <typename Arrived>
  Status awaitWord(int64_t offset, int other, const WaitReason &reason,
                   Arrived arrived, uint64_t &value) {
    auto place = word<uint64_t>(ownRank, offset);
    return waiter.wait(other, reason, [&] {
      value = place.load(std::memory_order_acquire);
      return arrived(value);
    });
  }

  void setHook(AccessHook *newHook) { hook = newHook; }

private:
  void step() {
    if (hook)
      hook->beforeAccess(ownRank);
  }
  template <typename T> std::atomic_ref<T> word(int rank, int64_t offset) {
    return std::atomic_ref<T>(*reinterpret_cast<T *>(at(rank, offset)));
  }

  SymmetricHeap &heap;
  Waiter waiter;
  int ownRank;
  AccessHook *hook = nullptr;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_RANKMEMORY_H
