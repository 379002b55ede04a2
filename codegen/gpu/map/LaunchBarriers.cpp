//===- LaunchBarriers.cpp - Where the blocks of a kernel wait -------------===//
//
// Compares the bytes that each part reads and writes with those of the earlier
// parts since the last barrier.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/LaunchBarriers.h"

#include "codegen/gpu/map/ColumnSums.h"
#include "codegen/gpu/map/ExchangePackets.h"
#include "codegen/gpu/map/RowTeams.h"
#include "runtime/plan/PartAccesses.h"
#include "runtime/tensor/Strided.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;
using llvm::ArrayRef;

namespace {

/// The step of a region that only the first block or cluster accesses.
constexpr int64_t undivided = std::numeric_limits<int64_t>::max();

struct Region {
  AccessedBytes bytes;
  /// If blocks or clusters take the region in turns: the distance in bytes
  /// between the first bytes of one and of the next, and how many bytes each
  /// has. 0 if the region is divided in another way.
  int64_t step = 0, share = 0;
  bool isOfCluster = false;
  /// If the blocks of a cluster divide elements equally: how many elements;
  /// else 0.
  int64_t elements = 0;

  Wait before(const Region &later) const {
    if (!bytes.meets(later.bytes))
      return Wait::None;
    if (step == 0 || step != later.step)
      return Wait::Grid;
    // Whether a block or cluster only accesses what it accessed before.
    int64_t shift = later.bytes.begin - bytes.begin;
    bool isOwn = step == undivided ||
                 (shift + later.share <= step && share <= shift + step);
    if (!isOwn)
      return Wait::Grid;
    bool isSameBlock =
        !isOfCluster ||
        (elements > 0 && elements == later.elements &&
         bytes.elementSize == later.bytes.elementSize && shift == 0);
    return isSameBlock ? Wait::Block : Wait::Cluster;
  }
};

Wait compare(const std::vector<Region> &earlier,
             const std::vector<Region> &later) {
  Wait wait = Wait::None;
  for (const Region &x : earlier)
    for (const Region &y : later)
      wait = std::max(wait, x.before(y));
  return wait;
}

struct Touched {
  std::vector<Region> reads, writes;

