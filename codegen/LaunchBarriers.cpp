//===- LaunchBarriers.cpp - Where the blocks of a kernel wait -------------===//
//
// Compares the bytes that each part reads and writes with those of the parts
// before it, since the last barrier.
//
//===----------------------------------------------------------------------===//

#include "codegen/LaunchBarriers.h"

#include "codegen/PartAccesses.h"
#include "runtime/GpuAbi.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

/// Bytes of one memory.
struct Region {
  Memory memory;
  /// Of symmetric memory the rank, of arguments their number too.
  int64_t which;
  int64_t begin, end;

  bool meets(const Region &other) const {
    return memory == other.memory && which == other.which &&
           begin < other.end && other.begin < end;
  }
};

bool meet(const std::vector<Region> &a, const std::vector<Region> &b) {
  return llvm::any_of(a, [&](const Region &x) {
    return llvm::any_of(b, [&](const Region &y) { return x.meets(y); });
  });
}

struct Touched {
  std::vector<Region> reads, writes;

  void add(const Touched &other) {
    llvm::append_range(reads, other.reads);
    llvm::append_range(writes, other.writes);
  }
  /// Whether `later` must wait for this.
  bool before(const Touched &later) const {
    return meet(writes, later.reads) || meet(writes, later.writes) ||
           meet(reads, later.writes);
  }
};

/// What a part of a rank touches.
Touched touchedBy(const Plan &plan, int rank, const Part &part) {
  Touched touched;
  forEachAccess(part, plan.groups, [&](const PartAccess<const View> &access) {
    if (access.extent == 0)
      return;
    const View &view = access.view;
    const Buffer &buffer = plan.ranks[static_cast<size_t>(rank)]
                               .buffers[static_cast<size_t>(view.buffer)];
    int64_t size = sizeInBytes(buffer.type);
    Region region{buffer.memory, 0, view.offset * size,
                  (view.offset + access.extent) * size};
    int owner = access.owner >= 0 ? access.owner
                : view.rank >= 0  ? view.rank
                                  : rank;
    if (buffer.memory == Memory::Argument) {
      region.which = buffer.offset * CCN_MAX_RANKS + owner;
    } else {
      region.begin += buffer.offset;
      region.end += buffer.offset;
      if (buffer.memory == Memory::Symmetric)
        region.which = owner;
    }
    (access.writes ? touched.writes : touched.reads).push_back(region);
  });
  return touched;
}

} // namespace

bool codegen::isBarrier(const Part &part) {
  return std::holds_alternative<BarrierPart>(part);
}

void LaunchBarriers::addRank(const Plan &plan, int rank, const Launch &launch) {
  const std::vector<Part> &parts = launch.parts;
  std::vector<bool> &waits = blocks[parts.size()];
  waits.resize(parts.size());
  Touched before;
  for (auto [i, part] : llvm::enumerate(parts)) {
    Touched touched = touchedBy(plan, rank, part);
    bool must = before.before(touched);
    waits[i] = waits[i] || must;
    if (must || isBarrier(part))
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

LaunchBarriers::LaunchBarriers(const Plan &plan, size_t launch) {
  for (auto [rank, own] : llvm::enumerate(plan.ranks))
    addRank(plan, static_cast<int>(rank), own.launches[launch]);
}

bool codegen::isInPlace(const Plan &plan, int rank,
                        const ExchangePart &exchange) {
  Touched touched = touchedBy(plan, rank, exchange);
  return meet(touched.reads, touched.writes);
}
