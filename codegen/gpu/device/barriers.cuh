//===- barriers.cuh - Where blocks wait -----------------------------------===//

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

/// Lets all blocks wait for the others, and for `deferred()`, which all threads
/// of the first do when all have come. `flags` and `epoch` are what a fault
/// says.
template <class Deferred>
__device__ inline void gatherBlocks(const CcnContext &c, u32 flags, u32 epoch,
                                    const Deferred &deferred) {
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
  deferred();
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&c.control->arrived, barrierBit - (gridDim.x - 1));
  }
}

/// Waits for the other blocks; before they go on, the first does `deferred()`.
template <class Deferred>
__device__ inline void gridBarrier(const CcnContext &c,
                                   const Deferred &deferred) {
  if (gridDim.x > 1)
    return gatherBlocks(c, 0, 0, deferred);
  __syncthreads();
  deferred();
  __syncthreads();
}
