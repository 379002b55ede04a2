//===- ExecuteLocal.cpp - Operations that need no other rank --------------===//
//
// Executes elementwise operations, products, reductions and movement on the
// parts that one rank holds. Operands that are cut along fewer axes than the
// operation's loops, as layout inference allows, are cut further first.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/RankExecutor.h"

#include "llvm/ADT/TypeSwitch.h"

namespace ccn::interp {

using runtime::isSignedInteger;

namespace {

CompareOp comparisonOf(ComparePredicate predicate) {
  switch (predicate) {
  case ComparePredicate::eq:
    return CompareOp::Eq;
  case ComparePredicate::ne:
    return CompareOp::Ne;
  case ComparePredicate::lt:
    return CompareOp::Lt;
  case ComparePredicate::le:
    return CompareOp::Le;
  case ComparePredicate::gt:
    return CompareOp::Gt;
  case ComparePredicate::ge:
    return CompareOp::Ge;
  }
  return CompareOp::Eq;
}

ReduceKind reductionOf(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::sum:
    return ReduceKind::Sum;
  case ReductionKind::prod:
    return ReduceKind::Prod;
  case ReductionKind::max:
    return ReduceKind::Max;
  case ReductionKind::min:
    return ReduceKind::Min;
  case ReductionKind::mean:
    return ReduceKind::Mean;
  }
  return ReduceKind::Sum;
}

} // namespace

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

RankExecutor::Tensor RankExecutor::cut(mlir::Value value, const Box &needed) {
  Box relative = needed, own = boxOf(value);
  for (size_t dim = 0; dim < own.offsets.size(); ++dim)
    relative.offsets[dim] -= own.offsets[dim];
  return extractBox(get(value), relative);
}

RankExecutor::Tensor RankExecutor::cut(mlir::OpOperand &operand) {
  mlir::RankedTensorType type = typeOf(operand.get());
  return cut(operand.get(),
             mesh.boxOf(type, slicedOperandLayout(operand), rank));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

std::optional<RankExecutor::Tensor>
RankExecutor::executeElementwise(mlir::Operation *op) {
  if (auto constantOp = llvm::dyn_cast<ConstantOp>(op))
    return constant(constantOp);
  if (auto dropoutOp = llvm::dyn_cast<DropoutOp>(op))
    return runDropout(dropoutOp);
  if (auto iotaOp = llvm::dyn_cast<IotaOp>(op))
    return runIota(iotaOp);

  const ElementwiseFunction *function = functionOf(op);
  if (!function && !llvm::isa<::ccn::CompareOp, SelectOp, CastOp>(op))
    return std::nullopt;
  llvm::SmallVector<HostTensor, 3> x;
  for (mlir::OpOperand &operand : op->getOpOperands()) {
    Tensor part = cut(operand);
    if (!part)
      return part;
    x.push_back(*std::move(part));
  }
  ElementType type = elementOf(op->getOperand(0));
  if (function)
    return kernels.elementwise(*function, type, x);
  if (auto compareOp = llvm::dyn_cast<::ccn::CompareOp>(op))
    return kernels.compare(comparisonOf(compareOp.getPredicate()), type, x[0],
                           x[1]);
  if (llvm::isa<SelectOp>(op))
    return kernels.select(x[0], x[1], x[2]);
  return kernels.cast(type, elementOf(op->getResult(0)), x[0]);
}

RankExecutor::Tensor RankExecutor::constant(ConstantOp op) {
  mlir::TypedAttr value = op.getValue();
  ElementType type = elementTypeOf(value.getType());
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(value))
    return kernels.real(type, number.getValueAsDouble());
  llvm::APInt number = llvm::cast<mlir::IntegerAttr>(value).getValue();
  return kernels.integer(type,
                         isSignedInteger(type)
                             ? number.getSExtValue()
                             : static_cast<int64_t>(number.getZExtValue()));
}

RankExecutor::Tensor RankExecutor::runDropout(DropoutOp op) {
  llvm::ArrayRef<int64_t> shape = op.getInput().getType().getShape();
  GlobalPosition position = {Shape(shape.begin(), shape.end()),
                             boxOf(op.getInput()).offsets};
  if (op.getOffsets()) {
    position.shape = Shape(*op.getGlobalShape());
    for (auto [dim, offset] : llvm::enumerate(*op.getOffsets()))
      position.offsets[dim] += offset;
  }
  return kernels.dropout(get(op.getInput()), op.getRate().convertToDouble(),
                         get(op.getSeed()), position);
}

