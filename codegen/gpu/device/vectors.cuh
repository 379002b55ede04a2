//===- vectors.cuh - Vectors of elements of several ranks -----------------===//

/// `count` elements from `index` on as one vector; past the end 0. `from` and
/// `to` are pointers to T, or what stands for them (pieces.cuh).
template <class T, int count, class From>
__device__ inline Vector<T, count> loadSome(const From &from, i64 index,
                                            i64 end) {
  if (index + count <= end && isAligned(from + index, sizeof(T) * count))
    return load<T, count>(from + index);
  Vector<T, count> result;
  memset(&result, 0, sizeof(result));
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (index + i < end)
      result.at[i] = from[index + i];
  return result;
}
template <class T, int count, class To>
__device__ inline void storeSome(const To &to, i64 index, i64 end,
                                 const Vector<T, count> &value) {
  if (index + count <= end && isAligned(to + index, sizeof(T) * count))
    return store<T, count>(to + index, value);
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (index + i < end)
      to[index + i] = value.at[i];
}

/// Combines what the members have, in their order.
template <Kind kind, class T, int count, int members>
__device__ inline Vector<T, count>
combineAll(const Vector<T, count> (&parts)[members]) {
  if constexpr (members == 1) {
    return parts[0];
  } else {
    Vector<T, count> result;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      auto sum = Compute<T>::load(parts[0].at[i]);
#pragma unroll
      for (int member = 1; member < members; ++member)
        sum = combine<kind>(sum, Compute<T>::load(parts[member].at[i]));
      result.at[i] = Compute<T>::store(sum);
    }
    return result;
  }
}
