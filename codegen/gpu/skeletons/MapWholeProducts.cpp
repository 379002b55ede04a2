//===- MapWholeProducts.cpp - Which products, and by which tiles ----------===//
//
// Operands are copied by tensor maps: their rows or columns must be contiguous,
// and begin at multiples of 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/RowTeams.h"
#include "codegen/gpu/skeletons/WholeProducts.h"
#include "runtime/tensor/Strided.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using runtime::Access;
using runtime::ElementType;

/// Of a line of a tile in shared memory.
static constexpr int64_t lineBytes = 128;
/// The elements of a row that are passed to loops at once.
static constexpr int resultsAtOnce = 8;

int64_t WarpTile::sharedBytes(ElementType type) const {
  int64_t panels = n < 128 ? 1 : 2;
  int64_t results =
      consumers * 4 * panels * 16 * 64 * runtime::sizeInBytes(type);
  int64_t barriers = 2 * stages * 8;
  return stages * (m + n) * lineBytes + results + barriers;
}

namespace {

bool isAligned(int64_t elements, ElementType type) {
  return elements * runtime::sizeInBytes(type) % 16 == 0;
}

bool isTensorCoreType(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 ||
         type == ElementType::F8E4M3 || type == ElementType::F8E5M2;
}

/// Finds out whether the skeleton takes a launch.
class Matcher {
public:
  Matcher(const LaunchMapper &launch, WholeProductPlan &plan)
      : launch(launch), places(launch.kernel.places), plan(plan),
        operands{plan.part.a, plan.part.b} {}

  bool match();
  bool matchOperands(const runtime::MatmulPart &product);
  bool addLoops(ArrayRef<ResultLoop> loops, bool mayStoreAll);
  bool matchResult(ArrayRef<runtime::Part> loops);
  /// Says what is read besides the product's operands, or instead of them.
  void setOperands(ArrayRef<runtime::View> views) {
    operands.assign(views.begin(), views.end());
  }

private:
  bool isOwn(const runtime::View &view) const {
    return (view.rank < 0 || view.rank == places.rank) &&
           !places.isScattered(view);
  }
  bool matchOperand(WholeOperand &operand);
  bool isResultNeeded(ArrayRef<runtime::Part> loops) const;
  bool takesLoop(const runtime::Loop &loop, bool mayStoreAll = false) const;
  bool addLoop(const runtime::Loop &loop, size_t given);
  const runtime::Loop *loopOf(const runtime::Part &part);
  const runtime::Loop &inOrder(const runtime::Loop &loop);
  std::optional<ResultLoop> match(const runtime::Loop &loop);
  bool matchIndices(EpilogueLoop &loop) const;
  bool addCopy();

  const LaunchMapper &launch;
  const PartPlaces &places;
  WholeProductPlan &plan;
  /// What loops may not overwrite.
  std::vector<runtime::View> operands;
};

/// The elements from a matrix to the next, if one number says so for all; 0 if
/// all are the same.
std::optional<int64_t> batchStride(ArrayRef<int64_t> sizes,
                                   ArrayRef<int64_t> strides) {
  std::optional<int64_t> step;
  int64_t next = 0;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1)
      continue;
    if (step && strides[i] != next)
      return std::nullopt;
    if (!step)
      step = strides[i];
    next = strides[i] * sizes[i];
  }
  return step.value_or(0);
}

/// Finds out how an operand's lines lie, of which the strides are known.
bool Matcher::matchOperand(WholeOperand &operand) {
  const runtime::View &view = operand.view;
  std::optional<int64_t> step =
      batchStride(plan.part.batch, ArrayRef(view.strides).drop_back(2));
  if (!isOwn(view) || places.type(view) != plan.type || !step || *step < 0 ||
      !isAligned(view.offset, plan.type) || !isAligned(*step, plan.type))
    return false;
  operand.batchStride = *step;
  operand.batches = *step == 0 ? 1 : plan.batches;
  auto fits = [&](int64_t inner, int64_t outer, int64_t outerCount) {
    return inner == 1 &&
           (outerCount == 1 || (outer > 0 && isAligned(outer, plan.type)));
  };
  operand.isTransposed =
      !fits(operand.kStride, operand.lineStride, operand.lines);
  return !operand.isTransposed ||
         (runtime::sizeInBytes(plan.type) == 2 &&
          fits(operand.lineStride, operand.kStride, plan.part.k));
}

