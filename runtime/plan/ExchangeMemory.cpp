//===- ExchangeMemory.cpp - The symmetric memory of exchanges -------------===//
//
// All groups along the same axes reserve as much as the largest needs, so that
// offsets are the same on all ranks.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/ExchangeMemory.h"

#include "runtime/plan/ProtocolRules.h"
#include "runtime/plan/SymmetricMemory.h"

#include <algorithm>

namespace ccn::runtime {

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
      __builtin_add_overflow(largest, symmetricAlignment, &largest))
    return error(operation, ": the tensor's bytes overflow");
  return largest;
}

Result<int64_t> slotWords(const Group &group, ElementType type, int64_t count,
                          Protocol protocol) {
  constexpr const char *operation = "all_reduce";
  int64_t wordSize = protocol == Protocol::LL ? 4 : 8;
  int64_t bytes = count * sizeInBytes(type);
  Result<int64_t> padded =
      symmetricBytes(group, type, count,
                     (bytes + wordSize - 1) / wordSize * wordSize, operation);
  if (!padded)
    return padded;
  int64_t largest = (*padded + wordSize - 1) / wordSize, total;
  if (__builtin_mul_overflow(
          largest, 4 * 8 * static_cast<int64_t>(group.ranks.size()), &total))
    return error(operation, ": the tensor's bytes overflow");
  return largest;
}

Result<int64_t> allReduceBytes(const Group &group, ElementType type,
                               int64_t count, Protocol protocol) {
  Result<int64_t> words = slotWords(group, type, count, protocol);
  if (!words)
    return words;
  auto members = static_cast<int>(group.ranks.size());
  uint32_t buffers =
      protocol == Protocol::LL ? CCN_LL_BUFFERS : CCN_LAMPORT_BUFFERS;
  return aligned(exchangedBytes(buffers, members, *words)) +
         aligned(flagBytes(members));
}

ElementType exchangeType(const RankPlan &plan, const ExchangePart &part) {
  return plan.buffers[static_cast<size_t>(part.from.buffer)].type;
}

Protocol protocolOf(const ExchangePart &part) {
  return part.exchange == Exchange::LL ? Protocol::LL : Protocol::Lamport;
}

const ChunkSchedule &scheduleOf(const Plan &plan, const ExchangePart &part) {
  return plan.schedules[static_cast<size_t>(part.schedule)];
}

Group exchangeGroup(const Plan &plan, const ExchangePart &part) {
  return {plan.groups[static_cast<size_t>(part.group)], part.largestCount};
}

/// Exchange `number` of a launch, counted from 0. All ranks have the same
/// exchanges, but may have other parts between them.
static Result<const ExchangePart *> exchangeAt(const RankPlan &plan,
                                               size_t launch, size_t number) {
  size_t found = 0;
  if (launch < plan.launches.size())
    for (const Part &part : plan.launches[launch].parts)
      if (const auto *exchange = std::get_if<ExchangePart>(&part);
          exchange && found++ == number)
        return exchange;
  return error("launch ", launch, ": expected more than ", number,
               " exchanges, found ", found);
}

Result<ScheduledMemory> largestSchedule(const Plan &plan, size_t launch,
                                        size_t number) {
  ScheduledMemory largest;
  for (const RankPlan &rank : plan.ranks) {
    Result<const ExchangePart *> part = exchangeAt(rank, launch, number);
    if (!part)
      return part.status();
    Result<ScheduledMemory> memory =
        scheduledMemory(scheduleOf(plan, **part), exchangeType(rank, **part),
                        (*part)->reduction);
    if (!memory)
      return memory.status();
    largest.flags = std::max(largest.flags, memory->flags);
    largest.bufferBytes = std::max(largest.bufferBytes, memory->bufferBytes);
  }
  return largest;
}

Result<int64_t> exchangeBytes(const Plan &plan, size_t launch, size_t number) {
  const RankPlan &rank = plan.ranks[0];
  Result<const ExchangePart *> found = exchangeAt(rank, launch, number);
  if (!found)
    return found.status();
  const ExchangePart &part = **found;
  Group group = exchangeGroup(plan, part);
  if (part.exchange != Exchange::Schedule)
    return allReduceBytes(group, exchangeType(rank, part), part.inputCount,
                          protocolOf(part));
  Result<ScheduledMemory> memory = largestSchedule(plan, launch, number);
  if (!memory)
    return memory.status();
  return memory->bytes(static_cast<int>(group.ranks.size()));
}

} // namespace ccn::runtime
