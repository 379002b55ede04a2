//===- ScheduledCollective.cpp - Any chunk-level algorithm ----------------===//
//
// Executes the list of actions that the schedule leaves for this rank.
//
//===----------------------------------------------------------------------===//

#include "runtime/ScheduleActions.h"

#include "runtime/CollectiveSupport.h"
#include "runtime/SymmetricHeap.h"

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
        schedule, members.position, sizeInBytes(type), static_cast<bool>(body));
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

private:
  const Chunk &chunkAt(int chunk) const {
    return chunks[static_cast<size_t>(chunk)];
  }
  int64_t bytesOf(int chunk) const {
    return chunkAt(chunk).count * sizeInBytes(type);
  }

  /// How far this rank reads its input and writes its output.
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
    // Results may not overwrite what other results are still made of.
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
    case ScheduleAction::Send:
      memory.putFormed(rank, buffer + slots[peer][index].offset,
                       bytesOf(action.chunk), formed,
                       [&](std::byte *to) { form(action, input, to); });
      channel.signalFull(memory, rank, action.index, epoch);
      return Status();
    case ScheduleAction::Finish: {
      auto *values = reinterpret_cast<std::byte *>(scratch[index].data());
      form(action, input, values);
      body(chunk.outputFirst, chunk.count, values);
      return Status();
    }
    case ScheduleAction::Result: {
      std::byte *values = output + chunk.outputFirst * sizeInBytes(type);
      form(action, input, values);
      if (action.finish)
        body(chunk.outputFirst, chunk.count, values);
      return Status();
    }
    }
    return Status();
  }

  /// Combines an action's parts.
  void form(const ScheduleAction &action, const std::byte *input,
            std::byte *out) {
    const Chunk &chunk = chunkAt(action.chunk);
    if (chunk.count == 0)
      return;
    parts.clear();
    for (const SumPart &part : action.parts) {
      auto index = static_cast<size_t>(part.index);
      if (part.where == SumPart::Input)
        parts.push_back(input + chunk.inputFirst * sizeInBytes(type));
      else if (part.where == SumPart::Scratch)
        parts.push_back(
            reinterpret_cast<const std::byte *>(scratch[index].data()));
      else
        parts.push_back(memory.at(
            memory.rank(),
            buffer +
                slots[static_cast<size_t>(members.position)][index].offset));
    }
    if (parts.size() == 1)
      std::memcpy(out, parts[0], static_cast<size_t>(bytesOf(action.chunk)));
    else
      combine(kind, type, parts, chunk.count, out);
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
  std::vector<const std::byte *> parts;
};

} // namespace

int64_t ScheduledMemory::bytes(int members) const {
  return aligned(Signals::bytes(members)) + aligned(Signals::bytes(flags)) +
         aligned(CCN_SCHEDULE_BUFFERS * bufferBytes);
}

Result<ScheduledMemory> scheduledMemory(const ChunkSchedule &schedule,
                                        ElementType type) {
  Result<MemberActions> planned =
      planSchedule(schedule, 0, sizeInBytes(type), false);
  if (!planned)
    return planned.status();
  if (planned->memory.bufferBytes > SymmetricHeap::maxBytes)
    return error(schedule.name, ": the bytes of all transfers overflow");
  return planned->memory;
}

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
    if (Status status = checkReduction(kind, type, std::string(name(type)));
        !status)
      return memory.fail(status.message());
  auto result = std::make_unique<Scheduled>(memory, *members, type, kind,
                                            schedule, std::move(body));
  if (Status status = result->prepare(schedule, atLeast); !status)
    return memory.fail(status.message());
  return CollectivePtr(std::move(result));
}

} // namespace ccn::runtime
