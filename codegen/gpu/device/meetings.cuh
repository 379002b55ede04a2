//===- meetings.cuh - Where all blocks of ranks meet ----------------------===//

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
/// Before ranks meet the first block of each does `deferred()`.
template <int count, class Deferred>
__device__ inline void groupBarrier(const CcnContext &c,
                                    const Group<count> &group, u32 flags,
                                    u64 epoch, const Deferred &deferred) {
  if (gridDim.x == 1) {
    gridBarrier(c, deferred);
    return edgeBarrier(c, group, flags, epoch);
  }
  gatherBlocks(c, flags, u32(epoch), [&] {
    deferred();
    __syncthreads();
    meet(c, group, flags, 0, u32(epoch));
  });
}
