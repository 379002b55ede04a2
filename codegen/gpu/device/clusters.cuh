//===- clusters.cuh - Blocks in clusters ----------------------------------===//

#ifdef __CUDA_ARCH__
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
