//===- SymmetricHeap.h - Memory that the ranks of a team share --*- C++ -*-===//
//
// The transport of ranks that can address each other's blocks: threads of one
// process, or processes of one host. Memory that these share has no name, so
// that nothing of it stays when they have ended, however they did.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TEAM_SYMMETRICHEAP_H
#define CCN_RUNTIME_TEAM_SYMMETRICHEAP_H

#include "runtime/base/File.h"
#include "runtime/team/RunIdentity.h"
#include "runtime/team/Transport.h"

#include <functional>
#include <memory>

namespace ccn::runtime {

class SymmetricHeap : public Transport {
public:
  /// The most bytes of a rank.
  static constexpr int64_t maxBytes = maxSymmetricBytes;

  /// What a process says when it joins.
  struct Member {
    int rank = 0, ranks = 1;
    int64_t bytesPerRank = 0;
    /// How long to wait for the others, in seconds.
    double timeLimit = 60;
    /// What is run.
    std::string content = {};
    /// Says whether the process of a rank that has not joined has ended, where
    /// that is known.
    std::function<bool(int rank)> hasEnded = {};
  };

  /// A heap for `ranks` threads of this process, zeroed, of `bytesPerRank`
  /// bytes each. Memory is taken from the machine as it is first touched; an
  /// error if there is not so much.
  static Result<std::unique_ptr<SymmetricHeap>> create(int ranks,
                                                       int64_t bytesPerRank);

  /// An open file of no bytes, without a name, for the heap of processes.
  static Result<FileDescriptor> makeFile();
  /// Opens the file that process `process` of this host has open as `number`.
  /// Each rank does so for itself, even if it has inherited the file.
  static Result<FileDescriptor> openFile(int64_t process, int number);

  /// The heap of processes of this host, which all call this with the same file
  /// and, but for their rank, members alike. Rank 0 reserves the memory, if
  /// there is so much. An error names who is missing, who has ended, or who
  /// differs in ranks, bytes or content. A process that ends, however it does,
  /// is noticed by those that wait for it.
  static Result<std::unique_ptr<SymmetricHeap>> join(FileDescriptor file,
                                                     const Member &member);

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
  Status reserve();
  Status awaitControl(const Member &member, const Deadline &deadline);
  Status takeRank();
  bool hasLock(int rank) const;
  bool hasJoined(int rank) const;
  Status meet(const RunIdentity &own, const Member &member,
              const Deadline &deadline);
  Status awaitJoined(int other, const Member &member, const Deadline &deadline);

  Control *control = nullptr;
  std::byte *memory = nullptr;
  int64_t bytesPerRank = 0;
  /// Of all blocks.
  int64_t totalBytes = 0;
  /// Of processes: the shared memory's file and this process's rank.
  FileDescriptor file;
  int ownRank = -1;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_SYMMETRICHEAP_H
