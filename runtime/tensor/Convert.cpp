//===- Convert.cpp - Converts elements to another type --------------------===//
//
// Converts block by block, through a compute type that holds every value of the
// source type.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Convert.h"

#include "runtime/tensor/Blocks.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace ccn::runtime {

namespace {

/// Truncates toward zero into the range of Integer; NaN gives 0.
template <typename Integer> Integer saturate(double value) {
  using Limits = std::numeric_limits<Integer>;
  // 2^digits is exact as a double, and the smallest value that is too large.
  const double bound = std::ldexp(1.0, Limits::digits);
  if (value != value)
    return 0;
  if (value >= bound)
    return Limits::max();
  if (value <= (Limits::is_signed ? -bound : 0.0))
    return Limits::min();
  return static_cast<Integer>(value);
}

void storeSaturated(ElementType type, std::byte *data, int64_t first, int64_t n,
                    const double *in) {
  if (type == ElementType::Bool)
    return storeBools(data, first, n, in);
  withInteger(type, [&](auto zero) {
    using Integer = decltype(zero);
    Integer *out = reinterpret_cast<Integer *>(data) + first;
    for (int64_t i = 0; i < n; ++i)
      out[i] = saturate<Integer>(in[i]);
  });
}

/// A double that rounds to every narrower format (f32 included) as `value`
/// does. An integer of more than 53 bits is rounded to odd: the last bit is set
/// if lower bits are lost. So no value becomes a tie in the second rounding
/// that is not one, and no value above a tie becomes a tie. (S. Boldo, G.
/// Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms
/// using rounding to odd", IEEE TC 57(4), 2008.)
template <typename Integer> double roundToOdd(Integer value) {
  bool negative = value < 0;
  uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value)
                                : static_cast<uint64_t>(value);
  int width = 64 - __builtin_clzll(magnitude | 1);
  if (width > 53) {
    int dropped = width - 53;
    uint64_t rest = magnitude & ((1ULL << dropped) - 1);
    magnitude = magnitude >> dropped << dropped;
    if (rest)
      magnitude |= 1ULL << dropped;
  }
  double rounded = static_cast<double>(magnitude);
  return negative ? -rounded : rounded;
}

template <typename Integer>
void convertIntegers(ElementType from, const std::byte *in, ElementType to,
                     std::byte *out, int64_t count) {
  Integer integers[blockSize];
  double values[blockSize];
  forEachBlock(count, [&](int64_t first, int64_t n) {
    load(from, in, first, n, integers);
    for (int64_t i = 0; i < n; ++i)
      values[i] = to == ElementType::F64 ? static_cast<double>(integers[i])
                                         : roundToOdd(integers[i]);
    store(to, out, first, n, values);
  });
}

} // namespace

void convert(ElementType from, const std::byte *in, ElementType to,
             std::byte *out, int64_t count) {
  if (from == to) {
    if (count > 0)
      std::memcpy(out, in, static_cast<size_t>(count * sizeInBytes(from)));
    return;
  }
  if (isFloat(from)) {
    double values[blockSize];
    forEachBlock(count, [&](int64_t first, int64_t n) {
      load(from, in, first, n, values);
      if (isFloat(to))
        store(to, out, first, n, values);
      else
        storeSaturated(to, out, first, n, values);
    });
    return;
  }
  if (isFloat(to)) {
    if (isSignedInteger(from))
      convertIntegers<int64_t>(from, in, to, out, count);
    else
      convertIntegers<uint64_t>(from, in, to, out, count);
    return;
  }
  int64_t values[blockSize];
  forEachBlock(count, [&](int64_t first, int64_t n) {
    load(from, in, first, n, values);
    store(to, out, first, n, values);
  });
}

} // namespace ccn::runtime
