//===- cluster_rows.cuh - Rows of clusters of blocks ----------------------===//

/// All threads of a cluster of blocks, each of which takes the elements of a
/// row that elementsOfBlock() says.
struct ClusterTeam {
  const CcnContext &c;
  /// Whether openCluster() has been called.
  bool isOpen;

  __device__ explicit ClusterTeam(const CcnContext &c, bool isOpen = true)
      : c(c), isOpen(isOpen) {}
  __device__ void open() {
    if (!isOpen)
      openCluster(c);
    isOpen = true;
  }
  __device__ i64 first() const { return clusterInGrid(c); }
  __device__ i64 count() const { return clustersInGrid(c); }
  __device__ int inBlock() const { return 0; }
  __device__ int lane() const {
    return blockInCluster(c) * blockDim.x + threadIdx.x;
  }
  __device__ int lanes() const { return blockDim.x << c.clusterBits; }
  __device__ void sync() const { clusterBarrier(c); }

  /// The thread's first vector of a row of `elements` elements, `width` of
  /// which are a vector, and the end of those of its block.
  template <int width> __device__ i64 firstOf(i64 elements) const {
    return blockInCluster(c) * elementsOfBlock(c, elements) / width +
           threadIdx.x;
  }
  template <int width> __device__ i64 endOf(i64 elements) const {
    i64 end = (blockInCluster(c) + 1) * elementsOfBlock(c, elements);
    return (end < elements ? end : elements) / width;
  }

  /// As of a block.
  int half = 0;
};

/// Each warp shows its own to all blocks: one barrier, which is the block's
/// too.
template <class Sums>
__device__ inline void merge(ClusterTeam &team, Sums &sums) {
  // A block that is alone has half as many.
  constexpr int most = CCN_CLUSTER_THREADS / 32;
  static_assert(most == 32, "each lane takes what one warp has");
  __shared__ __align__(16) Byte memory[2 * most * sizeof(Sums)];
  Sums *parts = reinterpret_cast<Sums *>(memory) + team.half * most;
  team.half ^= 1;
  merge(WarpTeam(), sums);
  team.open();
  const int blocks = blocksInCluster(team.c), lane = threadIdx.x % 32;
  Sums *own = parts + team.lane() / 32;
  if (blocks == 1 && lane == 0)
    *own = sums;
  else if (blocks > 1 && lane < blocks)
    *static_cast<Sums *>(sharedOfBlock(own, lane)) = sums;
  team.sync();
  // A power of two.
  sums = parts[lane & (team.lanes() / 32 - 1)];
  mergeLanes(sums, most / 2);
  if (blocks > 1)
    mergeLanes(sums, most, most / 2);
}
