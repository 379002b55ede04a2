//===- ScalarBodies.cpp - Elementwise operations on scalars ---------------===//
//
// The operations have no branches, so that loops over a body vectorize.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/ScalarBodies.h"

#include "dialect/ccn/Scalar.h"
#include "dialect/plan/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

namespace {

using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// Makes operations. Implements scalar::Arithmetic, whose ids stand for values
/// of the type in which the function is computed.
class Scalars : public scalar::Arithmetic {
public:
  Scalars(OpBuilder &builder, Operation *op, BodyContext &context)
      : b(op->getLoc(), builder), op(op), context(context) {}

  FailureOr<Value> emit(ValueRange x);

  bool isReal() const override { return false; }
  Id constant(double number) override;
  Id negate(Id x) override;
  Id absolute(Id x) override;
  Id add(Id x, Id y) override;
  Id subtract(Id x, Id y) override;
  Id multiply(Id x, Id y) override;
  Id divide(Id x, Id y) override;
  Id remainder(Id x, Id y) override;
  Id minimum(Id x, Id y) override { return extremum(x, y, false); }
  Id maximum(Id x, Id y) override { return extremum(x, y, true); }
  Id apply(scalar::MathFunction function, const std::vector<Id> &x) override;
  Id less(Id x, Id y) override;
  Id select(Id condition, Id x, Id y) override {
    return toId(select(toValue(condition), toValue(x), toValue(y)));
  }

private:
  static Id toId(Value value) {
    return reinterpret_cast<Id>(value.getAsOpaquePointer());
  }
  static Value toValue(Id id) {
    return Value::getFromOpaquePointer(reinterpret_cast<void *>(id));
  }

  // Types.
  static Type elementOf(Value value) {
    return getElementTypeOrSelf(value.getType());
  }
  /// The type in which a float type computes.
  Type computeOf(Type type) {
    return type.isF64() ? type : Type(b.getF32Type());
  }
  Value convert(Value x, Type type) {
    if (x.getType() == type)
      return x;
    auto isNarrow = [](Type t) { return t.getIntOrFloatBitWidth() < 32; };
    // Floats of 16 and 8 bits are exact in f32, and are converted through it.
    if (isNarrow(x.getType()) && isNarrow(type))
      x = arith::ExtFOp::create(b, b.getF32Type(), x);
    if (x.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, type, x);
    return arith::TruncFOp::create(b, type, x);
  }

