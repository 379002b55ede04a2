//===- InferTensor.cpp - Inference of products, reductions, movement ------===//
//
// Constraints and result types of the operations in TensorOps.td, one inferType
// each, and their folders.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Ccn.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace ccn;

using TypeResult = FailureOr<RankedTensorType>;
using Types = ArrayRef<RankedTensorType>;

static SmallVector<int> iota(int begin, int end) {
  return llvm::to_vector(llvm::seq<int>(begin, end));
}

/// A layout as the type of a tensor, or the failure to infer it.
static TypeResult makeType(FailureOr<Layout> layout, ArrayRef<int64_t> shape,
                           Type element) {
  if (failed(layout))
    return failure();
  return layout->getType(shape, element);
}

static LogicalResult checkProductElements(RankedTensorType a,
                                          RankedTensorType b,
                                          EmitError emitError) {
  if (a.getElementType() != b.getElementType())
    return emitError() << "expected operands of one element type, found '"
                       << elementTypeName(a.getElementType()) << "' and '"
                       << elementTypeName(b.getElementType())
                       << "'; convert one with 'cast'";
  if (!isNumber(a.getElementType()))
    return emitError() << "expected a number element type, found '"
                       << elementTypeName(a.getElementType()) << "'";
  return success();
}

TypeResult MatmulOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  RankedTensorType a = op.getLhs(), b = op.getRhs();
  // matmul_c1
  if (failed(checkProductElements(a, b, emitError)))
    return failure();
  // matmul_c2
  int64_t rank = a.getRank();
  if (rank < 2 || b.getRank() < 2 || (b.getRank() != rank && b.getRank() != 2))
    return emitError() << "expected operands of rank 2 or more, the second of "
                          "the first's rank or 2, found '"
                       << typeName(a) << "' and '" << typeName(b) << "'";
  // matmul_c3
  bool batched = b.getRank() == rank;
  int64_t batches = rank - 2, bBatches = batched ? batches : 0;
  int64_t k = a.getDimSize(rank - 1), n = b.getDimSize(b.getRank() - 1);
  if (b.getDimSize(bBatches) != k)
    return emitError() << "expected the last size of the first operand to be "
                          "the last but one of the second, found '"
                       << typeName(a) << "' and '" << typeName(b) << "'";
  // matmul_c4
  if (batched &&
      a.getShape().take_front(batches) != b.getShape().take_front(batches))
    return emitError() << "expected the same batch dimensions, found '"
                       << typeName(a) << "' and '" << typeName(b) << "'";
  // Loops: the batches, then M, N, K. matmul_c5, matmul_c6.
  int m = batches, nLoop = batches + 1, kLoop = batches + 2;
  SmallVector<int> aLoops = iota(0, m + 1), resultLoops = iota(0, nLoop + 1);
  aLoops.push_back(kLoop);
  SmallVector<int> bLoops = iota(0, bBatches);
  bLoops.append({kLoop, nLoop});
  SmallVector<int64_t> shape(a.getShape().drop_back());
  shape.push_back(n);
  return makeType(inferOverLoops({{a, aLoops}, {b, bLoops}}, kLoop + 1,
                                 resultLoops, PartialRule::LinearInOne,
                                 ReduceKind::sum, emitError),
                  shape, a.getElementType());
}

TypeResult Conv2dOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  RankedTensorType x = op.getInput(), w = op.getFilter();
  int64_t stride = op.getStride(), padding = op.getPadding();
  // conv2d_c1
  if (failed(checkProductElements(x, w, emitError)))
    return failure();
  // conv2d_c2, conv2d_c3
  if (x.getRank() != 4 || w.getRank() != 4 ||
      x.getDimSize(1) != w.getDimSize(1))
    return emitError() << "expected an image [N, C, H, W] and a filter "
                          "[O, C, h, w], found '"
                       << typeName(x) << "' and '" << typeName(w) << "'";
  // conv2d_c4
  constexpr int64_t limit = int64_t(1) << 32;
  if (stride < 1 || stride > limit)
    return emitError() << "expected a stride from 1 to 2^32, found " << stride;
  if (padding < 0 || padding > limit)
    return emitError() << "expected a padding from 0 to 2^32, found "
                       << padding;
  // conv2d_c5
  SmallVector<int64_t> shape = {x.getDimSize(0), w.getDimSize(0)};
  for (int dim : {2, 3}) {
    std::optional<int64_t> room =
        llvm::checkedAdd(x.getDimSize(dim), 2 * padding);
    if (!room || w.getDimSize(dim) < 1 || w.getDimSize(dim) > *room)
      return emitError() << "expected a filter that is not empty and fits the "
                            "padded image, found '"
                         << typeName(x) << "' padded by " << padding << " and '"
                         << typeName(w) << "'";
    shape.push_back((*room - w.getDimSize(dim)) / stride + 1);
  }
  // Loops: N, O, C; conv2d_c6, conv2d_c7.
  constexpr int none = LoopOperand::noLoop;
  return makeType(
      inferOverLoops({{x, {0, 2, none, none}}, {w, {1, 2, none, none}}}, 3,
                     {0, 1, none, none}, PartialRule::LinearInOne,
                     ReduceKind::sum, emitError),
      shape, x.getElementType());
}

