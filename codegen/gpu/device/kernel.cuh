//===- kernel.cuh - How blocks and ranks wait for each other --------------===//
//
// The protocols of runtime/Protocols.h for the blocks of a kernel: flags are
// 32-bit epochs, monotone and never reset; whoever waits counts, and past the
// time limit says whom it misses and ends.
//
// A kernel that waits has as many blocks on all ranks, all on the device at
// once. Each block has flags of its own.
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

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// The number of this run, the same in all blocks of all ranks.
__device__ inline u64 beginRun(const CcnContext &c) {
  return c.control->epochs[blockIdx.x] + 1;
}
/// Counts this run. Most kernels need no more of its number than 32 bits, so
/// the others are not kept until here: registers that this takes were spilled.
/// Nobody waits for the sum.
__device__ inline void endRun(const CcnContext &c) {
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(&c.control->epochs[blockIdx.x], u64(1));
}

/// Flag `flag` of block `block` in the memory of `rank`.
__device__ inline u32 *flagOf(const CcnContext &c, int rank, u32 flag,
                              u32 block) {
  return reinterpret_cast<u32 *>(c.symmetric[rank] + c.flags) +
         u64(flag) * CCN_MAX_BLOCKS + block;
}

/// Waits until an own flag, which `peer` sets, has reached an epoch.
__device__ inline void awaitFlag(const CcnContext &c, int peer, u32 flag,
                                 u32 block, u32 epoch) {
  const u32 *word = flagOf(c, c.rank, flag, block);
  Patience patience(c);
  for (u32 seen; !ccnReached(seen = loadAcquire(word), epoch);)
    patience.wait(peer, flag, epoch, seen);
}

template <int count> struct Group {
  int ranks[count];
  /// Which of them this rank is.
  int position;
};

/// Whether what is in a segment is to be done.
__device__ inline bool isIn(const CcnContext &c, i64 segment) {
  return c.segment < 0 || c.segment == segment;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// What a block would have to do a cluster of blocks may do, each an equal part
/// of it: where there are fewer rows than multiprocessors. Without clusters
/// each block is one. The host decides, the same on all ranks.
__device__ inline i64 clusterInGrid(const CcnContext &c) {
  return blockIdx.x >> c.clusterBits;
}
__device__ inline i64 clustersInGrid(const CcnContext &c) {
  return gridDim.x >> c.clusterBits;
}
__device__ inline int blockInCluster(const CcnContext &c) {
  return int(blockIdx.x & ((1u << c.clusterBits) - 1));
}
__device__ inline int blocksInCluster(const CcnContext &c) {
  return 1 << c.clusterBits;
}

/// How many of a cluster's `elements` elements each block has, the last ones
/// maybe fewer: a multiple of 16, so that they are whole vectors and packets.
__device__ inline i64 elementsOfBlock(const CcnContext &c, i64 elements) {
  return (((elements - 1) >> c.clusterBits) + 16) & ~i64(15);
}

/// At the beginning of a kernel: shared memory of other blocks is there once
/// they have begun, which openCluster() waits for.
__device__ inline void beginCluster(const CcnContext &c) {
  if (c.clusterBits > 0)
    arriveInCluster();
}
__device__ inline void openCluster(const CcnContext &c) {
  if (c.clusterBits > 0)
    awaitCluster();
}
/// Lets the threads of a cluster wait for each other.
__device__ inline void clusterBarrier(const CcnContext &c) {
  if (c.clusterBits == 0)
    return __syncthreads();
  arriveInCluster();
  awaitCluster();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

enum : u32 { barrierBit = 0x80000000u };

/// Waits for the other blocks, as cooperative groups do: the last one flips the
/// highest bit of the count, and the others are 0 again.
__device__ inline void gridBarrier(const CcnContext &c) {
  __syncthreads();
  if (threadIdx.x == 0 && gridDim.x > 1) {
    __threadfence();
    u32 before = atomicAdd(&c.control->arrived,
                           blockIdx.x == 0 ? barrierBit - (gridDim.x - 1) : 1);
    Patience patience(c);
    for (u32 seen; (((seen = loadAcquireOwn(&c.control->arrived)) ^ before) &
                    barrierBit) == 0;)
      patience.wait(c.rank, 0, before, seen);
  }
  __syncthreads();
}

/// Tells the members that this block has come to `epoch`: flag `flags` + i is
/// member i's.
template <int count>
__device__ inline void tellMembers(const CcnContext &c,
                                   const Group<count> &group, u32 flags,
                                   u32 block, u32 epoch) {
  if (threadIdx.x < count && int(threadIdx.x) != group.position)
    storeRelease(
        flagOf(c, group.ranks[threadIdx.x], flags + group.position, block),
        epoch);
}
/// Waits until the members' blocks have come to `epoch`.
template <int count>
__device__ inline void awaitMembers(const CcnContext &c,
                                    const Group<count> &group, u32 flags,
                                    u32 block, u32 epoch) {
  if (threadIdx.x < count && int(threadIdx.x) != group.position)
    awaitFlag(c, group.ranks[threadIdx.x], flags + threadIdx.x, block, epoch);
}
template <int count>
__device__ inline void meet(const CcnContext &c, const Group<count> &group,
                            u32 flags, u32 block, u32 epoch) {
  tellMembers(c, group, flags, block, epoch);
  awaitMembers(c, group, flags, block, epoch);
}

/// A barrier of the group before anything else: it is enough that each block
/// meets those of the others, which say that the kernels before theirs are
/// over. At the end likewise: a kernel is over when all its blocks are.
template <int count>
__device__ inline void edgeBarrier(const CcnContext &c,
                                   const Group<count> &group, u32 flags,
                                   u64 epoch) {
  if (c.segment >= 0)
    return;
  __syncthreads();
  meet(c, group, flags, blockIdx.x, u32(epoch));
  __syncthreads();
}

/// Lets all blocks wait for the others, and for `last()`, which all threads of
/// the first do when all have come. `flags` and `epoch` are what a fault says.
template <class Last>
__device__ inline void gatherBlocks(const CcnContext &c, u32 flags, u32 epoch,
                                    const Last &last) {
  __syncthreads();
  if (blockIdx.x != 0) {
    if (threadIdx.x == 0) {
      __threadfence_system();
      u32 before = atomicAdd(&c.control->arrived, 1u);
      Patience patience(c);
      for (u32 seen; (((seen = loadAcquireOwn(&c.control->arrived)) ^ before) &
                      barrierBit) == 0;)
        patience.wait(c.rank, flags, epoch, seen);
    }
    __syncthreads();
    return;
  }
  if (threadIdx.x == 0) {
    Patience patience(c);
    for (u32 seen; ((seen = loadAcquireOwn(&c.control->arrived)) &
                    ~barrierBit) != gridDim.x - 1;)
      patience.wait(c.rank, flags, epoch, seen);
    __threadfence_system();
  }
  __syncthreads();
  last();
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&c.control->arrived, barrierBit - (gridDim.x - 1));
  }
}

