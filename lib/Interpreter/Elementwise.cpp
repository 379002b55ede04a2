//===- Elementwise.cpp - Elementwise kernels ------------------------------===//
//
// Loops over blocks of elements.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Elementwise.h"

#include "lib/Interpreter/Blocks.h"
#include "runtime/tensor/Convert.h"

#include <optional>
#include <vector>

namespace ccn::interp {

using runtime::describe;
using runtime::describeIndex;
using runtime::elementCount;
using runtime::forEachBlock;
using runtime::isFloat;
using runtime::Shape;
using runtime::store;
using runtime::withBits;
using runtime::withCompute;

namespace {

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

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

/// Applies a function to operands of one type, whose elements are converted to
/// Compute.
template <typename Compute>
Result<HostTensor> mapBlocks(ElementwiseFunction::Block<Compute> function,
                             std::span<const HostTensor> operands,
                             const Shape &shape) {
  ElementType type = operands.front().type();
  Result<HostTensor> result = HostTensor::uninitialized(type, shape);
  if (!result)
    return result;
  std::byte *out = result->mutableData();
  std::vector<OperandBlocks<Compute>> blocks(operands.begin(), operands.end());
  std::vector<const Compute *> values(blocks.size());
  Compute made[blockSize];
  forEachBlock(result->count(), [&](int64_t first, int64_t n) {
    for (size_t i = 0; i < blocks.size(); ++i)
      values[i] = blocks[i].get(first, n);
    function(values.data(), made, n);
    store(type, out, first, n, made);
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

//===----------------------------------------------------------------------===//
// Divisors
//===----------------------------------------------------------------------===//

/// The index of the first element of `x` for which `isWrong` is true.
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

/// Fails if an element of the divisor is 0. An empty result divides nothing,
/// even if the divisor is a zero scalar.
Status checkDivisor(std::string_view operation, const HostTensor &divisor,
                    const Shape &shape) {
  std::optional<int64_t> zero = withCompute(divisor.type(), [&](auto compute) {
    return findElement<decltype(compute)>(divisor,
                                          [](auto v) { return v == 0; });
  });
  if (!zero || *elementCount(shape) == 0)
    return Status();
  return error(operation, " by zero: element ",
               describeIndex(divisor.shape(), *zero), " of the divisor ",
               divisor.describe(), " is 0");
}

} // namespace

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

Result<HostTensor> elementwise(const ElementwiseFunction &function,
                               std::span<const HostTensor> operands) {
  const HostTensor &first = operands.front();
  Result<Shape> shape = first.shape();
  if (operands.size() == 2)
    shape = commonOperands(first, operands[1]);
  if (!shape)
    return shape.status();
  ElementType type = first.type();
  if (!function.takes(type))
    return error(function.name, " is not defined for ", first.describe());
  if (isFloat(type) && function.isWide)
    return mapBlocks(function.ofDoubles, operands, *shape);
  if (!isFloat(type) && !function.zeroDivisor.empty())
    if (Status status = checkDivisor(function.zeroDivisor, operands[1], *shape);
        !status)
      return status;
  return withCompute(type, [&](auto zero) {
    using Compute = decltype(zero);
    if constexpr (std::is_same_v<Compute, double>)
      return mapBlocks(function.ofDoubles, operands, *shape);
    else if constexpr (std::is_same_v<Compute, float>)
      return mapBlocks(function.ofFloats, operands, *shape);
    else if constexpr (std::is_same_v<Compute, int64_t>)
      return mapBlocks(function.ofSigned, operands, *shape);
    else
      return mapBlocks(function.ofUnsigned, operands, *shape);
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
  // Copies bits, so that every bit of a NaN is kept.
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
