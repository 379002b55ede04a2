//===- CudaScalars.cpp - Bodies of loops as CUDA C++ ----------------------===//
//
// An operation becomes a local constant, or a member if it depends on uniform
// inputs alone and something else needs it. Two passes: backward for what is
// needed and in which type (a value of f64 that is one of f32 may be needed as
// either), then forward for the text.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/emit/CudaScalars.h"

#include "codegen/gpu/emit/CudaActivations.h"
#include "codegen/gpu/emit/CudaOperations.h"
#include "codegen/plan/LoopKernel.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ccn::codegen {

llvm::StringRef cudaType(Type type) {
  if (type.isF64())
    return "double";
  if (type.isF32())
    return "float";
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (isa<Float8E4M3FNType>(type))
    return "f8e4m3";
  if (isa<Float8E5M2Type>(type))
    return "f8e5m2";
  if (!isa<IntegerType>(type))
    return "";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "bool";
  case 8:
    return "unsigned char";
  case 16:
    return "unsigned short";
  case 32:
    return "unsigned";
  case 64:
    return "unsigned long long";
  }
  return "";
}

namespace {

using Text = std::string;

class Emitter {
public:
  Emitter(llvm::StringRef name, Block &block, llvm::ArrayRef<bool> isUniform)
      : name(name), block(block), isUniform(isUniform) {}

  llvm::Expected<Text> emit();

private:
  /// A value in one C++ type.
  struct Form {
    bool isNeeded = false;
    Text text;
    /// Of a uniform one that is no literal: which statement of the constructor
    /// makes it.
    int statement = -1;
  };
  struct State {
    Form plain;
    /// Of f64: the same number as a float.
    Form single;
    bool isUniform = false;
    /// Of f64: whether it always is a number of f32.
    bool isExact = false;
  };
  struct Statement {
    Text type, name, expression;
    bool isMember = false;
  };

  void classify(Operation *op);
  bool isApproximate(Operation *op);
  bool computesInSingle(Operation *op);
  bool takesSingle(Operation *op);
  void need(Operation *op);
  Text use(Value value, bool isSingle, bool inConstructor);
  void define(Form &form, const Text &type, bool isUniform,
              const Text &expression);
  llvm::Error define(Operation *op);

  llvm::StringRef name;
  Block &block;
  llvm::ArrayRef<bool> isUniform;
  llvm::DenseMap<Value, State> states;
  /// By their last operations, those that are done in f32.
  llvm::DenseMap<Operation *, Activation> activations;
  std::vector<Statement> constructor;
  Text body;
  /// Of names that values have got.
  int count = 0;
};

bool isSingleConstant(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto number =
      constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  if (!number)
    return false;
  llvm::APFloat rounded = number.getValue();
  bool losesInfo = false;
  rounded.convert(llvm::APFloat::IEEEsingle(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return !losesInfo || rounded.isNaN();
}

/// Whether an operation's result is one of its operands but for the sign.
bool keepsNumbers(Operation *op) {
  return isa<arith::SelectOp, arith::NegFOp, math::AbsFOp, math::CopySignOp,
             arith::MaximumFOp, arith::MinimumFOp>(op);
}

/// Whether all that becomes of an operation's value is rounded to a type that
/// `accepts` does.
bool isRounded(Operation *op, llvm::function_ref<bool(Type)> accepts) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto rounding = dyn_cast<arith::TruncFOp>(user);
    return rounding && accepts(rounding.getType());
  });
}

void Emitter::classify(Operation *op) {
  auto isUniform = [&](Value x) { return states[x].isUniform; };
  auto isExact = [&](Value x) {
    return !x.getType().isF64() || states[x].isExact;
  };
  bool uniform = llvm::all_of(op->getOperands(), isUniform);
  bool exact = (isa<arith::ExtFOp>(op) || isSingleConstant(op->getResult(0)) ||
                (keepsNumbers(op) && llvm::all_of(op->getOperands(), isExact)));
  for (Value result : op->getResults()) {
    states[result].isUniform = uniform;
    states[result].isExact = exact && result.getType().isF64();
  }
  if (Activation activation = activationOf(op);
      activation.name && states[activation.operand].isExact &&
      isRounded(op, isNarrowFloat))
    activations[op] = activation;
}

