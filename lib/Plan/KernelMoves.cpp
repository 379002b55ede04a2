//===- KernelMoves.cpp - Collectives that move elements -------------------===//
//
// all_gather, all_to_all, broadcast, gather, scatter and send: between
// barriers, or after signals, a rank copies the elements that it needs from the
// memory of other ranks.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Kernel.h"
#include "lib/Plan/MemberPieces.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

void Kernel::moveFrom(CommunicateOp op, const Geometry &geometry, int buffer,
                      const Strided &home, int64_t first, int64_t last) {
  ArrayRef<int64_t> group = geometry.group.getRanks();
  SmallVector<TensorPart> needed =
      boxesOf(geometry.to, op.getResult(), planner.getRank());
  /// Calls copy(from, to) for each piece that comes from a rank.
  auto forEachPiece = [&](int64_t rank, auto copy) {
    const TensorPart &part = planner.partOf(geometry.from, rank);
    Strided theirs = Strided::whole(buffer, boxSizes(part));
    for (const TensorPart &given : boxesOf(geometry.from, op.getInput(), rank))
      for (const TensorPart &taken : needed)
        if (std::optional<TensorPart> common = intersect(given, taken))
          copy(boxIn(theirs, part, *common),
               boxIn(home, geometry.ownTo, *common));
  };
  if (last - first > 1 && isLarge(geometry.group)) {
    std::vector<MemberPieces> pieces;
    for (int64_t member = first; member < last; ++member)
      forEachPiece(group[static_cast<size_t>(member)],
                   [&](Strided from, Strided to) {
                     pieces.push_back({member, std::move(from), std::move(to)});
                   });
    for (const MemberPieces &joined : joinPieces(std::move(pieces)))
      parts.gather(geometry.group, joined);
    return;
  }
  // Each rank reads from the next member first, so that not all read from the
  // same.
  for (int64_t step = 1; step <= last - first; ++step) {
    int64_t member = first + (geometry.position + step) % (last - first);
    int64_t rank = group[static_cast<size_t>(member)];
    forEachPiece(rank, [&](Strided from, const Strided &to) {
      if (rank != planner.getRank())
        from.rank = rank;
      parts.copy(from, to);
    });
  }
}

LogicalResult Kernel::lowerMoving(CommunicateOp op, const Geometry &geometry) {
  Value input = op.getInput(), result = op.getResult();
  ArrayRef<int64_t> group = geometry.group.getRanks();
  auto members = static_cast<int64_t>(group.size());
  FailureOr<Strided> own = stage(op);
  if (failed(own))
    return failure();
  if (isRing()) {
    auto isGiver = [&](int64_t rank) {
      return hasElements(boxesOf(geometry.from, input, rank));
    };
    if (isGiver(planner.getRank()))
      tell(geometry, *chunk->flags, anyRank);
    await(geometry, *chunk->flags, isGiver);
  } else {
    synchronize(geometry.group, staged[op].part);
    accessOthers(geometry.group);
  }
  // Ranks that keep their input reserve the home too, so that all ranks have
  // the same symmetric memory.
  Strided home = planner.homeOf(result);
  int64_t root = static_cast<int64_t>(op.getRoot().value_or(0));
  int64_t first = 0, last = members;
  switch (op.getCollective()) {
  case Collective::broadcast:
  case Collective::scatter:
    first = root;
    last = root + 1;
    break;
  case Collective::gather:
    if (geometry.position != root)
      last = 0;
    break;
  case Collective::send:
    first = geometry.position - static_cast<int64_t>(*op.getShift());
    last = first + 1;
    if (first < 0 || first >= members) {
      // Nobody sends to this rank, which keeps what it has.
      for (size_t i = 0; i < countPieces(input); ++i)
        addPiece(result, getPiece(input, i));
      return success();
    }
    break;
  default:
    break;
  }
  for (size_t i = 0; i < countPieces(result); ++i) {
    addView(result, pieceOf(home, result, i));
    if (last == 0)
      fillZero(pieceOf(home, result, i));
  }
  moveFrom(op, geometry, own->buffer, home, first, last);
  return success();
}
