//===- CudaActivations.cpp - Activations in the bodies of loops -----------===//
//
// Finds the very operations that make a body of sigmoid, silu or gelu.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/emit/CudaActivations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ccn::codegen {

namespace {

bool isConstant(Value value, double expected) {
  FloatAttr number;
  return matchPattern(value, m_Constant(&number)) &&
         number.getValue().isExactlyValue(expected);
}

template <typename Op> Op definedBy(Value value) {
  return value.getDefiningOp<Op>();
}

/// The x of (x < 0 ? e : 1) / (1 + e) with e = exp(x < 0 ? x : -x).
Value operandOfSigmoid(Operation *op) {
  auto quotient = dyn_cast_or_null<arith::DivFOp>(op);
  if (!quotient)
    return {};
  auto dividend = definedBy<arith::SelectOp>(quotient.getLhs());
  auto divisor = definedBy<arith::AddFOp>(quotient.getRhs());
  if (!dividend || !divisor || !isConstant(dividend.getFalseValue(), 1) ||
      !isConstant(divisor.getLhs(), 1) ||
      dividend.getTrueValue() != divisor.getRhs())
    return {};
  auto exponential = definedBy<math::ExpOp>(divisor.getRhs());
  auto isNegative = definedBy<arith::CmpFOp>(dividend.getCondition());
  if (!exponential || !isNegative ||
      isNegative.getPredicate() != arith::CmpFPredicate::OLT ||
      !isConstant(isNegative.getRhs(), 0))
    return {};
  Value x = isNegative.getLhs();
  auto exponent = definedBy<arith::SelectOp>(exponential.getOperand());
  if (!exponent || exponent.getCondition() != dividend.getCondition() ||
      exponent.getTrueValue() != x)
    return {};
  auto negated = definedBy<arith::NegFOp>(exponent.getFalseValue());
  return negated && negated.getOperand() == x ? x : Value();
}

/// The x of x / 2 * erfc(-x / sqrt(2)).
Value operandOfGelu(arith::MulFOp product) {
  auto half = definedBy<arith::MulFOp>(product.getLhs());
  auto function = definedBy<math::ErfcOp>(product.getRhs());
  auto scaled =
      function ? definedBy<arith::MulFOp>(function.getOperand()) : nullptr;
  auto negated = scaled ? definedBy<arith::NegFOp>(scaled.getLhs()) : nullptr;
  if (!half || !negated || half.getRhs() != negated.getOperand() ||
      !isConstant(half.getLhs(), 0.5) ||
      !isConstant(scaled.getRhs(), 0.70710678118654752440))
    return {};
  return negated.getOperand();
}

} // namespace

Activation activationOf(Operation *op) {
  if (Value x = operandOfSigmoid(op))
    return {"sigmoid", x};
  auto product = dyn_cast<arith::MulFOp>(op);
  if (!product)
    return {};
  if (Value x = operandOfGelu(product))
    return {"gelu", x};
  if (Value x = operandOfSigmoid(product.getRhs().getDefiningOp());
      x && x == product.getLhs())
    return {"silu", x};
  return {};
}

} // namespace ccn::codegen
