//===- ScheduleActions.cpp - The actions of a schedule's member -----------===//
//
// Follows what each member holds in every step of the schedule, checks this,
// and records the actions of one member.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/ScheduleActions.h"

#include "runtime/plan/ProtocolRules.h"
#include "runtime/plan/SymmetricMemory.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace ccn::runtime {

namespace {

//===----------------------------------------------------------------------===//
// The plan of one member
//===----------------------------------------------------------------------===//

/// The members whose contributions a value holds, sorted.
using MemberSet = std::vector<int>;

MemberSet unite(const MemberSet &a, const MemberSet &b) {
  MemberSet result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(),
                 std::back_inserter(result));
  return result;
}

/// A member of both sets, or -1.
int common(const MemberSet &a, const MemberSet &b) {
  MemberSet both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                        std::back_inserter(both));
  return both.empty() ? -1 : both.front();
}

/// A part that holds the contributions of these members.
SumPart partFor(SumPart::Where where, int index, const MemberSet &members) {
  return {where, index, members.size(), members.front()};
}

/// Sorts parts into the order in which they are added. The order does not
/// depend on when parts arrived, so members that add the same parts get the
/// same bits.
std::vector<SumPart> inOrder(std::vector<SumPart> parts) {
  std::sort(parts.begin(), parts.end(), [](const SumPart &a, const SumPart &b) {
    return std::pair(a.size, a.first) < std::pair(b.size, b.first);
  });
  return parts;
}

/// The sum of some parts. `finished` says whether the body was applied to it.
struct Value {
  MemberSet members;
  std::vector<SumPart> parts;
  bool finished = false;
};

/// What one member has of one chunk: its contribution, its running sum, and the
/// sums kept apart.
struct Holding {
  Value own, running;
  std::vector<Value> stashed;
};

/// Derives the actions of member `own` from a schedule.
class Planner {
public:
  Planner(const ChunkSchedule &schedule, int own, ElementType type,
          ReduceKind kind, bool hasBody)
      : schedule(schedule), own(own), type(type),
        partial(schedule.combining ? partialType(kind, type) : type),
        hasBody(hasBody), slots(static_cast<size_t>(schedule.members)),
        slotBytes(static_cast<size_t>(schedule.members)) {}

  Status plan();
  /// The memory of the member that needs most.
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
  /// The type of contributions and results, and that of partial sums.
  const ElementType type, partial;
  const bool hasBody;
  std::vector<ScheduleAction> actions;
  /// The slots of each member, and the bytes that they take.
  std::vector<std::vector<ScheduleSlot>> slots;
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
  /// The type in which a value of a chunk travels. Single contributions and
  /// whole sums travel in the element type.
  ElementType typeOf(const Value &value, int chunk) const {
    bool isPart = value.members.size() > 1 && value.members != wholeSum(chunk);
    return isPart ? partial : type;
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
        __builtin_mul_overflow(end, sizeInBytes(partial), &end))
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
      holding.own.parts = {partFor(SumPart::Input, chunk, holding.own.members)};
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
    ElementType slotType = typeOf(*value, t.chunk);
    there.push_back({bytes, t.source, slotType});
    int64_t chunkBytes =
        aligned(schedule.chunks[static_cast<size_t>(t.chunk)].count *
                sizeInBytes(slotType));
    if (__builtin_add_overflow(bytes, chunkBytes, &bytes))
      return wrong(t, "the bytes of all transfers overflow");
    if (t.source == own) {
      awaitParts(*value);
      actions.push_back({ScheduleAction::Send, t.chunk, t.destination, slot,
                         inOrder(value->parts)});
    }
    value->parts = {partFor(SumPart::Slot, slot, value->members)};
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

/// The value that a transfer sends.
Result<Value> Planner::take(const Transfer &t) {
  Holding &holding = at(t.chunk, t.source);
  Value value = holding.running;
  if (!t.sums.empty()) {
    // Searches for values that together hold exactly these members. There are
    // few values, so a plain search will do.
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

/// Adds waits for the slots of `value` for which no earlier action waits.
void Planner::awaitParts(const Value &value) {
  const auto &mine = slots[static_cast<size_t>(own)];
  awaited.resize(mine.size());
  for (const SumPart &part : value.parts) {
    auto index = static_cast<size_t>(part.index);
    if (part.where != SumPart::Slot || awaited[index])
      continue;
    awaited[index] = true;
    actions.push_back(
        {ScheduleAction::Await, 0, mine[index].source, part.index});
  }
}

/// The value after the body was applied, if it is a whole sum and there is a
/// body; else the value itself.
Value Planner::finished(int member, int chunk, Value value) {
  if (!hasBody || value.finished || value.members != wholeSum(chunk))
    return value;
  int scratch = scratches;
  if (member == own) {
    ++scratches;
    scratchChunk.push_back(chunk);
    awaitParts(value);
    actions.push_back(
        {ScheduleAction::Finish, chunk, own, scratch, inOrder(value.parts)});
  }
  value.parts = {partFor(SumPart::Scratch, scratch, value.members)};
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
      actions.push_back({ScheduleAction::Result, chunk, own, 0,
                         inOrder(value.parts), hasBody && !value.finished});
    }
  }
  // Values that nobody needs must have arrived too before their slots are free.
  for (size_t i = 0; i < slots[static_cast<size_t>(own)].size(); ++i) {
    Value value;
    value.parts = {{SumPart::Slot, static_cast<int>(i)}};
    awaitParts(value);
  }
  return Status();
}

} // namespace

