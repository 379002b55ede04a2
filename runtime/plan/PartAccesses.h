//===- PartAccesses.h - Which memory parts access ---------------*- C++ -*-===//
//
// Enumerates the accesses of all kinds of parts, and tests whether two accesses
// overlap. CheckParts.cpp, which checks plans from untrusted files, does not
// use this.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_PARTACCESSES_H
#define CCN_RUNTIME_PLAN_PARTACCESSES_H

#include "runtime/plan/GatherPieces.h"

#include <algorithm>
#include <span>
#include <type_traits>

namespace ccn::runtime {

/// One access of a part to a buffer. ViewT is View or const View.
template <typename ViewT> struct PartAccess {
  ViewT &view;
  /// The number of elements from the view's first to the last that is accessed;
  /// 0 if none is accessed.
  int64_t extent;
  /// Whether each of these elements is accessed exactly once.
  bool isContiguous;
  bool writes;
  /// For an access to a group: the member whose memory is accessed. -1: the
  /// view says whose memory it is.
  int owner;
  /// The sizes of the view's dimensions, valid during the visit; empty if the
  /// view is row-major.
  std::span<const int64_t> sizes;

  /// The rank whose memory is accessed if `rank` executes the part.
  int ownerFor(int rank) const {
    return owner >= 0 ? owner : view.rank >= 0 ? view.rank : rank;
  }
};

/// T, or const T if `Like` is const.
template <typename Like, typename T>
using ConstAs = std::conditional_t<std::is_const_v<Like>, const T, T>;

/// Visits the accesses of a part; PartT is Part or const Part.
template <typename PartT, typename Visit> class AccessVisitor {
public:
  AccessVisitor(std::span<const std::vector<int>> groups, Visit &visit)
      : groups(groups), visit(visit) {}

  void operator()(ConstAs<PartT, RowsPart> &part) {
    for (auto &loop : part.loops) {
      // A reduction writes its result even if it reduces no elements.
      std::vector<int64_t> kept = loop.sizes;
      std::fill(kept.end() - loop.reducedDims, kept.end(), 1);
      for (auto &input : loop.inputs)
        operand(input, loop.sizes, false);
      for (auto &output : loop.outputs)
        operand(output, kept, true);
    }
  }
  void operator()(ConstAs<PartT, CopyPart> &part) {
    strided(part.from, part.sizes, false);
    strided(part.to, part.sizes, true);
  }
  void operator()(ConstAs<PartT, MatmulPart> &part) {
    auto matrix = [&](auto &view, int64_t rows, int64_t columns, bool writes) {
      std::vector<int64_t> sizes = part.batch;
      sizes.push_back(rows);
      sizes.push_back(columns);
      strided(view, sizes, writes);
    };
    matrix(part.a, part.m, part.k, false);
    matrix(part.b, part.k, part.n, false);
    matrix(part.c, part.m, part.n, true);
  }
  void operator()(ConstAs<PartT, Conv2dPart> &part) {
    rowMajor(part.x, part.xShape, false);
    rowMajor(part.w, part.wShape, false);
    rowMajor(part.y, part.yShape, true);
  }
  void operator()(ConstAs<PartT, GatherRowsPart> &part) {
    rowMajor(part.table, {part.tableRows, part.rowSize}, false);
    rowMajor(part.indices, {part.count}, false);
    rowMajor(part.to, {part.count, part.rowSize}, true);
  }
  void operator()(ConstAs<PartT, ScatterRowsPart> &part) {
    rowMajor(part.table, {part.tableRows, part.rowSize}, false);
    rowMajor(part.indices, {part.count}, false);
    rowMajor(part.rows, {part.count, part.rowSize}, false);
    rowMajor(part.to, {part.tableRows, part.rowSize}, true);
  }
  void operator()(ConstAs<PartT, ExchangePart> &part) {
    rowMajor(part.from, {part.inputCount}, false);
    rowMajor(part.to, {part.outputCount}, true);
  }
  void operator()(ConstAs<PartT, GatherPart> &part) {
    const std::vector<int> &group = groups[static_cast<size_t>(part.group)];
    // The visitor gets copies of the views, so its changes are lost.
    View from = part.from;
    for (int64_t i = 0, count = countPieces(part); i < count; ++i) {
      GatheredPiece piece = pieceAt(part, i);
      from.offset = part.from.offset + piece.from;
      strided(from, part.sizes, false,
              group[static_cast<size_t>(piece.member)]);
    }
    View to = gatheredView(part, part.to, &PieceDim::toStep);
    strided(to, gatheredSizes(part), true);
  }
  void operator()(const BarrierPart &) {}
  void operator()(const SignalPart &) {}
  void operator()(const AwaitPart &) {}

private:
  using ViewT = ConstAs<PartT, View>;

  void strided(ViewT &view, std::span<const int64_t> sizes, bool writes,
               int owner = -1) {
    int64_t elements = 1, last = 0;
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      elements *= sizes[dim];
      last += (sizes[dim] - 1) *
              (dim < view.strides.size() ? view.strides[dim] : 0);
    }
    visit(PartAccess<ViewT>{view, elements == 0 ? 0 : last + 1,
                            elements == last + 1, writes, owner, sizes});
  }
  void rowMajor(ViewT &view, const std::vector<int64_t> &sizes, bool writes) {
    int64_t elements = 1;
    for (int64_t size : sizes)
      elements *= size;
    visit(PartAccess<ViewT>{view, elements, true, writes, -1, {}});
  }
  void operand(ConstAs<PartT, LoopOperand> &operand,
               std::span<const int64_t> sizes, bool writes) {
    switch (operand.access) {
    case Access::Load:
    case Access::Store:
      strided(operand.view, sizes, writes);
      break;
    case Access::LoadReduced:
    case Access::StoreAll: {
      const std::vector<int> &group =
          groups[static_cast<size_t>(operand.group)];
      // For slots, the visitor gets a copy of the view, so its changes are
      // lost.
      View slot = operand.view;
      for (int member : group) {
        if (operand.slots == 0)
          strided(operand.view, sizes, writes, member);
        else
          strided(slot, sizes, writes);
        slot.offset += operand.slots;
      }
      break;
    }
    case Access::Scratch:
    case Access::Index:
      break;
    }
  }

