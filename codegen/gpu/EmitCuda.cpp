//===- EmitCuda.cpp - Plans as CUDA C++ -----------------------------------===//
//
// Goes through the launches of all ranks, and in each through its parts.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/EmitCuda.h"

#include "codegen/gpu/device/CudaSource.h"
#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/ExchangePackets.h"
#include "codegen/gpu/map/LaunchBarriers.h"
#include "codegen/gpu/map/LaunchPipelines.h"
#include "codegen/gpu/map/LaunchSegments.h"
#include "codegen/gpu/map/PartAccesses.h"
#include "codegen/gpu/map/RowTeams.h"
#include "codegen/gpu/map/ShareArguments.h"
#include "codegen/gpu/skeletons/CudaProducts.h"
#include "codegen/gpu/skeletons/CudaRows.h"
#include "runtime/plan/ExchangeMemory.h"
#include "runtime/plan/GpuAbi.h"
#include "runtime/plan/ProtocolRules.h"
#include "runtime/plan/ScheduleActions.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using llvm::Twine;

namespace {

using namespace ccn::runtime;

/// Of what kernels have in memory beside the plan's buffers.
constexpr int64_t alignment = 256;

class Emitter {
public:
  /// Arguments take the place of buffers in `plan`.
  Emitter(Plan &plan, ArrayRef<LoopKernel> loops)
      : plan(plan), shared(shareArguments(plan)), bodies(loops),
        kernels(plan.arguments.size() + shared.size() * plan.ranks.size()) {}

  llvm::Expected<GpuProgram> run();

private:
  llvm::Error placeExchanges();
  llvm::Error emitLaunch(int rank, size_t launch);
  llvm::Error emitPart(CudaPart &out, const Part &part, size_t launch,
                       size_t exchange, const BlockShare &share);
  llvm::Expected<size_t> emitPipeline(CudaPart &out, size_t launch,
                                      const LaunchPipeline &pipeline,
                                      size_t part);
  std::optional<RowExchange> exchangeOfRows(CudaPlaces &places, size_t launch,
                                            size_t part, size_t exchange);
  llvm::Error emitExchange(CudaPart &out, const ExchangePart &part,
                           const ExchangeMemory &memory, int64_t share,
                           const ExchangeSegments &segments);
  void addTableKernel();
  llvm::Expected<int64_t> addTable(const CudaPlaces &places,
                                   const ExchangePart &part,
                                   const ExchangeMemory &memory,
                                   const ExchangeSegments &segments);

