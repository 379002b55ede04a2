//===- MapAttention.cpp - Which attention, and by which tiles -------------===//
//
// Rows of q, k and v must be contiguous, and begin at multiples of 16 bytes, as
// they are copied by tensor maps.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/Attention.h"
#include "runtime/tensor/Strided.h"

#include "llvm/Support/MathExtras.h"

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using runtime::ElementType;

/// The columns of a panel of a tile, and the bytes of a row of it.
static constexpr int64_t panelColumns = 64, elementBytes = 2;

int64_t AttentionTile::sharedBytes() const {
  constexpr int64_t warps = 8;
  int64_t panels = columns < 128 ? 1 : 2;
  int64_t results = warps * panels * 16 * panelColumns * elementBytes;
  int64_t barriers = (2 + 4 * stages) * 8;
  return (rows * head + stages * keys * (head + columns)) * elementBytes +
         results + barriers;
}

namespace {

class Matcher {
public:
  Matcher(const LaunchMapper &launch, AttentionPlan &plan)
      : launch(launch), places(launch.kernel.places), plan(plan) {}

  bool match();

private:
  bool isOwn(const runtime::View &view) const {
    return (view.rank < 0 || view.rank == places.rank) &&
           !places.isScattered(view);
  }
  bool isOnlyHere(const runtime::View &view) const {
    return places.buffer(view).memory == runtime::Memory::Private &&
           launch.facts.uses[static_cast<size_t>(view.buffer)] == 1;
  }
  bool matchSizes(const runtime::MatmulPart &first,
                  const runtime::MatmulPart &second);
  std::optional<AttentionOperand> operandOf(const runtime::View &view,
                                            int64_t lines, int64_t width,
                                            bool isTransposed) const;
  bool mergeBatches();

  const LaunchMapper &launch;
  const PartPlaces &places;
  AttentionPlan &plan;
};

bool isAligned(int64_t elements) { return elements * elementBytes % 16 == 0; }

/// The first product, q kᵀ, and the second one, of its weights and v.
bool Matcher::matchSizes(const runtime::MatmulPart &first,
                         const runtime::MatmulPart &second) {
  ElementType type = places.type(first.c);
  constexpr int64_t mostColumns = 256, most = int64_t(1) << 30;
  auto isSize = [](int64_t size) { return size > 0 && size < most; };
  plan.result.part = second;
  plan.result.type = type;
  plan.result.batches = runtime::product(second.batch);
  return (type == ElementType::F16 || type == ElementType::BF16) &&
         places.type(second.c) == type && first.batch == second.batch &&
         first.m == second.m && first.n == second.k && isSize(first.m) &&
         isSize(first.n) && isSize(first.k) && isSize(second.n) &&
         isSize(plan.result.batches) && first.k <= mostColumns &&
         second.n <= mostColumns &&
         llvm::divideCeilSigned(first.m, AttentionTile::rows) <
             most / plan.result.batches &&
         isOnlyHere(first.c) && isOnlyHere(second.a) && isOwn(second.c);
}

/// An operand with `lines` rows, or, transposed, columns.
std::optional<AttentionOperand> Matcher::operandOf(const runtime::View &view,
                                                   int64_t lines, int64_t width,
                                                   bool isTransposed) const {
  ArrayRef<int64_t> strides = view.strides, matrix = strides.take_back(2);
  AttentionOperand operand{
      view, lines, width, matrix[isTransposed ? 1 : 0], {}};
  int64_t step = matrix[isTransposed ? 0 : 1];
  ArrayRef<int64_t> batch = plan.result.part.batch;
  std::optional<ScorePlace> place =
      AttentionDims{llvm::SmallVector<int64_t>(plan.dims.batches())}.placeOf(
          batch, strides.drop_back(2), 0);
  if (!place || !isOwn(view) || places.type(view) != plan.result.type ||
      !isAligned(view.offset) || (width > 1 && step != 1))
    return std::nullopt;
  // A single row may have any stride.
  if (lines == 1)
    operand.lineStride =
        static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(width), 8));
  operand.strides = place->strides;
  auto isStride = [](int64_t stride) {
    return stride >= 0 && isAligned(stride);
  };
  if (operand.lineStride <= 0 || !isStride(operand.lineStride) ||
      !llvm::all_of(operand.strides, isStride))
    return std::nullopt;
  return operand;
}

