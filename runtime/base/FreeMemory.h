//===- FreeMemory.h - How much memory may be taken --------------*- C++ -*-===//
//
// A system that runs out of memory ends programs that have done nothing wrong.
// So code that takes memory by the size of a program or of a file asks here
// first; what does not fit is refused, with the sizes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_FREEMEMORY_H
#define CCN_RUNTIME_BASE_FREEMEMORY_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ccn {

/// a + b, a * b of numbers that are not negative; INT64_MAX if that is more.
int64_t addSaturating(int64_t a, int64_t b);
int64_t multiplySaturating(int64_t a, int64_t b);

/// How many bytes this process may take now, by each limit; INT64_MAX is no
/// limit. Plain bytes, so that ranks can send it to each other.
struct FreeMemory {
  /// What the machine has available, and what the limits of the control groups
  /// (of either version) that this process is in leave, both less a part that
  /// others may need meanwhile.
  int64_t machine = INT64_MAX, group = INT64_MAX;
  /// What this process's own limits leave: of its addresses (RLIMIT_AS), and of
  /// the memory that it shares with no other (RLIMIT_DATA).
  int64_t addresses = INT64_MAX, data = INT64_MAX;
  /// The largest file that it may make (RLIMIT_FSIZE): memory that processes
  /// share is one.
  int64_t file = INT64_MAX;
  /// Equal for processes that take from the same machine; from the same control
  /// group.
  uint64_t machineId = 0, groupId = 0;

  /// Reads the system's files below `root`, in whose place tests give a folder
  /// of their own.
  static FreeMemory now(const std::string &root = "");
};

/// All memory that this process could ever have: the machine's, or what its
/// control group is limited to.
int64_t machineMemory(const std::string &root = "");

/// What is about to be taken, item by item.
class MemoryNeeds {
public:
  /// `count` times `bytes` bytes, for `what`.
  void add(const std::string &what, int64_t count, int64_t bytes);
  void add(const MemoryNeeds &others);
  /// Likewise of memory that is mapped so that processes may share it.
  void addShared(const std::string &what, int64_t count, int64_t bytes);
  int64_t total() const;
  /// Without what is shared.
  int64_t ownTotal() const;
  /// "500 bytes: 300 for arguments and results, 200 for symmetric memory"
  std::string text() const;

private:
  struct Item {
    std::string what;
    int64_t bytes;
    bool isShared;
  };
  void add(const Item &more);

  std::vector<Item> items;
};

/// An error, with all sizes, if this process is to take more than it may.
Status checkMemory(const MemoryNeeds &needs,
                   const FreeMemory &free = FreeMemory::now());

/// The same for one piece of memory, which messages call name(). Small pieces
/// are not checked: that would take longer than using them.
template <typename Name> Status checkPiece(int64_t bytes, Name name) {
  constexpr int64_t small = int64_t(16) << 20;
  if (bytes <= small)
    return Status();
  MemoryNeeds needs;
  needs.add(name(), 1, bytes);
  return checkMemory(needs);
}

} // namespace ccn

#endif // CCN_RUNTIME_BASE_FREEMEMORY_H
