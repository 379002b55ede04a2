//===- tables.cuh - Rows of tables by index -------------------------------===//
//
// gather_rows and scatter_rows, called as the functions of products.cuh are;
// blocks take rows in turns.
//
//   gatherRows<T, I, threads>(context, tableRows, rowSize, count,
//                             table, indices, to)
//   scatterRows<T, I, threads>(context, tableRows, rowSize, count,
//                              indices, rows, to, memory)
//
// I is the indices' type, an integer type of C with the sign it has. An index
// outside of the table is reported by faults.cuh's `fail`.
//
// Follows kernel.cuh and tiles.cuh.
//
//===----------------------------------------------------------------------===//

/// The code of an index outside of a table.
enum { outsideOfTable = -1 };

/// An index, negative if it is too large for 63 bits.
template <class I> __device__ inline bool isRow(I index, long long tableRows) {
  auto row = static_cast<long long>(index);
  return row >= 0 && row < tableRows;
}

/// gatherRows in units of Unit, which divide a row; `lanes` neighbours, a power
/// of two up to 32, copy a row.
template <class Unit, class I, int threads>
__device__ void gatherUnits(const CcnContext &context, long long tableRows,
                            long long units, long long count, const Unit *table,
                            const I *indices, Unit *to) {
  int lanes = 1;
  while (lanes < 32 && lanes < units)
    lanes *= 2;
  // Long rows in parts, so that none has many rows more than others.
  constexpr int batch = 4;
  int thread = static_cast<int>(threadIdx.x);
  long long ofPart = batch * lanes,
            parts = units > ofPart ? (units + ofPart - 1) / ofPart : 1,
            atOnce = threads / lanes;
  for (long long n = blockIdx.x * atOnce + thread / lanes; n < count * parts;
       n += gridDim.x * atOnce) {
    long long i = parts == 1 ? n : n / parts,
              unit = (n - i * parts) * ofPart + thread % lanes;
    I index = indices[i];
    if (!isRow(index, tableRows)) {
      fail(context, outsideOfTable);
      continue;
    }
    const Unit *from = table + static_cast<long long>(index) * units;
    // Loads before stores, which may be to what is loaded next.
    Unit some[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (long long at = unit + j * lanes; at < units)
        some[j] = from[at];
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (long long at = unit + j * lanes; at < units)
        to[i * units + at] = some[j];
  }
}

/// to[i, ...] = table[indices[i], ...], all row-major, of `rowSize` elements in
/// a row and `count` indices. Rows whose index is outside of the table keep
/// what they have, and the run fails.
template <class T, class I, int threads>
__device__ void gatherRows(const CcnContext &context, long long tableRows,
                           long long rowSize, long long count, const T *table,
                           const I *indices, T *to) {
  long long bytes = rowSize * static_cast<long long>(sizeof(T));
  unsigned long long all = reinterpret_cast<unsigned long long>(table) |
                           reinterpret_cast<unsigned long long>(to) |
                           static_cast<unsigned long long>(bytes);
  if (all % 16 == 0)
    gatherUnits<Words, I, threads>(context, tableRows, bytes / 16, count,
                                   reinterpret_cast<const Words *>(table),
                                   indices, reinterpret_cast<Words *>(to));
  else
    gatherUnits<T, I, threads>(context, tableRows, rowSize, count, table,
                               indices, to);
}

/// The sum of `value` over the threads of a block before this one; `all`
/// becomes that of all. `sums` has one element for each thread, of shared
/// memory.
template <int threads>
__device__ inline long long sumBefore(long long value, long long *sums,
                                      long long &all) {
  int thread = static_cast<int>(threadIdx.x);
  __syncthreads();
  sums[thread] = value;
  __syncthreads();
  for (int distance = 1; distance < threads; distance *= 2) {
    long long left = thread >= distance ? sums[thread - distance] : 0;
    __syncthreads();
    sums[thread] += left;
    __syncthreads();
  }
  all = sums[threads - 1];
  return sums[thread] - value;
}

/// Memory that scatterRows takes, before which all blocks must have come after
/// one called begin().
struct ScatterMemory {
  /// How many of `positions` blocks have taken.
  unsigned long long taken;
  /// As many as there are indices: those of each block side by side.
  long long positions[1];

  __device__ static ScatterMemory *at(unsigned char *memory) {
    return reinterpret_cast<ScatterMemory *>(memory);
  }
  __device__ void begin() {
    if (blockIdx.x == 0 && threadIdx.x == 0)
      taken = 0;
  }
};

/// Adds rows[i] to row indices[i] of `to`, which holds the table (visible to
/// all blocks before), for i in increasing order. Sums are rounded once; rows
/// that no index names keep their bits. An index outside of the table fails the
/// run.
///
/// Each row of the table belongs to a block, by a hash. A block lists the
/// positions of the indices that name its rows, in order, takes the first that
/// is left, and walks those after it. So each block looks at all indices twice,
/// and compares the few on its list with each other: where a list has no more
/// indices than a block has threads, that is one step for each row of the table
/// that is named. (To sort the indices, as runtime/RowTable.cpp does, takes
/// several passes that all blocks must wait for.)
template <class T, class I, int threads>
__device__ void scatterRows(const CcnContext &context, long long tableRows,
                            long long rowSize, long long count,
                            const I *indices, const T *rows, T *to,
                            ScatterMemory *memory) {
  using Sum = typename Accumulate<T>::Type;
  static_assert(threads % 32 == 0, "warps are whole");
  // A thread that waited in vain has ended, and what it should have written
  // says where others write and how long they go on.
  if (__syncthreads_count(1) != threads)
    return;
  // Of a thread at once.
  constexpr int columns = 4;
  auto *matches = reinterpret_cast<unsigned *>(productMemory());
  int thread = static_cast<int>(threadIdx.x);

  // A thread takes indices that follow each other, so that the list is in
  // order.
  long long share = (count + threads - 1) / threads;
  long long begin = share * thread < count ? share * thread : count;
  long long end = begin + share < count ? begin + share : count;
  auto isOwn = [&](long long i) {
    auto hash =
        static_cast<unsigned long long>(indices[i]) * 0x9e3779b97f4a7c15ull;
    return isRow(indices[i], tableRows) &&
           (hash >> 32) % gridDim.x == blockIdx.x;
  };
  long long own = 0, listed = 0;
  for (long long i = begin; i < end; ++i) {
    own += isOwn(i);
    if (blockIdx.x == 0 && !isRow(indices[i], tableRows))
      fail(context, outsideOfTable);
  }
  long long before = sumBefore<threads>(
      own, reinterpret_cast<long long *>(productMemory()), listed);
  if (listed == 0)
    return;
  __syncthreads();
  // Where a block's list is differs from run to run, what is in it does not.
  auto *first = reinterpret_cast<unsigned long long *>(productMemory());
  if (thread == 0)
    *first = atomicAdd(&memory->taken, static_cast<unsigned long long>(listed));
  __syncthreads();
  long long *list = memory->positions + *first;
  for (long long i = begin; i < end; ++i)
    if (isOwn(i))
      list[before++] = i;
  __syncthreads();

  // Positions that are done become negative. A thread sees whether one that it
  // looks at, threads apart from the next, matches.
  auto vote = [&](bool isMatch) {
    unsigned found = __ballot_sync(0xffffffffu, isMatch);
    // Of those before.
    __syncthreads();
    if (thread % 32 == 0)
      matches[thread / 32] = found;
    __syncthreads();
  };
  for (long long start = 0; start < listed;) {
    vote(start + thread < listed && list[start + thread] >= 0);
    int warp = 0;
    while (warp < threads / 32 && !matches[warp])
      ++warp;
    if (warp == threads / 32) {
      start += threads;
      continue;
    }
    I row = indices[list[start + 32 * warp + __ffs(matches[warp]) - 1]];
    auto isSame = [&](long long j) {
      return j < listed && list[j] >= 0 && indices[list[j]] == row;
    };
    T *target = to + static_cast<long long>(row) * rowSize;
    for (long long left = 0; left < rowSize; left += threads * columns) {
      Sum sums[columns] = {};
#pragma unroll
      for (int s = 0; s < columns; ++s)
        if (long long column = left + s * threads + thread; column < rowSize)
          sums[s] = Accumulate<T>::load(target[column]);
      for (long long j = start; j < listed; j += threads) {
        vote(isSame(j + thread));
        for (int other = 0; other < threads / 32; ++other)
          for (unsigned rest = matches[other]; rest; rest &= rest - 1) {
            const T *source =
                rows + list[j + 32 * other + __ffs(rest) - 1] * rowSize;
#pragma unroll
            for (int s = 0; s < columns; ++s)
              if (long long column = left + s * threads + thread;
                  column < rowSize)
                sums[s] = add(sums[s], Accumulate<T>::load(source[column]));
          }
      }
#pragma unroll
      for (int s = 0; s < columns; ++s)
        if (long long column = left + s * threads + thread; column < rowSize)
          target[column] = Accumulate<T>::store(sums[s]);
    }
    __syncthreads();
    for (long long j = start + thread; j < listed; j += threads)
      if (isSame(j))
        list[j] = ~list[j];
  }
}
