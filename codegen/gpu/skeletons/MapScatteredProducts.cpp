//===- MapScatteredProducts.cpp - Which products are scattered, and how ---===//
//
// A plan has a product for each slice, each followed by a signal to the slice's
// owner, the own slice last; waits for the other members' signals; loops that
// combine what all members have of the own slice; and a barrier at the end. Of
// that this skeleton makes one product whose kernel stores other members'
// slices in their memory: where the plan has the whole product, a member has
// room for the slots of all others.
//
// All ranks must take a launch, with the same tile: what decides that is the
// same on all of them, or LaunchMapper's caller makes sure (MapKernels.cpp).
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/RowTeams.h"
#include "codegen/gpu/skeletons/ScatteredProducts.h"
#include "runtime/tensor/Strided.h"

#include "llvm/Support/MathExtras.h"

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using runtime::Access;
using runtime::AwaitPart;
using runtime::BarrierPart;
using runtime::MatmulPart;
using runtime::SignalPart;

namespace {

class ScatterMatcher {
public:
  ScatterMatcher(const LaunchMapper &launch, ScatteredProductPlan &plan)
      : launch(launch), places(launch.kernel.places), plan(plan) {}

  bool match();

private:
  /// The next part, if it is of that kind; then the one after it is next.
  template <typename Kind> const Kind *take() {
    const auto *part =
        rest.empty() ? nullptr : std::get_if<Kind>(&rest.front());
    if (part)
      rest = rest.drop_front();
    return part;
  }
  bool takeEnd();
  bool takeProducts();
  bool takeAwaits();
  bool takeLoops();
  bool addProduct(const MatmulPart &product, size_t member);
  bool checkSlices();
  bool checkMemory() const;
  std::optional<ResultLoop> give(const runtime::Loop &loop);
  size_t members() const { return slices.size(); }

