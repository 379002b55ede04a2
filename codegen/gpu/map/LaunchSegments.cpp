//===- LaunchSegments.cpp - Launches cut where ranks wait -----------------===//
//
// Levels are raised until nothing waits for something of its own or a later
// level. Then they are numbered without gaps, which gives the segments.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/LaunchSegments.h"

#include "codegen/gpu/map/LaunchBarriers.h"
#include "runtime/plan/PartAccesses.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>
#include <set>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

/// A message that covers an access, from the access's first byte on; nothing if
/// the access writes elements twice.
std::optional<GpuMessage> cover(const PartAccess<const View> &access,
                                int64_t size) {
  GpuMessage message;
  message.bytes = access.extent * size;
  if (access.isContiguous)
    return message;
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (auto [dim, count] : llvm::enumerate(access.sizes))
    if (int64_t stride =
            dim < access.view.strides.size() ? access.view.strides[dim] : 0;
        count > 1 && stride != 0)
      dims.emplace_back(stride * size, count);
  llvm::sort(dims);
  int64_t whole = std::exchange(message.bytes, size), span = size;
  for (auto [stride, count] : dims) {
    if (stride < span) {
      // Elements are read more than once: send everything from the first to the
      // last.
      message.bytes = whole;
      message.counts.clear();
      message.strides.clear();
      return access.writes ? std::nullopt : std::optional(message);
    }
    span += (count - 1) * stride;
    if (message.counts.empty() && stride == message.bytes) {
      message.bytes *= count;
    } else if (!message.counts.empty() &&
               stride == message.strides.front() * message.counts.front()) {
      message.counts.front() *= count;
    } else {
      message.counts.insert(message.counts.begin(), count);
      message.strides.insert(message.strides.begin(), stride);
    }
  }
  return message;
}

} // namespace

llvm::Error LaunchSegments::planExchanges() {
  exchanges.resize(plan.ranks.size());
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
    for (const Part &any : launchOf(rank).parts) {
      const auto *part = std::get_if<ExchangePart>(&any);
      if (!part)
        continue;
      ExchangeSegments &own = exchanges[rank].emplace_back();
      if (part->exchange != Exchange::Schedule)
        continue;
      const std::vector<int> &group =
          plan.groups[static_cast<size_t>(part->group)];
      auto position = llvm::find(group, static_cast<int>(rank));
      Result<MemberActions> planned = planSchedule(
          plan.schedules[static_cast<size_t>(part->schedule)],
          static_cast<int>(position - group.begin()),
          plan.ranks[rank].buffers[static_cast<size_t>(part->from.buffer)].type,
          part->reduction, /*hasBody=*/false);
      if (!planned)
        return llvm::createStringError(planned.status().message());
      own.schedule = *std::move(planned);
      own.actions.resize(own.schedule.actions.size());
    }
  return llvm::Error::success();
}

/// Finds the launches that must be done before: those for which some rank
/// waits, and those whose signals are awaited.
llvm::Error LaunchSegments::addWaits() {
  std::set<int> waits;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    const Launch &own = launchOf(rank);
    if (own.stream != launchOf(0).stream)
      return llvm::createStringError("launch '" + own.name +
                                     "' has another stream on rank " +
                                     std::to_string(rank) + " than on rank 0");
    waits.insert(own.waits.begin(), own.waits.end());
    for (const Part &part : own.parts) {
      const auto *awaited = std::get_if<AwaitPart>(&part);
      // Ranks that are not planned are like one that is.
      if (!awaited || static_cast<size_t>(awaited->rank) >= plan.ranks.size())
        continue;
      const RankPlan &giver = plan.ranks[static_cast<size_t>(awaited->rank)];
      auto gives = [&](const Part &any) {
        const auto *signal = std::get_if<SignalPart>(&any);
        return signal && signal->rank == static_cast<int>(rank) &&
               signal->flag == awaited->flag;
      };
      auto from = llvm::find_if(giver.launches, [&](const Launch &other) {
        return llvm::any_of(other.parts, gives);
      });
      auto number = static_cast<size_t>(from - giver.launches.begin());
      if (number > launch)
        return llvm::createStringError("launch '" + own.name +
                                       "' awaits a signal of a later launch");
      if (number < launch)
        waits.insert(static_cast<int>(number));
    }
  }
  result.waits.assign(waits.begin(), waits.end());
  return llvm::Error::success();
}

