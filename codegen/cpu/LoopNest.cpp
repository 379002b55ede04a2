//===- LoopNest.cpp - From a loop's body to the function ------------------===//
//
// All loops test their condition at the end, since a size of 0 is handled
// before the first loop: the function returns, or takes a path for empty
// reductions. So every loop body runs at least once, and what does not change
// in a loop can be computed before it. This file does that, by the depth of
// loops at which an operation's operands are known; LLVM could not, as only the
// kernel says what does not alias.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace ccn::codegen {

namespace {

/// The type in memory: a byte for bool, and an integer of the same size for
/// narrow floats.
Type storageType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (isNarrowFloat(element))
    return IntegerType::get(element.getContext(),
                            element.getIntOrFloatBitWidth());
  return scalarType(element);
}

/// The type in which elements accumulate. Integers accumulate in their own
/// type, since sums and products wrap anyway.
Type accumulatorType(Type element) {
  if (!isa<FloatType>(element))
    return scalarType(element);
  Builder builder(element.getContext());
  return isNarrowFloat(element) ? builder.getF32Type() : builder.getF64Type();
}

/// How many results of a reduction are summed at once. Four hide the latency of
/// an addition; more would make the code larger.
constexpr int64_t laneCount = 4;

/// Builds one function.
class NestBuilder {
public:
  NestBuilder(ModuleOp module, const LoopKernel &kernel);
  void build();

private:
  /// A loop whose body is being built.
  struct OpenLoop {
    Block *block;
    Value index, end;
    int64_t step;
  };
  /// One of the elements that are computed at once.
  struct Lane {
    /// For each operand, the address of the current element; for a position,
    /// its value.
    llvm::SmallVector<Value> current;
    /// The values of the kernel's body in this lane.
    IRMapping values;
  };

  Value i64(int64_t value) {
    return LLVM::ConstantOp::create(b, b.getI64Type(),
                                    b.getI64IntegerAttr(value));
  }
  Value loadAt(Value array, int64_t index, Type type);
  void loadArguments();

  OpenLoop openLoop(Value begin, Value end, int64_t step);
  void closeLoop(const OpenLoop &loop, bool isInnermost);

  // Operands are numbered as in `data`: inputs, positions, outputs.
  int64_t operandCount() const {
    return static_cast<int64_t>(kernel.inputs.size() + kernel.outputs.size()) +
           kernel.positions;
  }
  int64_t outputOperand(size_t output) const {
    return static_cast<int64_t>(kernel.inputs.size() + output) +
           kernel.positions;
  }
  bool isPosition(int64_t operand) const {
    int64_t inputs = static_cast<int64_t>(kernel.inputs.size());
    return operand >= inputs && operand < inputs + kernel.positions;
  }
  Type elementOf(int64_t operand) const;
  int64_t innerStepOf(int64_t operand) const;
  void move(Lane &lane, int64_t dim, Value index);

  Value load(const Lane &lane, int64_t operand);
  void store(const Lane &lane, size_t output, Value value);
  void computeLevel(Lane &lane, int64_t level);

  Value constant(Type type, double value);
  Value neutral(const LoopOutput &output, bool ofNothing);
  Value accumulate(const LoopOutput &output, Value sum, Value value);
  Value finish(const LoopOutput &output, Value sum);

  std::pair<Block *, Block *> branchIf(Value condition);
  void buildNest(int64_t dim);
  void buildLoop(int64_t dim, Value begin, Value end, int64_t step);
  void buildLanes(int64_t dim);
  void buildElement();
  void startSums();
  void finishSums();
  Value anyEmpty(int64_t firstDim, int64_t lastDim);
  void reportFailures();

  ImplicitLocOpBuilder b;
  ModuleOp module;
  const LoopKernel &kernel;
  LLVM::LLVMFuncOp function;
  LLVM::AccessGroupAttr group;
  LLVM::LLVMPointerType pointer;
  Block *body;
  func::ReturnOp yield;

  llvm::SmallVector<Value> sizes, strides;
  /// For each operand, the address at index 0; for a position, its value there.
  llvm::SmallVector<Value> data;
  llvm::SmallVector<Value> failures;
  /// The depth of loops at which each value of the body is known: 0 is before
  /// all loops, `dims` in the innermost loop.
  llvm::DenseMap<Value, int64_t> levels;
  llvm::SmallVector<Lane> lanes;
  /// The accumulators of each lane, output by output.
  llvm::SmallVector<Value> sums;
  /// Whether the path for empty reductions is being built: the loops over the
  /// kept dimensions write the result of reducing no elements.
  bool ofNothing = false;
};