TypeResult ReductionOp::inferType(GenericAdaptor<Types> op,
                                  EmitError emitError) {
  RankedTensorType input = op.getInput();
  ReductionKind kind = op.getKind();
  // reduction_c1
  int64_t last = -1;
  for (int64_t dim : op.getDims()) {
    if (dim < 0 || dim >= input.getRank())
      return emitError() << "expected a dimension of '" << typeName(input)
                         << "', found " << dim;
    if (dim <= last) {
      auto diagnostic = emitError();
      diagnostic << "expected each dimension once, in increasing order, found ["
                 << op.getDims() << "]";
      return diagnostic;
    }
    last = dim;
  }
  // reduction_c2
  Type element = input.getElementType();
  bool arithmetic = kind == ReductionKind::sum || kind == ReductionKind::prod;
  if (kind == ReductionKind::mean ? !isFloat(element)
                                  : arithmetic && !isNumber(element))
    return emitError() << "expected a "
                       << (arithmetic ? "number" : "floating-point")
                       << " element type, found '" << elementTypeName(element)
                       << "'";
  // reduction_c3
  ReduceKind pending = kind == ReductionKind::mean
                           ? ReduceKind::sum
                           : static_cast<ReduceKind>(kind);
  Layout layout = Layout::of(input);
  for (PartialAxis partial : layout.getPartials())
    if (partial.kind != pending)
      return emitError() << "layout '" << layout.str()
                         << "' has another reduction pending than '"
                         << stringifyReductionKind(kind)
                         << "'; repair with 'all_reduce("
                         << stringifyReduceKind(partial.kind) << ", "
                         << operandName(0) << ", " << partial.axis.getValue()
                         << ")'";
  // reduction_c4
  int64_t reduced = 1;
  for (int64_t dim : op.getDims())
    reduced *= input.getDimSize(dim);
  if (op.getDivisor() && (kind != ReductionKind::mean ||
                          static_cast<int64_t>(*op.getDivisor()) < reduced))
    return emitError() << "expected a divisor for a mean only, of at least "
                       << reduced;
  SmallVector<int> resultLoops;
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(input.getShape())) {
    if (llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
      continue;
    resultLoops.push_back(dim);
    shape.push_back(size);
  }
  return makeType(inferOverLoops({{input, iota(0, input.getRank())}},
                                 input.getRank(), resultLoops,
                                 PartialRule::Commutes, pending, emitError),
                  shape, element);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

TypeResult TransposeOp::inferType(GenericAdaptor<Types> op,
                                  EmitError emitError) {
  RankedTensorType input = op.getInput();
  ArrayRef<int64_t> permutation = op.getPermutation();
  // transpose_c1
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, input.getRank()))) {
    auto diagnostic = emitError();
    diagnostic << "expected each dimension of '" << typeName(input)
               << "' once, found [" << permutation << "]";
    return diagnostic;
  }
  SmallVector<int64_t> shape;
  SmallVector<int> resultLoops;
  for (int64_t dim : permutation) {
    shape.push_back(input.getDimSize(dim));
    resultLoops.push_back(dim);
  }
  return makeType(inferOverLoops({{input, iota(0, input.getRank())}},
                                 input.getRank(), resultLoops,
                                 PartialRule::Commutes, ReduceKind::sum,
                                 emitError),
                  shape, input.getElementType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::equal(getPermutation(),
                  llvm::seq<int64_t>(0, getPermutation().size())))
    return getInput();
  return {};
}

/// The number of elements, none if it does not fit 64 bits.
static std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return 0;
  std::optional<int64_t> count = 1;
  for (int64_t size : shape)
    if (count)
      count = llvm::checkedMul(*count, size);
  return count;
}

bool ReshapeOp::keepsDimension(ArrayRef<int64_t> from, unsigned dim,
                               ArrayRef<int64_t> to, unsigned other) {
  return from[dim] == to[other] &&
         countElements(from.take_front(dim)) ==
             countElements(to.take_front(other)) &&
         countElements(from.drop_front(dim + 1)) ==
             countElements(to.drop_front(other + 1));
}

