//===- SymmetricHeap.h - Memory that the ranks of a team share --*- C++ -*-===//
//
// Every rank of a team owns a block of memory that all others can access. What
// is allocated lies at the same offset in the block of every rank, so an
// address is a rank and an offset, as it is on GPUs with their tables of peer
// pointers. Ranks are threads of one process, or processes of one host (over
// POSIX shared memory).
//
// The heap also holds what the team must know to end together: the first
// failure, who has left, and who waits for whom.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_SYMMETRICHEAP_H
#define CCN_RUNTIME_SYMMETRICHEAP_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ccn::runtime {

class SymmetricHeap {
public:
  static constexpr int maxRanks = 1024;
  /// The most bytes of a rank.
  static constexpr int64_t maxBytes = int64_t(1) << 46;
  /// Allocations are aligned to this many bytes, a cache line.
  static constexpr int64_t alignment = 64;

  /// A heap for `ranks` threads of this process, zeroed, of `bytesPerRank`
  /// bytes each. Memory is taken from the machine as it is first touched.
  static Result<std::unique_ptr<SymmetricHeap>> create(int ranks,
                                                       int64_t bytesPerRank);

  /// The heap of `ranks` processes of this host, which all call this with the
  /// same arguments but for `rank`. `name` must be unused so far on this host;
  /// rank 0 makes the shared memory, and its name is gone when all have joined.
  /// Waits at most `timeLimit` seconds for the others; an error names who is
  /// missing. The memory is reserved at once. A process that ends, however it
  /// does, is noticed by those that wait for it.
  static Result<std::unique_ptr<SymmetricHeap>> join(const std::string &name,
                                                     int rank, int ranks,
                                                     int64_t bytesPerRank,
                                                     double timeLimit);

  ~SymmetricHeap();
  SymmetricHeap(const SymmetricHeap &) = delete;
  SymmetricHeap &operator=(const SymmetricHeap &) = delete;

  int ranks() const { return rankCount; }

  /// The start of a rank's memory, for this process.
  std::byte *base(int rank) const {
    return memory + static_cast<int64_t>(rank) * bytesPerRank;
  }

  /// Allocates `bytes` bytes in the memory of every rank, and returns their
  /// offset. Every rank calls this in the same order with the same sizes: a
  /// rank whose n-th call differs from another's gets an error that names both,
  /// which fails the team. Memory is zeroed; it is freed with the heap.
  Result<int64_t> allocate(int rank, int64_t bytes);

  /// Fails the team because of `rank`; later failures change nothing. Returns
  /// the team's failure.
  Status fail(int rank, const std::string &cause);
  /// The team's failure, which starts with the rank that failed, or success.
  Status failure() const;
  /// Whether failure() is one; cheap.
  bool failed() const;

  /// Says that `rank` will take part no longer.
  void leave(int rank);
  /// Whether `rank` has left, or its process has ended.
  bool isGone(int rank) const;

  /// For messages: what `rank` waits for now, -1 for nothing.
  void setWaitingFor(int rank, int other);
  int waitingFor(int rank) const;

private:
  struct Control;

  SymmetricHeap() = default;
  Status map(int ranks, int64_t bytesPerRank, int file);

  Control *control = nullptr;
  std::byte *memory = nullptr;
  int64_t mappedBytes = 0;
  int64_t bytesPerRank = 0;
  int rankCount = 0;
  /// Of processes: the shared memory's descriptor and this process's rank.
  int file = -1;
  int ownRank = -1;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_SYMMETRICHEAP_H
