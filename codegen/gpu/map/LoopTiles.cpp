//===- LoopTiles.cpp - How a loop's tiles are divided ---------------------===//

#include "codegen/gpu/map/LoopTiles.h"

#include "codegen/gpu/map/RowTeams.h"
#include "lib/Target/Target.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using runtime::Access;

/// The most registers of a tile. Two blocks then fit a multiprocessor, so that
/// one loads while the other stores.
constexpr int64_t mostWords = 40;
/// About how many instructions a tile may have, unless it has few elements, and
/// how many a math function has. The body is unrolled for each element, and
/// CUDA's compiler interleaves many of them.
constexpr int64_t mostInstructions = 512, fewElements = 16, ofFunction = 16;
/// Tiles need at least leastElements elements along both dimensions: with
/// fewer, vectors hardly help, and strided accesses are close to each other
/// anyway. Tiles without vectors need rows of at least leastApart elements:
/// along shorter rows, stores would be scattered more than loads are without
/// tiles.
constexpr int64_t leastElements = 4, leastApart = 16;

std::optional<size_t> LoopPlan::vectorDim(const Operand &operand,
                                          const LoopTile &of) const {
  for (size_t dim : {of.columnDim, of.rowDim})
    if (operand.isPointer() && kept[dim].strides[operand.index] == 1)
      return dim;
  return std::nullopt;
}

int LoopPlan::vectorOf(const Operand &operand) const {
  std::optional<size_t> dim = vectorDim(operand, *tile);
  if (!tile->hasVectors || !dim)
    return 1;
  return *dim == tile->rowDim ? tile->rows : tile->columns;
}

/// Finds the dimension along which the outputs are contiguous, and another one,
/// the largest, along which some operand is.
std::optional<LoopTile> LoopPlan::findTile() const {
  std::optional<size_t> row, column;
  auto choose = [&](std::optional<size_t> &chosen, const Operand &operand) {
    for (size_t dim = 0; dim < kept.size(); ++dim)
      if (operand.isPointer() && kept[dim].strides[operand.index] == 1 &&
          dim != column && (!chosen || kept[*chosen].size < kept[dim].size))
        chosen = dim;
  };
  choose(column, operands[loop->inputs.size()]);
  if (!column)
    return std::nullopt;
  for (const Operand &operand : operands)
    if (int64_t step = kept[*column].strides[operand.index];
        step != 0 && step != 1)
      choose(row, operand);
  if (!row || std::min(kept[*row].size, kept[*column].size) < leastElements)
    return std::nullopt;
  for (const Operand &operand : operands) {
    if (!operand.members.empty() || operand.scattered ||
        operand.info->access == Access::Scratch)
      return std::nullopt;
    if (!operand.isPointer())
      continue;
    int64_t rowStride = kept[*row].strides[operand.index],
            columnStride = kept[*column].strides[operand.index];
    // Otherwise each element of a tile would be a load of its own.
    bool repeats = rowStride == 0 || columnStride == 0,
         hasVectors = rowStride == 1 || columnStride == 1;
    if (!hasVectors && (operand.isOutput || !repeats))
      return std::nullopt;
  }
  return LoopTile{*row, *column, 1, 1, true};
}

/// The number of elements along a dimension that make up a vector of 16 bytes
/// (two vectors, if operands have elements of different sizes), reduced as far
/// as strides require to keep vectors aligned.
int LoopPlan::widestAlong(size_t along, const LoopTile &of) const {
  int smallest = 16, largest = 1;
  for (const Operand &operand : operands)
    if (vectorDim(operand, of) == along) {
      smallest = std::min(smallest, operand.size);
      largest = std::max(largest, operand.size);
    }
  int wide = std::min(16 / smallest, 32 / largest);
  auto fits = [&](const Operand &operand) {
    int64_t bytes = std::min(16, wide * operand.size);
    for (size_t dim = 0; dim < kept.size(); ++dim)
      if (dim != along &&
          kept[dim].strides[operand.index] * operand.size % bytes != 0)
        return false;
    return true;
  };
  while (wide > 1 && (wide > kept[along].size ||
                      llvm::any_of(operands, [&](const Operand &operand) {
                        return vectorDim(operand, of) == along &&
                               !fits(operand);
                      })))
    wide /= 2;
  return wide;
}

