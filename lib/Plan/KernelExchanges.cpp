//===- KernelExchanges.cpp - Collectives that are exchanges ---------------===//
//
// Lowers one-shot all_reduces by packets, and synthesized schedules. An
// exchange reads a buffer of each member and writes another; copies take its
// output to the result, if it is not written there.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Kernel.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

/// The boxes that are in one of `held` and one of `needed`.
static SmallVector<TensorPart> commonBoxes(ArrayRef<TensorPart> held,
                                           ArrayRef<TensorPart> needed) {
  SmallVector<TensorPart> boxes;
  for (const TensorPart &given : held)
    for (const TensorPart &taken : needed)
      if (std::optional<TensorPart> both = intersect(given, taken))
        boxes.push_back(*both);
  return boxes;
}

int64_t Kernel::largestExchanged(CommunicateOp op, const Geometry &geometry,
                                 ArrayRef<SmallVector<TensorPart>> held,
                                 ArrayRef<SmallVector<TensorPart>> needed) {
  Collective what = op.getCollective();
  int64_t largest = 0;
  if (!hasBlocks(what, true) && !hasBlocks(what, false)) {
    for (ArrayRef<TensorPart> boxes : held)
      largest = std::max(largest, countBoxes(boxes));
    return largest;
  }
  MeshOp mesh = planner.getMesh();
  auto find = [&] {
    for (int64_t giver = 0; giver < mesh.getNumRanks(); ++giver)
      for (int64_t taker : mesh.getGroup(giver, op.getAxes().getNames()))
        largest = std::max(largest, countBoxes(commonBoxes(
                                        held[static_cast<size_t>(giver)],
                                        needed[static_cast<size_t>(taker)])));
    return largest;
  };
  // Chunks differ in what they have of a block.
  return chunk ? find()
               : planner.getRankParts().largestBlock(geometry.from, geometry.to,
                                                     op.getAxes(), find);
}

LogicalResult Kernel::lowerExchange(CommunicateOp op, const Geometry &geometry,
                                    Exchange exchange) {
  Value input = op.getInput(), result = op.getResult();
  int64_t rank = planner.getRank();
  ArrayRef<int64_t> group = geometry.group.getRanks();
  bool blocksIn = hasBlocks(op.getCollective(), /*isInput=*/true),
       blocksOut = hasBlocks(op.getCollective(), /*isInput=*/false);
  // The boxes that each rank holds and needs, in elements of the whole tensor.
  MeshOp mesh = planner.getMesh();
  SmallVector<SmallVector<TensorPart>> held, needed;
  for (int64_t member = 0; member < mesh.getNumRanks(); ++member) {
    held.push_back(boxesOf(geometry.from, input, member));
    needed.push_back(boxesOf(geometry.to, result, member));
  }
  auto common = [&](int64_t giver, int64_t taker) {
    return commonBoxes(held[static_cast<size_t>(giver)],
                       needed[static_cast<size_t>(taker)]);
  };
  int64_t largest = largestExchanged(op, geometry, held, needed);
  auto members = static_cast<int64_t>(group.size());
  Type element = Planner::elementOf(input);
  auto makeBuffer = [&](bool blocks) {
    int64_t count = blocks || blocksIn || blocksOut
                        ? largest * (blocks ? members : 1)
                        : countBoxes(held[static_cast<size_t>(rank)]);
    return Strided::whole(planner.addBuffer(Memory::private_, element, count),
                          {count});
  };
  auto copyBoxes = [&](Strided packed, int64_t first,
                       ArrayRef<TensorPart> boxes, const Strided &whole,
                       const TensorPart &part, bool isIn) {
    for (const TensorPart &box : boxes) {
      Strided there = boxIn(whole, part, box);
      Strided here = Strided::whole(packed.buffer, there.sizes);
      here.offset = first;
      first += there.count();
      parts.copy(isIn ? there : here, isIn ? here : there);
    }
  };

  // The whole input lies in one place, so that its boxes are views.
  FailureOr<Strided> source = storeWhole(input);
  if (failed(source))
    return failure();
  Strided home = planner.homeOf(result);
  auto exchangeIn = [&](const Strided &from, const Strided &to) {
    // The larger of the numbers of input and output elements.
    parts.exchange(
        exchange, op.getKind().value_or(ReduceKind::sum), geometry.group,
        largest * (blocksIn || blocksOut ? members : 1),
        op->getAttrOfType<FlatSymbolRefAttr>(kAlgorithmAttr), from, to);
  };
  ArrayRef<TensorPart> given = held[static_cast<size_t>(rank)],
                       taken = needed[static_cast<size_t>(rank)];
  // Without blocks and chunks, the elements may already be contiguous.
  if (!blocksIn && !blocksOut && !chunkedDim(input) && source->isRowMajor() &&
      home.isRowMajor()) {
    exchangeIn(*reshape(*source, {source->count()}),
               *reshape(home, {home.count()}));
  } else {
    Strided from = makeBuffer(blocksIn), to = makeBuffer(blocksOut);
    if (blocksIn)
      for (auto [i, member] : llvm::enumerate(group))
        copyBoxes(from, static_cast<int64_t>(i) * largest, common(rank, member),
                  *source, geometry.ownFrom, true);
    else
      copyBoxes(from, 0, given, *source, geometry.ownFrom, true);
    exchangeIn(from, to);
    if (op.getCollective() == Collective::gather &&
        geometry.position != static_cast<int64_t>(*op.getRoot()))
      for (size_t i = 0; i < countPieces(result); ++i)
        fillZero(pieceOf(home, result, i));
    else if (blocksOut)
      for (auto [i, member] : llvm::enumerate(group))
        copyBoxes(to, static_cast<int64_t>(i) * largest, common(member, rank),
                  home, geometry.ownTo, false);
    else
      copyBoxes(to, 0, taken, home, geometry.ownTo, false);
  }
  // In a reduce, ranks other than the root keep their input.
  bool keeps = op.getCollective() == Collective::reduce &&
               geometry.position != static_cast<int64_t>(*op.getRoot());
  for (size_t i = 0; i < countPieces(result); ++i) {
    if (keeps)
      addPiece(result, getPiece(input, i));
    else
      addView(result, pieceOf(home, result, i));
  }
  return success();
}
