//===- MapKernels.cpp - The phase map -------------------------------------===//
//
// Goes through the launches of all ranks, and in each through its parts, in the
// order in which the kernel does them.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/MapKernels.h"

#include "codegen/gpu/map/ExchangePackets.h"
#include "codegen/gpu/map/KernelMapper.h"
#include "codegen/gpu/map/PartAccesses.h"
#include "codegen/gpu/map/ShareArguments.h"
#include "runtime/plan/ExchangeMemory.h"
#include "runtime/plan/GpuAbi.h"
#include "runtime/plan/ProtocolRules.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;

namespace {

using namespace ccn::runtime;

/// Of what kernels have in memory beside the plan's buffers.
constexpr int64_t alignment = 256;

class Mapper {
public:
  Mapper(KernelPlans &plans, const LoopKernels &bodies)
      : plans(plans), plan(*plans.plan), bodies(bodies) {}

  llvm::Error run();

private:
  friend class LaunchMapper;

  llvm::Error placeExchanges();
  std::optional<RowExchange> exchangeOfRows(const PartPlaces &places,
                                            size_t launch, size_t part,
                                            size_t exchange) const;

  KernelPlans &plans;
  const Plan &plan;
  const LoopKernels &bodies;
  /// Of each launch.
  std::vector<LaunchBarriers> barriers;
  std::vector<std::vector<LaunchPipeline>> pipelines;
  /// Of each launch, of each exchange.
  std::vector<std::vector<ExchangeMemory>> exchanges;
};

llvm::Error Mapper::placeExchanges() {
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
          plans.fills.push_back({bytes, total, 0xff});
        bytes += total;
      }
      exchanges[l].push_back(memory);
    }
  plans.symmetricBytes = bytes;
  plans.flags = flags;
  return llvm::Error::success();
}

/// The launch's part number `part`, an exchange, if who takes the rows of the
/// next part does it: nobody else needs what comes, and nothing comes before.
std::optional<RowExchange> Mapper::exchangeOfRows(const PartPlaces &places,
                                                  size_t launch, size_t part,
                                                  size_t exchange) const {
  const std::vector<Part> &parts = places.own().launches[launch].parts;
  const auto *own = std::get_if<ExchangePart>(&parts[part]);
  const auto *rows = part + 1 < parts.size()
                         ? std::get_if<RowsPart>(&parts[part + 1])
                         : nullptr;
  const LaunchSegments &cut = plans.segments[launch];
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

/// The product that a launch begins with, if a library may do it.
std::optional<GpuProduct> productOf(const PartPlaces &places,
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

/// Maps one launch of a rank.
class LaunchMapper {
public:
  LaunchMapper(const Mapper &all, KernelPlan &kernel, size_t index)
      : all(all), kernel(kernel), index(index), mapper{kernel, all.bodies},
        rank(kernel.places.rank), barriers(all.barriers[index]),
        cut(all.plans.segments[index]),
        parts(kernel.places.own().launches[index].parts) {}

  llvm::Error map();

private:
  void begin();
  void end();
  void mapExchange(const ExchangePart &part, int64_t share, ExchangePlan &own);
  void mapPart(PartPlan &own, const BlockShare &share);
  /// Maps phases of which part number `part` is the first, or the barrier after
  /// it; returns the number of the part that follows them.
  size_t mapPipeline(const LaunchPipeline &pipeline, size_t part);
  void finishBefore(PartPlan &own, Wait wait, size_t i);
  void enter(std::optional<int> segment) {
    if (kernel.isCut)
      within = segment;
  }
  /// Whether what is left for a barrier is done.
  bool finish() {
    bool isLeft = mapper.isLeft;
    if (isLeft)
      mapper.gridBarrier();
    return isLeft;
  }
  llvm::Error mapOne(size_t i);

  const Mapper &all;
  KernelPlan &kernel;
  size_t index;
  KernelMapper mapper;
  int rank;
  const LaunchBarriers &barriers;
  const LaunchSegments &cut;
  const std::vector<Part> &parts;
  size_t exchange = 0, nextBarrier = 0, signals = 0;
  /// The segment of the parts that were mapped last, and that of what is left
  /// for a barrier.
  std::optional<int> within;
  int lastSegment = 0;
  /// If who takes the rows that come next does the exchange before.
  std::optional<RowExchange> ofRows;
};

void LaunchMapper::begin() {
  const Launch &launch = kernel.places.own().launches[index];
  bool hasClusters = barriers.hasClusters();
  kernel.name = launch.name;
  kernel.properties.threads =
      hasClusters ? threadsPerBlock : threadsFor(launch);
  kernel.launch.blocks = 1;
  kernel.launch.product = productOf(kernel.places, launch);
  kernel.properties.clusters = kernel.takesRegisters = hasClusters;
  kernel.isCut = cut.segments().count > 1;
}

void LaunchMapper::end() {
  kernel.finishesAfter = finish();
  for (const Part &part : parts)
    forEachAccess(
        part, all.plan.groups, [&](const PartAccess<const View> &access) {
          kernel.takesRegisters |= kernel.places.isScattered(access.view);
        });
  kernel.takesFewRegisters = mapper.partsOfFewRegisters == parts.size();
}

void LaunchMapper::mapExchange(const ExchangePart &part, int64_t share,
                               ExchangePlan &own) {
  int64_t size = sizeInBytes(kernel.places.type(part.from));
  int64_t payload = payloadOf(part.exchange);
  own.packets = llvm::divideCeilSigned(part.inputCount * size, payload);
  // Who has rows to take has blocks for them.
  if (share == 0)
    mapper.needBlocks(llvm::divideCeilSigned(own.packets, threadsPerBlock));
  if (part.exchange == Exchange::Schedule) {
    // Results may not overwrite what others are still made of.
    if (isInPlace(all.plan, rank, part)) {
      own.kept = mapper.takeWorkspace(
          llvm::alignTo(part.inputCount * size, alignment));
      mapper.gridBarrier();
    }
    return;
  }
  // Who has a block for each multiprocessor, or less, has its registers; so
  // have those who combine what many send.
  constexpr size_t fewMembers = 4;
  kernel.takesRegisters |=
      kernel.places.members(part.group).size() > fewMembers ||
      own.packets <= threadsPerBlock * 128;
  own.ofBlock = share == 0                 ? threadsPerBlock
                : share >= part.inputCount ? std::max<int64_t>(own.packets, 1)
                                           : share * size / payload;
  // A power of two.
  own.batch = std::min<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeilSigned(own.ofBlock, threadsPerBlock)),
      exchangedByThread / payload);
}