NestBuilder::NestBuilder(ModuleOp module, const LoopKernel &kernel)
    : b(UnknownLoc::get(module.getContext()), module.getContext()),
      module(module), kernel(kernel),
      group(LLVM::AccessGroupAttr::get(module.getContext())),
      pointer(LLVM::LLVMPointerType::get(module.getContext())) {
  body = &func::FuncOp(kernel.body).getBody().front();
  yield = cast<func::ReturnOp>(body->getTerminator());
}

Value NestBuilder::loadAt(Value array, int64_t index, Type type) {
  Value address = LLVM::GEPOp::create(
      b, pointer, type, array,
      llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)},
      LLVM::GEPNoWrapFlags::inbounds);
  return LLVM::LoadOp::create(b, type, address);
}

void NestBuilder::loadArguments() {
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Type i64Type = b.getI64Type();
  for (int64_t dim = 0; dim < kernel.dims; ++dim)
    sizes.push_back(loadAt(entry->getArgument(0), dim, i64Type));
  for (int64_t operand = 0; operand < operandCount(); ++operand) {
    Value address = loadAt(entry->getArgument(1), operand, pointer);
    if (isPosition(operand))
      address = LLVM::LoadOp::create(b, i64Type, address);
    data.push_back(address);
    for (int64_t dim = 0; dim < kernel.dims; ++dim)
      strides.push_back(
          loadAt(entry->getArgument(2), operand * kernel.dims + dim, i64Type));
  }
  Value one = i64(1), no = arith::ConstantIntOp::create(b, 0, 1);
  for (size_t i = kernel.outputs.size(); i < yield.getNumOperands(); ++i) {
    failures.push_back(
        LLVM::AllocaOp::create(b, pointer, b.getI1Type(), one, 0));
    LLVM::StoreOp::create(b, no, failures.back());
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Opens a loop over [begin, end), which is not empty. `step` divides its size.
NestBuilder::OpenLoop NestBuilder::openLoop(Value begin, Value end,
                                            int64_t step) {
  Block *before = b.getInsertionBlock();
  Block *block =
      b.createBlock(&function.getBody(), {}, {b.getI64Type()}, {b.getLoc()});
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, ValueRange{begin}, block);
  b.setInsertionPointToStart(block);
  return {block, block->getArgument(0), end, step};
}

void NestBuilder::closeLoop(const OpenLoop &loop, bool isInnermost) {
  Value next = LLVM::AddOp::create(b, loop.index, i64(loop.step),
                                   LLVM::IntegerOverflowFlags::nsw |
                                       LLVM::IntegerOverflowFlags::nuw);
  Value more =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, next, loop.end);
  Block *from = b.getInsertionBlock();
  Block *after = b.createBlock(&function.getBody());
  b.setInsertionPointToEnd(from);
  auto branch =
      LLVM::CondBrOp::create(b, more, loop.block, ValueRange{next}, after, {});
  if (isInnermost)
    branch.setLoopAnnotationAttr(LLVM::LoopAnnotationAttr::get(
        b.getContext(), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
        llvm::ArrayRef(group)));
  b.setInsertionPointToStart(after);
}

Type NestBuilder::elementOf(int64_t operand) const {
  if (operand < static_cast<int64_t>(kernel.inputs.size()))
    return kernel.inputs[operand].element;
  return kernel.outputs[operand - outputOperand(0)].element;
}

int64_t NestBuilder::innerStepOf(int64_t operand) const {
  if (operand < static_cast<int64_t>(kernel.inputs.size()))
    return kernel.inputs[operand].isUniform ? 0
                                            : kernel.inputs[operand].innerStep;
  if (isPosition(operand))
    return -1;
  return kernel.outputs[operand - outputOperand(0)].innerStep;
}