/// The registers that a tile needs at once: for everything loaded, for
/// everything stored along columns, and for one row of what is stored along
/// rows.
int64_t LoopPlan::wordsOf(const LoopTile &of) const {
  int64_t words = 0;
  for (const Operand &operand : operands) {
    if (!operand.isPointer())
      continue;
    int64_t elements = 1;
    bool isRow = operand.isOutput && vectorDim(operand, of) == of.columnDim;
    if (kept[of.rowDim].strides[operand.index] != 0 && !isRow)
      elements *= of.rows;
    if (kept[of.columnDim].strides[operand.index] != 0)
      elements *= of.columns;
    // Elements that are in no vector need a register each.
    words += vectorDim(operand, of)
                 ? llvm::divideCeilSigned(elements * operand.size, 4)
                 : elements * llvm::divideCeilSigned(operand.size, 4);
  }
  return words;
}

/// About how many instructions the body of a loop has.
static int64_t instructionsOf(const LoopKernel *kernel) {
  int64_t count = 1;
  if (!kernel)
    return count;
  mlir::func::FuncOp body = kernel->body;
  for (mlir::Operation &op : body.front())
    count += op.getName().getDialectNamespace() == "math" ? ofFunction : 1;
  return count;
}

void LoopPlan::chooseTile() {
  // The first block computes all of few elements, without tiles.
  if (width > 1 || isReduced() || byRows || product(kept) <= threadsPerBlock)
    return;
  std::optional<LoopTile> found = findTile();
  if (!found)
    return;
  found->rows = widestAlong(found->rowDim, *found);
  found->columns = widestAlong(found->columnDim, *found);
  if (found->rows == 1 || found->columns == 1) {
    int64_t ofRow = kept[found->columnDim].size;
    if (ofRow < leastApart)
      return;
    // The tiles of 8 threads are neighbours in a row, those of 4 in a column.
    found->hasVectors = false;
    found->rows = 4;
    found->columns = ofRow < 32 ? 2 : ofRow < 64 ? 4 : 8;
    tile = found;
    return;
  }
  int64_t ofElement = instructionsOf(kernel);
  auto elements = [&] { return found->rows * found->columns; };
  auto isLong = [&] { return elements() * ofElement > mostInstructions; };
  while (wordsOf(*found) > mostWords ||
         (elements() > fewElements && isLong())) {
    if (found->rows == 2 && found->columns == 2)
      return;
    (found->rows > found->columns ? found->rows : found->columns) /= 2;
  }
  found->takesFewRegisters = ofElement < ofFunction;
  tile = found;
}

/// A warp has 4 x 8 threads: along rows, where outputs mostly are, their
/// vectors of 16 bytes fill whole cache lines; along columns, half lines. Other
/// warps of the block access the other halves at about the same time.
BlockOfTiles codegen::shareTiles(const LoopPlan &loop) {
  auto most = [](int64_t limit, int64_t count) {
    return std::min(limit,
                    static_cast<int64_t>(llvm::PowerOf2Ceil(
                        static_cast<uint64_t>(std::max<int64_t>(count, 1)))));
  };
  const LoopTile &tile = *loop.tile;
  int64_t tileRows =
              llvm::divideCeilSigned(loop.kept[tile.rowDim].size, tile.rows),
          tileColumns = llvm::divideCeilSigned(loop.kept[tile.columnDim].size,
                                               tile.columns);
  BlockOfTiles block;
  block.columns = most(threadsPerBlock / most(16, tileRows), tileColumns);
  block.rows = most(threadsPerBlock / block.columns, tileRows);
  block.others = threadsPerBlock / (block.rows * block.columns);
  constexpr int64_t warp = GpuArch::warpSize;
  block.laneColumns =
      std::min(warp / std::min<int64_t>(4, block.rows), block.columns);
  block.laneRows = std::min(warp / block.laneColumns, block.rows);
  for (auto [i, dim] : llvm::enumerate(loop.kept))
    if (i != tile.rowDim && i != tile.columnDim)
      block.otherDims.push_back(dim);
  block.blocks.resize(3);
  block.blocks[0].size =
      llvm::divideCeilSigned(product(block.otherDims), block.others);
  block.blocks[1].size = llvm::divideCeilSigned(tileRows, block.rows);
  block.blocks[2].size = llvm::divideCeilSigned(tileColumns, block.columns);
  return block;
}
