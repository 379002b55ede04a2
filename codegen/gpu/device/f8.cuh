//===- f8.cuh - Floats of 8 bits ------------------------------------------===//
//
// Without __CUDA_ARCH__ there are no PTX instructions: tests compile this for
// the CPU.
//
//===----------------------------------------------------------------------===//

/// Patterns only.
struct f8e4m3 {
  unsigned char bits;
};
struct f8e5m2 {
  unsigned char bits;
};

/// As runtime::FloatFormat: sign, exponent, mantissa, with the IEEE bias.
/// Without infinities only the pattern of all ones is NaN.
template <int exponentBits, int mantissaBits_, bool hasInfinity_>
struct FloatFormat {
  static constexpr int mantissaBits = mantissaBits_;
  static constexpr bool hasInfinity = hasInfinity_;
  static constexpr int bias = (1 << (exponentBits - 1)) - 1;
  static constexpr int width = 1 + exponentBits + mantissaBits;
  static constexpr unsigned signBit = 1u << (width - 1);
  /// The first pattern above the finite ones.
  static constexpr unsigned overflow =
      hasInfinity ? ((1u << exponentBits) - 1) << mantissaBits : signBit - 1;
  static constexpr unsigned quietNaN =
      hasInfinity ? overflow | 1u << (mantissaBits - 1) : overflow;
};

template <class T> struct FormatOf;
template <> struct FormatOf<f8e4m3> : FloatFormat<4, 3, false> {};
template <> struct FormatOf<f8e5m2> : FloatFormat<5, 2, true> {};

/// runtime::decodeAs.
template <class T> __device__ inline float decodeNarrow(T x) {
  using Format = FormatOf<T>;
  unsigned bits = x.bits;
  unsigned sign = (bits & Format::signBit) << (32 - Format::width);
  unsigned magnitude = bits & (Format::signBit - 1);
  bool infinite = Format::hasInfinity && magnitude == Format::overflow;
  unsigned special = infinite ? 0x7f800000u : 0x7fc00000u;
  // With the mantissa aligned, the exponent is too small by the difference of
  // the biases. The product is exact and takes care of subnormals.
  float scale = asFloat(static_cast<unsigned>(254 - Format::bias) << 23);
  float value = asFloat(magnitude << (23 - Format::mantissaBits)) * scale;
  return asFloat((magnitude >= Format::overflow ? special : asBits(value)) |
                 sign);
}

/// runtime::encodeAs of a float: nearest, ties to even.
template <class T> __device__ inline T encodeNarrow(float value) {
  using Format = FormatOf<T>;
  constexpr unsigned dropped = 23 - Format::mantissaBits;
  constexpr unsigned rebias = 127 - Format::bias;
  unsigned bits = asBits(value);
  unsigned sign = (bits >> (32 - Format::width)) & Format::signBit;
  unsigned magnitude = bits & 0x7fffffffu;
  unsigned odd = magnitude >> dropped & 1;
  unsigned result =
      ((magnitude + ((1u << (dropped - 1)) - 1) + odd) >> dropped) -
      (rebias << Format::mantissaBits);
  if constexpr (rebias > 0) {
    // Subnormal results: in the sum with a number whose last place is theirs,
    // the hardware rounds.
    constexpr unsigned magic = (rebias + dropped + 1) << 23;
    unsigned subnormal = asBits(asFloat(magnitude) + asFloat(magic)) - magic;
    result = magnitude < ((rebias + 1) << 23) ? subnormal : result;
  }
  constexpr unsigned tooLarge =
      Format::hasInfinity ? Format::overflow : Format::quietNaN;
  result = result >= Format::overflow ? tooLarge : result;
  if (magnitude >= 0x7f800000u)
    result = magnitude > 0x7f800000u ? Format::quietNaN : tooLarge;
  T narrow;
  narrow.bits = static_cast<decltype(narrow.bits)>(sign | result);
  return narrow;
}

__device__ inline float toFloat(f8e4m3 x) {
#if __CUDA_ARCH__ >= 890
  unsigned pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;"
      : "=r"(pair)
      : "h"(static_cast<unsigned short>(x.bits)));
  f16 half;
  half.bits = static_cast<unsigned short>(pair);
  return toFloat(half);
#else
  return decodeNarrow(x);
#endif
}
__device__ inline float toFloat(f8e5m2 x) {
  // Its patterns are the upper halves of those of f16.
  f16 half;
  half.bits = static_cast<unsigned short>(x.bits << 8);
  return toFloat(half);
}

template <> __device__ inline f8e4m3 toHalf<f8e4m3>(float x) {
#if __CUDA_ARCH__ >= 890
  // The instruction makes what is too large the largest value.
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
      : "=h"(pair)
      : "f"(0.0f), "f"(x));
  f8e4m3 result;
  // Halfway between it and what would be the next.
  result.bits = static_cast<unsigned char>(
      pair | (fabsf(x) > 464.0f ? FormatOf<f8e4m3>::quietNaN : 0));
  return result;
#else
  return encodeNarrow<f8e4m3>(x);
#endif
}
template <> __device__ inline f8e5m2 toHalf<f8e5m2>(float x) {
#if __CUDA_ARCH__ >= 890
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;"
      : "=h"(pair)
      : "f"(0.0f), "f"(x));
  f8e5m2 result;
  bool isInfinite = fabsf(x) >= 61440.0f;
  result.bits = static_cast<unsigned char>(
      isInfinite
          ? (pair & FormatOf<f8e5m2>::signBit) | FormatOf<f8e5m2>::overflow
          : pair);
  return result;
#else
  return encodeNarrow<f8e5m2>(x);
#endif
}

template <> struct Compute<f8e4m3> : ComputeNarrow<f8e4m3> {};
template <> struct Compute<f8e5m2> : ComputeNarrow<f8e5m2> {};
