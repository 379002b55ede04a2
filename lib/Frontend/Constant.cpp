//===- Constant.cpp - Compile-time numbers --------------------------------===//
//
// Computes with untyped constants, with checks, and converts them to each
// element type.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Constant.h"

#include "dialect/ccn/Ccn.h"
#include "runtime/tensor/Number.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Error.h"

#include <cmath>

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;
using ast::BinaryOp;

Constant Constant::big(uint64_t integer) {
  Constant constant;
  constant.value = integer;
  return constant;
}

double Constant::getReal() const {
  return std::visit([](auto v) { return static_cast<double>(v); }, value);
}

std::string Constant::str() const {
  if (auto *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  if (auto *integer = std::get_if<uint64_t>(&value))
    return std::to_string(*integer);
  if (auto *truth = std::get_if<bool>(&value))
    return *truth ? "true" : "false";
  if (!literal.empty())
    return literal;
  // A text that is read back as a real: 1000.0, 1.5e+60.
  SmallString<32> digits;
  llvm::APFloat(std::get<double>(value)).toString(digits);
  std::string text = digits.str().lower();
  if (StringRef(text).find_first_of(".e") == StringRef::npos)
    text += ".0";
  return text;
}

TypedAttr Constant::toAttr(Type type, std::string &error) const {
  std::string name = elementTypeName(type);
  auto fail = [&](const llvm::Twine &why) {
    error = why.str();
    return TypedAttr();
  };
  if (type.isInteger(1)) {
    if (!isBool())
      return fail("expected true or false for type 'bool', found " + str());
    return IntegerAttr::get(type, getBool());
  }
  if (isBool())
    return fail("expected a number of type '" + name + "', found " + str());

  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    llvm::APFloat result(semantics);
    bool finite = true;
    if (!literal.empty()) {
      llvm::APFloat parsed(semantics);
      // This cannot fail, as the literal has already been parsed as an f64.
      llvm::cantFail(parsed.convertFromString(
          literal, llvm::APFloat::rmNearestTiesToEven));
      result = parsed;
    } else if (isReal()) {
      result = llvm::APFloat(std::get<double>(value));
      finite = result.isFinite();
      bool lost;
      result.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    } else {
      bool isSigned = getInteger() != nullptr;
      uint64_t bits = isSigned ? static_cast<uint64_t>(*getInteger())
                               : std::get<uint64_t>(value);
      result.convertFromAPInt(llvm::APInt(64, bits), isSigned,
                              llvm::APFloat::rmNearestTiesToEven);
    }
    if (finite && !result.isFinite())
      return fail(str() + " is too large for type '" + name + "'");
    if (result.isZero() && getReal() != 0)
      return fail(str() + " would be 0 in type '" + name + "'");
    return FloatAttr::get(type, result);
  }

  auto integerType = cast<IntegerType>(type);
  if (isReal())
    return fail("expected an integer of type '" + name + "', found " + str());
  unsigned width = integerType.getWidth();
  bool fits;
  uint64_t bits;
  if (auto *integer = getInteger()) {
    bits = static_cast<uint64_t>(*integer);
    fits = integerType.isUnsigned()
               ? *integer >= 0 && llvm::isUIntN(width, bits)
               : llvm::isIntN(width, *integer);
  } else {
    bits = std::get<uint64_t>(value);
    fits = integerType.isUnsigned() && width == 64;
  }
  if (!fits)
    return fail(str() + " does not fit type '" + name + "'");
  return IntegerAttr::get(type, llvm::APInt(64, bits).trunc(width));
}

std::optional<Constant> frontend::parseConstant(StringRef text) {
  std::optional<runtime::Number> number =
      runtime::parseNumber({text.data(), text.size()});
  if (!number)
    return std::nullopt;
  if (auto *magnitude = std::get_if<uint64_t>(&*number))
    return Constant::big(*magnitude);
  if (auto *integer = std::get_if<int64_t>(&*number))
    return Constant(*integer);
  if (auto *truth = std::get_if<bool>(&*number))
    return Constant(*truth);
  // Keeps the digits, so that the value is rounded only once to any type.
  return Constant(std::get<double>(*number), text);
}

std::optional<Constant> frontend::negate(const Constant &a,
                                         std::string &error) {
  if (a.isBool()) {
    error = "expected a number, found " + a.str();
    return std::nullopt;
  }
  if (a.isReal()) {
    // Keeps the digits, so that the value is still rounded only once.
    std::string digits = a.str();
    return Constant(-a.getReal(),
                    digits[0] == '-' ? digits.substr(1) : "-" + digits);
  }
  const int64_t *integer = a.getInteger();
  if (!integer || *integer == INT64_MIN) {
    if (!integer && a.getReal() == 9223372036854775808.0)
      return Constant(INT64_MIN);
    error = (integer ? "-(" + a.str() + ")" : "-" + a.str()) +
            " does not fit 64 bits";
    return std::nullopt;
  }
  return Constant(-*integer);
}