/// Whether others than the loops of this launch read the product.
bool Matcher::isResultNeeded(ArrayRef<runtime::Part> loops) const {
  const runtime::View &c = plan.part.c;
  return loops.empty() || places.buffer(c).memory != runtime::Memory::Private ||
         launch.facts.uses[static_cast<size_t>(c.buffer)] > 1;
}

/// Whether a loop's elements are independent of each other, lie in the own
/// memory, and side by side.
bool Matcher::takesLoop(const runtime::Loop &loop, bool mayStoreAll) const {
  auto takes = [&](const runtime::LoopOperand &operand) {
    if (operand.access == Access::Index)
      return true;
    bool isPlain =
        (operand.access == Access::Load || operand.access == Access::Store ||
         (mayStoreAll && operand.access == Access::StoreAll)) &&
        isOwn(operand.view);
    return isPlain && (loop.sizes.empty() || loop.sizes.back() == 1 ||
                       operand.view.strides.back() == 0 ||
                       operand.view.strides.back() == 1);
  };
  auto isApart = [&](const runtime::LoopOperand &output) {
    return llvm::none_of(operands, [&](const runtime::View &operand) {
      return places.overlap(output.view, operand);
    });
  };
  return loop.reducedDims == 0 && llvm::all_of(loop.inputs, takes) &&
         llvm::all_of(loop.outputs, takes) &&
         llvm::all_of(loop.outputs, isApart);
}

/// Finds out which of the result's dimensions each of a loop's goes through.
bool Matcher::matchIndices(EpilogueLoop &loop) const {
  // Of the product's number, what is left for further indices.
  std::array<int64_t, 3> sizes = plan.sizes();
  int next = 0;
  for (const LoopDim &dim : loop.loop.kept) {
    while (next < 3 && sizes[static_cast<size_t>(next)] == 1)
      ++next;
    EpilogueIndex index = {next, next + 1};
    if (next == 0 && dim.size < sizes[0] && sizes[0] % dim.size == 0) {
      sizes[0] /= dim.size;
      index.divisor = sizes[0];
      index.size = dim.size;
      loop.indices.push_back(index);
      continue;
    }
    if (next == 0 && sizes[0] != plan.batches)
      index.size = sizes[0];
    int64_t size = 1;
    while (next < 3 && size < dim.size)
      size *= sizes[static_cast<size_t>(next++)];
    if (size != dim.size)
      return false;
    index.second = next;
    loop.indices.push_back(index);
  }
  return true;
}

/// Adds a loop, to which each element of the product is given as input number
/// `given`.
bool Matcher::addLoop(const runtime::Loop &loop, size_t given) {
  EpilogueLoop own{LoopPlan(places, loop, launch.facts.bodies.of(loop),
                            /*byRows=*/false, plan.scratch),
                   &loop,
                   {},
                   {}};
  own.loop.settle();
  own.given = own.loop.giveInput(given);
  if (own.given.empty() || !matchIndices(own))
    return false;
  plan.takesVectors &= own.loop.width == resultsAtOnce;
  plan.loops.push_back(std::move(own));
  return true;
}

/// The only loop of a part, also if it only copies; null if it has others.
const runtime::Loop *Matcher::loopOf(const runtime::Part &part) {
  if (const auto *rows = std::get_if<runtime::RowsPart>(&part))
    return isElementwise(*rows) && rows->loops.size() == 1
               ? &rows->loops.front()
               : nullptr;
  const auto *copy = std::get_if<runtime::CopyPart>(&part);
  if (!copy)
    return nullptr;
  auto loop = std::make_unique<runtime::Loop>();
  loop->sizes = copy->sizes;
  loop->inputs = {{Access::Load, copy->from, places.type(copy->from)}};
  loop->outputs = {{Access::Store, copy->to, places.type(copy->to)}};
  plan.ordered.push_back(std::move(loop));
  return plan.ordered.back().get();
}

