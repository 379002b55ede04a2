//===- ErrorBound.cpp - Bounds of rounding errors -------------------------===//
//
// Walks a program and makes the bound of each operation's result.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/ErrorBound.h"

#include "lib/Transforms/Passes.h"
#include "lib/Verify/BoundBuilder.h"
#include "lib/Verify/Retype.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::verify;

using Predicate = ComparePredicate;

namespace {

Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

/// How many terms each element of a result is reduced from; 0 if the operation
/// does not reduce.
int64_t termsOf(Operation *op) {
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return shapeOf(matmul.getLhs()).back();
  if (auto conv = dyn_cast<Conv2dOp>(op)) {
    ArrayRef<int64_t> filter = shapeOf(conv.getFilter());
    return filter[1] * filter[2] * filter[3];
  }
  if (auto reduction = dyn_cast<ReductionOp>(op)) {
    int64_t terms = 1;
    for (int64_t dim : reduction.getDims())
      terms *= shapeOf(reduction.getInput())[dim];
    return terms;
  }
  if (auto scatter = dyn_cast<ScatterRowsOp>(op))
    return shapeOf(scatter.getIndices()).front() + 1;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    if (!collective.getReduction())
      return 0;
    MeshOp mesh = getMesh(op);
    int64_t ranks = 1;
    for (StringAttr axis : collective.getMeshAxes().getNames())
      ranks *= mesh.getAxisSize(axis);
    return ranks;
  }
  return 0;
}

enum class Reduce { Sum, Product, Extreme, Mean };

class BoundMaker {
public:
  BoundMaker(ProgramOp program, ProgramOp target, Arithmetic arithmetic)
      : program(program), target(target),
        builder(OpBuilder::atBlockBegin(&target.getBody().front())),
        b(builder, arithmetic,
          program.getMesh() ? program.getMesh().getNumRanks() : 1) {}

  LogicalResult run(std::vector<bool> &exact);

private:
  LogicalResult visitBlock(Block &block);
  LogicalResult visit(Operation *op);
  /// The bound of the operation's result v; none if the function does not
  /// handle this kind of operation.
  std::optional<Value> visitElementwise(Operation *op, Value v);
  std::optional<Value> visitOther(Operation *op, Value v);

  Value ofFunction(const ElementwiseFunction &function, Operation *op, Value v);
  Value monotone(Operation *op, Value v, Value nonzero);
  Value product(const Bounded &x, const Bounded &y, Value v, Type element);
  Value quotient(const Bounded &x, const Bounded &y, Value v, Type element);
  Value power(const Bounded &x, const Bounded &y, Value v, Type element);
  Value comparison(const Bounded &x, const Bounded &y);
  Value choice(SelectOp op);
  Value conversion(CastOp op, Value v);
  Value bilinear(Operation *op, Value v);
  Value scatterRows(ScatterRowsOp op, Value v);
  Value reduction(Operation *op, Reduce kind, Value v);
  /// A reduction like `op`, but of another kind and of `value`.
  Value reduceBy(Operation *op, Reduce kind, Value value);
  Value movement(Operation *op);

  /// Returns a copy, since adding a value would invalidate a reference.
  Bounded get(Value value) const { return values.lookup(value); }

  ProgramOp program, target;
  OpBuilder builder;
  BoundBuilder b;
  llvm::DenseMap<Value, Bounded> values;
};

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

Value BoundMaker::monotone(Operation *op, Value v, Value nonzero) {
  const Bounded &x = get(op->getOperand(0));
  Type element = elementOf(op->getResult(0));
  if (!x.error)
    return b.round(v, {}, element, nonzero);
  auto away = [&](Value end) {
    return b.make<AbsOp>(b.subtract(b.remake(op, end), v));
  };
  Value reach = b.maximum(away(b.add(x.value, x.error)),
                          away(b.subtract(x.value, x.error)));
  return b.round(v, b.unknownWith(reach, x.error), element, nonzero);
}

