//===- SymmetricHeap.h - Memory that the ranks of a team share --*- C++ -*-===//
//
// The transport of ranks that can address each other's blocks: threads of one
// process, or processes of one host. The memory that processes share has no
// name, so nothing of it remains when they have ended, even if they were
// killed.
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
  /// The most bytes of a rank's block.
  static constexpr int64_t maxBytes = maxSymmetricBytes;

  /// What a process declares when it joins.
  struct Member {
    int rank = 0, ranks = 1;
    int64_t bytesPerRank = 0;
    /// How long to wait for the other ranks, in seconds.
    double timeLimit = 60;
    /// What is run, such as the hash of a package.
    std::string content = {};
    /// Returns whether the process of a rank that has not joined has ended, as
    /// far as that is known.
    std::function<bool(int rank)> hasEnded = {};
  };

  /// Makes a zeroed heap of `bytesPerRank` bytes for each of `ranks` threads of
  /// this process. A page takes memory of the machine when it is first touched.
  /// An error if the machine has less memory than that.
  static Result<std::unique_ptr<SymmetricHeap>> create(int ranks,
                                                       int64_t bytesPerRank);

  /// Makes an empty file without a name, for the heap of processes.
  static Result<FileDescriptor> makeFile();
  /// Opens the file that process `process` of this host has open as `number`.
  /// Each rank does so for itself, even if it has inherited the file.
  static Result<FileDescriptor> openFile(int64_t process, int number);

  /// Joins the heap of processes of this host. All of them call this with the
  /// same file and, except for the rank, equal members. Rank 0 reserves the
  /// memory; an error if there is less. An error also names ranks that are
  /// missing, have ended, or differ in number of ranks, bytes or content. Ranks
  /// that wait for a process notice its end, even if it was killed.
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

  /// The size of the control block, after which the ranks' blocks begin.
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
  /// The bytes of all blocks together.
  int64_t totalBytes = 0;
  /// For processes: the file of the shared memory, and this process's rank.
  FileDescriptor file;
  int ownRank = -1;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_SYMMETRICHEAP_H
