//===- Intrinsics.h - CUDA C++ compiled for the CPU -------------*- C++ -*-===//
//
// What CUDA's compiler knows by itself, as far as codegen/gpu/device and what
// is generated use it, and what they have as PTX. Included before either, so
// that tests run them without a GPU; what concerns other threads is in
// Blocks.cpp. It stays short: each program that is emulated is compiled after
// it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_EMULATOR_INTRINSICS_H
#define CCN_TEST_COMMON_EMULATOR_INTRINSICS_H

#include <math.h>
#include <string.h>

#define __device__
#define __global__
#define __forceinline__ inline
/// Of a block, all threads of which are on one of the CPU.
#define __shared__ thread_local
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__
#define __launch_bounds__(...)

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

struct CudaIndex {
  unsigned x = 0;
};
extern thread_local CudaIndex threadIdx, blockIdx, blockDim, gridDim;

struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

void __syncthreads();
void __syncwarp(unsigned mask = ~0u);
unsigned __shfl_xor_sync(unsigned mask, unsigned value, int lanes);
int __syncthreads_or(int predicate);
int __syncthreads_count(int predicate);
unsigned __ballot_sync(unsigned mask, int predicate);
template <typename T> T atomicAdd(T *to, T value) {
  return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
inline unsigned atomicCAS(unsigned *to, unsigned expected, unsigned value) {
  __atomic_compare_exchange_n(to, &expected, value, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  return expected;
}
void __threadfence();
void __threadfence_system();

// What f16.cuh has as PTX, as runtime/NarrowFloat.h does it.
inline float decodeF16(unsigned short bits) {
  unsigned magnitude = bits & 0x7fffu;
  // Exact, of subnormals too.
  unsigned value = __float_as_uint(__uint_as_float(magnitude << 13) * 0x1p112f);
  if (magnitude >= 0x7c00u)
    value = magnitude == 0x7c00u ? 0x7f800000u : 0x7fc00000u;
  return __uint_as_float(value | (bits & 0x8000u) << 16);
}
/// Nearest, ties to even, in a format of so many bits of mantissa whose
/// exponents are less by `rebias`.
inline unsigned short encodeHalf(float x, unsigned mantissa, unsigned rebias) {
  unsigned bits = __float_as_uint(x), magnitude = bits & 0x7fffffffu,
           dropped = 23 - mantissa,
           infinity = ((1u << (15 - mantissa)) - 1) << mantissa;
  unsigned odd = magnitude >> dropped & 1;
  unsigned result =
      ((magnitude + ((1u << (dropped - 1)) - 1) + odd) >> dropped) -
      (rebias << mantissa);
  // Subnormal results: the sum has their last place.
  if (rebias > 0 && magnitude < (rebias + 1) << 23) {
    unsigned magic = (rebias + dropped + 1) << 23;
    result =
        __float_as_uint(__uint_as_float(magnitude) + __uint_as_float(magic)) -
        magic;
  }
  result = result > infinity ? infinity : result;
  if (magnitude > 0x7f800000u)
    result = infinity | 1u << (mantissa - 1);
  return static_cast<unsigned short>((bits >> 16 & 0x8000u) | result);
}
inline unsigned short encodeF16(float x) { return encodeHalf(x, 10, 112); }
inline unsigned short encodeBF16(float x) { return encodeHalf(x, 7, 0); }

// What files of flags, faults and exchanges have as PTX. Who loads lets others
// go on.
unsigned loadAcquire(const unsigned *from);
unsigned loadAcquireOwn(const unsigned *from);
void storeRelease(unsigned *to, unsigned value);
unsigned long long nanoseconds();
void endThread();
uint4 loadPacket(const uint4 *from);
void storePacket(uint4 *to, uint4 value);

/// All that a module has shared memory of lies as far from it in each block.
[[maybe_unused]] static thread_local char clusterAnchor;
void arriveInCluster(char *anchor);
[[maybe_unused]] static inline void arriveInCluster() {
  arriveInCluster(&clusterAnchor);
}
void awaitCluster();
void *sharedOfBlock(void *own, unsigned block, char *anchor);
[[maybe_unused]] static inline void *sharedOfBlock(void *own, unsigned block) {
  return sharedOfBlock(own, block, &clusterAnchor);
}

// What tiles.cuh has as PTX.
void loadMatrices(unsigned (&to)[4], const void *row);
void loadTransposed(unsigned (&to)[4], const void *row);
void multiplyTiles(float (&sums)[4], const unsigned (&a)[4], const unsigned *b,
                   float (*decode)(unsigned short));
/// `T` is f16 or bf16 of f16.cuh, wherever that is included.
template <typename T>
void multiplyAdd(float (&sums)[4], const unsigned (&a)[4], const unsigned *b,
                 T) {
  multiplyTiles(sums, a, b,
                [](unsigned short bits) { return toFloat(T{bits}); });
}
void copyAsync(void *to, const void *from, int bytes);
void awaitCopies();

// What hopper.cuh has as PTX (Hopper.h).
void useSharedMemory(void *memory, unsigned long bytes);
void beginBarrier(unsigned long long *barrier, unsigned arrivals);
void publishBarriers();
void arrive(unsigned long long *barrier);
void arriveExpecting(unsigned long long *barrier, unsigned bytes);
bool isPhaseOver(unsigned long long *barrier, unsigned parity);
void syncThreads(int number, int threads);
void arriveThreads(int number, int threads);

void fenceForCopies();
void fenceAllForCopies();
void prefetchMap(const void *map);
void loadBox(void *to, const void *map, const int *at, int dims,
             unsigned long long *barrier);
template <int dims>
void loadTile(void *to, const void *map, const int (&at)[dims],
              unsigned long long *barrier) {
  loadBox(to, map, at, dims, barrier);
}
void storeBox(const void *map, const int *at, int dims, const void *from);
template <int dims>
void storeTile(const void *map, const int (&at)[dims], const void *from) {
  storeBox(map, at, dims, from);
}
void commitStores();
void awaitStores(int left, bool areWritten);
template <int left> void awaitStoresRead() { awaitStores(left, false); }
template <int left> void awaitStores() { awaitStores(left, true); }

template <int count> void takeFewerRegisters() {
  static_assert(count >= 24 && count <= 240 && count % 8 == 0);
}
template <int count> void takeMoreRegisters() { takeFewerRegisters<count>(); }

void storeMatrices(void *row, const unsigned (&from)[4]);
template <class T> T toHalf(float x);
template <class T> unsigned packHalves(float first, float second, T) {
  return toHalf<T>(first).bits | unsigned(toHalf<T>(second).bits) << 16;
}

inline float powerOf2(float exponent) { return exp2f(exponent); }

unsigned long long describeTile(const void *at, unsigned leadingBytes,
                                unsigned strideBytes);
void beginProducts();
void commitProducts();
void awaitProducts(int left);
template <int left> void awaitProducts() { awaitProducts(left); }
template <int count> void claimSums(float (&)[count]) {}
void multiplyShared(float *sums, int columns, bool isATransposed,
                    bool isBTransposed, unsigned long long a,
                    unsigned long long b, int adds, int bytes,
                    float (*decode)(unsigned));
template <int n, int isATransposed, int isBTransposed, class T>
void multiplyShared(float (&sums)[n / 2], unsigned long long a,
                    unsigned long long b, int adds, T) {
  multiplyShared(
      sums, n, isATransposed, isBTransposed, a, b, adds, sizeof(T),
      [](unsigned bits) { return toFloat(T{decltype(T::bits)(bits)}); });
}
void multiplyPacked(float *sums, int columns, bool isBTransposed,
                    const unsigned *a, unsigned long long b, int adds,
                    float (*decode)(unsigned));
template <int n, int isBTransposed, class T>
void multiplyPacked(float (&sums)[n / 2], const unsigned (&a)[4],
                    unsigned long long b, int adds, T) {
  multiplyPacked(sums, n, isBTransposed, a, b, adds, [](unsigned bits) {
    return toFloat(T{decltype(T::bits)(bits)});
  });
}

#endif // CCN_TEST_COMMON_EMULATOR_INTRINSICS_H
