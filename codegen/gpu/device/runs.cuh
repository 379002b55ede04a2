//===- runs.cuh - The number of a run -------------------------------------===//

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