Value BoundMaker::ofFunction(const ElementwiseFunction &function, Operation *op,
                             Value v) {
  const Bounded x = get(op->getOperand(0)), y = get(op->getOperands().back());
  bool isBinary = op->getNumOperands() == 2;
  if (function.errorRule == ErrorRule::Nonexpansive)
    return isBinary ? b.larger(x.error, y.error) : x.error;
  Type element = elementOf(op->getResult(0));
  auto sum = [&] { return isBinary ? b.plus(x.error, y.error) : x.error; };
  if (function.errorRule == ErrorRule::Discontinuous)
    return b.unknownUnlessExact(sum());
  // Integers have no error, or an unknown one.
  if (!isFloat(element))
    return sum();
  switch (function.errorRule) {
  case ErrorRule::Product:
    return product(x, y, v, element);
  case ErrorRule::Quotient:
    return quotient(x, y, v, element);
  case ErrorRule::Power:
    return power(x, y, v, element);
  default:
    break;
  }
  auto nonzero = [&]() -> Value {
    switch (function.underflow) {
    case Underflow::Nowhere:
      return {};
    case Underflow::Anywhere:
      return b.constant(1);
    case Underflow::UnlessZero:
      return b.most(x);
    }
    return {};
  };
  if (function.errorRule == ErrorRule::Monotone)
    return monotone(op, v, nonzero());
  Value error = sum();
  if (function.errorRule == ErrorRule::Lipschitz && error)
    error = b.scale(function.slope, error);
  return b.round(v, error, element, nonzero());
}

std::optional<Value> BoundMaker::visitElementwise(Operation *op, Value v) {
  if (const ElementwiseFunction *function = functionOf(op))
    return ofFunction(*function, op, v);
  return llvm::TypeSwitch<Operation *, std::optional<Value>>(op)
      .Case([&](CompareOp op) {
        return comparison(get(op.getLhs()), get(op.getRhs()));
      })
      .Case([&](SelectOp op) { return choice(op); })
      .Case([&](DropoutOp op) {
        Value e = get(op.getInput()).error;
        Value seedError = get(op.getSeed()).error;
        if (e)
          e = b.remake(op, {b.fit(e, get(op.getInput()).value),
                            get(op.getSeed()).value});
        return b.round(v, b.plus(e, seedError), elementOf(op.getResult()));
      })
      .Case([&](CastOp op) { return conversion(op, v); })
      .Case<ConstantOp, IotaOp>([&](auto) { return Value(); })
      .Default([](Operation *) { return std::nullopt; });
}

Value BoundMaker::product(const Bounded &x, const Bounded &y, Value v,
                          Type element) {
  Value p;
  if (x.error)
    p = b.multiply(b.most(y), x.error);
  if (y.error)
    p = b.plus(p, b.multiply(b.magnitude(x.value), y.error));
  return b.round(v, p, element, b.make<MinOp>(b.most(x), b.most(y)));
}

Value BoundMaker::quotient(const Bounded &x, const Bounded &y, Value v,
                           Type element) {
  Value p = x.error;
  if (y.error)
    p = b.plus(p, b.multiply(b.magnitude(v), y.error));
  Value nonzero = b.most(x);
  if (!p)
    return b.round(v, {}, element, nonzero);
  Value least = b.magnitude(y.value);
  if (y.error)
    least = b.subtract(least, y.error);
  Value bound = b.select(b.compare(Predicate::gt, least, b.constant(0)),
                         b.make<DivOp>(p, least), b.infinity());
  return b.round(v, bound, element, nonzero);
}

