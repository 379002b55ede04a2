//===- CudaScalars.cpp - Bodies of loops as CUDA C++ ----------------------===//
//
// An operation becomes a local constant, or a member if it depends on uniform
// inputs alone and something else needs it. Two passes: backward for what is
// needed and in which type (a value of f64 that is one of f32 may be needed as
// either), then forward for the text.
//
// C++ makes int of smaller integers, so these are taken to unsigned or int and
// back around each operation.
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaScalars.h"

#include "codegen/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

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

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

unsigned widthOf(Type type) { return type.getIntOrFloatBitWidth(); }

/// The types in which C++ computes on integers of a type.
const char *unsignedType(Type type) {
  return widthOf(type) == 64 ? "unsigned long long" : "unsigned";
}
const char *signedType(Type type) {
  return widthOf(type) == 64 ? "long long" : "int";
}

/// `text`, of an integer type, in its unsignedType.
Text zeroExtended(Type type, const Text &text) {
  return widthOf(type) < 32 ? "(unsigned)" + text : text;
}

/// `text`, of an integer type, in its signedType.
Text signExtended(Type type, const Text &text) {
  switch (widthOf(type)) {
  case 1:
    return "-(int)" + text;
  case 8:
    return "(int)(signed char)" + text;
  case 16:
    return "(int)(short)" + text;
  case 32:
    return "(int)" + text;
  }
  return "(long long)" + text;
}

/// `text`, of any C++ integer type, modulo the size of an integer type.
Text wrapped(Type type, const Text &text) {
  if (widthOf(type) == 1)
    return "((" + text + ") & 1) != 0";
  return "(" + cudaType(type).str() + ")(" + text + ")";
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// As a literal of float or double.
Text floatLiteral(const llvm::APFloat &value, bool isSingle) {
  llvm::APFloat rounded = value;
  bool losesInfo;
  rounded.convert(isSingle ? llvm::APFloat::IEEEsingle()
                           : llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  if (!rounded.isFinite()) {
    uint64_t bits = rounded.bitcastToAPInt().getZExtValue();
    return isSingle ? llvm::formatv("asFloat({0:x}u)", bits).str()
                    : llvm::formatv("asDouble({0:x}ull)", bits).str();
  }
  char digits[64];
  unsigned length = rounded.convertToHexString(
      digits, 0, false, llvm::APFloat::rmNearestTiesToEven);
  Text text(digits, length);
  if (isSingle)
    text += "f";
  return rounded.isNegative() ? "(" + text + ")" : text;
}

Text literal(Type type, Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (!isNarrowFloat(type))
      return floatLiteral(number.getValue(), type.isF32());
    return llvm::formatv("{0}{{{1:x}}", cudaType(type),
                         number.getValue().bitcastToAPInt().getZExtValue());
  }
  uint64_t number = cast<IntegerAttr>(value).getValue().getZExtValue();
  switch (widthOf(type)) {
  case 1:
    return number ? "true" : "false";
  case 64:
    return std::to_string(number) + "ull";
  case 32:
    return std::to_string(number) + "u";
  }
  return "(" + cudaType(type).str() + ")" + std::to_string(number);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Text comparison(arith::CmpFPredicate predicate, const Text &x, const Text &y) {
  using Predicate = arith::CmpFPredicate;
  auto with = [&](const char *op) { return x + " " + op + " " + y; };
  auto isNot = [&](const Text &text) { return "!(" + text + ")"; };
  Text differ = x + " < " + y + " || " + x + " > " + y;
  Text unordered = x + " != " + x + " || " + y + " != " + y;
  switch (predicate) {
  case Predicate::AlwaysFalse:
    return "false";
  case Predicate::OEQ:
    return with("==");
  case Predicate::OGT:
    return with(">");
  case Predicate::OGE:
    return with(">=");
  case Predicate::OLT:
    return with("<");
  case Predicate::OLE:
    return with("<=");
  case Predicate::ONE:
    return differ;
  case Predicate::ORD:
    return isNot(unordered);
  case Predicate::UEQ:
    return isNot(differ);
  case Predicate::UGT:
    return isNot(with("<="));
  case Predicate::UGE:
    return isNot(with("<"));
  case Predicate::ULT:
    return isNot(with(">="));
  case Predicate::ULE:
    return isNot(with(">"));
  case Predicate::UNE:
    return with("!=");
  case Predicate::UNO:
    return unordered;
  case Predicate::AlwaysTrue:
    return "true";
  }
  llvm_unreachable("all predicates are handled");
}

Text comparison(arith::CmpIPredicate predicate, Type type, Text x, Text y) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::slt:
  case Predicate::sle:
  case Predicate::sgt:
  case Predicate::sge:
    x = signExtended(type, x);
    y = signExtended(type, y);
    break;
  default:
    break;
  }
  const char *op = "";
  switch (predicate) {
  case Predicate::eq:
    op = "==";
    break;
  case Predicate::ne:
    op = "!=";
    break;
  case Predicate::slt:
  case Predicate::ult:
    op = "<";
    break;
  case Predicate::sle:
  case Predicate::ule:
    op = "<=";
    break;
  case Predicate::sgt:
  case Predicate::ugt:
    op = ">";
    break;
  case Predicate::sge:
  case Predicate::uge:
    op = ">=";
    break;
  }
  return x + " " + op + " " + y;
}

