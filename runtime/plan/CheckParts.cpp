//===- CheckParts.cpp - Checks the parts of plans -------------------------===//
//
// Views and loops; the other parts are in CheckOtherParts.cpp.
//
// The most important check: every view lies inside its buffer, whatever its
// sizes and strides are.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/PartChecker.h"
#include "runtime/plan/SymmetricMemory.h"
#include "runtime/tensor/Strided.h"

#include <algorithm>

namespace ccn::runtime {

bool isValid(ElementType type) { return type <= ElementType::Bool; }

Result<int64_t> elementCount(std::span<const int64_t> sizes) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t size : sizes) {
    if (size < 0)
      return error("expected sizes of at least 0, found ", size);
    empty |= size == 0;
    if (size > 0 && (__builtin_mul_overflow(count, size, &count) ||
                     count > maxSymmetricBytes))
      return error("the product of the sizes is too large");
  }
  return empty ? 0 : count;
}

namespace {

/// The sizes of a view, with 1 for dimensions that repeat elements.
std::vector<int64_t> withoutRepeats(std::span<const int64_t> sizes,
                                    std::span<const int64_t> strides) {
  std::vector<int64_t> kept(sizes.begin(), sizes.end());
  for (size_t dim = 0; dim < kept.size(); ++dim)
    if (strides[dim] == 0 && kept[dim] > 1)
      kept[dim] = 1;
  return kept;
}

} // namespace

Result<Extent> extentOf(int64_t offset, std::span<const int64_t> sizes,
                        std::span<const int64_t> strides) {
  Extent extent{offset, offset};
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    int64_t step;
    int64_t &end = strides[dim] < 0 ? extent.first : extent.last;
    if (__builtin_mul_overflow(sizes[dim] - 1, strides[dim], &step) ||
        __builtin_add_overflow(end, step, &end))
      return error("the view's indices overflow");
  }
  return extent;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Status PartChecker::flagOf(int other, int64_t flag) const {
  auto ranks = static_cast<int>(plan.ranks.size());
  if (other < 0 || other >= ranks)
    return error("expected a rank below ", ranks, ", found ", other);
  if (flag < 0 || flag >= rankPlan.flags)
    return error("expected a flag below ", rankPlan.flags, ", found ", flag);
  return Status();
}

Status PartChecker::groupOf(int group) const {
  auto groups = static_cast<int>(plan.groups.size());
  if (group < 0 || group >= groups)
    return error("expected a group below ", groups, ", found ", group);
  const std::vector<int> &ranks = plan.groups[static_cast<size_t>(group)];
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
    return error("rank ", rank, " is not in group ", group);
  return Status();
}

Status PartChecker::buffer(const View &view, Use use) const {
  auto buffers = static_cast<int>(rankPlan.buffers.size());
  if (view.buffer < 0 || view.buffer >= buffers)
    return error("expected a buffer below ", buffers, ", found ", view.buffer);
  const Buffer &buffer = rankPlan.buffers[static_cast<size_t>(view.buffer)];
  auto ranks = static_cast<int>(plan.ranks.size());
  if (view.rank < -1 || view.rank >= ranks)
    return error("expected a rank below ", ranks, ", found ", view.rank);
  bool remote = view.rank >= 0 && view.rank != rank;
  if (remote && (use == Reads || use == Writes))
    return error("expected own memory, found that of rank ", view.rank);
  if (remote && buffer.memory != Memory::Symmetric)
    return error("buffer ", view.buffer, " of rank ", view.rank,
                 " is not symmetric");
  if ((use == Writes || use == WritesAny) &&
      buffer.memory == Memory::Argument &&
      plan.arguments[static_cast<size_t>(buffer.offset)].kind ==
          ArgumentKind::Input)
    return error("input '",
                 plan.arguments[static_cast<size_t>(buffer.offset)].name,
                 "' would be written");
  if (view.offset < 0 || view.offset > buffer.count)
    return error("the view begins at element ", view.offset, " of buffer ",
                 view.buffer, ", which has ", buffer.count);
  return Status();
}