/// Whether a quotient of numbers of f32 is rounded to 16 bits or less.
bool Emitter::isApproximate(Operation *op) {
  return isa<arith::DivFOp>(op) && isRounded(op, isNarrowFloat) &&
         llvm::all_of(op->getOperands(), [&](Value x) {
           return x.getType().isF32() ||
                  (x.getType().isF64() && states[x].isExact);
         });
}

/// Whether an operation of f64 is done in f32, since its operands are numbers
/// of f32 and its result is rounded anyway.
bool Emitter::computesInSingle(Operation *op) {
  if (activations.contains(op))
    return true;
  if (isApproximate(op))
    return op->getResult(0).getType().isF64();
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF64() ||
      !llvm::all_of(op->getOperands(),
                    [&](Value x) { return states[x].isExact; }))
    return false;
  CudaFunction function = functionOf(op);
  if (function.isAccurate)
    return isRounded(op, [](Type) { return true; });
  bool isExact =
      function.isExact ||
      isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op);
  // A second rounding to less than f32 would show.
  return isExact && isRounded(op, [](Type type) { return type.isF32(); });
}

/// Whether an operation takes its operands of f64 as f32.
bool Emitter::takesSingle(Operation *op) {
  Value first = op->getNumOperands() ? op->getOperand(0) : Value();
  if (isa<arith::CmpFOp>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value x) { return states[x].isExact; });
  if (isa<arith::TruncFOp>(op))
    return states[first].isExact ||
           (first.getDefiningOp() && computesInSingle(first.getDefiningOp()));
  if (keepsNumbers(op))
    return states[op->getResult(0)].single.isNeeded;
  return computesInSingle(op);
}

void Emitter::need(Operation *op) {
  auto isNeeded = [&](Value x) {
    return states[x].plain.isNeeded || states[x].single.isNeeded;
  };
  if (llvm::none_of(op->getResults(), isNeeded))
    return;
  if (auto compare = dyn_cast<arith::CmpFOp>(op);
      compare && (compare.getPredicate() == arith::CmpFPredicate::AlwaysFalse ||
                  compare.getPredicate() == arith::CmpFPredicate::AlwaysTrue))
    return;
  if (auto activation = activations.find(op); activation != activations.end()) {
    states[activation->second.operand].single.isNeeded = true;
    return;
  }
  bool isSingle = takesSingle(op);
  for (Value x : op->getOperands()) {
    State &state = states[x];
    (isSingle && x.getType().isF64() ? state.single : state.plain).isNeeded =
        true;
  }
}

Text Emitter::use(Value value, bool isSingle, bool inConstructor) {
  State &state = states[value];
  Form &form = isSingle && value.getType().isF64() ? state.single : state.plain;
  if (form.statement >= 0 && !inConstructor)
    constructor[static_cast<size_t>(form.statement)].isMember = true;
  return form.text;
}

void Emitter::define(Form &form, const Text &type, bool isUniform,
                     const Text &expression) {
  form.text = "v" + std::to_string(count++);
  if (!isUniform) {
    body += "    const " + type + " " + form.text + " = " + expression + ";\n";
    return;
  }
  form.statement = static_cast<int>(constructor.size());
  constructor.push_back({type, form.text, expression});
}

llvm::Error Emitter::define(Operation *op) {
  llvm::SmallVector<Text> x;
  bool takesSingles = takesSingle(op);
  bool isUniform = states[op->getResult(0)].isUniform;
  if (auto activation = activations.find(op); activation != activations.end()) {
    auto [name, operand] = activation->second;
    define(states[op->getResult(0)].single, "float", isUniform,
           name + ("(" + use(operand, true, isUniform) + ")"));
    return llvm::Error::success();
  }
  for (Value operand : op->getOperands())
    x.push_back(use(operand, takesSingles, isUniform));
  for (OpResult result : op->getResults()) {
    State &state = states[result];
    Form &plain = state.plain, &single = state.single;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      plain.text = constantText(constant, false);
      if (result.getType().isF64())
        single.text = constantText(constant, true);
      continue;
    }
    Type type = result.getType();
    Text text = isApproximate(op) ? "quotient(" + x[0] + ", " + x[1] + ")"
                                  : operationText(result, x,
                                                  type.isF64() ? single.isNeeded
                                                               : takesSingles);
    if (text.empty())
      return unsupportedScalar(name, *op);
    if (single.isNeeded) {
      define(single, "float", isUniform, text);
      text = "(double)" + single.text;
    }
    if (plain.isNeeded)
      define(plain, cudaType(type).str(), isUniform, text);
  }
  return llvm::Error::success();
}

