//===- hopper.cuh - Instructions of sm_90a --------------------------------===//
//
// What GPUs of sm_90a have for products: barriers on which copies count their
// bytes, copies of tiles between global and shared memory by descriptors of
// tensors ("maps", which the host makes), and products of tiles in shared
// memory by groups of four warps (warpgroups). Each function is one
// instruction, or a few that belong together.
//
// Threads' ordinary accesses and copies of tiles see shared memory through
// different proxies: between a thread's stores to shared memory and a copy of a
// tile from there is a fence (fenceForCopies).
//
// Tiles lie in shared memory as lines of 128 bytes, in which the 16 bytes
// number i of line r are at place i ^ (r % 8): the swizzle of 128 bytes, which
// copies, products and chunkOfTile have in common. A tile's first line is at a
// multiple of 1024 bytes. An operand of a product is one of these:
//
// - Along k: lines are rows of A or columns of B, and have 128 bytes of k. Each
//   8 lines follow the 8 before: `strideBytes` is 1024. 32 bytes further are
//   the next 32 bytes of k.
// - Transposed, if elements have 16 bits: lines are positions k, and have 64
//   rows of A or columns of B. The next 8 positions k are `strideBytes`
//   further, the next 64 rows or columns `leadingBytes`. 2048 bytes further are
//   the next 16 positions k, if strideBytes is 1024.
//
// No thread of a kernel whose warps change the number of their registers may
// have an instruction `trap`: CUDA's compiler then ignores these changes
// without a word, and spills.
//
// Follows f16.cuh and f8.cuh.
//
//===----------------------------------------------------------------------===//

/// The place of 16 bytes in a tile, in bytes: number `chunk` of line `line`.
__device__ inline int chunkOfTile(int line, int chunk) {
  return line * 128 + ((chunk ^ (line & 7)) << 4);
}

#ifdef __CUDA_ARCH__

__device__ inline u32 sharedAddress(const void *shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

// A barrier is 8 bytes of shared memory. It has phases, numbered from 0. A
// phase is over when all its arrivals have come, and the bytes that were
// announced to it; then the next one begins.

/// Called by one thread, before any other use of a barrier, each phase of which
/// is to have so many arrivals.
__device__ inline void beginBarrier(u64 *barrier, u32 arrivals) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)),
      "r"(arrivals)
      : "memory");
}
/// Called by the thread that has begun barriers, before a __syncthreads() after
/// which they are used: copies see them, too.
__device__ inline void publishBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
}
/// A thread arrives. What it did before is seen by whoever finds the phase
/// over.
__device__ inline void arrive(u64 *barrier) {
  asm volatile(
      "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sharedAddress(barrier))
      : "memory");
}
/// A thread arrives, and announces bytes that copies will bring.
__device__ inline void arriveExpecting(u64 *barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   sharedAddress(barrier)),
               "r"(bytes)
               : "memory");
}
/// Whether the last phase of that parity (of its number) is over; called by a
/// thread. It is not if the current phase has that parity. The thread may sleep
/// for a while before the answer is no.
__device__ inline bool isPhaseOver(u64 *barrier, u32 parity) {
  u32 isOver;
  asm volatile("{\n.reg .pred p;\n"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
               "selp.u32 %0, 1, 0, p;\n}"
               : "=r"(isOver)
               : "r"(sharedAddress(barrier)), "r"(parity)
               : "memory");
  return isOver != 0;
}