void LaunchMapper::mapPart(PartPlan &own, const BlockShare &share) {
  const Part &any = *own.part;
  if (const auto *part = std::get_if<RowsPart>(&any)) {
    if (share.byColumns)
      own.plan = mapColumns(mapper, *part);
    else
      own.plan = mapRows(mapper, *part, share);
  } else if (const auto *part = std::get_if<CopyPart>(&any)) {
    own.plan = mapCopy(mapper, *part, share);
  } else if (const auto *part = std::get_if<ExchangePart>(&any)) {
    ExchangePlan plan{part, all.exchanges[index][exchange],
                      &cut.exchangeOf(rank, exchange)};
    mapExchange(*part, share.tile, plan);
    own.plan = std::move(plan);
  } else if (!isFlagPart(any)) {
    // Which a library may have done.
    const std::optional<GpuProduct> &product = kernel.launch.product;
    own.mayBeDone = product && !product->isAll && &any == &parts.front();
    own.plan = mapProduct(mapper, any);
  }
}

size_t LaunchMapper::mapPipeline(const LaunchPipeline &pipeline, size_t part) {
  const auto &barrier = std::get<BarrierPart>(*std::find_if(
      parts.begin() + static_cast<ptrdiff_t>(part), parts.end(), isBarrier));
  PipelinePlan own{pipeline, &barrier, finish()};
  enter(std::nullopt);
  for (size_t phase = 0; phase < pipeline.phases; ++phase) {
    std::vector<PartPlan> &ofPhase = own.phases.emplace_back();
    for (; part < parts.size() && !isBarrier(parts[part]); ++part) {
      PartPlan &plan = ofPhase.emplace_back(PartPlan{&parts[part]});
      // What it waits for is of the same block; shared memory may be in use in
      // the phase that was before, whichever that is.
      plan.syncsBefore = barriers.before(part, parts.size()) != Wait::None ||
                         takesSharedMemory(parts[part]);
      if (kernel.isCut)
        plan.segment = cut.segmentOf(rank, part);
      mapPart(plan, {.units = pipeline.units, .unit = pipeline.unit});
    }
    // The barrier.
    part += phase + 1 < pipeline.phases;
  }
  kernel.parts.emplace_back(std::move(own));
  nextBarrier += pipeline.phases - 1;
  kernel.usesEpoch = kernel.properties.waits = true;
  return part;
}

/// Whether what is left for a barrier must be done before part number `i`.
void LaunchMapper::finishBefore(PartPlan &own, Wait wait, size_t i) {
  const Part &part = parts[i];
  bool readsLast = false;
  forEachAccess(part, all.plan.groups,
                [&](const PartAccess<const View> &access) {
                  for (const View &view : mapper.lastWrites)
                    readsLast |= kernel.places.overlap(access.view, view);
                });
  // All blocks of all ranks come to a barrier between other parts.
  if (!own.isMeeting &&
      (isFlagPart(part) || std::holds_alternative<ExchangePart>(part) ||
       (readsLast && wait != Wait::Grid) ||
       (kernel.isCut && within != cut.segmentOf(rank, i))))
    own.finishesBefore = finish();
}

