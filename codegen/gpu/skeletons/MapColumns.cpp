//===- MapColumns.cpp - How sums along columns are divided ----------------===//

#include "codegen/gpu/skeletons/Columns.h"

#include "codegen/gpu/map/ColumnSums.h"
#include "runtime/plan/GpuAbi.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using runtime::Access;
using runtime::Loop;
using runtime::LoopOperand;

namespace {

/// What lanes that are neighbours have of contiguous bytes, at least: a line of
/// the cache. Memory likes pieces of several lines better.
constexpr int64_t leastPiece = 128;

/// Chooses lanes and shares.
void shareOut(const PartPlaces &places, const Machine::Columns &machine,
              const Loop &info, ColumnLoopPlan &plan) {
  const LoopPlan &loop = plan.loop;
  int64_t &lanes = plan.lanes, &tiles = plan.tiles;
  constexpr int64_t bytesAtOnce = 64;
  plan.vectors = product(loop.kept) / loop.width;
  int64_t summed = product(loop.reduced);
  plan.summed = summed;
  auto tilesOf = [&](int64_t lanes) {
    return llvm::divideCeilSigned(plan.vectors, lanes);
  };
  // Bytes loaded for each summed element. Inputs that are the same for all of
  // them are loaded only once.
  int64_t fetched = 0, size = 1;
  for (const LoopOperand &input : info.inputs) {
    if (input.access == Access::Index || !isSummed(info, input))
      continue;
    int64_t bytes = runtime::sizeInBytes(input.type);
    bool isVector = input.view.strides[*columnsOf(info)] == 1;
    if (isVector)
      size = std::max(size, bytes);
    if (input.access == Access::LoadReduced)
      bytes *= static_cast<int64_t>(places.members(input.group).size());
    fetched += isVector ? bytes * loop.width : bytes;
  }
  // A limit on the elements, whose computation needs registers too.
  int64_t turns = plan.turns = std::clamp<int64_t>(
      bytesAtOnce / fetched, 1, std::max(16 / loop.width, 4));
  auto lanesOf = [&](int64_t bytes) {
    return static_cast<int64_t>(
        llvm::PowerOf2Ceil(llvm::divideCeilSigned(bytes, loop.width * size)));
  };
  // Only the last dimension is contiguous, so more lanes do not help; and too
  // many groups would leave some without elements.
  int64_t contiguous = static_cast<int64_t>(
              llvm::PowerOf2Ceil(loop.kept.back().size / loop.width)),
          groups = static_cast<int64_t>(
              llvm::PowerOf2Ceil(llvm::divideCeilSigned(summed, turns))),
          least =
              std::clamp(std::min(lanesOf(leastPiece), contiguous),
                         threadsPerBlock / std::min(groups, threadsPerBlock),
                         threadsPerBlock),
          most = std::clamp(std::min(lanesOf(machine.pieceBytes), contiguous),
                            least, threadsPerBlock);
  for (lanes = most; lanes > least && tilesOf(lanes) < machine.evenTiles;)
    lanes /= 2;
  tiles = tilesOf(lanes);
  if (tiles >= machine.busyTiles ||
      summed * fetched * lanes <= machine.barrierBytes)
    return;
  // Several blocks divide each sum. Pieces are as long as possible, unless many
  // lanes would then have no results.
  for (int64_t other = std::min(most, threadsPerBlock / 2); other > lanes;
       other /= 2)
    if (tilesOf(other) * other * 8 <= tiles * lanes * 9)
      lanes = other;
  tiles = tilesOf(lanes);
  plan.mostShares = std::max<int64_t>(
      llvm::divideCeilSigned(summed, threadsPerBlock / lanes * turns), 1);
}

/// Whether all of one loop must be done before another begins.
bool isBefore(const PartPlaces &places, const Loop &one, const Loop &other) {
  auto overlap = [&](const std::vector<LoopOperand> &some,
                     const std::vector<LoopOperand> &others) {
    for (const LoopOperand &x : some)
      for (const LoopOperand &y : others)
        if (x.access != Access::Index && y.access != Access::Index &&
            places.overlap(x.view, y.view))
          return true;
    return false;
  };
  return overlap(one.outputs, other.inputs) ||
         overlap(one.inputs, other.outputs) ||
         overlap(one.outputs, other.outputs);
}

/// Maps one loop of sums.
void mapSums(LaunchMapper &launch, const Loop &info, ColumnLoopPlan &plan) {
  plan.isReduced = true;
  shareOut(launch.kernel.places, launch.facts.machine.columns, info, plan);
  plan.bytesOfSum = bytesOfSums(info);
  // The accumulator bytes of a thread.
  int64_t bytes = plan.loop.width * plan.bytesOfSum;
  if (plan.isShared()) {
    // There are at most as many shares as blocks, but at least one for each
    // tile.
    int64_t items = std::max<int64_t>(
        plan.tiles,
        std::min<int64_t>(plan.tiles * plan.mostShares, CCN_MAX_BLOCKS));
    plan.partials = launch.takeWorkspace(
        llvm::alignTo(items * plan.lanes * bytes, /*Align=*/64));
  }
  launch.needBlocks(plan.tiles * plan.mostShares);
  if (plan.lanes < threadsPerBlock)
    launch.needShared(threadsPerBlock * bytes);
}

} // namespace

void codegen::mapColumns(LaunchMapper &launch, const runtime::RowsPart &rows,
                         ColumnsPlan &plan) {
  runtime::RowsPart spread = rows;
  for (const auto &[number, array] : spreadScratch(spread)) {
    int64_t bytes = array.count * runtime::sizeInBytes(array.type);
    int buffer = launch.kernel.places.addWorkspace(
        array.type, array.count,
        launch.takeWorkspace(llvm::alignTo(bytes, /*Align=*/64)));
    for (LoopOperand *operand : array.operands) {
      operand->view.buffer = buffer;
      operand->access = Access::Load;
    }
  }
  for (Loop &loop : spread.loops)
    for (LoopOperand &output : loop.outputs)
      if (output.access == Access::Load)
        output.access = Access::Store;
  plan.rows = std::make_unique<const runtime::RowsPart>(std::move(spread));
  plan.scratch = std::make_unique<const Scratch>();
  // The loops since blocks last waited for each other.
  std::vector<const Loop *> before;
  bool anyToMerge = false;
  for (const Loop &loop : plan.rows->loops) {
    ColumnLoopPlan &own = plan.loops.emplace_back(ColumnLoopPlan{
        LoopPlan(launch.kernel.places, loop, launch.facts.bodies.of(loop),
                 /*byRows=*/false, *plan.scratch,
                 /*byColumns=*/loop.reducedDims > 0)});
    own.waitsBefore = llvm::any_of(before, [&](const Loop *earlier) {
      return isBefore(launch.kernel.places, *earlier, loop);
    });
    if (own.waitsBefore) {
      own.mergesBefore = std::exchange(anyToMerge, false);
      launch.gridBarrier();
      before.clear();
    }
    before.push_back(&loop);
    launch.settle(own.loop);
    if (loop.reducedDims == 0) {
      launch.needBlocks(llvm::divideCeilSigned(
          product(own.loop.kept), threadsPerBlock * own.loop.width));
      continue;
    }
    mapSums(launch, loop, own);
    anyToMerge |= own.isShared();
  }
  plan.mergesAfter = anyToMerge;
  if (anyToMerge)
    launch.gridBarrier();
}
