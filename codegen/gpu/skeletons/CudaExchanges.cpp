//===- CudaExchanges.cpp - Exchanges as CUDA C++ --------------------------===//
//
// Writes calls of the functions in device/exchange.cuh and
// device/schedules.cuh, or of those for messages beside them. A synthesized
// schedule is a table of actions.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/ExchangePackets.h"
#include "codegen/gpu/skeletons/Exchanges.h"

#include "runtime/plan/GpuAbi.h"
#include "runtime/plan/ProtocolRules.h"
#include "runtime/plan/ScheduleActions.h"

#include "llvm/ADT/STLExtras.h"

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;
using llvm::Twine;

namespace {

/// The actions of a schedule (schedule_sums.cuh).
llvm::Expected<std::vector<int64_t>> actionsOf(const CudaPlaces &places,
                                               const ExchangePlan &exchange) {
  const ExchangePart &part = *exchange.part;
  const ExchangeMemory &memory = exchange.memory;
  const ExchangeSegments &segments = *exchange.segments;
  const ChunkSchedule &schedule =
      places.plan.schedules[static_cast<size_t>(part.schedule)];
  const std::vector<int> &ranks = places.members(part.group);
  int position = places.position(part.group);
  const MemberActions &planned = segments.schedule;
  std::vector<int64_t> table;
  auto add = [&](int64_t kind, int64_t peer, int64_t flag, int64_t place,
                 int64_t count) {
    table.insert(table.end(), {kind, peer, flag, place, count, 0, 0});
  };
  auto rankOf = [&](int member) { return ranks[static_cast<size_t>(member)]; };
  auto slot = [&](int member, int index) -> const ScheduleSlot & {
    return planned
        .slots[static_cast<size_t>(member)][static_cast<size_t>(index)];
  };
  ElementType type = places.type(part.from);
  for (auto [action, segment] : llvm::zip(planned.actions, segments.actions)) {
    const Chunk &chunk = schedule.chunks[static_cast<size_t>(action.chunk)];
    int64_t peer = rankOf(action.peer), flag = memory.flags + action.index;
    switch (action.kind) {
    case ScheduleAction::Await:
      add(CCN_AWAIT_SLOT, peer, flag, 0, 0);
      continue;
    case ScheduleAction::AwaitFree:
      add(CCN_AWAIT_FREE, peer, memory.freeFlags + action.peer, 0, 0);
      continue;
    case ScheduleAction::TellFree:
      add(CCN_TELL_FREE, peer, memory.freeFlags + position, 0, 0);
      continue;
    case ScheduleAction::Finish:
      return llvm::createStringError("a schedule with a body has no kernel");
    case ScheduleAction::Send:
      add(slot(action.peer, action.index).type == type ? CCN_SEND_SUM
                                                       : CCN_SEND_PARTIAL,
          peer, flag, memory.slots + slot(action.peer, action.index).offset,
          chunk.count);
      break;
    case ScheduleAction::Result:
      add(CCN_STORE_SUM, peer, 0, chunk.outputFirst, chunk.count);
      break;
    }
    table.back() = segment;
    table[table.size() - 2] = static_cast<int64_t>(action.parts.size());
    for (const SumPart &sum : action.parts) {
      if (sum.where == SumPart::Input) {
        table.insert(table.end(), {CCN_INPUT_PART, chunk.inputFirst});
        continue;
      }
      const ScheduleSlot &from = slot(position, sum.index);
      table.push_back(from.type == type ? CCN_SLOT_PART : CCN_PARTIAL_PART);
      table.push_back(memory.slots + from.offset);
    }
  }
  add(CCN_END_OF_SCHEDULE, 0, 0, 0, 0);
  return table;
}

void emitPackets(CudaPart &out, const ExchangePlan &plan) {
  const ExchangePart &part = *plan.part;
  const CudaPlaces &places = out.places;
  ElementType type = places.type(part.from);
  CudaText &text = out.kernel.body;
  if (out.isByMessages())
    text << ("exchangeByMessages<" +
             Twine(payloadOf(part.exchange) / sizeInBytes(type)) + ", ");
  else
    text << ("exchange<" +
             Twine(part.exchange == Exchange::LL ? "LowLatency" : "Lamport") +
             ", " + Twine(plan.batch) + ", " +
             (out.kernel.plan->properties.clusters ? "true" : "false") + ", ");
  text << (cudaStorage(type) + ", " + cudaKind(part.reduction) + ", " +
           Twine(places.members(part.group).size()) + ">(c, ")
       << places.group(part.group) << ", " << plan.memory.slots << ", "
       << plan.packets << ", " << plan.ofBlock << ", "
       << places.elements(part.from, "const ") << ", "
       << places.elements(part.to) << ", " << part.inputCount << ", ";
  if (out.isByMessages())
    text << static_cast<int64_t>(plan.segments->first);
  else
    text << "epoch";
  text << ");\n";
}

} // namespace

llvm::Error codegen::emitExchange(CudaPart &out, const ExchangePlan &plan) {
  const ExchangePart &part = *plan.part;
  if (part.exchange != Exchange::Schedule) {
    emitPackets(out, plan);
    return llvm::Error::success();
  }
  const CudaPlaces &places = out.places;
  std::string element(cudaStorage(places.type(part.from)));
  CudaText &text = out.kernel.body;
  CudaText from = places.elements(part.from, "const ");
  llvm::Expected<std::vector<int64_t>> actions = actionsOf(places, plan);
  if (!actions)
    return actions.takeError();
  int64_t table = out.tables.add(*actions);
  if (plan.kept) {
    CudaText place;
    place << "c.workspace + " << *plan.kept;
    CudaText kept = cudaPointer(element, place);
    if (out.isByMessages())
      text << "if (c.segment == " << static_cast<int64_t>(plan.segments->first)
           << ") {\n";
    text << "for (i64 i = threadInGrid(); i < " << part.inputCount
         << "; i += threadsInGrid())\n  (" << kept << ")[i] = (" << from
         << ")[i];\n";
    out.gridBarrier();
    if (out.isByMessages())
      text << "}\n";
    from = kept;
  }
  std::string types = element + ", " + cudaKind(part.reduction);
  if (out.isByMessages())
    text << ("executeScheduleByMessages<" + types + ">(c, scheduleTables + ")
         << table << ", " << from << ", " << places.elements(part.to) << ");\n";
  else
    text << ("executeSchedule<" + types + ">(c, scheduleTables + ") << table
         << ", " << plan.memory.bufferBytes << ", " << from << ", "
         << places.elements(part.to) << ", epoch);\n";
  return llvm::Error::success();
}
