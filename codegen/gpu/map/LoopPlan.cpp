//===- LoopPlan.cpp - How threads execute a loop --------------------------===//

#include "codegen/gpu/map/LoopPlan.h"

#include "codegen/gpu/map/ColumnSums.h"

#include <algorithm>
#include <numeric>

using namespace ccn;
using namespace ccn::codegen;
using runtime::Access;
using runtime::LoopOperand;

LoopKernels::LoopKernels(llvm::ArrayRef<LoopKernel> list) {
  for (const LoopKernel &kernel : list)
    kernels.emplace(kernel.name, &kernel);
}

int64_t codegen::product(const LoopDims &dims) {
  int64_t result = 1;
  for (const LoopDim &dim : dims)
    result *= dim.size;
  return result;
}

/// Dimensions [first, end) of a loop, merged into as few as possible.
static LoopDims collapse(const runtime::Loop &loop, int64_t first,
                         int64_t end) {
  LoopDims dims;
  for (int64_t d = first; d < end; ++d) {
    LoopDim dim{loop.sizes[static_cast<size_t>(d)], {}};
    for (const auto *list : {&loop.inputs, &loop.outputs})
      for (const LoopOperand &operand : *list)
        dim.strides.push_back(operand.view.strides[static_cast<size_t>(d)]);
    if (dim.size == 1)
      continue;
    bool merges = !dims.empty();
    if (merges)
      for (size_t i = 0; i < dim.strides.size(); ++i)
        merges &= dims.back().strides[i] == dim.strides[i] * dim.size;
    if (merges) {
      dims.back().size *= dim.size;
      dims.back().strides = std::move(dim.strides);
    } else {
      dims.push_back(std::move(dim));
    }
  }
  return dims;
}

LoopPlan::LoopPlan(const PartPlaces &places, const runtime::Loop &loop,
                   const LoopKernel *kernel, bool byRows,
                   const Scratch &scratch, bool byColumns)
    : loop(&loop), kernel(kernel), byRows(byRows), byColumns(byColumns),
      scratch(&scratch) {
  auto dims = static_cast<int64_t>(loop.sizes.size());
  kept = collapse(loop, byRows ? 1 : 0, dims - loop.reducedDims);
  reduced = collapse(loop, dims - loop.reducedDims, dims);
  addOperands(places);
  chooseWidth();
}

void LoopPlan::settle() {
  if (kernel)
    return;
  for (Operand &operand : operands)
    operand.uniform = false;
}

bool LoopPlan::takesParts() const {
  return llvm::any_of(operands, [&](const Operand &operand) {
    const ScratchPlace *place = placeOf(operand);
    return place && place->isPart;
  });
}

std::string LoopPlan::give(int buffer) {
  Operand *found = nullptr;
  for (Operand &operand : operands) {
    if (operand.info->access == Access::Scratch || operand.isPosition() ||
        operand.info->view.buffer != buffer)
      continue;
    if (found || operand.isOutput || operand.info->access != Access::Load ||
        !operand.isPointer() || !isVector(operand))
      return "";
    found = &operand;
  }
  if (!found)
    return "";
  found->given = true;
  return "v" + std::to_string(found->index);
}

std::string LoopPlan::giveInput(size_t input) {
  Operand &operand = operands[input];
  if (operand.info->access != Access::Load || !operand.isPointer())
    return "";
  operand.given = true;
  return "v" + std::to_string(input);
}

int64_t LoopPlan::fetchedBytes() const {
  int64_t bytes = 0;
  for (const Operand &operand : operands)
    if (isFetched(operand))
      bytes += (isVector(operand) ? width : 1) * operand.size *
               std::max<int64_t>(llvm::size(operand.members), 1);
  return bytes;
}

int64_t LoopPlan::ownBytes() const {
  int64_t bytes = 0;
  for (const Operand &operand : operands)
    if (const ScratchPlace *place = placeOf(operand);
        !operand.isOutput && place && place->isPart)
      bytes += width * operand.size;
  return bytes;
}

bool LoopPlan::combinesRanks() const {
  return llvm::any_of(operands, [](const Operand &operand) {
    return !operand.isOutput && !operand.members.empty();
  });
}

bool LoopPlan::combinesFetched() const {
  return llvm::any_of(operands, [&](const Operand &operand) {
    return isFetched(operand) && !operand.given && !operand.members.empty();
  });
}

bool LoopPlan::mustAlign(const Operand &operand) const {
  if (tile)
    return vectorOf(operand) > 1;
  return width > 1 && operand.isPointer() && !operand.scattered &&
         !isOwn(operand) && operand.step == 1 && !isResult(operand);
}

