//===- InferElementwise.cpp - Inference of elementwise operations ---------===//
//
// Constraints and result types of the operations in ElementwiseOps.td, and
// their folders.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Ccn.h"

#include "llvm/Support/Format.h"

using namespace mlir;
using namespace ccn;

using TypeResult = FailureOr<RankedTensorType>;
using Types = ArrayRef<RankedTensorType>;

namespace {

LogicalResult checkElements(RankedTensorType type, ElementKinds elements,
                            EmitError emitError) {
  // unary_c1, binary_c5, dropout_c1
  Type element = type.getElementType();
  if (elements == ElementKinds::Float && !isFloat(element))
    return emitError() << "expected a floating-point element type, found '"
                       << elementTypeName(element) << "'";
  if (elements == ElementKinds::Number && !isNumber(element))
    return emitError() << "expected a number element type, found '"
                       << elementTypeName(element) << "'";
  return success();
}

LogicalResult checkSameElements(RankedTensorType a, RankedTensorType b,
                                EmitError emitError) {
  // binary_c1, compare_c1, select_c1
  if (a.getElementType() == b.getElementType())
    return success();
  return emitError() << "expected operands of one element type, found '"
                     << elementTypeName(a.getElementType()) << "' and '"
                     << elementTypeName(b.getElementType())
                     << "'; convert one with 'cast'";
}

/// The type of an elementwise result with the given elements.
TypeResult inferOf(Types operands, Type element, PartialRule rule,
                   EmitError emitError) {
  // binary_c2, compare_c2, select_c2
  RankedTensorType shaped = operands.front();
  for (RankedTensorType type : operands) {
    if (type.getRank() == 0)
      continue;
    if (shaped.getRank() != 0 && type.getShape() != shaped.getShape())
      return emitError() << "expected operands of one shape, found '"
                         << typeName(shaped) << "' and '" << typeName(type)
                         << "'";
    shaped = type;
  }
  // binary_c3, compare_c3, select_c3; what is pending: unary_c2, binary_c4,
  // compare_c4, select_c4, cast_c2, dropout_c4, iota_c2
  SmallVector<int> loops = llvm::to_vector(llvm::seq<int>(0, shaped.getRank()));
  SmallVector<LoopOperand> loopOperands;
  for (RankedTensorType type : operands)
    loopOperands.push_back({type, type.getRank() ? loops : SmallVector<int>()});
  FailureOr<Layout> layout = inferOverLoops(loopOperands, loops.size(), loops,
                                            rule, ReduceKind::sum, emitError);
  if (failed(layout))
    return failure();
  return layout->getType(shaped.getShape(), element);
}

/// Whether a product with `factor` may scale what is pending on `type`: only a
/// scalar is the same for every element.
bool scales(RankedTensorType factor, RankedTensorType type) {
  return factor.getRank() == 0 || !Layout::of(type).hasPartial();
}

} // namespace

TypeResult ccn::inferElementwise(Types operands, ElementKinds elements,
                                 PartialRule rule, EmitError emitError) {
  RankedTensorType first = operands.front();
  for (RankedTensorType type : operands.drop_front())
    if (failed(checkSameElements(first, type, emitError)))
      return failure();
  if (failed(checkElements(first, elements, emitError)))
    return failure();
  // A factor scales all elements alike, and so what is pending, if it is a
  // scalar. Integer quotients of parts do not add up to the quotient of the
  // sum.
  bool isLinear =
      rule == PartialRule::LinearInOne
          ? scales(operands[0], operands[1]) && scales(operands[1], operands[0])
      : rule == PartialRule::LinearInFirst
          ? isFloat(first.getElementType()) && scales(operands[1], first)
          : true;
  return inferOf(operands, first.getElementType(),
                 isLinear ? rule : PartialRule::None, emitError);
}

TypeResult CompareOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  RankedTensorType lhs = op.getLhs(), rhs = op.getRhs();
  if (failed(checkSameElements(lhs, rhs, emitError)))
    return failure();
  Type i1 = IntegerType::get(lhs.getContext(), 1);
  return inferOf({lhs, rhs}, i1, PartialRule::None, emitError);
}