  void add(const Touched &other) {
    llvm::append_range(reads, other.reads);
    llvm::append_range(writes, other.writes);
  }
  /// How a part that accesses `later` must wait for one that accesses this.
  Wait before(const Touched &later) const {
    return std::max({compare(writes, later.reads),
                     compare(writes, later.writes),
                     compare(reads, later.writes)});
  }
};

/// Whether a part is an exchange with at most as many packets as a block has
/// threads; elements have `size` bytes.
bool isOfOneBlock(const Part &part, int64_t size) {
  const auto *exchange = std::get_if<ExchangePart>(&part);
  return exchange && exchange->exchange != Exchange::Schedule &&
         exchange->inputCount * size <=
             threadsPerBlock * codegen::payloadOf(exchange->exchange);
}

/// How many contiguous elements a cluster divides among its blocks: of an
/// exchange, `share` at a time; else those of a row. 0 if they are not
/// contiguous.
int64_t elementsInOrder(const PartAccess<const View> &access, int64_t share) {
  if (share > 0)
    return std::min(share, access.extent);
  ArrayRef<int64_t> sizes = ArrayRef<int64_t>(access.sizes).drop_front(),
                    strides = ArrayRef(access.view.strides).drop_front();
  int64_t count = product(sizes);
  return count > 1 && isRowMajor(sizes, strides) ? count : 0;
}

/// What a part of a rank touches. Of an exchange, or of loops in which every
/// element is for itself, blocks take `share` elements at a time, if that is
/// not 0; or clusters do, if there are some. Of other rows they take
/// `rowsOfBlock` at a time (RowTeams.h).
Touched touchedBy(const Plan &plan, int rank, const Part &part, int64_t share,
                  bool areClusters, int64_t rowsOfBlock = 0) {
  const auto *rows = std::get_if<RowsPart>(&part);
  bool isShared =
      areClusters && (rows ? !codegen::isElementwise(*rows) : share > 0);
  Touched touched;
  forEachAccess(part, plan.groups, [&](const PartAccess<const View> &access) {
    if (access.extent == 0)
      return;
    const View &view = access.view;
    Region region{bytesOf(plan, rank, access)};
    int64_t size = region.bytes.elementSize;
    region.isOfCluster = areClusters;
    if (isShared)
      region.elements = elementsInOrder(access, rows ? 0 : share);
    if (rowsOfBlock >= 1 && rows->rows <= rowsOfBlock) {
      region.step = undivided;
    } else if (rowsOfBlock >= 1) {
      // Assume as much of each row as of the last.
      int64_t row = view.strides.front();
      region.step = rowsOfBlock * row * size;
      region.share = (access.extent - (rows->rows - rowsOfBlock) * row) * size;
    } else if (rows) {
      if (share > 0 && isRowMajor(rows->loops.front().sizes, view.strides))
        region.step = region.share = share * size;
      // The first thread of the grid writes a single element.
      if (access.writes && access.extent == 1)
        region.step = undivided;
    } else if (share == undivided || (share == 0 && isOfOneBlock(part, size))) {
      region.step = undivided;
    } else {
      region.step = region.share = share * size;
    }
    (access.writes ? touched.writes : touched.reads).push_back(region);
  });
  return touched;
}

/// `parts` begins with an exchange by packets. Finds how many elements blocks
/// must take at a time so that each block exchanges the elements that it uses
/// in the next part; this saves a barrier of all blocks, which takes about as
/// long as the exchange. 0 if that is impossible, or if other blocks would wait
/// too long for one.
int64_t findShare(const Plan &plan, int rank, ArrayRef<Part> parts,
                  bool areClusters, const Machine::Gpu &machine) {
  const auto *exchange = std::get_if<ExchangePart>(&parts.front());
  if (!exchange || exchange->exchange == Exchange::Schedule)
    return 0;
  const auto *next = llvm::find_if_not(parts, [](const Part &part) {
    return std::holds_alternative<ExchangePart>(part);
  });
  const auto *rows =
      next == parts.end() ? nullptr : std::get_if<RowsPart>(next);
  if (!rows || rows->rows == 0)
    return 0;
  int64_t size =
      sizeInBytes(plan.ranks[static_cast<size_t>(rank)]
                      .buffers[static_cast<size_t>(exchange->to.buffer)]
                      .type);
  int64_t rowsOfBlock = codegen::rowsOfBlock(*rows, machine), tile = 0;
  bool isOne = rowsOfBlock >= 1 && rows->rows <= rowsOfBlock;
  int64_t count = exchange->outputCount;
  if (rowsOfBlock == 0) {
    // 16 bytes for each thread.
    if (!codegen::isElementwise(*rows))
      return 0;
    count = tile = threadsPerBlock * 16 / size;
  } else if (!isOne) {
    count = exchange->outputCount / rows->rows * rowsOfBlock;
  }
  // At most twice what the threads of a block send at once.
  if (count * size > 2 * threadsPerBlock * exchangedByThread)
    return 0;
  // A packet must not belong to two blocks.
  if (!isOne && count * size % payloadOf(exchange->exchange) != 0)
    return 0;
  int64_t share = isOne ? undivided : count;
  Wait wait =
      touchedBy(plan, rank, parts.front(), share, areClusters)
          .before(touchedBy(plan, rank, *next, tile, areClusters, rowsOfBlock));
  return wait == Wait::Block || wait == Wait::Cluster ? share : 0;
}

/// A later part that sums independent elements. If blocks take `share` elements
/// at a time in both parts, each block sums the elements that it has computed,
/// without a barrier of all blocks.
struct SharedSums {
  size_t part;
  int64_t share;
};

/// The sums for the first of `parts`; none if there are no such sums.
std::optional<SharedSums> findSums(const Plan &plan, int rank,
                                   ArrayRef<Part> parts,
                                   const Machine::Gpu &machine) {
  const auto *made = std::get_if<RowsPart>(&parts.front());
  if (!made || !codegen::isElementwise(*made) ||
      codegen::rowsOfBlock(*made, machine) != 0)
    return std::nullopt;
  for (auto [i, part] : llvm::enumerate(parts)) {
    const auto *rows = std::get_if<RowsPart>(&part);
    if (!rows)
      break;
    if (!codegen::sumsAll(*rows, machine))
      continue;
    // Two vectors for each thread, or eight if there are very many elements.
    int64_t share = threadsPerBlock * 8;
    if (product(rows->loops.front().sizes) > (int64_t(1) << 23))
      share *= 4;
    auto before = [&](int64_t share) {
      return touchedBy(plan, rank, parts.front(), share, /*areClusters=*/false)
          .before(touchedBy(plan, rank, part, share, /*areClusters=*/false));
    };
    if (before(0) == Wait::Grid && before(share) == Wait::Block)
      return SharedSums{i, share};
  }
  return std::nullopt;
}

} // namespace

