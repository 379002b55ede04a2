//===- ScheduledCollective.cpp - Any chunk-level algorithm ----------------===//
//
// When it is made, every rank goes through the whole schedule, which says what
// each member holds in every step, checks it, and keeps what it has to do
// itself as a list of actions. Running is executing the list.
//
//===----------------------------------------------------------------------===//

#include "runtime/ScheduledCollective.h"

#include "runtime/CollectiveSupport.h"
#include "runtime/SymmetricHeap.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>

namespace ccn::runtime {

namespace {

//===----------------------------------------------------------------------===//
// The plan of one member
//===----------------------------------------------------------------------===//

/// Members whose contributions a value holds, sorted.
using MemberSet = std::vector<int>;

MemberSet unite(const MemberSet &a, const MemberSet &b) {
  MemberSet result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(),
                 std::back_inserter(result));
  return result;
}

/// A common member, or -1.
int common(const MemberSet &a, const MemberSet &b) {
  MemberSet both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                        std::back_inserter(both));
  return both.empty() ? -1 : both.front();
}

/// Where a part of a sum is, how many contributions it holds and the lowest
/// member of them.
struct Part {
  enum Where { Input, Slot, Scratch } where = Input;
  int index = 0;
  size_t size = 1;
  int first = 0;
};

/// The one part that holds a value of these members.
Part partFor(Part::Where where, int index, const MemberSet &members) {
  return {where, index, members.size(), members.front()};
}

/// Parts in the order in which they are added. It does not depend on when they
/// arrived, so that members that add the same parts, or each its own half of
/// them first, have the same sum in all bits.
std::vector<Part> inOrder(std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(), [](const Part &a, const Part &b) {
    return std::pair(a.size, a.first) < std::pair(b.size, b.first);
  });
  return parts;
}

/// The sum of some parts. `finished`: the body has been applied.
struct Value {
  MemberSet members;
  std::vector<Part> parts;
  bool finished = false;
};

/// What one member has of one chunk.
struct Holding {
  Value own, running;
  std::vector<Value> stashed;
};

struct Action {
  enum Kind {
    Await,  ///< waits for slot `index` of `peer`
    Finish, ///< forms the sum in scratch `index` and applies the body
    Send,   ///< forms the sum in slot `index` of `peer`
    Result, ///< forms the sum in the output, and applies the body if `finish`
  } kind;
  int chunk = 0, peer = 0, index = 0;
  std::vector<Part> parts = {};
  bool finish = false;
};

struct SlotInfo {
  int64_t offset;
  int source;
};

/// Goes through a schedule.
class Planner {
public:
  Planner(const ChunkSchedule &schedule, int own, int elementSize, bool hasBody)
      : schedule(schedule), own(own), elementSize(elementSize),
        hasBody(hasBody), slots(static_cast<size_t>(schedule.members)),
        slotBytes(static_cast<size_t>(schedule.members)) {}

  Status plan();
  /// What the member that needs most does.
  ScheduledMemory memory() const {
    ScheduledMemory most;
    for (size_t member = 0; member < slots.size(); ++member) {
      most.flags =
          std::max(most.flags, static_cast<int64_t>(slots[member].size()));
      most.bufferBytes = std::max(most.bufferBytes, slotBytes[member]);
    }
    return most;
  }

  const ChunkSchedule &schedule;
  const int own;
  const int elementSize;
  const bool hasBody;
  std::vector<Action> actions;
  /// The slots of each member, and the bytes that they take.
  std::vector<std::vector<SlotInfo>> slots;
  std::vector<int64_t> slotBytes;
  int scratches = 0;
  std::vector<int> scratchChunk;

private:
  Status checkChunks();
  Status planStep(const std::vector<Transfer> &transfers);
  Status receive(const Transfer &transfer, Value value);
  Result<Value> take(const Transfer &transfer);
  void awaitParts(const Value &value);
  Value finished(int member, int chunk, Value value);
  Status finalValues();

  Holding &at(int chunk, int member) {
    return holdings[static_cast<size_t>(chunk) *
                        static_cast<size_t>(schedule.members) +
                    static_cast<size_t>(member)];
  }
  MemberSet wholeSum(int chunk) const {
    const Chunk &c = schedule.chunks[static_cast<size_t>(chunk)];
    return schedule.combining ? c.sources : MemberSet{c.sources.front()};
  }
  template <typename... Why>
  Status wrong(const Transfer &t, const Why &...why) const {
    return error(schedule.name, ": step ", step, ": chunk ", t.chunk,
                 " from member ", t.source, " to member ", t.destination, ": ",
                 why...);
  }