Status PartChecker::strided(const View &view, std::span<const int64_t> sizes,
                            Use use) const {
  if (Status status = buffer(view, use); !status)
    return status;
  if (view.strides.size() != sizes.size())
    return error("expected a stride for each of ", sizes.size(),
                 " dimensions, found ", view.strides.size());
  Result<int64_t> count = elementCount(withoutRepeats(sizes, view.strides));
  if (!count)
    return count.status();
  if (*count == 0) {
    // Executors compute addresses of rows even if they have no elements.
    std::vector<int64_t> some(sizes.begin(), sizes.end());
    for (int64_t &size : some)
      size = std::max<int64_t>(size, 1);
    Result<Extent> extent = extentOf(view.offset, some, view.strides);
    if (!extent || extent->first < -maxSymmetricBytes ||
        extent->last > maxSymmetricBytes)
      return error("the indices of the empty view overflow");
    return Status();
  }
  Result<Extent> extent = extentOf(view.offset, sizes, view.strides);
  if (!extent)
    return extent.status();
  int64_t held = rankPlan.buffers[static_cast<size_t>(view.buffer)].count;
  if (extent->first < 0 || extent->last >= held)
    return error("the view has elements ", extent->first, " to ", extent->last,
                 " of buffer ", view.buffer, ", which has ", held);
  return Status();
}

Status PartChecker::rowMajor(const View &view, std::span<const int64_t> sizes,
                             Use use) const {
  if (Status status = buffer(view, use); !status)
    return status;
  // Strides may be left out here; if they are given, they must be row-major.
  if (!view.strides.empty() &&
      (view.strides.size() != sizes.size() || !isRowMajor(sizes, view.strides)))
    return error("expected a row-major view, found strides");
  Result<int64_t> count = elementCount(sizes);
  if (!count)
    return count.status();
  int64_t held = rankPlan.buffers[static_cast<size_t>(view.buffer)].count;
  if (*count > held - view.offset)
    return error("the view has ", *count, " elements from ", view.offset,
                 " on of buffer ", view.buffer, ", which has ", held);
  return Status();
}

Status PartChecker::sameType(const View &a, const View &b) const {
  if (type(a) == type(b))
    return Status();
  return error("expected one element type, found ", name(type(a)), " and ",
               name(type(b)));
}