  // Constants.
  Value real(Type type, double value) {
    return arith::ConstantOp::create(b, type, b.getFloatAttr(type, value));
  }
  Value integer(Type type, int64_t value) {
    return arith::ConstantOp::create(
        b, type,
        IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(),
                                     static_cast<uint64_t>(value), false,
                                     /*implicitTrunc=*/true)));
  }

  // Shorthands.
  Value cmp(CmpFPredicate p, Value x, Value y) {
    return arith::CmpFOp::create(b, p, x, y);
  }
  Value cmp(CmpIPredicate p, Value x, Value y) {
    return arith::CmpIOp::create(b, p, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value isNegative(Value x) {
    Type bits = b.getIntegerType(x.getType().getIntOrFloatBitWidth());
    return cmp(CmpIPredicate::slt, arith::BitcastOp::create(b, bits, x),
               integer(bits, 0));
  }

  /// FloatOp or IntegerOp, by the type of x.
  template <typename FloatOp, typename IntegerOp> Id make(Id x, Id y) {
    if (isComputedAsFloat())
      return toId(FloatOp::create(b, toValue(x), toValue(y)));
    return toId(IntegerOp::create(b, toValue(x), toValue(y)));
  }
  bool isComputedAsFloat() const { return isa<FloatType>(compute); }
  Value extremumOfFloats(Value x, Value y, bool isMaximum);
  Id extremum(Id x, Id y, bool isMaximum);
  /// The divisor to use for y: 1 where y is 0, which is a failure, or -1, for
  /// which the quotient may not fit; else y.
  Value divisorFor(Value y, const char *operation, Value &isMinusOne);
  Value call(const ElementwiseFunction &function, ValueRange x);
  Value compare(ccn::CompareOp op, Value x, Value y);
  Value cast(Value x, Type from, Type to);
  Value saturate(Value x, Type to);
  Value toDouble(Value x, bool isSigned);
  Value dropout(DropoutOp op, Value x, Value seed);
  Value philox(Value index, Value seed);
  Value constant(ConstantOp op);
  void fail(Value condition, const Twine &what);

  ImplicitLocOpBuilder b;
  Operation *op;
  BodyContext &context;
  /// The type in which the called function is computed, and whether its
  /// operands are signed integers.
  Type compute;
  bool isSigned = false;
};

void Scalars::fail(Value condition, const Twine &what) {
  std::string place = "an unknown place";
  if (auto file = op->getLoc()->findInstanceOf<FileLineColLoc>())
    place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
             Twine(file.getColumn()))
                .str();
  context.failures.push_back({condition, (what + " at " + place).str()});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

using Id = scalar::Arithmetic::Id;

Id Scalars::constant(double number) {
  return toId(isComputedAsFloat()
                  ? real(compute, number)
                  : integer(compute, static_cast<int64_t>(number)));
}

Id Scalars::negate(Id x) {
  if (isComputedAsFloat())
    return toId(arith::NegFOp::create(b, toValue(x)));
  return toId(arith::SubIOp::create(b, integer(compute, 0), toValue(x)));
}

Id Scalars::absolute(Id x) {
  if (isComputedAsFloat())
    return toId(math::AbsFOp::create(b, toValue(x)));
  if (!isSigned)
    return x;
  Value zero = integer(compute, 0);
  Value negative = cmp(CmpIPredicate::slt, toValue(x), zero);
  return toId(
      select(negative, arith::SubIOp::create(b, zero, toValue(x)), toValue(x)));
}

Id Scalars::add(Id x, Id y) { return make<arith::AddFOp, arith::AddIOp>(x, y); }
Id Scalars::subtract(Id x, Id y) {
  return make<arith::SubFOp, arith::SubIOp>(x, y);
}
Id Scalars::multiply(Id x, Id y) {
  return make<arith::MulFOp, arith::MulIOp>(x, y);
}

Value Scalars::divisorFor(Value y, const char *operation, Value &isMinusOne) {
  Value isZero = cmp(CmpIPredicate::eq, y, integer(compute, 0));
  fail(isZero, Twine(operation) + " by zero");
  isMinusOne = isSigned ? cmp(CmpIPredicate::eq, y, integer(compute, -1))
                        : integer(b.getI1Type(), 0);
  return select(arith::OrIOp::create(b, isZero, isMinusOne),
                integer(compute, 1), y);
}

Id Scalars::divide(Id x, Id y) {
  if (isComputedAsFloat())
    return toId(arith::DivFOp::create(b, toValue(x), toValue(y)));
  Value isMinusOne, divisor = divisorFor(toValue(y), "division", isMinusOne);
  Value quotient = isSigned
                       ? Value(arith::DivSIOp::create(b, toValue(x), divisor))
                       : Value(arith::DivUIOp::create(b, toValue(x), divisor));
  // The quotient of the lowest value and -1 does not fit; it wraps.
  return toId(select(isMinusOne, toValue(negate(x)), quotient));
}

Id Scalars::remainder(Id x, Id y) {
  if (isComputedAsFloat())
    return toId(arith::RemFOp::create(b, toValue(x), toValue(y)));
  Value isMinusOne, divisor = divisorFor(toValue(y), "remainder", isMinusOne);
  if (isSigned)
    return toId(arith::RemSIOp::create(b, toValue(x), divisor));
  return toId(arith::RemUIOp::create(b, toValue(x), divisor));
}

/// IEEE 754-2019 minimum and maximum, as runtime/tensor/Blocks.h writes them.
Value Scalars::extremumOfFloats(Value x, Value y, bool isMaximum) {
  Value first = isNegative(x);
  Value ofEqual = isMaximum ? select(first, y, x) : select(first, x, y);
  Value wins = cmp(isMaximum ? CmpFPredicate::OGT : CmpFPredicate::OLT, x, y);
  Value number =
      select(cmp(CmpFPredicate::OEQ, x, y), ofEqual, select(wins, x, y));
  return select(cmp(CmpFPredicate::UNO, x, y), arith::AddFOp::create(b, x, y),
                number);
}

Id Scalars::extremum(Id x, Id y, bool isMaximum) {
  if (isComputedAsFloat())
    return toId(extremumOfFloats(toValue(x), toValue(y), isMaximum));
  CmpIPredicate wins =
      isSigned ? (isMaximum ? CmpIPredicate::sgt : CmpIPredicate::slt)
               : (isMaximum ? CmpIPredicate::ugt : CmpIPredicate::ult);
  return toId(
      select(cmp(wins, toValue(x), toValue(y)), toValue(x), toValue(y)));
}

Id Scalars::less(Id x, Id y) {
  if (isComputedAsFloat())
    return toId(cmp(CmpFPredicate::OLT, toValue(x), toValue(y)));
  return toId(cmp(isSigned ? CmpIPredicate::slt : CmpIPredicate::ult,
                  toValue(x), toValue(y)));
}

Id Scalars::apply(scalar::MathFunction function, const std::vector<Id> &x) {
  Value first = toValue(x[0]);
  switch (function) {
  case scalar::MathFunction::Exp:
    return toId(math::ExpOp::create(b, first));
  case scalar::MathFunction::Log:
    return toId(math::LogOp::create(b, first));
  case scalar::MathFunction::Sqrt:
    return toId(math::SqrtOp::create(b, first));
  case scalar::MathFunction::Tanh:
    return toId(math::TanhOp::create(b, first));
  case scalar::MathFunction::Erfc:
    return toId(math::ErfcOp::create(b, first));
  case scalar::MathFunction::Pow:
    return toId(math::PowFOp::create(b, first, toValue(x[1])));
  }
  llvm_unreachable("all functions are handled");
}

Value Scalars::call(const ElementwiseFunction &function, ValueRange x) {
  Type type = elementOf(op->getOperand(0)), scalarType = x[0].getType();
  bool isFloat = isa<FloatType>(type);
  isSigned = !isFloat && !type.isUnsignedInteger() && !type.isInteger(1);
  compute = !isFloat          ? scalarType
            : function.isWide ? Type(b.getF64Type())
                              : computeOf(scalarType);
  SmallVector<scalar::Handle> operands;
  for (Value operand : x)
    operands.push_back(
        {this, toId(isFloat ? convert(operand, compute) : operand)});
  Value made = toValue(function.ofHandles(operands.data()).id);
  return isFloat ? convert(made, scalarType) : made;
}

Value Scalars::compare(ccn::CompareOp op, Value x, Value y) {
  Type type = elementOf(op->getOperand(0));
  if (isa<FloatType>(type)) {
    Type compute = computeOf(type);
    x = convert(x, compute);
    y = convert(y, compute);
    switch (op.getPredicate()) {
    case ComparePredicate::eq:
      return cmp(CmpFPredicate::OEQ, x, y);
    case ComparePredicate::ne:
      return cmp(CmpFPredicate::UNE, x, y);
    case ComparePredicate::lt:
      return cmp(CmpFPredicate::OLT, x, y);
    case ComparePredicate::le:
      return cmp(CmpFPredicate::OLE, x, y);
    case ComparePredicate::gt:
      return cmp(CmpFPredicate::OGT, x, y);
    case ComparePredicate::ge:
      return cmp(CmpFPredicate::OGE, x, y);
    }
  }
  // false < true.
  bool isSigned = !type.isUnsignedInteger() && !type.isInteger(1);
  switch (op.getPredicate()) {
  case ComparePredicate::eq:
    return cmp(CmpIPredicate::eq, x, y);
  case ComparePredicate::ne:
    return cmp(CmpIPredicate::ne, x, y);
  case ComparePredicate::lt:
    return cmp(isSigned ? CmpIPredicate::slt : CmpIPredicate::ult, x, y);
  case ComparePredicate::le:
    return cmp(isSigned ? CmpIPredicate::sle : CmpIPredicate::ule, x, y);
  case ComparePredicate::gt:
    return cmp(isSigned ? CmpIPredicate::sgt : CmpIPredicate::ugt, x, y);
  case ComparePredicate::ge:
    return cmp(isSigned ? CmpIPredicate::sge : CmpIPredicate::uge, x, y);
  }
  llvm_unreachable("all predicates are handled");
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Converts to a double that rounds to every narrower float as the integer
/// itself would: an integer of more than 53 bits is rounded to odd (see
/// runtime/tensor/Convert.cpp).
Value Scalars::toDouble(Value x, bool isSigned) {
  Type i64 = b.getI64Type(), f64 = b.getF64Type();
  if (x.getType() != i64)
    return isSigned ? Value(arith::SIToFPOp::create(b, f64, x))
                    : Value(arith::UIToFPOp::create(b, f64, x));
  Value zero = integer(i64, 0);
  Value negative =
      isSigned ? cmp(CmpIPredicate::slt, x, zero) : integer(b.getI1Type(), 0);
  Value magnitude = select(negative, arith::SubIOp::create(b, zero, x), x);
  // The last 11 bits become one bit that is set if any of them was.
  constexpr int64_t mask = (int64_t(1) << 11) - 1;
  Value rest = arith::AndIOp::create(b, magnitude, integer(i64, mask));
  Value kept = arith::AndIOp::create(b, magnitude, integer(i64, ~mask));
  Value odd = arith::OrIOp::create(
      b, kept,
      select(cmp(CmpIPredicate::ne, rest, zero), integer(i64, mask + 1), zero));
  Value isLong =
      cmp(CmpIPredicate::uge, magnitude, integer(i64, int64_t(1) << 53));
  Value rounded =
      arith::UIToFPOp::create(b, f64, select(isLong, odd, magnitude));
  return select(negative, arith::NegFOp::create(b, rounded), rounded);
}

/// Truncates toward zero into the range of an integer type; NaN gives 0.
Value Scalars::saturate(Value x, Type to) {
  Type bits = scalarOf(to), f64 = b.getF64Type();
  unsigned width = bits.getIntOrFloatBitWidth();
  bool isSigned = !to.isUnsignedInteger();
  double bound = std::ldexp(1.0, static_cast<int>(width - isSigned));
  APInt most =
      isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  APInt least = isSigned ? APInt::getSignedMinValue(width) : APInt(width, 0);
  auto limit = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, bits, IntegerAttr::get(bits, value));
  };
  Value tooLarge = cmp(CmpFPredicate::OGE, x, real(f64, bound));
  Value tooSmall = cmp(CmpFPredicate::OLE, x, real(f64, isSigned ? -bound : 0));
  Value isNaN = cmp(CmpFPredicate::UNO, x, x);
  Value outside = arith::OrIOp::create(
      b, arith::OrIOp::create(b, tooLarge, tooSmall), isNaN);
  Value inside = select(outside, real(f64, 0), x);
  Value made = isSigned ? Value(arith::FPToSIOp::create(b, bits, inside))
                        : Value(arith::FPToUIOp::create(b, bits, inside));
  return select(tooLarge, limit(most), select(tooSmall, limit(least), made));
}

