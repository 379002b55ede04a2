//===- rows.cuh - Who works on which rows ---------------------------------===//
//
// Loops over the same rows are executed by teams: a thread, a warp, a block or
// the whole grid takes a row through all loops before the next. What is reduced
// is summed in an order that depends on the sizes and the number of threads
// alone.
//
//===----------------------------------------------------------------------===//

struct ThreadTeam {
  __device__ i64 first() const { return threadInGrid(); }
  __device__ i64 count() const { return threadsInGrid(); }
  /// Which of the block's teams this is.
  __device__ int inBlock() const { return threadIdx.x; }
  __device__ int lane() const { return 0; }
  __device__ int lanes() const { return 1; }
  __device__ void sync() const {}
};
struct WarpTeam {
  __device__ i64 first() const { return threadInGrid() / 32; }
  __device__ i64 count() const { return threadsInGrid() / 32; }
  __device__ int inBlock() const { return threadIdx.x / 32; }
  __device__ int lane() const { return threadIdx.x % 32; }
  __device__ int lanes() const { return 32; }
  __device__ void sync() const { __syncwarp(); }
};
struct BlockTeam {
  __device__ i64 first() const { return blockIdx.x; }
  __device__ i64 count() const { return gridDim.x; }
  __device__ int inBlock() const { return 0; }
  __device__ int lane() const { return threadIdx.x; }
  __device__ int lanes() const { return blockDim.x; }
  __device__ void sync() const { __syncthreads(); }
};

//===----------------------------------------------------------------------===//
// Reductions within a rank
//===----------------------------------------------------------------------===//

/// What is added up of T: an element as a body returns it, integers without
/// their sign.
template <class T, class U>
__device__ inline typename Accumulate<T>::Type toAccumulator(U value) {
  return Accumulate<T>::load(T(value));
}
template <class T>
__device__ inline T fromAccumulator(typename Accumulate<T>::Type value) {
  return Accumulate<T>::store(value);
}

__device__ inline double infinity() {
  return __longlong_as_double(0x7ff0000000000000LL);
}

/// The reduction of elements of type T.
template <class T, Kind kind> struct Sum1 {
  using Type = typename Accumulate<T>::Type;
  Type value;

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

template <class T> __device__ inline T shuffleXor(T value, int mask) {
  u32 words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (u32 &word : words)
    word = __shfl_xor_sync(0xffffffffu, word, mask);
  memcpy(&value, words, sizeof(T));
  return value;
}

/// Merges what each `count` lanes of a warp have, which all of them get.
template <class Sums> __device__ inline void mergeLanes(Sums &sums, int count) {
  // The lower lane is always the first operand, so that all lanes agree.
#pragma unroll
  for (int mask = 1; mask < count; mask *= 2) {
    Sums other = shuffleXor(sums, mask);
    if (threadIdx.x & mask) {
      other.add(sums);
      sums = other;
    } else {
      sums.add(other);
    }
  }
}
/// Merges what the lanes of a team have: all of a warp get the result, of a
/// block its first warp.
template <class Sums>
__device__ inline void merge(const ThreadTeam &, Sums &) {}
template <class Sums>
__device__ inline void merge(const WarpTeam &, Sums &sums) {
  mergeLanes(sums, 32);
}
template <class Sums>
__device__ inline void merge(const BlockTeam &, Sums &sums) {
  __shared__ __align__(16) Byte memory[sizeof(Sums) * 32];
  Sums *parts = reinterpret_cast<Sums *>(memory);
  merge(WarpTeam(), sums);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = sums;
  __syncthreads();
  // A power of two, so that lanes beyond have what those before have.
  int warps = blockDim.x / 32;
  if (threadIdx.x < 32) {
    sums = parts[threadIdx.x % warps];
    mergeLanes(sums, warps);
  }
  __syncthreads();
}
