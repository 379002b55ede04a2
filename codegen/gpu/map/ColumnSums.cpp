//===- ColumnSums.cpp - Sums along columns --------------------------------===//

#include "codegen/gpu/map/ColumnSums.h"

#include "runtime/tensor/Strided.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using runtime::Access;
using runtime::Loop;
using runtime::LoopOperand;

namespace {

/// With fewer elements it does not matter, on any GPU, who takes them.
constexpr int64_t fewestElements = 8192;
/// The same for several loops, between which blocks wait for each other.
constexpr int64_t fewestOfLoops = 65536;
/// For each element of a scratch array, at least so many elements are summed.
constexpr int64_t leastOfArrays = 16;
/// The most accumulator bytes of a thread for one element of each output.
constexpr int64_t mostBytesOfSums = 128;

bool isUniform(const LoopOperand &input) {
  return llvm::all_of(input.view.strides,
                      [](int64_t stride) { return stride == 0; });
}

size_t keptDims(const Loop &loop) {
  return loop.sizes.size() - static_cast<size_t>(loop.reducedDims);
}

} // namespace

int64_t codegen::bytesOfSums(const runtime::Loop &loop) {
  int64_t largest = 0;
  for (const LoopOperand &output : loop.outputs) {
    int64_t size = runtime::sizeInBytes(output.type);
    bool isWider = runtime::isFloat(output.type) && size < 8;
    largest = std::max<int64_t>(largest, !isWider ? size : size < 4 ? 4 : 8);
  }
  return largest * static_cast<int64_t>(loop.outputs.size());
}

std::optional<size_t> codegen::columnsOf(const Loop &loop) {
  for (size_t dim = keptDims(loop); dim-- > 0;)
    if (loop.sizes[dim] > 1)
      return dim;
  return std::nullopt;
}

bool codegen::isSummed(const Loop &loop, const LoopOperand &input) {
  for (size_t dim = keptDims(loop); dim < loop.sizes.size(); ++dim)
    if (loop.sizes[dim] > 1 && input.view.strides[dim] != 0)
      return true;
  return false;
}

static bool sumsColumnsOf(const Loop &loop) {
  std::optional<size_t> columns = columnsOf(loop);
  if (!columns || bytesOfSums(loop) > mostBytesOfSums ||
      runtime::product(loop.sizes) == 0)
    return false;
  bool any = false;
  for (const LoopOperand &input : loop.inputs) {
    const std::vector<int64_t> &strides = input.view.strides;
    if (input.access == Access::Index || isUniform(input))
      continue;
    if (strides[*columns] != 0 && strides[*columns] != 1)
      return false;
    any |= isSummed(loop, input) && strides[*columns] == 1;
  }
  return any;
}

std::map<int, SpreadArray> codegen::spreadScratch(runtime::RowsPart &rows) {
  std::map<int, SpreadArray> arrays;
  bool areRows = llvm::all_of(rows.loops, [](const Loop &loop) {
    return loop.reducedDims == 0 || columnsOf(loop) == 0;
  });
  for (Loop &loop : rows.loops) {
    bool isTurned = areRows && loop.reducedDims == 0;
    auto turn = [](std::vector<int64_t> &dims) {
      std::rotate(dims.begin(), dims.begin() + 1, dims.end());
    };
    if (isTurned)
      turn(loop.sizes);
    for (auto *list : {&loop.inputs, &loop.outputs})
      for (LoopOperand &operand : *list) {
        runtime::View &view = operand.view;
        if (areRows && operand.access == Access::Scratch) {
          view.offset *= rows.rows;
          view.strides.front() = 1;
          for (int64_t &stride : llvm::drop_begin(view.strides))
            stride *= rows.rows;
        }
        if (isTurned)
          turn(view.strides);
        if (operand.access != Access::Scratch)
          continue;
        int64_t last = view.offset;
        for (size_t dim = 0; dim < loop.sizes.size(); ++dim)
          last += std::max<int64_t>(loop.sizes[dim] - 1, 0) * view.strides[dim];
        SpreadArray &array = arrays[view.buffer];
        array.type = operand.type;
        array.count = std::max(array.count, last + 1);
        array.operands.push_back(&operand);
      }
  }
  return arrays;
}

bool codegen::sumsColumns(const runtime::RowsPart &rows) {
  runtime::RowsPart spread = rows;
  std::map<int, SpreadArray> arrays = spreadScratch(spread);
  int64_t fewest = rows.loops.size() > 1 ? fewestOfLoops : fewestElements,
          elements = 0;
  for (const Loop &loop : spread.loops) {
    if (loop.reducedDims == 0)
      continue;
    if (!sumsColumnsOf(loop))
      return false;
    elements = std::max(elements, runtime::product(loop.sizes));
  }
  // Scratch arrays of all rows go through device memory, those of teams do not,
  // so the arrays must be small compared with what is summed.
  return elements >= fewest && llvm::all_of(arrays, [&](const auto &array) {
           return array.second.count * leastOfArrays <= elements;
         });
}
