//===- CudaShares.cpp - A team's share of a row as CUDA C++ ---------------===//

#include "codegen/gpu/skeletons/CudaShares.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using llvm::StringRef;
using llvm::Twine;

/// Declares the values that `count` turns fetch.
CudaText ShareWriter::declare(int64_t count) const {
  CudaText text;
  text << ("typename decltype(" + loop.variable() + ")::template Fetched<" +
           Twine(loop.width) + "> f" + Twine(loop.number) + "[" + Twine(count) +
           "];\n");
  return text;
}

/// The first vector of a thread, and the end of the vectors of its team or, in
/// a cluster, of its block.
CudaText ShareWriter::firstVector() const {
  CudaText text;
  if (team.kind == Team::Cluster)
    text << ("team.template firstOf<" + Twine(loop.width) + ">(")
         << product(dims) << ")";
  else
    text << "team.lane()";
  return text;
}
CudaText ShareWriter::endOfVectors() const {
  CudaText text;
  if (team.kind == Team::Cluster)
    text << ("team.template endOf<" + Twine(loop.width) + ">(") << product(dims)
         << ")";
  else
    text << turns.vectors;
  return text;
}

/// The distance between two vectors of a thread.
StringRef ShareWriter::step() const {
  return team.kind == Team::Cluster ? "blockDim.x" : "team.lanes()";
}

/// Executes `body` for the turns [first, end). They are unrolled, as a thread's
/// own memory is in registers only if all offsets in it are constants.
CudaText ShareWriter::vectorsIn(int64_t first, int64_t end,
                                const CudaText &body) const {
  CudaText text, ofStep;
  ofStep << "first";
  text << ("unrolled<" + Twine(first) + ", " + Twine(end) +
           ">([&](auto turn) {\nconst i64 i = ")
       << (turns.areNumbered ? firstVector() : ofStep)
       << (" + turn.value * " + step());
  if (loop.takesParts())
    text << (", e = turn.value * " + Twine(loop.width));
  text << ";\n";
  bool isWhole = turns.areNumbered ? end * turns.lanes <= turns.vectors
                                   : turns.vectors % (end * turns.lanes) == 0;
  if (team.kind == Team::Cluster || !isWhole)
    text << "if (i >= " << endOfVectors() << ")\n  return;\n";
  text << body << "});\n";
  return text;
}

/// The same, with the indices of each vector declared before `body`.
CudaText ShareWriter::turn(int64_t first, int64_t end,
                           const CudaText &body) const {
  CudaText text;
  text << indicesOf("i", dims, loop.isReduced() ? "y" : "x", loop.width)
       << body;
  return vectorsIn(first, end, text);
}

CudaText ShareWriter::fetchTurns(int64_t first, int64_t end,
                                 bool areAligned) const {
  CudaText body;
  body << ("f" + Twine(loop.number) + "[turn.value] = " + loop.variable() +
           ".template " + ElementsCall{loop.width, areAligned}.of("fetch") +
           "(" + loop.indices(true) + ");\n");
  return turn(first, end, body);
}

CudaText ShareWriter::call(const ElementsCall &call) const {
  return loop.isReduced() ? addToSums(loop, call) : elementsAt(loop, call);
}

/// Turns without numbers. A step has several turns, all of whose loads come
/// before all stores: the compiler could not move loads before stores.
CudaText ShareWriter::steps(bool areAligned) const {
  CudaText body;
  if (turns.ofStep == 0) {
    body << indicesOf("i", dims, loop.isReduced() ? "y" : "x", loop.width)
         << call({loop.width, areAligned});
    return countedLoop("i", firstVector(), endOfVectors(), step(), body);
  }
  int64_t atOnce = turns.ofStep;
  body << declare(atOnce) << fetchTurns(0, atOnce, areAligned)
       << turn(0, atOnce, call(fetched(areAligned)));
  return countedLoop("first", firstVector(), endOfVectors(),
                     (Twine(atOnce) + " * " + step()).str(), body);
}

/// A call that uses the fetched values of a turn.
ElementsCall ShareWriter::fetched(bool areAligned) const {
  return {loop.width, areAligned,
          "f" + std::to_string(loop.number) + "[turn.value]"};
}

/// All turns. The order is the same whether addresses are aligned or not.
CudaText ShareWriter::pass(bool areAligned, bool isFetched) const {
  CudaText text;
  if (!turns.areNumbered)
    return steps(areAligned);
  if (!given.text.empty()) {
    // Turn by turn, since values that wait take registers.
    CudaText body;
    body << ("auto f = " + loop.variable() + ".template " +
             ElementsCall{loop.width, areAligned}.of("fetch") + "(" +
             loop.indices(true) + ");\n")
         << given << call({loop.width, areAligned, "f"});
    return turn(0, turns.turns, body);
  }
  int64_t atOnce = turns.atOnce;
  if (!isFetched && atOnce <= 1)
    return turn(0, turns.turns, call({loop.width, areAligned}));
  for (int64_t first = 0; first < turns.turns; first += atOnce) {
    int64_t end = std::min(first + atOnce, turns.turns);
    if (!isFetched)
      text << fetchTurns(first, end, areAligned);
    text << turn(first, end, call(fetched(areAligned)));
  }
  return text;
}

CudaText ShareWriter::fetch() const {
  CudaText text;
  text << declare(turns.turns) << whetherAligned(loop, [&](bool areAligned) {
    return fetchTurns(0, turns.turns, areAligned);
  });
  return text;
}

/// Sums of some of a row's elements; one thread computes each sum.
CudaText ShareWriter::sumsOfParts() const {
  CudaText body, count, inner, element;
  inner << product(loop.reduced);
  element << indicesOf("j", loop.reduced, "y", 1) << addToSums(loop, {1});
  body << indicesOf("k", loop.kept, "x", 1) << beginSums(loop)
       << countedLoop("j", "0", inner, "1", element) << finishSums(loop);
  count << product(loop.kept);
  return countedLoop("k", "team.lane()", count, "team.lanes()", body);
}

CudaText ShareWriter::take(bool isOfEvery, bool isFetched) const {
  if (loop.isReduced() && !loop.kept.empty())
    return sumsOfParts();
  const char *first = isOfEvery ? "" : "if (team.lane() == 0)\n  ";
  CudaText text;
  if (!loop.isReduced() && loop.kept.empty()) {
    text << first << elementsAt(loop, {1});
    return text;
  }
  CudaText elements;
  if (!isFetched && given.text.empty() && turns.atOnce > 1)
    elements << declare(turns.turns);
  elements << whetherAligned(
      loop, [&](bool areAligned) { return pass(areAligned, isFetched); });
  if (!loop.isReduced())
    return elements;
  text << "{\n"
       << beginSums(loop) << elements << "merge(team, sums);\n"
       << first << finishSums(loop) << "}\n";
  return text;
}
