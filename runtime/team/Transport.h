//===- Transport.h - How the ranks of a team reach each other ---*- C++ -*-===//
//
// Every rank of a team owns a block of symmetric memory that all others can
// access. What is allocated lies at the same offset in the block of every rank,
// so an address is a rank and an offset, as it is on GPUs with their tables of
// peer pointers. Below it is one of:
//
// - memory that all ranks can address (SymmetricHeap): threads of a process, or
//   processes of a host
// - messages (MessageTransport): each process has its own block only
//
// A transport also holds what the team must know to end together: the first
// failure, who has left, and who waits for whom.
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

/// Access to the blocks of ranks that have no address in this process. What one
/// process does to one rank's block takes effect there in the order in which it
/// was done, whichever of its threads did it. Offsets and sizes lie within the
/// block.
///
/// Where it must wait, `waiter` limits that. Once the team has failed nothing
/// is sent any more, and what is read is zero.
class RemoteMemory {
public:
  virtual ~RemoteMemory() = default;

  /// Stores plain bytes. They have been copied when it returns.
  virtual void put(Waiter &waiter, int rank, int64_t offset, const void *data,
                   int64_t bytes) = 0;
  /// Stores 8 bytes that are never torn.
  virtual void putWord(Waiter &waiter, int rank, int64_t offset,
                       uint64_t value) = 0;
  /// Stores a 4-byte flag: whoever sees it there sees all that this process did
  /// to that block before.
  virtual void storeRelease(Waiter &waiter, int rank, int64_t offset,
                            uint32_t value) = 0;
  /// Copies bytes of the block, which come after what was put there before.
  virtual void read(Waiter &waiter, int rank, int64_t offset, void *to,
                    int64_t bytes) = 0;
};

class Transport {
public:
  static constexpr int maxRanks = maxTeamRanks;
  static constexpr int64_t alignment = symmetricAlignment;

  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport &) = delete;
  Transport &operator=(const Transport &) = delete;

  int ranks() const { return static_cast<int>(blocks.size()); }

  /// The start of a rank's block for this process; null where only remote()
  /// leads there.
  std::byte *base(int rank) const { return blocks[static_cast<size_t>(rank)]; }

  /// Null if all blocks have addresses.
  virtual RemoteMemory *remote() { return nullptr; }

  /// Allocates `bytes` bytes in the memory of every rank, and returns their
  /// offset. Every rank calls this in the same order with the same sizes: a
  /// rank whose n-th call differs from another's fails the team with an error
  /// that names both, at once or soon after. Memory is zeroed; it is freed with
  /// the transport.
  virtual Result<int64_t> allocate(int rank, int64_t bytes) = 0;

  /// Fails the team because of `rank`; later failures change nothing. Returns
  /// the team's failure.
  virtual Status fail(int rank, const std::string &cause) = 0;
  /// The team's failure, which starts with the rank that failed, or success.
  virtual Status failure() const = 0;
  /// Whether failure() is one; cheap.
  virtual bool failed() const = 0;

  /// Says that `rank` will take part no longer.
  virtual void leave(int rank) = 0;
  /// Whether `rank` has left, or its process has ended. What it did before it
  /// left is visible.
  virtual bool isGone(int rank) const = 0;
  /// Whether `rank` has said that it leaves.
  virtual bool hasLeft(int rank) const = 0;

  /// For messages: what `rank` waits for now, -1 for nothing. Of other
  /// processes it may be somewhat old.
  virtual void setWaitingFor(int rank, int other) = 0;
  virtual int waitingFor(int rank) const = 0;

protected:
  /// The block of each rank.
  std::vector<std::byte *> blocks;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_TRANSPORT_H
