//===- chunks.cuh - The chunks of pipelines -------------------------------===//

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
