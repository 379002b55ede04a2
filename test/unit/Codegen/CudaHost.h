//===- CudaHost.h - CUDA C++ compiled for the CPU ---------------*- C++ -*-===//
//
// What CUDA's compiler knows by itself, as far as codegen/cuda uses it, so that
// tests run that code without a GPU. Included before it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CODEGEN_CUDAHOST_H
#define CCN_TEST_UNIT_CODEGEN_CUDAHOST_H

#include <math.h>

#define __device__
#define __global__
#define __forceinline__ inline

inline unsigned __float_as_uint(float x) {
  return __builtin_bit_cast(unsigned, x);
}
inline float __uint_as_float(unsigned x) {
  return __builtin_bit_cast(float, x);
}
inline long long __double_as_longlong(double x) {
  return __builtin_bit_cast(long long, x);
}
inline double __longlong_as_double(long long x) {
  return __builtin_bit_cast(double, x);
}

inline float __fdividef(float x, float y) { return x / y; }

inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) {
  return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
inline unsigned long long __brevll(unsigned long long x) {
  return __builtin_bitreverse64(x);
}
inline unsigned long long __umul64hi(unsigned long long x,
                                     unsigned long long y) {
  return static_cast<unsigned long long>(
      static_cast<unsigned __int128>(x) * y >> 64);
}
inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}

#endif // CCN_TEST_UNIT_CODEGEN_CUDAHOST_H