llvm::Expected<Text> Emitter::emit() {
  for (Operation &op : block) {
    if (&op == block.getTerminator())
      break;
    if (llvm::Error error = checkScalar(name, op))
      return error;
    if (auto rounding = dyn_cast<arith::TruncFOp>(op);
        rounding && rounding.getRoundingmode().value_or(
                        arith::RoundingMode::to_nearest_even) !=
                        arith::RoundingMode::to_nearest_even)
      return unsupportedScalar(name, op);
  }
  for (BlockArgument argument : block.getArguments()) {
    size_t number = argument.getArgNumber();
    states[argument].isUniform = number < isUniform.size() && isUniform[number];
  }
  for (Operation &op : block.without_terminator())
    classify(&op);
  Operation *yield = block.getTerminator();
  for (Value result : yield->getOperands())
    states[result].plain.isNeeded = true;
  for (Operation &op : llvm::reverse(block.without_terminator()))
    need(&op);

  llvm::SmallVector<Text> given, parameters;
  for (BlockArgument argument : block.getArguments()) {
    State &state = states[argument];
    bool isPosition = argument.getArgNumber() >= isUniform.size();
    Text type = cudaType(argument.getType()).str();
    Text parameter = "a" + std::to_string(argument.getArgNumber());
    (state.isUniform ? given : parameters)
        .push_back((isPosition ? "long long" : type) + " " + parameter);
    if (!state.isUniform && !isPosition)
      state.plain.text = parameter;
    else if (state.plain.isNeeded)
      define(state.plain, type, state.isUniform,
             isPosition ? "(" + type + ")" + parameter : parameter);
  }
  for (Operation &op : block.without_terminator()) {
    auto isNeeded = [&](Value x) {
      return states[x].plain.isNeeded || states[x].single.isNeeded;
    };
    if (llvm::any_of(op.getResults(), isNeeded))
      if (llvm::Error error = define(&op))
        return error;
  }
  for (auto [number, result] : llvm::enumerate(yield->getOperands())) {
    Text reference = "r" + std::to_string(number);
    parameters.push_back(cudaType(result.getType()).str() + " &" + reference);
    body += "    " + reference + " = " + use(result, false, false) + ";\n";
  }

  Text text = "struct " + name.str() + " {\n";
  for (const Statement &statement : constructor)
    if (statement.isMember)
      text += "  " + statement.type + " " + statement.name + ";\n";
  text += "  __device__ explicit " + name.str() + "(" +
          llvm::join(given, ", ") + ") {\n";
  for (const Statement &statement : constructor)
    text += "    " +
            (statement.isMember ? Text() : "const " + statement.type + " ") +
            statement.name + " = " + statement.expression + ";\n";
  text += "  }\n  __device__ void operator()(" + llvm::join(parameters, ", ") +
          ") const {\n" + body + "  }\n};\n";
  return text;
}

} // namespace

llvm::Expected<std::string> emitBody(llvm::StringRef name, func::FuncOp body,
                                     llvm::ArrayRef<bool> isUniform,
                                     int64_t positions) {
  if (!body || !body.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(body.getBody().front().getTerminator()))
    return llvm::createStringError(
        "loop '" + name +
        "': expected a body of one block that ends with func.return");
  Block &block = body.getBody().front();
  size_t expected = isUniform.size() + static_cast<size_t>(positions);
  if (block.getNumArguments() != expected)
    return llvm::createStringError("loop '" + name + "': expected a body of " +
                                   llvm::Twine(expected) + " operands, found " +
                                   llvm::Twine(block.getNumArguments()));
  return Emitter(name, block, isUniform).emit();
}

} // namespace ccn::codegen
