//===- sums.cuh - Reductions within a rank --------------------------------===//
//
// What is reduced is summed in an order that depends on the sizes and the
// number of threads alone.
//
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
