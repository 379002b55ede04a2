//===- CollectiveSupport.cpp - What collectives check and share -----------===//
//
// Everything here is done when a collective is made, never when it runs, but
// for the check of its buffers.
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

int64_t aligned(int64_t bytes) {
  constexpr int64_t unit = Transport::alignment;
  return (bytes + unit - 1) / unit * unit;
}

Result<int64_t> symmetricBytes(const Group &group, ElementType type,
                               int64_t count, int64_t bytes,
                               const char *operation) {
  if (group.largestCount < 0)
    return bytes;
  if (group.largestCount < count)
    return error(operation, ": the largest tensor of all groups has ",
                 group.largestCount, " elements, this one ", count);
  int64_t largest;
  if (__builtin_mul_overflow(group.largestCount, sizeInBytes(type), &largest) ||
      __builtin_add_overflow(largest, Transport::alignment, &largest))
    return error(operation, ": the tensor's bytes overflow");
  return largest;
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

Status checkArguments(const RankPlan &plan, const std::vector<bool> &scattered,
                      std::span<void *const> arguments) {
  if (arguments.size() != scattered.size())
    return error("expected ", scattered.size(), " arguments, found ",
                 arguments.size());
  for (const Buffer &buffer : plan.buffers) {
    if (buffer.memory != Memory::Argument)
      continue;
    auto number = static_cast<size_t>(buffer.offset);
    if (!scattered[number]) {
      std::string what = "argument " + std::to_string(number);
      if (Status status = checkBuffer(arguments[number],
                                      buffer.count * sizeInBytes(buffer.type),
                                      buffer.type, "the plan", what.c_str());
          !status)
        return status;
      continue;
    }
    if (Status status = checkPieces(
            piecesAt(arguments[number]), buffer.count, buffer.type,
            [](size_t piece) { return "buffer " + std::to_string(piece); });
        !status)
      return error("the plan: argument ", number, ": ", status.message());
  }
  return Status();
}

std::vector<bool> scatteredArguments(const Plan &plan) {
  std::vector<bool> scattered;
  for (const Argument &argument : plan.arguments)
    scattered.push_back(argument.scattered);
  return scattered;
}

Status allocateSignals(RankMemory &memory, const Members &members,
                       Signals &signals) {
  Result<int64_t> offset = memory.allocate(Signals::bytes(members.count()));
  if (offset)
    signals.offset = *offset;
  return offset.status();
}

} // namespace ccn::runtime