/// Raises the levels of a schedule that begins at `level`; returns the level
/// after it.
int LaunchSegments::cutSchedule(int rank, size_t exchange, int group,
                                int level) {
  ExchangeSegments &own = exchanges[static_cast<size_t>(rank)][exchange];
  const std::vector<int> &ranks = plan.groups[static_cast<size_t>(group)];
  auto position = static_cast<int>(llvm::find(ranks, rank) - ranks.begin());
  for (auto [action, at] : llvm::zip(own.schedule.actions, own.actions)) {
    if (action.kind == ScheduleAction::Await)
      level = std::max(level, slots[{exchange, group, position, action.index}]);
    raise(at, level);
    if (action.kind == ScheduleAction::Send)
      raise(slots[{exchange, group, action.peer, action.index}], level + 1);
  }
  return level;
}

void LaunchSegments::cutRank(int rank) {
  auto index = static_cast<size_t>(rank);
  int level = 0;
  size_t barrier = 0, exchange = 0;
  for (auto [any, at] : llvm::zip(launchOf(index).parts, parts[index])) {
    if (const auto *part = std::get_if<AwaitPart>(&any))
      level = std::max(level, signals[{part->rank, rank, part->flag}]);
    raise(at, level);
    if (const auto *part = std::get_if<BarrierPart>(&any)) {
      int &met = barriers[{barrier++, part->group}];
      raise(met, level + 1);
      level = met;
    } else if (const auto *part = std::get_if<SignalPart>(&any)) {
      raise(signals[{rank, part->rank, part->flag}], level + 1);
    } else if (const auto *part = std::get_if<ExchangePart>(&any)) {
      int &met = meetings[{exchange, part->group}];
      raise(met, level + 1);
      level = met;
      raise(at, level);
      raise(exchanges[index][exchange].first, level);
      level = part->exchange == Exchange::Schedule
                  ? cutSchedule(rank, exchange, part->group, level)
                  : level + 1;
      ++exchange;
    }
  }
}

llvm::Error LaunchSegments::cut() {
  size_t steps = 2;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    parts.emplace_back(launchOf(rank).parts.size());
    steps += parts.back().size();
    for (const ExchangeSegments &exchange : exchanges[rank])
      steps += exchange.actions.size();
  }
  do {
    if (steps-- == 0)
      return llvm::createStringError("launch '" + launchOf(0).name +
                                     "' waits for itself");
    hasChanged = false;
    for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
      cutRank(static_cast<int>(rank));
  } while (hasChanged);
  return llvm::Error::success();
}

/// Calls visit(level) for each level in which work is done.
static void forEachLevel(const Launch &launch, std::vector<int> &parts,
                         std::vector<ExchangeSegments> &exchanges,
                         llvm::function_ref<void(int &)> visit) {
  for (auto [part, level] : llvm::zip(launch.parts, parts))
    if (!isFlagPart(part) && !std::holds_alternative<ExchangePart>(part))
      visit(level);
  for (ExchangeSegments &exchange : exchanges) {
    visit(exchange.first);
    for (int &level : exchange.actions)
      visit(level);
  }
}

void LaunchSegments::number() {
  std::set<int> levels;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    const Launch &own = launchOf(rank);
    forEachLevel(own, parts[rank], exchanges[rank],
                 [&](int level) { levels.insert(level); });
    size_t number = 0;
    for (const Part &any : own.parts)
      if (const auto *part = std::get_if<ExchangePart>(&any))
        if (const ExchangeSegments &exchange = exchanges[rank][number++];
            part->exchange != Exchange::Schedule)
          levels.insert(exchange.first + 1);
  }
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
    forEachLevel(launchOf(rank), parts[rank], exchanges[rank], [&](int &level) {
      level = static_cast<int>(
          std::distance(levels.begin(), levels.lower_bound(level)));
    });
  result.count = static_cast<int>(levels.size());
  result.messages.resize(2 * levels.size());
}

