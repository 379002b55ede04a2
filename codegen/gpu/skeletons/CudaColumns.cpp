//===- CudaColumns.cpp - Sums along other than rows as CUDA C++ -----------===//

#include "codegen/gpu/skeletons/CudaColumns.h"

#include "codegen/gpu/emit/CudaElements.h"
#include "codegen/gpu/emit/CudaIndices.h"
#include "codegen/gpu/map/ColumnSums.h"
#include "codegen/gpu/map/RowTeams.h"
#include "runtime/plan/GpuAbi.h"
#include "runtime/tensor/Strided.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

using namespace ccn;
using namespace ccn::codegen;
using llvm::Twine;
using runtime::Access;
using runtime::Loop;
using runtime::LoopOperand;

namespace {

/// What lanes that are neighbours have of contiguous bytes, at least and at
/// most: a line of the cache, or pieces that memory likes better.
constexpr int64_t leastPiece = 128, mostPiece = 512;
/// How many tiles keep a GPU's multiprocessors busy, and how many do so evenly.
constexpr int64_t busyTiles = 192, evenTiles = 1024;
/// A block alone takes about as long for so many bytes as all blocks take to
/// wait for each other and to merge what they have.
constexpr int64_t bytesOfBarrier = 192 * 1024;
/// The results of a block, and its groups, where sums of blocks are merged.
constexpr int64_t mergedResults = 32;

/// Declares the variable of a loop without scratch.
CudaText construct(const LoopWriter &loop) {
  CudaText none;
  none << "nullptr";
  return loop.construct(none, "nullptr");
}

/// Writes one loop.
class ColumnsWriter {
public:
  ColumnsWriter(CudaPart &part, const Loop &info)
      : part(part), info(info), loop(part, info, false, scratch, true) {}

  llvm::Error write();
  /// Whether blocks have parts of results, which they are to merge when all
  /// have come.
  bool isShared() const { return mostShares > 1; }
  void writeMerge() const;

private:
  void shareOut();
  int64_t tilesOf(int64_t lanes) const {
    return llvm::divideCeilSigned(vectors, lanes);
  }
  /// Of what a thread has of sums, at most.
  int64_t bytesOf(int width) const { return width * bytesOfSums(info); }
  CudaText beginSums(const Twine &results) const;
  CudaText addElements(bool areAligned) const;
  CudaText finish(bool areAligned, int width) const;
  CudaText mergeGroups(int64_t lanes, int width) const;

