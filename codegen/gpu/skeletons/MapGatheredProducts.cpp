//===- MapGatheredProducts.cpp - Which gathers, and by which chunks -------===//
//
// Plans have two forms of them. In one, each rank signals that its slice is
// there, and a product reads each slice in its rank's memory; in the other,
// slices are copied between two barriers of ranks, for a product and for
// whatever else reads them.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/GatheredProducts.h"
#include "runtime/plan/GpuAbi.h"

#include "llvm/Support/MathExtras.h"

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using runtime::AwaitPart;
using runtime::BarrierPart;
using runtime::CopyPart;
using runtime::MatmulPart;
using runtime::Part;
using runtime::RowsPart;
using runtime::SignalPart;
using runtime::View;

namespace {

/// The flags of chunks: more and smaller chunks come sooner.
constexpr int64_t mostChunks = 4096;

/// Finds out whether the skeleton takes a launch.
class GatherMatcher {
public:
  GatherMatcher(const LaunchMapper &launch, GatheredProductPlan &plan)
      : launch(launch), places(launch.kernel.places), rest(launch.parts),
        plan(plan) {}

  bool match();

private:
  /// Takes the next part, if it is of that kind.
  template <typename T> const T *take() {
    const auto *part = rest.empty() ? nullptr : std::get_if<T>(&rest.front());
    if (part)
      rest = rest.drop_front();
    return part;
  }
  bool isOwn(const View &view) const {
    return view.rank < 0 || view.rank == places.rank;
  }
  bool takeEnd();
  bool takeSignals();
  bool takeProducts(MatmulPart &whole);
  bool takeShown(MatmulPart &whole);
  bool takeCopies();
  bool addCopy(const CopyPart &copy, const View &to, int64_t lineStride,
               int64_t kStride, int64_t k);
  bool takeCopied(MatmulPart &whole);
  bool isComplete();
  bool areBoxesAligned();
  bool areLoopsApart() const;

