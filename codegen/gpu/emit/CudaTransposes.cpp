//===- CudaTransposes.cpp - Loops along two dimensions as CUDA C++ --------===//
//
// Where operands are contiguous along different dimensions, as those of
// transposes are, elements in the order of one would be far apart in the other.
// So each thread takes a tile (device/transposes.cuh): vectors along its
// columns of what is contiguous there, vectors along its rows of the others.
// Which element of which vector is needed where is known when it is compiled,
// so that a tile is transposed in registers, by what threads do for themselves
// alone: no barrier and no shared memory keep a block's loads and stores apart.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/emit/CudaTransposes.h"

#include "codegen/gpu/emit/CudaIndices.h"
#include "codegen/gpu/emit/CudaScalars.h"
#include "codegen/gpu/map/RowTeams.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using llvm::Twine;
using runtime::Access;

/// The registers that a tile may take, for each multiprocessor to have two
/// blocks: one loads while the other stores.
constexpr int64_t mostWords = 40;
/// About how many instructions a tile may be, as bodies are written out for
/// each element and CUDA's compiler works on many at once, but for tiles of few
/// elements, and how many a function is.
constexpr int64_t mostInstructions = 512, fewElements = 16, ofFunction = 16;
/// Of fewer elements vectors are hardly worth it, and what is accessed in the
/// other order is next to what is needed soon; and without vectors stores along
/// short rows would be scattered more than loads are in their order.
constexpr int64_t leastElements = 4, leastApart = 16;

/// Along which dimension of a tile an operand has vectors.
std::optional<size_t> LoopWriter::vectorDim(const Operand &operand,
                                            const LoopTile &of) const {
  for (size_t dim : {of.columnDim, of.rowDim})
    if (operand.isPointer() && kept[dim].strides[operand.index] == 1)
      return dim;
  return std::nullopt;
}

int LoopWriter::vectorOf(const Operand &operand) const {
  std::optional<size_t> dim = vectorDim(operand, *tile);
  if (!tile->hasVectors || !dim)
    return 1;
  return *dim == tile->rowDim ? tile->rows : tile->columns;
}

/// The dimension along which the outputs are contiguous, and a second one along
/// which an operand is, that of the most elements.
std::optional<LoopTile> LoopWriter::findTile() const {
  std::optional<size_t> row, column;
  auto choose = [&](std::optional<size_t> &chosen, const Operand &operand) {
    for (size_t dim = 0; dim < kept.size(); ++dim)
      if (operand.isPointer() && kept[dim].strides[operand.index] == 1 &&
          dim != column && (!chosen || kept[*chosen].size < kept[dim].size))
        chosen = dim;
  };
  choose(column, operands[loop.inputs.size()]);
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
    // Else each of a tile's elements would be a load of its own.
    bool repeats = rowStride == 0 || columnStride == 0,
         hasVectors = rowStride == 1 || columnStride == 1;
    if (!hasVectors && (operand.isOutput || !repeats))
      return std::nullopt;
  }
  return LoopTile{*row, *column, 1, 1, true};
}

/// How many elements along a dimension make up vectors of 16 bytes, or two if
/// operands are of several sizes, as far as strides keep them aligned.
int LoopWriter::widestAlong(size_t along, const LoopTile &of) const {
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

/// The registers that elements of a tile take at once: what is loaded, what is
/// stored by columns, and a row of what is stored by rows.
int64_t LoopWriter::wordsOf(const LoopTile &of) const {
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
    // What is in no vector has registers of its own.
    words += vectorDim(operand, of)
                 ? llvm::divideCeilSigned(elements * operand.size, 4)
                 : elements * llvm::divideCeilSigned(operand.size, 4);
  }
  return words;
}

/// About how many instructions the body of a loop is.
static int64_t instructionsOf(const LoopKernel *kernel) {
  int64_t count = 1;
  if (!kernel)
    return count;
  mlir::func::FuncOp body = kernel->body;
  for (mlir::Operation &op : body.front())
    count += op.getName().getDialectNamespace() == "math" ? ofFunction : 1;
  return count;
}

void LoopWriter::chooseTile() {
  // All of few elements are the first block's.
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
    // Those of 8 threads are next to each other in a row, and of 4 in a column.
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
  tile = found;
  if (ofElement < ofFunction)
    ++part.kernel.partsOfFewRegisters;
}

