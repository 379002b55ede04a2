//===- CudaElements.cpp - Who takes which elements of a loop --------------===//

#include "codegen/gpu/emit/CudaElements.h"

#include "codegen/gpu/emit/CudaIndices.h"
#include "codegen/gpu/map/RowTeams.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using llvm::StringRef;
using llvm::Twine;

/// Adds all elements of a result, shared out among lanes, in an order that does
/// not depend on whether addresses are aligned.
static CudaText sumShared(const LoopWriter &loop, StringRef lane,
                          StringRef lanes) {
  CudaText count;
  count << product(loop.reduced) / loop.width;
  return whetherAligned(loop, [&](bool areAligned) {
    CudaText body;
    body << indicesOf("i", loop.reduced, "y", loop.width)
         << addToSums(loop, {loop.width, areAligned});
    return countedLoop("i", lane, count, lanes, body);
  });
}

CudaText codegen::addInTurns(const LoopWriter &loop, bool areAligned,
                             int64_t turns, const CudaText &first,
                             const CudaText &end, StringRef step,
                             int elements) {
  auto eachOf = [&](const CudaText &body) {
    CudaText text;
    text << ("unrolled<0, " + Twine(turns) +
             ">([&](auto turn) {\nconst i64 i = first + turn.value * " + step +
             ";\nif (i >= ")
         << end << ")\n  return;\n"
         << indicesOf("i", loop.reduced, "y", elements) << body << "});\n";
    return text;
  };
  CudaText fetch, body;
  fetch << ("f[turn.value] = " + loop.variable() + ".template " +
            ElementsCall{loop.width, areAligned}.of("fetch") + "(" +
            loop.indices(true) + ");\n");
  body << ("typename decltype(" + loop.variable() + ")::template Fetched<" +
           Twine(loop.width) + "> f[" + Twine(turns) + "];\n")
       << eachOf(fetch)
       << eachOf(addToSums(loop, {loop.width, areAligned, "f[turn.value]"}));
  return countedLoop("first", first, end, (Twine(turns) + " * " + step).str(),
                     body);
}

/// Likewise, from vector `first` to `end`, with several loads of a thread on
/// their way at once: where each multiprocessor may have one block alone, one
/// at a time would leave most of the memory's bandwidth unused. The order is
/// the same.
static CudaText sumAtOnce(const LoopWriter &loop, const CudaText &first,
                          const CudaText &end, StringRef step,
                          int64_t mostTurns) {
  constexpr int64_t bytesAtOnce = 64;
  int64_t turns = std::clamp<int64_t>(
      bytesAtOnce / std::max<int64_t>(loop.fetchedBytes(), 1), 1, mostTurns);
  return whetherAligned(loop, [&](bool areAligned) {
    return addInTurns(loop, areAligned, turns, first, end, step, loop.width);
  });
}

CudaText codegen::sumOfBlocks(const LoopWriter &loop, int64_t tile) {
  constexpr int64_t mostTurns = 4;
  int64_t vectors = product(loop.reduced) / loop.width;
  CudaText first, end;
  if (tile == 0) {
    first << "threadInGrid()";
    end << vectors;
    return sumAtOnce(loop, first, end, "threadsInGrid()", mostTurns);
  }
  CudaText text, count;
  count << tile / loop.width;
  first << "t + threadIdx.x";
  end << "end";
  text << "for (i64 t = blockIdx.x * " << count << "; t < " << vectors
       << "; t += gridDim.x * " << count << ") {\nconst i64 end = t + " << count
       << " < " << vectors << " ? t + " << count << " : " << vectors << ";\n"
       << sumAtOnce(loop, first, end, "blockDim.x",
                    std::clamp<int64_t>(tile / loop.width / threadsPerBlock, 1,
                                        mostTurns))
       << "}\n";
  return text;
}

CudaText codegen::sumTogether(const LoopWriter &loop) {
  CudaText text;
  text << beginSums(loop) << sumShared(loop, "team.lane()", "team.lanes()")
       << ("merge(team, sums);\nif (team.lane() == 0)\n  " + finishSums(loop));
  return text;
}

CudaText codegen::elementsOfRow(const LoopWriter &loop, StringRef first,
                                StringRef step) {
  int64_t count = product(loop.kept);
  auto pass = [&](int64_t count, int width) {
    CudaText body, total;
    total << count;
    body << indicesOf("i", loop.kept, "x", width) << elementsAt(loop, {width});
    return countedLoop("i", first, total, step, body);
  };
  CudaText scalars = pass(count, 1);
  if (loop.width == 1)
    return scalars;
  CudaText text;
  text << ("if (" + loop.variable() + ".aligned()) {\n")
       << pass(count / loop.width, loop.width);
  // Only one dimension may have a rest.
  if (loop.kept.size() == 1 && count % loop.width != 0) {
    CudaText total;
    total << count;
    text << "for (i64 i = " << (count / loop.width * loop.width)
         << (" + " + first + "; i < ") << total << ("; i += " + step + ") {\n")
         << indicesOf("i", loop.kept, "x", 1) << elementsAt(loop, {1}) << "}\n";
  }
  text << "} else {\n" << scalars << "}\n";
  return text;
}

/// All elements of which a block takes some one after the other: `count` from
/// each `t` of a loop on.
static CudaText elementsOfBlock(const LoopWriter &loop, StringRef first,
                                const CudaText &count, const CudaText &step) {
  auto pass = [&](const Twine &begin, const Twine &end, int width) {
    CudaText count, body;
    count << end;
    body << indicesOf("i", loop.kept, "x", width) << elementsAt(loop, {width});
    return countedLoop("i", (begin + " + threadIdx.x").str(), count,
                       "blockDim.x", body);
  };
  CudaText text, total;
  total << product(loop.kept);
  text << ("for (i64 t = " + first + "; t < ") << total << "; t += " << step
       << ") {\nconst i64 end = t + " << count << " < " << total << " ? t + "
       << count << " : " << total << ";\n";
  if (loop.width > 1) {
    std::string width = std::to_string(loop.width);
    text << ("if (" + loop.variable() + ".aligned()) {\n")
         << pass("t / " + width, "end / " + width, loop.width)
         << pass("end / " + width + " * " + width, "end", 1) << "} else {\n"
         << pass("t", "end", 1) << "}\n";
  } else {
    text << pass("t", "end", 1);
  }
  text << "}\n";
  return text;
}

CudaText codegen::elementsOfTiles(const LoopWriter &loop, int64_t tile) {
  std::string size = std::to_string(tile) + "LL";
  CudaText count, step;
  count << size;
  step << ("gridDim.x * " + size);
  return elementsOfBlock(loop, "blockIdx.x * " + size, count, step);
}

CudaText codegen::elementsOfUnits(const LoopWriter &loop,
                                  const BlockShare &share) {
  std::string unit = std::to_string(share.unit) + "LL";
  CudaText count, step;
  count << ("(last - first) * " + unit);
  step << share.units * share.unit;
  return elementsOfBlock(loop, "first * " + unit, count, step);
}
