//===- f16.cuh - Floats of 16 bits ----------------------------------------===//

/// Patterns only.
struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};

#ifdef __CUDA_ARCH__
__device__ inline float decodeF16(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
__device__ inline unsigned short encodeF16(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
__device__ inline unsigned short encodeBF16(float x) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#endif

__device__ inline float toFloat(f16 x) { return decodeF16(x.bits); }
__device__ inline float toFloat(bf16 x) {
  return asFloat(static_cast<unsigned>(x.bits) << 16);
}
template <> __device__ inline f16 toHalf<f16>(float x) {
  return {encodeF16(x)};
}
template <> __device__ inline bf16 toHalf<bf16>(float x) {
  return {encodeBF16(x)};
}

template <> struct Compute<f16> : ComputeNarrow<f16> {};
template <> struct Compute<bf16> : ComputeNarrow<bf16> {};