/// Barriers of some warps of a block: number 1 to 15 (0 is that of
/// __syncthreads()), of `threads` threads in all, a multiple of 32. Called by
/// all threads of a warp, which wait until as many threads as that have come.
__device__ inline void syncThreads(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
/// Likewise, for warps that do not wait.
__device__ inline void arriveThreads(int number, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

//===----------------------------------------------------------------------===//
// Copies of tiles
//===----------------------------------------------------------------------===//

/// Before copies of what this thread has written to shared memory, or of what
/// other threads have written for which it then waits.
__device__ inline void fenceForCopies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// The same of global memory too: before copies of what this thread has seen by
/// ordinary loads.
__device__ inline void fenceAllForCopies() {
  asm volatile("fence.proxy.async;" ::: "memory");
}

/// Lets a map come to the cache. Called by one thread.
__device__ inline void prefetchMap(const void *map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Begins a copy of a map's box from global to shared memory; called by one
/// thread. The box begins at the element with these indices, the innermost
/// dimension first, 2 to 5 of them; elements outside of the tensor become 0.
/// All bytes of the box, also those, are counted by the barrier, to which they
/// must have been announced. `to` is at a multiple of 1024 bytes.
template <int dims>
__device__ inline void loadTile(void *to, const void *map,
                                const int (&at)[dims], u64 *barrier) {
  static_assert(dims >= 2 && dims <= 5);
  u32 shared = sharedAddress(to), counts = sharedAddress(barrier);
  if constexpr (dims == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
                 "complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(shared),
                 "l"(map), "r"(counts), "r"(at[0]), "r"(at[1])
                 : "memory");
  else if constexpr (dims == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::"
        "complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared),
        "l"(map), "r"(counts), "r"(at[0]), "r"(at[1]), "r"(at[2])
        : "memory");
  else if constexpr (dims == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::"
        "complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared),
        "l"(map), "r"(counts), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::"
        "complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(
            shared),
        "l"(map), "r"(counts), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
        "r"(at[4])
        : "memory");
}

/// Begins a copy of a map's box from shared to global memory; called by one
/// thread. What of the box is outside of the tensor is left out.
template <int dims>
__device__ inline void storeTile(const void *map, const int (&at)[dims],
                                 const void *from) {
  static_assert(dims >= 2 && dims <= 5);
  u32 shared = sharedAddress(from);
  if constexpr (dims == 2)
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
                 "[%0, {%2, %3}], [%1];" ::"l"(map),
                 "r"(shared), "r"(at[0]), "r"(at[1])
                 : "memory");
  else if constexpr (dims == 3)
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group "
                 "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
                 "r"(shared), "r"(at[0]), "r"(at[1]), "r"(at[2])
                 : "memory");
  else if constexpr (dims == 4)
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group "
                 "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
                 "r"(shared), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
                 : "memory");
  else
    asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.bulk_group "
                 "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
                 "r"(shared), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
                 "r"(at[4])
                 : "memory");
}
/// Makes a group of the copies to global memory that this thread has begun.
__device__ inline void commitStores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until all but this thread's last `left` groups have read what they
/// copy.
template <int left> __device__ inline void awaitStoresRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}
/// Waits until they have written it.
template <int left> __device__ inline void awaitStores() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(left) : "memory");
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// The registers of each thread of a warpgroup from here on, a multiple of 8
/// from 24 to 240: fewer or more than it has. Called by all its threads; more
/// are waited for until other warpgroups of the block have given them.
template <int count> __device__ inline void takeFewerRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count> __device__ inline void takeMoreRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

//===----------------------------------------------------------------------===//
// Matrices in registers
//===----------------------------------------------------------------------===//