  const LaunchMapper &launch;
  const PartPlaces &places;
  /// The parts that are not matched yet.
  ArrayRef<Part> rest;
  GatheredProductPlan &plan;
  std::vector<const CopyPart *> copies;
};

/// The barrier of ranks at the end, which says who they are.
bool GatherMatcher::takeEnd() {
  const auto *barrier =
      rest.empty() ? nullptr : std::get_if<BarrierPart>(&rest.back());
  if (!barrier || places.members(barrier->group).size() > CCN_MAX_RANKS)
    return false;
  rest = rest.drop_back();
  plan.group = barrier->group;
  plan.endFlags = barrier->flags;
  return true;
}

//===----------------------------------------------------------------------===//
// Products of what is shown
//===----------------------------------------------------------------------===//

/// Each member gets the same signal, if this rank has lines.
bool GatherMatcher::takeSignals() {
  const std::vector<int> &members = places.members(plan.group);
  std::vector<int> told = {places.rank};
  int64_t position = places.position(plan.group);
  while (const auto *signal = take<SignalPart>()) {
    if (plan.signals++ > 0 && signal->flag != plan.beginFlags + position)
      return false;
    plan.beginFlags = signal->flag - position;
    told.push_back(signal->rank);
  }
  llvm::sort(told);
  std::vector<int> all = members;
  llvm::sort(all);
  return plan.signals == 0 || told == all;
}

/// Adds a slice for each product, of which it gives the rows.
bool GatherMatcher::takeProducts(MatmulPart &whole) {
  const std::vector<int> &members = places.members(plan.group);
  while (!rest.empty() && !std::holds_alternative<RowsPart>(rest.front())) {
    const auto *await = take<AwaitPart>();
    const auto *part = take<MatmulPart>();
    if (!part || !part->batch.empty())
      return false;
    GatheredSlice slice;
    slice.lines = part->m;
    slice.from = part->a;
    slice.stride = part->a.strides[0];
    slice.rank = isOwn(part->a) ? places.rank : part->a.rank;
    auto member = llvm::find(members, slice.rank) - members.begin();
    if (plan.signals == 0 && plan.slices.empty() && await)
      plan.beginFlags = await->flag - member;
    slice.flag = plan.beginFlags + member;
    bool isAwaited =
        await && await->rank == slice.rank && await->flag == slice.flag;
    if (isAwaited == isOwn(part->a) || (await && !isAwaited))
      return false;
    if (plan.slices.empty())
      whole = *part;
    // Rows of the result say which lines these are; the first ones follow.
    slice.begin = part->c.offset;
    whole.c.offset = std::min(whole.c.offset, part->c.offset);
    auto isSame = [](const View &one, const View &other) {
      return one.buffer == other.buffer && one.strides == other.strides &&
             one.rank == other.rank;
    };
    if (part->n != whole.n || part->k != whole.k || !isSame(part->c, whole.c) ||
        !isSame(part->b, whole.b) || part->b.offset != whole.b.offset ||
        part->a.strides[1] != 1 || part->a.strides != whole.a.strides ||
        places.type(part->a) != places.type(whole.a))
      return false;
    plan.slices.push_back(std::move(slice));
  }
  return !plan.slices.empty();
}

bool GatherMatcher::takeShown(MatmulPart &whole) {
  if (!takeSignals() || !takeProducts(whole))
    return false;
  int64_t row = whole.c.strides[0];
  whole.m = 0;
  for (GatheredSlice &slice : plan.slices) {
    int64_t offset = slice.begin - whole.c.offset;
    if (row <= 0 || offset % row != 0)
      return false;
    slice.begin = offset / row;
    whole.m += slice.lines;
  }
  whole.a.rank = -1;
  plan.stride = whole.k;
  return true;
}

//===----------------------------------------------------------------------===//
// Products of what is copied
//===----------------------------------------------------------------------===//

bool GatherMatcher::takeCopies() {
  const auto *barrier = take<BarrierPart>();
  if (!barrier || barrier->group != plan.group)
    return false;
  plan.meets = plan.isKept = true;
  plan.beginFlags = barrier->flags;
  while (const auto *copy = take<CopyPart>())
    copies.push_back(copy);
  return !copies.empty();
}

/// Adds the slice that a copy brings to lines of `to`.
bool GatherMatcher::addCopy(const CopyPart &copy, const View &to,
                            int64_t lineStride, int64_t kStride, int64_t k) {
  GatheredSlice slice;
  slice.from = copy.from;
  slice.rank = isOwn(copy.from) ? places.rank : copy.from.rank;
  const std::vector<int> &members = places.members(plan.group);
  auto member = llvm::find(members, slice.rank);
  if (member == members.end() || !isOwn(copy.to) ||
      copy.to.buffer != to.buffer ||
      places.type(copy.from) != places.type(copy.to) ||
      places.isScattered(copy.from))
    return false;
  slice.flag = plan.beginFlags + (member - members.begin());
  // Elements in the source from line to line, and from k to k.
  std::optional<int64_t> fromLine, fromK;
  for (auto [dim, size] : llvm::enumerate(copy.sizes)) {
    if (size == 1)
      continue;
    if (!fromK && copy.to.strides[dim] == kStride && size == k) {
      fromK = copy.from.strides[dim];
    } else if (!fromLine && copy.to.strides[dim] == lineStride) {
      fromLine = copy.from.strides[dim];
      slice.lines = size;
    } else {
      return false;
    }
  }
  if (!fromLine)
    slice.lines = 1;
  int64_t offset = copy.to.offset - to.offset;
  if ((!fromK && k != 1) || offset < 0 || offset % lineStride != 0)
    return false;
  slice.begin = offset / lineStride;
  bool isTransposed = plan.gathered().isTransposed;
  int64_t inner = isTransposed ? fromLine.value_or(1) : fromK.value_or(1);
  slice.stride = isTransposed ? fromK.value_or(1) : fromLine.value_or(k);
  plan.slices.push_back(std::move(slice));
  return inner == 1;
}

bool GatherMatcher::takeCopied(MatmulPart &whole) {
  if (!takeCopies())
    return false;
  const auto *part = take<MatmulPart>();
  if (!part || !part->batch.empty())
    return false;
  whole = *part;
  const View &to = copies.front()->to;
  plan.isOfA = part->a.buffer == to.buffer;
  if (!plan.isOfA && part->b.buffer != to.buffer)
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

/// Whether the slices are all lines, each once, and copies bring them to whole
/// vectors.
bool GatherMatcher::isComplete() {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const GatheredSlice &slice : plan.slices)
    ranges.push_back({slice.begin, slice.end()});
  llvm::sort(ranges);
  int64_t reached = 0;
  for (auto [begin, end] : ranges) {
    if (begin != reached || end <= begin)
      return false;
    reached = end;
  }
  if (reached != plan.gathered().lines || plan.slices.size() > CCN_MAX_RANKS)
    return false;
  // The own slice is multiplied first, the next rank's then.
  auto isOfThis = [&](const GatheredSlice &slice) {
    return slice.rank == places.rank;
  };
  auto own = llvm::find_if(plan.slices, isOfThis);
  plan.hasOwn = own != plan.slices.end();
  if (!plan.hasOwn)
    return true;
  if (std::any_of(own + 1, plan.slices.end(), isOfThis))
    return false;
  std::rotate(plan.slices.begin(), own, own + 1);
  const GatheredSlice &first = plan.slices.front();
  int64_t size = runtime::sizeInBytes(plan.product.type),
          outer =
              plan.gathered().isTransposed ? plan.product.part.k : first.lines;
  return first.from.offset * size % 16 == 0 &&
         (outer == 1 || (first.stride > 0 && first.stride * size % 16 == 0));
}

/// Whether boxes begin at a vector of their contiguous dimension.
bool GatherMatcher::areBoxesAligned() {
  return !plan.gathered().isTransposed ||
         llvm::all_of(plan.slices, [&](const GatheredSlice &slice) {
           return slice.rank == places.rank ||
                  slice.begin * runtime::sizeInBytes(plan.product.type) % 16 ==
                      0;
         });
}

/// Whether what becomes of the product is apart from the slices, which arrive
/// and are read by other ranks meanwhile.
bool GatherMatcher::areLoopsApart() const {
  auto isApart = [&](const View &view, bool isWritten) {
    return (!plan.isKept || !places.overlap(view, plan.to)) &&
           (!isWritten ||
            llvm::none_of(plan.slices, [&](const GatheredSlice &slice) {
              return places.overlap(view, slice.from);
            }));
  };
  auto isFree = [&](const runtime::LoopOperand &operand, bool isWritten) {
    return operand.access == runtime::Access::Index ||
           isApart(operand.view, isWritten);
  };
  for (const EpilogueLoop &loop : plan.product.loops) {
    // What is given is not loaded.
    for (const runtime::LoopOperand &input : loop.info->inputs)
      if (!isFree(input, false))
        return false;
    for (const runtime::LoopOperand &output : loop.info->outputs)
      if (!isFree(output, true))
        return false;
  }
  return true;
}

bool GatherMatcher::match() {
  if (launch.facts.arch.name != "sm_90a" || !takeEnd() || rest.empty())
    return false;
  MatmulPart whole;
  if (std::holds_alternative<BarrierPart>(rest.front()) ? !takeCopied(whole)
                                                        : !takeShown(whole))
    return false;
  if (!matchOperands(launch, plan.product, whole))
    return false;
  WholeOperand &gathered = plan.gathered();
  plan.to = gathered.view;
  if (plan.isKept) {
    plan.stride =
        gathered.isTransposed ? gathered.kStride : gathered.lineStride;
    // A single line may have any stride.
    if (gathered.lineStride <= 0 || gathered.kStride <= 0)
      return false;
    for (const CopyPart *copy : copies)
      if (!addCopy(*copy, gathered.view, gathered.lineStride, gathered.kStride,
                   whole.k))
        return false;
    const View &other = plan.isOfA ? whole.b : whole.a;
    if (places.overlap(other, plan.to) || places.overlap(whole.c, plan.to))
      return false;
  } else if (gathered.isTransposed) {
    return false;
  }
  if (!isComplete() || !areBoxesAligned() ||
      !matchResult(launch, plan.product, rest))
    return false;
  // Results are passed on as vectors, none of which has columns of two slices.
  if (!plan.isOfA)
    for (const GatheredSlice &slice : plan.slices)
      plan.product.takesVectors &= slice.begin % 8 == 0;
  return areLoopsApart();
}

int64_t tilesOf(const WarpTile &tile, const GatheredProductPlan &plan,
                const GatheredSlice &slice) {
  const MatmulPart &part = plan.product.part;
  return llvm::divideCeilSigned(plan.isOfA ? slice.lines : part.m, tile.m) *
         llvm::divideCeilSigned(plan.isOfA ? part.n : slice.lines, tile.n);
}

/// Chooses chunks that are small enough for all multiprocessors to move some,
/// and large enough to be worth a flag; returns how many there are. Slices are
/// moved in the order in which they are multiplied, the own one last.
int64_t chooseChunks(GatheredProductPlan &plan, int64_t multiprocessors) {
  constexpr int64_t leastBytes = 4096, mostBytes = 32768, linesOfVectors = 64;
  const WholeOperand &gathered = plan.gathered();
  int64_t line = plan.product.part.k * runtime::sizeInBytes(plan.product.type),
          lines = gathered.lines;
  int64_t bytes =
      std::clamp(lines * line / multiprocessors, leastBytes, mostBytes);
  plan.chunkLines = std::max(
      {int64_t(1), bytes / line,
       llvm::divideCeilSigned(
           lines, mostChunks - static_cast<int64_t>(plan.slices.size()))});
  if (gathered.isTransposed)
    plan.chunkLines = static_cast<int64_t>(
        llvm::alignTo(static_cast<uint64_t>(plan.chunkLines), linesOfVectors));
  int64_t chunks = 0, own = plan.hasOwn;
  size_t count = plan.slices.size(),
         moved = count - static_cast<size_t>(plan.isKept ? 0 : own);
  for (size_t i = 0; i < moved; ++i) {
    GatheredSlice &slice = plan.slices[(i + static_cast<size_t>(own)) % count];
    slice.firstChunk = chunks;
    chunks += plan.chunksOf(slice);
  }
  return chunks;
}

} // namespace

