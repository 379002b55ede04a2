//===- PartAccesses.h - What parts of kernels access ------------*- C++ -*-===//
//
// The one enumeration of what the parts of a plan access, for all kinds of
// parts, and the tests whether two accesses meet. Checks of plans that come
// from elsewhere (CheckParts.cpp) trust nothing here, and have their own.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_PARTACCESSES_H
#define CCN_RUNTIME_PLAN_PARTACCESSES_H

#include "runtime/plan/Plan.h"

#include <algorithm>
#include <span>
#include <type_traits>

namespace ccn::runtime {

/// One access of a part to a buffer. ViewT is View or const View.
template <typename ViewT> struct PartAccess {
  ViewT &view;
  /// The elements from the view's first to the last that is accessed; 0 if none
  /// are.
  int64_t extent;
  /// Whether all of these are accessed, each once.
  bool isContiguous;
  bool writes;
  /// The member of a group in whose memory it is; -1: where the view says.
  int owner;
  /// Of the view's dimensions, while it is visited; none of what is row-major.
  std::span<const int64_t> sizes;

  /// In whose memory it is, if `rank` has the part.
  int ownerFor(int rank) const {
    return owner >= 0 ? owner : view.rank >= 0 ? view.rank : rank;
  }
};

/// T, const if `Like` is.
template <typename Like, typename T>
using ConstAs = std::conditional_t<std::is_const_v<Like>, const T, T>;

/// Visits the accesses of parts; PartT is Part or const Part.
template <typename PartT, typename Visit> class AccessVisitor {
public:
  AccessVisitor(std::span<const std::vector<int>> groups, Visit &visit)
      : groups(groups), visit(visit) {}

  void operator()(ConstAs<PartT, RowsPart> &part) {
    for (auto &loop : part.loops) {
      // A reduction of nothing writes, too.
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
      // What is visited of slots is a copy of the view: changes are lost.
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

/// Calls visit(PartAccess) for all accesses of a part, a Part or a const Part;
/// what loops do to a group once for each member. Not the memory that loops
/// leave each other, nor that which an exchange has of its own.
template <typename PartT, typename Visit>
void forEachAccess(PartT &part, std::span<const std::vector<int>> groups,
                   Visit visit) {
  std::visit(AccessVisitor<PartT, Visit>(groups, visit), part);
}

/// Where in memory something is.
struct AccessedBytes {
  Memory memory;
  /// Of arguments their number.
  int64_t argument;
  /// In whose memory.
  int owner;
  int64_t begin, end;
  int64_t elementSize;

  bool meets(const AccessedBytes &other) const {
    return memory == other.memory && argument == other.argument &&
           owner == other.owner && begin < other.end && other.begin < end;
  }
};

/// Elements of a buffer in the memory of `owner`.
inline AccessedBytes bytesOf(const Buffer &buffer, int owner, int64_t first,
                             int64_t count) {
  int64_t size = sizeInBytes(buffer.type);
  bool isArgument = buffer.memory == Memory::Argument;
  int64_t begin = (isArgument ? 0 : buffer.offset) + first * size;
  return {buffer.memory, isArgument ? buffer.offset : 0, owner,
          begin,         begin + count * size,           size};
}

/// Of an access of a rank.
inline AccessedBytes bytesOf(const Plan &plan, int rank,
                             const PartAccess<const View> &access) {
  const Buffer &buffer = plan.ranks[static_cast<size_t>(rank)]
                             .buffers[static_cast<size_t>(access.view.buffer)];
  return bytesOf(buffer, access.ownerFor(rank), access.view.offset,
                 access.extent);
}

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PARTACCESSES_H
