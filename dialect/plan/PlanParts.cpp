//===- PlanParts.cpp - Parts of launches that are no loops ----------------===//
//
// What copies, products, rows of tables, exchanges and barriers must fulfil.
//
//===----------------------------------------------------------------------===//

#include "dialect/plan/Plan.h"
#include "dialect/plan/ViewTypes.h"
#include "runtime/tensor/DistinctElements.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

/// Checks that views have one element type.
static LogicalResult checkOneType(Operation *op, ValueRange views) {
  for (Value view : views) {
    if (!findMemory(view))
      return op->emitOpError()
             << "expected a view of a buffer, found " << view.getType();
    if (typeOf(view).getElementType() != typeOf(views.front()).getElementType())
      return op->emitOpError()
             << "expected views of one element type, found "
             << views.front().getType() << " and " << view.getType();
  }
  return success();
}

LogicalResult CopyOp::verify() {
  // copy_c1
  if (failed(checkOneType(*this, {getFrom(), getTo()})))
    return failure();
  if (rankOf(getFrom()) && rankOf(getTo()))
    return emitOpError() << "expected one view in the own memory";
  return success();
}

/// The rank in whose plan a part is must be a member.
static LogicalResult checkMember(Operation *op, GroupAttr group) {
  auto rank = static_cast<int64_t>(op->getParentOfType<PlanOp>().getRank());
  if (!group.contains(rank))
    return op->emitOpError() << "expected a group that rank " << rank
                             << " is in, found " << group;
  return success();
}

/// The sizes of a view that is repeated along a grid, and its strides.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>>
repeat(Value view, ArrayRef<int64_t> counts, ArrayRef<int64_t> steps) {
  SmallVector<int64_t> sizes(counts), strides(steps);
  llvm::append_range(sizes, typeOf(view).getShape());
  llvm::append_range(strides, stridesOf(view).second);
  return {sizes, strides};
}

/// How far the last index of a region with elements is from its first; none if
/// that overflows.
static std::optional<int64_t> extentOf(ArrayRef<int64_t> sizes,
                                       ArrayRef<int64_t> strides) {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    int64_t length;
    if (llvm::MulOverflow(size - 1, stride, length) ||
        llvm::AddOverflow(last, length, last))
      return std::nullopt;
  }
  return last;
}

SmallVector<Access> GatherPartOp::getAccesses() {
  Access read{&getFromMutable()}, written{&getToMutable(), /*isWrite=*/true};
  // Whichever members have pieces, all are taken to be read.
  read.all = AllAttr::get(getContext(), std::nullopt, getGroup(), 0);
  for (auto [count, step] : llvm::zip_equal(getCounts(), getReads()))
    read.repeats.push_back({count, step});
  for (auto [count, step] : llvm::zip_equal(getCounts(), getWrites()))
    written.repeats.push_back({count, step});
  return {read, written};
}

LogicalResult GatherPartOp::verify() {
  // gather_c1
  if (failed(checkOneType(*this, {getFrom(), getTo()})))
    return failure();
  if (rankOf(getFrom()) || rankOf(getTo()) ||
      findMemory(getFrom()) != Memory::symmetric ||
      bufferOf(getFrom()) == bufferOf(getTo()))
    return emitOpError() << "expected to read a symmetric buffer and to write "
                            "another one, both by views of the own memory";
  // gather_c2
  if (failed(checkMember(*this, getGroup())))
    return failure();
  ArrayRef<int64_t> counts = getCounts(),
                    steps[] = {getMembers(), getReads(), getWrites()};
  bool fits = llvm::all_of(counts, [](int64_t count) { return count > 0; });
  for (ArrayRef<int64_t> list : steps)
    fits &= list.size() == counts.size() &&
            llvm::all_of(list, [](int64_t step) { return step >= 0; });
  if (!fits)
    return emitOpError() << "expected as many steps as counts, counts of at "
                            "least 1 and steps of at least 0";
  auto first = static_cast<int64_t>(getFirst());
  auto size = static_cast<int64_t>(getGroup().getRanks().size());
  std::optional<int64_t> others = extentOf(counts, getMembers());
  if (first < 0 || !others || first >= size || *others >= size - first)
    return emitOpError() << "expected pieces of the " << size
                         << " members of the group";
  // gather_c3
  for (auto [view, list] :
       {std::pair<Value, ArrayRef<int64_t>>(getFrom(), getReads()),
        std::pair<Value, ArrayRef<int64_t>>(getTo(), getWrites())}) {
    auto [sizes, strides] = repeat(view, counts, list);
    std::optional<int64_t> extent = extentOf(sizes, strides);
    auto buffer = cast<MemRefType>(bufferOf(view)->getResult(0).getType());
    int64_t held = buffer.getNumElements();
    if (llvm::is_contained(sizes, 0) || !extent ||
        *extent >= held - stridesOf(view).first)
      return emitOpError() << "expected pieces with elements that lie within "
                           << buffer;
  }
  auto [sizes, strides] = repeat(getTo(), counts, getWrites());
  if (!runtime::hasDistinctElements(sizes, strides))
    return emitOpError() << "expected pieces that are written in places of "
                            "their own";
  return success();
}

