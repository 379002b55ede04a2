//===- divisions.cuh - Approximate division -------------------------------===//
//
// For results that are rounded to 16 bits or less, right to some 20 bits. What
// is subnormal in f32 loses bits that no narrower format has.
//
//===----------------------------------------------------------------------===//

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
