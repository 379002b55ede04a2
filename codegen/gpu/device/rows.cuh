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

//===----------------------------------------------------------------------===//
// Reductions within a rank
//===----------------------------------------------------------------------===//

/// How elements of T are reduced: the largest and smallest are found without
/// more bits than they have.
template <class T, Kind kind> struct Reduction : Accumulate<T> {};
template <class T> struct Reduction<T, Kind::Max> : Compute<T> {};
template <class T> struct Reduction<T, Kind::Min> : Compute<T> {};

__device__ inline double infinity() {
  return __longlong_as_double(0x7ff0000000000000LL);
}

/// The reduction of elements of type T.
template <class T, Kind kind> struct Sum1 {
  using Type = typename Reduction<T, kind>::Type;
  Type value;

  /// An element as a body returns it, integers without their sign, and what is
  /// stored.
  template <class U> __device__ static Type load(U element) {
    return Reduction<T, kind>::load(T(element));
  }
  __device__ static T store(Type value) {
    return Reduction<T, kind>::store(value);
  }

  /// What a reduction begins with; `largest` is T's largest value, of a format
  /// without infinity the largest finite one. Sums begin with -0, which changes
  /// nothing, but those of nothing are 0.
  __device__ void begin(Type smallest, Type largest, bool ofNothing) {
    if constexpr (kind == Kind::Max)
      value = smallest;
    else if constexpr (kind == Kind::Min)
      value = largest;
    else if constexpr (kind == Kind::Prod)
      value = Type(1);
    else if constexpr (IsFloat<Type>::value)
      value = ofNothing ? Type(0.0) : Type(-0.0);
    else
      value = Type(0);
  }
  __device__ void add(Type other) { value = combine<kind>(value, other); }
};

/// What the lane has whose number differs in the bits of `lanes`; `mask` are
/// those that come here.
template <class T>
__device__ inline T shuffleXor(T value, int lanes, u32 mask) {
  u32 words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (u32 &word : words)
    word = __shfl_xor_sync(mask, word, lanes);
  memcpy(&value, words, sizeof(T));
  return value;
}

/// Merges what each `count` lanes of a warp have, which all of them get, if
/// each `merged` have been. All lanes of `mask` do.
template <class Sums>
__device__ inline void mergeLanes(Sums &sums, int count, int merged = 1,
                                  u32 mask = ~0u) {
  // The lower lane is always the first operand, so that all lanes agree.
#pragma unroll
  for (int lanes = merged; lanes < count; lanes *= 2) {
    Sums other = shuffleXor(sums, lanes, mask);
    if (threadIdx.x & lanes) {
      other.add(sums);
      sums = other;
    } else {
      sums.add(other);
    }
  }
}
/// Merges what the lanes of a team have, which all of them get. Of a block,
/// what threads have written before all of them see after.
template <int size, int together, class Sums>
__device__ inline void merge(const LanesTeam<size, together> &team,
                             Sums &sums) {
  mergeLanes(sums, size, 1, team.mask());
}
template <int threads, class Sums>
__device__ inline void merge(BlockTeam<threads> &team, Sums &sums) {
  // A power of two.
  constexpr int warps = threads / 32;
  __shared__ __align__(16) Byte memory[2 * warps * sizeof(Sums)];
  Sums *parts = reinterpret_cast<Sums *>(memory) + team.half * warps;
  team.half ^= 1;
  merge(WarpTeam(), sums);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = sums;
  __syncthreads();
  // Lanes beyond have what those before have.
  sums = parts[threadIdx.x % warps];
  mergeLanes(sums, warps);
}
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
