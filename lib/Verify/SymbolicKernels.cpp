//===- SymbolicKernels.cpp - What a rank computes, on symbols -------------===//
//
// Elementwise kernels, and how elements are generated. Products, reductions and
// rows are in SymbolicProducts.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/SymbolicKernels.h"

#include "lib/Verify/SymbolicGenerate.h"

#include <cmath>
#include <limits>

namespace ccn::verify {

using namespace interp;

namespace {

/// The values of an integer type.
struct Range {
  Rational low, high;
};

Range rangeOf(ElementType type) {
  int bits = 8 * sizeInBytes(type);
  auto powerOfTwo = [](int exponent) {
    return Rational(llvm::DynamicAPInt(llvm::APInt(80, 1).shl(exponent)));
  };
  if (isUnsignedInteger(type))
    return {Rational(0), powerOfTwo(bits) - Rational(1)};
  return {-powerOfTwo(bits - 1), powerOfTwo(bits - 1) - Rational(1)};
}

bool hasInfinity(ElementType type) {
  return isFloat(type) && type != ElementType::F8E4M3;
}

/// Towards zero.
Rational truncate(const Rational &value) {
  return Rational(value.num / value.den);
}

/// The elements of a choice of operands that may be scalars.
Shape commonShape(std::initializer_list<const HostTensor *> operands) {
  for (const HostTensor *operand : operands)
    if (operand->rank() != 0)
      return operand->shape();
  return {};
}

Expr elementOf(const HostTensor &x, int64_t index) {
  return x.dataAs<Expr>()[x.rank() == 0 ? 0 : index];
}

} // namespace

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

Status SymbolicKernels::checkBudget() {
  if (budget.limits.expired())
    return error("out of time");
  if (exprs.size() > budget.size)
    return error("too large: more than ", budget.size, " terms");
  return Status();
}

SymbolicKernels::Tensor SymbolicKernels::symbols(std::string_view name,
                                                 ElementType type,
                                                 const Shape &shape) {
  return generate(shape, [&](int64_t i) -> Result<Expr> {
    std::string text(name);
    if (!shape.empty())
      text += runtime::describeIndex(shape, i);
    return exprs.symbol({std::move(text), type});
  });
}

SymbolicKernels::Tensor SymbolicKernels::spoiled(ElementType type,
                                                 const HostTensor &,
                                                 const Shape &shape) {
  return symbols("unknown " + std::to_string(++numSpoiled), type, shape);
}

SymbolicKernels::Tensor SymbolicKernels::real(ElementType type, double value) {
  if (std::isnan(value))
    return error("the constant NaN is no real number");
  return generate({}, [&](int64_t) -> Result<Expr> {
    return std::isinf(value) ? exprs.infinity(value < 0)
                             : exprs.number(rationalOf(value));
  });
}

SymbolicKernels::Tensor SymbolicKernels::integer(ElementType type,
                                                 int64_t value) {
  return generate({}, [&](int64_t) -> Result<Expr> {
    if (type == ElementType::Bool)
      return exprs.truth(value != 0);
    if (value < 0 && isUnsignedInteger(type))
      return exprs.number(Rational(value) + rangeOf(type).high + Rational(1));
    return exprs.number(value);
  });
}

SymbolicKernels::Tensor SymbolicKernels::zeros(ElementType type,
                                               const Shape &shape) {
  Expr zero = type == ElementType::Bool ? exprs.truth(false) : exprs.number(0);
  return generate(shape, [&](int64_t) -> Result<Expr> { return zero; });
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Result<Expr> SymbolicKernels::unaryOf(UnaryOp op, ElementType type, Expr x) {
  auto negative = [&](Expr value) { return exprs.scale(Rational(-1), value); };
  // 1 / (1 + exp(-x))
  auto sigmoid = [&](Expr value) {
    Expr power = exprs.apply(Function::Exp, {negative(value)});
    return exprs.inverse(exprs.sum({{Rational(1), power}}, Rational(1)));
  };
  switch (op) {
  case UnaryOp::Neg:
    return negative(x);
  case UnaryOp::Abs:
    return isUnsignedInteger(type) ? x : exprs.maximum({x, negative(x)});
  case UnaryOp::Relu:
    return isUnsignedInteger(type) ? x : exprs.maximum({x, exprs.number(0)});
  case UnaryOp::Exp:
    return exprs.apply(Function::Exp, {x});
  case UnaryOp::Log:
    return exprs.apply(Function::Log, {x});
  case UnaryOp::Sqrt:
    return exprs.apply(Function::Sqrt, {x});
  case UnaryOp::Rsqrt:
    return exprs.inverse(exprs.apply(Function::Sqrt, {x}));
  case UnaryOp::Tanh:
    return exprs.apply(Function::Tanh, {x});
  case UnaryOp::Sigmoid:
    return sigmoid(x);
  case UnaryOp::Gelu:
    return exprs.apply(Function::Gelu, {x});
  case UnaryOp::Silu:
    return exprs.product({x, sigmoid(x)});
  }
  return error("unknown unary operation");
}

Expr SymbolicKernels::extremum(bool isMax, ElementType type,
                               std::vector<Expr> args) {
  if (!hasInfinity(type) && type != ElementType::Bool) {
    // The least value of the type is neutral as -inf is: an empty slice must
    // not show.
    Rational least = isFloat(type) ? Rational(isMax ? -448 : 448)
                     : isMax       ? rangeOf(type).low
                                   : rangeOf(type).high;
    Expr neutral = exprs.number(least);
    std::erase(args, neutral);
    if (args.empty())
      return neutral;
  }
  if (args.empty())
    return type == ElementType::Bool ? exprs.truth(!isMax)
                                     : exprs.infinity(isMax);
  return isMax ? exprs.maximum(std::move(args))
               : exprs.minimum(std::move(args));
}

Result<Expr> SymbolicKernels::binaryOf(BinaryOp op, ElementType type, Expr a,
                                       Expr b) {
  switch (op) {
  case BinaryOp::Add:
    return exprs.add(a, b);
  case BinaryOp::Sub:
    return exprs.subtract(a, b);
  case BinaryOp::Mul:
    return exprs.product({a, b});
  case BinaryOp::Min:
    return extremum(false, type, {a, b});
  case BinaryOp::Max:
    return extremum(true, type, {a, b});
  case BinaryOp::Pow:
    return exprs.apply(Function::Pow, {a, b});
  case BinaryOp::Div:
  case BinaryOp::Rem:
    break;
  }
  if (exprs.isNumber(b) && exprs.numberOf(b).num == 0)
    return error("a quotient or remainder by 0 has no value");
  bool isQuotient = op == BinaryOp::Div;
  if (isFloat(type))
    return isQuotient ? exprs.product({a, exprs.inverse(b)})
                      : exprs.apply(Function::FloatRemainder, {a, b});
  if (exprs.isNumber(a) && exprs.isNumber(b)) {
    Rational x = exprs.numberOf(a), y = exprs.numberOf(b);
    Rational quotient = truncate(x / y);
    return exprs.number(isQuotient ? quotient : x - quotient * y);
  }
  return exprs.apply(isQuotient ? Function::IntegerQuotient
                                : Function::IntegerRemainder,
                     {a, b});
}

Expr SymbolicKernels::compareOf(CompareOp op, Expr a, Expr b) {
  switch (op) {
  case CompareOp::Eq:
    return exprs.equal(a, b);
  case CompareOp::Ne:
    return exprs.logicalNot(exprs.equal(a, b));
  case CompareOp::Lt:
    return exprs.less(a, b);
  case CompareOp::Le:
    return exprs.logicalNot(exprs.less(b, a));
  case CompareOp::Gt:
    return exprs.less(b, a);
  case CompareOp::Ge:
    return exprs.logicalNot(exprs.less(a, b));
  }
  return a;
}

Expr SymbolicKernels::castOf(ElementType from, ElementType to, Expr x) {
  if (from == to)
    return x;
  if (from == ElementType::Bool)
    return exprs.choose(x, exprs.number(1), exprs.number(0));
  if (to == ElementType::Bool)
    return exprs.logicalNot(exprs.equal(x, exprs.number(0)));
  if (isFloat(to))
    return x;
  Range range = rangeOf(to);
  auto fits = [&](const Rational &value) {
    return range.low <= value && value <= range.high;
  };
  if (isInteger(from) && fits(rangeOf(from).low) && fits(rangeOf(from).high))
    return x;
  if (exprs.isNumber(x) && fits(truncate(exprs.numberOf(x))))
    return exprs.number(truncate(exprs.numberOf(x)));
  return exprs.apply(isFloat(from) ? Function::Truncate : Function::Wrap, {x},
                     to);
}

SymbolicKernels::Tensor SymbolicKernels::unary(UnaryOp op, ElementType type,
                                               const HostTensor &x) {
  return generate(
      x.shape(), [&](int64_t i) { return unaryOf(op, type, elementOf(x, i)); });
}

SymbolicKernels::Tensor SymbolicKernels::binary(BinaryOp op, ElementType type,
                                                const HostTensor &a,
                                                const HostTensor &b) {
  return generate(commonShape({&a, &b}), [&](int64_t i) {
    return binaryOf(op, type, elementOf(a, i), elementOf(b, i));
  });
}

SymbolicKernels::Tensor SymbolicKernels::compare(CompareOp op, ElementType type,
                                                 const HostTensor &a,
                                                 const HostTensor &b) {
  return generate(commonShape({&a, &b}), [&](int64_t i) -> Result<Expr> {
    return compareOf(op, elementOf(a, i), elementOf(b, i));
  });
}

SymbolicKernels::Tensor SymbolicKernels::select(const HostTensor &condition,
                                                const HostTensor &a,
                                                const HostTensor &b) {
  return generate(commonShape({&condition, &a, &b}),
                  [&](int64_t i) -> Result<Expr> {
                    return exprs.choose(elementOf(condition, i),
                                        elementOf(a, i), elementOf(b, i));
                  });
}

SymbolicKernels::Tensor SymbolicKernels::cast(ElementType from, ElementType to,
                                              const HostTensor &x) {
  return generate(x.shape(), [&](int64_t i) -> Result<Expr> {
    return castOf(from, to, elementOf(x, i));
  });
}

SymbolicKernels::Tensor
SymbolicKernels::dropout(const HostTensor &x, double rate,
                         const HostTensor &seed,
                         const GlobalPosition &position) {
  Rational exactRate = rationalOf(rate);
  if (exactRate == Rational(1))
    return zeros(ElementType::F32, x.shape());
  Rational factor = Rational(1) / (Rational(1) - exactRate);
  Shape strides = runtime::rowMajorStrides(position.shape);
  Shape ownStrides = runtime::rowMajorStrides(x.shape());
  return generate(x.shape(), [&](int64_t i) -> Result<Expr> {
    int64_t global = 0, rest = i;
    for (size_t dim = 0; dim < strides.size(); ++dim) {
      global += (position.offsets[dim] + rest / ownStrides[dim]) * strides[dim];
      rest %= ownStrides[dim];
    }
    Expr kept = exprs.scale(factor, elementOf(x, i));
    if (rate == 0)
      return kept;
    Expr keeps =
        exprs.apply(Function::Keeps, {elementOf(seed, 0), exprs.number(global),
                                      exprs.number(exactRate)});
    return exprs.choose(keeps, kept, exprs.number(0));
  });
}

} // namespace ccn::verify
