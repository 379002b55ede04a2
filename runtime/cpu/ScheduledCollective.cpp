//===- ScheduledCollective.cpp - Executes a schedule in chunks ------------===//
//
// Executes the list of this rank's actions, which planSchedule derives from the
// schedule.
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/ScheduledCollective.h"

#include "runtime/cpu/CollectiveSupport.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace ccn::runtime {

namespace {

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

class Scheduled : public Collective {
public:
  Scheduled(RankMemory &memory, Members members, ElementType type,
            ReduceKind kind, const ChunkSchedule &schedule, ChunkBody body)
      : memory(memory), members(std::move(members)), type(type), kind(kind),
        operation(schedule.name), chunks(schedule.chunks),
        body(std::move(body)) {}

  Status prepare(const ChunkSchedule &schedule, ScheduledMemory atLeast) {
    Result<MemberActions> planned = planSchedule(
        schedule, members.position, type, kind, static_cast<bool>(body));
    if (!planned)
      return planned.status();
    ScheduledMemory needed = planned->memory;
    actions = std::move(planned->actions);
    slots = std::move(planned->slots);
    needed.flags = std::max(needed.flags, atLeast.flags);
    needed.bufferBytes = std::max(needed.bufferBytes, atLeast.bufferBytes);
    bufferBytes = needed.bufferBytes;
    for (int chunk : planned->scratchChunks)
      scratch.emplace_back(static_cast<size_t>(bytesOf(chunk) + 7) / 8);
    setSpans();
    if (Status status = allocateSignals(memory, members, channel.free); !status)
      return status;
    Result<int64_t> flags = memory.allocate(Signals::bytes(needed.flags));
    if (!flags)
      return flags.status();
    channel.full.offset = *flags;
    Result<int64_t> allocated =
        memory.allocate(CCN_SCHEDULE_BUFFERS * bufferBytes);
    if (allocated)
      buffers = *allocated;
    return allocated.status();
  }

  Status run(const void *input, void *output) override {
    Status status = runChecked(static_cast<const std::byte *>(input),
                               static_cast<std::byte *>(output));
    return status ? status : memory.fail(status.message());
  }

  int64_t bytesSent() const override {
    int64_t bytes = 0;
    for (const ScheduleAction &action : actions)
      if (action.kind == ScheduleAction::Send)
        bytes += bytesOf(slotAt(static_cast<size_t>(action.peer),
                                static_cast<size_t>(action.index)),
                         action.chunk);
    return bytes;
  }

private:
  const Chunk &chunkAt(int chunk) const {
    return chunks[static_cast<size_t>(chunk)];
  }
  int64_t bytesOf(int chunk) const {
    return chunkAt(chunk).count * sizeInBytes(type);
  }

  /// Slot `index` of a member.
  const ScheduleSlot &slotAt(size_t member, size_t index) const {
    return slots[member][index];
  }
  int64_t bytesOf(const ScheduleSlot &slot, int chunk) const {
    return chunkAt(chunk).count * sizeInBytes(slot.type);
  }

  /// Sets how many bytes of its input this rank reads and of its output it
  /// writes.
  void setSpans() {
    auto has = [&](const std::vector<int> &list) {
      return std::binary_search(list.begin(), list.end(), members.position);
    };
    for (const Chunk &chunk : chunks) {
      int64_t size = sizeInBytes(type);
      if (chunk.count > 0 && has(chunk.sources))
        inputBytes =
            std::max(inputBytes, (chunk.inputFirst + chunk.count) * size);
      if (chunk.count > 0 && has(chunk.destinations))
        outputBytes =
            std::max(outputBytes, (chunk.outputFirst + chunk.count) * size);
    }
  }

  Status runChecked(const std::byte *input, std::byte *output) {
    const char *name = operation.c_str();
    if (Status status = checkBuffer(input, inputBytes, type, name, "input");
        !status)
      return status;
    if (Status status = checkBuffer(output, outputBytes, type, name, "output");
        !status)
      return status;
    // Writing a result must not overwrite input that later results need.
    if (std::less<>()(input, output + outputBytes) &&
        std::less<>()(static_cast<const std::byte *>(output),
                      input + inputBytes)) {
      kept.assign(input, input + inputBytes);
      input = kept.data();
    }
    ++epoch;
    buffer = buffers + decltype(channel)::buffer(epoch) * bufferBytes;
    for (const ScheduleAction &action : actions)
      if (Status status = execute(action, input, output); !status)
        return status;
    return Status();
  }

