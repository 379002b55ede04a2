//===- narrow.cuh - Floats that only convert ------------------------------===//
//
// Those of 16 and 8 bits, with the results that the runtime's kernels for the
// CPU give (runtime/NarrowFloat.h). NaN stays NaN, but its pattern may differ.
//
//===----------------------------------------------------------------------===//

/// The nearest value of a narrow type, ties to even.
template <class T> __device__ inline T toHalf(float x);

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

/// Compute (compute.cuh) of a narrow type.
template <class T> struct ComputeNarrow {
  using Type = float;
  __device__ static Type load(T x) { return toFloat(x); }
  __device__ static T store(Type x) { return toHalf<T>(x); }
};
