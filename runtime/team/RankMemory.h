//===- RankMemory.h - A rank's view of symmetric memory ---------*- C++ -*-===//
//
// The operations on symmetric memory of which protocols consist. Protocols are
// templates over this interface ("Memory"), so that the model checker of the
// tests explores the same code that runs. An address is a rank and an offset.
//
// - putWord: an 8-byte store that is never torn; not ordered with other stores
// - storeRelease: a 4-byte store into the memory of a rank, after everything
//   that this rank did to that rank's memory and to its own before
// - fence: what the rank did to its own memory before is done before its later
//   stores
// - awaitFlag: waits for a 4-byte word; what its writer did before to this
//   rank's memory and to the writer's is visible
// - awaitWord: waits for an 8-byte word
// - put, view: plain data, ordered by flags only
//
// Only these operations reach the memory of other ranks, which may have no
// address in this process (Transport.h). Over messages, a flag says nothing
// about stores to a third rank's memory. So protocols must not rely on that:
// before a rank reads data that another rank stored into its memory, it must
// have got a flag from that same rank.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TEAM_RANKMEMORY_H
#define CCN_RUNTIME_TEAM_RANKMEMORY_H

#include "runtime/team/Wait.h"

#include <atomic>
#include <cassert>
#include <cstring>
#include <vector>

namespace ccn::runtime {

/// For tests: called before every access, to vary the timing of ranks.
class AccessHook {
public:
  virtual ~AccessHook() = default;
  virtual void beforeAccess(int rank) = 0;
};

class RankMemory {
public:
  /// For one thread of `rank`; a wait ends after `timeLimit` seconds.
  RankMemory(Transport &transport, int rank, double timeLimit)
      : transport(transport), remote(transport.remote()),
        waiter(transport, rank, timeLimit), ownRank(rank) {}

  int rank() const { return ownRank; }
  int ranks() const { return transport.ranks(); }

  /// See Transport::allocate.
  Result<int64_t> allocate(int64_t bytes) {
    return transport.allocate(ownRank, bytes);
  }
  /// Fails the team: the other ranks end with an error that names this rank and
  /// the cause.
  Status fail(const std::string &cause) {
    return transport.fail(ownRank, cause);
  }
  /// The team's failure, or success. Over messages, check it before you use
  /// what view() returned.
  Status failure() const { return transport.failure(); }

  /// Whether `rank`'s memory has an address in this process.
  bool isAddressable(int rank) const { return transport.base(rank); }
  /// Plain memory of `rank`, which must be addressable (this rank's own memory
  /// always is). Access it only when flags allow it.
  std::byte *at(int rank, int64_t offset) {
    step();
    assert(isAddressable(rank) && "only messages reach that memory");
    return transport.base(rank) + offset;
  }
  void put(int rank, int64_t offset, const void *data, int64_t bytes) {
    if (bytes <= 0)
      return;
    if (isAddressable(rank)) {
      std::memcpy(at(rank, offset), data, static_cast<size_t>(bytes));
      return;
    }
    step();
    remote->put(waiter, rank, offset, data, bytes);
  }
  /// Calls form(address), which writes `bytes` bytes to the address: the place
  /// itself, or else `scratch`, which is enlarged as needed and then put to the
  /// place.
  template <typename Form>
  void putFormed(int rank, int64_t offset, int64_t bytes,
                 std::vector<std::byte> &scratch, Form form) {
    if (isAddressable(rank)) {
      form(at(rank, offset));
      return;
    }
    growTo(scratch, bytes);
    form(scratch.data());
    put(rank, offset, scratch.data(), bytes);
  }
  /// The bytes at a place, either in place or copied to `scratch`. They are
  /// zeros if they could not be read; then failure() says why.
  const std::byte *view(int rank, int64_t offset, int64_t bytes,
                        std::byte *scratch) {
    if (isAddressable(rank))
      return at(rank, offset);
    step();
    if (bytes > 0)
      remote->read(waiter, rank, offset, scratch, bytes);
    return scratch;
  }
  /// The same with a `scratch` that is enlarged if it is needed.
  const std::byte *view(int rank, int64_t offset, int64_t bytes,
                        std::vector<std::byte> &scratch) {
    if (!isAddressable(rank))
      growTo(scratch, bytes);
    return view(rank, offset, bytes, scratch.data());
  }

  void putWord(int rank, int64_t offset, uint64_t value) {
    if (isAddressable(rank)) {
      word<uint64_t>(rank, offset).store(value, std::memory_order_relaxed);
      return;
    }
    step();
    remote->putWord(waiter, rank, offset, value);
  }
  void storeRelease(int rank, int64_t offset, uint32_t value) {
    if (isAddressable(rank)) {
      word<uint32_t>(rank, offset).store(value, std::memory_order_release);
      return;
    }
    step();
    remote->storeRelease(waiter, rank, offset, value);
  }
  void fence() {
    step();
    // Protocols use this to order words only, never plain data, so
    // ThreadSanitizer, which does not understand fences, reports nothing.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// Waits until arrived(word) holds for this rank's word at `offset`, which
  /// `other` must write.
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

  static void growTo(std::vector<std::byte> &scratch, int64_t bytes) {
    if (static_cast<int64_t>(scratch.size()) < bytes)
      scratch.resize(static_cast<size_t>(bytes));
  }

  Transport &transport;
  /// Reaches blocks that have no address in this process; null if all have one.
  RemoteMemory *remote;
  Waiter waiter;
  int ownRank;
  AccessHook *hook = nullptr;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_RANKMEMORY_H
