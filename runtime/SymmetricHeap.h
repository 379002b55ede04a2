//===- SymmetricHeap.h - Memory that the ranks of a team share --*- C++ -*-===//
//
// The transport of ranks that can address each other's blocks: threads of one
// process, or processes of one host (over POSIX shared memory).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_SYMMETRICHEAP_H
#define CCN_RUNTIME_SYMMETRICHEAP_H

#include "runtime/RunIdentity.h"
#include "runtime/Transport.h"

#include <memory>

namespace ccn::runtime {

class SymmetricHeap : public Transport {
public:
  /// The most bytes of a rank.
  static constexpr int64_t maxBytes = int64_t(1) << 46;

  /// A heap for `ranks` threads of this process, zeroed, of `bytesPerRank`
  /// bytes each. Memory is taken from the machine as it is first touched.
  static Result<std::unique_ptr<SymmetricHeap>> create(int ranks,
                                                       int64_t bytesPerRank);

  /// The heap of `ranks` processes of this host, which all call this with the
  /// same arguments but for `rank`. `name` must be unused so far on this host;
  /// rank 0 makes the shared memory, and its name is gone when all have joined.
  /// Waits at most `timeLimit` seconds for the others; an error names who is
  /// missing, or who differs in ranks, bytes or `content`, which says what is
  /// run. The memory is reserved at once. A process that ends, however it does,
  /// is noticed by those that wait for it.
  static Result<std::unique_ptr<SymmetricHeap>>
  join(const std::string &name, int rank, int ranks, int64_t bytesPerRank,
       double timeLimit, const std::string &content = "");

  ~SymmetricHeap() override;

  Result<int64_t> allocate(int rank, int64_t bytes) override;
  Status fail(int rank, const std::string &cause) override;
  Status failure() const override;
  bool failed() const override;
  void leave(int rank) override;
  bool isGone(int rank) const override;
  bool hasLeft(int rank) const override;
  void setWaitingFor(int rank, int other) override;
  int waitingFor(int rank) const override;

private:
  struct Control;
  class Deadline;

  /// The blocks begin after so many bytes.
  static int64_t controlBytes();

  SymmetricHeap() = default;
  Status size(int ranks, int64_t bytesPerRank);
  Status mapControl();
  Status mapBlocks();
  Status meet(const RunIdentity &own, const Deadline &deadline);

  Control *control = nullptr;
  std::byte *memory = nullptr;
  int64_t bytesPerRank = 0;
  /// Of all blocks.
  int64_t totalBytes = 0;
  /// Of processes: the shared memory's descriptor and this process's rank.
  int file = -1;
  int ownRank = -1;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_SYMMETRICHEAP_H
