//===- Transport.h - How ranks reach each other's memory --------*- C++ -*-===//
//
// Every rank of a team owns a block of symmetric memory that all others can
// access. An allocation lies at the same offset in the block of every rank, so
// an address is a rank and an offset, as on GPUs with their tables of peer
// pointers. There are two kinds of transport:
//
// - memory that all ranks can address (SymmetricHeap): threads of a process, or
//   processes of a host
// - messages (MessageTransport): each process has its own block only
//
// A transport also holds what the ranks must know to end together: the first
// failure, which ranks have left, and which rank waits for which.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TEAM_TRANSPORT_H
#define CCN_RUNTIME_TEAM_TRANSPORT_H

#include "runtime/base/Status.h"
#include "runtime/plan/SymmetricMemory.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ccn::runtime {

class Waiter;

/// Access to the blocks of ranks that have no address in this process. The
/// stores and reads of one process to one rank's block take effect in the order
/// in which the process made them, on whichever of its threads. Offsets and
/// sizes lie within the block.
///
/// If a function must wait, `waiter` limits how long. Once the team has failed,
/// nothing is sent any more, and reads give zeros.
class RemoteMemory {
public:
  virtual ~RemoteMemory() = default;

  /// Stores plain bytes. They have been copied when this returns.
  virtual void put(Waiter &waiter, int rank, int64_t offset, const void *data,
                   int64_t bytes) = 0;
  /// Stores 8 bytes that are never torn.
  virtual void putWord(Waiter &waiter, int rank, int64_t offset,
                       uint64_t value) = 0;
  /// Stores a 4-byte flag. A thread that sees the flag there sees everything
  /// that this process stored in that block before.
  virtual void storeRelease(Waiter &waiter, int rank, int64_t offset,
                            uint32_t value) = 0;
  /// Copies bytes of the block, as they are after this process's earlier
  /// stores.
  virtual void read(Waiter &waiter, int rank, int64_t offset, void *to,
                    int64_t bytes) = 0;
};

/// How many symmetric allocations a team may make. Each exchange of a plan
/// takes one or two, in every layer and chunk.
inline constexpr int maxAllocations = 1 << 16;

class Transport {
public:
  static constexpr int maxRanks = maxTeamRanks;
  static constexpr int64_t alignment = symmetricAlignment;

  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport &) = delete;
  Transport &operator=(const Transport &) = delete;

  int ranks() const { return static_cast<int>(blocks.size()); }

  /// The address of a rank's block in this process; null if only remote()
  /// reaches the block.
  std::byte *base(int rank) const { return blocks[static_cast<size_t>(rank)]; }

  /// Access to blocks without an address; null if all blocks have one.
  virtual RemoteMemory *remote() { return nullptr; }

  /// Allocates `bytes` bytes in the memory of every rank, and returns their
  /// offset. Every rank calls this in the same order with the same sizes. If a
  /// rank's n-th call differs from another's, the team fails, at once or soon
  /// after, with an error that names both ranks. The memory is zeroed; it is
  /// freed with the transport.
  virtual Result<int64_t> allocate(int rank, int64_t bytes) = 0;

  /// Fails the team because of `rank`. Only the first failure counts. Returns
  /// the team's failure.
  virtual Status fail(int rank, const std::string &cause) = 0;
  /// The team's failure, whose text begins with the rank that failed; or
  /// success.
  virtual Status failure() const = 0;
  /// Whether the team has failed; cheaper than failure().
  virtual bool failed() const = 0;

  /// Declares that `rank` will no longer take part.
  virtual void leave(int rank) = 0;
  /// Whether `rank` has left, or its process has ended. What the rank did
  /// before it left is visible.
  virtual bool isGone(int rank) const = 0;
  /// Whether `rank` has called leave().
  virtual bool hasLeft(int rank) const = 0;

  /// For error messages: the rank for which `rank` waits now, -1 for none. The
  /// answer for another process may be somewhat old.
  virtual void setWaitingFor(int rank, int other) = 0;
  virtual int waitingFor(int rank) const = 0;

protected:
  /// The block of each rank.
  std::vector<std::byte *> blocks;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_TRANSPORT_H
