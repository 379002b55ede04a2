//===- barriers.cuh - Where blocks and ranks wait -------------------------===//
//
// The protocols of runtime/Protocols.h for the blocks of a kernel: flags are
// 32-bit epochs, monotone and never reset; whoever waits counts, and past the
// time limit says whom it misses and ends.
//
// A kernel that waits has as many blocks on all ranks, all on the device at
// once. Each block has flags of its own.
//
//===----------------------------------------------------------------------===//

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
  gatherBlocks(c, flags, u32(epoch),
               [&] { meet(c, group, flags, 0, u32(epoch)); });
}
/// Before ranks meet the first block of each does `last()`.
template <int count, class Last>
__device__ inline void groupBarrier(const CcnContext &c,
                                    const Group<count> &group, u32 flags,
                                    u64 epoch, const Last &last) {
  if (gridDim.x == 1) {
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
  tellMembers(c, group, flags, blockIdx.x, number);
}
/// Waits until their blocks of the same number have done it.
template <int count>
__device__ inline void awaitStep(const CcnContext &c, const Group<count> &group,
                                 u32 flags, u32 number) {
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
  if (threadIdx.x == 0)
    awaitFlag(c, rank, flag, 0, u32(epoch));
  __syncthreads();
}