LogicalResult BarrierOp::verify() {
  // barrier_c1
  return checkMember(*this, getGroup());
}

LogicalResult MatmulPartOp::verify() {
  // matmul_c1
  if (failed(checkOneType(*this, {getA(), getB(), getC()})))
    return failure();
  ArrayRef<int64_t> a = getA().getType().getShape(),
                    b = getB().getType().getShape(),
                    c = getC().getType().getShape();
  bool fits = a.size() >= 2 && a.size() == b.size() && b.size() == c.size() &&
              a.drop_back(2) == b.drop_back(2) &&
              a.drop_back(2) == c.drop_back(2);
  if (fits)
    fits = a[a.size() - 2] == c[c.size() - 2] && b.back() == c.back() &&
           a.back() == b[b.size() - 2];
  if (!fits)
    return emitOpError() << "expected matrices that fit, found "
                         << getA().getType() << ", " << getB().getType()
                         << " and " << getC().getType();
  return success();
}

LogicalResult Conv2dPartOp::verify() {
  // conv2d_c1
  if (failed(checkOneType(*this, {getX(), getW(), getY()})))
    return failure();
  for (Value view : {Value(getX()), Value(getW()), Value(getY())})
    if (typeOf(view).getRank() != 4 || !isRowMajor(typeOf(view)))
      return emitOpError() << "expected contiguous views of rank 4, found "
                           << view.getType();
  return success();
}

/// Checks that rows named by indices are rows of a table.
static LogicalResult checkRows(Operation *op, Value table, Value indices,
                               Value rows) {
  if (failed(checkOneType(op, {table, rows})))
    return failure();
  ArrayRef<int64_t> whole = typeOf(table).getShape(),
                    part = typeOf(rows).getShape();
  if (typeOf(indices).getRank() != 1 ||
      !isa<IntegerType>(typeOf(indices).getElementType()) || whole.empty() ||
      part.empty() || whole.drop_front() != part.drop_front() ||
      part.front() != typeOf(indices).getNumElements() ||
      !isRowMajor(typeOf(table)) || !isRowMajor(typeOf(indices)) ||
      !isRowMajor(typeOf(rows)))
    return op->emitOpError()
           << "expected contiguous rows that fit, found " << table.getType()
           << ", " << indices.getType() << " and " << rows.getType();
  return success();
}

LogicalResult GatherRowsPartOp::verify() {
  // gather_rows_c1
  return checkRows(*this, getTable(), getIndices(), getTo());
}

LogicalResult ScatterRowsPartOp::verify() {
  // scatter_rows_c1
  if (failed(checkOneType(*this, {getTable(), getTo()})) ||
      failed(checkRows(*this, getTable(), getIndices(), getRows())))
    return failure();
  if (getTable().getType().getShape() != getTo().getType().getShape() ||
      !isRowMajor(getTo().getType()))
    return emitOpError() << "expected to store a contiguous table, found "
                         << getTo().getType();
  return success();
}

bool plan::hasBlocks(Collective what, bool isInput) {
  switch (what) {
  case Collective::all_to_all:
    return true;
  case Collective::reduce_scatter:
  case Collective::scatter:
    return isInput;
  case Collective::all_gather:
  case Collective::gather:
    return !isInput;
  default:
    return false;
  }
}

LogicalResult ExchangeOp::verify() {
  // exchange_c1
  if (failed(checkOneType(*this, {getFrom(), getTo()})))
    return failure();
  for (Value view : {Value(getFrom()), Value(getTo())})
    if (!isRowMajor(typeOf(view)))
      return emitOpError() << "expected contiguous views, found "
                           << view.getType();
  // exchange_c2
  if (failed(checkMember(*this, getGroup())))
    return failure();
  // exchange_c3
  bool schedules = getExchange() == Exchange::schedule;
  auto module = (*this)->getParentOfType<ModuleOp>();
  if (schedules != getAlgorithm().has_value() ||
      (schedules && !module.lookupSymbol<AlgorithmOp>(*getAlgorithm())))
    return emitOpError() << "expected an algorithm of the module with "
                            "'schedule', and none otherwise";
  return success();
}