Value Scalars::cast(Value x, Type from, Type to) {
  if (from == to)
    return x;
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (fromFloat && toFloat)
    return convert(x, to);
  if (to.isInteger(1)) {
    if (fromFloat) {
      Type compute = computeOf(from);
      return cmp(CmpFPredicate::UNE, convert(x, compute), real(compute, 0));
    }
    return cmp(CmpIPredicate::ne, x, integer(x.getType(), 0));
  }
  bool isSigned = !from.isUnsignedInteger() && !from.isInteger(1);
  if (!fromFloat && toFloat) {
    if (to.isF64() || to.isF32())
      return isSigned ? Value(arith::SIToFPOp::create(b, to, x))
                      : Value(arith::UIToFPOp::create(b, to, x));
    return convert(toDouble(x, isSigned), to);
  }
  if (fromFloat)
    return saturate(convert(x, b.getF64Type()), to);
  Type bits = scalarOf(to);
  unsigned fromWidth = x.getType().getIntOrFloatBitWidth(),
           toWidth = bits.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return x;
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(b, bits, x);
  return isSigned ? Value(arith::ExtSIOp::create(b, bits, x))
                  : Value(arith::ExtUIOp::create(b, bits, x));
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// The 32 bits that Philox4x32-10 draws for an element
/// (runtime/tensor/Random.h).
Value Scalars::philox(Value index, Value seed) {
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  auto low = [&](Value x) -> Value {
    return arith::TruncIOp::create(b, i32, x);
  };
  auto high = [&](Value x) -> Value {
    return low(arith::ShRUIOp::create(b, x, integer(i64, 32)));
  };
  auto multiply = [&](Value x, uint32_t factor) -> Value {
    return arith::MulIOp::create(b, arith::ExtUIOp::create(b, i64, x),
                                 integer(i64, factor));
  };
  auto combine = [&](Value x, Value y, Value z) -> Value {
    return arith::XOrIOp::create(b, arith::XOrIOp::create(b, x, y), z);
  };
  Value counter = arith::ShRUIOp::create(b, index, integer(i64, 2));
  Value zero = integer(i32, 0);
  Value c[] = {low(counter), high(counter), zero, zero};
  Value key[] = {low(seed), high(seed)};
  for (int round = 0; round < 10; ++round) {
    Value product0 = multiply(c[0], 0xD2511F53u);
    Value product1 = multiply(c[2], 0xCD9E8D57u);
    Value next[] = {combine(high(product1), c[1], key[0]), low(product1),
                    combine(high(product0), c[3], key[1]), low(product0)};
    std::copy(std::begin(next), std::end(next), c);
    key[0] = arith::AddIOp::create(b, key[0], integer(i32, 0x9E3779B9));
    key[1] = arith::AddIOp::create(b, key[1], integer(i32, 0xBB67AE85));
  }
  Value lane = arith::AndIOp::create(b, index, integer(i64, 3));
  Value bits = c[3];
  for (int i = 2; i >= 0; --i)
    bits = select(cmp(CmpIPredicate::eq, lane, integer(i64, i)), c[i], bits);
  return bits;
}

Value Scalars::dropout(DropoutOp op, Value x, Value seed) {
  Type type = x.getType(), compute = computeOf(type), f64 = b.getF64Type();
  Type seedType = elementOf(op.getSeed());
  if (seed.getType() != b.getI64Type())
    seed = cast(seed, seedType, b.getI64Type());
  double rate = op.getRate().convertToDouble();
  Value bits = arith::ShRUIOp::create(b, philox(context.index, seed),
                                      integer(b.getI32Type(), 8));
  Value integral = arith::UIToFPOp::create(b, f64, bits);
  Value draw = arith::MulFOp::create(b, integral, real(f64, 0x1p-24));
  Value keep = cmp(CmpFPredicate::OGE, draw, real(f64, rate));
  double factor = 1 / (1 - rate);
  if (!type.isF64())
    factor = static_cast<double>(static_cast<float>(factor));
  Value wide = convert(x, compute);
  Value scaled = arith::MulFOp::create(b, wide, real(compute, factor));
  return convert(select(keep, scaled, real(compute, 0)), type);
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

Value Scalars::constant(ConstantOp op) {
  TypedAttr value = op.getValue();
  Type type = scalarOf(value.getType());
  if (auto number = dyn_cast<IntegerAttr>(value))
    return arith::ConstantOp::create(b, type,
                                     IntegerAttr::get(type, number.getValue()));
  return arith::ConstantOp::create(b, type, value);
}

FailureOr<Value> Scalars::emit(ValueRange x) {
  if (auto number = dyn_cast<ConstantOp>(op))
    return constant(number);
  if (isa<IotaOp>(op))
    return context.index;
  Type type = elementOf(op->getOperand(0));
  if (auto compared = dyn_cast<ccn::CompareOp>(op))
    return compare(compared, x[0], x[1]);
  if (isa<ccn::SelectOp>(op))
    return select(x[0], x[1], x[2]);
  if (isa<CastOp>(op))
    return cast(x[0], type, elementOf(op->getResult(0)));
  if (auto random = dyn_cast<DropoutOp>(op))
    return dropout(random, x[0], x[1]);
  if (const ElementwiseFunction *function = functionOf(op))
    return call(*function, x);
  return op->emitOpError() << "expected an elementwise operation";
}

} // namespace

FailureOr<Value> plan::emitScalar(OpBuilder &builder, Operation *op,
                                  ValueRange scalars, BodyContext &context) {
  return Scalars(builder, op, context).emit(scalars);
}