Value BoundMaker::power(const Bounded &x, const Bounded &y, Value v,
                        Type element) {
  Value zero = b.constant(0), nonzero = b.constant(1);
  if (!x.error && !y.error)
    return b.round(v, {}, element, nonzero);
  Value xError = x.error ? x.error : zero, yError = y.error ? y.error : zero;
  Value size = b.magnitude(x.value);
  Value low = b.subtract(size, xError), high = b.add(size, xError);
  // |x|^y is monotone in x and in y, so its extremes are at the corners.
  Value reach, result = b.magnitude(v);
  for (Value base : {low, high})
    for (Value exponent :
         {b.subtract(y.value, yError), b.add(y.value, yError)}) {
      Value corner = b.make<PowOp>(base, exponent);
      reach = b.larger(reach, b.make<AbsOp>(b.subtract(corner, result)));
    }
  // If x may be 0 and y is exact, the power lies between that of the largest
  // |x| and its negative.
  Value crude = b.scale(2, b.make<PowOp>(high, y.value));
  Value exactPower = b.select(
      b.compare(Predicate::eq, yError, zero),
      b.select(b.compare(Predicate::gt, y.value, zero), crude, b.infinity()),
      b.infinity());
  // A negative x only has powers with an exact y.
  Value keepsSign = b.select(
      b.compare(Predicate::gt, x.value, zero), reach,
      b.select(b.compare(Predicate::eq, yError, zero), reach, b.infinity()));
  Value p =
      b.select(b.compare(Predicate::gt, low, zero), keepsSign, exactPower);
  p = b.unknownWith(b.unknownWith(p, xError), yError);
  return b.round(v, p, element, nonzero);
}

Value BoundMaker::comparison(const Bounded &x, const Bounded &y) {
  Value error = b.plus(x.error, y.error);
  if (!error || !isFloat(elementOf(x.value)))
    return error;
  Value gap = b.make<AbsOp>(b.subtract(x.value, y.value));
  return b.select(b.compare(Predicate::gt, gap, error), b.constant(0),
                  b.unknownUnlessExact(error));
}

Value BoundMaker::choice(SelectOp op) {
  const Bounded condition = get(op.getCondition());
  const Bounded x = get(op.getLhs()), y = get(op.getRhs());
  Value chosen;
  if (x.error || y.error)
    chosen = b.select(condition.value, x.error ? x.error : b.constant(0),
                      y.error ? y.error : b.constant(0));
  if (!condition.error)
    return chosen;
  Value either = b.infinity();
  if (isFloat(elementOf(x.value)))
    either = b.plus(b.make<AbsOp>(b.subtract(x.value, y.value)),
                    b.larger(x.error, y.error));
  return b.select(b.compare(Predicate::eq, condition.error, b.constant(0)),
                  chosen ? chosen : b.constant(0), either);
}

Value BoundMaker::conversion(CastOp op, Value v) {
  const Bounded x = get(op.getInput());
  Type from = elementOf(op.getInput()), to = op.getElementType();
  if (isFloat(to)) {
    if (isFloat(from) && llvm::APFloatBase::isRepresentableBy(
                             cast<FloatType>(from).getFloatSemantics(),
                             cast<FloatType>(to).getFloatSemantics()))
      return x.error;
    return from.isInteger(1) ? x.error : b.round(v, x.error, to);
  }
  if (!x.error || !isFloat(from))
    return x.error;
  // The result is exact if both ends convert to the same value.
  Value low = b.remake(op, b.subtract(x.value, x.error));
  Value high = b.remake(op, b.add(x.value, x.error));
  Value same = b.select(b.compare(Predicate::eq, low, high), b.constant(0),
                        b.unknownUnlessExact(x.error));
  if (to.isInteger(1)) // what is 0 may lie between
    same = b.select(b.compare(Predicate::gt, b.magnitude(x.value), x.error),
                    b.constant(0), b.unknownUnlessExact(x.error));
  return b.unknownWith(same, x.error);
}

//===----------------------------------------------------------------------===//
// Sums, products, extremes
//===----------------------------------------------------------------------===//

