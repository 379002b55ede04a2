//===- ReadScores.cpp - What a softmax is computed of ---------------------===//
//
// Goes through the loops between two products, whatever they store in between,
// and writes what they compute of an element as one function, in which equal
// operations are one. In it a softmax is known by its operations. What it is
// computed of is then written again without roundings to the products' type.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/Attention.h"
#include "runtime/tensor/Strided.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <cfloat>
#include <set>

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using mlir::Value;
using runtime::Access;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

std::optional<ScorePlace> AttentionDims::placeOf(ArrayRef<int64_t> given,
                                                 ArrayRef<int64_t> givenStrides,
                                                 int64_t offset) const {
  ScorePlace place{offset, llvm::SmallVector<int64_t>(sizes.size(), 0)};
  size_t next = sizes.size();
  for (size_t dim = given.size(); dim-- > 0;) {
    int64_t size = 1;
    while (size < given[dim] && next > 0) {
      --next;
      if (sizes[next] != 1)
        place.strides[next] = givenStrides[dim] * size;
      size *= sizes[next];
    }
    if (size != given[dim])
      return std::nullopt;
  }
  while (next > 0 && sizes[next - 1] == 1)
    --next;
  return next == 0 ? std::optional(place) : std::nullopt;
}

namespace {

/// An element of memory, or of a scratch array.
struct Element {
  bool isScratch;
  int number;
  ScorePlace place;
};

class Reader {
public:
  Reader(const LaunchMapper &launch, AttentionPlan &plan)
      : launch(launch), places(launch.kernel.places), plan(plan) {}

  bool read(ArrayRef<runtime::Part> parts, const runtime::View &products,
            const runtime::View &weights, ArrayRef<int64_t> batch);

private:
  bool findDims(ArrayRef<runtime::Part> parts, ArrayRef<int64_t> batch);
  void begin(mlir::func::FuncOp body);
  bool read(const runtime::Loop &loop);
  Value valueOf(const runtime::LoopOperand &input, const ScorePlace &place,
                mlir::Type type);
  bool store(const runtime::LoopOperand &output, const ScorePlace &place,
             Value value);
  Value argument(mlir::Type type) {
    return function.front().addArgument(type, function.getLoc());
  }
  Value clone(mlir::Operation &op, mlir::IRMapping &values);
  Value reduced(ReductionKind kind, Value of);
  Value scoreOf(Value weight) const;

  const LaunchMapper &launch;
  const PartPlaces &places;
  AttentionPlan &plan;
  mlir::OwningOpRef<mlir::func::FuncOp> own;
  mlir::func::FuncOp function;
  /// What elements have, that of loads too.
  std::vector<std::pair<Element, Value>> known;
  /// By argument of the function.
  llvm::DenseMap<Value, Scores::Load> loads;
  llvm::DenseMap<Value, ScorePlace> positions;
  llvm::DenseMap<Value, std::pair<ReductionKind, Value>> reductions;
  std::vector<runtime::View> written;
  /// The first product's result.
  Element produced = {};
  Value product;

  friend class Writer;
};

/// Writes a value of a reader's function as scores.
class Writer {
public:
  Writer(const Reader &reader, Scores &scores) : reader(reader), to(scores) {}

  bool write(Value score);

private:
  Value copy(Value value);
  Value copyArgument(Value value);
  Value copyOperation(mlir::Operation *op);
  bool isRounded(mlir::Type type) const {
    return type == reader.product.getType();
  }
  void findConditions(Value score);
  bool addCondition(Value condition, bool holds,
                    std::vector<ScoreCondition> &list);
  std::optional<ScoreCondition> linear(Value value) const;
  std::optional<double> scaleOf(Value score) const;

