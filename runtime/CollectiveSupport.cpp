//===- CollectiveSupport.cpp - What collectives check and share -----------===//
//
// Everything here is done when a collective is made, never when it runs, but
// for the check of its buffers.
//
//===----------------------------------------------------------------------===//

#include "runtime/CollectiveSupport.h"

#include "runtime/SliceBounds.h"

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
  int64_t product = 1;
  for (int64_t size : group.axisSizes)
    if (size < 1 || __builtin_mul_overflow(product, size, &product))
      return error(operation, ": expected axes of at least one rank");
  if (!group.axisSizes.empty() &&
      product != static_cast<int64_t>(group.ranks.size()))
    return error(operation, ": the group has ", group.ranks.size(),
                 " ranks, its axes ", product);
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

int64_t aligned(int64_t bytes) {
  constexpr int64_t unit = Transport::alignment;
  return (bytes + unit - 1) / unit * unit;
}

Result<int64_t> symmetricBytes(const Group &group, ElementType type,
                               int64_t count, int64_t bytes, int pieces,
                               const char *operation) {
  if (group.largestCount < 0)
    return bytes;
  if (group.largestCount < count)
    return error(operation, ": the largest tensor of all groups has ",
                 group.largestCount, " elements, this one ", count);
  int64_t largest;
  if (__builtin_mul_overflow(group.largestCount, sizeInBytes(type), &largest) ||
      __builtin_add_overflow(largest, Transport::alignment * pieces, &largest))
    return error(operation, ": the tensor's bytes overflow");
  return largest;
}

Result<std::vector<Box>> sliceBoxes(const Group &group,
                                    const std::vector<int64_t> &shape, Cut cut,
                                    const char *operation) {
  if (cut.dim < 0 || cut.dim >= static_cast<int64_t>(shape.size()))
    return error(operation, ": expected a dimension below ", shape.size(),
                 " to cut, found ", cut.dim);
  auto dim = static_cast<size_t>(cut.dim);
  int64_t full = cut.full < 0 ? shape[dim] : cut.full;
  if (full < shape[dim])
    return error(operation, ": the full size of dimension ", cut.dim, " is ",
                 full, ", less than the ", shape[dim], " that exist");
  std::vector<int64_t> axes = group.axisSizes;
  if (axes.empty())
    axes.push_back(static_cast<int64_t>(group.ranks.size()));
  std::vector<Box> boxes;
  for (size_t member = 0; member < group.ranks.size(); ++member) {
    std::vector<int64_t> coordinates(axes.size());
    auto rest = static_cast<int64_t>(member);
    for (size_t axis = axes.size(); axis-- > 0;) {
      coordinates[axis] = rest % axes[axis];
      rest /= axes[axis];
    }
    SliceBounds bounds = cutPiece(full, shape[dim], axes, coordinates);
    Box box = Box::whole(shape);
    box.offsets[dim] = bounds.offset;
    box.sizes[dim] = bounds.size;
    boxes.push_back(std::move(box));
  }
  return boxes;
}

Status checkRoot(const Members &members, int root, const char *operation) {
  if (root >= 0 && root < members.count())
    return Status();
  return error(operation, ": expected a root from 0 to ", members.count() - 1,
               ", found ", root);
}

Status checkBuffer(const void *buffer, int64_t bytes, ElementType type,
                   const char *operation, const char *what) {
  if (bytes == 0)
    return Status();
  if (!buffer)
    return error(operation, ": the ", what, " is null");
  if (reinterpret_cast<uintptr_t>(buffer) %
      static_cast<unsigned>(sizeInBytes(type)))
    return error(operation, ": the ", what, " is not aligned for ", name(type));
  return Status();
}

Status allocateSignals(RankMemory &memory, const Members &members,
                       Signals &signals) {
  Result<int64_t> offset = memory.allocate(Signals::bytes(members.count()));
  if (offset)
    signals.offset = *offset;
  return offset.status();
}

} // namespace ccn::runtime