static std::optional<Constant> evaluateIntegers(BinaryOp op, int64_t a,
                                                int64_t b, std::string &error) {
  std::optional<int64_t> result;
  switch (op) {
  case BinaryOp::Add:
    result = llvm::checkedAdd(a, b);
    break;
  case BinaryOp::Sub:
    result = llvm::checkedSub(a, b);
    break;
  case BinaryOp::Mul:
    result = llvm::checkedMul(a, b);
    break;
  case BinaryOp::Div:
  case BinaryOp::Rem:
    if (b == 0) {
      error = "division by zero";
      return std::nullopt;
    }
    if (b == -1) {
      result =
          op == BinaryOp::Rem ? int64_t(0) : llvm::checkedSub<int64_t>(0, a);
      break;
    }
    // Rounding would be silent, and languages disagree about its direction.
    if (op == BinaryOp::Div && a % b != 0) {
      error = std::to_string(a) + " / " + std::to_string(b) +
              " of integer constants is not an integer; write " +
              std::to_string(a) + ".0 for a real, or subtract the remainder";
      return std::nullopt;
    }
    result = op == BinaryOp::Div ? a / b : a % b;
    break;
  default:
    llvm_unreachable("comparisons are handled before");
  }
  if (!result) {
    error = "the constant " + std::to_string(a) + " " + getSpelling(op).str() +
            " " + std::to_string(b) + " does not fit 64 bits";
    return std::nullopt;
  }
  return Constant(*result);
}

std::optional<Constant> frontend::evaluate(BinaryOp op, const Constant &a,
                                           const Constant &b,
                                           std::string &error) {
  if (a.isBool() != b.isBool() || (a.isBool() && !ast::isComparison(op))) {
    error = "expected numbers, found " + a.str() + " and " + b.str();
    return std::nullopt;
  }
  const int64_t *x = a.getInteger(), *y = b.getInteger();
  if (ast::isComparison(op)) {
    int order = 0;
    if (x && y)
      order = *x < *y ? -1 : *x > *y;
    else
      order = a.getReal() < b.getReal() ? -1 : a.getReal() > b.getReal();
    switch (op) {
    case BinaryOp::Eq:
      return Constant(order == 0);
    case BinaryOp::Ne:
      return Constant(order != 0);
    case BinaryOp::Lt:
      return Constant(order < 0);
    case BinaryOp::Le:
      return Constant(order <= 0);
    case BinaryOp::Gt:
      return Constant(order > 0);
    default:
      return Constant(order >= 0);
    }
  }
  if (x && y)
    return evaluateIntegers(op, *x, *y, error);
  if (!a.isReal() && !b.isReal()) {
    error = "the constants " + a.str() + " and " + b.str() +
            " do not fit 64-bit arithmetic";
    return std::nullopt;
  }
  double p = a.getReal(), q = b.getReal(), result = 0;
  switch (op) {
  case BinaryOp::Add:
    result = p + q;
    break;
  case BinaryOp::Sub:
    result = p - q;
    break;
  case BinaryOp::Mul:
    result = p * q;
    break;
  case BinaryOp::Div:
    result = q == 0 ? NAN : p / q;
    break;
  default:
    result = q == 0 ? NAN : std::fmod(p, q);
    break;
  }
  if (!std::isfinite(result)) {
    error = q == 0 ? "division by zero"
                   : "the constant " + a.str() + " " + getSpelling(op).str() +
                         " " + b.str() + " is not finite";
    return std::nullopt;
  }
  return Constant(result);
}

std::optional<Constant> frontend::evaluate(StringRef function,
                                           ArrayRef<Constant> arguments,
                                           std::string &error) {
  auto real = [&](double result) -> std::optional<Constant> {
    if (std::isfinite(result))
      return Constant(result);
    llvm::raw_string_ostream os(error);
    os << function << "(";
    llvm::interleaveComma(arguments, os,
                          [&](const Constant &c) { os << c.str(); });
    os << ") is not finite";
    return std::nullopt;
  };
  bool numbers =
      llvm::none_of(arguments, [](const Constant &c) { return c.isBool(); });
  if (arguments.size() == 1 && numbers) {
    const Constant &a = arguments[0];
    if (function == "neg")
      return negate(a, error);
    if (function == "abs")
      return a.getReal() < 0 ? negate(a, error) : a;
  }
  if (arguments.size() == 2 && numbers) {
    const Constant &a = arguments[0], &b = arguments[1];
    bool less = a.getInteger() && b.getInteger()
                    ? *a.getInteger() < *b.getInteger()
                    : a.getReal() < b.getReal();
    if (function == "min")
      return less ? a : b;
    if (function == "max")
      return less ? b : a;
  }
  const ElementwiseFunction *math = findElementwise(function);
  if (!math || math->kind != ElementwiseKind::Math || !numbers)
    return std::nullopt;
  SmallVector<double> operands = llvm::map_to_vector(
      arguments, [](const Constant &c) { return c.getReal(); });
  auto blocks = llvm::map_to_vector(
      operands, [](const double &x) -> const double * { return &x; });
  double result = 0;
  math->ofDoubles(blocks.data(), &result, 1);
  return real(result);
}