/// A loop with its dimensions in the order in which it reads the product.
const runtime::Loop &Matcher::inOrder(const runtime::Loop &loop) {
  auto product =
      llvm::find_if(loop.inputs, [&](const runtime::LoopOperand &input) {
        return input.access != Access::Index &&
               places.overlap(input.view, plan.part.c);
      });
  if (product == loop.inputs.end() || loop.reducedDims > 0)
    return loop;
  ArrayRef<int64_t> strides = product->view.strides;
  if (runtime::isRowMajor(loop.sizes, strides))
    return loop;
  std::vector<size_t> order(loop.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t one, size_t other) {
    return std::pair(-strides[one], one) < std::pair(-strides[other], other);
  });
  if (llvm::is_sorted(order))
    return loop;
  auto own = std::make_unique<runtime::Loop>(loop);
  auto permute = [&](std::vector<int64_t> &list) {
    std::vector<int64_t> before = list;
    for (auto [to, from] : llvm::enumerate(order))
      list[to] = before[from];
  };
  permute(own->sizes);
  for (auto *list : {&own->inputs, &own->outputs})
    for (runtime::LoopOperand &operand : *list)
      permute(operand.view.strides);
  plan.ordered.push_back(std::move(own));
  return *plan.ordered.back();
}

/// Finds out whether a loop of the launch uses the result as it is.
std::optional<ResultLoop> Matcher::match(const runtime::Loop &given) {
  const runtime::Loop &loop = inOrder(given);
  const runtime::View &c = plan.part.c;
  auto isResult = [&](const runtime::LoopOperand &operand) {
    return operand.access != Access::Index && places.overlap(operand.view, c);
  };
  // Elements may be overwritten only by those that follow from them.
  auto isWhole = [&](const runtime::LoopOperand &operand) {
    return operand.view.buffer == c.buffer && operand.view.offset == c.offset &&
           runtime::isRowMajor(loop.sizes, operand.view.strides);
  };
  size_t own = loop.inputs.size();
  for (auto [i, input] : llvm::enumerate(loop.inputs)) {
    if (!isResult(input))
      continue;
    if (own < loop.inputs.size() || !isWhole(input))
      return std::nullopt;
    own = i;
  }
  auto mayWrite = [&](const runtime::LoopOperand &output) {
    return !isResult(output) || isWhole(output);
  };
  if (own == loop.inputs.size() || !llvm::all_of(loop.outputs, mayWrite))
    return std::nullopt;
  return ResultLoop{&loop, own};
}

/// Adds the loop that stores the product.
bool Matcher::addCopy() {
  plan.copy = std::make_unique<runtime::Loop>();
  runtime::Loop &loop = *plan.copy;
  loop.sizes = plan.part.batch;
  loop.sizes.insert(loop.sizes.end(), {plan.part.m, plan.part.n});
  runtime::View from = plan.part.c;
  from.offset = 0;
  int64_t step = 1;
  for (size_t dim = loop.sizes.size(); dim-- > 0; step *= loop.sizes[dim])
    from.strides[dim] = step;
  loop.inputs = {{Access::Load, from, plan.type}};
  loop.outputs = {{Access::Store, plan.part.c, plan.type}};
  return takesLoop(loop) && addLoop(loop, 0);
}

/// Finds out whether the skeleton takes the product.
bool Matcher::matchOperands(const runtime::MatmulPart &product) {
  plan.part = product;
  setOperands({product.a, product.b});
  plan.type = places.type(product.c);
  plan.batches = runtime::product(product.batch);
  // Coordinates, and numbers of tiles, have 32 bits.
  constexpr int64_t most = int64_t(1) << 30;
  auto isSize = [](int64_t size) { return size > 0 && size < most; };
  if (!isTensorCoreType(plan.type) || !isOwn(product.c) || !isSize(product.m) ||
      !isSize(product.n) || !isSize(product.k) || !isSize(plan.batches) ||
      llvm::divideCeilSigned(product.m, 64) *
              llvm::divideCeilSigned(product.n, 64) >=
          most / plan.batches)
    return false;
  size_t dims = product.batch.size();
  plan.a = {product.a, product.m, product.a.strides[dims],
            product.a.strides[dims + 1]};
  plan.b = {product.b, product.n, product.b.strides[dims + 1],
            product.b.strides[dims]};
  plan.takesVectors = product.n % resultsAtOnce == 0;
  return matchOperand(plan.a) && matchOperand(plan.b);
}