TypeResult ReshapeOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  RankedTensorType input = op.getInput();
  ArrayRef<int64_t> shape = op.getShape();
  // reshape_c1
  for (int64_t size : shape)
    if (size < 0)
      return emitError() << "expected sizes of at least 0, found " << size;
  // reshape_c2
  std::optional<int64_t> count = countElements(shape);
  if (!count || count != countElements(input.getShape())) {
    auto diagnostic = emitError();
    diagnostic << "expected a shape with as many elements as '"
               << typeName(input) << "', found [" << shape << "]";
    return diagnostic;
  }
  // reshape_c3
  Layout from = Layout::of(input), to(shape.size());
  to.setMesh(from.getMesh());
  for (PartialAxis partial : from.getPartials())
    to.setState(partial.axis, {AxisState::Partial, 0, partial.kind});
  for (StringAttr axis : from.getLocals())
    to.setState(axis, {AxisState::Local, 0, ReduceKind::sum});
  for (unsigned dim = 0; dim < from.getRank(); ++dim) {
    if (!from.isSliced(dim))
      continue;
    std::optional<unsigned> counterpart;
    for (unsigned other = 0; other < shape.size(); ++other)
      if (to.getAxes(other).empty() &&
          keepsDimension(input.getShape(), dim, shape, other))
        // Of several, which only a size of 1 has: that in the same place.
        if (counterpart != static_cast<unsigned>(dim))
          counterpart = other;
    if (!counterpart) {
      auto diagnostic = emitError();
      diagnostic << "dimension " << dim << " of '" << typeName(input)
                 << "' is cut and has no counterpart in [" << shape
                 << "]; repair with 'all_gather(" << operandName(0) << ", "
                 << from.getAxes(dim).back().getValue() << ")'";
      return diagnostic;
    }
    to.setAxes(*counterpart, from.getAxes(dim));
  }
  return to.getType(shape, input.getElementType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return {};
}

TypeResult ExtractOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  RankedTensorType input = op.getInput();
  int64_t dim = op.getDim(), begin = op.getBegin(), end = op.getEnd();
  // extract_c1
  if (dim < 0 || dim >= input.getRank())
    return emitError() << "expected a dimension of '" << typeName(input)
                       << "', found " << dim;
  // extract_c2
  if (begin < 0 || begin > end || end > input.getDimSize(dim))
    return emitError() << "expected a range in 0 .. " << input.getDimSize(dim)
                       << ", found " << begin << " .. " << end;
  // extract_c3
  SmallVector<int> loops = iota(0, input.getRank());
  loops[dim] = LoopOperand::noLoop;
  SmallVector<int64_t> shape(input.getShape());
  shape[dim] = end - begin;
  return makeType(inferOverLoops({{input, loops}}, input.getRank(), loops,
                                 PartialRule::Commutes, ReduceKind::sum,
                                 emitError),
                  shape, input.getElementType());
}

OpFoldResult ExtractOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return {};
}

TypeResult ConcatOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  Types inputs = op.getInputs();
  int64_t dim = op.getDim();
  // concat_c1
  if (inputs.empty())
    return emitError() << "expected at least one operand";
  RankedTensorType first = inputs.front();
  // concat_c3
  if (dim < 0 || dim >= first.getRank())
    return emitError() << "expected a dimension of '" << typeName(first)
                       << "', found " << dim;
  SmallVector<int64_t> shape(first.getShape());
  shape[dim] = 0;
  SmallVector<int> loops = iota(0, first.getRank());
  loops[dim] = LoopOperand::noLoop;
  SmallVector<LoopOperand> operands;
  for (RankedTensorType type : inputs) {
    // concat_c2, concat_c4
    if (type.getElementType() != first.getElementType())
      return emitError() << "expected operands of one element type, found '"
                         << elementTypeName(first.getElementType()) << "' and '"
                         << elementTypeName(type.getElementType())
                         << "'; convert one with 'cast'";
    bool agrees = type.getRank() == first.getRank();
    for (int64_t d = 0; agrees && d < first.getRank(); ++d)
      agrees = d == dim || type.getDimSize(d) == first.getDimSize(d);
    if (!agrees)
      return emitError() << "expected operands that differ in dimension " << dim
                         << " only, found '" << typeName(first) << "' and '"
                         << typeName(type) << "'";
    std::optional<int64_t> sum =
        llvm::checkedAdd(shape[dim], type.getDimSize(dim));
    if (!sum)
      // Before layout_op_c2, which takes the sizes as they are.
      return emitError() << "the size of dimension " << dim
                         << " does not fit 64 bits";
    shape[dim] = *sum;
    operands.push_back({type, loops});
  }
  // concat_c5, concat_c6
  return makeType(inferOverLoops(operands, first.getRank(), loops,
                                 PartialRule::Commutes, ReduceKind::sum,
                                 emitError),
                  shape, first.getElementType());
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1 && getInputs().front().getType() == getType())
    return getInputs().front();
  return {};
}

