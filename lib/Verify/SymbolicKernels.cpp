//===- SymbolicKernels.cpp - Kernels on symbols ---------------------------===//
//
// Kernels that make symbols and constants, and elementwise kernels. Products,
// reductions and lookups of rows are in SymbolicProducts.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/SymbolicKernels.h"

#include "lib/Verify/SymbolicArithmetic.h"
#include "lib/Verify/SymbolicGenerate.h"

#include <cmath>
#include <limits>

namespace ccn::verify {

using namespace interp;

namespace {

/// The shape of the result of an operation whose operands may be scalars.
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

SymbolicKernels::Tensor
SymbolicKernels::elementwise(const ElementwiseFunction &function,
                             ElementType type,
                             std::span<const HostTensor> operands) {
  SymbolicArithmetic arithmetic(exprs, type);
  std::vector<scalar::Handle> x(operands.size(), {&arithmetic, 0});
  Shape shape = commonShape({&operands.front(), &operands.back()});
  return generate(shape, [&](int64_t i) -> Result<Expr> {
    for (size_t operand = 0; operand < x.size(); ++operand)
      x[operand].id =
          static_cast<scalar::Arithmetic::Id>(elementOf(operands[operand], i));
    scalar::Handle made = function.ofHandles(x.data());
    if (Status status = arithmetic.getStatus(); !status)
      return status;
    return static_cast<Expr>(made.id);
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

SymbolicKernels::Tensor SymbolicKernels::iota(const Shape &shape, size_t dim,
                                              int64_t first) {
  int64_t stride = runtime::rowMajorStrides(shape)[dim];
  return generate(shape, [&](int64_t i) -> Result<Expr> {
    return exprs.number(first + i / stride % shape[dim]);
  });
}

} // namespace ccn::verify
