//===- compute.cuh - The types in which elements add up -------------------===//
//
// As in the runtime's kernels for the CPU (runtime/Combine.h). Elements of
// integer types are the C types of their size; with a sign where the sign
// matters.
//
//===----------------------------------------------------------------------===//

/// The type in which elements of T combine across ranks, from and to it:
/// `load` is exact, `store` rounds once or wraps.
template <class T> struct Compute {
  using Type = T;
  __device__ static Type load(T x) { return x; }
  __device__ static T store(Type x) { return x; }
};

/// The same for sums and products over many elements of one tensor, where f32
/// accumulates in f64: reductions, products of matrices, rows that are added.
template <class T> struct Accumulate : Compute<T> {};
template <> struct Accumulate<float> {
  using Type = double;
  __device__ static Type load(float x) { return x; }
  __device__ static float store(Type x) { return static_cast<float>(x); }
};