Value BoundMaker::bilinear(Operation *op, Value v) {
  const Bounded x = get(op->getOperand(0)), y = get(op->getOperand(1));
  Value xSize = b.magnitude(x.value), p;
  if (x.error)
    p = b.remake(op, {b.fit(x.error, x.value), b.fit(b.most(y), y.value)});
  if (y.error)
    p = b.plus(p, b.remake(op, {xSize, b.fit(y.error, y.value)}));
  Type element = elementOf(op->getResult(0));
  if (!isFloat(element))
    return p;
  Value sum = b.remake(op, {xSize, b.magnitude(y.value)});
  if (element.getIntOrFloatBitWidth() == 8) {
    // Tensor cores of sm_90 add 32 products of 8-bit floats and their sum so
    // far at once, and cut off of each what is below 2^-13 of the largest.
    double additions = static_cast<double>(termsOf(op)) / 32 + 1;
    p = b.plus(p, b.scale(33 * additions / 8192, sum));
  }
  return b.round(v, b.accumulate(sum, p, termsOf(op), element), element);
}

Value BoundMaker::scatterRows(ScatterRowsOp op, Value v) {
  const Bounded rows = get(op.getRows()), table = get(op.getTable());
  const Bounded indices = get(op.getIndices());
  Value p;
  if (rows.error || table.error)
    p = b.remake(op, {b.fit(rows.error, rows.value), indices.value,
                      b.fit(table.error, table.value)});
  Type element = elementOf(op.getResult());
  if (isFloat(element)) {
    Value sum = b.remake(
        op, {b.magnitude(rows.value), indices.value, b.magnitude(table.value)});
    p = b.round(v, b.accumulate(sum, p, termsOf(op), element), element);
  }
  return indices.error ? b.infinity() : p;
}

Value BoundMaker::reduceBy(Operation *op, Reduce kind, Value value) {
  if (auto reduction = dyn_cast<ReductionOp>(op)) {
    ReductionKind by = kind == Reduce::Sum       ? ReductionKind::sum
                       : kind == Reduce::Product ? ReductionKind::prod
                       : kind == Reduce::Mean    ? ReductionKind::mean
                                                 : ReductionKind::max;
    return b.make<ReductionOp>(by, value, reduction.getDims());
  }
  ReduceKind by = kind == Reduce::Product   ? ReduceKind::prod
                  : kind == Reduce::Extreme ? ReduceKind::max
                                            : ReduceKind::sum;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AllReduceOp op) {
        return b.make<AllReduceOp>(by, value, op.getAxes());
      })
      .Case([&](ReduceScatterOp op) {
        return b.make<ReduceScatterOp>(by, value, op.getDim(), op.getAxes());
      })
      .Case([&](ReduceOp op) {
        return b.make<ReduceOp>(by, value, op.getRoot(), op.getAxes());
      });
}