bool codegen::isBarrier(const Part &part) {
  return std::holds_alternative<BarrierPart>(part);
}

bool codegen::isFlagPart(const Part &part) {
  return isBarrier(part) || std::holds_alternative<SignalPart>(part) ||
         std::holds_alternative<AwaitPart>(part);
}

bool codegen::takesSharedMemory(const Part &part) {
  const auto *rows = std::get_if<RowsPart>(&part);
  if (!rows)
    return std::holds_alternative<MatmulPart>(part) ||
           std::holds_alternative<Conv2dPart>(part);
  return llvm::any_of(rows->loops, [](const Loop &loop) {
    return loop.reducedDims > 0 ||
           llvm::any_of(loop.outputs, [](const LoopOperand &operand) {
             return operand.access == Access::Scratch;
           });
  });
}

bool codegen::isByColumns(ArrayRef<Part> parts, size_t part) {
  const auto *rows = std::get_if<RowsPart>(&parts[part]);
  if (!rows || !sumsColumns(*rows))
    return false;
  const auto *exchange =
      part > 0 ? std::get_if<ExchangePart>(&parts[part - 1]) : nullptr;
  return !exchange || exchange->exchange == Exchange::Schedule;
}

void LaunchBarriers::addRank(const Plan &plan, int rank, const Launch &launch,
                             const Machine::Gpu &machine) {
  const std::vector<Part> &parts = launch.parts;
  std::vector<Wait> &waits = blocks[parts.size()];
  waits.resize(parts.size());
  Touched before;
  // Whether threads may still use the block's shared memory for an earlier
  // part.
  bool isSharedInUse = false;
  std::vector<int64_t> ofSums(parts.size());
  for (auto [i, part] : llvm::enumerate(parts)) {
    std::optional<SharedSums> sums;
    if (!areClusters)
      sums = findSums(plan, rank, ArrayRef(parts).drop_front(i), machine);
    if (sums &&
        (ofSums[i + sums->part] == 0 || ofSums[i + sums->part] == sums->share))
      ofSums[i] = ofSums[i + sums->part] = sums->share;
    int64_t share = ofSums[i] != 0
                        ? ofSums[i]
                        : findShare(plan, rank, ArrayRef(parts).drop_front(i),
                                    areClusters, machine);
    // Elements that are for themselves are shared out as they were exchanged.
    const auto *rows = std::get_if<RowsPart>(&part);
    int64_t rowsOfBlock = rows ? codegen::rowsOfBlock(*rows, machine) : 0;
    if (rows && i > 0 && std::holds_alternative<ExchangePart>(parts[i - 1]) &&
        codegen::isElementwise(*rows) && rowsOfBlock == 0 &&
        shares.back()[i - 1] != 0)
      share = shares.back()[i - 1];
    shares.back().push_back(share);
    Touched touched = touchedBy(plan, rank, part, share, areClusters,
                                isByColumns(parts, i) ? 0 : rowsOfBlock);
    Wait must = before.before(touched);
    bool usesShared = takesSharedMemory(part);
    if (isSharedInUse && usesShared)
      must = std::max(must, Wait::Block);
    if (must != Wait::None || isBarrier(part))
      isSharedInUse = false;
    isSharedInUse |= usesShared;
    waits[i] = std::max(waits[i], must);
    if (must == Wait::Grid || isBarrier(part))
      before = Touched();
    before.add(touched);
  }

  size_t first =
      std::find_if_not(parts.begin(), parts.end(), isBarrier) - parts.begin();
  size_t last =
      parts.rend() - std::find_if_not(parts.rbegin(), parts.rend(), isBarrier);
  size_t number = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (!isBarrier(part))
      continue;
    if (number == edges.size())
      edges.emplace_back();
    edges[number].first &= i < first;
    edges[number].last &= i >= last;
    ++number;
  }
}