/// A function of f64 and its namesake of f32.
struct Function {
  const char *name = nullptr;
  /// Whether that of f32 is within 2 units in the last place: exp 2, log 1,
  /// tanh 2 and erf 2, but erfc 4 and pow 4 (CUDA Programming Guide 13,
  /// "Mathematical Functions", single precision).
  bool isAccurate = false;
  /// Whether rounding its exact result in f64 and then in f32 gives what
  /// rounding in f32 does: so it is with more than twice the digits. (S.
  /// Figueroa, "When is double rounding innocuous?", SIGNUM 30(3), 1995.)
  bool isExact = false;
};

Function functionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([](math::ExpOp) { return Function{"exp", true}; })
      .Case([](math::LogOp) { return Function{"log", true}; })
      .Case([](math::TanhOp) { return Function{"tanh", true}; })
      .Case([](math::ErfOp) { return Function{"erf", true}; })
      .Case([](math::ErfcOp) { return Function{"erfc"}; })
      .Case([](math::PowFOp) { return Function{"pow"}; })
      .Case([](arith::RemFOp) { return Function{"fmod", false, true}; })
      .Case([](math::SqrtOp) { return Function{"sqrt", false, true}; })
      .Case([](math::AbsFOp) { return Function{"fabs", false, true}; })
      .Case([](math::CopySignOp) { return Function{"copysign", false, true}; })
      .Default([](Operation *) { return Function(); });
}

/// The operator of an operation on floats, or on integers whatever their sign.
const char *operatorOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, const char *>(op)
      .Case<arith::AddFOp, arith::AddIOp, arith::AddUIExtendedOp>(
          [](auto) { return "+"; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return "-"; })
      .Case<arith::MulFOp, arith::MulIOp, arith::MulUIExtendedOp,
            arith::MulSIExtendedOp>([](auto) { return "*"; })
      .Case<arith::DivFOp, arith::DivUIOp>([](auto) { return "/"; })
      .Case([](arith::RemUIOp) { return "%"; })
      .Case([](arith::AndIOp) { return "&"; })
      .Case([](arith::OrIOp) { return "|"; })
      .Case([](arith::XOrIOp) { return "^"; })
      .Case([](arith::ShLIOp) { return "<<"; })
      .Case([](arith::ShRUIOp) { return ">>"; })
      .Default([](Operation *) { return nullptr; });
}
const char *signedOperatorOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, const char *>(op)
      .Case([](arith::DivSIOp) { return "/"; })
      .Case([](arith::RemSIOp) { return "%"; })
      .Default([](Operation *) { return nullptr; });
}

/// The second result of an operation on integers: a carry, or the upper half of
/// a product. Empty if there is none.
Text secondResult(Operation *op, llvm::ArrayRef<Text> x) {
  Type type = op->getOperand(0).getType();
  bool isWide = widthOf(type) == 64;
  auto upperHalf = [&](const char *product, const Text &left,
                       const Text &right) {
    if (isWide)
      return product + ("(" + left + ", " + right + ")");
    return wrapped(type, "(long long)(" + left + ") * (" + right + ") >> " +
                             std::to_string(widthOf(type)));
  };
  return llvm::TypeSwitch<Operation *, Text>(op)
      .Case([&](arith::AddUIExtendedOp) {
        return "(" +
               wrapped(type, zeroExtended(type, x[0]) + " + " +
                                 zeroExtended(type, x[1])) +
               ") < " + x[0];
      })
      .Case([&](arith::MulUIExtendedOp) {
        return upperHalf("__umul64hi", zeroExtended(type, x[0]),
                         zeroExtended(type, x[1]));
      })
      .Case([&](arith::MulSIExtendedOp) {
        return upperHalf("__mul64hi", signExtended(type, x[0]),
                         signExtended(type, x[1]));
      })
      .Default([](Operation *) { return Text(); });
}

