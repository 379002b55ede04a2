//===- LaunchMapper.cpp - Maps the parts of a launch to a kernel ----------===//

#include "codegen/gpu/map/LaunchMapper.h"

#include "codegen/gpu/map/MapRows.h"
#include "runtime/plan/PartAccesses.h"

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

/// The product with which a launch begins, if a library may compute it.
static std::optional<GpuProduct> productOf(const PartPlaces &places,
                                           const Launch &launch) {
  const auto *part = launch.parts.empty()
                         ? nullptr
                         : std::get_if<MatmulPart>(&launch.parts.front());
  auto canTake = [&](const View &view) {
    return (view.rank < 0 || view.rank == places.rank) &&
           !places.isScattered(view);
  };
  // The view of an empty result may refer to an input.
  bool isEmpty = part && (part->m == 0 || part->n == 0 ||
                          llvm::is_contained(part->batch, 0));
  if (!part || isEmpty || !canTake(part->a) || !canTake(part->b) ||
      !canTake(part->c))
    return std::nullopt;
  return GpuProduct{*part, launch.parts.size() == 1};
}

void LaunchMapper::begin() {
  const Launch &own = kernel.places.own().launches[launch];
  bool hasClusters = facts.barriers.hasClusters();
  kernel.name = own.name;
  kernel.lines = own.lines;
  kernel.properties.threads =
      hasClusters ? threadsPerBlock : threadsFor(own, facts.machine);
  kernel.launch.blocks = 1;
  kernel.launch.product = productOf(kernel.places, own);
  kernel.properties.clusters = kernel.takesRegisters = hasClusters;
  kernel.isCut = facts.cut.segments().count > 1;
}

void LaunchMapper::end() {
  kernel.doesDeferredAfter = doDeferred();
  for (const Part &part : parts)
    forEachAccess(part, kernel.places.plan.groups,
                  [&](const PartAccess<const View> &access) {
                    kernel.takesRegisters |=
                        kernel.places.isScattered(access.view);
                  });
  kernel.takesFewRegisters = partsOfFewRegisters == parts.size();
}

std::pair<const KernelSkeleton *, size_t>
LaunchMapper::findSkeleton(size_t part) const {
  for (const KernelSkeleton *skeleton : facts.skeletons)
    if (size_t count =
            skeleton->needsTensorMaps() ? 0 : skeleton->match(*this, part))
      return {skeleton, count};
  llvm_unreachable("every part has a skeleton");
}

llvm::Expected<std::unique_ptr<SkeletonPlan>>
LaunchMapper::mapInner(size_t part, BlockShare own) {
  share = own;
  auto [skeleton, count] = findSkeleton(part);
  assert(count == 1 && "these parts are taken one by one");
  return skeleton->map(*this, part);
}

/// Whether deferred work must be done before a part.
bool LaunchMapper::mustDoDeferred(const Part &part, Wait wait,
                                  size_t number) const {
  bool readsDeferred = false;
  forEachAccess(part, kernel.places.plan.groups,
                [&](const PartAccess<const View> &access) {
                  for (const View &view : deferredWrites)
                    readsDeferred |= kernel.places.overlap(access.view, view);
                });
  // A barrier between other parts is one of all blocks, so it does the work.
  if (isBarrier(part) && !facts.barriers.isAtEdge(barrier))
    return false;
  return isFlagPart(part) || std::holds_alternative<ExchangePart>(part) ||
         (readsDeferred && wait != Wait::Grid) ||
         (hasSegments() && within != facts.cut.segmentOf(rank, number));
}

/// Decides what a part waits for, and in which segment it runs.
void LaunchMapper::mapWaits(PartPlan &own, size_t number) {
  const Part &part = parts[number];
  const auto *rows = std::get_if<RowsPart>(&part);
  bool isExchange = std::holds_alternative<ExchangePart>(part);
  if (!isBarrier(part))
    own.wait = facts.barriers.before(number, parts.size());
  own.doesDeferredBefore =
      mustDoDeferred(part, own.wait, number) && doDeferred();
  // An earlier part may have opened the clusters already.
  own.opensCluster =
      kernel.properties.clusters && !kernel.opensClusters &&
      (own.wait == Wait::Cluster || (rows && !isElementwise(*rows)));
  kernel.opensClusters |= own.opensCluster;
  // An exchange decides itself what it does in which of its segments.
  if (hasSegments() && !isFlagPart(part) &&
      !(isExchange && own.wait == Wait::None))
    own.segment = isExchange ? facts.cut.exchangeOf(rank, exchange).first
                             : facts.cut.segmentOf(rank, number);
  own.leavesSegment = isExchange;
  enter(own.segment);
  if (isFlagPart(part) || isExchange)
    meetRanks();
  if (own.wait == Wait::Grid)
    gridBarrier();
  if (own.leavesSegment)
    enter(std::nullopt);
  const auto *next = number + 1 < parts.size()
                         ? std::get_if<RowsPart>(&parts[number + 1])
                         : nullptr;
  if (next && (isBarrier(part) || isExchange))
    own.prefetches = prefetchesOf(
        *this, *next,
        isExchange ? std::get<ExchangePart>(part).to.buffer : /*none=*/-1);
}

/// Maps a part, or several that one skeleton executes together; returns the
/// number of the part after them.
llvm::Expected<size_t> LaunchMapper::mapPart(size_t number) {
  share = {.tile = facts.barriers.shareOf(static_cast<size_t>(rank), number),
           .byColumns = isByColumns(parts, number)};
  auto [skeleton, count] = findSkeleton(number);
  PartPlan own{llvm::ArrayRef(parts).slice(number, count)};
  if (count > 1) {
    share = {};
    own.doesDeferredBefore = doDeferred();
    enter(std::nullopt);
  } else {
    mapWaits(own, number);
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>> plan =
      skeleton->map(*this, number);
  if (!plan)
    return plan.takeError();
  own.plan = std::move(*plan);
  if (hasDeferred && count == 1)
    deferredSegment = facts.cut.segmentOf(rank, number);
  for (const Part &part : own.parts)
    exchange += std::holds_alternative<ExchangePart>(part);
  kernel.parts.push_back(std::move(own));
  return number + count;
}

llvm::Error LaunchMapper::map() {
  begin();
  for (size_t part = 0; part < parts.size();) {
    llvm::Expected<size_t> next = mapPart(part);
    if (!next)
      return next.takeError();
    part = *next;
  }
  end();
  return llvm::Error::success();
}

llvm::Expected<bool> LaunchMapper::mapPreferred() {
  for (const KernelSkeleton *skeleton : facts.skeletons) {
    if (!skeleton->needsTensorMaps() || parts.empty() ||
        skeleton->match(*this, 0) == 0)
      continue;
    begin();
    kernel.launch.product.reset();
    llvm::Expected<std::unique_ptr<SkeletonPlan>> plan =
        skeleton->map(*this, 0);
    if (!plan)
      return plan.takeError();
    PartPlan own{llvm::ArrayRef(parts)};
    own.plan = std::move(*plan);
    kernel.parts.push_back(std::move(own));
    return true;
  }
  return false;
}
