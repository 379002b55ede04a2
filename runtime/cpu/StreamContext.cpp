//===- StreamContext.cpp - The state of a plan and its streams ------------===//
//
// Computes the addresses of views.
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/StreamContext.h"

#include <algorithm>

namespace ccn::runtime {

Members PlanMemory::members(int group) const {
  const std::vector<int> &ranks = groups[static_cast<size_t>(group)];
  auto own = std::find(ranks.begin(), ranks.end(), rank);
  return {ranks, static_cast<int>(own - ranks.begin())};
}

Traffic &Traffic::operator+=(const Traffic &other) {
  ownRead += other.ownRead;
  ownWritten += other.ownWritten;
  othersRead += other.othersRead;
  othersWritten += other.othersWritten;
  return *this;
}

std::byte *StreamContext::own(const View &view, int64_t elements) {
  const Buffer &buffer = plan.buffer(view);
  int64_t bytes = (view.offset + elements) * sizeInBytes(buffer.type);
  switch (buffer.memory) {
  case Memory::Argument:
    return static_cast<std::byte *>(
               plan.arguments[static_cast<size_t>(buffer.offset)]) +
           bytes;
  case Memory::Private:
    return plan.arena + buffer.offset + bytes;
  case Memory::Symmetric:
    break;
  }
  return memory.at(plan.rank, plan.symmetric + buffer.offset + bytes);
}

RemotePlace StreamContext::place(const View &view, int rank,
                                 int64_t elements) const {
  const Buffer &buffer = plan.buffer(view);
  return {rank, plan.symmetric + buffer.offset +
                    (view.offset + elements) * sizeInBytes(buffer.type)};
}

int64_t distinctElements(std::span<const int64_t> sizes,
                         std::span<const int64_t> strides) {
  int64_t count = 1;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] == 0)
      return 0;
    else if (strides[dim] != 0)
      count *= sizes[dim];
  return count;
}

} // namespace ccn::runtime