/// Adds loops that do not wait for each other.
bool Matcher::addLoops(ArrayRef<ResultLoop> loops, bool mayStoreAll) {
  std::vector<runtime::View> read, written;
  auto meets = [&](const runtime::LoopOperand &operand,
                   ArrayRef<runtime::View> views) {
    return operand.access != Access::Index &&
           llvm::any_of(views, [&](const runtime::View &view) {
             return places.overlap(operand.view, view);
           });
  };
  for (auto [loop, given] : loops) {
    for (const runtime::LoopOperand &input : loop->inputs)
      if (meets(input, written))
        return false;
    for (const runtime::LoopOperand &output : loop->outputs)
      if (meets(output, written) || meets(output, read))
        return false;
    if (!takesLoop(*loop, mayStoreAll) ||
        runtime::product(loop->sizes) !=
            plan.batches * plan.part.m * plan.part.n ||
        !addLoop(*loop, given))
      return false;
    for (const runtime::LoopOperand &input : loop->inputs)
      if (input.access != Access::Index)
        read.push_back(input.view);
    for (const runtime::LoopOperand &output : loop->outputs)
      written.push_back(output.view);
  }
  return true;
}

/// Finds out what becomes of the product, if all that is done with it are
/// these loops.
bool Matcher::matchResult(ArrayRef<runtime::Part> parts) {
  const runtime::MatmulPart &product = plan.part;
  if (isResultNeeded(parts) && !addCopy())
    return false;
  llvm::SmallVector<int64_t> sizes(product.batch.begin(), product.batch.end());
  sizes.append({product.m, product.n});
  // Loops see the product in the order of its elements.
  if (!parts.empty() && !runtime::isRowMajor(sizes, product.c.strides))
    return false;
  std::vector<ResultLoop> loops;
  for (const runtime::Part &part : parts) {
    const runtime::Loop *found = loopOf(part);
    std::optional<ResultLoop> loop;
    if (found)
      loop = match(*found);
    if (!loop)
      return false;
    loops.push_back(*loop);
  }
  return addLoops(loops, /*mayStoreAll=*/false) && !plan.loops.empty();
}

bool Matcher::match() {
  const auto *product =
      launch.parts.empty()
          ? nullptr
          : std::get_if<runtime::MatmulPart>(&launch.parts.front());
  return product && launch.facts.arch.name == "sm_90a" &&
         launch.facts.cut.segments().count <= 1 && matchOperands(*product) &&
         matchResult(ArrayRef(launch.parts).drop_front());
}

} // namespace

bool codegen::matchOperands(const LaunchMapper &launch, WholeProductPlan &plan,
                            const runtime::MatmulPart &product) {
  return Matcher(launch, plan).matchOperands(product);
}

bool codegen::matchResult(const LaunchMapper &launch, WholeProductPlan &plan,
                          ArrayRef<runtime::Part> loops) {
  return Matcher(launch, plan).matchResult(loops);
}

bool codegen::matchResultOf(const LaunchMapper &launch, WholeProductPlan &plan,
                            ArrayRef<runtime::View> operands,
                            ArrayRef<runtime::Part> loops) {
  Matcher matcher(launch, plan);
  matcher.setOperands(operands);
  plan.takesVectors = plan.part.n % resultsAtOnce == 0;
  return matcher.matchResult(loops);
}

bool codegen::addResultLoops(const LaunchMapper &launch, WholeProductPlan &plan,
                             ArrayRef<ResultLoop> loops, bool mayStoreAll) {
  return Matcher(launch, plan).addLoops(loops, mayStoreAll);
}

