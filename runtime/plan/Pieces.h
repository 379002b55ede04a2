//===- Pieces.h - Arguments that are lists of buffers -----------*- C++ -*-===//
//
// A scattered argument is one array for the program, and a list of separate
// buffers for the caller. For such an argument, executors take the address of a
// PieceList instead of the array's.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_PIECES_H
#define CCN_RUNTIME_PLAN_PIECES_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace ccn::runtime {

/// One of the buffers, with `count` elements.
struct Piece {
  void *data = nullptr;
  int64_t count = 0;

  bool operator==(const Piece &) const = default;
};

/// All buffers of an argument, in the array's order. A buffer without elements
/// needs no address.
struct PieceList {
  const Piece *pieces = nullptr;
  size_t count = 0;
};
using PieceSpan = std::span<const Piece>;

/// The list at an argument's address; empty if the address is null.
inline PieceSpan piecesAt(const void *argument) {
  const auto *list = static_cast<const PieceList *>(argument);
  return list ? PieceSpan(list->pieces, list->count) : PieceSpan();
}

/// An error unless the pieces have `count` elements of `type` in all.
/// nameOf(piece) names a piece in errors.
template <typename NameOf>
Status checkPieces(PieceSpan pieces, int64_t count, ElementType type,
                   NameOf nameOf) {
  int64_t sum = 0;
  auto size = static_cast<uintptr_t>(sizeInBytes(type));
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece &piece = pieces[i];
    if (piece.count < 0)
      return error(nameOf(i), " has ", piece.count, " elements");
    if (piece.count > 0 && !piece.data)
      return error(nameOf(i), " is null");
    if (piece.count > 0 && reinterpret_cast<uintptr_t>(piece.data) % size)
      return error(nameOf(i), " is not aligned to ", size, " bytes");
    if (__builtin_add_overflow(sum, piece.count, &sum))
      sum = INT64_MAX;
  }
  if (sum != count)
    return error("expected ", count,
                 " elements in all buffers together, found ", sum);
  return Status();
}

/// Goes through two lists with equally many elements of `size` bytes. Calls
/// visit(address in a, address in b, elements) for each range that lies in one
/// buffer of a and in one buffer of b; stops when visit returns false. Returns
/// whether visit always returned true.
template <typename Visit>
bool forEachCommonRange(PieceSpan a, PieceSpan b, int size, Visit visit) {
  size_t i = 0, j = 0;
  int64_t fromA = 0, fromB = 0;
  auto address = [&](const Piece &piece, int64_t from) {
    return static_cast<std::byte *>(piece.data) + from * size;
  };
  while (true) {
    for (; i < a.size() && fromA == a[i].count; ++i)
      fromA = 0;
    for (; j < b.size() && fromB == b[j].count; ++j)
      fromB = 0;
    if (i == a.size() || j == b.size())
      return true;
    int64_t count = std::min(a[i].count - fromA, b[j].count - fromB);
    if (!visit(address(a[i], fromA), address(b[j], fromB), count))
      return false;
    fromA += count;
    fromB += count;
  }
}

/// The number of elements of a rank's shard of an argument.
inline int64_t countOf(const RankPlan &plan, size_t argument) {
  int64_t count = 1;
  for (int64_t size : plan.placements[argument].sizes)
    count *= size;
  return count;
}

/// The arguments of a caller that has each in one buffer, in the form that
/// executors take: a scattered argument becomes a list of one buffer.
class WholeArguments {
public:
  /// `addresses` has the address of the rank's shard of each argument.
  WholeArguments(const Plan &plan, int rank, std::vector<void *> addresses)
      : addresses(std::move(addresses)), pieces(plan.arguments.size()),
        lists(plan.arguments.size()) {
    for (size_t i = 0; i < pieces.size(); ++i)
      if (plan.arguments[i].scattered) {
        pieces[i] = {this->addresses[i],
                     countOf(plan.ranks[static_cast<size_t>(rank)], i)};
        lists[i] = {&pieces[i], 1};
        this->addresses[i] = &lists[i];
      }
  }
  WholeArguments(const WholeArguments &) = delete;
  WholeArguments &operator=(const WholeArguments &) = delete;

  operator std::span<void *const>() const { return addresses; }

private:
  std::vector<void *> addresses;
  std::vector<Piece> pieces;
  std::vector<PieceList> lists;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PIECES_H
