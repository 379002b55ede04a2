//===- tables.cuh - Rows of tables by index -------------------------------===//
//
// gather_rows and scatter_rows, called as the functions of products.cuh are;
// blocks take rows in turns.
//
//   gatherRows<T, I, threads>(context, tableRows, rowSize, count,
//                             table, indices, to)
//   scatterRows<T, I, threads>(context, tableRows, rowSize, count,
//                              indices, rows, to)
//
// I is the indices' type, an integer type of C with the sign it has. An index
// outside of the table is reported by kernel.cuh's `fail`.
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
  int thread = static_cast<int>(threadIdx.x);
  long long rowsAtOnce = threads / lanes;
  for (long long i = blockIdx.x * rowsAtOnce + thread / lanes; i < count;
       i += gridDim.x * rowsAtOnce) {
    I index = indices[i];
    if (!isRow(index, tableRows)) {
      fail(context, outsideOfTable);
      continue;
    }
    const Unit *from = table + static_cast<long long>(index) * units;
    for (long long unit = thread % lanes; unit < units; unit += lanes)
      to[i * units + unit] = from[unit];
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

/// Adds rows[i] to row indices[i] of `to`, which holds the table (visible to
/// all blocks before), for i in increasing order. Sums are rounded once; rows
/// that no index names keep their bits. An index outside of the table fails the
/// run.
///
/// A block takes the first index that names a row and walks those after it. So
/// each index is compared with each other once or twice, by all threads of a
/// block at a time.
template <class T, class I, int threads>
__device__ void scatterRows(const CcnContext &context, long long tableRows,
                            long long rowSize, long long count,
                            const I *indices, const T *rows, T *to) {
  using Sum = typename Accumulate<T>::Type;
  // Of a thread at once.
  constexpr int columns = 4;
  auto *matches = reinterpret_cast<unsigned *>(productMemory());
  int thread = static_cast<int>(threadIdx.x);
  for (long long i = blockIdx.x; i < count; i += gridDim.x) {
    I row = indices[i];
    if (!isRow(row, tableRows)) {
      if (thread == 0)
        fail(context, outsideOfTable);
      continue;
    }
    bool isFirst = true;
    for (long long j = thread; isFirst && j - thread < i; j += threads)
      isFirst = !__syncthreads_or(j < i && indices[j] == row);
    if (!isFirst)
      continue;
    T *target = to + static_cast<long long>(row) * rowSize;
    for (long long first = 0; first < rowSize; first += threads * columns) {
      Sum sums[columns] = {};
#pragma unroll
      for (int s = 0; s < columns; ++s)
        if (long long column = first + s * threads + thread; column < rowSize)
          sums[s] = Accumulate<T>::load(target[column]);
      for (long long j = i + thread; j - thread < count; j += threads) {
        unsigned found =
            __ballot_sync(0xffffffffu, j < count && indices[j] == row);
        // Of those before.
        __syncthreads();
        if (thread % 32 == 0)
          matches[thread / 32] = found;
        __syncthreads();
        for (int warp = 0; warp < threads / 32; ++warp)
          for (unsigned rest = matches[warp]; rest; rest &= rest - 1) {
            const T *source =
                rows + (j - thread + 32 * warp + __ffs(rest) - 1) * rowSize;
#pragma unroll
            for (int s = 0; s < columns; ++s)
              if (long long column = first + s * threads + thread;
                  column < rowSize)
                sums[s] = add(sums[s], Accumulate<T>::load(source[column]));
          }
      }
#pragma unroll
      for (int s = 0; s < columns; ++s)
        if (long long column = first + s * threads + thread; column < rowSize)
          target[column] = Accumulate<T>::store(sums[s]);
    }
  }
}
