//===- patterns.cuh - The bits of numbers ---------------------------------===//

__device__ inline unsigned asBits(float x) { return __float_as_uint(x); }
__device__ inline unsigned long long asBits(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(x));
}
__device__ inline float asFloat(unsigned bits) { return __uint_as_float(bits); }
__device__ inline double asDouble(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}
