//===- PlanParts.cpp - Parts of launches that are no loops ----------------===//
//
// What copies, products, rows of tables, exchanges and barriers must fulfil.
//
//===----------------------------------------------------------------------===//

#include "dialect/plan/Plan.h"
#include "dialect/plan/ViewTypes.h"

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

LogicalResult BarrierOp::verify() {
  // barrier_c1
  int64_t rank = (*this)->getParentOfType<PlanOp>().getRank();
  if (!getGroup().contains(rank))
    return emitOpError() << "expected a group that rank " << rank
                         << " is in, found " << getGroup();
  return success();
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
  int64_t rank = (*this)->getParentOfType<PlanOp>().getRank();
  if (!getGroup().contains(rank))
    return emitOpError() << "expected a group that rank " << rank
                         << " is in, found " << getGroup();
  // exchange_c3
  bool schedules = getExchange() == Exchange::schedule;
  auto module = (*this)->getParentOfType<ModuleOp>();
  if (schedules != getAlgorithm().has_value() ||
      (schedules && !module.lookupSymbol<AlgorithmOp>(*getAlgorithm())))
    return emitOpError() << "expected an algorithm of the module with "
                            "'schedule', and none otherwise";
  return success();
}