/// Adds the actions that keep slots from being written before they have been
/// read.
static std::vector<ScheduleAction>
withCredits(const std::vector<ScheduleAction> &actions,
            const std::vector<ScheduleSlot> &ownSlots) {
  std::vector<ScheduleAction> result;
  std::set<int> receivers, senders;
  for (const ScheduleAction &action : actions) {
    if (action.kind == ScheduleAction::Send &&
        receivers.insert(action.peer).second)
      result.push_back({ScheduleAction::AwaitFree, 0, action.peer});
    result.push_back(action);
  }
  for (const ScheduleSlot &slot : ownSlots)
    senders.insert(slot.source);
  for (int sender : senders)
    result.push_back({ScheduleAction::TellFree, 0, sender});
  return result;
}

Result<MemberActions> planSchedule(const ChunkSchedule &schedule, int own,
                                   ElementType type, ReduceKind kind,
                                   bool hasBody) {
  Planner planner(schedule, own, type, kind, hasBody);
  if (Status status = planner.plan(); !status)
    return status;
  ScheduledMemory memory = planner.memory();
  std::vector<ScheduleAction> actions =
      withCredits(planner.actions, planner.slots[static_cast<size_t>(own)]);
  return MemberActions{std::move(actions), std::move(planner.slots), memory,
                       std::move(planner.scratchChunk)};
}

int64_t ScheduledMemory::bytes(int members) const {
  return aligned(flagBytes(members)) + aligned(flagBytes(flags)) +
         aligned(CCN_SCHEDULE_BUFFERS * bufferBytes);
}

Result<ScheduledMemory> scheduledMemory(const ChunkSchedule &schedule,
                                        ElementType type, ReduceKind kind) {
  Result<MemberActions> planned = planSchedule(schedule, 0, type, kind, false);
  if (!planned)
    return planned.status();
  if (planned->memory.bufferBytes > maxSymmetricBytes)
    return error(schedule.name, ": the bytes of all transfers overflow");
  return planned->memory;
}

Status checkScheduled(ReduceKind kind, ElementType type) {
  if (kind == ReduceKind::Mean)
    return error("a schedule takes sums, products and extremes, found a mean");
  return checkReduction(kind, type, std::string(name(type)));
}

} // namespace ccn::runtime
