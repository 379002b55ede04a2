//===- CudaColumns.cpp - Sums along columns as CUDA C++ -------------------===//

#include "codegen/gpu/skeletons/Columns.h"

#include "codegen/gpu/emit/CudaElements.h"
#include "codegen/gpu/emit/CudaIndices.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"

#include <deque>

using namespace ccn;
using namespace ccn::codegen;
using llvm::Twine;

namespace {

/// Declares the variable of a loop without scratch.
CudaText construct(const LoopWriter &loop) {
  CudaText none;
  none << "nullptr";
  return loop.construct(none, "nullptr");
}

/// Writes one loop of sums.
class ColumnsWriter {
public:
  ColumnsWriter(CudaPart &part, const ColumnLoopPlan &plan)
      : part(part), plan(plan), loop(part, plan.loop) {}

  llvm::Error write();
  void writeMerge() const;

private:
  /// The address of the partial sums of blocks.
  CudaText partials() const {
    CudaText text;
    text << ("reinterpret_cast<typename decltype(" + loop.variable() +
             ")::Sums *>(c.workspace + ")
         << plan.partials << ")";
    return text;
  }
  CudaText beginSums(const Twine &results) const;
  CudaText addElements(bool areAligned) const;
  CudaText finish(bool areAligned, int width) const;
  CudaText mergeGroups(int64_t lanes, int width) const;

  CudaPart &part;
  const ColumnLoopPlan &plan;
  LoopWriter loop;
};

/// Declares the accumulators of `results` results.
CudaText ColumnsWriter::beginSums(const Twine &results) const {
  CudaText text;
  // Accumulators are stored as vectors.
  text << ("__align__(16) typename decltype(" + loop.variable() +
           ")::Sums sums[" + results +
           "];\n#pragma unroll\nfor (int j = 0; j < " + results + "; ++j)\n  " +
           loop.variable() + ".begin(sums[j], ")
       << plan.summed << " == 0);\n";
  return text;
}

/// Adds the elements from `begin` to `end` that belong to the thread's group,
/// with several loads in flight at once.
CudaText ColumnsWriter::addElements(bool areAligned) const {
  CudaText first, end;
  first << ("begin + threadIdx.x / " + Twine(plan.lanes));
  end << "end";
  // The number of turns does not change the order. Unaligned elements are
  // loaded one by one, which needs more registers, so only one turn is in
  // flight.
  return addInTurns(loop, areAligned, areAligned ? plan.turns : 1, first, end,
                    std::to_string(threadsPerBlock / plan.lanes),
                    /*elements=*/1);
}

CudaText ColumnsWriter::finish(bool areAligned, int width) const {
  CudaText text;
  text << (loop.variable() + ".template " +
           ElementsCall{width, areAligned}.of("finish") + "(sums, " +
           loop.indices(false) + ");\n");
  return text;
}

/// Begins the code that merges the groups' sums and then handles each result.
CudaText ColumnsWriter::mergeGroups(int64_t lanes, int width) const {
  CudaText text;
  text << ("mergeGroups<" + Twine(threadsPerBlock) + ", " + Twine(lanes) +
           ", " + Twine(width) + ", " + Twine(width * plan.bytesOfSum) +
           ">(sharedMemory, sums, [&](int result, auto &sums) {\n");
  return text;
}

llvm::Error ColumnsWriter::write() {
  if (llvm::Error error = loop.write())
    return error;
  std::string ofLanes = std::to_string(plan.lanes),
              results = std::to_string(plan.lanes * loop.width);
  bool isMerged = plan.lanes < threadsPerBlock;
  CudaText &text = part.kernel.body;
  text << "{\n"
       << construct(loop) << "const i64 tiles = " << plan.tiles << ";\n";
  if (plan.isShared())
    text << "const i64 shares = sharesOfTiles(tiles, " << plan.mostShares
         << ");\n";
  text << (Twine("for (i64 t = blockIdx.x; t < tiles") +
           (plan.isShared() ? " * shares" : "") + "; t += gridDim.x) {\n")
       << (plan.isShared()
               ? "const i64 tile = t % tiles, share = t / tiles, begin = "
               : "const i64 tile = t, begin = 0, end = ")
       << plan.summed;
  if (plan.isShared())
    text << " * share / shares, end = " << plan.summed
         << " * (share + 1) / shares";
  text << (";\nconst i64 k = tile * " + ofLanes + " + threadIdx.x % " +
           ofLanes + ";\n")
       << beginSums(Twine(loop.width)) << "if (k < " << plan.vectors << ") {\n"
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
    text << mergeGroups(plan.lanes, loop.width);
    if (plan.isShared())
      text << "(" << partials()
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

/// Merges the partial sums of blocks. A group has few lanes, so that a block
/// has many groups.
void ColumnsWriter::writeMerge() const {
  int64_t results = product(loop.kept);
  std::string lanes = std::to_string(mergedResults),
              groups = std::to_string(threadsPerBlock / mergedResults);
  CudaText &text = part.kernel.body;
  text << "{\n"
       << construct(loop) << "const i64 tiles = " << plan.tiles
       << ", shares = sharesOfTiles(tiles, " << plan.mostShares
       << ");\nfor (i64 t = blockIdx.x; t < "
       << llvm::divideCeilSigned(results, mergedResults)
       << ("; t += gridDim.x) {\nconst i64 k = t * " + lanes +
           " + threadIdx.x % " + lanes + ";\n")
       << beginSums("1") << "if (k < " << results
       << (")\n  for (i64 share = threadIdx.x / " + lanes +
           "; share < shares; share += " + groups + ")\n    sums[0].add((")
       << partials() << ")[share * tiles * " << plan.lanes * loop.width
       << " + k]);\n"
       << mergeGroups(mergedResults, 1)
       << ("const i64 k = t * " + lanes + " + result;\nif (k >= ") << results
       << ")\n  return;\n"
       << indicesOf("k", loop.kept, "x", 1) << finish(true, 1) << "});\n}\n}\n";
}

} // namespace

/// Adds a loop with independent elements.
static llvm::Error writeElements(CudaPart &part, const LoopPlan &plan) {
  LoopWriter loop(part, plan);
  if (llvm::Error error = loop.write())
    return error;
  part.kernel.body << "{\n"
                   << construct(loop)
                   << elementsOfRow(loop, "threadInGrid()", "threadsInGrid()")
                   << "}\n";
  return llvm::Error::success();
}

llvm::Error codegen::emitColumns(CudaPart &part, const ColumnsPlan &columns) {
  std::deque<ColumnsWriter> toMerge;
  auto merge = [&] {
    part.gridBarrier();
    for (const ColumnsWriter &writer : toMerge)
      writer.writeMerge();
    toMerge.clear();
  };
  for (const ColumnLoopPlan &plan : columns.loops) {
    if (plan.mergesBefore)
      merge();
    if (plan.waitsBefore)
      part.gridBarrier();
    if (!plan.isReduced) {
      if (llvm::Error error = writeElements(part, plan.loop))
        return error;
      continue;
    }
    ColumnsWriter &writer = toMerge.emplace_back(part, plan);
    if (llvm::Error error = writer.write())
      return error;
    if (!plan.isShared())
      toMerge.pop_back();
  }
  if (columns.mergesAfter)
    merge();
  return llvm::Error::success();
}