/// Moves all operands of a lane to `index` of dimension `dim`.
void NestBuilder::move(Lane &lane, int64_t dim, Value index) {
  for (int64_t operand = 0; operand < operandCount(); ++operand) {
    bool reduced = dim >= kernel.dims - kernel.reducedDims;
    if (reduced && operand >= outputOperand(0))
      continue;
    if (operand < static_cast<int64_t>(kernel.inputs.size()) &&
        kernel.inputs[operand].isUniform)
      continue;
    int64_t known = dim == kernel.dims - 1 ? innerStepOf(operand) : -1;
    if (known == 0)
      continue;
    Value offset = index;
    if (known != 1)
      offset =
          LLVM::MulOp::create(b, index, strides[operand * kernel.dims + dim]);
    Value &where = lane.current[operand];
    if (isPosition(operand))
      where = LLVM::AddOp::create(b, where, offset);
    else
      where = LLVM::GEPOp::create(b, pointer, storageType(elementOf(operand)),
                                  where, llvm::ArrayRef<LLVM::GEPArg>{offset},
                                  LLVM::GEPNoWrapFlags::inbounds);
  }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value NestBuilder::load(const Lane &lane, int64_t operand) {
  if (isPosition(operand))
    return lane.current[operand];
  Type element = elementOf(operand);
  auto load =
      LLVM::LoadOp::create(b, storageType(element), lane.current[operand]);
  load.setAccessGroupsAttr(b.getArrayAttr({group}));
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, load,
                                 arith::ConstantIntOp::create(b, 0, 8));
  if (isNarrowFloat(element))
    return arith::BitcastOp::create(b, element, load);
  return load;
}

void NestBuilder::store(const Lane &lane, size_t output, Value value) {
  Type element = kernel.outputs[output].element;
  Type storage = storageType(element);
  if (element.isInteger(1))
    value = arith::ExtUIOp::create(b, storage, value);
  else if (isNarrowFloat(element))
    value = arith::BitcastOp::create(b, storage, value);
  auto store =
      LLVM::StoreOp::create(b, value, lane.current[outputOperand(output)]);
  store.setAccessGroupsAttr(b.getArrayAttr({group}));
}

