//===- CollectivePlans.h - Collectives as parts of plans --------*- C++ -*-===//
//
// Every kind of collective made of copies, rows and flags: argument 0 is its
// input, argument 1 its output. Dimensions are cut into ragged slices.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_RUNTIME_COLLECTIVEPLANS_H
#define CCN_TEST_UNIT_RUNTIME_COLLECTIVEPLANS_H

#include "PlanUtil.h"
#include "runtime/tensor/SliceBounds.h"

namespace ccn::runtime {

inline SliceBounds sliceOf(int64_t size, int ranks, int rank) {
  int64_t all = ranks, own = rank;
  return cutPiece(size, size, {&all, 1}, {&own, 1});
}

/// The slice of `rank` of a shape's dimension.
inline Shape sliceShape(Shape shape, size_t dim, int ranks, int rank) {
  shape[dim] = sliceOf(shape[dim], ranks, rank).size;
  return shape;
}
/// Where it begins in the whole tensor.
inline int64_t sliceStart(const Shape &shape, size_t dim, int ranks, int rank) {
  return std::min(product(shape), sliceOf(shape[dim], ranks, rank).offset *
                                      rowMajor(shape)[dim]);
}

/// A loop that copies one operand to another.
inline RowsPart copyRows(const Shape &sizes, LoopOperand from, LoopOperand to) {
  return {sizes[0], {{"", sizes, 0, {std::move(from)}, {std::move(to)}}}};
}

inline Plan twoShotPlan(int ranks, ElementType type, ReduceKind kind,
                        int64_t count) {
  PlanBuilder b(ranks);
  int in = b.argument(type, count, ArgumentKind::Input);
  int out = b.argument(type, count, ArgumentKind::Result);
  int staged = b.symmetric(type, count), gathered = b.symmetric(type, count);
  BarrierPart first = b.barrier(), second = b.barrier();
  b.launch("all_reduce", [&](int rank) -> std::vector<Part> {
    SliceBounds slice = sliceOf(count, ranks, rank);
    return {
        copyAll(in, staged, count), first,
        copyRows(
            {slice.size},
            {Access::LoadReduced, {staged, slice.offset, {1}}, type, 0, kind},
            {Access::StoreAll, {gathered, slice.offset, {1}}, type, 0}),
        second, copyAll(gathered, out, count)};
  });
  return b.plan;
}

inline Plan reduceScatterPlan(int ranks, ElementType type, ReduceKind kind,
                              const Shape &shape, size_t dim) {
  PlanBuilder b(ranks);
  int64_t count = product(shape);
  int in = b.argument(type, count, ArgumentKind::Input);
  int out = b.argument(type, [&](int rank) {
    return product(sliceShape(shape, dim, ranks, rank));
  });
  int staged = b.symmetric(type, count);
  BarrierPart first = b.barrier(), second = b.barrier();
  b.launch("reduce_scatter", [&](int rank) -> std::vector<Part> {
    Shape sizes = sliceShape(shape, dim, ranks, rank);
    return {copyAll(in, staged, count), first,
            copyRows(
                sizes,
                {Access::LoadReduced,
                 {staged, sliceStart(shape, dim, ranks, rank), rowMajor(shape)},
                 type,
                 0,
                 kind},
                {Access::Store, {out, 0, rowMajor(sizes)}, type}),
            second};
  });
  return b.plan;
}

/// Pulls slices out of the others' memory, or pushes the own into theirs.
inline Plan allGatherPlan(int ranks, ElementType type, const Shape &shape,
                          size_t dim, bool push) {
  PlanBuilder b(ranks);
  int64_t count = product(shape);
  auto sliceCount = [&](int rank) {
    return product(sliceShape(shape, dim, ranks, rank));
  };
  int in = b.argument(type, sliceCount, ArgumentKind::Input);
  int out = b.argument(type, count);
  int shared = b.symmetric(type, push ? count : sliceCount(0));
  BarrierPart first = b.barrier(), second = b.barrier();
  b.launch("all_gather", [&](int rank) -> std::vector<Part> {
    auto copy = [&](int slice, View from, View to) {
      Shape sizes = sliceShape(shape, dim, ranks, slice);
      from.strides = rowMajor(sizes);
      to.strides = rowMajor(shape);
      to.offset = sliceStart(shape, dim, ranks, slice);
      return CopyPart{sizes, std::move(from), std::move(to)};
    };
    std::vector<Part> parts;
    if (!push)
      parts.push_back(copyAll(in, shared, sliceCount(rank)));
    else
      for (int other = 0; other < ranks; ++other)
        parts.push_back(copy(rank, {in, 0, {}, -1}, {shared, 0, {}, other}));
    parts.push_back(first);
    if (push)
      parts.push_back(copyAll(shared, out, count));
    else
      for (int other = 0; other < ranks; ++other)
        parts.push_back(copy(other, {shared, 0, {}, other}, {out, 0, {}, -1}));
    parts.push_back(second);
    return parts;
  });
  return b.plan;
}

/// Likewise by gathers: one of the full slices, one of a shorter one.
inline Plan gatherPlan(int ranks, ElementType type, const Shape &shape,
                       size_t dim) {
  PlanBuilder b(ranks);
  auto sliceCount = [&](int rank) {
    return product(sliceShape(shape, dim, ranks, rank));
  };
  int in = b.argument(type, sliceCount, ArgumentKind::Input);
  int out = b.argument(type, product(shape));
  int shared = b.symmetric(type, sliceCount(0));
  BarrierPart first = b.barrier(), second = b.barrier();
  b.launch("all_gather", [&](int rank) -> std::vector<Part> {
    std::vector<Part> parts = {copyAll(in, shared, sliceCount(rank)), first};
    for (int member = 0; member < ranks;) {
      Shape sizes = sliceShape(shape, dim, ranks, member);
      int64_t count = 1;
      while (member + count < ranks &&
             sliceShape(shape, dim, ranks, member + static_cast<int>(count)) ==
                 sizes)
        ++count;
      int64_t start = sliceStart(shape, dim, ranks, member);
      if (product(sizes) > 0)
        parts.push_back(
            GatherPart{0,
                       member,
                       {{count, 1, 0, sizes[dim] * rowMajor(shape)[dim]}},
                       sizes,
                       {shared, 0, rowMajor(sizes)},
                       {out, start, rowMajor(shape)}});
      member += static_cast<int>(count);
    }
    parts.push_back(second);
    return parts;
  });
  return b.plan;
}

inline Plan allToAllPlan(int ranks, ElementType type, const Shape &shape,
                         size_t from, size_t to) {
  PlanBuilder b(ranks);
  auto counts = [&](size_t dim) {
    return [&shape, dim, ranks](int rank) {
      return product(sliceShape(shape, dim, ranks, rank));
    };
  };
  int in = b.argument(type, counts(from), ArgumentKind::Input);
  int out = b.argument(type, counts(to));
  int shared = b.symmetric(type, counts(from)(0));
  BarrierPart first = b.barrier(), second = b.barrier();
  b.launch("all_to_all", [&](int rank) -> std::vector<Part> {
    std::vector<Part> parts = {copyAll(in, shared, counts(from)(rank)), first};
    Shape wanted = sliceShape(shape, to, ranks, rank);
    for (int other = 0; other < ranks; ++other) {
      Shape held = sliceShape(shape, from, ranks, other);
      Shape sizes = sliceShape(wanted, from, ranks, other);
      if (from == to)
        sizes[to] = other == rank ? wanted[to] : 0;
      int64_t source = from == to ? 0 : sliceStart(held, to, ranks, rank);
      int64_t target = from == to ? 0 : sliceStart(wanted, from, ranks, other);
      parts.push_back(CopyPart{sizes,
                               {shared, source, rowMajor(held), other},
                               {out, target, rowMajor(wanted), -1}});
    }
    parts.push_back(second);
    return parts;
  });
  return b.plan;
}

/// Member i gives its tensor to i + 1; the first keeps its own. By signals
/// alone: a barrier of two.
inline Plan sendPlan(int ranks, ElementType type, int64_t count) {
  PlanBuilder b(ranks);
  int in = b.argument(type, count, ArgumentKind::Input);
  int out = b.argument(type, count);
  int slot = b.symmetric(type, count);
  int64_t full = b.flags(1), free = b.flags(1);
  b.launch("send", [&](int rank) -> std::vector<Part> {
    // Who has no neighbour is its own.
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    bool last = rank == ranks - 1, first = rank == 0;
    return {CopyPart{{last ? 0 : count}, {in, 0, {1}, -1}, {slot, 0, {1}, to}},
            SignalPart{to, full},
            AwaitPart{from, full},
            copyAll(first ? in : slot, out, count),
            SignalPart{from, free},
            AwaitPart{to, free}};
  });
  return b.plan;
}

inline Plan broadcastPlan(int ranks, ElementType type, int64_t count,
                          int root) {
  PlanBuilder b(ranks);
  int in = b.argument(type, count, ArgumentKind::Input);
  int out = b.argument(type, count);
  int slot = b.symmetric(type, count);
  BarrierPart first = b.barrier(), second = b.barrier();
  b.launch("broadcast", [&](int rank) -> std::vector<Part> {
    std::vector<Part> parts;
    for (int other = 0; other < ranks; ++other)
      parts.push_back(CopyPart{
          {rank == root ? count : 0}, {in, 0, {1}, -1}, {slot, 0, {1}, other}});
    parts.insert(parts.end(), {first, copyAll(slot, out, count), second});
    return parts;
  });
  return b.plan;
}

} // namespace ccn::runtime

#endif // CCN_TEST_UNIT_RUNTIME_COLLECTIVEPLANS_H