/// The text of an operation's first result. `x` are its operands, all of its
/// values of f64 as f32 if `isSingle`. Empty if there is none.
Text expression(Operation *op, llvm::ArrayRef<Text> x, bool isSingle) {
  Type type = op->getResult(0).getType();
  Type from = op->getNumOperands() ? op->getOperand(0).getType() : type;
  bool isFloat = isa<FloatType>(type);
  if (const char *symbol = operatorOf(op)) {
    if (isFloat)
      return x[0] + " " + symbol + " " + x[1];
    return wrapped(type, zeroExtended(type, x[0]) + " " + symbol + " " +
                             zeroExtended(type, x[1]));
  }
  if (const char *symbol = signedOperatorOf(op))
    return wrapped(type, "(" + signExtended(type, x[0]) + ") " + symbol + " (" +
                             signExtended(type, x[1]) + ")");
  if (Function function = functionOf(op); function.name) {
    Text name = function.name;
    Text operands = llvm::join(x, ", ");
    if (type.isF64() && !isSingle)
      return name + "(" + operands + ")";
    if (isSingle || function.isAccurate || function.isExact)
      return name + "f(" + operands + ")";
    // As on the CPU: in f64, then rounded.
    return "(float)" + name + "((double)" + llvm::join(x, ", (double)") + ")";
  }
  auto extremum = [&](const char *symbol, bool isSigned) {
    Text left = isSigned ? signExtended(type, x[0]) : x[0];
    Text right = isSigned ? signExtended(type, x[1]) : x[1];
    return left + " " + symbol + " " + right + " ? " + x[0] + " : " + x[1];
  };
  // Of counts, with the operand in 32 or 64 bits.
  Text bits = isFloat ? Text() : zeroExtended(type, x.empty() ? "" : x[0]);
  Text suffix = widthOf(type) == 64 ? "ll" : "";
  return llvm::TypeSwitch<Operation *, Text>(op)
      .Case([&](arith::ConstantOp constant) {
        return literal(type, constant.getValue());
      })
      .Case([&](arith::SelectOp) { return x[0] + " ? " + x[1] + " : " + x[2]; })
      .Case([&](arith::NegFOp) { return "-" + x[0]; })
      .Case([&](arith::MaximumFOp) {
        return "maximum(" + x[0] + ", " + x[1] + ")";
      })
      .Case([&](arith::MinimumFOp) {
        return "minimum(" + x[0] + ", " + x[1] + ")";
      })
      .Case([&](arith::MaxSIOp) { return extremum(">", true); })
      .Case([&](arith::MinSIOp) { return extremum("<", true); })
      .Case([&](arith::MaxUIOp) { return extremum(">", false); })
      .Case([&](arith::MinUIOp) { return extremum("<", false); })
      .Case([&](arith::ShRSIOp) {
        return wrapped(type, "(" + signExtended(type, x[0]) + ") >> " +
                                 zeroExtended(type, x[1]));
      })
      .Case([&](arith::CmpFOp compare) {
        return comparison(compare.getPredicate(), x[0], x[1]);
      })
      .Case([&](arith::CmpIOp compare) {
        return comparison(compare.getPredicate(), from, x[0], x[1]);
      })
      .Case([&](arith::ExtSIOp) {
        return wrapped(type, signExtended(from, x[0]));
      })
      .Case<arith::ExtUIOp, arith::TruncIOp>(
          [&](auto) { return wrapped(type, x[0]); })
      .Case([&](arith::SIToFPOp) {
        return "(" + cudaType(type).str() + ")(" + signExtended(from, x[0]) +
               ")";
      })
      .Case([&](arith::UIToFPOp) {
        return "(" + cudaType(type).str() + ")" + zeroExtended(from, x[0]);
      })
      .Case([&](arith::FPToSIOp) {
        return wrapped(type, "(" + Text(signedType(type)) + ")" + x[0]);
      })
      .Case([&](arith::FPToUIOp) {
        return wrapped(type, "(" + Text(unsignedType(type)) + ")" + x[0]);
      })
      .Case([&](math::AbsIOp) {
        return signExtended(type, x[0]) + " < 0 ? " +
               wrapped(type, "0 - " + bits) + " : " + x[0];
      })
      .Case([&](math::CtPopOp) {
        return wrapped(type, "__popc" + suffix + "(" + bits + ")");
      })
      .Case([&](math::CountLeadingZerosOp) {
        int above = widthOf(type) == 64 ? 0 : 32 - int(widthOf(type));
        return wrapped(type, "__clz" + suffix + "(" + bits + ") - " +
                                 std::to_string(above));
      })
      .Case([&](math::CountTrailingZerosOp) {
        // The bit above the type ends the search.
        if (widthOf(type) < 32)
          return wrapped(type, "__ffs(" + bits + " | " +
                                   std::to_string(1u << widthOf(type)) +
                                   "u) - 1");
        return wrapped(type, "__clz" + suffix + "(__brev" + suffix + "(" +
                                 bits + "))");
      })
      .Default([&](Operation *) { return Text(); });
}