TypeResult BroadcastToOp::inferType(GenericAdaptor<Types> op,
                                    EmitError emitError) {
  RankedTensorType input = op.getInput();
  ArrayRef<int64_t> shape = op.getShape();
  // broadcast_to_c1
  for (int64_t size : shape)
    if (size < 0)
      return emitError() << "expected sizes of at least 0, found " << size;
  // broadcast_to_c2
  int64_t added = static_cast<int64_t>(shape.size()) - input.getRank();
  SmallVector<int> loops, resultLoops(shape.size(), LoopOperand::noLoop);
  bool fits = added >= 0;
  for (int64_t dim = 0; fits && dim < input.getRank(); ++dim) {
    int64_t size = input.getDimSize(dim), target = shape[dim + added];
    fits = size == target || size == 1;
    // broadcast_to_c3
    loops.push_back(size == target ? dim : LoopOperand::noLoop);
    resultLoops[dim + added] = loops.back();
  }
  if (!fits) {
    auto diagnostic = emitError();
    diagnostic << "'" << typeName(input)
               << "' cannot be repeated to fill the shape [" << shape
               << "]; expected sizes that agree from the last, or are 1";
    return diagnostic;
  }
  return makeType(inferOverLoops({{input, loops}}, input.getRank(), resultLoops,
                                 PartialRule::Commutes, ReduceKind::sum,
                                 emitError),
                  shape, input.getElementType());
}

OpFoldResult BroadcastToOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return {};
}

static LogicalResult checkIndices(RankedTensorType indices,
                                  EmitError emitError) {
  if (indices.getRank() == 1 && !isFloat(indices.getElementType()) &&
      isNumber(indices.getElementType()))
    return success();
  return emitError() << "expected integer indices of rank 1, found '"
                     << typeName(indices) << "'";
}

TypeResult GatherRowsOp::inferType(GenericAdaptor<Types> op,
                                   EmitError emitError) {
  RankedTensorType table = op.getTable(), indices = op.getIndices();
  // gather_rows_c1
  if (table.getRank() < 1)
    return emitError() << "expected a table of rank 1 or more, found '"
                       << typeName(table) << "'";
  // gather_rows_c2
  if (failed(checkIndices(indices, emitError)))
    return failure();
  // gather_rows_c3, gather_rows_c4
  // Loops: the other dimensions of the table by number, 0 for the indices.
  SmallVector<int> tableLoops = iota(0, table.getRank());
  tableLoops[0] = LoopOperand::noLoop;
  SmallVector<int64_t> shape(table.getShape());
  shape[0] = indices.getDimSize(0);
  return makeType(inferOverLoops({{table, tableLoops}, {indices, {0}}},
                                 table.getRank(), iota(0, table.getRank()),
                                 PartialRule::None, ReduceKind::sum, emitError),
                  shape, table.getElementType());
}

TypeResult ScatterRowsOp::inferType(GenericAdaptor<Types> op,
                                    EmitError emitError) {
  RankedTensorType rows = op.getRows(), indices = op.getIndices();
  RankedTensorType table = op.getTable();
  // scatter_rows_c1
  if (table.getRank() < 1 || !isNumber(table.getElementType()))
    return emitError() << "expected a table of numbers of rank 1 or more, "
                          "found '"
                       << typeName(table) << "'";
  // scatter_rows_c2
  if (failed(checkIndices(indices, emitError)))
    return failure();
  // scatter_rows_c3
  if (rows.getElementType() != table.getElementType() ||
      rows.getRank() != table.getRank() ||
      rows.getDimSize(0) != indices.getDimSize(0) ||
      rows.getShape().drop_front() != table.getShape().drop_front())
    return emitError() << "expected one row of the table '" << typeName(table)
                       << "' for each index of '" << typeName(indices)
                       << "', found '" << typeName(rows) << "'";
  // scatter_rows_c4, scatter_rows_c5
  SmallVector<int> loops = iota(0, table.getRank());
  loops[0] = LoopOperand::noLoop;
  return makeType(
      inferOverLoops(
          {{rows, loops}, {indices, {LoopOperand::noLoop}}, {table, loops}},
          table.getRank(), loops, PartialRule::None, ReduceKind::sum,
          emitError),
      table.getShape(), table.getElementType());
}