  const Reader &reader;
  Scores &to;
  mlir::func::FuncOp function;
  std::optional<mlir::OpBuilder> builder;
  llvm::DenseMap<Value, Value> copies;
  /// By argument of the written function.
  llvm::DenseMap<Value, ScorePlace> positions;
  Value product;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Finds the dimensions of scores: those of the products, cut where loops cut
/// them.
bool Reader::findDims(ArrayRef<runtime::Part> parts, ArrayRef<int64_t> batch) {
  const runtime::MatmulPart &second = plan.result.part;
  int64_t rows = second.m, keys = second.k, all = plan.result.batches;
  std::set<int64_t> cuts;
  auto divide = [&](ArrayRef<int64_t> sizes, int64_t unit) {
    for (int64_t size : llvm::reverse(sizes))
      cuts.insert(unit *= size);
    return unit == all * rows * keys;
  };
  cuts.insert(keys);
  if (!divide(batch, rows * keys))
    return false;
  for (const runtime::Part &part : parts) {
    const auto *rowsPart = std::get_if<runtime::RowsPart>(&part);
    if (!rowsPart)
      return false;
    for (const runtime::Loop &loop : rowsPart->loops)
      if (!divide(loop.sizes, 1))
        return false;
  }
  cuts.erase(1);
  // Within rows, and within keys, there are none.
  plan.dims.sizes = {rows, keys};
  int64_t unit = rows * keys;
  for (int64_t cut : cuts) {
    if (cut < unit && cut != keys)
      return false;
    if (cut <= unit)
      continue;
    if (cut % unit != 0)
      return false;
    plan.dims.sizes.insert(plan.dims.sizes.begin(), cut / unit);
    unit = cut;
  }
  return true;
}

/// What an input is; null if that is not known.
Value Reader::valueOf(const runtime::LoopOperand &input,
                      const ScorePlace &place, mlir::Type type) {
  bool isScratch = input.access == Access::Scratch;
  for (auto &[element, value] : known)
    if (element.isScratch == isScratch && element.number == input.view.buffer &&
        element.place == place)
      return value.getType() == type ? value : Value();
  bool isOwn = input.view.rank < 0 || input.view.rank == places.rank;
  if (input.access != Access::Load || !isOwn || places.isScattered(input.view))
    return {};
  // What this launch has written must be known.
  for (const runtime::View &view : written)
    if (places.overlap(view, input.view))
      return {};
  Value loaded = argument(type);
  loads[loaded] = {input, place};
  known.push_back({{false, input.view.buffer, place}, loaded});
  return loaded;
}

/// Whether nobody else reads an output.
bool Reader::store(const runtime::LoopOperand &output, const ScorePlace &place,
                   Value value) {
  bool isScratch = output.access == Access::Scratch;
  if (!isScratch) {
    if (output.access != Access::Store || output.view.rank >= 0 ||
        places.buffer(output.view).memory != runtime::Memory::Private ||
        launch.facts.uses[static_cast<size_t>(output.view.buffer)] > 1)
      return false;
    written.push_back(output.view);
    plan.kept.push_back(output.view.buffer);
  }
  for (auto &[element, other] : known)
    if (element.isScratch == isScratch && element.number == output.view.buffer)
      return false;
  known.push_back({{isScratch, output.view.buffer, place}, value});
  return true;
}

/// The result of an operation whose operands have values; the same as that of
/// an equal one.
Value Reader::clone(mlir::Operation &op, mlir::IRMapping &values) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&function.front());
  mlir::Operation *made = builder.clone(op, values);
  for (mlir::Operation &other : function.front())
    if (&other != made &&
        mlir::OperationEquivalence::isEquivalentTo(
            &other, made, mlir::OperationEquivalence::IgnoreLocations)) {
      values.map(op.getResults(), other.getResults());
      made->erase();
      return other.getResult(0);
    }
  return made->getResult(0);
}

Value Reader::reduced(ReductionKind kind, Value of) {
  for (auto &[argument, reduction] : reductions)
    if (reduction == std::pair(kind, of))
      return argument;
  Value result = argument(of.getType());
  reductions[result] = {kind, of};
  return result;
}

void Reader::begin(mlir::func::FuncOp body) {
  mlir::OpBuilder builder(body.getContext());
  own = mlir::func::FuncOp::create(body.getLoc(), "weights",
                                   builder.getFunctionType({}, {}));
  function = *own;
  function.addEntryBlock();
  product = argument(plan.result.type == runtime::ElementType::F16
                         ? mlir::Type(builder.getF16Type())
                         : builder.getBF16Type());
  known.push_back({produced, product});
}

