//===- kernel.cuh - What all kernels have ---------------------------------===//
//
// Threads' numbers, and access to memory.
//
//===----------------------------------------------------------------------===//

using i64 = long long;
using u64 = unsigned long long;
using u32 = unsigned;
using Byte = unsigned char;

template <int count> struct Pointers {
  Byte *at[count];
};
template <int count> struct Numbers {
  i64 at[count];
};
template <int count> struct TensorMaps {
  CcnTensorMap at[count];
};

/// This thread among all of the grid.
__device__ inline i64 threadInGrid() {
  return i64(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline i64 threadsInGrid() { return i64(gridDim.x) * blockDim.x; }

template <int i> struct Index {
  static constexpr int value = i;
};
/// Calls f(Index<i>()) for i from `begin` to `end`. Arrays that loops index are
/// not kept in registers where the compiler unrolls the loops too late, as it
/// does around loops that wait.
template <int begin, int end, class F>
__device__ __forceinline__ void unrolled(const F &f) {
  if constexpr (begin < end) {
    f(Index<begin>());
    unrolled<begin + 1, end>(f);
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Lets the line of memory at an address come to the L2 cache.
__device__ inline void prefetch(const Byte *at) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#endif
}

/// `count` elements that are loaded and stored at once.
template <class T, int count>
struct alignas(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Vector {
  T at[count];
};

template <class T, int count>
__device__ inline Vector<T, count> load(const T *from) {
  using V = Vector<T, count>;
  V result;
  if constexpr (sizeof(V) % 16 == 0) {
    const uint4 *words = reinterpret_cast<const uint4 *>(from);
    uint4 *to = reinterpret_cast<uint4 *>(&result);
#pragma unroll
    for (int i = 0; i < int(sizeof(V) / 16); ++i)
      to[i] = words[i];
  } else if constexpr (sizeof(V) == 8) {
    *reinterpret_cast<uint2 *>(&result) =
        *reinterpret_cast<const uint2 *>(from);
  } else {
    result = *reinterpret_cast<const V *>(from);
  }
  return result;
}
template <class T, int count>
__device__ inline void store(T *to, const Vector<T, count> &value) {
  using V = Vector<T, count>;
  if constexpr (sizeof(V) % 16 == 0) {
    const uint4 *words = reinterpret_cast<const uint4 *>(&value);
#pragma unroll
    for (int i = 0; i < int(sizeof(V) / 16); ++i)
      reinterpret_cast<uint4 *>(to)[i] = words[i];
  } else if constexpr (sizeof(V) == 8) {
    *reinterpret_cast<uint2 *>(to) = *reinterpret_cast<const uint2 *>(&value);
  } else {
    *reinterpret_cast<V *>(to) = value;
  }
}

/// Likewise where vectors may not be aligned.
template <class T, int count, bool areAligned>
__device__ inline Vector<T, count> load(const T *from) {
  if constexpr (areAligned) {
    return load<T, count>(from);
  } else {
    Vector<T, count> result;
#pragma unroll
    for (int i = 0; i < count; ++i)
      result.at[i] = from[i];
    return result;
  }
}
template <class T, int count, bool areAligned>
__device__ inline void store(T *to, const Vector<T, count> &value) {
  if constexpr (areAligned) {
    store<T, count>(to, value);
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i)
      to[i] = value.at[i];
  }
}

/// Whether vectors of `bytes` bytes can be at an address.
__device__ inline bool isAligned(const void *address, int bytes) {
  return (reinterpret_cast<u64>(address) &
          u64((bytes < 16 ? bytes : 16) - 1)) == 0;
}