void LaunchSegments::add(int segment, GpuMessage message) {
  std::vector<GpuMessage> &list =
      result.messages[2 * static_cast<size_t>(segment) + message.isWrite];
  if (!llvm::is_contained(list, message))
    list.push_back(std::move(message));
}

/// Adds the messages of an exchange. A schedule sends to the receivers' slots;
/// other exchanges send this rank's data to all members after the first
/// segment.
void LaunchSegments::addMessages(int rank, const ExchangePart &part,
                                 size_t number) {
  const ExchangeSegments &own = exchangeOf(rank, number);
  const std::vector<int> &group = plan.groups[static_cast<size_t>(part.group)];
  int64_t size = sizeInBytes(plan.ranks[static_cast<size_t>(rank)]
                                 .buffers[static_cast<size_t>(part.from.buffer)]
                                 .type);
  GpuMessage message;
  message.from = rank;
  if (part.exchange != Exchange::Schedule) {
    message.offset = memory[number].slots;
    message.bytes = part.inputCount * size;
    for (int to : group) {
      message.to = to;
      if (to != rank && message.bytes > 0)
        add(own.first + 1, message);
    }
    return;
  }
  message.isWrite = true;
  for (auto [action, segment] : llvm::zip(own.schedule.actions, own.actions)) {
    if (action.kind != ScheduleAction::Send)
      continue;
    auto member = static_cast<size_t>(action.peer);
    const ScheduleSlot &slot =
        own.schedule.slots[member][static_cast<size_t>(action.index)];
    message.to = group[member];
    message.offset = memory[number].slots + slot.offset;
    message.bytes = plan.schedules[static_cast<size_t>(part.schedule)]
                        .chunks[static_cast<size_t>(action.chunk)]
                        .count *
                    sizeInBytes(slot.type);
    if (message.bytes > 0)
      add(segment, message);
  }
}

llvm::Error LaunchSegments::addMessages(int rank) {
  const RankPlan &own = plan.ranks[static_cast<size_t>(rank)];
  size_t exchange = 0;
  bool isWrong = false;
  for (auto [i, part] :
       llvm::enumerate(launchOf(static_cast<size_t>(rank)).parts)) {
    forEachAccess(part, plan.groups, [&](const PartAccess<const View> &access) {
      const View &view = access.view;
      int owner = access.ownerFor(rank);
      if (access.extent == 0 || owner == rank)
        return;
      const Buffer &buffer = own.buffers[static_cast<size_t>(view.buffer)];
      int64_t size = sizeInBytes(buffer.type);
      std::optional<GpuMessage> message = cover(access, size);
      if (!message) {
        isWrong = true;
        return;
      }
      message->isWrite = access.writes;
      message->from = access.writes ? rank : owner;
      message->to = access.writes ? owner : rank;
      message->offset = view.offset * size;
      if (buffer.memory == Memory::Argument)
        message->argument = static_cast<int>(
            llvm::find(shared, static_cast<int>(buffer.offset)) -
            shared.begin());
      else
        message->offset += buffer.offset;
      add(segmentOf(rank, i), *std::move(message));
    });
    if (const auto *own = std::get_if<ExchangePart>(&part))
      addMessages(rank, *own, exchange++);
  }
  if (isWrong)
    return llvm::createStringError("launch '" + launchOf(0).name +
                                   "' writes elements of another rank twice");
  return llvm::Error::success();
}

llvm::Expected<LaunchSegments>
LaunchSegments::create(const Plan &plan, llvm::ArrayRef<int> shared,
                       size_t launch, llvm::ArrayRef<ExchangeMemory> memory,
                       bool hasMessages) {
  LaunchSegments made(plan, shared, launch, memory);
  if (llvm::Error error = made.planExchanges())
    return error;
  if (llvm::Error error = made.addWaits())
    return error;
  if (llvm::Error error = made.cut())
    return error;
  made.number();
  for (size_t rank = 0; hasMessages && rank < plan.ranks.size(); ++rank)
    if (llvm::Error error = made.addMessages(static_cast<int>(rank)))
      return error;
  return made;
}
