//===- schedule_sums.cuh - What the actions of schedules compute ----------===//
//
// What a rank does of a synthesized collective is a table of actions
// (GpuAbi.h), a list of 7 numbers for each: a CcnScheduleAction, the peer's
// rank, the flag, the first element of the chunk in the output or where in
// symmetric memory the peer's slot is, the chunk's elements, how many parts
// follow, and in which segment it is. Each of these parts has 2: a
// CcnSchedulePart, and the first element in the input or the place in
// symmetric memory; of slots that of the first buffer.
//
//===----------------------------------------------------------------------===//

/// What an action's parts are, a vector of elements of
/// each at a time; of slots those of the buffer that is so many bytes behind
/// the first.
template <class T, Kind kind, class From> class ScheduleParts {
public:
  static constexpr int width = 16 / sizeof(T);
  using Partial = typename Compute<T>::Type;

  __device__ ScheduleParts(const CcnContext &c, const i64 *action, i64 buffer,
                           const From &from)
      : parts(action + 7), count(action[5]),
        buffer(c.symmetric[c.rank] + buffer), from(from) {}

  /// Of the only part, as it came.
  __device__ Vector<T, width> only(i64 index, i64 end) const {
    return part(0, index, end);
  }
  /// Of the sum of all, as elements accumulate.
  __device__ Vector<Partial, width> sum(i64 index, i64 end) const {
    Vector<Partial, width> sums = widePart(0, index, end);
    for (i64 p = 1; p < count; ++p) {
      Vector<Partial, width> next = widePart(p, index, end);
#pragma unroll
      for (int i = 0; i < width; ++i)
        sums.at[i] = combine<kind>(sums.at[i], next.at[i]);
    }
    return sums;
  }
  __device__ bool isOne() const { return count == 1; }

private:
  __device__ Vector<T, width> part(i64 p, i64 index, i64 end) const {
    i64 place = parts[2 * p + 1];
    if (parts[2 * p] == CCN_INPUT_PART)
      return loadSome<T, width>(from, place + index, place + end);
    return loadSome<T, width>(reinterpret_cast<const T *>(buffer + place),
                              index, end);
  }
  __device__ Vector<Partial, width> widePart(i64 p, i64 index, i64 end) const {
    if constexpr (sizeof(T) < sizeof(Partial))
      if (parts[2 * p] == CCN_PARTIAL_PART)
        return loadSome<Partial, width>(
            reinterpret_cast<const Partial *>(buffer + parts[2 * p + 1]), index,
            end);
    Vector<T, width> narrow = part(p, index, end);
    Vector<Partial, width> result;
#pragma unroll
    for (int i = 0; i < width; ++i)
      result.at[i] = Compute<T>::load(narrow.at[i]);
    return result;
  }

  const i64 *const parts;
  const i64 count;
  const Byte *const buffer;
  const From &from;
};

/// `sums` as elements.
template <class T, int width>
__device__ inline Vector<T, width>
roundSums(const Vector<typename Compute<T>::Type, width> &sums) {
  Vector<T, width> result;
#pragma unroll
  for (int i = 0; i < width; ++i)
    result.at[i] = Compute<T>::store(sums.at[i]);
  return result;
}

/// Whether an action sends a sum to another rank, or forms one of its own.
__device__ inline bool isSend(const i64 *action) {
  return action[0] == CCN_SEND_SUM || action[0] == CCN_SEND_PARTIAL;
}
__device__ inline bool isSum(const i64 *action) {
  return isSend(action) || action[0] == CCN_STORE_SUM;
}
/// The action after this one.
__device__ inline const i64 *nextAction(const i64 *action) {
  return action + 7 + 2 * action[5];
}

/// Forms a block's part of an action's sum, with slots `buffer` bytes behind
/// the first.
template <class T, Kind kind, class From, class To>
__device__ inline void formSum(const CcnContext &c, const i64 *action,
                               i64 buffer, const From &from, const To &to) {
  constexpr int width = 16 / sizeof(T);
  using Partial = typename Compute<T>::Type;
  // The block's part, in whole vectors.
  i64 vectors = (action[4] + width - 1) / width;
  i64 begin = vectors * blockIdx.x / gridDim.x * width;
  i64 end = vectors * (blockIdx.x + 1) / gridDim.x * width;
  if (end > action[4])
    end = action[4];
  Byte *slot = c.symmetric[action[1]] + action[3] + buffer;
  const ScheduleParts<T, kind, From> parts(c, action, buffer, from);
  for (i64 i = begin + i64(threadIdx.x) * width; i < end;
       i += i64(blockDim.x) * width) {
    if (action[0] == CCN_SEND_PARTIAL) {
      storeSome<Partial, width>(reinterpret_cast<Partial *>(slot), i, end,
                                parts.sum(i, end));
      continue;
    }
    Vector<T, width> whole = parts.isOne()
                                 ? parts.only(i, end)
                                 : roundSums<T, width>(parts.sum(i, end));
    if (action[0] == CCN_STORE_SUM)
      storeSome<T, width>(to, action[3] + i, action[3] + end, whole);
    else
      storeSome<T, width>(reinterpret_cast<T *>(slot), i, end, whole);
  }
}
