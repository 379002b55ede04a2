//===- NarrowFloat.h - Conversion of 16- and 8-bit floats -------*- C++ -*-===//
//
// The conversions of decodeFloat and encodeFloat as templates over the format,
// so that the loops of kernels inline them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_NARROWFLOAT_H
#define CCN_RUNTIME_TENSOR_NARROWFLOAT_H

#include <bit>
#include <cstdint>

namespace ccn::runtime {

/// A binary floating point format of at most 16 bits: sign, exponent, mantissa,
/// with the IEEE bias. In a format without infinities, only the pattern of all
/// ones is NaN.
template <int exponentBits_, int mantissaBits_, bool hasInfinity_>
struct FloatFormat {
  static constexpr int exponentBits = exponentBits_;
  static constexpr int mantissaBits = mantissaBits_;
  static constexpr bool hasInfinity = hasInfinity_;
  static constexpr int bias = (1 << (exponentBits - 1)) - 1;
  static constexpr uint32_t signBit = 1u << (exponentBits + mantissaBits);
  /// The smallest pattern above those of finite numbers.
  static constexpr uint32_t overflow =
      hasInfinity ? ((1u << exponentBits) - 1) << mantissaBits : signBit - 1;
  static constexpr uint32_t quietNaN =
      hasInfinity ? overflow | 1u << (mantissaBits - 1) : overflow;
};

using F16Format = FloatFormat<5, 10, true>;
using BF16Format = FloatFormat<8, 7, true>;
using F8E4M3Format = FloatFormat<4, 3, false>;
using F8E5M2Format = FloatFormat<5, 2, true>;

/// The value of a pattern. Without branches, so that loops vectorize.
template <typename Format> float decodeAs(uint32_t bits) {
  uint32_t sign = (bits & Format::signBit) ? 0x80000000u : 0;
  uint32_t magnitude = bits & (Format::signBit - 1);
  bool infinite = Format::hasInfinity && magnitude == Format::overflow;
  uint32_t special = infinite ? 0x7f800000u : 0x7fc00000u;
  // Shifted to the mantissa of f32, the pattern is an f32 whose exponent is too
  // small by the difference of the biases. The product corrects this; it is
  // exact, for subnormals too.
  float scale = std::bit_cast<float>(
      static_cast<uint32_t>(127 + (127 - Format::bias)) << 23);
  float value =
      std::bit_cast<float>(magnitude << (23 - Format::mantissaBits)) * scale;
  uint32_t finite = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>(
      (magnitude >= Format::overflow ? special : finite) | sign);
}

/// The pattern nearest to a value, ties to even.
template <typename Format> uint32_t encodeAs(double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint32_t sign = (bits >> 63) ? Format::signBit : 0;
  int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  uint64_t fraction = bits & 0xfffffffffffffULL;
  if (exponent == 1024) {
    bool infinite = fraction == 0 && Format::hasInfinity;
    return sign | (infinite ? Format::overflow : Format::quietNaN);
  }
  // The exponent of the result is that of the value or, for a subnormal result,
  // that of the smallest normal number. Subnormal doubles are below half of
  // every format's smallest value and round to zero.
  constexpr int smallest = 1 - Format::bias;
  int resultExponent = exponent > smallest ? exponent : smallest;
  int dropped = 52 - Format::mantissaBits + (resultExponent - exponent);
  if (dropped > 53)
    return sign;
  uint64_t significand = fraction | 1ULL << 52;
  uint64_t kept = significand >> dropped;
  uint64_t rest = significand & ((1ULL << dropped) - 1);
  uint64_t half = 1ULL << (dropped - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  // `kept` contains the leading one of a normal number, which adds 1 to the
  // exponent field. A carry out of the mantissa adds another 1, as it should.
  uint64_t magnitude = (static_cast<uint64_t>(resultExponent - smallest)
                        << Format::mantissaBits) +
                       kept;
  if (magnitude >= Format::overflow)
    return sign | (Format::hasInfinity ? Format::overflow : Format::quietNaN);
  return sign | static_cast<uint32_t>(magnitude);
}

/// The same for a float, without branches.
template <typename Format> uint32_t encodeAs(float value) {
  constexpr uint32_t dropped = 23 - Format::mantissaBits;
  constexpr uint32_t rebias = 127 - Format::bias;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 31) ? Format::signBit : 0;
  uint32_t magnitude = bits & 0x7fffffffu;
  // A normal result is rounded at the end of the mantissa, ties to even. A
  // carry increments the exponent.
  uint32_t odd = magnitude >> dropped & 1;
  uint32_t normal =
      ((magnitude + ((1u << (dropped - 1)) - 1) + odd) >> dropped) -
      (rebias << Format::mantissaBits);
  // A subnormal result is read from the mantissa of a sum: the hardware rounds
  // the sum with a number whose last place is that of subnormals. A format with
  // the exponents of f32 (bf16) does not need this.
  uint32_t result = normal;
  if constexpr (rebias > 0) {
    constexpr uint32_t magic = (rebias + dropped + 1) << 23;
    float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(magic);
    uint32_t subnormal = std::bit_cast<uint32_t>(sum) - magic;
    result = magnitude < ((rebias + 1) << 23) ? subnormal : normal;
  }
  constexpr uint32_t tooLarge =
      Format::hasInfinity ? Format::overflow : Format::quietNaN;
  result = result >= Format::overflow ? tooLarge : result;
  result = magnitude >= 0x7f800000u
               ? (magnitude > 0x7f800000u ? Format::quietNaN : tooLarge)
               : result;
  return sign | result;
}

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_NARROWFLOAT_H
