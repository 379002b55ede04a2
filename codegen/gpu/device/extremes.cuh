//===- extremes.cuh - Minimum and maximum ---------------------------------===//

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