/// Merges dimensions of batches that lie in each other in all operands; false
/// if more are left than maps have.
bool Matcher::mergeBatches() {
  plan.batchDims.assign(plan.dims.batches().begin(), plan.dims.batches().end());
  std::array<AttentionOperand *, 3> operands = {&plan.q, &plan.k, &plan.v};
  auto drop = [&](size_t dim) {
    plan.batchDims.erase(plan.batchDims.begin() + dim);
    for (AttentionOperand *operand : operands)
      operand->strides.erase(operand->strides.begin() + dim);
  };
  for (size_t dim = plan.batchDims.size(); dim-- > 0;)
    if (plan.batchDims[dim] == 1)
      drop(dim);
  for (size_t dim = plan.batchDims.size(); dim-- > 1;) {
    auto lies = [&](const AttentionOperand *operand) {
      return operand->strides[dim - 1] ==
             operand->strides[dim] * plan.batchDims[dim];
    };
    if (!llvm::all_of(operands, lies))
      continue;
    plan.batchDims[dim] *= plan.batchDims[dim - 1];
    drop(dim - 1);
  }
  if (plan.batchDims.empty()) {
    plan.batchDims.push_back(1);
    for (AttentionOperand *operand : operands)
      operand->strides.push_back(0);
  }
  constexpr size_t most = 3;
  return plan.batchDims.size() <= most;
}

bool Matcher::match() {
  const std::vector<runtime::Part> &parts = launch.parts;
  if (launch.facts.arch.name != "sm_90a" || parts.size() < 3 ||
      launch.facts.cut.segments().count > 1)
    return false;
  const auto *first = std::get_if<runtime::MatmulPart>(&parts.front());
  auto at = std::find_if(parts.begin() + 1, parts.end(), [](const auto &part) {
    return std::holds_alternative<runtime::MatmulPart>(part);
  });
  if (!first || at == parts.end())
    return false;
  const auto &second = std::get<runtime::MatmulPart>(*at);
  auto between =
      ArrayRef(parts).slice(1, static_cast<size_t>(at - parts.begin()) - 1);
  if (!matchSizes(*first, second) ||
      !readScores(launch, between, first->c, second.a, second.batch, plan))
    return false;
  auto q = operandOf(first->a, first->m, first->k, /*isTransposed=*/false),
       k = operandOf(first->b, first->n, first->k, /*isTransposed=*/true),
       v = operandOf(second.b, second.k, second.n, /*isTransposed=*/false);
  if (!q || !k || !v)
    return false;
  plan.q = *q;
  plan.k = *k;
  plan.v = *v;
  plan.kept.push_back(first->c.buffer);
  if (!mergeBatches())
    return false;
  llvm::SmallVector<runtime::View> read = {plan.q.view, plan.k.view,
                                           plan.v.view};
  for (const Scores::Load &load : plan.scores.loads)
    read.push_back(load.operand.view);
  if (!matchResultOf(
          launch, plan.result, read,
          ArrayRef<runtime::Part>(launch.parts)
              .drop_front(static_cast<size_t>(at - parts.begin()) + 1)))
    return false;
  if (!plan.result.copy)
    plan.kept.push_back(second.c.buffer);
  return true;
}

/// A box of `lines` rows of 64 columns.
runtime::GpuTensorMap mapOfOperand(const AttentionOperand &operand,
                                   int64_t lines, const AttentionPlan &plan) {
  runtime::GpuTensorMap map;
  map.buffer = operand.view.buffer;
  map.offset = operand.view.offset * elementBytes;
  map.type = plan.result.type;
  for (auto [size, stride] : llvm::zip_equal(plan.batchDims, operand.strides)) {
    // Where all batches have the same, there is one.
    map.sizes.push_back(stride == 0 ? 1 : size);
    map.strides.push_back(stride == 0 ? operand.lineStride * operand.lines
                                      : stride);
    map.box.push_back(1);
  }
  map.sizes.insert(map.sizes.end(), {operand.lines, operand.width});
  map.strides.insert(map.strides.end(), {operand.lineStride, 1});
  map.box.insert(map.box.end(), {lines, panelColumns});
  map.swizzle = static_cast<int>(panelColumns * elementBytes);
  return map;
}