/// Computes what becomes known within `level` loops: loads of inputs,
/// operations that depend on them, and failures.
void NestBuilder::computeLevel(Lane &lane, int64_t level) {
  for (BlockArgument argument : body->getArguments())
    if (levels.lookup(argument) == level)
      lane.values.map(argument, load(lane, argument.getArgNumber()));
  for (Operation &op : body->without_terminator())
    if (levels.lookup(op.getResult(0)) == level)
      b.clone(op, lane.values);
  for (auto [i, slot] : llvm::enumerate(failures)) {
    Value failed = yield.getOperand(kernel.outputs.size() + i);
    if (levels.lookup(failed) != level)
      continue;
    Value before = LLVM::LoadOp::create(b, b.getI1Type(), slot);
    LLVM::StoreOp::create(
        b, arith::OrIOp::create(b, before, lane.values.lookup(failed)), slot);
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value NestBuilder::constant(Type type, double value) {
  return arith::ConstantOp::create(
      b, FloatAttr::get(cast<FloatType>(type), value));
}

/// The value with which a reduction begins, as the function of the same name in
/// lib/Interpreter/Reduce.cpp has it: -0 for sums that have addends.
Value NestBuilder::neutral(const LoopOutput &output, bool ofNothing) {
  ReductionKind kind = *output.reduction;
  Type type = accumulatorType(output.element);
  bool largest = kind == ReductionKind::min;
  bool extreme = largest || kind == ReductionKind::max;
  if (isa<FloatType>(type)) {
    if (extreme) {
      double value = isa<Float8E4M3FNType>(output.element)
                         ? 448
                         : std::numeric_limits<double>::infinity();
      return constant(type, largest ? value : -value);
    }
    if (kind == ReductionKind::prod)
      return constant(type, 1);
    return constant(type, ofNothing ? 0.0 : -0.0);
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  bool isSigned = !output.element.isUnsignedInteger() && bits > 1;
  llvm::APInt value(bits, kind == ReductionKind::prod ? 1 : 0);
  if (extreme && isSigned)
    value = largest ? llvm::APInt::getSignedMaxValue(bits)
                    : llvm::APInt::getSignedMinValue(bits);
  else if (extreme)
    value = largest ? llvm::APInt::getMaxValue(bits)
                    : llvm::APInt::getMinValue(bits);
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

Value NestBuilder::accumulate(const LoopOutput &output, Value sum,
                              Value value) {
  ReductionKind kind = *output.reduction;
  if (isa<FloatType>(sum.getType())) {
    if (value.getType() != sum.getType())
      value = arith::ExtFOp::create(b, sum.getType(), value);
    switch (kind) {
    case ReductionKind::sum:
    case ReductionKind::mean:
      return arith::AddFOp::create(b, sum, value);
    case ReductionKind::prod:
      return arith::MulFOp::create(b, sum, value);
    case ReductionKind::max:
      return arith::MaximumFOp::create(b, sum, value);
    case ReductionKind::min:
      return arith::MinimumFOp::create(b, sum, value);
    }
  }
  bool isSigned =
      !output.element.isUnsignedInteger() && !output.element.isInteger(1);
  switch (kind) {
  case ReductionKind::sum:
  case ReductionKind::mean:
    return arith::AddIOp::create(b, sum, value);
  case ReductionKind::prod:
    return arith::MulIOp::create(b, sum, value);
  case ReductionKind::max:
    if (isSigned)
      return arith::MaxSIOp::create(b, sum, value);
    return arith::MaxUIOp::create(b, sum, value);
  case ReductionKind::min:
    if (isSigned)
      return arith::MinSIOp::create(b, sum, value);
    return arith::MinUIOp::create(b, sum, value);
  }
  llvm_unreachable("all kinds are handled");
}

/// The element for an accumulated value: rounded once, for a mean after the
/// division.
Value NestBuilder::finish(const LoopOutput &output, Value sum) {
  if (*output.reduction == ReductionKind::mean)
    sum =
        arith::DivFOp::create(b, sum, constant(sum.getType(), output.divisor));
  Type type = scalarType(output.element);
  if (sum.getType() == type)
    return sum;
  return arith::TruncFOp::create(b, type, sum);
}

//===----------------------------------------------------------------------===//
// The nest
//===----------------------------------------------------------------------===//

/// Whether one of the dimensions [firstDim, lastDim) has size 0.
Value NestBuilder::anyEmpty(int64_t firstDim, int64_t lastDim) {
  Value any = arith::ConstantIntOp::create(b, 0, 1);
  Value zero = i64(0);
  for (int64_t dim = firstDim; dim < lastDim; ++dim)
    any = arith::OrIOp::create(
        b, any,
        LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sle, sizes[dim], zero));
  return any;
}

/// Branches to the first of two new blocks if the condition holds, else to the
/// second.
std::pair<Block *, Block *> NestBuilder::branchIf(Value condition) {
  Block *from = b.getInsertionBlock();
  Block *taken = b.createBlock(&function.getBody());
  Block *rest = b.createBlock(&function.getBody());
  b.setInsertionPointToEnd(from);
  LLVM::CondBrOp::create(b, condition, taken, rest);
  return {taken, rest};
}

void NestBuilder::startSums() {
  for (size_t i = 0; i < lanes.size() * kernel.outputs.size(); ++i)
    LLVM::StoreOp::create(
        b, neutral(kernel.outputs[i % kernel.outputs.size()], ofNothing),
        sums[i]);
}

void NestBuilder::finishSums() {
  auto sum = sums.begin();
  for (const Lane &lane : lanes)
    for (auto [i, output] : llvm::enumerate(kernel.outputs))
      store(lane, i,
            finish(output, LLVM::LoadOp::create(
                               b, accumulatorType(output.element), *sum++)));
}

/// Builds what is done at one index of all loops, for all lanes.
void NestBuilder::buildElement() {
  auto sum = sums.begin();
  for (const Lane &lane : lanes)
    for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
      Value value = lane.values.lookup(yield.getOperand(i));
      if (!output.reduction) {
        store(lane, i, value);
        continue;
      }
      Value before =
          LLVM::LoadOp::create(b, accumulatorType(output.element), *sum);
      LLVM::StoreOp::create(b, accumulate(output, before, value), *sum++);
    }
}

void NestBuilder::buildLoop(int64_t dim, Value begin, Value end, int64_t step) {
  OpenLoop loop = openLoop(begin, end, step);
  llvm::SmallVector<Lane> outer = lanes;
  lanes.resize(static_cast<size_t>(step) * lanes.size(), lanes.front());
  for (auto [i, lane] : llvm::enumerate(lanes)) {
    Value index = loop.index;
    if (step > 1)
      index = LLVM::AddOp::create(b, index, i64(static_cast<int64_t>(i)));
    move(lane, dim, index);
    if (!ofNothing)
      computeLevel(lane, dim + 1);
  }
  buildNest(dim + 1);
  lanes = std::move(outer);
  closeLoop(loop, dim + 1 == kernel.dims);
}

/// Builds the loop over the last kept dimension of a reduction. It computes
/// several sums at once, as a single sum would wait for each of its additions.
void NestBuilder::buildLanes(int64_t dim) {
  Value whole = LLVM::AndOp::create(b, sizes[dim], i64(-laneCount));
  auto [blocks, afterBlocks] = branchIf(
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sgt, whole, i64(0)));
  b.setInsertionPointToStart(blocks);
  buildLoop(dim, i64(0), whole, laneCount);
  LLVM::BrOp::create(b, ValueRange{}, afterBlocks);
  b.setInsertionPointToStart(afterBlocks);
  auto [rest, done] = branchIf(
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, whole, sizes[dim]));
  b.setInsertionPointToStart(rest);
  buildLoop(dim, whole, sizes[dim], 1);
  LLVM::BrOp::create(b, ValueRange{}, done);
  b.setInsertionPointToStart(done);
}