TypeResult SelectOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  RankedTensorType condition = op.getCondition();
  RankedTensorType lhs = op.getLhs(), rhs = op.getRhs();
  if (failed(checkSameElements(lhs, rhs, emitError)))
    return failure();
  // select_c5
  if (!condition.getElementType().isInteger(1))
    return emitError() << "expected a condition of element type 'bool', found '"
                       << elementTypeName(condition.getElementType()) << "'";
  return inferOf({condition, lhs, rhs}, lhs.getElementType(), PartialRule::None,
                 emitError);
}

OpFoldResult SelectOp::fold(FoldAdaptor) {
  // Both sides the same, and of the result's type: not a scalar to repeat.
  if (getLhs() == getRhs() && getLhs().getType() == getType())
    return getLhs();
  return {};
}

TypeResult CastOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  RankedTensorType input = op.getInput();
  // cast_c1
  if (!isElementType(op.getElementType()))
    return emitError() << "expected a ccn element type, found "
                       << op.getElementType();
  return inferOf(input, op.getElementType(), PartialRule::None, emitError);
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return {};
}

TypeResult DropoutOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  RankedTensorType input = op.getInput(), seed = op.getSeed();
  if (failed(checkElements(input, ElementKinds::Float, emitError)))
    return failure();
  // dropout_c2
  double rate = op.getRate().convertToDouble();
  if (!(rate >= 0.0 && rate < 1.0)) {
    std::string found;
    llvm::raw_string_ostream(found) << llvm::format("%g", rate);
    return emitError()
           << "expected a rate of at least 0 and less than 1, found " << found;
  }
  // dropout_c3
  if (seed.getRank() != 0 || seed.getEncoding() ||
      isFloat(seed.getElementType()) || !isNumber(seed.getElementType()))
    return emitError()
           << "expected a replicated integer scalar as seed, found '"
           << typeName(seed) << "'";
  // dropout_c5
  std::optional<ArrayRef<int64_t>> offsets = op.getOffsets(),
                                   shape = op.getGlobalShape();
  auto rank = static_cast<size_t>(input.getRank());
  bool given = offsets && shape;
  bool fits = offsets.has_value() == shape.has_value() &&
              (!given || (offsets->size() == rank && shape->size() == rank));
  for (size_t dim = 0; fits && given && dim < rank; ++dim)
    fits = (*offsets)[dim] >= 0 && (*shape)[dim] >= input.getDimSize(dim) &&
           (*offsets)[dim] <= (*shape)[dim] - input.getDimSize(dim);
  if (!fits)
    return emitError() << "expected '" << typeName(input)
                       << "' to lie within the tensor that it is a part of";
  if (given &&
      failed(checkTensor(RankedTensorType::get(*shape, input.getElementType()),
                         emitError)))
    return failure();
  return inferOf(input, input.getElementType(), PartialRule::None, emitError);
}

TypeResult IotaOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  RankedTensorType input = op.getInput();
  // iota_c1
  auto dim = static_cast<int64_t>(op.getDim());
  if (dim < 0 || dim >= input.getRank())
    return emitError() << "expected a dimension of '" << typeName(input)
                       << "', found " << dim;
  // iota_c3
  auto from = static_cast<int64_t>(op.getFrom());
  if (from < 0 ||
      from > std::numeric_limits<int64_t>::max() - input.getDimSize(dim))
    return emitError() << "expected indices from 0 that fit 64 bits, found "
                       << from << " as the first of " << input.getDimSize(dim);
  return inferOf(input, IntegerType::get(input.getContext(), 64),
                 PartialRule::None, emitError);
}

TypeResult ConstantOp::inferType(GenericAdaptor<Types> op,
                                 EmitError emitError) {
  // constant_c1
  TypedAttr value = op.getValue();
  if (!isa<FloatAttr, IntegerAttr>(value) || !isElementType(value.getType()))
    return emitError() << "expected a number or bool of a ccn element type, "
                          "found "
                       << value;
  return RankedTensorType::get({}, value.getType());
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }
