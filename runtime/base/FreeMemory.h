//===- FreeMemory.h - Limits on the memory of a process ---------*- C++ -*-===//
//
// A system that runs out of memory may end programs that have done nothing
// wrong. So code that allocates as much as a program or a file demands asks
// here first. A demand that does not fit is an error that states the sizes.
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

/// a + b and a * b for numbers that are not negative; INT64_MAX if the result
/// is larger.
int64_t addSaturating(int64_t a, int64_t b);
int64_t multiplySaturating(int64_t a, int64_t b);

/// How many bytes this process may take now under each limit; INT64_MAX means
/// no limit. Plain bytes, which ranks can send to each other.
struct FreeMemory {
  /// The bytes that are available on the machine, and those left under the
  /// limits of this process's control groups (version 1 or 2). Both leave out a
  /// reserve for other processes.
  int64_t machine = INT64_MAX, group = INT64_MAX;
  /// The bytes left under this process's own limits: of addresses (RLIMIT_AS),
  /// and of memory that it does not share with other processes (RLIMIT_DATA).
  int64_t addresses = INT64_MAX, data = INT64_MAX;
  /// The largest file that this process may make (RLIMIT_FSIZE), since the
  /// memory that processes share is a file.
  int64_t file = INT64_MAX;
  /// Equal for processes that share the memory of a machine, and for those that
  /// share the limit of a control group.
  uint64_t machineId = 0, groupId = 0;

  /// Reads the system's files below `root`. Tests pass a folder of their own.
  static FreeMemory now(const std::string &root = "");
};

/// All memory that this process could ever have: that of the machine or, if it
/// is less, the limit of its control group.
int64_t machineMemory(const std::string &root = "");

/// A list of memory that is about to be allocated.
class MemoryNeeds {
public:
  /// Adds `count` times `bytes` bytes for `what`.
  void add(const std::string &what, int64_t count, int64_t bytes);
  void add(const MemoryNeeds &others);
  /// The same for memory that is mapped so that processes may share it.
  void addShared(const std::string &what, int64_t count, int64_t bytes);
  int64_t total() const;
  /// The total without shared memory.
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

/// An error that states all sizes if this process may not take that much.
Status checkMemory(const MemoryNeeds &needs,
                   const FreeMemory &free = FreeMemory::now());

/// The same for one piece of memory, which error messages call name(). Small
/// pieces are not checked, since the check would take longer than their use.
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