/// Waits for the other blocks; before they go on, the first does `last()`.
template <class Last>
__device__ inline void gridBarrier(const CcnContext &c, const Last &last) {
  if (gridDim.x > 1)
    return gatherBlocks(c, 0, 0, last);
  __syncthreads();
  last();
  __syncthreads();
}

/// A barrier of all blocks of the group.
template <int count>
__device__ inline void groupBarrier(const CcnContext &c,
                                    const Group<count> &group, u32 flags,
                                    u64 epoch) {
  if (gridDim.x == 1)
    return edgeBarrier(c, group, flags, epoch);
  if (c.segment < 0)
    gatherBlocks(c, flags, u32(epoch),
                 [&] { meet(c, group, flags, 0, u32(epoch)); });
}
/// Before ranks meet the first block of each does `last()`, at the end of
/// `segment`.
template <int count, class Last>
__device__ inline void groupBarrier(const CcnContext &c,
                                    const Group<count> &group, u32 flags,
                                    u64 epoch, i64 segment, const Last &last) {
  if (c.segment >= 0 || gridDim.x == 1) {
    if (isIn(c, segment))
      gridBarrier(c, last);
    return edgeBarrier(c, group, flags, epoch);
  }
  gatherBlocks(c, flags, u32(epoch), [&] {
    last();
    __syncthreads();
    meet(c, group, flags, 0, u32(epoch));
  });
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

/// How blocks go through phases of `units` units each: in `count` chunks, of
/// which each has `share` units of each block, at least `least` if there are as
/// many. More chunks than some would save nothing.
struct Chunks {
  i64 units, share, count;

  __device__ Chunks(i64 units, i64 least) : units(units) {
    constexpr i64 most = 32;
    i64 chunks = divideUp(units, least * gridDim.x);
    share = divideUp(units, (chunks < most ? chunks : most) * gridDim.x);
    count = divideUp(units, share * gridDim.x);
  }
  /// The block's units in a chunk.
  __device__ i64 first(i64 chunk) const {
    return atMost((chunk * gridDim.x + blockIdx.x) * share);
  }
  __device__ i64 last(i64 chunk) const { return atMost(first(chunk) + share); }

private:
  __device__ static i64 divideUp(i64 x, i64 by) { return (x + by - 1) / by; }
  __device__ i64 atMost(i64 unit) const { return unit < units ? unit : units; }
};

/// Tells the members that this block has done a step of a pipeline, `number` of
/// all steps of all runs.
template <int count>
__device__ inline void tellStep(const CcnContext &c, const Group<count> &group,
                                u32 flags, u32 number) {
  __syncthreads();
  if (c.segment < 0)
    tellMembers(c, group, flags, blockIdx.x, number);
}
/// Waits until their blocks of the same number have done it.
template <int count>
__device__ inline void awaitStep(const CcnContext &c, const Group<count> &group,
                                 u32 flags, u32 number) {
  if (c.segment < 0)
    awaitMembers(c, group, flags, blockIdx.x, number);
  __syncthreads();
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// Tells `rank` that all blocks have come here; the last one does. `number` is
/// the signal's in the kernel.
__device__ inline void signal(const CcnContext &c, int number, int rank,
                              u32 flag, u64 epoch) {
  if (c.segment >= 0)
    return;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    u32 come = atomicAdd(&c.control->signals[number], 1u) + 1;
    if (come == u32(epoch) * gridDim.x) {
      __threadfence_system();
      storeRelease(flagOf(c, rank, flag, 0), u32(epoch));
    }
  }
}

/// Waits for a signal of `rank`, each block for itself.
__device__ inline void await(const CcnContext &c, int rank, u32 flag,
                             u64 epoch) {
  if (c.segment >= 0)
    return;
  if (threadIdx.x == 0)
    awaitFlag(c, rank, flag, 0, u32(epoch));
  __syncthreads();
}