  Status execute(const ScheduleAction &action, const std::byte *input,
                 std::byte *output) {
    int rank = members.rankAt(action.peer);
    auto peer = static_cast<size_t>(action.peer);
    auto index = static_cast<size_t>(action.index);
    const Chunk &chunk = chunkAt(action.chunk);
    switch (action.kind) {
    case ScheduleAction::Await:
      return channel.awaitFull(memory, rank, action.index, operation.c_str(),
                               epoch);
    case ScheduleAction::AwaitFree:
      return channel.awaitFree(memory, rank, action.peer, operation.c_str(),
                               epoch);
    case ScheduleAction::TellFree:
      channel.signalFree(memory, rank, members.position, epoch);
      return Status();
    case ScheduleAction::Send: {
      const ScheduleSlot &slot = slotAt(peer, index);
      memory.putFormed(
          rank, buffer + slot.offset, bytesOf(slot, action.chunk), formed,
          [&](std::byte *to) { form(action, input, slot.type, to); });
      channel.signalFull(memory, rank, action.index, epoch);
      return Status();
    }
    case ScheduleAction::Finish: {
      auto *values = reinterpret_cast<std::byte *>(scratch[index].data());
      form(action, input, type, values);
      body(chunk.outputFirst, chunk.count, values);
      return Status();
    }
    case ScheduleAction::Result: {
      std::byte *values = output + chunk.outputFirst * sizeInBytes(type);
      form(action, input, type, values);
      if (action.finish)
        body(chunk.outputFirst, chunk.count, values);
      return Status();
    }
    }
    return Status();
  }

  /// Combines the parts of an action into elements of `outType`.
  void form(const ScheduleAction &action, const std::byte *input,
            ElementType outType, std::byte *out) {
    const Chunk &chunk = chunkAt(action.chunk);
    if (chunk.count == 0)
      return;
    parts.clear();
    for (const SumPart &part : action.parts)
      parts.push_back(partAt(part, chunk, input));
    // A single part is sent on in the type in which it arrived.
    if (parts.size() == 1)
      std::memcpy(out, parts[0].data,
                  static_cast<size_t>(chunk.count * sizeInBytes(outType)));
    else
      combine(kind, type, parts, chunk.count, outType, out);
  }

  TypedElements partAt(const SumPart &part, const Chunk &chunk,
                       const std::byte *input) {
    auto index = static_cast<size_t>(part.index);
    switch (part.where) {
    case SumPart::Input:
      return {type, input + chunk.inputFirst * sizeInBytes(type)};
    case SumPart::Scratch:
      return {type, reinterpret_cast<const std::byte *>(scratch[index].data())};
    case SumPart::Slot:
      break;
    }
    const ScheduleSlot &slot =
        slotAt(static_cast<size_t>(members.position), index);
    return {slot.type, memory.at(memory.rank(), buffer + slot.offset)};
  }

  RankMemory &memory;
  Members members;
  ElementType type;
  ReduceKind kind;
  std::string operation;
  std::vector<Chunk> chunks;
  ChunkBody body;
  std::vector<ScheduleAction> actions;
  std::vector<std::vector<ScheduleSlot>> slots;
  Channel<> channel;
  int64_t buffers = 0, bufferBytes = 0, buffer = 0;
  int64_t inputBytes = 0, outputBytes = 0;
  Epoch epoch = 0;
  std::vector<std::vector<uint64_t>> scratch;
  std::vector<std::byte> kept, formed;
  std::vector<TypedElements> parts;
};

} // namespace

Result<CollectivePtr> makeScheduled(RankMemory &memory, const Group &group,
                                    ElementType type, ReduceKind kind,
                                    const ChunkSchedule &schedule,
                                    ChunkBody body, ScheduledMemory atLeast) {
  Result<Members> members = checkGroup(memory, group, schedule.name.c_str());
  if (!members)
    return memory.fail(members.message());
  if (members->count() != schedule.members)
    return memory.fail(error(schedule.name, ": the group has ",
                             members->count(), " ranks, the schedule ",
                             schedule.members)
                           .message());
  if (schedule.combining)
    if (Status status = checkScheduled(kind, type); !status)
      return memory.fail(status.message());
  auto result = std::make_unique<Scheduled>(memory, *members, type, kind,
                                            schedule, std::move(body));
  if (Status status = result->prepare(schedule, atLeast); !status)
    return memory.fail(status.message());
  return CollectivePtr(std::move(result));
}

} // namespace ccn::runtime
