//===- rows.cuh - Who works on which rows ---------------------------------===//
//
// Loops over the same rows are executed by teams: some threads of a warp, a
// block, a cluster of blocks or the whole grid take a row through all loops
// before the next. What is reduced is summed in an order that depends on the
// sizes and the number of threads and of a cluster's blocks alone.
//
//===----------------------------------------------------------------------===//

/// Neighbouring threads of a warp, a power of two. They wait for each other
/// alone, as those of another team may have fewer rows; or for `together`
/// threads, where these have as many rows, which takes fewer instructions.
template <int size, int together = size> struct LanesTeam {
  __device__ i64 first() const { return threadInGrid() / size; }
  __device__ i64 count() const { return threadsInGrid() / size; }
  /// Which of the block's teams this is, and how many it has.
  __device__ int inBlock() const { return threadIdx.x / size; }
  __device__ int ofBlock() const { return blockDim.x / size; }
  __device__ int lane() const { return threadIdx.x % size; }
  __device__ int lanes() const { return size; }
  /// Those of the warp that come together.
  __device__ u32 mask() const {
    return ~0u >> (32 - together) << (threadIdx.x % 32 / together * together);
  }
  __device__ void sync() const {
    if constexpr (size > 1)
      __syncwarp(mask());
  }
};
using ThreadTeam = LanesTeam<1>;
using WarpTeam = LanesTeam<32>;
/// All threads of a block of so many.
template <int threads> struct BlockTeam {
  __device__ i64 first() const { return blockIdx.x; }
  __device__ i64 count() const { return gridDim.x; }
  __device__ int inBlock() const { return 0; }
  __device__ int ofBlock() const { return 1; }
  __device__ int lane() const { return threadIdx.x; }
  __device__ int lanes() const { return threads; }
  __device__ void sync() const { __syncthreads(); }

  /// Which half of what threads show each other is the next merge's: a thread
  /// that is in the next one already writes the other half, and in the one
  /// after that nobody still reads this one.
  int half = 0;
};

/// Lets a team's first of `rows` rows come nearer, of which each has `bytes`
/// bytes and the next is `step` bytes on.
template <class Team>
__device__ inline void prefetchRow(const Team &team, i64 rows, const Byte *from,
                                   i64 step, i64 bytes) {
  constexpr int line = 128;
  if (team.first() >= rows)
    return;
  from += team.first() * step;
  for (i64 i = i64(team.lane()) * line; i < bytes; i += team.lanes() * line)
    prefetch(from + i);
}
