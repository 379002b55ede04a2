//===- pieces.cuh - Arrays that are lists of buffers ----------------------===//
//
// A scattered argument is one array for the program, and any number of buffers
// in memory, which GpuAbi.h's tables list. These classes stand where other
// arguments have pointers. They remember the piece that was accessed last, so
// that what follows in it need not be searched; where a piece is they look up
// each time, as there are no registers for the places of all ranks.
//
// Follows kernel.cuh.
//
//===----------------------------------------------------------------------===//

/// Of the piece that has an element, where in the table its two words are.
__device__ inline i64 findPiece(const i64 *table, i64 element) {
  i64 low = 0, high = table[0];
  while (high - low > 1) {
    i64 middle = (low + high) / 2;
    if (table[1 + 2 * middle] <= element)
      low = middle;
    else
      high = middle;
  }
  return 1 + 2 * low;
}

/// The address of one element of what is at an address of arguments.
template <class T> __device__ inline T *pieceElement(const Byte *at, i64 i) {
  const i64 *table = reinterpret_cast<const i64 *>(at);
  const i64 *piece = table + findPiece(table, i);
  return reinterpret_cast<T *>(piece[1]) + (i - piece[0]);
}

/// An element of the array of a member.
template <class All> struct PiecePlace {
  const All &all;
  int member;
  i64 index;

  __device__ PiecePlace operator+(i64 more) const {
    return {all, member, index + more};
  }
};

/// The array of each of some ranks, which have pieces of the same sizes.
template <class T, int members> class PiecesOfAll {
public:
  using Place = PiecePlace<PiecesOfAll>;
  /// The array of a member.
  struct Member {
    const PiecesOfAll &all;
    int member;

    __device__ Place operator+(i64 index) const { return {all, member, index}; }
    __device__ T &operator[](i64 index) const {
      return *all.seek(member, index);
    }
  };

  __device__ PiecesOfAll() {}
  /// Sets what is at an address of arguments; element 0 is its element `first`.
  __device__ void set(int member, const Byte *at, i64 first) {
    tables[member] = reinterpret_cast<const i64 *>(at);
    this->first = first;
  }
  __device__ Member operator[](int member) const { return {*this, member}; }

  template <int count>
  __device__ Vector<T, count> loadAt(int member, i64 index) const {
    T *place = seek(member, index);
    if constexpr (count > 1)
      if (!isWhole<count>(place, index)) {
        Vector<T, count> result;
#pragma unroll
        for (int i = 0; i < count; ++i)
          result.at[i] = *seek(member, index + i);
        return result;
      }
    return load<T, count>(place);
  }
  template <int count>
  __device__ void storeAt(int member, i64 index,
                          const Vector<T, count> &value) const {
    T *place = seek(member, index);
    if constexpr (count > 1)
      if (!isWhole<count>(place, index)) {
#pragma unroll
        for (int i = 0; i < count; ++i)
          *seek(member, index + i) = value.at[i];
        return;
      }
    store<T, count>(place, value);
  }

private:
  __device__ T *seek(int member, i64 index) const {
    index += first;
    if (index < begin || index >= end) {
      piece = findPiece(tables[0], index);
      begin = tables[0][piece];
      end = tables[0][piece + 2];
    }
    return reinterpret_cast<T *>(tables[member][piece + 1]) + (index - begin);
  }
  /// Whether so many elements from there on are in one piece, and aligned.
  template <int count>
  __device__ bool isWhole(const T *place, i64 index) const {
    return first + index + count <= end &&
           isAligned(place, int(sizeof(T)) * count);
  }

  const i64 *tables[members];
  i64 first = 0;
  /// Of the piece that was accessed last: its elements, and its words.
  mutable i64 begin = 0, end = 0, piece = 0;
};

/// The array of one rank.
template <class T> class PiecesOf {
public:
  using Place = typename PiecesOfAll<T, 1>::Place;

  __device__ PiecesOf() {}
  __device__ PiecesOf(const Byte *at, i64 first) { all.set(0, at, first); }

  __device__ Place operator+(i64 index) const { return {all, 0, index}; }
  __device__ T &operator[](i64 index) const { return all[0][index]; }

private:
  PiecesOfAll<T, 1> all;
};

template <class T, int count, class All>
__device__ inline Vector<T, count> load(const PiecePlace<All> &from) {
  return from.all.template loadAt<count>(from.member, from.index);
}
template <class T, int count, class All>
__device__ inline void store(const PiecePlace<All> &to,
                             const Vector<T, count> &value) {
  to.all.template storeAt<count>(to.member, to.index, value);
}
/// Vectors that are not are taken apart.
template <class All>
__device__ inline bool isAligned(const PiecePlace<All> &, int) {
  return true;
}

/// Writes words of a table: `numbers` are how many, from which one on, and the
/// words.
template <int count>
__device__ inline void writeTable(const CcnContext &c,
                                  const Numbers<count> &numbers) {
  i64 *table = reinterpret_cast<i64 *>(c.workspace) + numbers.at[1];
  for (int i = threadIdx.x; i < int(numbers.at[0]); i += blockDim.x)
    table[i] = numbers.at[2 + i];
}