/// Conversions between floats, of which narrow ones go through f32. `isSingle`
/// says that what is f64 is given, or wanted, as f32.
Text convertFloat(Type from, Type to, const Text &x, bool isSingle) {
  auto narrowed = [&](const Text &text) {
    return "toHalf<" + cudaType(to).str() + ">(" + text + ")";
  };
  if (isNarrowFloat(to))
    return narrowed(isNarrowFloat(from) ? "toFloat(" + x + ")" : x);
  if (to.isF32() || isSingle) {
    if (isNarrowFloat(from))
      return "toFloat(" + x + ")";
    return from.isF64() && !isSingle ? "(float)" + x : x;
  }
  return "(double)" + (isNarrowFloat(from) ? "toFloat(" + x + ")" : x);
}

/// Between floats and the integers of their bits.
Text convertBits(Type from, Type to, const Text &x) {
  if (from == to)
    return x;
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (widthOf(to) < 32) {
    Text bits = fromFloat ? x + ".bits" : x;
    return toFloat ? cudaType(to).str() + "{" + bits + "}" : bits;
  }
  if (fromFloat == toFloat)
    return x;
  return (!toFloat     ? "asBits("
          : to.isF32() ? "asFloat("
                       : "asDouble(") +
         x + ")";
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

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
}

/// Whether an operation of f64 can be done in f32 since all that becomes of it
/// is rounded to f32 or less.
bool Emitter::computesInSingle(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF64())
    return false;
  Function function = functionOf(op);
  bool isExact =
      function.isExact ||
      isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op);
  auto isRounding = [&](Operation *user) {
    auto rounding = dyn_cast<arith::TruncFOp>(user);
    return rounding && (function.isAccurate || rounding.getType().isF32());
  };
  return (function.isAccurate || isExact) &&
         llvm::all_of(op->getUsers(), isRounding) &&
         llvm::all_of(op->getOperands(),
                      [&](Value x) { return states[x].isExact; });
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
  for (Value operand : op->getOperands())
    x.push_back(use(operand, takesSingles, states[op->getResult(0)].isUniform));
  for (OpResult result : op->getResults()) {
    State &state = states[result];
    Form &plain = state.plain, &single = state.single;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      plain.text = literal(result.getType(), constant.getValue());
      if (result.getType().isF64())
        single.text =
            floatLiteral(cast<FloatAttr>(constant.getValue()).getValue(), true);
      continue;
    }
    Type type = result.getType();
    auto textOf = [&](bool isSingle) -> Text {
      if (result.getResultNumber() == 1)
        return secondResult(op, x);
      if (auto convert = dyn_cast<arith::ExtFOp>(op))
        return convertFloat(convert.getIn().getType(), type, x[0], isSingle);
      if (auto convert = dyn_cast<arith::TruncFOp>(op))
        return convertFloat(convert.getIn().getType(), type, x[0], isSingle);
      if (auto convert = dyn_cast<arith::BitcastOp>(op))
        return convertBits(convert.getIn().getType(), type, x[0]);
      return expression(op, x, isSingle);
    };
    bool isSingle = type.isF64() ? single.isNeeded : takesSingles;
    Text text = textOf(isSingle);
    if (text.empty())
      return unsupportedScalar(name, *op);
    if (single.isNeeded) {
      define(single, "float", state.isUniform, text);
      text = "(double)" + single.text;
    }
    if (plain.isNeeded)
      define(plain, cudaType(type).str(), state.isUniform, text);
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