bool LoopPlan::needsAlignment() const {
  return llvm::any_of(
      operands, [&](const Operand &operand) { return mustAlign(operand); });
}

void LoopPlan::chooseWidth() {
  int smallest = 16;
  for (const Operand &operand : operands)
    if (operand.isPointer() && operand.step == 1 &&
        !(isReduced() && operand.isOutput))
      smallest = std::min(smallest, operand.size);
  // A limit on the bytes of sums, since every thread holds those of `width`
  // results.
  constexpr int64_t mostOfSums = 32;
  width = std::min(8, 16 / smallest);
  while (width > 1 && (!takes(width) ||
                       (byColumns && width * bytesOfSums(*loop) > mostOfSums)))
    width /= 2;
}

/// In all operands, the last dimension must have stride 1 or 0, and the strides
/// of all other dimensions must keep vectors aligned.
bool LoopPlan::takes(int wide) const {
  const LoopDims &dims = widthDims();
  if (dims.empty())
    return false;
  const LoopDim &last = dims.back();
  bool contiguous = false;
  for (const Operand &operand : operands) {
    if (!operand.isPointer() || (isReduced() && operand.isOutput))
      continue;
    if (operand.step != 0 && operand.step != 1)
      return false;
    if (operand.step == 0 && operand.isOutput)
      return false;
    contiguous |= operand.step == 1;
  }
  // If there are other dimensions, the size must be a multiple of the width.
  bool alone = kept.size() + reduced.size() == 1 && !byRows && !byColumns;
  if (!contiguous || wide == 1 || last.size < wide ||
      (!alone && last.size % wide != 0))
    return false;
  for (const Operand &operand : operands) {
    if (!operand.isPointer() || operand.step != 1)
      continue;
    int64_t bytes = std::min(16, wide * operand.size);
    for (const LoopDims *list : {&kept, &reduced})
      for (const LoopDim &dim : *list)
        if (&dim != &last &&
            dim.strides[operand.index] * operand.size % bytes != 0)
          return false;
    if (byRows && rowStride(operand) * operand.size % bytes != 0)
      return false;
  }
  return true;
}

bool LoopPlan::beginsWithVectors(const Operand &position) const {
  const runtime::View &view = position.info->view;
  int64_t common = view.offset | (byRows ? view.strides.front() : 0);
  for (const LoopDims *dims : {&kept, &reduced})
    for (const LoopDim &dim : *dims)
      if (&dim != &widthDims().back())
        common |= dim.strides[position.index];
  return width > 1 && common % width == 0;
}

const ScratchPlace *LoopPlan::placeOf(const Operand &operand) const {
  if (operand.info->access != Access::Scratch)
    return nullptr;
  auto place = scratch->places.find(operand.info->view.buffer);
  return place == scratch->places.end() ? nullptr : &place->second;
}

int64_t LoopPlan::rowStride(const Operand &operand) const {
  if (operand.info->access == Access::Scratch) {
    const ScratchPlace *place = placeOf(operand);
    return place ? place->rowBytes / operand.size : 0;
  }
  return operand.info->view.strides.front();
}

void LoopPlan::addOperands(const PartPlaces &places) {
  const LoopDims &dims = widthDims();
  for (const auto *list : {&loop->inputs, &loop->outputs})
    for (const LoopOperand &info : *list) {
      Operand operand;
      operand.info = &info;
      operand.index = operands.size();
      operand.isOutput = list == &loop->outputs;
      operand.size = runtime::sizeInBytes(info.type);
      if (info.access == Access::LoadReduced ||
          info.access == Access::StoreAll) {
        operand.members = places.members(info.group);
        // For slots, use their numbers.
        if (info.slots != 0)
          std::iota(operand.members.begin(), operand.members.end(), 0);
        // Each rank begins with itself, so that they store to different members
        // first.
        if (operand.isOutput)
          std::rotate(operand.members.begin(),
                      std::find(operand.members.begin(), operand.members.end(),
                                places.rank),
                      operand.members.end());
      }
      operand.uniform =
          !operand.isOutput && !operand.isPosition() &&
          info.access != Access::Scratch &&
          llvm::all_of(info.view.strides, [](int64_t s) { return s == 0; });
      operand.scattered = !operand.isPosition() &&
                          info.access != Access::Scratch &&
                          places.isScattered(info.view);
      if (!dims.empty())
        operand.step = dims.back().strides[operand.index];
      operands.push_back(std::move(operand));
    }
}
