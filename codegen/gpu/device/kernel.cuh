//===- kernel.cuh - What all kernels have ---------------------------------===//
//
// Threads' numbers, access to memory, and what is reported if a kernel fails.
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

#ifdef __CUDA_ARCH__
__device__ inline u32 loadAcquire(const u32 *from) {
  u32 value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(from)
               : "memory");
  return value;
}
__device__ inline u32 loadAcquireOwn(const u32 *from) {
  u32 value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(from)
               : "memory");
  return value;
}
__device__ inline void storeRelease(u32 *to, u32 value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(to), "r"(value)
               : "memory");
}
__device__ inline u64 nanoseconds() {
  u64 value;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(value));
  return value;
}
/// A thread that goes no further.
__device__ inline void endThread() { asm volatile("exit;"); }
/// Says that this thread has come to the cluster's next barrier; what it has
/// written before is there for those that have waited for it.
__device__ inline void arriveInCluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
#endif
}
__device__ inline void awaitCluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
}
/// Where what is at an address in the own shared memory is in that of a block
/// of the cluster.
__device__ inline void *sharedOfBlock(void *own, u32 block) {
#if __CUDA_ARCH__ >= 900
  void *address;
  asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(own), "r"(block));
  return address;
#else
  return own;
#endif
}
#endif

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

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

__device__ inline void report(const CcnContext &c, u32 kind, int peer, int code,
                              u32 flag, u32 expected, u32 seen) {
  if (atomicCAS(&c.control->faulted, 0u, kind) != 0)
    return;
  volatile CcnFault *fault = c.fault;
  fault->launch = c.launch;
  fault->peer = peer;
  fault->code = code;
  fault->flag = flag;
  fault->expected = expected;
  fault->seen = seen;
  __threadfence_system();
  fault->kind = kind;
  __threadfence_system();
}

/// Reports that something cannot be computed; the kernel goes on.
__device__ inline void fail(const CcnContext &c, int code) {
  report(c, CCN_FAILED, c.rank, code, 0, 0, 0);
}

/// Counts the turns of a loop that waits. Looking at the clock and at the
/// host's memory takes as long as many turns.
class Patience {
public:
  __device__ explicit Patience(const CcnContext &c) : c(c) {}
  /// Ends the thread when the time is up, for it or for another one, or the
  /// host asks for it.
  __device__ void wait(int peer, u32 flag, u32 expected, u32 seen) {
    if (!goesOn(peer, flag, expected, seen))
      endThread();
  }
  /// False when it would end.
  __device__ bool goesOn(int peer, u32 flag, u32 expected, u32 seen) {
    if (++turns & 1023)
      return true;
    u64 now = nanoseconds();
    if (begin == 0)
      begin = now;
    // A thread that misses one packet may miss all that come after it.
    bool late = now - begin > c.timeLimit ||
                loadAcquireOwn(&c.control->faulted) == CCN_TIMED_OUT;
    if (!late && *c.stop == 0)
      return true;
    report(c, late ? CCN_TIMED_OUT : CCN_STOPPED, peer, 0, flag, expected,
           seen);
    return false;
  }

private:
  const CcnContext &c;
  u32 turns = 0;
  u64 begin = 0;
};