  std::vector<Holding> holdings;
  std::vector<bool> awaited;
  int step = 0;
};

Status Planner::checkChunks() {
  auto isMember = [&](int m) { return m >= 0 && m < schedule.members; };
  for (size_t c = 0; c < schedule.chunks.size(); ++c) {
    const Chunk &chunk = schedule.chunks[c];
    int64_t end;
    if (chunk.count < 0 || chunk.inputFirst < 0 || chunk.outputFirst < 0 ||
        __builtin_add_overflow(std::max(chunk.inputFirst, chunk.outputFirst),
                               chunk.count, &end) ||
        __builtin_mul_overflow(end, elementSize, &end))
      return error(schedule.name, ": chunk ", c, " has no place in memory");
    if (chunk.sources.empty())
      return error(schedule.name, ": chunk ", c, " has no source");
    for (const std::vector<int> *list : {&chunk.sources, &chunk.destinations})
      if (!std::all_of(list->begin(), list->end(), isMember) ||
          !std::is_sorted(list->begin(), list->end()) ||
          std::adjacent_find(list->begin(), list->end()) != list->end())
        return error(schedule.name, ": chunk ", c, ": expected members below ",
                     schedule.members, " in ascending order");
  }
  return Status();
}

Status Planner::plan() {
  if (Status status = checkChunks(); !status)
    return status;
  holdings.resize(schedule.chunks.size() *
                  static_cast<size_t>(schedule.members));
  for (size_t c = 0; c < schedule.chunks.size(); ++c)
    for (int source : schedule.chunks[c].sources) {
      auto chunk = static_cast<int>(c);
      Holding &holding = at(chunk, source);
      holding.own.members =
          schedule.combining ? MemberSet{source} : wholeSum(chunk);
      holding.own.parts = {partFor(Part::Input, chunk, holding.own.members)};
      holding.running = holding.own;
    }
  for (const std::vector<Transfer> &transfers : schedule.steps) {
    ++step;
    if (Status status = planStep(transfers); !status)
      return status;
  }
  return finalValues();
}

Status Planner::planStep(const std::vector<Transfer> &transfers) {
  std::vector<Value> values;
  for (const Transfer &t : transfers) {
    auto isMember = [&](int m) { return m >= 0 && m < schedule.members; };
    if (t.chunk < 0 || t.chunk >= static_cast<int>(schedule.chunks.size()) ||
        !isMember(t.source) || !isMember(t.destination) ||
        t.source == t.destination)
      return wrong(t, "expected a chunk below ", schedule.chunks.size(),
                   " and two different members below ", schedule.members);
    Result<Value> value = take(t);
    if (!value)
      return value.status();
    auto &there = slots[static_cast<size_t>(t.destination)];
    int64_t &bytes = slotBytes[static_cast<size_t>(t.destination)];
    auto slot = static_cast<int>(there.size());
    there.push_back({bytes, t.source});
    int64_t chunkBytes = aligned(
        schedule.chunks[static_cast<size_t>(t.chunk)].count * elementSize);
    if (__builtin_add_overflow(bytes, chunkBytes, &bytes))
      return wrong(t, "the bytes of all transfers overflow");
    if (t.source == own) {
      awaitParts(*value);
      actions.push_back(
          {Action::Send, t.chunk, t.destination, slot, inOrder(value->parts)});
    }
    value->parts = {partFor(Part::Slot, slot, value->members)};
    values.push_back(*std::move(value));
  }
  std::map<std::pair<int, int>, TransferOp> written;
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Transfer &t = transfers[i];
    if (t.op != TransferOp::Stash) {
      auto [other, isFirst] =
          written.emplace(std::pair(t.chunk, t.destination), t.op);
      if (!isFirst &&
          (t.op == TransferOp::Copy || other->second == TransferOp::Copy))
        return wrong(t, "another transfer writes there in the same step");
    }
    if (Status status = receive(t, std::move(values[i])); !status)
      return status;
  }
  return Status();
}

