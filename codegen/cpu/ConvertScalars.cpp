//===- ConvertScalars.cpp - arith and math to the LLVM dialect ------------===//
//
// MLIR's own conversions handle most operations. The patterns here have a
// higher benefit and handle what those would leave to LLVM: NaN in minimum and
// maximum, functions of libm, and narrow floats. Conversions of narrow floats
// have no branches, so that they vectorize.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ConvertScalars.h"

#include "codegen/cpu/LoopNest.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace ccn::codegen {

namespace {

/// A binary floating point format of at most 16 bits, like the template of that
/// name in runtime/tensor/NarrowFloat.h.
struct FloatFormat {
  int exponentBits, mantissaBits;
  bool hasInfinity;

  static FloatFormat of(Type type) {
    if (type.isF16())
      return {5, 10, true};
    if (type.isBF16())
      return {8, 7, true};
    if (isa<Float8E4M3FNType>(type))
      return {4, 3, false};
    return {5, 2, true};
  }
  int width() const { return 1 + exponentBits + mantissaBits; }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
  uint32_t overflow() const {
    return hasInfinity ? ((1u << exponentBits) - 1) << mantissaBits
                       : signBit() - 1;
  }
  uint32_t quietNaN() const {
    return hasInfinity ? overflow() | 1u << (mantissaBits - 1) : overflow();
  }
};

/// Short names for integer operations of the arith dialect, which are converted
/// afterwards.
class Bits : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using Predicate = arith::CmpIPredicate;

  Value constant(int64_t value, int width = 32) {
    return arith::ConstantOp::create(
        *this, getIntegerAttr(getIntegerType(width), value));
  }
  Value like(Value other, int64_t value) {
    return constant(value, other.getType().getIntOrFloatBitWidth());
  }
  Value bitAnd(Value a, int64_t mask) {
    return arith::AndIOp::create(*this, a, like(a, mask));
  }
  Value bitOr(Value a, Value b) { return arith::OrIOp::create(*this, a, b); }
  Value add(Value a, Value b) { return arith::AddIOp::create(*this, a, b); }
  Value add(Value a, int64_t b) { return add(a, like(a, b)); }
  Value subtract(Value a, Value b) {
    return arith::SubIOp::create(*this, a, b);
  }
  Value shiftLeft(Value a, int count) {
    return count ? arith::ShLIOp::create(*this, a, like(a, count)).getResult()
                 : a;
  }
  Value shiftRight(Value a, int count) {
    return count ? arith::ShRUIOp::create(*this, a, like(a, count)).getResult()
                 : a;
  }
  Value compare(Predicate predicate, Value a, int64_t b) {
    return arith::CmpIOp::create(*this, predicate, a, like(a, b));
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(*this, condition, a, b);
  }
  Value extend(Value a, int width) {
    return arith::ExtUIOp::create(*this, getIntegerType(width), a);
  }
  Value truncate(Value a, int width) {
    return arith::TruncIOp::create(*this, getIntegerType(width), a);
  }
  Value asFloat(Value bits) {
    return arith::BitcastOp::create(*this, getF32Type(), bits);
  }
  Value asBits(Value value) {
    return arith::BitcastOp::create(
        *this, getIntegerType(value.getType().getIntOrFloatBitWidth()), value);
  }
  Value real(double value) {
    return arith::ConstantOp::create(*this, getF32FloatAttr(value));
  }
};

/// The float whose pattern is `narrow`, as runtime::decodeAs computes it.
Value decode(Bits &b, FloatFormat format, Value narrow, bool byHardware) {
  Value bits = b.extend(narrow, 32);
  Value sign =
      b.shiftLeft(b.bitAnd(bits, format.signBit()), 32 - format.width());
  Value magnitude = b.bitAnd(bits, format.signBit() - 1);
  Value value;
  if (byHardware) {
    Value half = LLVM::BitcastOp::create(b, b.getF16Type(), narrow);
    value = b.asBits(LLVM::FPExtOp::create(b, b.getF32Type(), half));
  } else {
    value = b.shiftLeft(magnitude, 23 - format.mantissaBits);
    // As in decodeAs, the product is exact, for subnormals too.
    if (format.bias() != 127)
      value = b.asBits(arith::MulFOp::create(
          b, b.asFloat(value), b.real(std::ldexp(1.0, 127 - format.bias()))));
    if (format.hasInfinity && format.bias() != 127)
      value = b.select(
          b.compare(Bits::Predicate::uge, magnitude, format.overflow()),
          b.constant(0x7f800000), value);
    value = b.bitOr(value, sign);
  }
  Value isNaN =
      format.hasInfinity
          ? b.compare(Bits::Predicate::ugt, magnitude, format.overflow())
          : b.compare(Bits::Predicate::eq, magnitude, format.overflow());
  Value nan = b.bitOr(sign, b.constant(0x7fc00000));
  return b.asFloat(b.select(isNaN, nan, value));
}

