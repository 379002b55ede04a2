//===- LaunchBarriers.cpp - Where the blocks of a kernel wait -------------===//
//
// Compares the bytes that each part reads and writes with those of the parts
// before it, since the last barrier.
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

/// Of what the first block, or cluster, alone touches.
constexpr int64_t undivided = std::numeric_limits<int64_t>::max();

struct Region {
  AccessedBytes bytes;
  /// If blocks, or clusters, take it in turns: how far apart the bytes are that
  /// one and the next begin with, and how many each has. 0 if it is shared out
  /// in another way.
  int64_t step = 0, share = 0;
  bool isOfCluster = false;
  /// If the blocks of a cluster have equal parts of it: of how many elements. 0
  /// if not.
  int64_t elements = 0;

  Wait before(const Region &later) const {
    if (!bytes.meets(later.bytes))
      return Wait::None;
    if (step == 0 || step != later.step)
      return Wait::Grid;
    // Whether a block, or a cluster, meets only itself.
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
  /// How `later` must wait for this.
  Wait before(const Touched &later) const {
    return std::max({compare(writes, later.reads),
                     compare(writes, later.writes),
                     compare(reads, later.writes)});
  }
};

/// Whether a part is an exchange of no more packets than a block has threads,
/// of elements of `size` bytes.
bool isOfOneBlock(const Part &part, int64_t size) {
  const auto *exchange = std::get_if<ExchangePart>(&part);
  return exchange && exchange->exchange != Exchange::Schedule &&
         exchange->inputCount * size <=
             threadsPerBlock * codegen::payloadOf(exchange->exchange);
}

/// How many elements a row of an access has, or an exchange of which a cluster
/// takes `share` at a time, if they are contiguous, in their order; else 0.
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
      // Of each row as much as of the last.
      int64_t row = view.strides.front();
      region.step = rowsOfBlock * row * size;
      region.share = (access.extent - (rows->rows - rowsOfBlock) * row) * size;
    } else if (rows) {
      if (share > 0 && isRowMajor(rows->loops.front().sizes, view.strides))
        region.step = region.share = share * size;
      // The first thread of all writes what is one element.
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

/// How many elements of an exchange by packets, the first of `parts`, blocks
/// take at a time, so that each has those that it takes of the next part: a
/// barrier of all blocks takes about as long as the exchange. 0 if that cannot
/// be, or if the others would wait too long for one block.
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
    // 16 bytes of each thread.
    if (!codegen::isElementwise(*rows))
      return 0;
    count = tile = threadsPerBlock * 16 / size;
  } else if (!isOne) {
    count = exchange->outputCount / rows->rows * rowsOfBlock;
  }
  // Twice what its threads send at once.
  if (count * size > 2 * threadsPerBlock * exchangedByThread)
    return 0;
  // No packet is of two blocks.
  if (!isOne && count * size % payloadOf(exchange->exchange) != 0)
    return 0;
  int64_t share = isOne ? undivided : count;
  Wait wait =
      touchedBy(plan, rank, parts.front(), share, areClusters)
          .before(touchedBy(plan, rank, *next, tile, areClusters, rowsOfBlock));
  return wait == Wait::Block || wait == Wait::Cluster ? share : 0;
}

/// Elements for themselves, and the sums of them that come later, of which
/// blocks take `share` at a time: each sums up those that it has made, which
/// needs no barrier of all blocks.
struct SharedSums {
  size_t part;
  int64_t share;
};

/// For the first of `parts`; none if that cannot be.
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
    // Two vectors of each thread, or of much more than that.
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
  // Whether threads may still use the block's shared memory for a part before.
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

/// Whether a rank's parts are such as do not mind how many threads blocks have,
/// and exchanges those of rows of clusters.
static bool
mayHaveClusters(const Launch &launch,
                llvm::function_ref<bool(const RowsPart &)> suitClusters) {
  bool isOfCluster = false;
  // Backwards, to know what follows.
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
               // Of what another rank says when all its blocks have come: there
               // may be fewer clusters at once than CUDA counts.
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