std::unique_ptr<GatheredProductPlan>
codegen::matchGatheredProduct(const LaunchMapper &launch,
                              const KernelSkeleton &skeleton) {
  auto plan = std::make_unique<GatheredProductPlan>(skeleton);
  return GatherMatcher(launch, *plan).match() ? std::move(plan) : nullptr;
}

void codegen::mapGatheredProduct(LaunchMapper &launch,
                                 GatheredProductPlan &plan) {
  WholeProductPlan &product = plan.product;
  int64_t multiprocessors = launch.facts.machine.multiprocessors;
  auto allTiles = [&](const WarpTile &tile) {
    int64_t tiles = 0;
    for (const GatheredSlice &slice : plan.slices)
      tiles += tilesOf(tile, plan, slice);
    return tiles;
  };
  product.tile = chooseTile(product.part.k, multiprocessors, allTiles);
  int64_t tiles = 0;
  for (GatheredSlice &slice : plan.slices) {
    slice.firstTile = tiles;
    tiles += tilesOf(product.tile, plan, slice);
  }
  int64_t chunks = chooseChunks(plan, multiprocessors);
  plan.chunkFlags = launch.takeFlags(
      llvm::divideCeilSigned(std::max<int64_t>(chunks, 1), CCN_MAX_BLOCKS));
  KernelPlan &kernel = launch.kernel;
  kernel.properties.threads = product.tile.threads();
  // Behind the tiles is the table of slices.
  constexpr int64_t sliceBytes = 40, rankBytes = 4,
                    tableBytes = CCN_MAX_RANKS * (sliceBytes + rankBytes);
  launch.needShared(product.tile.sharedBytes(product.type) + tableBytes);
  launch.needBlocks(std::max(tiles, chunks));
  kernel.properties.waits = kernel.takesRegisters = true;

  std::vector<runtime::GpuTensorMap> &maps = kernel.launch.tensorMaps;
  maps = {mapOf(product.a, product.tile.m, product),
          mapOf(product.b, product.tile.n, product)};
  runtime::GpuTensorMap &gathered = maps[plan.isOfA ? 0 : 1];
  if (!plan.isKept) {
    int64_t bytes = runtime::sizeInBytes(product.type) * plan.stride *
                    plan.gathered().lines;
    gathered.memory = runtime::TensorMemory::Workspace;
    gathered.buffer = 0;
    gathered.offset = launch.takeWorkspace(static_cast<int64_t>(
        llvm::alignTo(static_cast<uint64_t>(bytes), 1024)));
    plan.to = {kernel.places.addWorkspace(product.type, bytes, gathered.offset),
               0,
               {}};
  }
  if (!plan.hasOwn) {
    maps.push_back(gathered);
    return;
  }
  const GatheredSlice &own = plan.slices.front();
  WholeOperand operand = plan.gathered();
  operand.view = own.from;
  operand.lines = own.lines;
  (operand.isTransposed ? operand.kStride : operand.lineStride) = own.stride;
  maps.push_back(
      mapOf(operand, plan.isOfA ? product.tile.m : product.tile.n, product));
}
