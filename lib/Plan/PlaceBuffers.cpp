//===- PlaceBuffers.cpp - Where buffers lie -------------------------------===//
//
// Chooses the places of private and symmetric buffers in their arenas.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Passes.h"
#include "lib/Plan/Views.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

namespace ccn::plan {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "lib/Plan/Passes.h.inc"
} // namespace ccn::plan

namespace {

constexpr uint64_t alignment = 64;

struct Lifetime {
  int first = -1, last = -1;

  void extend(int time) {
    first = first < 0 ? time : std::min(first, time);
    last = std::max(last, time);
  }
  void extend(Lifetime other) {
    extend(other.first);
    extend(other.last);
  }
};

/// The lifetime of each buffer, in numbers of launches. A launch in a segment
/// with several streams counts as using its buffers during the whole segment.
llvm::DenseMap<Operation *, Lifetime> lifetimesOf(PlanOp plan) {
  struct Segment {
    Lifetime life;
    llvm::SmallDenseSet<uint64_t> streams;
  };
  llvm::DenseMap<int64_t, Segment> segments;
  auto segmentOf = [&](LaunchOp launch) -> Segment & {
    return segments[static_cast<int64_t>(launch.getSegment().value_or(0))];
  };
  auto launches = llvm::enumerate(plan.getBody().getOps<LaunchOp>());
  for (auto [i, launch] : launches) {
    segmentOf(launch).life.extend(static_cast<int>(i));
    segmentOf(launch).streams.insert(launch.getStream());
  }
  llvm::DenseMap<Operation *, Lifetime> lifetimes;
  for (auto [i, launch] : launches) {
    const Segment &segment = segmentOf(launch);
    for (auto part : launch.getBody().getOps<PartOpInterface>())
      for (const Access &access : part.getAccesses()) {
        Lifetime &life = lifetimes[bufferOf(access.getView())];
        life.extend(static_cast<int>(i));
        if (segment.streams.size() > 1)
          life.extend(segment.life);
      }
  }
  return lifetimes;
}

struct Block {
  size_t buffer;
  int64_t bytes;
  Lifetime life;
};

/// Finds the blocks whose lifetimes overlap a given one without looking at all
/// blocks: a segment tree over the launches, and the blocks whose lifetimes
/// start at each launch.
class Timeline {
public:
  explicit Timeline(size_t times) : starts(times), nodes(2 * times) {}

  void insert(const Block &block) {
    auto first = static_cast<size_t>(block.life.first);
    starts[first].push_back(&block);
    size_t begin = first + starts.size();
    size_t end = static_cast<size_t>(block.life.last) + 1 + starts.size();
    for (; begin < end; begin /= 2, end /= 2) {
      if (begin % 2)
        nodes[begin++].push_back(&block);
      if (end % 2)
        nodes[--end].push_back(&block);
    }
  }

  /// Calls visit(block) once for each block whose lifetime overlaps `life`.
  template <typename Visit> void visitMeeting(Lifetime life, Visit visit) {
    auto first = static_cast<size_t>(life.first);
    for (size_t node = first + starts.size(); node > 0; node /= 2)
      llvm::for_each(nodes[node], visit);
    for (size_t i = first + 1; i <= static_cast<size_t>(life.last); ++i)
      llvm::for_each(starts[i], visit);
  }

private:
  std::vector<std::vector<const Block *>> starts, nodes;
};

/// Places blocks in descending order of size, each at the first offset that is
/// free during its lifetime.
void place(SmallVector<Block> blocks, MutableArrayRef<int64_t> places) {
  llvm::sort(blocks, [](const Block &a, const Block &b) {
    return std::pair(b.bytes, a.buffer) < std::pair(a.bytes, b.buffer);
  });
  int last = -1;
  for (const Block &block : blocks)
    last = std::max(last, block.life.last);
  Timeline placed(static_cast<size_t>(last + 1));
  for (const Block &block : blocks) {
    SmallVector<std::pair<int64_t, int64_t>> taken;
    placed.visitMeeting(block.life, [&](const Block *other) {
      taken.push_back(
          {places[other->buffer], places[other->buffer] + other->bytes});
    });
    llvm::sort(taken);
    int64_t at = 0;
    for (auto [begin, end] : taken) {
      if (at + block.bytes <= begin)
        break;
      at = std::max(at, end);
    }
    places[block.buffer] = at;
    placed.insert(block);
  }
}

int64_t alignedBytes(BufferOp buffer) {
  MemRefType type = buffer.getBuffer().getType();
  return static_cast<int64_t>(
      llvm::alignTo(static_cast<uint64_t>(type.getNumElements() *
                                          elementBytes(type.getElementType())),
                    alignment));
}

/// Places the buffers that are used, and removes the others.
void placeAll(ArrayRef<BufferOp> buffers, ArrayRef<Lifetime> lifetimes) {
  SmallVector<Block> blocks;
  for (auto [i, buffer, life] : llvm::enumerate(buffers, lifetimes))
    if (life.first >= 0)
      blocks.push_back({i, alignedBytes(buffer), life});
  SmallVector<int64_t> places(buffers.size(), -1);
  place(std::move(blocks), places);
  for (auto [place, found] : llvm::zip_equal(places, buffers)) {
    BufferOp buffer = found;
    if (place < 0)
      buffer.erase();
    else
      buffer.setAt(static_cast<uint64_t>(place));
  }
}

void placeBuffers(ArrayRef<PlanOp> ranks) {
  // All ranks have the same symmetric buffers in the same order. A buffer
  // counts as used whenever any rank uses it.
  SmallVector<SmallVector<BufferOp>> symmetric;
  SmallVector<Lifetime> symmetricLives;
  for (PlanOp plan : ranks) {
    tidyViews(plan);
    llvm::DenseMap<Operation *, Lifetime> lifetimes = lifetimesOf(plan);
    SmallVector<BufferOp> own;
    SmallVector<Lifetime> ownLives;
    symmetric.emplace_back();
    for (auto buffer : plan.getBody().getOps<BufferOp>()) {
      Lifetime life = lifetimes.lookup(buffer);
      if (memoryOf(buffer.getBuffer()) == Memory::private_) {
        own.push_back(buffer);
        ownLives.push_back(life);
        continue;
      }
      size_t number = symmetric.back().size();
      symmetric.back().push_back(buffer);
      symmetricLives.resize(std::max(symmetricLives.size(), number + 1));
      if (life.first >= 0)
        symmetricLives[number].extend(life);
    }
    placeAll(own, ownLives);
  }
  for (auto [plan, buffers] : llvm::zip_equal(ranks, symmetric)) {
    placeAll(buffers, symmetricLives);
    PlanOp(plan).walk([](Operation *op) {
      if (auto launch = dyn_cast<LaunchOp>(op))
        launch.removeSegmentAttr();
      else if (auto copy = dyn_cast<CopyOp>(op))
        copy.setStore(false);
    });
  }
}

struct PlaceBuffersPass : plan::impl::PlaceBuffersBase<PlaceBuffersPass> {
  void runOnOperation() override {
    for (auto &[name, ranks] : plansByProgram(getOperation())) {
      if (failed(verifyRanks(ranks)))
        return signalPassFailure();
      placeBuffers(ranks);
    }
  }
};

} // namespace