bool Reader::read(const runtime::Loop &loop) {
  const LoopKernel *kernel = launch.facts.bodies.of(loop);
  // Copies have none, and failures must be reported.
  if (!kernel)
    return false;
  mlir::func::FuncOp body = kernel->body;
  if (body.getNumResults() != loop.outputs.size())
    return false;
  if (!function)
    begin(body);
  auto placeOf = [&](const runtime::View &view) {
    return plan.dims.placeOf(loop.sizes, view.strides, view.offset);
  };
  mlir::IRMapping values;
  for (auto [input, argument] :
       llvm::zip_equal(loop.inputs, body.getArguments())) {
    std::optional<ScorePlace> place = placeOf(input.view);
    if (!place)
      return false;
    Value value;
    if (input.access == Access::Index) {
      for (auto &[known, at] : positions)
        if (at == *place)
          value = known;
      if (!value) {
        value = this->argument(argument.getType());
        positions[value] = *place;
      }
    } else {
      value = valueOf(input, *place, argument.getType());
    }
    if (!value)
      return false;
    values.map(argument, value);
  }
  mlir::Operation *end = body.front().getTerminator();
  for (mlir::Operation &op : body.front().without_terminator()) {
    if (op.getNumResults() != 1)
      return false;
    values.map(op.getResult(0), clone(op, values));
  }
  // Of keys, all or none are reduced.
  int64_t reducedKeys = runtime::product(
      ArrayRef(loop.sizes).take_back(static_cast<size_t>(loop.reducedDims)));
  if (loop.reducedDims > 0 && reducedKeys != plan.dims.keys())
    return false;
  for (auto [i, output] : llvm::enumerate(loop.outputs)) {
    std::optional<ScorePlace> place = placeOf(output.view);
    Value value = values.lookup(end->getOperand(static_cast<unsigned>(i)));
    if (loop.reducedDims > 0)
      value = reduced(*kernel->outputs[i].reduction, value);
    if (!place || !store(output, *place, value))
      return false;
  }
  return true;
}

/// The operation that makes a value, if it is of that kind; those around
/// functions of f64 of values of f32 left out.
template <typename Op> static Op makerOf(Value value) {
  return value ? value.getDefiningOp<Op>() : Op();
}
static Value exponentOf(Value power) {
  auto rounded = makerOf<mlir::arith::TruncFOp>(power);
  auto exponential =
      makerOf<mlir::math::ExpOp>(rounded ? rounded.getIn() : Value());
  auto wide = makerOf<mlir::arith::ExtFOp>(
      exponential ? exponential.getOperand() : Value());
  return wide ? wide.getIn() : Value();
}

/// What a value is the softmax of, rounded; null if it is none.
Value Reader::scoreOf(Value weight) const {
  auto rounded = makerOf<mlir::arith::TruncFOp>(weight);
  auto quotient =
      makerOf<mlir::arith::DivFOp>(rounded ? rounded.getIn() : Value());
  if (!quotient || !quotient.getType().isF32())
    return {};
  Value power = quotient.getLhs();
  auto sum = reductions.find(quotient.getRhs());
  auto difference = makerOf<mlir::arith::SubFOp>(exponentOf(power));
  if (sum == reductions.end() ||
      sum->second != std::pair(ReductionKind::sum, power) || !difference)
    return {};
  Value score = difference.getLhs();
  auto largest = reductions.find(difference.getRhs());
  bool isLargest = largest != reductions.end() &&
                   largest->second == std::pair(ReductionKind::max, score);
  return isLargest && score.getType().isF32() ? score : Value();
}

