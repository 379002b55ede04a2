//===- edges.cuh - Where ranks begin and end ------------------------------===//

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