/// Stores four matrices of 8 x 8 elements of 16 bits to shared memory; called
/// by all threads of a warp. Lane i gives the address of the 16 bytes of row i
/// % 8 of matrix i / 8, and of each matrix the elements 2 * (lane % 4), in the
/// lower bits, and the next of row lane / 4.
__device__ inline void storeMatrices(void *row, const u32 (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, "
               "%4};" ::"r"(sharedAddress(row)),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

/// Two floats rounded to elements of 16 bits, the first in the lower bits.
__device__ inline u32 packHalves(float first, float second, f16) {
  u32 pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}
__device__ inline u32 packHalves(float first, float second, bf16) {
  u32 pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

/// 2 to that power, right to some 22 bits; what is subnormal becomes 0.
__device__ inline float powerOf2(float exponent) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  return power;
}

//===----------------------------------------------------------------------===//
// Products of tiles
//===----------------------------------------------------------------------===//

/// Describes an operand in shared memory from `at` on, at a multiple of 16
/// bytes, for multiplyShared. `leadingBytes` counts where it is transposed.
__device__ inline u64 describeTile(const void *at, u32 leadingBytes,
                                   u32 strideBytes) {
  constexpr u64 swizzledBy128Bytes = u64(1) << 62;
  return u64((sharedAddress(at) & 0x3ffff) >> 4) |
         u64(leadingBytes >> 4) << 16 | u64(strideBytes >> 4) << 32 |
         swizzledBy128Bytes;
}

/// Before multiplyShared: what the threads of a warpgroup have done with the
/// registers of sums is done. Called by all of them.
__device__ inline void beginProducts() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Makes a group of the products that the warpgroup has begun.
__device__ inline void commitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until all but the last `left` groups are done.
template <int left> __device__ inline void awaitProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

/// After awaitProducts: compilers do not move what uses these sums before.
template <int count> __device__ inline void claimSums(float (&sums)[count]) {
#pragma unroll
  for (float &sum : sums)
    asm volatile("" : "+f"(sum)::"memory");
}

// The names of a product's registers, and the registers.
#define CCN_REGISTERS_32                                                       \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "               \
  "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "               \
  "%26, %27, %28, %29, %30, %31"
#define CCN_REGISTERS_64                                                       \
  CCN_REGISTERS_32                                                             \
  ", "                                                                         \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "               \
  "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "               \
  "%56, %57, %58, %59, %60, %61, %62, %63"
#define CCN_REGISTERS_128                                                      \
  CCN_REGISTERS_64                                                             \
  ", "                                                                         \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, "               \
  "%76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, "               \
  "%88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "               \
  "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "               \
  "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, "               \
  "%120, %121, %122, %123, %124, %125, %126, %127"
#define CCN_SUMS_8(i)                                                          \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]),      \
      "+f"(sums[i + 4]), "+f"(sums[i + 5]), "+f"(sums[i + 6]),                 \
      "+f"(sums[i + 7])
#define CCN_SUMS_32(i)                                                         \
  CCN_SUMS_8(i), CCN_SUMS_8(i + 8), CCN_SUMS_8(i + 16), CCN_SUMS_8(i + 24)
#define CCN_SUMS_64(i) CCN_SUMS_32(i), CCN_SUMS_32(i + 32)
#define CCN_SUMS_128(i) CCN_SUMS_64(i), CCN_SUMS_64(i + 64)

/// `operands` names the registers after the sums: a, b; `adds` that of adds.
#define CCN_MULTIPLY(shape, types, registers, operands, adds_, flags, ...)     \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " adds_ ", 0;\n"              \
               "wgmma.mma_async.sync.aligned." shape ".f32." types             \
               " {" registers "}, " operands ", p, 1, 1" flags ";\n}"          \
               : __VA_ARGS__                                                   \
               : "l"(a), "l"(b), "r"(adds), "n"(isATransposed),                \
                 "n"(isBTransposed))
/// Of one type of elements, by the number of columns.
#define CCN_MULTIPLY_EACH(k, types, flags32, flags64, flags128)                \
  if constexpr (n == 64)                                                       \
    CCN_MULTIPLY("m64n64" k, types, CCN_REGISTERS_32, "%32, %33", "%34",       \
                 flags32, CCN_SUMS_32(0));                                     \
  else if constexpr (n == 128)                                                 \
    CCN_MULTIPLY("m64n128" k, types, CCN_REGISTERS_64, "%64, %65", "%66",      \
                 flags64, CCN_SUMS_64(0));                                     \
  else                                                                         \
    CCN_MULTIPLY("m64n256" k, types, CCN_REGISTERS_128, "%128, %129", "%130",  \
                 flags128, CCN_SUMS_128(0))

/// Begins the product of 64 rows of A and n columns of B (64, 128 or 256),
/// which descriptors describe, over 32 bytes of k; called by all threads of a
/// warpgroup. It is added to the sums, or replaces them if `adds` is 0. Until
/// awaitProducts the sums' registers must not be touched, nor the operands.
/// Thread t has of row 16 * (t / 32) + t % 32 / 4 + 8 * h, column 8 * j + 2 *
/// (t % 4) + e, the sum number 4 * j + 2 * h + e, for h and e in 0, 1. The last
/// parameter says the elements' type.
template <int n, int isATransposed, int isBTransposed>
__device__ inline void multiplyShared(float (&sums)[n / 2], u64 a, u64 b,
                                      int adds, f16) {
  CCN_MULTIPLY_EACH("k16", "f16.f16", ", %35, %36", ", %67, %68",
                    ", %131, %132");
}
template <int n, int isATransposed, int isBTransposed>
__device__ inline void multiplyShared(float (&sums)[n / 2], u64 a, u64 b,
                                      int adds, bf16) {
  CCN_MULTIPLY_EACH("k16", "bf16.bf16", ", %35, %36", ", %67, %68",
                    ", %131, %132");
}
template <int n, int isATransposed, int isBTransposed>
__device__ inline void multiplyShared(float (&sums)[n / 2], u64 a, u64 b,
                                      int adds, f8e4m3) {
  static_assert(!isATransposed && !isBTransposed);
  CCN_MULTIPLY_EACH("k32", "e4m3.e4m3", "", "", "");
}
template <int n, int isATransposed, int isBTransposed>
__device__ inline void multiplyShared(float (&sums)[n / 2], u64 a, u64 b,
                                      int adds, f8e5m2) {
  static_assert(!isATransposed && !isBTransposed);
  CCN_MULTIPLY_EACH("k32", "e5m2.e5m2", "", "", "");
}

/// The same of A in registers: a0 to a3.
#define CCN_MULTIPLY_PACKED(shape, types, registers, operands, adds_, flag,    \
                            ...)                                               \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " adds_ ", 0;\n"              \
               "wgmma.mma_async.sync.aligned." shape "k16.f32." types          \
               " {" registers "}, " operands ", p, 1, 1, " flag ";\n}"         \
               : __VA_ARGS__                                                   \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),           \
                 "r"(adds), "n"(isBTransposed))