void LaunchBarriers::addRanks(const Plan &plan, size_t launch,
                              const Machine::Gpu &machine) {
  blocks.clear();
  shares.clear();
  edges.clear();
  for (auto [rank, own] : llvm::enumerate(plan.ranks)) {
    shares.emplace_back();
    addRank(plan, static_cast<int>(rank), own.launches[launch], machine);
  }
}

/// Whether a rank's launch may have clusters: no part depends on the number of
/// threads of a block, and each exchange belongs to rows of clusters.
static bool
mayHaveClusters(const Launch &launch,
                llvm::function_ref<bool(const RowsPart &)> suitClusters) {
  bool isOfCluster = false;
  // Backwards, since an exchange depends on the part after it.
  for (size_t i = launch.parts.size(); i-- > 0;) {
    const Part &part = launch.parts[i];
    if (const auto *rows = std::get_if<RowsPart>(&part)) {
      isOfCluster = !isByColumns(launch.parts, i) && suitClusters(*rows);
      if (!isOfCluster && !codegen::isElementwise(*rows))
        return false;
    } else if (const auto *exchange = std::get_if<ExchangePart>(&part)) {
      if (!isOfCluster || exchange->exchange == Exchange::Schedule)
        return false;
    } else if ((!std::holds_alternative<CopyPart>(part) &&
                !codegen::isFlagPart(part)) ||
               // A signal may be given only after all blocks of another rank
               // have arrived, but fewer clusters may run at once than CUDA
               // reports.
               std::holds_alternative<AwaitPart>(part)) {
      return false;
    } else {
      isOfCluster = false;
    }
  }
  return true;
}

LaunchBarriers::LaunchBarriers(
    const Plan &plan, size_t launch, const Machine::Gpu &machine,
    llvm::function_ref<bool(int, const RowsPart &)> suitClusters) {
  bool isAny = false, isNone = !suitClusters;
  for (auto [rank, own] : llvm::enumerate(plan.ranks))
    isNone = isNone ||
             !mayHaveClusters(own.launches[launch], [&](const RowsPart &rows) {
               bool suits = suitClusters(static_cast<int>(rank), rows);
               isAny |= suits;
               return suits;
             });
  areClusters = isAny && !isNone;
  addRanks(plan, launch, machine);
  bool waitsForAll =
      llvm::any_of(blocks,
                   [](const auto &waits) {
                     return llvm::is_contained(waits.second, Wait::Grid);
                   }) ||
      llvm::any_of(edges, [](Edge edge) { return !edge.first && !edge.last; });
  if (areClusters && waitsForAll) {
    areClusters = false;
    addRanks(plan, launch, machine);
  }
}

bool codegen::isInPlace(const Plan &plan, int rank,
                        const ExchangePart &exchange) {
  Touched touched =
      touchedBy(plan, rank, exchange, /*share=*/0, /*areClusters=*/false);
  return compare(touched.reads, touched.writes) != Wait::None;
}