/// As many keys at a time as leave registers for the results, and as many
/// stages as there is memory for, up to four.
AttentionTile chooseAttentionTile(const AttentionPlan &plan,
                                  int64_t sharedBytes) {
  auto panels = [](int64_t width) {
    return static_cast<int64_t>(
        llvm::alignTo(static_cast<uint64_t>(width), panelColumns));
  };
  AttentionTile tile;
  tile.head = panels(plan.q.width);
  tile.columns = panels(plan.v.width);
  // Products have 64, 128 or 256 columns.
  if (tile.columns == 192)
    tile.columns = 256;
  constexpr int64_t large = 128;
  tile.keys = tile.head <= large && tile.columns <= large ? 128 : 64;
  for (tile.stages = 4; tile.stages > 2 && tile.sharedBytes() > sharedBytes;)
    --tile.stages;
  return tile;
}

/// Of all tiles of scores, the part that conditions do not exclude; of many, by
/// some of them.
double partOfTiles(const AttentionPlan &plan) {
  constexpr int64_t samples = 64;
  int64_t all = 0, kept = 0, rows = plan.dims.rows(), keys = plan.dims.keys();
  auto stepOf = [](int64_t count, int64_t tile) {
    return tile * llvm::divideCeilSigned(count, samples * tile);
  };
  for (int64_t row = 0; row < rows; row += stepOf(rows, AttentionTile::rows))
    for (int64_t key = 0; key < keys; key += stepOf(keys, plan.tile.keys)) {
      int64_t lastRow = std::min(row + AttentionTile::rows, rows) - 1,
              lastKey = std::min(key + plan.tile.keys, keys) - 1;
      ++all;
      kept += llvm::all_of(plan.scores.conditions, [&](const auto &c) {
        return c.constant + c.row * (c.row > 0 ? lastRow : row) +
                   c.key * (c.key > 0 ? lastKey : key) >=
               0;
      });
    }
  return static_cast<double>(kept) / static_cast<double>(all);
}

} // namespace

std::unique_ptr<AttentionPlan>
codegen::matchAttention(const LaunchMapper &launch,
                        const KernelSkeleton &skeleton) {
  auto plan = std::make_unique<AttentionPlan>(skeleton);
  return Matcher(launch, *plan).match() ? std::move(plan) : nullptr;
}

void codegen::mapAttention(LaunchMapper &launch, AttentionPlan &plan) {
  plan.tile = chooseAttentionTile(plan, launch.facts.arch.sharedBytes);
  int64_t tiles = llvm::divideCeilSigned(plan.dims.rows(), AttentionTile::rows);
  // If rows differ in how many keys they have, those with the most come first,
  // of as many matrices as leave several blocks that read the same keys.
  constexpr int64_t together = 4;
  plan.group = 1;
  plan.notEmpty = partOfTiles(plan);
  if (!plan.scores.conditions.empty())
    plan.group = std::min(
        plan.result.batches,
        std::max<int64_t>(launch.facts.machine.multiprocessors / together, 1));
  KernelPlan &kernel = launch.kernel;
  kernel.properties.threads = AttentionTile::threads;
  launch.needShared(plan.tile.sharedBytes());
  launch.needBlocks(tiles * plan.result.batches);
  kernel.takesRegisters = true;
  kernel.launch.tensorMaps = {mapOfOperand(plan.q, AttentionTile::rows, plan),
                              mapOfOperand(plan.k, plan.tile.keys, plan),
                              mapOfOperand(plan.v, plan.tile.keys, plan)};
}
