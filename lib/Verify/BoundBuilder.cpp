//===- BoundBuilder.cpp - Builds programs of error bounds -----------------===//
//
// Builds arithmetic on bounds; ErrorBound.h has the formulas.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/BoundBuilder.h"

#include "lib/Verify/Retype.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::verify;

using Predicate = ComparePredicate;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Value BoundBuilder::remake(Operation *op, ValueRange operands) {
  SmallVector<RankedTensorType> types = llvm::map_to_vector(
      operands, [](Value operand) { return typeOf(operand); });
  Operation *clone = op->cloneWithoutRegions();
  clone->setOperands(operands);
  toF64(clone);
  FailureOr<RankedTensorType> type =
      cast<LayoutOpInterface>(clone).inferResultType(
          types, [&] { return InferenceError(emitError(loc)); });
  if (mlir::failed(type)) {
    failed = true;
    clone->destroy();
    return constant(0);
  }
  clone->getResult(0).setType(*type);
  builder.insert(clone);
  return localize(clone->getResult(0));
}

Value BoundBuilder::localize(Value value) {
  RankedTensorType type = typeOf(value);
  Layout layout = Layout::of(type);
  if (!layout.hasPartial())
    return value;
  Layout local = layout;
  for (PartialAxis partial : layout.getPartials())
    local.setState(partial.axis, {AxisState::Local});
  RankedTensorType to = local.getType(type.getShape(), type.getElementType());
  return ReshardOp::create(builder, loc, to, value);
}

Value BoundBuilder::constant(double number) {
  return make<ConstantOp>(
      TypedAttr(builder.getFloatAttr(builder.getF64Type(), number)));
}

Value BoundBuilder::infinity() {
  return constant(std::numeric_limits<double>::infinity());
}

Value BoundBuilder::magnitude(Value v) {
  if (!isFloat(typeOf(v).getElementType()))
    v = make<CastOp>(v, TypeAttr::get(builder.getF64Type()));
  return make<AbsOp>(v);
}

Value BoundBuilder::most(const Bounded &x) {
  Value v = magnitude(x.value);
  return x.error ? add(v, x.error) : v;
}

Value BoundBuilder::plus(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return add(a, b);
}

Value BoundBuilder::larger(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return maximum(a, b);
}

Value BoundBuilder::zeroLike(Value v) {
  // A comparison makes the zeros, as a product with 0 would turn infinities
  // into NaN.
  Value zero = constant(0);
  return select(compare(Predicate::eq, v, v), zero, zero);
}

Value BoundBuilder::fit(Value error, Value v) {
  if (!error)
    return zeroLike(v);
  RankedTensorType type = typeOf(v);
  return error.getType() == type.clone(builder.getF64Type())
             ? error
             : add(error, zeroLike(v));
}

Value BoundBuilder::unknownWith(Value p, Value error) {
  // 0 times an infinity is NaN.
  return add(p, scale(0, error));
}

Value BoundBuilder::unknownUnlessExact(Value error) {
  if (!error)
    return {};
  Value zero = constant(0);
  return select(compare(Predicate::eq, error, zero), zero, infinity());
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

const llvm::fltSemantics &BoundBuilder::semantics(Type element) const {
  return arithmetic == Arithmetic::Wide
             ? llvm::APFloat::IEEEdouble()
             : cast<FloatType>(element).getFloatSemantics();
}

static double unitRoundoff(const llvm::fltSemantics &semantics) {
  return std::ldexp(
      1, -static_cast<int>(llvm::APFloat::semanticsPrecision(semantics)));
}

static double smallest(const llvm::fltSemantics &semantics) {
  return llvm::APFloat::getSmallest(semantics).convertToDouble();
}

Type BoundBuilder::accumulatorOf(Type element) {
  return isFloat(element) && element.getIntOrFloatBitWidth() < 32
             ? builder.getF32Type()
             : element;
}

double BoundBuilder::largest(Type element) const {
  return llvm::APFloat::getLargest(semantics(element)).convertToDouble();
}

double BoundBuilder::smallestNormal(Type element) const {
  return llvm::APFloat::getSmallestNormalized(semantics(element))
      .convertToDouble();
}

double BoundBuilder::gamma(int64_t terms, Type element) const {
  const llvm::fltSemantics &narrow = semantics(element);
  double unit = unitRoundoff(narrow);
  // 16- and 8-bit floats accumulate in f32.
  double accumulator =
      std::min(unit, unitRoundoff(llvm::APFloat::IEEEsingle()));
  double k = 2.0 * static_cast<double>(terms) * accumulator +
             static_cast<double>(numRanks + 2) * unit;
  return k < 0.5 ? k / (1 - k) : std::numeric_limits<double>::infinity();
}

Value BoundBuilder::constantWhere(Value nonzero, double number) {
  Value zero = constant(0);
  return select(compare(Predicate::eq, nonzero, zero), zero, constant(number));
}

Value BoundBuilder::round(Value v, Value p, Type element, Value nonzero) {
  const llvm::fltSemantics &type = semantics(element);
  Value size = magnitude(v);
  Value reach = p ? add(size, p) : size;
  Value rounding =
      add(scale(2 * unitRoundoff(type), reach),
          constantWhere(nonzero ? nonzero : reach, smallest(type)));
  Value error = p ? add(p, rounding) : rounding;
  // A value that some order may round to an infinity is unknown.
  return select(
      compare(Predicate::gt, add(size, error), constant(largest(element))),
      infinity(), error);
}

Value BoundBuilder::accumulate(Value sum, Value p, int64_t terms,
                               Type element) {
  Value grown = scale(gamma(terms, element), sum);
  double lost = static_cast<double>(terms) * smallest(semantics(element));
  Value error = plus(add(grown, constantWhere(sum, lost)), p);
  return select(
      compare(Predicate::gt, add(sum, error), constant(largest(element))),
      infinity(), error);
}