/// What a transfer sends.
Result<Value> Planner::take(const Transfer &t) {
  Holding &holding = at(t.chunk, t.source);
  Value value = holding.running;
  if (!t.sums.empty()) {
    // Exactly these members, from whole values; few values, so a plain search.
    std::vector<const Value *> candidates = {&holding.running, &holding.own};
    for (const Value &stashed : holding.stashed)
      candidates.push_back(&stashed);
    auto cover = [&](auto &self, const MemberSet &rest, Value &sum) -> bool {
      if (rest.empty())
        return true;
      for (const Value *candidate : candidates) {
        const MemberSet &members = candidate->members;
        if (!std::binary_search(members.begin(), members.end(), rest.front()) ||
            !std::includes(rest.begin(), rest.end(), members.begin(),
                           members.end()))
          continue;
        MemberSet left;
        std::set_difference(rest.begin(), rest.end(), members.begin(),
                            members.end(), std::back_inserter(left));
        Value longer = sum;
        longer.members = unite(sum.members, members);
        longer.parts.insert(longer.parts.end(), candidate->parts.begin(),
                            candidate->parts.end());
        longer.finished = candidate->finished;
        if (!self(self, left, longer))
          continue;
        sum = std::move(longer);
        return true;
      }
      return false;
    };
    value = Value();
    MemberSet wanted = t.sums;
    std::sort(wanted.begin(), wanted.end());
    if (!cover(cover, wanted, value))
      return wrong(t, "the sender cannot form the sum that it should send");
  }
  if (value.parts.empty())
    return wrong(t, "the sender has nothing of it yet");
  bool isRunning = value.members == holding.running.members;
  value = finished(t.source, t.chunk, std::move(value));
  if (isRunning)
    holding.running = value;
  return value;
}

Status Planner::receive(const Transfer &t, Value value) {
  Holding &holding = at(t.chunk, t.destination);
  Value &running = holding.running;
  switch (t.op) {
  case TransferOp::Stash:
    holding.stashed.push_back(std::move(value));
    return Status();
  case TransferOp::Copy:
    if (!std::includes(value.members.begin(), value.members.end(),
                       running.members.begin(), running.members.end()))
      return wrong(t, "the copy would overwrite contributions it lacks");
    running = std::move(value);
    return Status();
  case TransferOp::Reduce:
    break;
  }
  if (!schedule.combining)
    return wrong(t, "expected a copy, found a reduction");
  if (int twice = common(running.members, value.members); twice >= 0)
    return wrong(t, "the contribution of member ", twice,
                 " would be added twice");
  running.members = unite(running.members, value.members);
  running.parts.insert(running.parts.end(), value.parts.begin(),
                       value.parts.end());
  running.finished = false;
  return Status();
}

/// Waits, before the next action, for what has not been waited for.
void Planner::awaitParts(const Value &value) {
  const auto &mine = slots[static_cast<size_t>(own)];
  awaited.resize(mine.size());
  for (const Part &part : value.parts) {
    auto index = static_cast<size_t>(part.index);
    if (part.where != Part::Slot || awaited[index])
      continue;
    awaited[index] = true;
    actions.push_back({Action::Await, 0, mine[index].source, part.index});
  }
}

/// The value with the body applied, if it is a whole sum and there is a body.
Value Planner::finished(int member, int chunk, Value value) {
  if (!hasBody || value.finished || value.members != wholeSum(chunk))
    return value;
  int scratch = scratches;
  if (member == own) {
    ++scratches;
    scratchChunk.push_back(chunk);
    awaitParts(value);
    actions.push_back(
        {Action::Finish, chunk, own, scratch, inOrder(value.parts)});
  }
  value.parts = {partFor(Part::Scratch, scratch, value.members)};
  value.finished = true;
  return value;
}