/// Does the elements of a tile from a first one on, all of which there are.
void LoopWriter::writeTile(CudaText &text) {
  auto strideAlong = [&](const Operand &operand, size_t dim) {
    return kept[dim].strides[operand.index];
  };
  // What a tile has of an operand is an array of vectors, by the index of the
  // other dimension if it depends on that.
  auto otherDim = [&](const Operand &operand) -> std::optional<size_t> {
    for (size_t dim : {tile->rowDim, tile->columnDim})
      if (dim != vectorDim(operand, *tile) && strideAlong(operand, dim) != 0)
        return dim;
    return std::nullopt;
  };
  auto countOfDim = [&](size_t dim) {
    return std::to_string(dim == tile->rowDim ? tile->rows : tile->columns);
  };
  auto index = [&](size_t dim) {
    return dim == tile->rowDim ? "i.value" : "j.value";
  };
  auto name = [](const Operand &operand) {
    return (operand.isOutput ? "w" : "v") + std::to_string(operand.index);
  };
  auto vector = [&](const Operand &operand) {
    return (operand.type() + ", " + Twine(vectorOf(operand))).str();
  };
  auto eachOf = [&](size_t dim) {
    return "    unrolled<0, " + countOfDim(dim) + ">([&](auto " +
           (dim == tile->rowDim ? "i" : "j") + ") {\n";
  };
  /// "i0 + x0 * 64 + x1 + j.value * 64"
  auto address = [&](const Operand &operand) {
    CudaText place;
    place << (operand.name + " + ") << offset(operand, true);
    if (std::optional<size_t> dim = otherDim(operand))
      place << " + " << index(*dim) << " * " << strideAlong(operand, *dim);
    return place;
  };
  auto element = [&](const Operand &operand) {
    std::string at = name(operand);
    if (std::optional<size_t> dim = otherDim(operand))
      at += std::string("[") + index(*dim) + "]";
    std::optional<size_t> dim = vectorDim(operand, *tile);
    return at + ".at[" + (dim ? index(*dim) : "0") + "]";
  };
  auto position = [&](const Operand &operand) {
    CudaText place;
    place << operand.info->view.offset << " + " << offset(operand, true);
    for (size_t dim : {tile->rowDim, tile->columnDim})
      if (strideAlong(operand, dim) != 0)
        place << " + " << index(dim) << " * " << strideAlong(operand, dim);
    return place;
  };
  auto isRow = [&](const Operand &operand) {
    return vectorDim(operand, *tile) == tile->columnDim;
  };

  text << ("  __device__ void tile(" + parameters(false) + ") const {\n");
  for (const Operand &operand : operands) {
    if (!operand.isPointer() || (operand.isOutput && isRow(operand)))
      continue;
    std::optional<size_t> dim = otherDim(operand);
    text << ("    Vector<" + vector(operand) + "> " + name(operand) +
             (dim ? "[" + countOfDim(*dim) + "]" : "") + ";\n");
    if (operand.isOutput)
      continue;
    if (dim)
      text << eachOf(*dim);
    text << ("    " + name(operand) +
             (dim ? std::string("[") + index(*dim) + "]" : "") + " = load<" +
             vector(operand) + ">(")
         << address(operand) << ");\n"
         << (dim ? "    });\n" : "");
  }
  text << eachOf(tile->rowDim);
  for (const Operand &operand : operands)
    if (operand.isOutput && isRow(operand))
      text << ("    Vector<" + vector(operand) + "> " + name(operand) + ";\n");
  text << eachOf(tile->columnDim);
  for (auto [i, value] : llvm::enumerate(writeBody(text, element, position))) {
    const Operand &operand = operands[loop.inputs.size() + i];
    text << ("      " +
             (isRow(operand) ? name(operand) + ".at[j.value]"
                             : element(operand)) +
             " = static_cast<" + operand.type() + ">(" + value + ");\n");
  }
  text << "    });\n";
  auto store = [&](const Operand &operand, const std::string &value) {
    text << ("    store<" + vector(operand) + ">(") << address(operand)
         << (", " + value + ");\n");
  };
  for (const Operand &operand : operands)
    if (operand.isOutput && isRow(operand))
      store(operand, name(operand));
  text << "    });\n";
  for (const Operand &operand : operands) {
    if (!operand.isOutput || isRow(operand))
      continue;
    text << eachOf(tile->columnDim);
    store(operand, name(operand) + "[j.value]");
    text << "    });\n";
  }
  text << "  }\n";
}