Value BoundMaker::reduction(Operation *op, Reduce kind, Value v) {
  const Bounded x = get(op->getOperand(0));
  Type element = elementOf(op->getResult(0));
  Value error = x.error ? b.fit(x.error, x.value) : Value();
  if (kind == Reduce::Extreme || !isFloat(element)) {
    if (!error)
      return {};
    // The largest error of no elements is 0.
    return b.make<ReluOp>(reduceBy(op, Reduce::Extreme, error));
  }
  Value size = b.magnitude(x.value);
  // Another program may split a reduction on one rank into parts, which are
  // rounded to the element type. Sums between ranks are rounded only once they
  // are complete.
  Type partial = isa<ReductionOp>(op) ? element : b.accumulatorOf(element);
  if (kind != Reduce::Product) {
    Value p = error ? reduceBy(op, kind, error) : Value();
    p = b.accumulate(reduceBy(op, kind, size), p, termsOf(op), partial);
    // A mean is divided only after everything is added, so its sum may
    // overflow.
    if (kind == Reduce::Mean) {
      Value whole = reduceBy(op, Reduce::Sum, b.most(x));
      Type sums = b.accumulatorOf(element);
      p = b.select(b.compare(Predicate::gt,
                             b.scale(1 + b.gamma(termsOf(op), sums), whole),
                             b.constant(b.largest(sums))),
                   b.infinity(), p);
    }
    return b.round(v, p, element);
  }
  // p = (|x_1| + e_1) ... (|x_n| + e_n) - |x_1| ... |x_n|, if no order
  // overflows or underflows.
  Value one = b.constant(1), zero = b.constant(0);
  Value reach = b.most(x);
  Value upper = reduceBy(op, kind, reach);
  Value p = b.subtract(upper, reduceBy(op, kind, size));
  p = b.accumulate(upper, p, termsOf(op), partial);
  Value least = error ? b.subtract(size, error) : size;
  Value isZero = b.compare(Predicate::eq, reach, zero);
  Value small = reduceBy(op, kind,
                         b.select(isZero, b.add(one, b.zeroLike(x.value)),
                                  b.make<MinOp>(b.make<ReluOp>(least), one)));
  Value large = reduceBy(op, kind, b.maximum(reach, one));
  p = b.select(
      b.compare(Predicate::lt, small, b.constant(b.smallestNormal(partial))),
      b.infinity(), p);
  p = b.select(b.compare(Predicate::gt, large, b.constant(b.largest(partial))),
               b.infinity(), p);
  return b.round(v, p, element);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Value BoundMaker::movement(Operation *op) {
  if (llvm::none_of(op->getOperands(),
                    [&](Value operand) { return get(operand).error; }))
    return {};
  SmallVector<Value> errors;
  for (Value operand : op->getOperands())
    errors.push_back(b.fit(get(operand).error, get(operand).value));
  return b.remake(op, errors);
}

std::optional<Value> BoundMaker::visitOther(Operation *op, Value v) {
  auto kindOf = [](ReduceKind kind) {
    return kind == ReduceKind::sum    ? Reduce::Sum
           : kind == ReduceKind::prod ? Reduce::Product
                                      : Reduce::Extreme;
  };
  return llvm::TypeSwitch<Operation *, std::optional<Value>>(op)
      .Case<MatmulOp, Conv2dOp>([&](auto op) { return bilinear(op, v); })
      .Case([&](ScatterRowsOp op) { return scatterRows(op, v); })
      .Case([&](GatherRowsOp op) {
        const Bounded table = get(op.getTable()), rows = get(op.getIndices());
        if (rows.error)
          return b.infinity();
        if (!table.error)
          return Value();
        return b.remake(op, {b.fit(table.error, table.value), rows.value});
      })
      .Case([&](ReductionOp op) {
        ReductionKind kind = op.getKind();
        return reduction(op,
                         kind == ReductionKind::sum    ? Reduce::Sum
                         : kind == ReductionKind::prod ? Reduce::Product
                         : kind == ReductionKind::mean ? Reduce::Mean
                                                       : Reduce::Extreme,
                         v);
      })
      .Case([&](CollectiveOpInterface op) {
        std::optional<ReduceKind> kind = op.getReduction();
        return kind ? reduction(op, kindOf(*kind), v) : movement(op);
      })
      .Case<TransposeOp, ReshapeOp, ExtractOp, ConcatOp, BroadcastToOp>(
          [&](auto op) { return movement(op); })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Moves a value, or its bound, to the target layout of a reshard. Reshards
/// that remain in the program do not communicate.
static Value relayout(OpBuilder &builder, ReshardOp op, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Layout layout = Layout::of(op.getType());
  SmallVector<PartialAxis> partials(layout.getPartials());
  for (PartialAxis partial : partials)
    layout.setState(partial.axis, {AxisState::Local});
  RankedTensorType to = layout.getType(type.getShape(), type.getElementType());
  return to == type
             ? value
             : ReshardOp::create(builder, op.getLoc(), to, value).getResult();
}

LogicalResult BoundMaker::visit(Operation *op) {
  b.setLocation(op->getLoc());
  if (auto update = dyn_cast<UpdateOp>(op)) {
    values[update.getResult()] = get(update.getValue());
    return success();
  }
  if (auto reshard = dyn_cast<ReshardOp>(op)) {
    Bounded x = get(reshard.getInput());
    if (x.error)
      x.error = relayout(builder, reshard, b.fit(x.error, x.value));
    x.value = relayout(builder, reshard, x.value);
    values[reshard.getResult()] = x;
    return success();
  }
  if (op->getNumRegions() == 1) {
    Block &body = op->getRegion(0).front();
    if (failed(visitBlock(body)))
      return failure();
    for (auto [result, yielded] :
         llvm::zip_equal(op->getResults(), body.getTerminator()->getOperands()))
      values[result] = Bounded(get(yielded));
    return success();
  }
  if (!isa<LayoutOpInterface>(op))
    return op->emitError() << "no error bound is known of this operation";
  SmallVector<Value> operands = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return get(operand).value; });
  Value v = b.remake(op, operands);
  std::optional<Value> error = visitElementwise(op, v);
  if (!error)
    error = visitOther(op, v);
  if (!error)
    return op->emitError() << "no error bound is known of this operation";
  values[op->getResult(0)] = {v, *error};
  return failure(b.hasFailed());
}