/// Rounds a double to a float, to odd: toward zero, with the last bit set if
/// the float is not exact. Rounding the float to a narrower format then gives
/// the same result as rounding the double. (S. Boldo, G. Melquiond, "Emulation
/// of a FMA and correctly rounded sums: proved algorithms using rounding to
/// odd", IEEE TC 57(4), 2008.)
Value roundToOdd(Bits &b, Value value) {
  Value nearest = arith::TruncFOp::create(b, b.getF32Type(), value);
  Value back = arith::ExtFOp::create(b, b.getF64Type(), nearest);
  auto magnitude = [&](Value x) {
    return LLVM::FAbsOp::create(b, x.getType(), x);
  };
  Value away = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                     magnitude(back), magnitude(value));
  Value inexact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, value);
  Value truncated = b.subtract(b.asBits(nearest), b.extend(away, 32));
  return b.asFloat(b.bitOr(truncated, b.extend(inexact, 32)));
}

/// The pattern of the float `value`, as runtime::encodeAs computes it.
Value encode(Bits &b, FloatFormat format, Value value, bool byHardware) {
  Value bits = b.asBits(value);
  Value magnitude = b.bitAnd(bits, 0x7fffffff);
  Value sign =
      b.bitAnd(b.shiftRight(bits, 32 - format.width()), format.signBit());
  Value isNaN = b.compare(Bits::Predicate::ugt, magnitude, 0x7f800000);
  int dropped = 23 - format.mantissaBits;
  Value result;
  if (byHardware) {
    Value half = LLVM::FPTruncOp::create(b, b.getF16Type(), value);
    Value pattern = LLVM::BitcastOp::create(b, b.getIntegerType(16), half);
    result = b.bitAnd(b.extend(pattern, 32), format.signBit() - 1);
  } else {
    // Normal results: to round to nearest, ties to even, add half of the last
    // place, minus one bit if the kept part is even. A carry increments the
    // exponent.
    Value odd = b.bitAnd(b.shiftRight(magnitude, dropped), 1);
    Value rounded =
        b.add(b.add(magnitude, (int64_t(1) << (dropped - 1)) - 1), odd);
    result = b.shiftRight(rounded, dropped);
    if (format.bias() != 127) {
      result =
          b.add(result, -(int64_t(127 - format.bias()) << format.mantissaBits));
      // Subnormal results: the hardware rounds the sum with a number whose last
      // place is the format's smallest value.
      double magic = std::ldexp(1.0, 24 - format.bias() - format.mantissaBits);
      Value sum = arith::AddFOp::create(b, b.asFloat(magnitude), b.real(magic));
      Value subnormal = b.subtract(b.asBits(sum), b.asBits(b.real(magic)));
      result = b.select(b.compare(Bits::Predicate::ult, magnitude,
                                  int64_t(127 + 1 - format.bias()) << 23),
                        subnormal, result);
      uint32_t overflow =
          format.hasInfinity ? format.overflow() : format.quietNaN();
      result = arith::MinUIOp::create(b, result, b.constant(overflow));
    }
  }
  result = b.select(isNaN, b.constant(format.quietNaN()), result);
  return b.truncate(b.bitOr(result, sign), format.width());
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

constexpr int ours = 10;

struct ConvertExtF : ConvertOpToLLVMPattern<arith::ExtFOp> {
  ConvertExtF(const LLVMTypeConverter &converter, bool hasF16C)
      : ConvertOpToLLVMPattern(converter, ours), hasF16C(hasF16C) {}
  LogicalResult
  matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!isNarrowFloat(from))
      return failure();
    Bits b(op.getLoc(), rewriter);
    Value value = decode(b, FloatFormat::of(from), adaptor.getIn(),
                         from.isF16() && hasF16C);
    if (to.isF64())
      value = arith::ExtFOp::create(b, to, value);
    else if (isNarrowFloat(to))
      value = encode(b, FloatFormat::of(to), value, to.isF16() && hasF16C);
    rewriter.replaceOp(op, value);
    return success();
  }
  bool hasF16C;
};

struct ConvertTruncF : ConvertOpToLLVMPattern<arith::TruncFOp> {
  ConvertTruncF(const LLVMTypeConverter &converter, bool hasF16C)
      : ConvertOpToLLVMPattern(converter, ours), hasF16C(hasF16C) {}
  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!isNarrowFloat(to))
      return failure();
    Bits b(op.getLoc(), rewriter);
    Value value = adaptor.getIn();
    if (from.isF64())
      value = roundToOdd(b, value);
    else if (isNarrowFloat(from))
      value = decode(b, FloatFormat::of(from), value, from.isF16() && hasF16C);
    rewriter.replaceOp(
        op, encode(b, FloatFormat::of(to), value, to.isF16() && hasF16C));
    return success();
  }
  bool hasF16C;
};

struct ConvertNarrowConstant : ConvertOpToLLVMPattern<arith::ConstantOp> {
  explicit ConvertNarrowConstant(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern(converter, ours) {}
  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isNarrowFloat(op.getType()))
      return failure();
    llvm::APInt bits =
        cast<FloatAttr>(op.getValue()).getValue().bitcastToAPInt();
    rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(
        op, getTypeConverter()->convertType(op.getType()),
        rewriter.getIntegerAttr(rewriter.getIntegerType(bits.getBitWidth()),
                                bits));
    return success();
  }
};