  const Plan &plan;
  std::vector<int> shared;
  CudaBodies bodies;
  CudaKernels kernels;
  GpuProgram program;
  /// Of each launch.
  std::vector<LaunchBarriers> barriers;
  std::vector<std::vector<LaunchPipeline>> pipelines;
  std::vector<LaunchSegments> segments;
  /// Of each launch, of each exchange.
  std::vector<std::vector<ExchangeMemory>> exchanges;
  /// The numbers of all schedules' tables.
  std::vector<int64_t> tables;
};

llvm::Error Emitter::placeExchanges() {
  int64_t bytes = 0, flags = 0;
  for (const RankPlan &rank : plan.ranks) {
    bytes = std::max(bytes, rank.symmetricBytes);
    flags = std::max(flags, rank.flags);
  }
  bytes = llvm::alignTo(bytes, alignment);
  const RankPlan &first = plan.ranks.front();
  exchanges.resize(first.launches.size());
  for (auto [l, launch] : llvm::enumerate(first.launches))
    for (const Part &any : launch.parts) {
      const auto *part = std::get_if<ExchangePart>(&any);
      if (!part)
        continue;
      ExchangeMemory memory;
      memory.slots = bytes;
      auto members = static_cast<int64_t>(
          plan.groups[static_cast<size_t>(part->group)].size());
      int64_t size = sizeInBytes(
          first.buffers[static_cast<size_t>(part->from.buffer)].type);
      if (part->exchange == Exchange::Schedule) {
        Result<ScheduledMemory> needed =
            largestSchedule(plan, l, exchanges[l].size());
        if (!needed)
          return llvm::createStringError(needed.status().message());
        memory.flags = flags;
        memory.freeFlags = flags + needed->flags;
        flags += needed->flags + members;
        memory.bufferBytes = llvm::alignTo(needed->bufferBytes, alignment);
        bytes += CCN_SCHEDULE_BUFFERS * memory.bufferBytes;
      } else {
        bool isLL = part->exchange == Exchange::LL;
        int64_t packets = llvm::divideCeilSigned(part->largestCount * size,
                                                 payloadOf(part->exchange));
        int64_t total =
            llvm::alignTo((isLL ? CCN_LL_BUFFERS : CCN_LAMPORT_BUFFERS) *
                              members * packets * 16,
                          alignment);
        if (!isLL)
          program.fills.push_back({bytes, total, 0xff});
        bytes += total;
      }
      exchanges[l].push_back(memory);
    }
  program.symmetricBytes = bytes;
  program.flags = flags;
  return llvm::Error::success();
}

/// Appends the actions of a schedule (exchange.cuh) and returns where they
/// begin.
llvm::Expected<int64_t> Emitter::addTable(const CudaPlaces &places,
                                          const ExchangePart &part,
                                          const ExchangeMemory &memory,
                                          const ExchangeSegments &segments) {
  const ChunkSchedule &schedule =
      plan.schedules[static_cast<size_t>(part.schedule)];
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

llvm::Error Emitter::emitExchange(CudaPart &out, const ExchangePart &part,
                                  const ExchangeMemory &memory, int64_t share,
                                  const ExchangeSegments &segments) {
  const CudaPlaces &places = out.places;
  ElementType type = places.type(part.from);
  std::string element(cudaStorage(type));
  std::string kind = cudaKind(part.reduction);
  size_t members = places.members(part.group).size();
  CudaText &text = out.kernel.body;
  CudaText from = places.elements(part.from, "const ");
  CudaText to = places.elements(part.to);
  int64_t size = sizeInBytes(type);
  int64_t payload = payloadOf(part.exchange);
  int64_t packets = llvm::divideCeilSigned(part.inputCount * size, payload);
  // Who has rows to take has blocks for them.
  if (share == 0)
    out.needBlocks(llvm::divideCeilSigned(packets, threadsPerBlock));
  if (part.exchange != Exchange::Schedule) {
    // Who has a block for each multiprocessor, or less, has its registers; so
    // have those who combine what many send.
    constexpr size_t fewMembers = 4;
    out.kernel.takesRegisters |=
        members > fewMembers || packets <= threadsPerBlock * 128;
    bool isLL = part.exchange == Exchange::LL;
    int64_t ofBlock = share == 0                 ? threadsPerBlock
                      : share >= part.inputCount ? std::max<int64_t>(packets, 1)
                                                 : share * size / payload;
    // A power of two.
    int64_t batch = std::min<int64_t>(
        llvm::PowerOf2Ceil(llvm::divideCeilSigned(ofBlock, threadsPerBlock)),
        exchangedByThread / payload);
    text << (Twine("exchange<") + (isLL ? "LowLatency" : "Lamport") + ", " +
             Twine(batch) + ", " +
             (out.kernel.properties.clusters ? "true" : "false") + ", " +
             element + ", " + kind + ", " + Twine(members) + ">(c, ")
         << places.group(part.group) << ", " << memory.slots << ", " << packets
         << ", " << ofBlock << ", " << from << ", " << to << ", "
         << part.inputCount << ", epoch, "
         << static_cast<int64_t>(segments.first) << ");\n";
    return llvm::Error::success();
  }
  llvm::Expected<int64_t> table = addTable(places, part, memory, segments);
  if (!table)
    return table.takeError();
  // Results may not overwrite what others are still made of.
  if (isInPlace(plan, places.rank, part)) {
    int64_t &workspace = out.kernel.launch.workspaceBytes;
    CudaText place;
    place << "c.workspace + " << workspace;
    CudaText kept = cudaPointer(element, place);
    workspace += llvm::alignTo(part.inputCount * size, alignment);
    text << "if (isIn(c, " << static_cast<int64_t>(segments.first)
         << ")) {\nfor (i64 i = threadInGrid(); i < " << part.inputCount
         << "; i += threadsInGrid())\n  (" << kept << ")[i] = (" << from
         << ")[i];\n";
    out.gridBarrier();
    text << "}\n";
    from = kept;
  }
  text << ("executeSchedule<" + element + ", " + kind +
           ">(c, scheduleTables + ")
       << *table << ", " << memory.bufferBytes << ", " << from << ", " << to
       << ", epoch);\n";
  return llvm::Error::success();
}

/// The launch's part number `part`, an exchange, if who takes the rows of the
/// next part does it: nobody else needs what comes, and nothing comes before.
std::optional<RowExchange> Emitter::exchangeOfRows(CudaPlaces &places,
                                                   size_t launch, size_t part,
                                                   size_t exchange) {
  const std::vector<Part> &parts = places.own().launches[launch].parts;
  const auto *own = std::get_if<ExchangePart>(&parts[part]);
  const auto *rows = part + 1 < parts.size()
                         ? std::get_if<RowsPart>(&parts[part + 1])
                         : nullptr;
  const LaunchSegments &cut = segments[launch];
  if (!own || !rows || !barriers[launch].hasClusters() ||
      barriers[launch].shareOf(static_cast<size_t>(places.rank), part) == 0 ||
      barriers[launch].before(part + 1, parts.size()) > Wait::Block ||
      !std::all_of(parts.begin(),
                   parts.begin() + static_cast<std::ptrdiff_t>(part),
                   isFlagPart))
    return std::nullopt;
  int64_t first = cut.exchangeOf(places.rank, exchange).first;
  if (cut.segmentOf(places.rank, part + 1) != first + 1 ||
      places.buffer(own->to).memory != Memory::Private)
    return std::nullopt;
  int uses = 0;
  for (const Launch &other : places.own().launches)
    for (const Part &any : other.parts)
      forEachAccess(any, plan.groups,
                    [&](const PartAccess<const View> &access) {
                      uses += access.view.buffer == own->to.buffer;
                    });
  // The exchange's and that of the rows.
  if (uses != 2 || !suitExchange(places, bodies, *rows, *own))
    return std::nullopt;
  return RowExchange{own, exchanges[launch][exchange].slots, first};
}

llvm::Error Emitter::emitPart(CudaPart &out, const Part &any, size_t launch,
                              size_t exchange, const BlockShare &share) {
  CudaText &text = out.kernel.body;
  if (const auto *part = std::get_if<RowsPart>(&any))
    return emitRows(out, *part, share);
  if (const auto *part = std::get_if<CopyPart>(&any))
    return emitCopy(out, *part, share);
  if (const auto *part = std::get_if<SignalPart>(&any)) {
    text << ("signal(c, " + Twine(out.signals++) + ", int(")
         << static_cast<int64_t>(part->rank) << "), u32(" << part->flag
         << "), epoch);\n";
    return llvm::Error::success();
  }
  if (const auto *part = std::get_if<AwaitPart>(&any)) {
    text << "await(c, int(" << static_cast<int64_t>(part->rank) << "), u32("
         << part->flag << "), epoch);\n";
    return llvm::Error::success();
  }
  if (const auto *part = std::get_if<ExchangePart>(&any))
    return emitExchange(out, *part, exchanges[launch][exchange], share.tile,
                        segments[launch].exchangeOf(out.places.rank, exchange));
  // Which a library may have done.
  const std::optional<GpuProduct> &product = out.kernel.launch.product;
  bool isFirst = product && !product->isAll &&
                 &any == &out.places.own().launches[launch].parts.front();
  text << (isFirst ? "if (!c.hasProduct) {\n" : "");
  llvm::Error error = emitProduct(out, any);
  text << (isFirst ? "}\n" : "");
  return error;
}

/// Phases of which part number `part` of the rank is the first, or the barrier
/// after it; returns the number of the part that follows them. In a step each
/// phase does the chunk before that of the phase before it, which others have
/// done the step before: what they tell each other is on its way while the
/// first phase does its chunk. The last phase, of which nobody is told, every
/// other block does before those that send: they compute while the rest send.
llvm::Expected<size_t> Emitter::emitPipeline(CudaPart &out, size_t launch,
                                             const LaunchPipeline &pipeline,
                                             size_t part) {
  const std::vector<Part> &parts = out.places.own().launches[launch].parts;
  const LaunchSegments &cut = segments[launch];
  bool isCut = cut.segments().count > 1;
  CudaText &text = out.kernel.body;
  auto emitPhase = [&](size_t phase) -> llvm::Error {
    text << ("if (const i64 chunk = step - " + Twine(phase) +
             "; chunk >= 0 && chunk < chunks.count) {\n"
             "const i64 first = chunks.first(chunk), "
             "last = chunks.last(chunk);\n");
    for (; part < parts.size() && !isBarrier(parts[part]); ++part) {
      // What it waits for is of the same block; shared memory may be in use in
      // the phase that was before, whichever that is.
      if (barriers[launch].before(part, parts.size()) != Wait::None ||
          takesSharedMemory(parts[part]))
        text << "__syncthreads();\n";
      if (isCut)
        text << "if (isIn(c, "
             << static_cast<int64_t>(cut.segmentOf(out.places.rank, part))
             << ")) {\n";
      if (llvm::Error error =
              emitPart(out, parts[part], launch, 0,
                       {.units = pipeline.units, .unit = pipeline.unit}))
        return error;
      if (isCut)
        text << "}\n";
    }
    text << "}\n";
    // The barrier.
    part += phase + 1 < pipeline.phases;
    return llvm::Error::success();
  };
  const auto &barrier = std::get<BarrierPart>(*std::find_if(
      parts.begin() + static_cast<ptrdiff_t>(part), parts.end(), isBarrier));
  CudaText flags;
  flags << "Step(c, " << out.places.group(barrier.group) << ", u32("
        << barrier.flags << "), u32(epoch * steps + step";
  size_t last = pipeline.phases - 1;
  text << "{\nconst Chunks chunks(" << pipeline.units << ", "
       << pipeline.leastUnits
       << (");\nconst i64 steps = chunks.count + " + Twine(last) +
           ";\nfor (i64 step = 0; step < steps; ++step) {\n");
  for (size_t phase = 0; phase <= last; ++phase) {
    if (phase == 1)
      text << "if (step > 0)\n  await" << flags << " - 1));\n"
           << (last > 1 ? "#pragma unroll 1\nfor (u32 pass = 0; pass < 2; "
                          "++pass)\nif ((pass + blockIdx.x) % 2 == 0) {\n"
                        : "{\n");
    if (phase > 1 && phase == last)
      text << "} else {\n";
    if (llvm::Error error = emitPhase(phase))
      return error;
    if (phase == std::max<size_t>(last - 1, 1))
      text << "if (step + 1 < steps)\n  tell" << flags << "));\n";
  }
  text << "}\n}\n}\n";
  return part;
}

/// The product that a launch begins with, if a library may do it.
static std::optional<GpuProduct> productOf(const CudaPlaces &places,
                                           const Launch &launch) {
  const auto *part = launch.parts.empty()
                         ? nullptr
                         : std::get_if<MatmulPart>(&launch.parts.front());
  auto canTake = [&](const View &view) {
    return (view.rank < 0 || view.rank == places.rank) &&
           !places.isScattered(view);
  };
  // What writes nothing may say an input's place.
  bool isEmpty = part && (part->m == 0 || part->n == 0 ||
                          llvm::is_contained(part->batch, 0));
  if (!part || isEmpty || !canTake(part->a) || !canTake(part->b) ||
      !canTake(part->c))
    return std::nullopt;
  return GpuProduct{*part, launch.parts.size() == 1};
}

llvm::Error Emitter::emitLaunch(int rank, size_t index) {
  CudaPlaces places(plan, shared, rank);
  const Launch &launch = places.own().launches[index];
  CudaKernel kernel;
  bool hasClusters = barriers[index].hasClusters(), areOpen = false;
  kernel.properties.threads =
      hasClusters ? threadsPerBlock : threadsFor(launch);
  kernel.launch.blocks = 1;
  kernel.launch.product = productOf(places, launch);
  CudaPart out{kernel, places, bodies};
  kernel.properties.clusters = kernel.takesRegisters = hasClusters;

  bool usesEpoch = false;
  size_t exchange = 0, nextBarrier = 0;
  CudaText body;
  std::swap(body, kernel.body);
  const LaunchSegments &cut = segments[index];
  bool isCut = cut.segments().count > 1;
  // The segment of the parts in whose braces the text is, and that of what is
  // left for a barrier.
  std::optional<int> within;
  int lastSegment = 0;
  auto enter = [&](std::optional<int> segment) {
    if (!isCut || segment == within)
      return;
    if (within)
      kernel.body << "}\n";
    if (segment)
      kernel.body << "if (isIn(c, " << static_cast<int64_t>(*segment)
                  << ")) {\n";
    within = segment;
  };
  // Does what is left for a barrier.
  auto finish = [&] {
    if (!out.last.text.empty())
      out.gridBarrier();
  };
  std::optional<RowExchange> ofRows;
  auto pipeline = pipelines[index].begin();
  for (size_t i = 0; i < launch.parts.size(); ++i) {
    if (pipeline != pipelines[index].end() &&
        pipeline->firstPhase == nextBarrier) {
      finish();
      enter(std::nullopt);
      llvm::Expected<size_t> end = emitPipeline(out, index, *pipeline, i);
      if (!end)
        return end.takeError();
      nextBarrier += pipeline++->phases - 1;
      i = *end;
      usesEpoch = kernel.properties.waits = true;
      if (i == launch.parts.size())
        break;
    }
    const Part &part = launch.parts[i];
    bool isExchange = std::holds_alternative<ExchangePart>(part);
    if (ofRows) {
      // Blocks that share rows wait for those that have not begun later.
      areOpen = true;
      kernel.body << "if (isIn(c, " << ofRows->segment << ") || isIn(c, "
                  << ofRows->segment + 1 << ")) {\n";
      if (llvm::Error error =
              emitRows(out, std::get<RowsPart>(part), {}, &*ofRows))
        return error;
      // What follows finds them open in other segments, too.
      kernel.body << "} else {\nopenCluster(c);\n}\n";
      ofRows.reset();
      continue;
    }
    if (isExchange)
      ofRows = exchangeOfRows(places, index, i, exchange);
    if (ofRows) {
      finish();
      enter(std::nullopt);
      usesEpoch = kernel.properties.waits = true;
      ++exchange;
      continue;
    }
    Wait wait = isBarrier(part)
                    ? Wait::None
                    : barriers[index].before(i, launch.parts.size());
    bool readsLast = false;
    forEachAccess(part, plan.groups, [&](const PartAccess<const View> &access) {
      for (const View &view : out.lastWrites)
        readsLast |= places.overlap(access.view, view);
    });
    // All blocks of all ranks come to a barrier between other parts.
    bool isMeeting = isBarrier(part) && !barriers[index].isAtEdge(nextBarrier);
    if (!isMeeting &&
        (isFlagPart(part) || isExchange || (readsLast && wait != Wait::Grid) ||
         (isCut && within != cut.segmentOf(rank, i))))
      finish();
    // Blocks have begun while they exchanged.
    if (hasClusters && !areOpen &&
        (wait == Wait::Cluster || (std::holds_alternative<RowsPart>(part) &&
                                   !isElementwise(std::get<RowsPart>(part))))) {
      enter(std::nullopt);
      kernel.body << "openCluster(c);\n";
      areOpen = true;
    }
    // An exchange itself knows what it does in which of its segments.
    if (isFlagPart(part) || (isExchange && wait == Wait::None))
      enter(std::nullopt);
    else
      enter(isExchange ? cut.exchangeOf(rank, exchange).first
                       : cut.segmentOf(rank, i));
    if (isFlagPart(part) || isExchange)
      usesEpoch = kernel.properties.waits = true;
    const auto *next = i + 1 < launch.parts.size()
                           ? std::get_if<RowsPart>(&launch.parts[i + 1])
                           : nullptr;
    if (const auto *barrier = std::get_if<BarrierPart>(&part)) {
      if (next)
        prefetchRows(out, *next, /*awaited=*/-1);
      kernel.body << (isMeeting ? "groupBarrier(c, " : "edgeBarrier(c, ")
                  << places.group(barrier->group) << ", u32(" << barrier->flags
                  << "), epoch";
      if (!out.last.text.empty())
        kernel.body << ", " << static_cast<int64_t>(lastSegment) << ", [&] {\n"
                    << out.last << "}";
      out.endLast();
      kernel.body << ");\n";
      ++nextBarrier;
      continue;
    }
    switch (wait) {
    case Wait::None:
      break;
    case Wait::Block:
      kernel.body << "__syncthreads();\n";
      break;
    case Wait::Cluster:
      kernel.body << "clusterBarrier(c);\n";
      break;
    case Wait::Grid:
      out.gridBarrier();
      break;
    }
    if (isExchange) {
      enter(std::nullopt);
      if (next)
        prefetchRows(out, *next, std::get<ExchangePart>(part).to.buffer);
    }
    if (std::holds_alternative<SignalPart>(part) &&
        out.signals == CCN_MAX_SIGNALS)
      return llvm::createStringError("launch '" + launch.name +
                                     "' has more signals than a kernel takes");
    int64_t share = barriers[index].shareOf(static_cast<size_t>(rank), i);
    kernel.takesRegisters |= isExchange && share > 0;
    if (llvm::Error error = emitPart(
            out, part, index, exchange,
            {.tile = share, .byColumns = isByColumns(launch.parts, i)}))
      return error;
    if (!out.last.text.empty())
      lastSegment = cut.segmentOf(rank, i);
    exchange += isExchange;
  }
  finish();
  enter(std::nullopt);
  std::swap(body, kernel.body);
  if (areOpen)
    kernel.body << "beginCluster(c);\n";
  if (usesEpoch)
    kernel.body << "const u64 epoch = beginRun(c);\n";
  if (kernel.properties.sharedBytes > 0)
    kernel.body << "extern __shared__ __align__(16) Byte sharedMemory[];\n";
  if (kernel.properties.blockBytes > 0)
    kernel.body << "Byte *const blockMemory = c.workspace + "
                << kernel.launch.workspaceBytes << " + i64(blockIdx.x) * "
                << kernel.properties.blockBytes << ";\n";
  kernel.body << body;
  if (usesEpoch)
    kernel.body << "endRun(c);\n";
  for (const Part &part : launch.parts)
    forEachAccess(part, plan.groups, [&](const PartAccess<const View> &access) {
      kernel.takesRegisters |= places.isScattered(access.view);
    });
  kernel.takesFewRegisters = kernel.partsOfFewRegisters == launch.parts.size();
  kernels.add(static_cast<size_t>(rank), std::move(kernel));
  return llvm::Error::success();
}

/// Adds the kernel that writes the tables of lists of buffers. Its numbers are
/// so many that few launches write a table, and few enough for any driver.
void Emitter::addTableKernel() {
  constexpr int64_t words = 400;
  GpuKernel kernel;
  kernel.name = "writeTables";
  kernel.numbers = 2 + words;
  program.tableKernel = static_cast<int>(program.kernels.size());
  program.source +=
      "\nextern \"C\" __global__ void __launch_bounds__(" +
      std::to_string(kernel.threads) + ") " + kernel.name +
      "(const __grid_constant__ CcnContext c, const __grid_constant__ "
      "Pointers<" +
      std::to_string(kernels.addressCount()) +
      "> a, const __grid_constant__ Numbers<" + std::to_string(kernel.numbers) +
      "> n) {\nwriteTable(c, n);\n}\n";
  program.kernels.push_back(std::move(kernel));
}

llvm::Expected<GpuProgram> Emitter::run() {
  if (plan.ranks.size() > CCN_MAX_RANKS)
    return llvm::createStringError("kernels address the memory of at most " +
                                   std::to_string(CCN_MAX_RANKS) +
                                   " ranks, found " +
                                   std::to_string(plan.ranks.size()));
  if (llvm::Error error = placeExchanges())
    return error;
  for (size_t launch = 0; launch < plan.ranks.front().launches.size();
       ++launch) {
    pipelines.push_back(findPipelines(plan, launch));
    // Phases are shared out among blocks.
    bool isPlain = pipelines.back().empty();
    barriers.emplace_back(plan, launch, [&](int rank, const RowsPart &rows) {
      CudaPlaces places(plan, shared, rank);
      return isPlain && suitClusters(places, bodies, rows);
    });
    llvm::Expected<LaunchSegments> cut =
        LaunchSegments::create(plan, shared, launch, exchanges[launch]);
    if (!cut)
      return cut.takeError();
    program.segments.push_back(cut->segments());
    segments.push_back(*std::move(cut));
  }
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
    for (size_t launch = 0; launch < plan.ranks[rank].launches.size(); ++launch)
      if (llvm::Error error = emitLaunch(static_cast<int>(rank), launch))
        return error;
  bool hasLists = llvm::any_of(plan.arguments, [](const Argument &argument) {
    return argument.scattered;
  });
  for (const char *file :
       {"GpuAbi.h", "ProtocolRules.h", "kernel.cuh", "scalars.cuh",
        "exchange.cuh", "rows.cuh", "columns.cuh", "tiles.cuh", "products.cuh",
        "tables.cuh", "transposes.cuh"})
    program.source += cudaSource(file);
  if (hasLists)
    program.source += cudaSource("pieces.cuh");
  if (!tables.empty()) {
    program.source += "__device__ const i64 scheduleTables[] = {";
    for (int64_t number : tables)
      program.source += std::to_string(number) + ",";
    program.source += "};\n";
  }
  program.source += bodies.text();
  program.sharedArguments = shared;
  kernels.finish(program);
  if (hasLists)
    addTableKernel();
  if (program.launches.empty())
    program.launches.resize(plan.ranks.size());
  return std::move(program);
}

} // namespace

llvm::Expected<GpuProgram> codegen::emitCuda(const Plan &plan,
                                             ArrayRef<LoopKernel> loops) {
  Plan own = plan;
  return Emitter(own, loops).run();
}
