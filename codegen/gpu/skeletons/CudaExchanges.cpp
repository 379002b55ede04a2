//===- CudaExchanges.cpp - Exchanges as CUDA C++ --------------------------===//
//
// Writes calls of the functions in device/exchange.cuh and
// device/schedules.cuh. A synthesized schedule is a table of actions.
//
//===----------------------------------------------------------------------===//

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

/// Appends the actions of a schedule (schedules.cuh) to `tables` and returns
/// where they begin.
llvm::Expected<int64_t> addTable(const CudaPlaces &places,
                                 const ExchangePlan &exchange,
                                 std::vector<int64_t> &tables) {
  const ExchangePart &part = *exchange.part;
  const ExchangeMemory &memory = exchange.memory;
  const ExchangeSegments &segments = *exchange.segments;
  const ChunkSchedule &schedule =
      places.plan.schedules[static_cast<size_t>(part.schedule)];
  const std::vector<int> &ranks = places.members(part.group);
  int position = places.position(part.group);
  const MemberActions &planned = segments.schedule;
  auto begin = static_cast<int64_t>(tables.size());
  auto add = [&](int64_t kind, int64_t peer, int64_t flag, int64_t place,
                 int64_t count) {
    tables.insert(tables.end(), {kind, peer, flag, place, count, 0, 0});
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
    tables.back() = segment;
    tables[tables.size() - 2] = static_cast<int64_t>(action.parts.size());
    for (const SumPart &sum : action.parts) {
      if (sum.where == SumPart::Input) {
        tables.insert(tables.end(), {CCN_INPUT_PART, chunk.inputFirst});
        continue;
      }
      const ScheduleSlot &from = slot(position, sum.index);
      tables.push_back(from.type == type ? CCN_SLOT_PART : CCN_PARTIAL_PART);
      tables.push_back(memory.slots + from.offset);
    }
  }
  add(CCN_END_OF_SCHEDULE, 0, 0, 0, 0);
  return begin;
}

void emitPackets(CudaPart &out, const ExchangePlan &plan) {
  const ExchangePart &part = *plan.part;
  const CudaPlaces &places = out.places;
  ElementType type = places.type(part.from);
  out.kernel.body
      << ("exchange<" +
          Twine(part.exchange == Exchange::LL ? "LowLatency" : "Lamport") +
          ", " + Twine(plan.batch) + ", " +
          (out.kernel.plan->properties.clusters ? "true" : "false") + ", " +
          cudaStorage(type) + ", " + cudaKind(part.reduction) + ", " +
          Twine(places.members(part.group).size()) + ">(c, ")
      << places.group(part.group) << ", " << plan.memory.slots << ", "
      << plan.packets << ", " << plan.ofBlock << ", "
      << places.elements(part.from, "const ") << ", "
      << places.elements(part.to) << ", " << part.inputCount << ", epoch, "
      << static_cast<int64_t>(plan.segments->first) << ");\n";
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
  llvm::Expected<int64_t> table = addTable(places, plan, out.tables);
  if (!table)
    return table.takeError();
  if (plan.kept) {
    CudaText place;
    place << "c.workspace + " << *plan.kept;
    CudaText kept = cudaPointer(element, place);
    text << "if (isIn(c, " << static_cast<int64_t>(plan.segments->first)
         << ")) {\nfor (i64 i = threadInGrid(); i < " << part.inputCount
         << "; i += threadsInGrid())\n  (" << kept << ")[i] = (" << from
         << ")[i];\n";
    out.gridBarrier();
    text << "}\n";
    from = kept;
  }
  text << ("executeSchedule<" + element + ", " + cudaKind(part.reduction) +
           ">(c, scheduleTables + ")
       << *table << ", " << plan.memory.bufferBytes << ", " << from << ", "
       << places.elements(part.to) << ", epoch);\n";
  return llvm::Error::success();
}