/// A box of lines of 128 bytes.
runtime::GpuTensorMap codegen::mapOf(const WholeOperand &operand, int64_t lines,
                                     const WholeProductPlan &plan) {
  runtime::GpuTensorMap map;
  int64_t size = runtime::sizeInBytes(plan.type), depth = lineBytes / size,
          k = plan.part.k;
  map.buffer = operand.view.buffer;
  map.offset = operand.view.offset * size;
  map.type = plan.type;
  auto matrix = [&](int64_t outer, int64_t inner, int64_t stride) {
    // A single line may have any stride.
    if (outer == 1)
      stride =
          static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(inner), 16));
    map.sizes = {operand.batches, outer, inner};
    map.strides = {operand.batches == 1 ? stride * outer : operand.batchStride,
                   stride, 1};
  };
  if (operand.isTransposed) {
    matrix(k, operand.lines, operand.kStride);
    map.box = {1, depth, depth};
  } else {
    matrix(operand.lines, k, operand.lineStride);
    map.box = {1, lines, depth};
  }
  map.swizzle = static_cast<int>(lineBytes);
  return map;
}

std::unique_ptr<WholeProductPlan>
codegen::matchWholeProduct(const LaunchMapper &launch,
                           const KernelSkeleton &skeleton) {
  auto plan = std::make_unique<WholeProductPlan>(skeleton);
  return Matcher(launch, *plan).match() ? std::move(plan) : nullptr;
}

/// Of large tiles, those that leave the fewest multiprocessors idle in the last
/// turn. Of equal ones: consumers that take turns multiply while they store;
/// where sums are long, that is little of the time, and wider tiles load less.
/// Smaller ones load more of shared memory for each product, so that they take
/// 1.5 and 2 times as long; they serve where there is not a large tile for each
/// multiprocessor.
WarpTile
codegen::chooseTile(int64_t k, int64_t multiprocessors,
                    llvm::function_ref<int64_t(const WarpTile &)> tilesOf) {
  static constexpr WarpTile inTurns = {128, 128, 6, 2, true},
                            wide = {128, 256, 4, 2, false},
                            high = {256, 128, 4, 2, false},
                            half = {64, 128, 8, 1, false},
                            quarter = {64, 64, 12, 1, false};
  constexpr int64_t longSums = 4096;
  bool areLong = k >= longSums;
  WarpTile best = inTurns;
  int64_t time = INT64_MAX;
  // In the time that a multiprocessor takes for an element of a tile.
  auto consider = [&](const WarpTile &tile, int64_t halves) {
    int64_t own = halves *
                  llvm::divideCeilSigned(tilesOf(tile), multiprocessors) *
                  tile.m * tile.n;
    if (own >= time)
      return;
    best = tile;
    time = own;
  };
  if (!areLong)
    consider(inTurns, 2);
  consider(wide, 2);
  consider(high, 2);
  if (areLong)
    consider(inTurns, 2);
  if (tilesOf(inTurns) <= multiprocessors) {
    consider(half, 3);
    consider(quarter, 4);
  }
  return best;
}

void codegen::mapWholeProduct(LaunchMapper &launch, WholeProductPlan &plan) {
  auto tilesOf = [&](const WarpTile &tile) {
    return llvm::divideCeilSigned(plan.part.m, tile.m) *
           llvm::divideCeilSigned(plan.part.n, tile.n) * plan.batches;
  };
  plan.tile =
      chooseTile(plan.part.k, launch.facts.machine.multiprocessors, tilesOf);
  KernelPlan &kernel = launch.kernel;
  kernel.properties.threads = plan.tile.threads();
  launch.needShared(plan.tile.sharedBytes(plan.type));
  // As many blocks as the device has multiprocessors take tiles in turns.
  launch.needBlocks(tilesOf(plan.tile));
  kernel.takesRegisters = true;
  kernel.launch.tensorMaps = {mapOf(plan.a, plan.tile.m, plan),
                              mapOf(plan.b, plan.tile.n, plan)};
}
