//===- Elementwise.cpp - Elementwise kernels ------------------------------===//
//
// Each operation is a scalar function, applied by loops over blocks.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Elementwise.h"

#include "lib/Interpreter/Blocks.h"
#include "runtime/tensor/Convert.h"

#include <cmath>

namespace ccn::interp {

using runtime::addWrapping;
using runtime::describe;
using runtime::describeIndex;
using runtime::elementCount;
using runtime::forEachBlock;
using runtime::isFloat;
using runtime::isInteger;
using runtime::isUnsignedInteger;
using runtime::maximum;
using runtime::minimum;
using runtime::multiplyWrapping;
using runtime::Shape;
using runtime::store;
using runtime::subtractWrapping;
using runtime::withBits;
using runtime::withCompute;

namespace {

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

double sigmoidOf(double x) {
  // Of the two forms, the one whose exponential does not overflow.
  if (x < 0) {
    double e = std::exp(x);
    return e / (1 + e);
  }
  return 1 / (1 + std::exp(-x));
}

double geluOf(double x) {
  return 0.5 * x * std::erfc(-x * 0.70710678118654752440);
}

uint64_t powerWrapping(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1)
      result *= base;
    base *= base;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

template <typename Compute, typename Function>
Result<HostTensor> mapUnary(const HostTensor &x, Function function) {
  Result<HostTensor> result = HostTensor::uninitialized(x.type(), x.shape());
  if (!result)
    return result;
  std::byte *out = result->mutableData();
  Compute values[blockSize];
  forEachBlock(x.count(), [&](int64_t first, int64_t n) {
    load(x.type(), x.data(), first, n, values);
    for (int64_t i = 0; i < n; ++i)
      values[i] = function(values[i]);
    store(x.type(), out, first, n, values);
  });
  return result;
}

/// The shape of an elementwise result, or an error unless the shapes are equal
/// or one is a scalar's.
Result<Shape> commonShape(const HostTensor &a, const HostTensor &b) {
  if (a.rank() == 0 || a.shape() == b.shape())
    return b.shape();
  if (b.rank() == 0)
    return a.shape();
  return error("operands of an elementwise operation must have the same shape "
               "or be scalars, found ",
               a.describe(), " and ", b.describe());
}

Result<Shape> commonOperands(const HostTensor &a, const HostTensor &b) {
  if (a.type() != b.type())
    return error("operands must have the same element type, found ",
                 a.describe(), " and ", b.describe());
  return commonShape(a, b);
}

/// function(a, b) for operands and a result in one compute type.
template <typename Compute, typename Function>
Result<HostTensor> mapBinary(const HostTensor &a, const HostTensor &b,
                             const Shape &shape, Function function) {
  Result<HostTensor> result = HostTensor::uninitialized(a.type(), shape);
  if (!result)
    return result;
  std::byte *out = result->mutableData();
  OperandBlocks<Compute> as(a), bs(b);
  Compute values[blockSize];
  forEachBlock(result->count(), [&](int64_t first, int64_t n) {
    const Compute *x = as.get(first, n), *y = bs.get(first, n);
    for (int64_t i = 0; i < n; ++i)
      values[i] = function(x[i], y[i]);
    store(a.type(), out, first, n, values);
  });
  return result;
}

template <typename Compute, typename Predicate>
Result<HostTensor> mapCompare(const HostTensor &a, const HostTensor &b,
                              const Shape &shape, Predicate predicate) {
  Result<HostTensor> result =
      HostTensor::uninitialized(ElementType::Bool, shape);
  if (!result)
    return result;
  uint8_t *out = result->mutableDataAs<uint8_t>();
  OperandBlocks<Compute> as(a), bs(b);
  forEachBlock(result->count(), [&](int64_t first, int64_t n) {
    const Compute *x = as.get(first, n), *y = bs.get(first, n);
    for (int64_t i = 0; i < n; ++i)
      out[first + i] = predicate(x[i], y[i]);
  });
  return result;
}

Status refuse(const char *operation, const HostTensor &x) {
  return error(operation, " is not defined for ", x.describe());
}

//===----------------------------------------------------------------------===//
// Integers whose operands can be wrong
//===----------------------------------------------------------------------===//

/// The first element of `x` for which `isWrong` holds.
template <typename Compute, typename Predicate>
std::optional<int64_t> findElement(const HostTensor &x, Predicate isWrong) {
  OperandBlocks<Compute> blocks(x);
  for (int64_t first = 0; first < x.count(); first += blockSize) {
    int64_t n = std::min(blockSize, x.count() - first);
    const Compute *values = blocks.get(first, n);
    for (int64_t i = 0; i < n; ++i)
      if (isWrong(values[i]))
        return first + i;
  }
  return std::nullopt;
}

template <typename Compute>
Result<HostTensor> integerBinary(BinaryOp op, const HostTensor &a,
                                 const HostTensor &b, const Shape &shape) {
  // A result without elements divides nothing, even by a zero scalar.
  if (op == BinaryOp::Div || op == BinaryOp::Rem) {
    auto zero = findElement<Compute>(b, [](Compute v) { return v == 0; });
    if (zero && *elementCount(shape) > 0)
      return error(op == BinaryOp::Div ? "division" : "remainder",
                   " by zero: element ", describeIndex(b.shape(), *zero),
                   " of the divisor ", b.describe(), " is 0");
  }
  if (op == BinaryOp::Pow) {
    auto negative = findElement<Compute>(b, [](Compute v) { return v < 0; });
    if (negative && *elementCount(shape) > 0)
      return error("negative exponent of an integer power: element ",
                   describeIndex(b.shape(), *negative), " of ", b.describe(),
                   " is ", b.textAt(*negative));
  }
  switch (op) {
  case BinaryOp::Add:
    return mapBinary<Compute>(
        a, b, shape, [](Compute x, Compute y) { return addWrapping(x, y); });
  case BinaryOp::Sub:
    return mapBinary<Compute>(a, b, shape, [](Compute x, Compute y) {
      return subtractWrapping(x, y);
    });
  case BinaryOp::Mul:
    return mapBinary<Compute>(a, b, shape, [](Compute x, Compute y) {
      return multiplyWrapping(x, y);
    });
  case BinaryOp::Div:
    return mapBinary<Compute>(a, b, shape, [](Compute x, Compute y) {
      // The quotient of the lowest value and -1 does not fit; it wraps.
      if (std::is_signed_v<Compute> && y == Compute(-1))
        return subtractWrapping<Compute>(0, x);
      return x / y;
    });
  case BinaryOp::Rem:
    return mapBinary<Compute>(a, b, shape, [](Compute x, Compute y) {
      if (std::is_signed_v<Compute> && y == Compute(-1))
        return Compute(0);
      return x % y;
    });
  case BinaryOp::Min:
    return mapBinary<Compute>(
        a, b, shape, [](Compute x, Compute y) { return minimum(x, y); });
  case BinaryOp::Max:
    return mapBinary<Compute>(
        a, b, shape, [](Compute x, Compute y) { return maximum(x, y); });
  case BinaryOp::Pow:
    return mapBinary<Compute>(a, b, shape, [](Compute x, Compute y) {
      return static_cast<Compute>(
          powerWrapping(static_cast<uint64_t>(x), static_cast<uint64_t>(y)));
    });
  }
  return error("unknown binary operation");
}

template <typename Compute>
Result<HostTensor> floatBinary(BinaryOp op, const HostTensor &a,
                               const HostTensor &b, const Shape &shape) {
  switch (op) {
  case BinaryOp::Add:
    return mapBinary<Compute>(a, b, shape,
                              [](Compute x, Compute y) { return x + y; });
  case BinaryOp::Sub:
    return mapBinary<Compute>(a, b, shape,
                              [](Compute x, Compute y) { return x - y; });
  case BinaryOp::Mul:
    return mapBinary<Compute>(a, b, shape,
                              [](Compute x, Compute y) { return x * y; });
  case BinaryOp::Div:
    return mapBinary<Compute>(a, b, shape,
                              [](Compute x, Compute y) { return x / y; });
  case BinaryOp::Rem:
    // Exact in every format, so the compute type does not matter.
    return mapBinary<Compute>(
        a, b, shape, [](Compute x, Compute y) { return std::fmod(x, y); });
  case BinaryOp::Min:
    return mapBinary<Compute>(
        a, b, shape, [](Compute x, Compute y) { return minimum(x, y); });
  case BinaryOp::Max:
    return mapBinary<Compute>(
        a, b, shape, [](Compute x, Compute y) { return maximum(x, y); });
  case BinaryOp::Pow:
    return mapBinary<double>(a, b, shape,
                             [](double x, double y) { return std::pow(x, y); });
  }
  return error("unknown binary operation");
}

} // namespace

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

Result<HostTensor> unary(UnaryOp op, const HostTensor &x) {
  if (isInteger(x.type())) {
    if (op == UnaryOp::Neg)
      return mapUnary<int64_t>(
          x, [](int64_t v) { return subtractWrapping<int64_t>(0, v); });
    bool keepsUnsigned = op == UnaryOp::Abs || op == UnaryOp::Relu;
    if (keepsUnsigned && isUnsignedInteger(x.type()))
      return x;
    if (op == UnaryOp::Relu)
      return mapUnary<int64_t>(
          x, [](int64_t v) { return std::max<int64_t>(v, 0); });
    if (op == UnaryOp::Abs)
      return mapUnary<int64_t>(x, [](int64_t v) {
        return v < 0 ? subtractWrapping<int64_t>(0, v) : v;
      });
  }
  if (!isFloat(x.type()))
    return refuse("this unary operation", x);
  return withCompute(x.type(), [&](auto zero) -> Result<HostTensor> {
    using Compute = decltype(zero);
    if constexpr (std::is_floating_point_v<Compute>) {
      switch (op) {
      case UnaryOp::Neg:
        return mapUnary<Compute>(x, [](Compute v) { return -v; });
      case UnaryOp::Abs:
        return mapUnary<Compute>(x, [](Compute v) { return std::fabs(v); });
      case UnaryOp::Sqrt:
        return mapUnary<Compute>(x, [](Compute v) { return std::sqrt(v); });
      case UnaryOp::Relu:
        return mapUnary<Compute>(
            x, [](Compute v) { return maximum(v, Compute(0)); });
      case UnaryOp::Rsqrt:
        return mapUnary<double>(x, [](double v) { return 1 / std::sqrt(v); });
      case UnaryOp::Exp:
        return mapUnary<double>(x, [](double v) { return std::exp(v); });
      case UnaryOp::Log:
        return mapUnary<double>(x, [](double v) { return std::log(v); });
      case UnaryOp::Tanh:
        return mapUnary<double>(x, [](double v) { return std::tanh(v); });
      case UnaryOp::Sigmoid:
        return mapUnary<double>(x, sigmoidOf);
      case UnaryOp::Gelu:
        return mapUnary<double>(x, geluOf);
      case UnaryOp::Silu:
        return mapUnary<double>(x, [](double v) { return v * sigmoidOf(v); });
      }
    }
    return refuse("this unary operation", x);
  });
}

Result<HostTensor> binary(BinaryOp op, const HostTensor &a,
                          const HostTensor &b) {
  Result<Shape> shape = commonOperands(a, b);
  if (!shape)
    return shape.status();
  if (a.type() == ElementType::Bool && op != BinaryOp::Min &&
      op != BinaryOp::Max)
    return refuse("arithmetic", a);
  return withCompute(a.type(), [&](auto zero) {
    using Compute = decltype(zero);
    if constexpr (std::is_floating_point_v<Compute>)
      return floatBinary<Compute>(op, a, b, *shape);
    else
      return integerBinary<Compute>(op, a, b, *shape);
  });
}

Result<HostTensor> compare(CompareOp op, const HostTensor &a,
                           const HostTensor &b) {
  Result<Shape> shape = commonOperands(a, b);
  if (!shape)
    return shape.status();
  return withCompute(a.type(), [&](auto zero) -> Result<HostTensor> {
    using T = decltype(zero);
    switch (op) {
    case CompareOp::Eq:
      return mapCompare<T>(a, b, *shape, [](T x, T y) { return x == y; });
    case CompareOp::Ne:
      return mapCompare<T>(a, b, *shape, [](T x, T y) { return x != y; });
    case CompareOp::Lt:
      return mapCompare<T>(a, b, *shape, [](T x, T y) { return x < y; });
    case CompareOp::Le:
      return mapCompare<T>(a, b, *shape, [](T x, T y) { return x <= y; });
    case CompareOp::Gt:
      return mapCompare<T>(a, b, *shape, [](T x, T y) { return x > y; });
    case CompareOp::Ge:
      return mapCompare<T>(a, b, *shape, [](T x, T y) { return x >= y; });
    }
    return error("unknown comparison");
  });
}

Result<HostTensor> select(const HostTensor &condition, const HostTensor &a,
                          const HostTensor &b) {
  if (condition.type() != ElementType::Bool)
    return error("the condition of a select must be bool, found ",
                 condition.describe());
  Result<Shape> shape = commonOperands(a, b);
  if (!shape)
    return shape.status();
  if (condition.rank() != 0) {
    if (!shape->empty() && *shape != condition.shape())
      return error("operands of an elementwise operation must have the same "
                   "shape or be scalars, found ",
                   condition.describe(), " and ", describe(a.type(), *shape));
    shape = condition.shape();
  }
  Result<HostTensor> result = HostTensor::uninitialized(a.type(), *shape);
  if (!result)
    return result;
  // Moves bits, so that every bit of a NaN is kept.
  withBits(a.type(), [&](auto zero) {
    using Bits = decltype(zero);
    Bits *out = result->mutableDataAs<Bits>();
    const auto *c = condition.dataAs<uint8_t>();
    const Bits *x = a.dataAs<Bits>(), *y = b.dataAs<Bits>();
    int64_t cStep = condition.rank() != 0, xStep = a.rank() != 0,
            yStep = b.rank() != 0;
    for (int64_t i = 0; i < result->count(); ++i)
      out[i] = c[i * cStep] ? x[i * xStep] : y[i * yStep];
  });
  return result;
}

Result<HostTensor> cast(const HostTensor &x, ElementType type) {
  if (x.type() == type)
    return x;
  Result<HostTensor> result = HostTensor::uninitialized(type, x.shape());
  if (!result)
    return result;
  runtime::convert(x.type(), x.data(), type, result->mutableData(), x.count());
  return result;
}

} // namespace ccn::interp
