//===- VerifyPlans.cpp - What holds between launches and ranks ------------===//
//
// The constraints of plans that concern more than one operation: that launches
// which may run at once do not disturb each other, and that the ranks' plans
// fit each other.
//
//===----------------------------------------------------------------------===//

#include "dialect/plan/Plan.h"

#include "llvm/Support/MathExtras.h"

#include <deque>
#include <limits>
#include <map>
#include <set>

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

//===----------------------------------------------------------------------===//
// Overlap of strided views
//===----------------------------------------------------------------------===//

namespace {

/// A view's elements, in bytes from the start of its memory: `runs` of the same
/// length.
struct AccessedBytes {
  Memory memory = Memory::private_;
  /// The buffer's, among those of the memory; symmetric ones have the same
  /// number on all ranks.
  int64_t buffer = 0;
  bool isPlaced = false;
  /// The rank in whose memory it is; or the group in whose members' memories.
  int64_t owner = 0;
  GroupAttr group = {};
  int64_t base = 0, elementBytes = 1;
  int64_t offset = 0;
  SmallVector<int64_t> sizes, strides;
  bool isWrite = false;

  int64_t first() const { return base + offset * elementBytes; }
  int64_t last() const {
    int64_t end = offset;
    for (auto [size, stride] : llvm::zip_equal(sizes, strides))
      end += (size - 1) * stride;
    return base + (end + 1) * elementBytes;
  }
  int64_t count() const {
    int64_t product = 1;
    for (int64_t size : sizes)
      product *= size;
    return product;
  }
};

/// A dimension of a region: how many pieces, and bytes from one to the next.
struct ByteDim {
  int64_t size, stride;
};

/// Pieces of `length` bytes without gaps.
struct ByteRegion {
  int64_t first = 0, length = 0;
  /// From the largest stride to the smallest; as few as there can be.
  SmallVector<ByteDim> dims;
};

ByteRegion regionOf(const AccessedBytes &access) {
  ByteRegion region{access.first(), access.elementBytes, {}};
  for (auto [size, stride] : llvm::zip_equal(access.sizes, access.strides))
    if (size > 1 && stride != 0)
      region.dims.push_back({size, stride * access.elementBytes});
  // The order of indices does not matter.
  llvm::sort(region.dims, [](const ByteDim &a, const ByteDim &b) {
    return a.stride > b.stride;
  });
  while (!region.dims.empty() && region.dims.back().stride == region.length)
    region.length *= region.dims.pop_back_val().size;
  for (size_t dim = region.dims.size(); dim-- > 1;) {
    ByteDim &outer = region.dims[dim - 1];
    const ByteDim &inner = region.dims[dim];
    if (outer.stride != inner.stride * inner.size)
      continue;
    outer = {outer.size * inner.size, inner.stride};
    region.dims.erase(region.dims.begin() + static_cast<std::ptrdiff_t>(dim));
  }
  return region;
}

/// Whether regions of pieces in rows of the same length, such as columns of one
/// matrix, overlap; none if they are others.
std::optional<bool> overlapInRows(const ByteRegion &a, const ByteRegion &b) {
  for (const ByteRegion *region : {&a, &b})
    if (region->dims.size() > 1 ||
        (!region->dims.empty() && region->dims[0].stride < 0))
      return std::nullopt;
  int64_t stride = std::max(a.dims.empty() ? 0 : a.dims[0].stride,
                            b.dims.empty() ? 0 : b.dims[0].stride);
  for (const ByteRegion *region : {&a, &b})
    if (!region->dims.empty() && region->dims[0].stride != stride)
      return std::nullopt;
  if (stride == 0)
    stride = 1;
  int64_t rowsA = a.dims.empty() ? 1 : a.dims[0].size,
          rowsB = b.dims.empty() ? 1 : b.dims[0].size;
  // Row i of a and row j of b meet if distance - a.length < (i - j) * stride <
  // distance + b.length.
  int64_t distance = b.first - a.first;
  int64_t least = std::max(
      llvm::divideFloorSigned(distance - a.length, stride) + 1, 1 - rowsB);
  int64_t most = std::min(
      llvm::divideCeilSigned(distance + b.length, stride) - 1, rowsA - 1);
  return least <= most;
}

/// The ranges of bytes of a region, sorted; none if there are too many to
/// compare.
std::optional<std::vector<std::pair<int64_t, int64_t>>>
runsOf(const ByteRegion &region) {
  constexpr int64_t most = 1 << 16;
  std::vector<int64_t> starts = {region.first};
  for (const ByteDim &dim : region.dims) {
    if (static_cast<int64_t>(starts.size()) * dim.size > most)
      return std::nullopt;
    std::vector<int64_t> next;
    for (int64_t start : starts)
      for (int64_t i = 0; i < dim.size; ++i)
        next.push_back(start + i * dim.stride);
    starts = std::move(next);
  }
  std::vector<std::pair<int64_t, int64_t>> runs;
  for (int64_t start : starts)
    runs.push_back({start, start + region.length});
  llvm::sort(runs);
  return runs;
}

/// Whether two accesses have bytes in common. Views of very many pieces are
/// compared by where they begin and end, and, of one buffer, taken not to.
bool overlap(const AccessedBytes &a, const AccessedBytes &b) {
  if (a.count() == 0 || b.count() == 0 || a.last() <= b.first() ||
      b.last() <= a.first())
    return false;
  ByteRegion regionA = regionOf(a), regionB = regionOf(b);
  if (std::optional<bool> known = overlapInRows(regionA, regionB))
    return *known;
  auto runsA = runsOf(regionA), runsB = runsOf(regionB);
  if (!runsA || !runsB)
    return a.buffer != b.buffer;
  size_t i = 0, j = 0;
  while (i < runsA->size() && j < runsB->size()) {
    if ((*runsA)[i].second <= (*runsB)[j].first)
      ++i;
    else if ((*runsB)[j].second <= (*runsA)[i].first)
      ++j;
    else
      return true;
  }
  return false;
}

/// The number of each buffer of a plan, among those of its memory.
llvm::DenseMap<Operation *, int64_t> numberBuffers(PlanOp plan) {
  llvm::DenseMap<Operation *, int64_t> numbers;
  std::map<Memory, int64_t> counts;
  for (Operation &op : plan.getBody().front())
    if (isa<ArgumentOp, BufferOp>(op))
      numbers[&op] = counts[memoryOf(op.getResult(0))]++;
  return numbers;
}

/// Everything that a launch of a rank accesses, in whosever memory.
std::vector<AccessedBytes>
accessesOf(LaunchOp launch, int64_t rank,
           const llvm::DenseMap<Operation *, int64_t> &numbers) {
  std::vector<AccessedBytes> accesses;
  auto add = [&](const Access &access) {
    Value view = access.getView();
    AccessedBytes bytes;
    bytes.memory = memoryOf(view);
    if (bytes.memory == Memory::scratch)
      return;
    bytes.buffer = numbers.lookup(bufferOf(view));
    if (auto buffer = dyn_cast<BufferOp>(bufferOf(view));
        buffer && buffer.getAt()) {
      bytes.isPlaced = true;
      bytes.base = static_cast<int64_t>(*buffer.getAt());
    }
    auto type = cast<MemRefType>(view.getType());
    bytes.elementBytes = elementBytes(type.getElementType());
    bytes.sizes.assign(type.getShape().begin(), type.getShape().end());
    llvm::fill(MutableArrayRef(bytes.sizes).take_back(access.reduced), 1);
    auto [offset, strides] = stridesOf(view);
    bytes.offset = offset;
    bytes.strides.assign(strides.begin(), strides.end());
    for (auto [count, step] : llvm::reverse(access.repeats)) {
      bytes.sizes.insert(bytes.sizes.begin(), count);
      bytes.strides.insert(bytes.strides.begin(), step);
    }
    bytes.isWrite = access.isWrite;
    bytes.owner = rankOf(view).value_or(rank);
    if (access.all && !access.all.getSlots()) {
      bytes.group = access.all.getGroup();
    } else if (access.all) {
      bytes.sizes.insert(
          bytes.sizes.begin(),
          static_cast<int64_t>(access.all.getGroup().getRanks().size()));
      bytes.strides.insert(bytes.strides.begin(), access.all.getSlots());
    }
    accesses.push_back(std::move(bytes));
  };
  for (auto part : launch.getBody().getOps<PartOpInterface>())
    llvm::for_each(part.getAccesses(), add);
  return accesses;
}

bool mayMeet(const AccessedBytes &a, const AccessedBytes &b) {
  // Arguments, and buffers without places, are apart from everything else.
  return a.memory == b.memory &&
         ((a.isPlaced && b.isPlaced) || a.buffer == b.buffer) &&
         (a.isWrite || b.isWrite) && overlap(a, b);
}

/// The last launch of each stream that is done before each launch begins.
std::vector<std::map<int64_t, size_t>> findDone(ArrayRef<LaunchOp> launches) {
  std::vector<std::map<int64_t, size_t>> done(launches.size());
  std::map<int64_t, size_t> latest;
  llvm::DenseMap<Operation *, size_t> numbers;
  for (auto [i, launch] : llvm::enumerate(launches)) {
    numbers[launch] = i;
    auto include = [&, &own = done[i]](size_t before) {
      auto stream =
          static_cast<int64_t>(LaunchOp(launches[before]).getStream());
      for (auto [s, number] : done[before])
        own[s] = std::max(own.try_emplace(s, number).first->second, number);
      own[stream] =
          std::max(own.try_emplace(stream, before).first->second, before);
    };
    auto stream = static_cast<int64_t>(LaunchOp(launch).getStream());
    if (auto it = latest.find(stream); it != latest.end())
      include(it->second);
    for (Value event : LaunchOp(launch).getWaits())
      include(numbers.lookup(event.getDefiningOp()));
    latest[stream] = i;
  }
  return done;
}

/// Accesses in the memory of one rank or of all members of a group, in the
/// order of where they begin, so that few are compared.
class SortedAccesses {
public:
  void add(const AccessedBytes &access) { sorted.push_back(&access); }
  void sort() {
    llvm::sort(sorted, [](const AccessedBytes *a, const AccessedBytes *b) {
      return a->first() < b->first();
    });
    int64_t last = std::numeric_limits<int64_t>::min();
    for (const AccessedBytes *access : sorted)
      reached.push_back(last = std::max(last, access->last()));
  }
  /// Whether one of these and one of the others meet.
  bool meets(const SortedAccesses &others) const {
    return llvm::any_of(others.sorted, [&](const AccessedBytes *other) {
      auto end = llvm::partition_point(sorted, [&](const AccessedBytes *own) {
        return own->first() < other->last();
      });
      for (auto i = static_cast<size_t>(end - sorted.begin());
           i-- > 0 && reached[i] > other->first();)
        if (mayMeet(*sorted[i], *other))
          return true;
      return false;
    });
  }

private:
  std::vector<const AccessedBytes *> sorted;
  /// The furthest byte of each access and those before it.
  std::vector<int64_t> reached;
};

/// What all ranks access in one launch: by the rank in whose memory it is, or
/// the group in whose members' memories. An access to a group is one, and not
/// one for each member: all members' memories are alike.
struct LaunchAccesses {
  std::map<int64_t, SortedAccesses> own;
  llvm::MapVector<GroupAttr, SortedAccesses> shared;