RankExecutor::Tensor RankExecutor::runIota(IotaOp op) {
  Box own = boxOf(op.getInput());
  auto dim = static_cast<size_t>(op.getDim());
  return kernels.iota(own.sizes, dim,
                      static_cast<int64_t>(op.getFrom()) + own.offsets[dim]);
}

//===----------------------------------------------------------------------===//
// Products, reductions, movement
//===----------------------------------------------------------------------===//

std::optional<RankExecutor::Tensor>
RankExecutor::executeTensorOp(mlir::Operation *op) {
  using Optional = std::optional<Tensor>;
  auto list = [](llvm::ArrayRef<int64_t> values) {
    return std::vector<int64_t>(values.begin(), values.end());
  };
  return llvm::TypeSwitch<mlir::Operation *, Optional>(op)
      .Case([&](MatmulOp op) { return runMatmul(op); })
      .Case([&](Conv2dOp op) { return runConv2d(op); })
      .Case([&](ReductionOp op) { return runReduction(op); })
      .Case([&](ConcatOp op) { return runConcat(op); })
      .Case([&](GatherRowsOp op) { return runGatherRows(op); })
      .Case([&](ScatterRowsOp op) { return runScatterRows(op); })
      .Case([&](TransposeOp op) {
        return transpose(get(op.getInput()), list(op.getPermutation()));
      })
      // A reshape keeps the dimensions that are cut, so a rank's parts of input
      // and result hold the same elements in the same order.
      .Case([&](ReshapeOp op) {
        return reshape(get(op.getInput()), boxOf(op.getResult()).sizes);
      })
      .Case([&](BroadcastToOp op) {
        return broadcastTo(get(op.getInput()), boxOf(op.getResult()).sizes);
      })
      .Case([&](ExtractOp op) {
        return extract(get(op.getInput()), op.getDim(), op.getBegin(),
                       op.getEnd());
      })
      .Case([&](UpdateOp op) { return Tensor(get(op.getValue())); })
      .Default([](mlir::Operation *) { return std::nullopt; });
}

RankExecutor::Tensor RankExecutor::runMatmul(MatmulOp op) {
  Tensor a = cut(op.getLhsMutable()), b = cut(op.getRhsMutable());
  if (!a || !b)
    return a ? b : a;
  return kernels.matmul(*a, *b);
}

RankExecutor::Tensor RankExecutor::runConv2d(Conv2dOp op) {
  Tensor x = cut(op.getInputMutable()), w = cut(op.getFilterMutable());
  if (!x || !w)
    return x ? w : x;
  auto stride = static_cast<int64_t>(op.getStride());
  auto padding = static_cast<int64_t>(op.getPadding());
  return kernels.conv2d(*x, *w,
                        {stride, stride, padding, padding, padding, padding});
}

RankExecutor::Tensor RankExecutor::runReduction(ReductionOp op) {
  // The divisor of a mean is the number of elements of the whole reduction, not
  // of this rank's part.
  int64_t divisor = 1;
  for (int64_t dim : op.getDims())
    divisor *= op.getInput().getType().getDimSize(dim);
  if (op.getDivisor())
    divisor = static_cast<int64_t>(*op.getDivisor());
  return kernels.reduce(
      reductionOf(op.getKind()), elementOf(op.getInput()), get(op.getInput()),
      std::vector<int64_t>(op.getDims().begin(), op.getDims().end()),
      static_cast<double>(divisor));
}

RankExecutor::Tensor RankExecutor::runConcat(ConcatOp op) {
  std::vector<HostTensor> pieces;
  for (mlir::OpOperand &input : op->getOpOperands()) {
    Tensor piece = cut(input);
    if (!piece)
      return piece;
    pieces.push_back(*std::move(piece));
  }
  return concat(static_cast<int64_t>(op.getDim()), pieces);
}

RankExecutor::Tensor RankExecutor::runGatherRows(GatherRowsOp op) {
  Tensor rows = cut(op.getTableMutable()), which = cut(op.getIndicesMutable());
  if (!rows || !which)
    return rows ? which : rows;
  return kernels.gatherRows(*rows, *which);
}

RankExecutor::Tensor RankExecutor::runScatterRows(ScatterRowsOp op) {
  Tensor x = cut(op.getTableMutable()), added = cut(op.getRowsMutable());
  if (!x || !added)
    return x ? added : x;
  return kernels.scatterRows(*x, get(op.getIndices()), *added);
}

} // namespace ccn::interp
