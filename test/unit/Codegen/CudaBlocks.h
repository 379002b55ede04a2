//===- CudaBlocks.h - Blocks of CUDA threads on the CPU ---------*- C++ -*-===//
//
// Runs kernels on the CPU: the blocks one after the other, or each on a thread
// of the caller's. The threads of a block are contexts of their own that take
// turns wherever they wait for each other, as far out of order as the barriers
// allow. Instructions of a warp are done as their documentation says;
// asynchronous copies at once or as late as may be.
// Included before the files of codegen/cuda.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CODEGEN_CUDABLOCKS_H
#define CCN_TEST_UNIT_CODEGEN_CUDABLOCKS_H

#include "test/unit/Codegen/CudaHost.h"

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#define __shared__ static thread_local
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__
#define __launch_bounds__(...)

struct CudaIndex {
  unsigned x = 0;
};
extern thread_local CudaIndex threadIdx, blockIdx, blockDim, gridDim;

/// What the blocks of a cluster share, each of which runs on a thread of its
/// own.
class CudaCluster {
public:
  /// Of so many threads in all.
  CudaCluster(int blocks, int threads)
      : anchors(static_cast<size_t>(blocks)),
        running(anchors.size(), static_cast<unsigned>(threads / blocks)),
        expected(static_cast<unsigned>(threads)) {}

  /// A thread of a block, which has shared memory at that distance from the
  /// anchor, comes to the next barrier, whose number this is.
  unsigned arrive(unsigned block, char *anchor);
  bool isOver(unsigned barrier);
  /// A thread of a block is not waited for any more; how many of its threads
  /// are left.
  unsigned leave(unsigned block);
  /// Null before one of the block's threads has come to a barrier, and when all
  /// have ended.
  char *anchor(unsigned block);

private:
  std::mutex mutex;
  std::vector<char *> anchors;
  /// The threads of each block that have not ended, and all.
  std::vector<unsigned> running;
  unsigned expected, arrived = 0, barriers = 0;
};

/// Runs `blocks` blocks of `threads` threads, a multiple of 32; ends the
/// program if threads wait for ones that do not come. Where `mayEnd`, threads
/// that have ended are not waited for, as GPUs do it.
void runBlocks(int blocks, int threads, const std::function<void()> &kernel,
               bool mayEnd = false);

/// Runs block `block` of as many, maybe of a cluster.
void runBlock(int block, int blocks, int threads,
              const std::function<void()> &kernel, bool mayEnd = false,
              CudaCluster *cluster = nullptr);

void __syncthreads();
void __syncwarp();
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
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __threadfence(); }

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

/// How long a block that this thread runs takes for each access to a flag, in
/// microseconds.
extern thread_local int flagDelay;

// What kernel.cuh and exchange.cuh have as PTX. Who loads lets others go on.
unsigned loadAcquire(const unsigned *from);
inline unsigned loadAcquireOwn(const unsigned *from) {
  return loadAcquire(from);
}
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

// What products.cuh has as PTX; multiplyAdd takes how to decode an element.
void loadMatrices(unsigned (&to)[4], const void *row);
void loadTransposed(unsigned (&to)[4], const void *row);
void multiplyTiles(float (&sums)[4], const unsigned (&a)[4], const unsigned *b,
                   float (*decode)(unsigned short));
void copyAsync(void *to, const void *from, int bytes);
void awaitCopies();

#endif // CCN_TEST_UNIT_CODEGEN_CUDABLOCKS_H
