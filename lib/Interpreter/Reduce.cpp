//===- Reduce.cpp - Reductions of a tensor and across ranks ---------------===//
//
// Both reductions use a "step": the binary function of the reduction's kind, on
// the accumulator's type.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Reduce.h"

#include "lib/Interpreter/Blocks.h"

#include <limits>

namespace ccn::interp {

using runtime::ElementType;
using runtime::isUnsignedInteger;
using runtime::Shape;
using runtime::sizeInBytes;
using runtime::store;
using runtime::withAccumulator;

namespace {

/// The largest or smallest value of an integer type or bool, as T.
template <typename T> T extremeInteger(ElementType type, bool largest) {
  if (type == ElementType::Bool)
    return largest;
  int bits = 8 * sizeInBytes(type);
  if (isUnsignedInteger(type))
    return largest ? static_cast<T>(~uint64_t(0) >> (64 - bits)) : T(0);
  int64_t top = static_cast<int64_t>(~uint64_t(0) >> (65 - bits));
  return static_cast<T>(largest ? top : -top - 1);
}

/// The neutral element of a reduction, which is the reduction of no elements.
template <typename T> T neutral(ReduceKind kind, ElementType type) {
  if (kind == ReduceKind::Prod)
    return T(1);
  if (kind != ReduceKind::Max && kind != ReduceKind::Min)
    return T(0);
  bool largest = kind == ReduceKind::Min;
  if constexpr (std::is_floating_point_v<T>) {
    T value = type == ElementType::F8E4M3 ? T(448)
                                          : std::numeric_limits<T>::infinity();
    return largest ? value : -value;
  } else {
    return extremeInteger<T>(type, largest);
  }
}

/// The element type that is represented by T.
template <typename T> ElementType accumulatorType() {
  if (std::is_same_v<T, double>)
    return ElementType::F64;
  if (std::is_same_v<T, float>)
    return ElementType::F32;
  return std::is_signed_v<T> ? ElementType::I64 : ElementType::U64;
}

/// Neighbouring dimensions that are all reduced or all kept. Their elements are
/// contiguous, so the run acts as one dimension.
struct Run {
  int64_t size;
  bool reduced;
  /// How far the result's index moves when the run's index grows by 1; 0 if
  /// reduced.
  int64_t resultStride;
};

std::vector<Run> makeRuns(const Shape &shape,
                          const std::vector<bool> &reduced) {
  std::vector<Run> runs;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (!runs.empty() && runs.back().reduced == reduced[dim])
      runs.back().size *= shape[dim];
    else
      runs.push_back({shape[dim], reduced[dim], 0});
  }
  int64_t stride = 1;
  for (size_t i = runs.size(); i-- > 0;) {
    if (runs[i].reduced)
      continue;
    runs[i].resultStride = stride;
    stride *= runs[i].size;
  }
  return runs;
}

/// Folds the elements of `x`, in row-major order, into the accumulators.
template <typename T, typename Step>
void accumulate(const HostTensor &x, const std::vector<Run> &runs, T *result,
                Step step) {
  T values[blockSize];
  const Run inner = runs.back();
  std::vector<int64_t> index(runs.size() - 1);
  int64_t target = 0;
  for (int64_t row = 0; row < x.count(); row += inner.size) {
    for (int64_t first = 0; first < inner.size; first += blockSize) {
      int64_t n = std::min(blockSize, inner.size - first);
      load(x.type(), x.data(), row + first, n, values);
      if (inner.reduced) {
        T sum = result[target];
        for (int64_t i = 0; i < n; ++i)
          sum = step(sum, values[i]);
        result[target] = sum;
      } else {
        T *out = result + target + first;
        for (int64_t i = 0; i < n; ++i)
          out[i] = step(out[i], values[i]);
      }
    }
    // Moves to the next row.
    for (size_t run = index.size(); run-- > 0;) {
      target += runs[run].resultStride;
      if (++index[run] < runs[run].size)
        break;
      index[run] = 0;
      target -= runs[run].size * runs[run].resultStride;
    }
  }
}

} // namespace

Result<HostTensor> reduce(ReduceKind kind, const HostTensor &x,
                          const std::vector<int64_t> &dims,
                          double meanDivisor) {
  if (Status status = runtime::checkReduction(kind, x.type(), x.describe());
      !status)
    return status;
  std::vector<bool> reduced(x.shape().size());
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= x.rank())
      return error("cannot reduce dimension ", dim, " of ", x.describe());
    if (reduced[static_cast<size_t>(dim)])
      return error("dimension ", dim, " is reduced twice");
    reduced[static_cast<size_t>(dim)] = true;
  }
  Shape shape;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (!reduced[static_cast<size_t>(dim)])
      shape.push_back(x.size(dim));

  return withAccumulator(x.type(), [&](auto zero) -> Result<HostTensor> {
    using T = decltype(zero);
    Result<HostTensor> sums =
        HostTensor::uninitialized(accumulatorType<T>(), shape);
    if (!sums)
      return sums;
    Result<HostTensor> result = HostTensor::uninitialized(x.type(), shape);
    if (!result)
      return result;
    T *sum = sums->mutableDataAs<T>();
    T start = neutral<T>(kind, x.type());
    // Adding -0 changes no number, not even -0, so sums of elements start with
    // -0. The sum of no elements is +0.
    if (std::is_floating_point_v<T> && start == 0 && x.count() > 0)
      start = -start;
    std::fill_n(sum, sums->count(), start);
    std::vector<Run> runs = makeRuns(x.shape(), reduced);
    if (runs.empty())
      runs.push_back({1, false, 1});
    if (x.count() > 0)
      runtime::withStep<T>(
          kind, [&](auto step) { accumulate<T>(x, runs, sum, step); });
    if (kind == ReduceKind::Mean)
      for (int64_t i = 0; i < sums->count(); ++i)
        sum[i] = sum[i] / static_cast<T>(meanDivisor);
    store(x.type(), result->mutableData(), 0, result->count(), sum);
    return result;
  });
}

Result<HostTensor> combine(ReduceKind kind,
                           const std::vector<HostTensor> &tensors) {
  if (tensors.empty())
    return error("there is nothing to combine");
  const HostTensor &head = tensors.front();
  if (Status status =
          runtime::checkReduction(kind, head.type(), head.describe());
      !status)
    return status;
  for (const HostTensor &tensor : tensors)
    if (tensor.type() != head.type() || tensor.shape() != head.shape())
      return error("the tensors of a reduction must be of one type and shape, "
                   "found ",
                   head.describe(), " and ", tensor.describe());
  Result<HostTensor> result =
      HostTensor::uninitialized(head.type(), head.shape());
  if (!result)
    return result;
  std::vector<const std::byte *> parts;
  for (const HostTensor &tensor : tensors)
    parts.push_back(tensor.data());
  runtime::combine(kind, head.type(), parts, head.count(),
                   result->mutableData());
  return result;
}

} // namespace ccn::interp
