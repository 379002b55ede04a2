//===- CudaOperations.cpp - Operations on scalars as CUDA C++ -------------===//
//
// C++ makes int of smaller integers, so these are taken to unsigned or int and
// back around each operation.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/emit/CudaOperations.h"

#include "codegen/gpu/emit/CudaScalars.h"
#include "codegen/plan/LoopKernel.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ccn::codegen {

CudaFunction functionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, CudaFunction>(op)
      .Case([](math::ExpOp) { return CudaFunction{"exp", true}; })
      .Case([](math::LogOp) { return CudaFunction{"log", true}; })
      .Case([](math::TanhOp) { return CudaFunction{"tanh", true}; })
      .Case([](math::ErfOp) { return CudaFunction{"erf", true}; })
      .Case([](math::ErfcOp) { return CudaFunction{"erfc"}; })
      .Case([](math::PowFOp) { return CudaFunction{"pow"}; })
      .Case([](arith::RemFOp) { return CudaFunction{"fmod", false, true}; })
      .Case([](math::SqrtOp) { return CudaFunction{"sqrt", false, true}; })
      .Case([](math::AbsFOp) { return CudaFunction{"fabs", false, true}; })
      .Case([](math::CopySignOp) {
        return CudaFunction{"copysign", false, true};
      })
      .Default([](Operation *) { return CudaFunction(); });
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
  if (CudaFunction function = functionOf(op); function.name) {
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

} // namespace

Text constantText(arith::ConstantOp op, bool isSingle) {
  if (isSingle)
    return floatLiteral(cast<FloatAttr>(op.getValue()).getValue(), true);
  return literal(op.getType(), op.getValue());
}

Text operationText(OpResult result, llvm::ArrayRef<Text> x, bool isSingle) {
  Operation *op = result.getOwner();
  if (result.getResultNumber() == 1)
    return secondResult(op, x);
  Type type = result.getType();
  if (auto convert = dyn_cast<arith::ExtFOp>(op))
    return convertFloat(convert.getIn().getType(), type, x[0], isSingle);
  if (auto convert = dyn_cast<arith::TruncFOp>(op))
    return convertFloat(convert.getIn().getType(), type, x[0], isSingle);
  if (auto convert = dyn_cast<arith::BitcastOp>(op))
    return convertBits(convert.getIn().getType(), type, x[0]);
  return expression(op, x, isSingle);
}

} // namespace ccn::codegen