llvm::Error LaunchMapper::mapOne(size_t i) {
  const Part &part = parts[i];
  PartPlan own{&part};
  bool isExchange = std::holds_alternative<ExchangePart>(part);
  auto add = [&] { kernel.parts.emplace_back(std::move(own)); };
  if (ofRows) {
    // Blocks that share rows wait for those that have not begun later.
    kernel.opensClusters = true;
    own.plan = mapRows(mapper, std::get<RowsPart>(part), {}, &*ofRows);
    ofRows.reset();
    add();
    return llvm::Error::success();
  }
  if (isExchange)
    ofRows = all.exchangeOfRows(kernel.places, index, i, exchange);
  if (ofRows) {
    own.finishesBefore = finish();
    own.isTaken = true;
    enter(std::nullopt);
    kernel.usesEpoch = kernel.properties.waits = true;
    ++exchange;
    add();
    return llvm::Error::success();
  }
  own.isMeeting = isBarrier(part) && !barriers.isAtEdge(nextBarrier);
  if (!isBarrier(part))
    own.wait = barriers.before(i, parts.size());
  finishBefore(own, own.wait, i);
  // Blocks have begun while they exchanged.
  own.opensCluster =
      kernel.properties.clusters && !kernel.opensClusters &&
      (own.wait == Wait::Cluster || (std::holds_alternative<RowsPart>(part) &&
                                     !isElementwise(std::get<RowsPart>(part))));
  kernel.opensClusters |= own.opensCluster;
  // An exchange itself knows what it does in which of its segments.
  if (kernel.isCut && !isFlagPart(part) &&
      !(isExchange && own.wait == Wait::None))
    own.segment = isExchange ? cut.exchangeOf(rank, exchange).first
                             : cut.segmentOf(rank, i);
  enter(own.segment);
  if (isFlagPart(part) || isExchange)
    kernel.usesEpoch = kernel.properties.waits = true;
  const auto *next =
      i + 1 < parts.size() ? std::get_if<RowsPart>(&parts[i + 1]) : nullptr;
  if (isBarrier(part)) {
    if (next)
      own.prefetches = prefetchesOf(kernel, *next, /*awaited=*/-1);
    own.lastSegment = lastSegment;
    mapper.endLast();
    ++nextBarrier;
    add();
    return llvm::Error::success();
  }
  if (own.wait == Wait::Grid)
    mapper.gridBarrier();
  if (isExchange) {
    enter(std::nullopt);
    if (next)
      own.prefetches =
          prefetchesOf(kernel, *next, std::get<ExchangePart>(part).to.buffer);
  }
  signals += std::holds_alternative<SignalPart>(part);
  if (signals > CCN_MAX_SIGNALS)
    return llvm::createStringError("launch '" + kernel.name +
                                   "' has more signals than a kernel takes");
  int64_t share = barriers.shareOf(static_cast<size_t>(rank), i);
  kernel.takesRegisters |= isExchange && share > 0;
  mapPart(own, {.tile = share, .byColumns = isByColumns(parts, i)});
  if (mapper.isLeft)
    lastSegment = cut.segmentOf(rank, i);
  exchange += isExchange;
  add();
  return llvm::Error::success();
}

llvm::Error LaunchMapper::map() {
  begin();
  auto pipeline = all.pipelines[index].begin();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (pipeline != all.pipelines[index].end() &&
        pipeline->firstPhase == nextBarrier) {
      i = mapPipeline(*pipeline++, i);
      if (i == parts.size())
        break;
    }
    if (llvm::Error error = mapOne(i))
      return error;
  }
  end();
  return llvm::Error::success();
}

llvm::Error Mapper::run() {
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
      PartPlaces places(plan, plans.shared, rank);
      return isPlain && suitClusters(places, bodies, rows);
    });
    llvm::Expected<LaunchSegments> cut =
        LaunchSegments::create(plan, plans.shared, launch, exchanges[launch]);
    if (!cut)
      return cut.takeError();
    plans.segments.push_back(*std::move(cut));
  }
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    std::vector<KernelPlan> &own = plans.kernels.emplace_back();
    own.reserve(plan.ranks[rank].launches.size());
    for (size_t launch = 0; launch < plan.ranks[rank].launches.size();
         ++launch) {
      KernelPlan &kernel = own.emplace_back(
          PartPlaces(plan, plans.shared, static_cast<int>(rank)));
      if (llvm::Error error = LaunchMapper(*this, kernel, launch).map())
        return error;
    }
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::unique_ptr<KernelPlans>>
codegen::mapKernels(const Plan &plan, const LoopKernels &bodies) {
  auto own = std::make_unique<Plan>(plan);
  auto plans = std::make_unique<KernelPlans>();
  plans->shared = shareArguments(*own);
  plans->plan = std::move(own);
  if (llvm::Error error = Mapper(*plans, bodies).run())
    return error;
  return plans;
}
