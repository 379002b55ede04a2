//===- activations.cuh - Activations --------------------------------------===//

// For results that are rounded to 16 bits or less, right to some 20 bits; gelu
// where it is below 1e-20 to 16. What is subnormal in f32 loses bits that no
// narrower format has.

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