  const LaunchMapper &launch;
  const PartPlaces &places;
  ScatteredProductPlan &plan;
  ArrayRef<runtime::Part> rest;
  /// By position: the first row and the rows of each slice.
  struct Slice {
    int64_t first = 0, rows = 0;
  };
  std::vector<Slice> slices;
  /// The product of the first slice that was met.
  const MatmulPart *product = nullptr;
  bool hasAwaits = false;
};

/// The last part says who the members are.
bool ScatterMatcher::takeEnd() {
  const auto *end =
      rest.empty() ? nullptr : std::get_if<BarrierPart>(&rest.back());
  if (!end)
    return false;
  rest = rest.drop_back();
  plan.end = *end;
  plan.rankGroup = end->group;
  plan.position = places.position(end->group);
  slices.resize(places.members(end->group).size());
  return members() > 1 && static_cast<size_t>(plan.position) < members();
}

/// Whether two views are the same but for where they begin.
static bool isAlike(const runtime::View &one, const runtime::View &other) {
  return one.buffer == other.buffer && one.rank == other.rank &&
         one.strides == other.strides;
}

/// Adds the product of a member's slice of rows.
bool ScatterMatcher::addProduct(const MatmulPart &own, size_t member) {
  const MatmulPart &first = product ? *product : own;
  int64_t row = own.n > 0 ? own.c.offset / own.n : 0;
  bool isSlice = own.batch.empty() && own.m > 0 && own.n > 0 && own.k > 0 &&
                 own.c.strides == std::vector<int64_t>{own.n, 1} &&
                 own.c.offset % own.n == 0 && slices[member].rows == 0;
  if (!isSlice || own.n != first.n || own.k != first.k ||
      !isAlike(own.a, first.a) || !isAlike(own.b, first.b) ||
      !isAlike(own.c, first.c) || own.b.offset != first.b.offset)
    return false;
  int64_t firstRow = first.c.offset / first.n;
  if (own.a.offset - row * own.a.strides[0] !=
      first.a.offset - firstRow * first.a.strides[0])
    return false;
  product = &first;
  slices[member] = {row, own.m};
  return true;
}

/// The products of the other members' slices, each with its signal, and of the
/// own one.
bool ScatterMatcher::takeProducts() {
  const std::vector<int> &ranks = places.members(plan.rankGroup);
  while (const auto *own = take<MatmulPart>()) {
    const auto *signal = take<SignalPart>();
    size_t member = signal
                        ? static_cast<size_t>(llvm::find(ranks, signal->rank) -
                                              ranks.begin())
                        : static_cast<size_t>(plan.position);
    if (member >= members() || !addProduct(*own, member))
      return false;
    if (!signal)
      break;
    int64_t flags = signal->flag - plan.position;
    if (hasAwaits && flags != plan.flags)
      return false;
    plan.flags = flags;
    hasAwaits = true;
  }
  return product && hasAwaits;
}

bool ScatterMatcher::takeAwaits() {
  const std::vector<int> &ranks = places.members(plan.rankGroup);
  size_t count = 0;
  while (const auto *await = take<AwaitPart>()) {
    size_t member =
        static_cast<size_t>(llvm::find(ranks, await->rank) - ranks.begin());
    if (member >= members() ||
        await->flag != plan.flags + static_cast<int64_t>(member))
      return false;
    ++count;
  }
  bool isOwner = slices[static_cast<size_t>(plan.position)].rows > 0;
  return count == (isOwner ? members() - 1 : 0);
}

/// Whether all slices are as large as the first, but for the last ones.
bool ScatterMatcher::checkSlices() {
  plan.sliceRows = slices.front().rows;
  for (const Slice &slice : slices)
    plan.rows += slice.rows;
  for (auto [i, slice] : llvm::enumerate(slices)) {
    int64_t first =
        std::min(static_cast<int64_t>(i) * plan.sliceRows, plan.rows);
    int64_t end = std::min(first + plan.sliceRows, plan.rows);
    if (slice.rows != end - first || (slice.rows > 0 && slice.first != first))
      return false;
  }
  return true;
}

/// Whether the slots have room where the plan has the product, which nobody
/// else needs.
bool ScatterMatcher::checkMemory() const {
  const runtime::View &c = product->c;
  const runtime::Buffer &buffer = places.buffer(c);
  return buffer.memory == runtime::Memory::Symmetric &&
         launch.facts.uses[static_cast<size_t>(c.buffer)] == 1 &&
         (static_cast<int64_t>(members()) - 1) * plan.sliceRows * plan.part.n <=
             buffer.count;
}

/// A loop as it is if it is given what it combines; none if it does not combine
/// what members have of the own slice, or nothing else of them.
std::optional<ResultLoop> ScatterMatcher::give(const runtime::Loop &loop) {
  size_t given = loop.inputs.size();
  for (auto [i, input] : llvm::enumerate(loop.inputs)) {
    if (input.access == Access::Index ||
        !places.overlap(input.view, plan.part.c))
      continue;
    if (input.access != Access::LoadReduced || given < loop.inputs.size() ||
        input.slots != 0 || input.view.buffer != plan.part.c.buffer ||
        input.view.offset != plan.part.c.offset || input.type != plan.type ||
        !runtime::isRowMajor(loop.sizes, input.view.strides) ||
        places.members(input.group) != places.members(plan.rankGroup) ||
        (!plan.givenLoops.empty() && input.reduction != plan.reduction))
      return std::nullopt;
    plan.reduction = input.reduction;
    given = i;
  }
  for (const runtime::LoopOperand &output : loop.outputs)
    if (places.overlap(output.view, plan.part.c))
      return std::nullopt;
  if (given == loop.inputs.size())
    return std::nullopt;
  runtime::Loop &made = plan.givenLoops.emplace_back(loop);
  made.inputs[given].access = Access::Load;
  made.inputs[given].group = -1;
  return ResultLoop{&made, given};
}

bool ScatterMatcher::takeLoops() {
  std::vector<ResultLoop> loops;
  while (const auto *rows = take<runtime::RowsPart>()) {
    if (!isElementwise(*rows) || rows->loops.size() != 1)
      return false;
    std::optional<ResultLoop> loop = give(rows->loops.front());
    if (!loop)
      return false;
    loops.push_back(*loop);
  }
  return loops.empty() == (plan.part.m == 0) &&
         addResultLoops(launch, plan, loops, /*mayStoreAll=*/true);
}

bool ScatterMatcher::match() {
  rest = launch.parts;
  if (launch.facts.arch.name != "sm_90a" || !takeEnd() || !takeProducts() ||
      !takeAwaits() || !checkSlices())
    return false;
  // The operands of all slices.
  MatmulPart whole = *product;
  int64_t row = whole.c.offset / whole.n;
  whole.m = plan.rows;
  whole.a.offset -= row * whole.a.strides[0];
  whole.c.offset = 0;
  if (!matchOperands(launch, plan, whole) || !checkMemory())
    return false;
  // A box begins at a vector of its contiguous dimension.
  if (plan.a.isTransposed &&
      plan.sliceRows * runtime::sizeInBytes(plan.type) % 16 != 0)
    return false;
  const Slice &own = slices[static_cast<size_t>(plan.position)];
  plan.part.m = own.rows;
  plan.part.c.offset = own.first * whole.n;
  return takeLoops() && rest.empty();
}

/// The largest number of positions k that a rank has.
int64_t largestDepth(const LaunchMapper &launch) {
  const PartPlaces &places = launch.kernel.places;
  int64_t largest = 0;
  for (const runtime::RankPlan &rank : places.plan.ranks)
    for (const runtime::Part &part : rank.launches[launch.launch].parts)
      if (const auto *product = std::get_if<MatmulPart>(&part))
        largest = std::max(largest, product->k);
  return largest;
}

} // namespace

std::unique_ptr<ScatteredProductPlan>
codegen::matchScatteredProduct(const LaunchMapper &launch,
                               const KernelSkeleton &skeleton) {
  auto plan = std::make_unique<ScatteredProductPlan>(skeleton);
  return ScatterMatcher(launch, *plan).match() ? std::move(plan) : nullptr;
}

void codegen::mapScatteredProduct(LaunchMapper &launch,
                                  ScatteredProductPlan &plan) {
  auto tilesOf = [&](const WarpTile &tile) {
    int64_t tiles = 0;
    for (int64_t first = 0; first < plan.rows; first += plan.sliceRows)
      tiles += llvm::divideCeilSigned(
          std::min(plan.sliceRows, plan.rows - first), tile.m);
    return tiles * llvm::divideCeilSigned(plan.part.n, tile.n);
  };
  plan.tile = chooseTile(largestDepth(launch),
                         launch.facts.machine.multiprocessors, tilesOf);
  KernelPlan &kernel = launch.kernel;
  kernel.properties.threads = plan.tile.threads();
  // Two more barriers for each consumer.
  constexpr int64_t tellingBytes = 32;
  launch.needShared(plan.tile.sharedBytes(plan.type) + tellingBytes);
  kernel.properties.blockBytes = (plan.tile.takeTurns ? 2 : 1) * plan.tile.m *
                                 plan.tile.n * runtime::sizeInBytes(plan.type);
  launch.needBlocks(tilesOf(plan.tile));
  launch.meetRanks();
  kernel.properties.isOfAllRanks = true;
  kernel.takesRegisters = true;
  kernel.launch.tensorMaps = {mapOf(plan.a, plan.tile.m, plan),
                              mapOf(plan.b, plan.tile.n, plan)};
}
