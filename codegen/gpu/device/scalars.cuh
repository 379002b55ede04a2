//===- scalars.cuh - Element types and their arithmetic -------------------===//
//
// What a plan's elements are on the GPU, with the results that the runtime's
// kernels for the CPU give (runtime/NarrowFloat.h, Blocks.h, Combine.h): floats
// of 16 and 8 bits, which only convert, and how elements combine across ranks.
// NaN stays NaN, but its pattern may differ.
//
// Elements of integer types are the C types of their size; with a sign where
// the sign matters.
//
// Without __CUDA_ARCH__ there are no PTX instructions: tests compile this for
// the CPU.
//
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

__device__ inline unsigned asBits(float x) { return __float_as_uint(x); }
__device__ inline unsigned long long asBits(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(x));
}
__device__ inline float asFloat(unsigned bits) { return __uint_as_float(bits); }
__device__ inline double asDouble(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

//===----------------------------------------------------------------------===//
// Floats of 16 and 8 bits
//===----------------------------------------------------------------------===//

/// Patterns only.
struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};
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
template <> struct FormatOf<f16> : FloatFormat<5, 10, true> {};
template <> struct FormatOf<bf16> : FloatFormat<8, 7, true> {};
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

__device__ inline float toFloat(f16 x) {
#ifdef __CUDA_ARCH__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
#else
  return decodeNarrow(x);
#endif
}
__device__ inline float toFloat(bf16 x) {
  return asFloat(static_cast<unsigned>(x.bits) << 16);
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

/// The nearest value of a narrow type, ties to even.
template <class T> __device__ inline T toHalf(float x) {
  return encodeNarrow<T>(x);
}
#ifdef __CUDA_ARCH__
template <> __device__ inline f16 toHalf<f16>(float x) {
  f16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}
template <> __device__ inline bf16 toHalf<bf16>(float x) {
  bf16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}
#endif
#if __CUDA_ARCH__ >= 890
/// The instructions make what is too large the largest value.
template <> __device__ inline f8e4m3 toHalf<f8e4m3>(float x) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
      : "=h"(pair)
      : "f"(0.0f), "f"(x));
  f8e4m3 result;
  // Halfway between it and what would be the next.
  result.bits = static_cast<unsigned char>(
      pair | (fabsf(x) > 464.0f ? FormatOf<f8e4m3>::quietNaN : 0));
  return result;
}
template <> __device__ inline f8e5m2 toHalf<f8e5m2>(float x) {
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
}
#endif

/// The float that rounds to every narrower format as the double does: rounded
/// toward zero, with the last bit set if that is not exact. (S. Boldo, G.
/// Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms
/// using rounding to odd", IEEE TC 57(4), 2008.)
__device__ inline float roundToOdd(double x) {
  float nearest = static_cast<float>(x);
  double back = nearest;
  bool away = fabs(back) > fabs(x);
  bool inexact = back < x || back > x;
  return asFloat((asBits(nearest) - away) | inexact);
}

/// The same of a double, rounded once.
template <class T> __device__ inline T toHalf(double x) {
  return toHalf<T>(roundToOdd(x));
}

//===----------------------------------------------------------------------===//
// Minimum and maximum
//===----------------------------------------------------------------------===//

template <class T> struct IsFloat {
  static constexpr bool value = false;
};
template <> struct IsFloat<float> {
  static constexpr bool value = true;
};
template <> struct IsFloat<double> {
  static constexpr bool value = true;
};

