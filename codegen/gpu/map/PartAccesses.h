//===- PartAccesses.h - What parts of kernels access ------------*- C++ -*-===//
//
// Goes through all accesses of a part to buffers, in one way for all kinds of
// parts.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_PARTACCESSES_H
#define CCN_CODEGEN_GPU_MAP_PARTACCESSES_H

#include "runtime/plan/Plan.h"
#include "runtime/tensor/ElementType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ccn::codegen {

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
  llvm::ArrayRef<int64_t> sizes;
};

/// T, const if `Like` is.
template <typename Like, typename T>
using ConstAs = std::conditional_t<std::is_const_v<Like>, const T, T>;

/// Calls visit(PartAccess) for all accesses of a part, a Part or a const Part;
/// what loops do to a group once for each member. Not the memory that loops
/// leave each other, nor that which an exchange has of its own.
template <typename PartT, typename Visit>
void forEachAccess(PartT &any, llvm::ArrayRef<std::vector<int>> groups,
                   Visit visit) {
  using namespace runtime;
  using Found = PartAccess<ConstAs<PartT, View>>;
  auto strided = [&](auto &view, llvm::ArrayRef<int64_t> sizes, bool writes,
                     int owner = -1) {
    int64_t elements = 1, last = 0;
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      elements *= size;
      last += (size - 1) * (dim < view.strides.size() ? view.strides[dim] : 0);
    }
    visit(Found{view, elements == 0 ? 0 : last + 1, elements == last + 1,
                writes, owner, sizes});
  };
  // ShareArguments.cpp leaves buffers with slots where they are.
  auto slots = [&](auto &operand, llvm::ArrayRef<int64_t> sizes) {
    View slot = operand.view;
    for (size_t i = 0; i < groups[static_cast<size_t>(operand.group)].size();
         ++i, slot.offset += operand.slots)
      strided(static_cast<ConstAs<PartT, View> &>(slot), sizes, false);
  };
  auto rowMajor = [&](auto &view, llvm::ArrayRef<int64_t> sizes, bool writes) {
    int64_t elements = 1;
    for (int64_t size : sizes)
      elements *= size;
    visit(Found{view, elements, true, writes, -1, {}});
  };
  auto rows = [&](ConstAs<PartT, RowsPart> &part) {
    for (auto &loop : part.loops) {
      // A reduction of nothing writes, too.
      std::vector<int64_t> kept = loop.sizes;
      std::fill(kept.end() - loop.reducedDims, kept.end(), 1);
      for (auto *list : {&loop.inputs, &loop.outputs})
        for (auto &operand : *list) {
          bool writes = list == &loop.outputs;
          const std::vector<int64_t> &sizes = writes ? kept : loop.sizes;
          switch (operand.access) {
          case Access::Load:
          case Access::Store:
            strided(operand.view, sizes, writes);
            break;
          case Access::LoadReduced:
          case Access::StoreAll:
            if (operand.slots != 0)
              slots(operand, sizes);
            else
              for (int member : groups[static_cast<size_t>(operand.group)])
                strided(operand.view, sizes, writes, member);
            break;
          case Access::Scratch:
          case Access::Index:
            break;
          }
        }
    }
  };
  auto copy = [&](ConstAs<PartT, CopyPart> &part) {
    strided(part.from, part.sizes, false);
    strided(part.to, part.sizes, true);
  };
  auto product = [&](ConstAs<PartT, MatmulPart> &part) {
    auto matrix = [&](auto &view, int64_t rows, int64_t columns, bool writes) {
      std::vector<int64_t> sizes = part.batch;
      sizes.push_back(rows);
      sizes.push_back(columns);
      strided(view, sizes, writes);
    };
    matrix(part.a, part.m, part.k, false);
    matrix(part.b, part.k, part.n, false);
    matrix(part.c, part.m, part.n, true);
  };
  auto convolution = [&](ConstAs<PartT, Conv2dPart> &part) {
    rowMajor(part.x, part.xShape, false);
    rowMajor(part.w, part.wShape, false);
    rowMajor(part.y, part.yShape, true);
  };
  auto gatherRows = [&](ConstAs<PartT, GatherRowsPart> &part) {
    rowMajor(part.table, {part.tableRows, part.rowSize}, false);
    rowMajor(part.indices, {part.count}, false);
    rowMajor(part.to, {part.count, part.rowSize}, true);
  };
  auto scatterRows = [&](ConstAs<PartT, ScatterRowsPart> &part) {
    rowMajor(part.table, {part.tableRows, part.rowSize}, false);
    rowMajor(part.indices, {part.count}, false);
    rowMajor(part.rows, {part.count, part.rowSize}, false);
    rowMajor(part.to, {part.tableRows, part.rowSize}, true);
  };
  auto exchange = [&](ConstAs<PartT, ExchangePart> &part) {
    rowMajor(part.from, {part.inputCount}, false);
    rowMajor(part.to, {part.outputCount}, true);
  };
  std::visit(llvm::makeVisitor(
                 rows, copy, product, convolution, gatherRows, scatterRows,
                 exchange, [](const BarrierPart &) {},
                 [](const SignalPart &) {}, [](const AwaitPart &) {}),
             any);
}

/// Where in memory an access is.
struct AccessedBytes {
  runtime::Memory memory;
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

/// Of an access of a rank.
inline AccessedBytes bytesOf(const runtime::Plan &plan, int rank,
                             const PartAccess<const runtime::View> &access) {
  const runtime::View &view = access.view;
  const runtime::Buffer &buffer =
      plan.ranks[static_cast<size_t>(rank)]
          .buffers[static_cast<size_t>(view.buffer)];
  int64_t size = runtime::sizeInBytes(buffer.type);
  int owner = access.owner >= 0 ? access.owner
              : view.rank >= 0  ? view.rank
                                : rank;
  bool isArgument = buffer.memory == runtime::Memory::Argument;
  int64_t begin = isArgument ? 0 : buffer.offset;
  return {buffer.memory,
          isArgument ? buffer.offset : 0,
          owner,
          begin + view.offset * size,
          begin + (view.offset + access.extent) * size,
          size};
}

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_PARTACCESSES_H
