//===- HostCuda.h - Generated kernels as code of the host -------*- C++ -*-===//
//
// Before the source of a program, in HostKernels.cpp's translation units: what
// CUDA's compiler knows by itself. A block's threads are threads of the host,
// and the module is that of one block, so its shared memory is static.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_HOSTCUDA_H
#define CCN_TEST_UNIT_CUDA_HOSTCUDA_H

#include "test/unit/Codegen/CudaHost.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct HostIndex {
  unsigned x = 0;
};
static thread_local HostIndex threadIdx, blockIdx, blockDim, gridDim;

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

/// Of a thread that ends in the middle of a kernel.
struct Exit {};

/// A std::barrier whose threads are always woken: that of GCC 12 is not.
class HostBarrier {
public:
  explicit HostBarrier(unsigned threads) : threads(threads) {}

  void arrive_and_wait() {
    std::unique_lock lock(mutex);
    if (++arrived == threads)
      return release();
    changed.wait(lock, [&, own = phase] { return phase != own; });
  }
  void arrive_and_drop() {
    std::lock_guard lock(mutex);
    if (arrived == --threads)
      release();
  }

private:
  void release() {
    arrived = 0;
    ++phase;
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
  unsigned threads, arrived = 0, phase = 0;
};

struct HostBlock {
  explicit HostBlock(unsigned threads) : all(threads), shown(threads) {
    for (unsigned warp = 0; warp < threads / 32; ++warp)
      warps.push_back(std::make_unique<HostBarrier>(32));
  }

  HostBarrier all;
  std::vector<std::unique_ptr<HostBarrier>> warps;
  /// What each thread shows to others.
  std::vector<unsigned> shown;
};
static HostBlock *hostBlock;

inline void __syncthreads() { hostBlock->all.arrive_and_wait(); }
inline void __syncwarp() {
  hostBlock->warps[threadIdx.x / 32]->arrive_and_wait();
}
inline int __syncthreads_count(int predicate) {
  hostBlock->shown[threadIdx.x] = predicate != 0;
  __syncthreads();
  int count = 0;
  for (unsigned shown : hostBlock->shown)
    count += static_cast<int>(shown);
  __syncthreads();
  return count;
}
inline int __syncthreads_or(int predicate) {
  return __syncthreads_count(predicate) > 0;
}
inline unsigned __shfl_xor_sync(unsigned, unsigned value, int mask) {
  hostBlock->shown[threadIdx.x] = value;
  __syncwarp();
  unsigned other = hostBlock->shown[threadIdx.x ^ static_cast<unsigned>(mask)];
  __syncwarp();
  return other;
}
inline unsigned __ballot_sync(unsigned, int predicate) {
  hostBlock->shown[threadIdx.x] = predicate != 0;
  __syncwarp();
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; ++i)
    bits |= hostBlock->shown[threadIdx.x / 32 * 32 + i] << i;
  __syncwarp();
  return bits;
}
inline void __threadfence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline void __threadfence_system() { __threadfence(); }
template <class T> T atomicAdd(T *to, T value) {
  return std::atomic_ref(*to).fetch_add(value);
}
inline unsigned atomicCAS(unsigned *at, unsigned expected, unsigned wanted) {
  std::atomic_ref(*at).compare_exchange_strong(expected, wanted);
  return expected;
}

// What the source has as PTX.
inline unsigned loadAcquire(const unsigned *from) {
  std::this_thread::yield();
  return std::atomic_ref(*const_cast<unsigned *>(from)).load();
}
inline unsigned loadAcquireOwn(const unsigned *from) {
  return loadAcquire(from);
}
inline void storeRelease(unsigned *to, unsigned value) {
  std::atomic_ref(*to).store(value);
}
inline unsigned long long nanoseconds() {
  return static_cast<unsigned long long>(
      std::chrono::steady_clock::now().time_since_epoch().count());
}
// Two halves, each with flags of its own: packets may come in pieces of 8
// bytes.
inline void storePacket(uint4 *to, uint4 value) {
  unsigned long long words[2];
  std::memcpy(words, &value, 16);
  for (int i = 0; i < 2; ++i)
    std::atomic_ref(reinterpret_cast<unsigned long long *>(to)[i])
        .store(words[i]);
}
inline uint4 loadPacket(const uint4 *from) {
  std::this_thread::yield();
  auto *at = reinterpret_cast<unsigned long long *>(const_cast<uint4 *>(from));
  unsigned long long words[2] = {std::atomic_ref(at[0]).load(),
                                 std::atomic_ref(at[1]).load()};
  uint4 value;
  std::memcpy(&value, words, 16);
  return value;
}
inline void endThread() { throw Exit(); }
// Blocks are alone.
inline void arriveInCluster() { std::abort(); }
inline void awaitCluster() { std::abort(); }
inline void *sharedOfBlock(void *, unsigned) { std::abort(); }
// Those of tensor cores: there are none.
inline void loadMatrices(unsigned (&)[4], const void *) { std::abort(); }
inline void loadTransposed(unsigned (&)[4], const void *) { std::abort(); }
template <class T>
void multiplyAdd(float (&)[4], const unsigned (&)[4], const unsigned *, T) {
  std::abort();
}
inline void copyAsync(void *to, const void *from, int bytes) {
  std::memset(to, 0, 16);
  std::memcpy(to, from, static_cast<size_t>(bytes));
}
inline void awaitCopies() {}

/// Runs a block.
template <class Kernel>
void runBlock(unsigned block, unsigned blocks, unsigned threads,
              Kernel kernel) {
  HostBlock own(threads);
  hostBlock = &own;
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      threadIdx.x = thread;
      blockIdx.x = block;
      blockDim.x = threads;
      gridDim.x = blocks;
      try {
        kernel();
      } catch (Exit) {
        own.all.arrive_and_drop();
        own.warps[thread / 32]->arrive_and_drop();
      }
    });
  for (std::thread &thread : running)
    thread.join();
}

#endif // CCN_TEST_UNIT_CUDA_HOSTCUDA_H