  void sort() {
    for (auto &[owner, list] : own)
      list.sort();
    for (auto &[group, list] : shared)
      list.sort();
  }

  /// A rank of `known` in whose memory this launch and another one meet.
  std::optional<int64_t>
  findMeeting(const LaunchAccesses &other,
              const llvm::DenseSet<int64_t> &known) const {
    for (auto &[owner, list] : own)
      if (auto it = other.own.find(owner); it != other.own.end() &&
                                           known.contains(owner) &&
                                           list.meets(it->second))
        return owner;
    if (std::optional<int64_t> owner = findShared(other, known))
      return owner;
    if (std::optional<int64_t> owner = other.findShared(*this, known))
      return owner;
    for (auto &[group, list] : shared)
      for (auto &[otherGroup, otherList] : other.shared) {
        const auto *common = llvm::find_if(
            group.getRanks(), [&, otherGroup = otherGroup](int64_t rank) {
              return known.contains(rank) &&
                     (group == otherGroup || otherGroup.contains(rank));
            });
        if (common != group.getRanks().end() && list.meets(otherList))
          return *common;
      }
    return std::nullopt;
  }

private:
  /// Where what groups share meets what the other launch accesses in the memory
  /// of one member.
  std::optional<int64_t>
  findShared(const LaunchAccesses &other,
             const llvm::DenseSet<int64_t> &known) const {
    for (auto &[group, list] : shared)
      for (int64_t member : group.getRanks())
        if (auto it = other.own.find(member); it != other.own.end() &&
                                              known.contains(member) &&
                                              list.meets(it->second))
          return member;
    return std::nullopt;
  }
};

/// Checks plan_c2 of plans that have the same launches, in the memory of the
/// ranks whose plans are known.
LogicalResult verifyOrder(ArrayRef<PlanOp> plans) {
  auto launchesOf = [](PlanOp plan) {
    return llvm::to_vector(plan.getBody().getOps<LaunchOp>());
  };
  SmallVector<LaunchOp> launches = launchesOf(plans.front());
  if (llvm::all_of(launches, [&](LaunchOp launch) {
        return launch.getStream() == launches.front().getStream();
      }))
    return success();
  llvm::DenseSet<int64_t> known;
  // A deque, whose elements do not move.
  std::deque<std::vector<AccessedBytes>> lists;
  std::vector<LaunchAccesses> accesses(launches.size());
  for (PlanOp plan : plans) {
    auto rank = static_cast<int64_t>(plan.getRank());
    known.insert(rank);
    auto numbers = numberBuffers(plan);
    for (auto [launch, all] : llvm::zip_equal(launchesOf(plan), accesses)) {
      lists.push_back(accessesOf(launch, rank, numbers));
      for (const AccessedBytes &access : lists.back())
        if (access.count() > 0)
          (access.group ? all.shared[access.group] : all.own[access.owner])
              .add(access);
    }
  }
  for (LaunchAccesses &all : accesses)
    all.sort();
  auto done = findDone(launches);
  for (size_t i = 0; i < launches.size(); ++i)
    for (size_t before = 0; before < i; ++before) {
      LaunchOp first = launches[before], second = launches[i];
      // Segments follow each other.
      if (first.getSegment() != second.getSegment())
        continue;
      auto it = done[i].find(static_cast<int64_t>(first.getStream()));
      if (it != done[i].end() && it->second >= before)
        continue;
      std::optional<int64_t> owner =
          accesses[before].findMeeting(accesses[i], known);
      if (!owner)
        continue;
      SmallVector<LaunchOp> there =
          launchesOf(*llvm::find_if(plans, [&](PlanOp plan) {
            return static_cast<int64_t>(plan.getRank()) == *owner;
          }));
      auto error = there[i].emitOpError()
                   << "expected to be ordered by events with a launch of "
                      "another stream that accesses the same memory";
      error.attachNote(there[before].getLoc())
          << "found '" << first.getName() << "'";
      return error;
    }
  return success();
}

//===----------------------------------------------------------------------===//
// All ranks
//===----------------------------------------------------------------------===//

/// Checks plan_c3 and plan_c4.
LogicalResult verifyPlan(PlanOp plan) {
  std::optional<bool> placed;
  for (auto buffer : plan.getBody().getOps<BufferOp>()) {
    if (placed.value_or(buffer.getAt().has_value()) !=
        buffer.getAt().has_value())
      return buffer.emitOpError()
             << "expected places of all buffers or of none";
    placed = buffer.getAt().has_value();
  }
  if (placed.value_or(false)) {
    WalkResult result = plan.walk([&](Operation *op) {
      auto launch = dyn_cast<LaunchOp>(op);
      auto copy = dyn_cast<CopyOp>(op);
      if ((!launch || !launch.getSegment()) && (!copy || !copy.getStore()))
        return WalkResult::advance();
      op->emitOpError() << "expected neither segments nor stores once buffers "
                           "have places";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  // The ranges of flags, by the first, each with its end.
  std::map<int64_t, int64_t> flags;
  WalkResult result = plan.walk([&](Operation *op) {
    int64_t first, count = 1;
    if (auto barrier = dyn_cast<BarrierOp>(op)) {
      first = static_cast<int64_t>(barrier.getFlags());
      count = static_cast<int64_t>(barrier.getGroup().getRanks().size());
    } else if (auto await = dyn_cast<AwaitOp>(op)) {
      first = static_cast<int64_t>(await.getFlag());
    } else {
      return WalkResult::advance();
    }
    auto next = flags.upper_bound(first);
    std::optional<int64_t> taken;
    if (next != flags.begin() && std::prev(next)->second > first)
      taken = first;
    else if (next != flags.end() && next->first - first < count)
      taken = next->first;
    if (first < 0 || taken ||
        first > std::numeric_limits<int64_t>::max() - count) {
      op->emitOpError() << "expected a flag of its own, found "
                        << taken.value_or(first);
      return WalkResult::interrupt();
    }
    flags[first] = first + count;
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// What of a plan must be the same on all ranks, as a list.
struct Signature {
  SmallVector<std::pair<Operation *, std::string>> entries;

  explicit Signature(PlanOp plan) {
    auto add = [&](Operation *op, const Twine &text) {
      entries.push_back({op, text.str()});
    };
    for (auto buffer : plan.getBody().getOps<BufferOp>())
      if (memoryOf(buffer.getBuffer()) == Memory::symmetric)
        add(buffer,
            "a buffer of " +
                Twine(buffer.getBuffer().getType().getNumElements() *
                      elementBytes(
                          buffer.getBuffer().getType().getElementType())) +
                " bytes at " +
                Twine(static_cast<int64_t>(buffer.getAt().value_or(0))));
    llvm::DenseMap<Operation *, size_t> numbers;
    for (auto launch : plan.getBody().getOps<LaunchOp>()) {
      std::string text = ("launch " + Twine(numbers.size()) + " on stream " +
                          Twine(static_cast<int64_t>(launch.getStream())))
                             .str();
      for (Value event : launch.getWaits())
        text +=
            " after " + std::to_string(numbers.lookup(event.getDefiningOp()));
      numbers[launch] = numbers.size();
      add(launch, text);
      for (Operation &part : launch.getBody().front()) {
        if (auto barrier = dyn_cast<BarrierOp>(part))
          add(barrier, "a barrier of " +
                           Twine(barrier.getGroup().getRanks().size()) +
                           " ranks with flags from " +
                           Twine(static_cast<int64_t>(barrier.getFlags())));
        else if (auto exchange = dyn_cast<ExchangeOp>(part))
          add(exchange,
              "an exchange of " + Twine(exchange.getGroup().getRanks().size()) +
                  " ranks by " + stringifyExchange(exchange.getExchange()) +
                  " of at most " +
                  Twine(static_cast<int64_t>(exchange.getLargest())) +
                  " elements");
      }
    }
  }
};

} // namespace

LogicalResult plan::verifyRanks(ArrayRef<PlanOp> plans) {
  PlanOp reference = plans.front();
  Signature first(reference);
  for (PlanOp plan : plans.drop_front()) {
    Signature other(plan);
    for (auto [a, b] : llvm::zip(first.entries, other.entries))
      if (a.second != b.second) {
        auto error = b.first->emitOpError()
                     << "expected the same as on rank " << reference.getRank()
                     << ", " << a.second << ", found " << b.second;
        error.attachNote(a.first->getLoc()) << "this is there";
        return error;
      }
    if (first.entries.size() != other.entries.size())
      return plan.emitOpError()
             << "expected as many launches, barriers and symmetric buffers as "
                "on rank "
             << reference.getRank() << ", " << first.entries.size()
             << ", found " << other.entries.size();
  }
  // Signals and their awaits; of ranks that are not here nothing is known.
  std::set<int64_t> known;
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::pair<int, Operation *>>
      open;
  for (PlanOp plan : plans)
    known.insert(static_cast<int64_t>(plan.getRank()));
  for (PlanOp plan : plans) {
    auto own = static_cast<int64_t>(plan.getRank());
    plan.walk([&](SignalOp op) {
      auto to = static_cast<int64_t>(op.getRank());
      if (known.count(to)) {
        auto &entry = open[{own, to, static_cast<int64_t>(op.getFlag())}];
        ++entry.first;
        entry.second = op;
      }
    });
    plan.walk([&](AwaitOp op) {
      auto from = static_cast<int64_t>(op.getRank());
      if (known.count(from)) {
        auto &entry = open[{from, own, static_cast<int64_t>(op.getFlag())}];
        --entry.first;
        entry.second = op;
      }
    });
  }
  for (auto &[key, entry] : open)
    if (entry.first != 0)
      return entry.second->emitOpError()
             << "expected one signal and one await of flag " << std::get<2>(key)
             << " from rank " << std::get<0>(key) << " to rank "
             << std::get<1>(key);
  return success();
}

llvm::MapVector<StringRef, SmallVector<PlanOp>>
plan::plansByProgram(ModuleOp module) {
  llvm::MapVector<StringRef, SmallVector<PlanOp>> programs;
  for (auto plan : module.getOps<PlanOp>())
    programs[plan.getName()].push_back(plan);
  return programs;
}

LogicalResult plan::verifyPlans(ModuleOp module) {
  for (auto &[name, ranks] : plansByProgram(module)) {
    // plan_c1
    std::set<uint64_t> known;
    for (PlanOp plan : ranks)
      if (!known.insert(plan.getRank()).second)
        return plan.emitOpError()
               << "expected one plan for rank " << plan.getRank();
    for (PlanOp plan : ranks)
      if (failed(verifyPlan(plan)))
        return failure();
    if (failed(verifyRanks(ranks)) || failed(verifyOrder(ranks)))
      return failure();
  }
  return success();
}
