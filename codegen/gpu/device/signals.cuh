//===- signals.cuh - Signals to other ranks -------------------------------===//

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