namespace {

/// How tiles are shared out: a block has `rows` x `columns` of each of `others`
/// indices of the other dimensions, and of those neighbouring threads have
/// `laneRows` x `laneColumns`.
struct BlockOfTiles {
  int64_t rows, columns, others, laneRows, laneColumns;
};

/// With 4 x 8 threads of a warp, vectors of 16 bytes fill half lines along
/// columns and whole lines along rows, where outputs mostly are; what is
/// missing of lines is what other warps of the block take at about the same
/// time.
BlockOfTiles shareTiles(int64_t tileRows, int64_t tileColumns) {
  auto most = [](int64_t limit, int64_t count) {
    return std::min(limit,
                    static_cast<int64_t>(llvm::PowerOf2Ceil(
                        static_cast<uint64_t>(std::max<int64_t>(count, 1)))));
  };
  BlockOfTiles block{};
  block.columns = most(threadsPerBlock / most(16, tileRows), tileColumns);
  block.rows = most(threadsPerBlock / block.columns, tileRows);
  block.others = threadsPerBlock / (block.rows * block.columns);
  constexpr int64_t warp = 32;
  block.laneColumns =
      std::min(warp / std::min<int64_t>(4, block.rows), block.columns);
  block.laneRows = std::min(warp / block.laneColumns, block.rows);
  return block;
}

} // namespace

TiledElements codegen::elementsByTiles(const LoopWriter &loop) {
  const LoopTile &tile = *loop.tile;
  int64_t rows = loop.kept[tile.rowDim].size,
          columns = loop.kept[tile.columnDim].size;
  int64_t tileRows = llvm::divideCeilSigned(rows, tile.rows),
          tileColumns = llvm::divideCeilSigned(columns, tile.columns);
  BlockOfTiles block = shareTiles(tileRows, tileColumns);
  LoopDims others;
  for (auto [i, dim] : llvm::enumerate(loop.kept))
    if (i != tile.rowDim && i != tile.columnDim)
      others.push_back(dim);
  LoopDims blocks(3);
  blocks[0].size = llvm::divideCeilSigned(product(others), block.others);
  blocks[1].size = llvm::divideCeilSigned(tileRows, block.rows);
  blocks[2].size = llvm::divideCeilSigned(tileColumns, block.columns);

  /// The arguments of an index in the tile.
  auto indices = [&](const char *row, const char *column) {
    std::string list;
    for (size_t i = 0, other = 0; i < loop.kept.size(); ++i)
      list += (i == 0 ? "" : ", ") + (i == tile.rowDim ? row
                                      : i == tile.columnDim
                                          ? column
                                          : "z" + std::to_string(other++));
    return list;
  };
  CudaText body, count, first;
  body << indicesOf("b", blocks, "b", 1) << "\nconst i64 z = b0 * "
       << block.others << " + mine.other;\nif (z >= " << product(others)
       << ")\n  continue;\n"
       << indicesOf("z", others, "z", 1) << "\nconst i64 row = (b1 * "
       << block.rows
       << (" + mine.row) * " + Twine(tile.rows) + ", column = (b2 * ")
       << block.columns << (" + mine.column) * " + Twine(tile.columns) + ";\n");
  if (tile.hasVectors)
    body << ("if (areAligned && row + " + Twine(tile.rows) + " <= ") << rows
         << (" && column + " + Twine(tile.columns) + " <= ") << columns
         << (") {\n  " + loop.variable() + ".tile(" + indices("row", "column") +
             ");\n  continue;\n}\n");
  body << ("elementsOfTile<" + Twine(tile.rows) + ", " + Twine(tile.columns) +
           ">(mine, areAligned, row, ")
       << rows << ", column, " << columns
       << (", [&](i64 x, i64 y) {\n  return " + loop.variable() +
           ".template fetch<1>(" + indices("x", "y") +
           ");\n}, [&](i64 x, i64 y, const auto &f) {\n  " + loop.variable() +
           ".template at<1>(" + indices("x", "y") + ", f);\n});\n");
  TiledElements result;
  result.blocks = product(blocks);
  count << result.blocks;
  result.text << "const bool areAligned = "
              << (tile.hasVectors ? loop.variable() + ".aligned()" : "false")
              << (";\nconst TileOfThread<" + Twine(block.rows) + ", " +
                  Twine(block.columns) + ", " + Twine(block.laneRows) + ", " +
                  Twine(block.laneColumns) + "> mine;\n")
              << countedLoop("b", "blockIdx.x", count, "gridDim.x", body);
  return result;
}