Status Planner::finalValues() {
  for (size_t c = 0; c < schedule.chunks.size(); ++c) {
    auto chunk = static_cast<int>(c);
    for (int member : schedule.chunks[c].destinations) {
      Holding &holding = at(chunk, member);
      Value value = holding.running;
      if (value.members != wholeSum(chunk)) {
        Transfer last{chunk, member, member, TransferOp::Copy, wholeSum(chunk)};
        Result<Value> sum = take(last);
        if (!sum)
          return error(schedule.name, ": at the end member ", member,
                       schedule.combining ? " does not have the sum of chunk "
                                          : " does not have chunk ",
                       chunk);
        value = *std::move(sum);
      }
      if (member != own)
        continue;
      awaitParts(value);
      actions.push_back({Action::Result, chunk, own, 0, inOrder(value.parts),
                         hasBody && !value.finished});
    }
  }
  // What nobody needs must have arrived too before its slot is free.
  for (size_t i = 0; i < slots[static_cast<size_t>(own)].size(); ++i) {
    Value value;
    value.parts = {{Part::Slot, static_cast<int>(i)}};
    awaitParts(value);
  }
  return Status();
}

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
    Planner planner(schedule, members.position, sizeInBytes(type),
                    static_cast<bool>(body));
    if (Status status = planner.plan(); !status)
      return status;
    ScheduledMemory needed = planner.memory();
    actions = std::move(planner.actions);
    slots = std::move(planner.slots);
    needed.flags = std::max(needed.flags, atLeast.flags);
    needed.bufferBytes = std::max(needed.bufferBytes, atLeast.bufferBytes);
    bufferBytes = needed.bufferBytes;
    for (int chunk : planner.scratchChunk)
      scratch.emplace_back(static_cast<size_t>(bytesOf(chunk) + 7) / 8);
    for (const SlotInfo &slot : slots[static_cast<size_t>(members.position)])
      senders.push_back(slot.source);
    std::sort(senders.begin(), senders.end());
    senders.erase(std::unique(senders.begin(), senders.end()), senders.end());
    setSpans();
    if (Status status = allocateSignals(memory, members, channel.free); !status)
      return status;
    Result<int64_t> flags = memory.allocate(Signals::bytes(needed.flags));
    if (!flags)
      return flags.status();
    channel.full.offset = *flags;
    Result<int64_t> allocated = memory.allocate(2 * bufferBytes);
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
    mayWrite.assign(slots.size(), false);
    for (const Action &action : actions)
      if (Status status = execute(action, input, output); !status)
        return status;
    for (int sender : senders)
      channel.signalFree(memory, members.rankAt(sender), members.position,
                         epoch);
    return Status();
  }

  Status execute(const Action &action, const std::byte *input,
                 std::byte *output) {
    int rank = members.rankAt(action.peer);
    auto peer = static_cast<size_t>(action.peer);
    auto index = static_cast<size_t>(action.index);
    const Chunk &chunk = chunkAt(action.chunk);
    switch (action.kind) {
    case Action::Await:
      return channel.awaitFull(memory, rank, action.index, operation.c_str(),
                               epoch);
    case Action::Send:
      if (!mayWrite[peer])
        if (Status status = channel.awaitFree(memory, rank, action.peer,
                                              operation.c_str(), epoch);
            !status)
          return status;
      mayWrite[peer] = true;
      memory.putFormed(rank, buffer + slots[peer][index].offset,
                       bytesOf(action.chunk), formed,
                       [&](std::byte *to) { form(action, input, to); });
      channel.signalFull(memory, rank, action.index, epoch);
      return Status();
    case Action::Finish: {
      auto *values = reinterpret_cast<std::byte *>(scratch[index].data());
      form(action, input, values);
      body(chunk.outputFirst, chunk.count, values);
      return Status();
    }
    case Action::Result: {
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
  void form(const Action &action, const std::byte *input, std::byte *out) {
    const Chunk &chunk = chunkAt(action.chunk);
    if (chunk.count == 0)
      return;
    parts.clear();
    for (const Part &part : action.parts) {
      auto index = static_cast<size_t>(part.index);
      if (part.where == Part::Input)
        parts.push_back(input + chunk.inputFirst * sizeInBytes(type));
      else if (part.where == Part::Scratch)
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
  std::vector<Action> actions;
  std::vector<std::vector<SlotInfo>> slots;
  /// The members that send to this one.
  std::vector<int> senders;
  Channel<2> channel;
  int64_t buffers = 0, bufferBytes = 0, buffer = 0;
  int64_t inputBytes = 0, outputBytes = 0;
  Epoch epoch = 0;
  std::vector<bool> mayWrite;
  std::vector<std::vector<uint64_t>> scratch;
  std::vector<std::byte> kept, formed;
  std::vector<const std::byte *> parts;
};

} // namespace

int64_t ScheduledMemory::bytes(int members) const {
  return aligned(Signals::bytes(members)) + aligned(Signals::bytes(flags)) +
         aligned(2 * bufferBytes);
}

Result<ScheduledMemory> scheduledMemory(const ChunkSchedule &schedule,
                                        ElementType type) {
  Planner planner(schedule, 0, sizeInBytes(type), false);
  if (Status status = planner.plan(); !status)
    return status;
  ScheduledMemory memory = planner.memory();
  if (memory.bufferBytes > SymmetricHeap::maxBytes)
    return error(schedule.name, ": the bytes of all transfers overflow");
  return memory;
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
