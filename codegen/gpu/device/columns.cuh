//===- columns.cuh - Sums along a dimension that is not contiguous --------===//
//
// Results that are neighbours are made of elements that are neighbours: each
// lane of a block has a vector of them, and groups of lanes share out what is
// summed up. Where there are few results, so do blocks. The order of sums
// depends on the sizes and the numbers of threads and blocks alone.
//
//===----------------------------------------------------------------------===//

/// How many blocks share out the sums of each of `tiles` tiles, at most `most`.
__device__ inline i64 sharesOfTiles(i64 tiles, i64 most) {
  i64 shares = gridDim.x / tiles;
  return shares < 1 ? 1 : shares < most ? shares : most;
}

/// Merges what the groups of `lanes` threads have of `lanes` vectors of `width`
/// results, and calls body(result, sums) for each, on the threads in turns.
/// `memory`, which threads of the block may still read, has space for what all
/// have, `most` bytes each.
template <int threads, int lanes, int width, int most, class Sums, class Body>
__device__ inline void mergeGroups(Byte *memory, const Sums (&sums)[width],
                                   const Body &body) {
  constexpr int results = lanes * width, bytes = width * sizeof(Sums);
  static_assert(bytes <= most, "what threads have fits in the memory");
  Sums *all = reinterpret_cast<Sums *>(memory);
  Sums *own = all + threadIdx.x * width;
  __syncthreads();
  // Threads that write 16 bytes each meet in fewer banks.
  if constexpr (bytes % 16 == 0) {
#pragma unroll
    for (int i = 0; i < bytes / 16; ++i)
      reinterpret_cast<uint4 *>(own)[i] =
          reinterpret_cast<const uint4 *>(sums)[i];
  } else {
#pragma unroll
    for (int j = 0; j < width; ++j)
      own[j] = sums[j];
  }
  __syncthreads();
  for (int result = threadIdx.x; result < results; result += threads) {
    Sums merged[1] = {all[result]};
    for (int group = 1; group < threads / lanes; ++group)
      merged[0].add(all[group * results + result]);
    body(result, merged);
  }
}