LogicalResult BoundMaker::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(visit(&op)))
      return failure();
  return success();
}

LogicalResult BoundMaker::run(std::vector<bool> &exact) {
  for (auto [from, to] :
       llvm::zip_equal(program.getArguments(), target.getArguments()))
    values[from] = {b.localize(to), {}};
  if (failed(visitBlock(program.getBody().front())))
    return failure();
  SmallVector<Value> outcomes, results;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (program.isInout(i))
      outcomes.push_back(program.getFinalValue(i));
  Operation *end = program.getBody().front().getTerminator();
  llvm::append_range(outcomes, end->getOperands());
  for (Value outcome : outcomes) {
    const Bounded x = get(outcome);
    exact.push_back(!x.error);
    if (x.error)
      results.push_back(b.fit(x.error, x.value));
  }
  ReturnOp::create(builder, end->getLoc(), results);
  target.setType(builder.getFunctionType(target.getArgumentTypes(),
                                         ValueRange(results).getTypes()));
  for (unsigned i = 0; i < results.size(); ++i)
    target.setResultAttr(i, kNameAttr,
                         builder.getStringAttr("bound " + Twine(i)));
  return failure(b.hasFailed());
}

} // namespace

FailureOr<BoundProgram> verify::makeBoundProgram(ProgramOp program,
                                                 Arithmetic arithmetic) {
  MLIRContext *context = program.getContext();
  // Makes a copy of the program in which reshards are lowered to collectives.
  OwningOpRef<ModuleOp> original = ModuleOp::create(program.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(original->getBody());
  if (MeshOp mesh = program.getMesh())
    builder.clone(*mesh);
  auto copy = cast<ProgramOp>(builder.clone(*program));
  PassManager passes(context);
  passes.addNestedPass<ProgramOp>(createLowerReshard());
  if (failed(passes.run(*original)))
    return failure();

  BoundProgram result;
  result.module = ModuleOp::create(program.getLoc());
  builder.setInsertionPointToEnd(result.module->getBody());
  if (MeshOp mesh = program.getMesh())
    builder.clone(*mesh);
  SmallVector<Type> types;
  for (Type type : copy.getArgumentTypes())
    types.push_back(toF64(cast<RankedTensorType>(type)));
  auto target =
      ProgramOp::create(builder, program.getLoc(), program.getSymNameAttr(),
                        builder.getFunctionType(types, {}));
  Block *block = builder.createBlock(&target.getBody());
  for (auto [index, type] : llvm::enumerate(types)) {
    block->addArgument(type, copy.getArgument(index).getLoc());
    target.setArgAttr(index, kNameAttr, copy.getArgName(index));
  }
  if (failed(BoundMaker(copy, target, arithmetic).run(result.exact)))
    return failure();
  return result;
}

Terms verify::longestReduction(ProgramOp program) {
  Terms longest;
  program.getBody().walk([&](Operation *op) {
    int64_t terms = termsOf(op);
    if (terms > longest.count && isFloat(elementOf(op->getResult(0))))
      longest = {terms, elementOf(op->getResult(0))};
  });
  return longest;
}