bool Reader::read(ArrayRef<runtime::Part> parts, const runtime::View &products,
                  const runtime::View &weights, ArrayRef<int64_t> batch) {
  if (!findDims(parts, batch))
    return false;
  auto find = [&](const runtime::View &view) {
    llvm::SmallVector<int64_t> sizes(batch);
    sizes.append({plan.dims.rows(), plan.dims.keys()});
    return plan.dims.placeOf(sizes, view.strides, view.offset);
  };
  std::optional<ScorePlace> from = find(products), to = find(weights);
  if (!from || !to)
    return false;
  produced = {false, products.buffer, *from};
  written.push_back(products);
  for (const runtime::Part &part : parts)
    for (const runtime::Loop &loop : std::get<runtime::RowsPart>(part).loops)
      if (!read(loop))
        return false;
  Value weight;
  for (auto &[element, value] : known)
    if (!element.isScratch && element.number == weights.buffer &&
        element.place == *to)
      weight = value;
  Value score = weight ? scoreOf(weight) : Value();
  return score && weight.getType() == product.getType() &&
         Writer(*this, plan.scores).write(score);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The value of an argument; null if scores do not depend on such ones.
Value Writer::copyArgument(Value value) {
  if (value == reader.product)
    return product;
  auto load = reader.loads.find(value);
  auto position = reader.positions.find(value);
  // Arguments are in order: the product, loads, positions.
  auto at = static_cast<unsigned>(1 + to.loads.size());
  if (load != reader.loads.end()) {
    to.loads.push_back(load->second);
    Value own =
        function.front().insertArgument(at, value.getType(), function.getLoc());
    if (!isRounded(value.getType()))
      return own;
    return mlir::arith::ExtFOp::create(*builder, function.getLoc(),
                                       builder->getF32Type(), own);
  }
  if (position == reader.positions.end())
    return {};
  to.positions.push_back(position->second);
  Value own = function.front().addArgument(value.getType(), function.getLoc());
  positions[own] = position->second;
  return own;
}

Value Writer::copyOperation(mlir::Operation *op) {
  mlir::IRMapping values;
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value own = copy(operand);
    if (!own)
      return {};
    operands.push_back(own);
    values.map(operand, own);
  }
  mlir::Location loc = op->getLoc();
  mlir::Type type = op->getResult(0).getType();
  mlir::Type wide = isRounded(type) ? builder->getF32Type() : type;
  bool ofRounded = llvm::any_of(op->getOperandTypes(),
                                [&](mlir::Type own) { return isRounded(own); });
  if (mlir::isa<mlir::arith::ExtFOp, mlir::arith::TruncFOp>(op)) {
    Value from = operands.front();
    unsigned had = from.getType().getIntOrFloatBitWidth(),
             has = wide.getIntOrFloatBitWidth();
    if (had == has)
      return from.getType() == wide ? from : Value();
    return had < has
               ? Value(mlir::arith::ExtFOp::create(*builder, loc, wide, from))
               : Value(
                     mlir::arith::TruncFOp::create(*builder, loc, wide, from));
  }
  if (!ofRounded && wide == type)
    return builder->clone(*op, values)->getResult(0);
  if (auto constant = mlir::dyn_cast<mlir::arith::ConstantOp>(op)) {
    auto number = mlir::cast<mlir::FloatAttr>(constant.getValue());
    return mlir::arith::ConstantOp::create(
        *builder, loc,
        builder->getF32FloatAttr(
            static_cast<float>(number.getValueAsDouble())));
  }
  if (mlir::isa<mlir::arith::SelectOp>(op))
    return mlir::arith::SelectOp::create(*builder, loc, operands[0],
                                         operands[1], operands[2]);
  return {};
}

Value Writer::copy(Value value) {
  if (auto it = copies.find(value); it != copies.end())
    return it->second;
  mlir::Operation *op = value.getDefiningOp();
  Value own = op ? copyOperation(op) : copyArgument(value);
  if (own)
    copies[value] = own;
  return own;
}

/// A value of positions as a linear function of the row and the key.
std::optional<ScoreCondition> Writer::linear(Value value) const {
  if (!value.getType().isInteger(64))
    return std::nullopt;
  if (auto it = positions.find(value); it != positions.end()) {
    const ScorePlace &place = it->second;
    ArrayRef<int64_t> strides = place.strides;
    if (llvm::any_of(strides.drop_back(2), [](int64_t s) { return s != 0; }))
      return std::nullopt;
    return ScoreCondition{place.offset, strides[strides.size() - 2],
                          strides.back()};
  }
  mlir::APInt number;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&number)))
    return ScoreCondition{number.getSExtValue(), 0, 0};
  mlir::Operation *op = value.getDefiningOp();
  if (!mlir::isa_and_nonnull<mlir::arith::AddIOp, mlir::arith::SubIOp>(op))
    return std::nullopt;
  std::optional<ScoreCondition> a = linear(op->getOperand(0)),
                                b = linear(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  int64_t sign = mlir::isa<mlir::arith::AddIOp>(op) ? 1 : -1;
  return ScoreCondition{a->constant + sign * b->constant,
                        a->row + sign * b->row, a->key + sign * b->key};
}

/// Adds what must hold of an element for `condition` to be `holds`; false if it
/// is not known.
bool Writer::addCondition(Value condition, bool holds,
                          std::vector<ScoreCondition> &list) {
  mlir::Operation *op = condition.getDefiningOp();
  if ((holds && mlir::isa_and_nonnull<mlir::arith::AndIOp>(op)) ||
      (!holds && mlir::isa_and_nonnull<mlir::arith::OrIOp>(op)))
    return addCondition(op->getOperand(0), holds, list) &&
           addCondition(op->getOperand(1), holds, list);
  auto compare = mlir::dyn_cast_or_null<mlir::arith::CmpIOp>(op);
  if (!compare)
    return false;
  using mlir::arith::CmpIPredicate;
  std::optional<ScoreCondition> a = linear(compare.getLhs()),
                                b = linear(compare.getRhs());
  if (!a || !b)
    return false;
  CmpIPredicate how = compare.getPredicate();
  if (!holds)
    how = mlir::arith::invertPredicate(how);
  // The larger minus the smaller.
  bool isLess = how == CmpIPredicate::slt || how == CmpIPredicate::sle;
  if (!isLess && how != CmpIPredicate::sgt && how != CmpIPredicate::sge)
    return false;
  if (isLess)
    std::swap(a, b);
  bool isStrict = how == CmpIPredicate::slt || how == CmpIPredicate::sgt;
  list.push_back(
      {a->constant - b->constant - isStrict, a->row - b->row, a->key - b->key});
  return true;
}