#define CCN_MULTIPLY_PACKED_EACH(types)                                        \
  if constexpr (n == 64)                                                       \
    CCN_MULTIPLY_PACKED("m64n64", types, CCN_REGISTERS_32,                     \
                        "{%32, %33, %34, %35}, %36", "%37", "%38",             \
                        CCN_SUMS_32(0));                                       \
  else if constexpr (n == 128)                                                 \
    CCN_MULTIPLY_PACKED("m64n128", types, CCN_REGISTERS_64,                    \
                        "{%64, %65, %66, %67}, %68", "%69", "%70",             \
                        CCN_SUMS_64(0));                                       \
  else                                                                         \
    CCN_MULTIPLY_PACKED("m64n256", types, CCN_REGISTERS_128,                   \
                        "{%128, %129, %130, %131}, %132", "%133", "%134",      \
                        CCN_SUMS_128(0))

/// Likewise of 16 positions k of A that the threads have in registers, which
/// must not be touched either: the sums of a product with the columns 16 * i to
/// 16 * i + 15 of which A consists, rounded by packHalves in pairs from number
/// 8 * i on.
template <int n, int isBTransposed>
__device__ inline void multiplyPacked(float (&sums)[n / 2], const u32 (&a)[4],
                                      u64 b, int adds, f16) {
  CCN_MULTIPLY_PACKED_EACH("f16.f16");
}
template <int n, int isBTransposed>
__device__ inline void multiplyPacked(float (&sums)[n / 2], const u32 (&a)[4],
                                      u64 b, int adds, bf16) {
  CCN_MULTIPLY_PACKED_EACH("bf16.bf16");
}

#undef CCN_MULTIPLY_PACKED_EACH
#undef CCN_MULTIPLY_PACKED
#undef CCN_MULTIPLY_EACH
#undef CCN_MULTIPLY
#undef CCN_SUMS_128
#undef CCN_SUMS_64
#undef CCN_SUMS_32
#undef CCN_SUMS_8
#undef CCN_REGISTERS_128
#undef CCN_REGISTERS_64
#undef CCN_REGISTERS_32

#endif // __CUDA_ARCH__
