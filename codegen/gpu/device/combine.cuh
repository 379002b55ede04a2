//===- combine.cuh - How elements combine ---------------------------------===//
//
// Across ranks and in reductions, as in the runtime's kernels for the CPU
// (runtime/Blocks.h, Combine.h).
//
//===----------------------------------------------------------------------===//

/// runtime::ReduceKind.
enum class Kind { Sum, Prod, Max, Min, Mean };

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