/// Builds the loops over the dimensions from `dim` on.
void NestBuilder::buildNest(int64_t dim) {
  int64_t kept = kernel.dims - kernel.reducedDims;
  bool startsSums = !sums.empty() && dim == kept;
  if (startsSums)
    startSums();
  if (dim == kernel.dims)
    buildElement();
  else if (dim == kept - 1 && kernel.reducedDims > 0 && !ofNothing)
    buildLanes(dim);
  else if (dim < kept || !ofNothing)
    buildLoop(dim, i64(0), sizes[dim], 1);
  if (startsSums)
    finishSums();
}

void NestBuilder::reportFailures() {
  Value status = function.getArgument(3);
  for (size_t i = failures.size(); i-- > 0;) {
    Value failed = LLVM::LoadOp::create(b, b.getI1Type(), failures[i]);
    Block *from = b.getInsertionBlock();
    Block *report = b.createBlock(&function.getBody());
    Block *after = b.createBlock(&function.getBody());
    b.setInsertionPointToEnd(from);
    LLVM::CondBrOp::create(b, failed, report, after);
    b.setInsertionPointToStart(report);
    LLVM::StoreOp::create(
        b, i64(kernel.firstFailure + static_cast<int64_t>(i) + 1), status);
    LLVM::BrOp::create(b, ValueRange{}, after);
    b.setInsertionPointToStart(after);
  }
}

void NestBuilder::build() {
  b.setInsertionPointToEnd(module.getBody());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, pointer, pointer, pointer});
  function = LLVM::LLVMFuncOp::create(b, kernel.name, type);
  loadArguments();

  // Finds the depth at which each value is known: an input that does not move
  // in the innermost loop is known outside of it.
  for (BlockArgument argument : body->getArguments()) {
    int64_t operand = argument.getArgNumber();
    bool isInput = operand < static_cast<int64_t>(kernel.inputs.size());
    int64_t level = kernel.dims;
    if (isInput && kernel.inputs[operand].isUniform)
      level = 0;
    else if (innerStepOf(operand) == 0 && level > 0)
      --level;
    levels[argument] = level;
  }
  for (Operation &op : body->without_terminator()) {
    int64_t level = 0;
    for (Value operand : op.getOperands())
      level = std::max(level, levels.lookup(operand));
    for (Value result : op.getResults())
      levels[result] = level;
  }

  for (int64_t lane = 0; lane < laneCount; ++lane)
    for (const LoopOutput &output : kernel.outputs)
      if (output.reduction)
        sums.push_back(LLVM::AllocaOp::create(
            b, pointer, accumulatorType(output.element), i64(1), 0));
  int64_t kept = kernel.dims - kernel.reducedDims;
  auto [empty, cells] = branchIf(anyEmpty(0, kept));
  b.setInsertionPointToStart(empty);
  LLVM::ReturnOp::create(b, ValueRange{});
  b.setInsertionPointToStart(cells);
  lanes.emplace_back();
  lanes.front().current = data;
  if (kernel.reducedDims > 0) {
    auto [nothing, elements] = branchIf(anyEmpty(kept, kernel.dims));
    b.setInsertionPointToStart(nothing);
    ofNothing = true;
    buildNest(0);
    ofNothing = false;
    LLVM::ReturnOp::create(b, ValueRange{});
    b.setInsertionPointToStart(elements);
  }
  computeLevel(lanes.front(), 0);
  buildNest(0);
  reportFailures();
  LLVM::ReturnOp::create(b, ValueRange{});
}

} // namespace

void buildLoopNest(ModuleOp module, const LoopKernel &kernel) {
  NestBuilder(module, kernel).build();
}

} // namespace ccn::codegen
