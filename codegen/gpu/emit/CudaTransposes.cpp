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

/// Does the elements of a tile from a first one on, all of which there are.
/// How operands are written in a tile.
struct LoopWriter::TileOperands {
  const LoopWriter &loop;

  int64_t strideAlong(const Operand &operand, size_t dim) const {
    return loop.kept[dim].strides[operand.index];
  }
  /// What a tile has of an operand is an array of vectors, by the index of the
  /// other dimension if it depends on that.
  std::optional<size_t> otherDim(const Operand &operand) const {
    for (size_t dim : {loop.tile->rowDim, loop.tile->columnDim})
      if (dim != loop.vectorDim(operand, *loop.tile) &&
          strideAlong(operand, dim) != 0)
        return dim;
    return std::nullopt;
  }
  std::string countOfDim(size_t dim) const {
    return std::to_string(dim == loop.tile->rowDim ? loop.tile->rows
                                                   : loop.tile->columns);
  }
  const char *index(size_t dim) const {
    return dim == loop.tile->rowDim ? "i.value" : "j.value";
  }
  static std::string name(const Operand &operand) {
    return (operand.isOutput ? "w" : "v") + std::to_string(operand.index);
  }
  std::string vector(const Operand &operand) const {
    return (typeOf(operand) + ", " + Twine(loop.vectorOf(operand))).str();
  }
  std::string eachOf(size_t dim) const {
    return "    unrolled<0, " + countOfDim(dim) + ">([&](auto " +
           (dim == loop.tile->rowDim ? "i" : "j") + ") {\n";
  }
  /// "i0 + x0 * 64 + x1 + j.value * 64"
  CudaText address(const Operand &operand) const {
    CudaText place;
    place << (nameOf(operand) + " + ") << loop.offset(operand, true);
    if (std::optional<size_t> dim = otherDim(operand))
      place << " + " << index(*dim) << " * " << strideAlong(operand, *dim);
    return place;
  }
  std::string element(const Operand &operand) const {
    std::string at = name(operand);
    if (std::optional<size_t> dim = otherDim(operand))
      at += std::string("[") + index(*dim) + "]";
    std::optional<size_t> dim = loop.vectorDim(operand, *loop.tile);
    return at + ".at[" + (dim ? index(*dim) : "0") + "]";
  }
  CudaText position(const Operand &operand) const {
    CudaText place;
    place << operand.info->view.offset << " + " << loop.offset(operand, true);
    for (size_t dim : {loop.tile->rowDim, loop.tile->columnDim})
      if (strideAlong(operand, dim) != 0)
        place << " + " << index(dim) << " * " << strideAlong(operand, dim);
    return place;
  }
  bool isRow(const Operand &operand) const {
    return loop.vectorDim(operand, *loop.tile) == loop.tile->columnDim;
  }
};

void LoopWriter::writeTile(CudaText &text) {
  TileOperands in{*this};
  text << ("  __device__ void tile(" + parameters(false) + ") const {\n");
  for (const Operand &operand : operands) {
    if (!operand.isPointer() || (operand.isOutput && in.isRow(operand)))
      continue;
    std::optional<size_t> dim = in.otherDim(operand);
    text << ("    Vector<" + in.vector(operand) + "> " + in.name(operand) +
             (dim ? "[" + in.countOfDim(*dim) + "]" : "") + ";\n");
    if (operand.isOutput)
      continue;
    if (dim)
      text << in.eachOf(*dim);
    text << ("    " + in.name(operand) +
             (dim ? std::string("[") + in.index(*dim) + "]" : "") + " = load<" +
             in.vector(operand) + ">(")
         << in.address(operand) << ");\n"
         << (dim ? "    });\n" : "");
  }
  text << in.eachOf(tile->rowDim);
  for (const Operand &operand : operands)
    if (operand.isOutput && in.isRow(operand))
      text << ("    Vector<" + in.vector(operand) + "> " + in.name(operand) +
               ";\n");
  text << in.eachOf(tile->columnDim);
  for (auto [i, value] : llvm::enumerate(writeBody(
           text, [&](const Operand &operand) { return in.element(operand); },
           [&](const Operand &operand) { return in.position(operand); }))) {
    const Operand &operand = operands[loop->inputs.size() + i];
    text << ("      " +
             (in.isRow(operand) ? in.name(operand) + ".at[j.value]"
                                : in.element(operand)) +
             " = static_cast<" + typeOf(operand) + ">(" + value + ");\n");
  }
  text << "    });\n";
  auto store = [&](const Operand &operand, const std::string &value) {
    text << ("    store<" + in.vector(operand) + ">(") << in.address(operand)
         << (", " + value + ");\n");
  };
  for (const Operand &operand : operands)
    if (operand.isOutput && in.isRow(operand))
      store(operand, in.name(operand));
  text << "    });\n";
  for (const Operand &operand : operands) {
    if (!operand.isOutput || in.isRow(operand))
      continue;
    text << in.eachOf(tile->columnDim);
    store(operand, in.name(operand) + "[j.value]");
    text << "    });\n";
  }
  text << "  }\n";
}

CudaText codegen::elementsByTiles(const LoopWriter &loop,
                                  const BlockOfTiles &block) {
  const LoopTile &tile = *loop.tile;
  int64_t rows = loop.kept[tile.rowDim].size,
          columns = loop.kept[tile.columnDim].size;

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
  body << indicesOf("b", block.blocks, "b", 1) << "\nconst i64 z = b0 * "
       << block.others
       << " + mine.other;\nif (z >= " << product(block.otherDims)
       << ")\n  continue;\n"
       << indicesOf("z", block.otherDims, "z", 1) << "\nconst i64 row = (b1 * "
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
  count << product(block.blocks);
  first << "const bool areAligned = "
        << (tile.hasVectors ? loop.variable() + ".aligned()" : "false")
        << (";\nconst TileOfThread<" + Twine(block.rows) + ", " +
            Twine(block.columns) + ", " + Twine(block.laneRows) + ", " +
            Twine(block.laneColumns) + "> mine;\n")
        << countedLoop("b", "blockIdx.x", count, "gridDim.x", body);
  return first;
}
