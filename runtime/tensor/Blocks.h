//===- Blocks.h - Loads and stores of compute types -------------*- C++ -*-===//
//
// Kernels work on blocks of elements in one of four compute types: double and
// float for floats, int64_t and uint64_t for integers and bool. So a kernel is
// written once for each compute type, not for each element type. Loading
// widens, which is exact; storing rounds once, or wraps.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_BLOCKS_H
#define CCN_RUNTIME_TENSOR_BLOCKS_H

#include "runtime/tensor/ElementType.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ccn::runtime {

/// The number of elements that kernels process at a time: small enough that a
/// few blocks of doubles stay in the first-level cache.
inline constexpr int64_t blockSize = 1024;

/// Loads and widens elements [first, first + n) of row-major storage of `type`.
/// Floats load as double or, except f64, as float. Integers and bool load as
/// int64_t (u64 wraps) or as uint64_t (negative values wrap).
void load(ElementType type, const std::byte *data, int64_t first, int64_t n,
          double *out);
void load(ElementType type, const std::byte *data, int64_t first, int64_t n,
          float *out);
void load(ElementType type, const std::byte *data, int64_t first, int64_t n,
          int64_t *out);
void load(ElementType type, const std::byte *data, int64_t first, int64_t n,
          uint64_t *out);

/// Stores values to elements [first, first + n) of `type`: floating point
/// values to float types, rounded once to nearest even; integers to integer
/// types, where they wrap, or to bool as `!= 0`.
void store(ElementType type, std::byte *data, int64_t first, int64_t n,
           const double *in);
void store(ElementType type, std::byte *data, int64_t first, int64_t n,
           const float *in);
void store(ElementType type, std::byte *data, int64_t first, int64_t n,
           const int64_t *in);
void store(ElementType type, std::byte *data, int64_t first, int64_t n,
           const uint64_t *in);

/// Calls body(first, n) for consecutive blocks that cover [0, count).
template <typename Body> void forEachBlock(int64_t count, Body body) {
  for (int64_t first = 0; first < count; first += blockSize)
    body(first, std::min(blockSize, count - first));
}

/// Calls body with a value of the type in which elements of `type` accumulate:
/// double for f64 and f32, float for narrower floats, int64_t for signed, and
/// uint64_t for unsigned integers and bool.
template <typename Body> auto withAccumulator(ElementType type, Body body) {
  if (isNarrowFloat(type))
    return body(float());
  if (isFloat(type))
    return body(double());
  if (isSignedInteger(type))
    return body(int64_t());
  return body(uint64_t());
}

/// The same with the type in which single operations on `type` compute: float
/// for f32, else the type of withAccumulator.
template <typename Body> auto withCompute(ElementType type, Body body) {
  if (type == ElementType::F32)
    return body(float());
  return withAccumulator(type, body);
}

/// Calls body with an unsigned integer of the size of elements of `type`, for
/// kernels that move elements without looking at them.
template <typename Body> auto withBits(ElementType type, Body body) {
  switch (sizeInBytes(type)) {
  case 1:
    return body(uint8_t());
  case 2:
    return body(uint16_t());
  case 4:
    return body(uint32_t());
  default:
    return body(uint64_t());
  }
}

/// Calls body with a value of the C++ type in which elements of an integer type
/// are stored; uint8_t for bool.
template <typename Body> auto withInteger(ElementType type, Body body) {
  switch (type) {
  case ElementType::I8:
    return body(int8_t());
  case ElementType::I16:
    return body(int16_t());
  case ElementType::I32:
    return body(int32_t());
  case ElementType::I64:
    return body(int64_t());
  case ElementType::U8:
  case ElementType::Bool:
    return body(uint8_t());
  case ElementType::U16:
    return body(uint16_t());
  case ElementType::U32:
    return body(uint32_t());
  default:
    assert(type == ElementType::U64 && "not an integer type or bool");
    return body(uint64_t());
  }
}

/// Stores `!= 0` of each value to elements [first, first + n) of bool.
template <typename Compute>
void storeBools(std::byte *data, int64_t first, int64_t n, const Compute *in) {
  uint8_t *out = reinterpret_cast<uint8_t *>(data) + first;
  for (int64_t i = 0; i < n; ++i)
    out[i] = in[i] != 0;
}

/// Sum, difference and product: for floats as usual, for integers modulo 2^64.
template <typename T> T addWrapping(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <typename T> T subtractWrapping(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else
    return a - b;
}
template <typename T> T multiplyWrapping(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

/// IEEE 754-2019 minimum and maximum: NaN if either is NaN, -0 < +0. For
/// integers the usual ones.
template <typename T> T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    // If either is NaN, so is their sum. Equal numbers differ at most in the
    // sign of zero.
    if (a != a || b != b)
      return a + b;
    if (a == b)
      return __builtin_signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
template <typename T> T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b)
      return a + b;
    if (a == b)
      return __builtin_signbit(a) ? b : a;
  }
  return a > b ? a : b;
}

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_BLOCKS_H