/// IEEE 754-2019 minimum and maximum: NaN if either is NaN, -0 < +0. For
/// integers the usual ones.
template <class T> __device__ inline T minimum(T a, T b) {
  if constexpr (IsFloat<T>::value) {
    if (a != a || b != b)
      return a + b;
    if (a == b)
      return signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
template <class T> __device__ inline T maximum(T a, T b) {
  if constexpr (IsFloat<T>::value) {
    if (a != a || b != b)
      return a + b;
    if (a == b)
      return signbit(a) ? b : a;
  }
  return a > b ? a : b;
}
#ifdef __CUDA_ARCH__
template <> __device__ inline float minimum<float>(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
template <> __device__ inline float maximum<float>(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
#endif

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

// For results that are rounded to 16 bits or less, right to some 20 bits; gelu
// where it is below 1e-20 to 16. What is subnormal in f32 loses bits that no
// narrower format has.

/// x / y.
__device__ inline float quotient(float x, float y) {
#ifdef __CUDA_ARCH__
  float result;
  asm("div.full.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  return x / y;
#endif
}
/// 1 / x of a normal number whose reciprocal is one.
__device__ inline float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / x;
#endif
}

/// Of the two forms, the one whose exponential does not overflow.
__device__ inline float sigmoid(float x) {
  float e = expf(x < 0 ? x : -x);
  return __fdividef(x < 0 ? e : 1.0f, 1.0f + e);
}
__device__ inline float silu(float x) { return x * sigmoid(x); }
/// x / 2 times erfc(-x / sqrt(2)), which for a = |x| is t * 2^(p(t) - a^2 *
/// log2(e) / 2) with t = 1 / (1 + a / sqrt(8)): in that form, of W. J. Cody,
/// "Rational Chebyshev Approximations for the Error Function", Math. Comp.
/// 23(107), 1969, what the polynomial p approximates hardly changes. p is a fit
/// at Chebyshev points for a up to 16, where erfc is 0 in f32.
__device__ inline float gelu(float x) {
  float a = fminf(fabsf(x), 16.0f);
  float t = reciprocal(fmaf(a, 0.353553391f, 1.0f));
  float p = -0.274917362f;
  p = fmaf(p, t, 1.10094177f);
  p = fmaf(p, t, -1.47269656f);
  p = fmaf(p, t, 0.53054116f);
  p = fmaf(p, t, -0.0704727401f);
  p = fmaf(p, t, 0.572183595f);
  p = fmaf(p, t, 1.44008199f);
  p = fmaf(p, t, -1.82566297f);
  float tail = t * exp2f(fmaf(a * -0.72134752f, a, p));
  return 0.5f * x * (x < 0 ? tail : 2.0f - tail);
}

//===----------------------------------------------------------------------===//
// Combining and accumulating
//===----------------------------------------------------------------------===//

/// runtime::ReduceKind.
enum class Kind { Sum, Prod, Max, Min, Mean };

/// The type in which elements of T combine across ranks, from and to it:
/// `load` is exact, `store` rounds once or wraps.
template <class T> struct Compute {
  using Type = T;
  __device__ static Type load(T x) { return x; }
  __device__ static T store(Type x) { return x; }
};
template <class T> struct ComputeNarrow {
  using Type = float;
  __device__ static Type load(T x) { return toFloat(x); }
  __device__ static T store(Type x) { return toHalf<T>(x); }
};
template <> struct Compute<f16> : ComputeNarrow<f16> {};
template <> struct Compute<bf16> : ComputeNarrow<bf16> {};
template <> struct Compute<f8e4m3> : ComputeNarrow<f8e4m3> {};
template <> struct Compute<f8e5m2> : ComputeNarrow<f8e5m2> {};

/// The same for sums and products over many elements of one tensor, where f32
/// accumulates in f64: reductions, products of matrices, rows that are added.
template <class T> struct Accumulate : Compute<T> {};
template <> struct Accumulate<float> {
  using Type = double;
  __device__ static Type load(float x) { return x; }
  __device__ static float store(Type x) { return static_cast<float>(x); }
};

/// The unsigned type in which integers of a type add and multiply without
/// overflow: those of less than 32 bits would become int.
template <class T> struct Wrapping {
  using Type = unsigned;
};
template <> struct Wrapping<long long> {
  using Type = unsigned long long;
};
template <> struct Wrapping<unsigned long long> {
  using Type = unsigned long long;
};

/// Sums and products: of floats as usual, of integers modulo 2^bits.
template <class T> __device__ inline T add(T a, T b) {
  if constexpr (IsFloat<T>::value) {
    return a + b;
  } else {
    using Type = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<Type>(a) + static_cast<Type>(b));
  }
}
template <class T> __device__ inline T multiply(T a, T b) {
  if constexpr (IsFloat<T>::value) {
    return a * b;
  } else {
    using Type = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<Type>(a) * static_cast<Type>(b));
  }
}

/// One step of a reduction, on a type of Compute; bool takes max (or) and min
/// (and). Of mean that is the sum.
template <Kind kind, class C> __device__ inline C combine(C a, C b) {
  if constexpr (kind == Kind::Prod)
    return multiply(a, b);
  else if constexpr (kind == Kind::Max)
    return maximum(a, b);
  else if constexpr (kind == Kind::Min)
    return minimum(a, b);
  else
    return add(a, b);
}

/// What is stored of a reduction of `count` elements: of a mean the sum divided
/// by their number, before it is rounded.
template <Kind kind, class C>
__device__ inline C finish(C reduced, long long count) {
  if constexpr (kind == Kind::Mean)
    return reduced / static_cast<C>(count);
  else
    return reduced;
}