Status PartChecker::numbers(const View &view) const {
  if (type(view) != ElementType::Bool)
    return Status();
  return error("expected numbers, found bool");
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Status PartChecker::scratch(const Loop &loop, const LoopOperand &operand,
                            bool isInput) {
  const View &view = operand.view;
  if (view.offset < 0 || view.offset > maxSymmetricBytes ||
      std::any_of(view.strides.begin(), view.strides.end(),
                  [](int64_t stride) { return stride < 0; }))
    return error("expected scratch with strides of at least 0");
  // A reduction has a result even where it reduces no elements.
  std::vector<int64_t> sizes = loop.sizes;
  if (!isInput)
    std::fill(sizes.end() - loop.reducedDims, sizes.end(), 1);
  bool empty = std::count(sizes.begin(), sizes.end(), 0) > 0;
  Result<Extent> extent =
      empty ? Extent{0, -1} : extentOf(view.offset, sizes, view.strides);
  if (!extent)
    return extent.status();
  // The limit also keeps the number of bytes, at most 8 times as large, from
  // overflowing.
  if (extent->last > maxSymmetricBytes ||
      (!view.strides.empty() && view.strides[0] > maxSymmetricBytes))
    return error("the scratch is too large");
  auto made = scratches.find(view.buffer);
  if (isInput) {
    if (made == scratches.end())
      return error("scratch ", view.buffer, " is read before it is made");
    if (made->second.first != operand.type)
      return error("scratch ", view.buffer, " is made as ",
                   name(made->second.first), " and read as ",
                   name(operand.type));
    if (extent->last > made->second.second)
      return error("scratch ", view.buffer, " is read beyond what is made");
    return Status();
  }
  scratches[view.buffer] = {operand.type, extent->last};
  return Status();
}

Status PartChecker::operand(const Loop &loop, const LoopOperand &operand,
                            bool isInput) {
  if (!isValid(operand.type))
    return error("its type is unknown");
  const View &view = operand.view;
  if (view.strides.size() != loop.sizes.size())
    return error("expected a stride for each of ", loop.sizes.size(),
                 " dimensions, found ", view.strides.size());
  bool fits = isInput;
  switch (operand.access) {
  case Access::Index:
    if (!isInput || loop.function.empty())
      return error("an index is an input of a function only");
    if (Result<Extent> extent = extentOf(view.offset, loop.sizes, view.strides);
        !extent)
      return extent.status();
    return Status();
  case Access::Scratch:
    return scratch(loop, operand, isInput);
  case Access::Load:
    if (Status status = strided(view, loop.sizes, ReadsAny); !status)
      return status;
    break;
  case Access::Store:
    fits = !isInput;
    if (Status status = strided(view, loop.sizes, WritesAny); !status)
      return status;
    break;
  case Access::LoadReduced:
  case Access::StoreAll: {
    fits = isInput == (operand.access == Access::LoadReduced);
    View own = view;
    own.rank = -1;
    if (Status status =
            all({strided(own, loop.sizes, Reads), groupOf(operand.group)});
        !status)
      return status;
    if (rankPlan.buffers[static_cast<size_t>(view.buffer)].memory !=
        Memory::Symmetric)
      return error("expected symmetric memory");
    if (operand.reduction > ReduceKind::Mean)
      return error("the kind of reduction is unknown");
    if (operand.slots != 0) {
      auto others = static_cast<int64_t>(
          plan.groups[static_cast<size_t>(operand.group)].size() - 1);
      if (operand.slots < 0 || !isInput ||
          __builtin_mul_overflow(others, operand.slots, &others) ||
          __builtin_add_overflow(own.offset, others, &own.offset))
        return error("expected slots of an input, found ", operand.slots,
                     " elements");
      if (Status status = strided(own, loop.sizes, Reads); !status)
        return status;
    }
    if (operand.access == Access::LoadReduced)
      if (Status status = checkReduction(operand.reduction, operand.type,
                                         std::string(name(operand.type)));
          !status)
        return status;
    break;
  }
  default:
    return error("its access is unknown");
  }
  if (!fits)
    return error(isInput ? "an input cannot be stored"
                         : "an output cannot be loaded");
  if (operand.type != type(view))
    return error("expected the buffer's type ", name(type(view)), ", found ",
                 name(operand.type));
  return Status();
}

Status PartChecker::loop(const Loop &loop) {
  auto dims = static_cast<int64_t>(loop.sizes.size());
  if (std::any_of(loop.sizes.begin(), loop.sizes.end(),
                  [](int64_t size) { return size < 0; }))
    return error("expected sizes of at least 0");
  if (loop.reducedDims < 0 || loop.reducedDims > dims)
    return error("expected at most ", dims, " reduced dimensions, found ",
                 loop.reducedDims);
  if (loop.reducedDims == dims && loop.sizes[0] != 1)
    return error("rows are not reduced, unless there is one; found ",
                 loop.sizes[0]);
  if (loop.function.empty() &&
      (loop.inputs.size() != 1 || loop.outputs.size() != 1 ||
       loop.inputs[0].type != loop.outputs[0].type || loop.reducedDims > 0))
    return error("a copy has one input and one output of one type, and reduces "
                 "nothing");
  for (size_t i = 0; i < loop.inputs.size(); ++i)
    if (Status status = operand(loop, loop.inputs[i], true); !status)
      return error("input ", i, ": ", status.message());
  for (size_t i = 0; i < loop.outputs.size(); ++i) {
    const std::vector<int64_t> &strides = loop.outputs[i].view.strides;
    if (Status status = operand(loop, loop.outputs[i], false); !status)
      return error("output ", i, ": ", status.message());
    for (auto dim = static_cast<size_t>(dims - loop.reducedDims);
         dim < strides.size(); ++dim)
      if (strides[dim] != 0)
        return error("output ", i, ": expected stride 0 of reduced dimension ",
                     dim, ", found ", strides[dim]);
  }
  return Status();
}

Status PartChecker::operator()(const RowsPart &part) {
  if (part.rows < 0)
    return error("expected at least 0 rows, found ", part.rows);
  scratches.clear();
  for (size_t i = 0; i < part.loops.size(); ++i) {
    const Loop &l = part.loops[i];
    if (l.sizes.empty() || l.sizes[0] != part.rows)
      return error("loop ", i, ": expected ", part.rows,
                   " as the size of the first dimension");
    if (Status status = loop(l); !status)
      return error("loop ", i, ": ", status.message());
  }
  return Status();
}

Status checkPart(const Plan &plan, int rank, const Part &part) {
  if (part.valueless_by_exception())
    return error("it is nothing");
  return std::visit(PartChecker(plan, rank), part);
}

} // namespace ccn::runtime