/// The number that a score is the product times, if it is.
std::optional<double> Writer::scaleOf(Value score) const {
  if (score == product)
    return 1;
  mlir::Operation *op = score.getDefiningOp();
  if (mlir::isa_and_nonnull<mlir::arith::ExtFOp, mlir::arith::TruncFOp>(op))
    return scaleOf(op->getOperand(0));
  if (!mlir::isa_and_nonnull<mlir::arith::MulFOp, mlir::arith::DivFOp>(op))
    return std::nullopt;
  bool divides = mlir::isa<mlir::arith::DivFOp>(op);
  for (unsigned i : {0U, 1U}) {
    if (divides && i == 1)
      break;
    std::optional<double> scale = scaleOf(op->getOperand(i));
    mlir::FloatAttr number;
    Value other = op->getOperand(1 - i);
    while (auto wider = makerOf<mlir::arith::ExtFOp>(other))
      other = wider.getIn();
    if (!scale || !mlir::matchPattern(other, mlir::m_Constant(&number)))
      continue;
    double factor = number.getValueAsDouble();
    double result = divides ? *scale / factor : *scale * factor;
    constexpr double least = 1e-30, most = 1e30;
    if (result >= least && result <= most)
      return result;
  }
  return std::nullopt;
}

/// Finds out where scores are a number, and whether they are products times a
/// number elsewhere.
void Writer::findConditions(Value score) {
  // Of larger ones, weights may not be 0.
  constexpr double least = -FLT_MAX, most = -1e4;
  auto isSmall = [&](const ScoreCondition &condition) {
    constexpr int64_t limit = int64_t(1) << 30;
    return std::abs(condition.constant) < limit &&
           std::abs(condition.row) < limit / 2 / reader.plan.dims.rows() &&
           std::abs(condition.key) < limit / 2 / reader.plan.dims.keys();
  };
  while (auto select = makerOf<mlir::arith::SelectOp>(score)) {
    mlir::FloatAttr number;
    bool holds =
        mlir::matchPattern(select.getFalseValue(), mlir::m_Constant(&number));
    if (!holds &&
        !mlir::matchPattern(select.getTrueValue(), mlir::m_Constant(&number)))
      break;
    double excluded = number.getValueAsDouble();
    std::vector<ScoreCondition> more = to.conditions;
    if (!(excluded >= least && excluded <= most) ||
        (!to.conditions.empty() && excluded != to.excluded) ||
        !addCondition(select.getCondition(), holds, more) ||
        !llvm::all_of(more, isSmall))
      break;
    to.conditions = std::move(more);
    to.excluded = excluded;
    score = holds ? select.getTrueValue() : select.getFalseValue();
  }
  to.scale = scaleOf(score);
}

bool Writer::write(Value score) {
  mlir::func::FuncOp from = reader.function;
  builder.emplace(from.getContext());
  to.body = mlir::func::FuncOp::create(from.getLoc(), "scores",
                                       builder->getFunctionType({}, {}));
  function = *to.body;
  builder->setInsertionPointToStart(function.addEntryBlock());
  product =
      function.front().addArgument(builder->getF32Type(), function.getLoc());
  Value result = copy(score);
  if (!result || !result.getType().isF32())
    return false;
  mlir::func::ReturnOp::create(*builder, function.getLoc(), result);
  function.setFunctionType(builder->getFunctionType(
      function.front().getArgumentTypes(), result.getType()));
  findConditions(result);
  return true;
}

bool codegen::readScores(const LaunchMapper &launch,
                         ArrayRef<runtime::Part> parts,
                         const runtime::View &products,
                         const runtime::View &weights, ArrayRef<int64_t> batch,
                         AttentionPlan &plan) {
  return Reader(launch, plan).read(parts, products, weights, batch);
}
