//===- RowTeams.cpp - Teams of threads for rows ---------------------------===//

#include "codegen/gpu/map/RowTeams.h"

#include "codegen/gpu/map/ColumnSums.h"
#include "lib/Target/Target.h"
#include "runtime/tensor/ElementType.h"
#include "runtime/tensor/Strided.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using runtime::Access;
using runtime::Loop;
using runtime::LoopOperand;
using runtime::RowsPart;

namespace {

/// The elements of a row that a thread takes in a turn.
struct RowVector {
  int64_t elements = 1, bytes = 1;
};

int64_t elementsOfRow(const Loop &loop) {
  return runtime::product(std::span(loop.sizes).subspan(1));
}

/// The vector that LoopPlan will choose for a loop. (LoopPlan may find a wider
/// one, if operands are contiguous in parts.)
RowVector vectorOf(const Loop &loop) {
  std::span<const int64_t> sizes = std::span(loop.sizes).subspan(1);
  int64_t smallest = 16;
  bool isAny = false, isWhole = true;
  auto look = [&](const LoopOperand &operand) {
    auto strides = std::span(operand.view.strides).subspan(1);
    if (operand.access == Access::Index ||
        llvm::all_of(strides, [](int64_t stride) { return stride == 0; }))
      return;
    isAny = true;
    isWhole &= runtime::isRowMajor(sizes, strides);
    smallest = std::min<int64_t>(smallest, runtime::sizeInBytes(operand.type));
  };
  llvm::for_each(loop.inputs, look);
  if (loop.reducedDims == 0)
    llvm::for_each(loop.outputs, look);
  if (!isAny)
    return {};
  auto suits = [&](int64_t count) {
    auto keepsAligned = [&](const LoopOperand &operand) {
      int64_t size = runtime::sizeInBytes(operand.type),
              bytes = std::min<int64_t>(16, count * size);
      return operand.access == Access::Index ||
             operand.access == Access::Scratch ||
             operand.view.strides.front() * size % bytes == 0;
    };
    return isWhole && elementsOfRow(loop) % count == 0 &&
           llvm::all_of(loop.inputs, keepsAligned) &&
           (loop.reducedDims > 0 || llvm::all_of(loop.outputs, keepsAligned));
  };
  int64_t count = std::min<int64_t>(8, 16 / smallest);
  while (count > 1 && !suits(count))
    count /= 2;
  return {count, count * smallest};
}

/// The widest vector of all loops over the longest row.
RowVector vectorOf(const RowsPart &rows) {
  RowVector widest;
  for (const Loop &loop : rows.loops)
    if (elementsOfRow(loop) == longestRow(rows))
      if (RowVector own = vectorOf(loop);
          own.elements > widest.elements ||
          (widest.elements == 1 && own.bytes > widest.bytes))
        widest = own;
  return widest;
}

/// The size of the largest elements that loops pass each other as scratch.
int64_t scratchSize(const RowsPart &rows) {
  int64_t size = 4;
  for (const Loop &loop : rows.loops)
    for (const LoopOperand &output : loop.outputs)
      if (output.access == Access::Scratch)
        size = std::max<int64_t>(size, runtime::sizeInBytes(output.type));
  return size;
}

int64_t powerOf2(int64_t atLeast) {
  return static_cast<int64_t>(
      llvm::PowerOf2Ceil(static_cast<uint64_t>(std::max<int64_t>(atLeast, 1))));
}

} // namespace

int64_t codegen::longestRow(const RowsPart &rows) {
  int64_t longest = 1;
  for (const Loop &loop : rows.loops)
    longest = std::max(longest, elementsOfRow(loop));
  return longest;
}

int64_t codegen::lanesForRow(const RowsPart &rows, int64_t most,
                             const Machine::Gpu &machine) {
  // What a thread has in registers of a row: so many bytes leave room for as
  // many threads as keep memory busy (on an H200 two vectors of 16 bytes each
  // of 1024 threads of a multiprocessor are twice what comes in 700 ns if as
  // much goes out).
  constexpr int64_t kept = 128;
  // Neighbouring threads load at least two sectors at once.
  constexpr int64_t together = 64;
  // Threads of few rows, of which each multiprocessor has some.
  int64_t spare = 256 * machine.multiprocessors;

  RowVector vector = vectorOf(rows);
  int64_t bytes = longestRow(rows) * scratchSize(rows),
          vectors = llvm::divideCeilSigned(longestRow(rows), vector.elements);
  int64_t lanes = std::max(powerOf2(llvm::divideCeilSigned(bytes, kept)),
                           powerOf2(together / vector.bytes));
  lanes = std::min({lanes, powerOf2(vectors), most});
  // Of few rows a thread has a vector, but a warp two before it is a block.
  if (vectors <= 2 * GpuArch::warpSize)
    most = std::min(most, GpuArch::warpSize);
  while (lanes < std::min(vectors, most) && rows.rows * lanes < spare)
    lanes *= 2;
  return lanes;
}

Team codegen::teamFor(const RowsPart &rows, int64_t threads,
                      const Machine::Gpu &machine) {
  // Rows that would leave most multiprocessors idle for long.
  constexpr int64_t longRow = 32768;
  bool areFew = rows.rows <= machine.multiprocessors / 4;
  if (isElementwise(rows) || (longestRow(rows) >= longRow && areFew))
    return {Team::Grid};
  int64_t lanes = lanesForRow(rows, threads, machine);
  if (lanes > GpuArch::warpSize)
    return {Team::Block, threads};
  return {Team::Lanes, lanes};
}

int64_t codegen::teamsOfBlock(Team team, int64_t threads) {
  return team.kind == Team::Grid ? 0 : threads / team.lanes;
}

int64_t codegen::threadsFor(const runtime::Launch &launch,
                            const Machine::Gpu &machine) {
  const auto *rows = launch.parts.size() == 1
                         ? std::get_if<RowsPart>(&launch.parts[0])
                         : nullptr;
  if (!rows || sumsColumns(*rows) ||
      teamFor(*rows, threadsPerBlock, machine).kind == Team::Grid)
    return threadsPerBlock;
  // A small block can start as soon as few threads have ended, and leaves fewer
  // registers unused.
  constexpr int64_t fewThreads = 256;
  int64_t lanes = lanesForRow(*rows, threadsPerBlock, machine);
  return lanes > GpuArch::warpSize ? lanes : fewThreads;
}

int64_t codegen::rowsOfBlock(const RowsPart &rows,
                             const Machine::Gpu &machine) {
  // Of few elements, each for itself, the first block has all.
  if (isElementwise(rows) && rows.rows * longestRow(rows) <= threadsPerBlock)
    return std::max<int64_t>(rows.rows, 1);
  return teamsOfBlock(teamFor(rows, threadsPerBlock, machine), threadsPerBlock);
}

bool codegen::sumsAll(const RowsPart &rows, const Machine::Gpu &machine) {
  const Loop &loop = rows.loops.front();
  return rows.rows == 1 && rows.loops.size() == 1 && loop.reducedDims > 0 &&
         loop.reducedDims + 1 == static_cast<int64_t>(loop.sizes.size()) &&
         teamFor(rows, threadsPerBlock, machine).kind == Team::Grid;
}

bool codegen::isElementwise(const RowsPart &rows) {
  const Loop &loop = rows.loops.front();
  auto isScratch = [](const LoopOperand &operand) {
    return operand.access == Access::Scratch;
  };
  return rows.loops.size() == 1 && loop.reducedDims == 0 &&
         llvm::none_of(loop.inputs, isScratch) &&
         llvm::none_of(loop.outputs, isScratch);
}
