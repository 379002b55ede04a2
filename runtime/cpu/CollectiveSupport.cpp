//===- CollectiveSupport.cpp - Checks and signals of collectives ----------===//
//
// Collectives call these functions when they are made, not when they run.
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/CollectiveSupport.h"

#include <algorithm>

namespace ccn::runtime {

Result<Members> checkGroup(const RankMemory &memory, const Group &group,
                           const char *operation) {
  std::vector<int> sorted = group.ranks;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] < 0 || sorted[i] >= memory.ranks())
      return error(operation, ": expected ranks below ", memory.ranks(),
                   ", found ", sorted[i]);
    if (i > 0 && sorted[i] == sorted[i - 1])
      return error(operation, ": rank ", sorted[i], " is in the group twice");
  }
  auto own = std::find(group.ranks.begin(), group.ranks.end(), memory.rank());
  if (own == group.ranks.end())
    return error(operation, ": rank ", memory.rank(), " is not in its group");
  return Members{group.ranks, static_cast<int>(own - group.ranks.begin())};
}

Result<int64_t> checkShape(const std::vector<int64_t> &shape, ElementType type,
                           const char *operation) {
  int64_t bytes = sizeInBytes(type);
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return error(operation, ": expected sizes of at least 0, found ", size);
    empty |= size == 0;
    if (size > 0 && __builtin_mul_overflow(bytes, size, &bytes))
      return error(operation, ": the tensor's bytes overflow");
  }
  return empty ? 0 : bytes;
}

Status allocateSignals(RankMemory &memory, const Members &members,
                       Signals &signals) {
  Result<int64_t> offset = memory.allocate(Signals::bytes(members.count()));
  if (offset)
    signals.offset = *offset;
  return offset.status();
}

} // namespace ccn::runtime