  CudaPart &part;
  const Loop &info;
  CudaScratch scratch;
  LoopWriter loop;
  int64_t vectors = 0, summed = 0;
  /// Of a thread, on their way at once.
  int64_t turns = 1;
  /// Threads of a group, and what all of them have of vectors is a tile.
  int64_t lanes = 1, tiles = 1;
  /// How many blocks may share out the sums of a tile.
  int64_t mostShares = 1;
  /// Where they leave what they have.
  CudaText partials;
};

/// Chooses lanes and shares.
void ColumnsWriter::shareOut() {
  constexpr int64_t bytesAtOnce = 64;
  vectors = product(loop.kept) / loop.width;
  summed = product(loop.reduced);
  // Of what is the same for all that is summed up nothing more comes.
  int64_t fetched = 0, size = 1;
  for (const LoopOperand &input : info.inputs) {
    if (input.access == Access::Index || !isSummed(info, input))
      continue;
    int64_t bytes = runtime::sizeInBytes(input.type);
    bool isVector = input.view.strides[*columnsOf(info)] == 1;
    if (isVector)
      size = std::max(size, bytes);
    if (input.access == Access::LoadReduced)
      bytes *= static_cast<int64_t>(part.places.members(input.group).size());
    fetched += isVector ? bytes * loop.width : bytes;
  }
  // Of more elements what is computed would take more registers.
  turns = std::clamp<int64_t>(bytesAtOnce / fetched, 1,
                              std::max(16 / loop.width, 4));
  auto lanesOf = [&](int64_t bytes) {
    return static_cast<int64_t>(
        llvm::PowerOf2Ceil(llvm::divideCeilSigned(bytes, loop.width * size)));
  };
  // What is contiguous ends with the last dimension, and groups without
  // elements would be idle.
  int64_t contiguous = static_cast<int64_t>(
              llvm::PowerOf2Ceil(loop.kept.back().size / loop.width)),
          groups = static_cast<int64_t>(
              llvm::PowerOf2Ceil(llvm::divideCeilSigned(summed, turns))),
          least =
              std::clamp(std::min(lanesOf(leastPiece), contiguous),
                         threadsPerBlock / std::min(groups, threadsPerBlock),
                         threadsPerBlock),
          most = std::clamp(std::min(lanesOf(mostPiece), contiguous), least,
                            threadsPerBlock);
  for (lanes = most; lanes > least && tilesOf(lanes) < evenTiles;)
    lanes /= 2;
  tiles = tilesOf(lanes);
  if (tiles >= busyTiles || summed * fetched * lanes <= bytesOfBarrier)
    return;
  // Blocks share out the sums: pieces are as long as they can be, unless many
  // lanes would have none.
  for (int64_t other = std::min(most, threadsPerBlock / 2); other > lanes;
       other /= 2)
    if (tilesOf(other) * other * 8 <= tiles * lanes * 9)
      lanes = other;
  tiles = tilesOf(lanes);
  mostShares = std::max<int64_t>(
      llvm::divideCeilSigned(summed, threadsPerBlock / lanes * turns), 1);
}

/// Declares sums of so many results.
CudaText ColumnsWriter::beginSums(const Twine &results) const {
  CudaText text;
  // They are stored by vectors.
  text << ("__align__(16) typename decltype(" + loop.variable() +
           ")::Sums sums[" + results +
           "];\n#pragma unroll\nfor (int j = 0; j < " + results + "; ++j)\n  " +
           loop.variable() + ".begin(sums[j], ")
       << summed << " == 0);\n";
  return text;
}

/// Adds the elements from number `first` to `end` that are of the thread's
/// group: several loads are on their way at once.
CudaText ColumnsWriter::addElements(bool areAligned) const {
  CudaText first, end;
  first << ("begin + threadIdx.x / " + Twine(lanes));
  end << "end";
  // The order is the same with fewer. What comes apart takes more registers.
  return addInTurns(loop, areAligned, areAligned ? turns : 1, first, end,
                    std::to_string(threadsPerBlock / lanes), /*elements=*/1);
}

CudaText ColumnsWriter::finish(bool areAligned, int width) const {
  CudaText text;
  text << (loop.variable() + ".template " +
           ElementsCall{width, areAligned}.of("finish") + "(sums, " +
           loop.indices(false) + ");\n");
  return text;
}

/// Begins to merge what groups have, with what is done of each result.
CudaText ColumnsWriter::mergeGroups(int64_t lanes, int width) const {
  CudaText text;
  text << ("mergeGroups<" + Twine(threadsPerBlock) + ", " + Twine(lanes) +
           ", " + Twine(width) + ", " + Twine(bytesOf(width)) +
           ">(sharedMemory, sums, [&](int result, auto &sums) {\n");
  return text;
}

llvm::Error ColumnsWriter::write() {
  if (llvm::Error error = loop.write())
    return error;
  shareOut();
  std::string ofLanes = std::to_string(lanes),
              results = std::to_string(lanes * loop.width);
  bool isMerged = lanes < threadsPerBlock;
  CudaText &text = part.kernel.body;
  text << "{\n" << construct(loop) << "const i64 tiles = " << tiles << ";\n";
  if (isShared()) {
    text << "const i64 shares = sharesOfTiles(tiles, " << mostShares << ");\n";
    runtime::GpuLaunch &launch = part.kernel.launch;
    partials << ("reinterpret_cast<typename decltype(" + loop.variable() +
                 ")::Sums *>(c.workspace + ")
             << launch.workspaceBytes << ")";
    // There are no more shares than blocks, but for one of each tile.
    int64_t items = std::max<int64_t>(
        tiles, std::min<int64_t>(tiles * mostShares, CCN_MAX_BLOCKS));
    launch.workspaceBytes +=
        llvm::alignTo(items * lanes * bytesOf(loop.width), /*Align=*/64);
  }
  part.needBlocks(tiles * mostShares);
  text << (Twine("for (i64 t = blockIdx.x; t < tiles") +
           (isShared() ? " * shares" : "") + "; t += gridDim.x) {\n")
       << (isShared()
               ? "const i64 tile = t % tiles, share = t / tiles, begin = "
               : "const i64 tile = t, begin = 0, end = ")
       << summed;
  if (isShared())
    text << " * share / shares, end = " << summed << " * (share + 1) / shares";
  text << (";\nconst i64 k = tile * " + ofLanes + " + threadIdx.x % " +
           ofLanes + ";\n")
       << beginSums(Twine(loop.width)) << "if (k < " << vectors << ") {\n"
       << indicesOf("k", loop.kept, "x", loop.width)
       << whetherAligned(loop,
                         [&](bool areAligned) {
                           CudaText pass;
                           pass << addElements(areAligned);
                           if (!isMerged)
                             pass << finish(areAligned, loop.width);
                           return pass;
                         })
       << "}\n";
  if (isMerged) {
    int64_t &shared = part.kernel.properties.sharedBytes;
    shared = std::max(shared, threadsPerBlock * bytesOf(loop.width));
    text << mergeGroups(lanes, loop.width);
    if (isShared())
      text << "(" << partials
           << (")[t * " + results + " + result] = sums[0];\n");
    else
      text << ("const i64 k = tile * " + results + " + result;\nif (k >= ")
           << product(loop.kept) << ")\n  return;\n"
           << indicesOf("k", loop.kept, "x", 1) << finish(true, 1);
    text << "});\n";
  }
  text << "}\n}\n";
  return llvm::Error::success();
}

/// Merges what blocks have: few lanes of each have results, so that there are
/// as many groups as a block can have.
void ColumnsWriter::writeMerge() const {
  int64_t results = product(loop.kept);
  std::string lanes = std::to_string(mergedResults),
              groups = std::to_string(threadsPerBlock / mergedResults);
  CudaText &text = part.kernel.body;
  text << "{\n"
       << construct(loop) << "const i64 tiles = " << tiles
       << ", shares = sharesOfTiles(tiles, " << mostShares
       << ");\nfor (i64 t = blockIdx.x; t < "
       << llvm::divideCeilSigned(results, mergedResults)
       << ("; t += gridDim.x) {\nconst i64 k = t * " + lanes +
           " + threadIdx.x % " + lanes + ";\n")
       << beginSums("1") << "if (k < " << results
       << (")\n  for (i64 share = threadIdx.x / " + lanes +
           "; share < shares; share += " + groups + ")\n    sums[0].add((")
       << partials << ")[share * tiles * " << this->lanes * loop.width
       << " + k]);\n"
       << mergeGroups(mergedResults, 1)
       << ("const i64 k = t * " + lanes + " + result;\nif (k >= ") << results
       << ")\n  return;\n"
       << indicesOf("k", loop.kept, "x", 1) << finish(true, 1) << "});\n}\n}\n";
}

/// Whether one loop must be done before another begins.
bool isBefore(const CudaPlaces &places, const Loop &one, const Loop &other) {
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

} // namespace

/// Adds a loop in which every element is for itself.
static llvm::Error writeElements(CudaPart &part, const Loop &info) {
  CudaScratch scratch;
  LoopWriter loop(part, info, false, scratch);
  if (llvm::Error error = loop.write())
    return error;
  part.kernel.body << "{\n"
                   << construct(loop)
                   << elementsOfRow(loop, "threadInGrid()", "threadsInGrid()")
                   << "}\n";
  part.needBlocks(
      llvm::divideCeilSigned(product(loop.kept), threadsPerBlock * loop.width));
  return llvm::Error::success();
}

llvm::Error codegen::emitColumns(CudaPart &part,
                                 const runtime::RowsPart &rows) {
  runtime::RowsPart spread = rows;
  for (const auto &[number, array] : spreadScratch(spread)) {
    int64_t &workspace = part.kernel.launch.workspaceBytes;
    int buffer = part.places.addWorkspace(array.type, array.count, workspace);
    workspace += llvm::alignTo(array.count * runtime::sizeInBytes(array.type),
                               /*Align=*/64);
    for (LoopOperand *operand : array.operands) {
      operand->view.buffer = buffer;
      operand->access = Access::Load;
    }
  }
  for (Loop &loop : spread.loops)
    for (LoopOperand &output : loop.outputs)
      if (output.access == Access::Load)
        output.access = Access::Store;
  // Since blocks last waited for each other.
  std::vector<const Loop *> before;
  std::deque<ColumnsWriter> toMerge;
  auto merge = [&] {
    if (toMerge.empty())
      return;
    part.gridBarrier();
    for (const ColumnsWriter &writer : toMerge)
      writer.writeMerge();
    toMerge.clear();
  };
  for (const Loop &loop : spread.loops) {
    if (llvm::any_of(before, [&](const Loop *earlier) {
          return isBefore(part.places, *earlier, loop);
        })) {
      merge();
      part.gridBarrier();
      before.clear();
    }
    before.push_back(&loop);
    if (loop.reducedDims == 0) {
      if (llvm::Error error = writeElements(part, loop))
        return error;
      continue;
    }
    ColumnsWriter &writer = toMerge.emplace_back(part, loop);
    if (llvm::Error error = writer.write())
      return error;
    if (!writer.isShared())
      toMerge.pop_back();
  }
  merge();
  return llvm::Error::success();
}