/// A narrow float is represented by its bits, so there is nothing to do.
struct ConvertNarrowBitcast : ConvertOpToLLVMPattern<arith::BitcastOp> {
  explicit ConvertNarrowBitcast(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern(converter, ours) {}
  LogicalResult
  matchAndRewrite(arith::BitcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isNarrowFloat(op.getType()) && !isNarrowFloat(op.getIn().getType()))
      return failure();
    rewriter.replaceOp(op, adaptor.getIn());
    return success();
  }
};

/// As runtime::maximum and runtime::minimum: if either number is NaN, so is the
/// sum, which is the result; equal numbers differ at most in the sign of zero.
template <typename Op, bool isMaximum>
struct ConvertExtremum : ConvertOpToLLVMPattern<Op> {
  explicit ConvertExtremum(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern<Op>(converter, ours) {}
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    using Predicate = arith::CmpFPredicate;
    Bits b(op.getLoc(), rewriter);
    Value x = adaptor.getLhs(), y = adaptor.getRhs();
    auto compare = [&](Predicate predicate) {
      return arith::CmpFOp::create(b, predicate, x, y);
    };
    Value xBits = b.asBits(x), yBits = b.asBits(y);
    Value zero = isMaximum ? arith::AndIOp::create(b, xBits, yBits).getResult()
                           : arith::OrIOp::create(b, xBits, yBits).getResult();
    Value result =
        b.select(compare(isMaximum ? Predicate::OGT : Predicate::OLT), x, y);
    result = b.select(compare(Predicate::OEQ),
                      arith::BitcastOp::create(b, x.getType(), zero), result);
    rewriter.replaceOp(op, b.select(compare(Predicate::UNO),
                                    arith::AddFOp::create(b, x, y), result));
    return success();
  }
};

/// Converts an operation to a call of a libm function of doubles.
template <typename Op> struct ConvertToLibm : ConvertOpToLLVMPattern<Op> {
  ConvertToLibm(const LLVMTypeConverter &converter, StringRef name)
      : ConvertOpToLLVMPattern<Op>(converter, ours), name(name) {}
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Bits b(op.getLoc(), rewriter);
    Type wide = b.getF64Type();
    llvm::SmallVector<Value> operands;
    for (Value operand : adaptor.getOperands())
      operands.push_back(
          operand.getType() == wide
              ? operand
              : LLVM::FPExtOp::create(b, wide, operand).getResult());
    Value result = LLVM::CallOp::create(
                       b, declare(op, rewriter, operands.size()), operands)
                       .getResult();
    if (op.getType() != wide)
      result = LLVM::FPTruncOp::create(b, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }

  LLVM::LLVMFuncOp declare(Op op, ConversionPatternRewriter &rewriter,
                           size_t arity) const {
    auto module = op->template getParentOfType<ModuleOp>();
    if (auto known = module.template lookupSymbol<LLVM::LLVMFuncOp>(name))
      return known;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    Type wide = rewriter.getF64Type();
    auto function = LLVM::LLVMFuncOp::create(
        rewriter, module.getLoc(), name,
        LLVM::LLVMFunctionType::get(wide,
                                    llvm::SmallVector<Type>(arity, wide)));
    // No code reads errno, so calls may move out of loops.
    auto none = LLVM::ModRefInfo::NoModRef;
    function.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(
        rewriter.getContext(), none, none, none, none, none, none));
    function.setNoUnwind(true);
    function.setWillReturn(true);
    return function;
  }

  StringRef name;
};

/// Functions of libm, in the order of the operations below.
constexpr llvm::StringLiteral libmFunctions[] = {"exp",  "log", "tanh", "erf",
                                                 "erfc", "pow", "fmod"};
using LibmOps = std::tuple<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp,
                           math::ErfcOp, math::PowFOp, arith::RemFOp>;

template <size_t... indices>
void addLibm(RewritePatternSet &patterns, const LLVMTypeConverter &converter,
             std::index_sequence<indices...>) {
  (patterns.add<ConvertToLibm<std::tuple_element_t<indices, LibmOps>>>(
       converter, libmFunctions[indices]),
   ...);
}

} // namespace

bool isLibmFunction(llvm::StringRef name) {
  return llvm::is_contained(libmFunctions, name);
}

llvm::LogicalResult convertScalars(ModuleOp module, bool hasF16C) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  LLVMTypeConverter converter(context, options);
  converter.addConversion([](FloatType type) -> std::optional<Type> {
    if (!isNarrowFloat(type))
      return std::nullopt;
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  });

  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  patterns.add<ConvertExtF, ConvertTruncF>(converter, hasF16C);
  patterns.add<ConvertNarrowConstant, ConvertNarrowBitcast,
               ConvertExtremum<arith::MaximumFOp, true>,
               ConvertExtremum<arith::MinimumFOp, false>>(converter);
  addLibm(patterns, converter,
          std::make_index_sequence<std::size(libmFunctions)>());

  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect>();
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

} // namespace ccn::codegen