  std::span<const std::vector<int>> groups;
  Visit &visit;
};

/// Calls visit(PartAccess) for each access of a part (a Part or a const Part);
/// for a loop's access to a group, once for each member. Leaves out the scratch
/// memory of loops and the symmetric memory that an exchange allocates itself.
template <typename PartT, typename Visit>
void forEachAccess(PartT &part, std::span<const std::vector<int>> groups,
                   Visit visit) {
  std::visit(AccessVisitor<PartT, Visit>(groups, visit), part);
}

/// A range of bytes in the memory of a rank.
struct AccessedBytes {
  Memory memory;
  /// For Memory::Argument, the argument's number.
  int64_t argument;
  /// The rank whose memory it is.
  int owner;
  int64_t begin, end;
  int64_t elementSize;

  bool meets(const AccessedBytes &other) const {
    return memory == other.memory && argument == other.argument &&
           owner == other.owner && begin < other.end && other.begin < end;
  }
};

/// The bytes of `count` elements of a buffer, from `first` on, in the memory of
/// `owner`.
inline AccessedBytes bytesOf(const Buffer &buffer, int owner, int64_t first,
                             int64_t count) {
  int64_t size = sizeInBytes(buffer.type);
  bool isArgument = buffer.memory == Memory::Argument;
  int64_t begin = (isArgument ? 0 : buffer.offset) + first * size;
  return {buffer.memory, isArgument ? buffer.offset : 0, owner,
          begin,         begin + count * size,           size};
}

/// The bytes of an access of `rank`.
inline AccessedBytes bytesOf(const Plan &plan, int rank,
                             const PartAccess<const View> &access) {
  const Buffer &buffer = plan.ranks[static_cast<size_t>(rank)]
                             .buffers[static_cast<size_t>(access.view.buffer)];
  return bytesOf(buffer, access.ownerFor(rank), access.view.offset,
                 access.extent);
}

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PARTACCESSES_H
