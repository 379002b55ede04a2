//===- transposes.cuh - Tiles of loops along two dimensions ---------------===//
//
// Where operands are contiguous along different dimensions threads take tiles
// of both, which what is generated for a loop loads and stores by vectors. Here
// is which tiles are whose, and what is done with those that are not whole, or
// whose vectors would not be aligned.
//
//===----------------------------------------------------------------------===//

/// Which of a block's `rows` x `columns` x some tiles a thread has: as many
/// next to each other as `laneRows` x `laneColumns` are those of threads next
/// to each other.
template <int rows, int columns, int laneRows, int laneColumns>
struct TileOfThread {
  static constexpr int ofLanesRows = laneRows, ofLanesColumns = laneColumns;
  u32 laneRow, laneColumn, row, column, other;

  __device__ TileOfThread() {
    constexpr u32 lanes = laneRows * laneColumns,
                  groupColumns = columns / laneColumns,
                  groupRows = rows / laneRows;
    u32 lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
    laneRow = lane / laneColumns;
    laneColumn = lane % laneColumns;
    column = group % groupColumns * laneColumns + laneColumn;
    row = group / groupColumns % groupRows * laneRows + laneRow;
    other = group / (groupColumns * groupRows);
  }
};

/// Does the elements of a tile, from `row` and `column` on, one by one, some of
/// a row loaded at once. If vectors would not be aligned, threads have the
/// elements of their tiles in turns, so that what they access at once is
/// contiguous.
template <int rows, int columns, class Tile, class Fetch, class At>
__device__ inline void
elementsOfTile(const Tile &mine, bool areAligned, i64 row, i64 rowEnd,
               i64 column, i64 columnEnd, const Fetch &fetch, const At &at) {
  // More would take registers of whole tiles.
  constexpr int atOnce = columns < 4 ? columns : 4;
  i64 rowStep = 1, columnStep = 1;
  if (!areAligned) {
    row -= i64(mine.laneRow) * (rows - 1);
    column -= i64(mine.laneColumn) * (columns - 1);
    rowStep = Tile::ofLanesRows;
    columnStep = Tile::ofLanesColumns;
  }
#pragma unroll 1
  for (int i = 0; i < rows * columns / atOnce; ++i) {
    i64 x = row + i / (columns / atOnce) * rowStep,
        first = column + i % (columns / atOnce) * atOnce * columnStep;
    if (x >= rowEnd)
      break;
    decltype(fetch(x, first)) fetched[atOnce];
    unrolled<0, atOnce>([&](auto j) {
      if (i64 y = first + j.value * columnStep; y < columnEnd)
        fetched[j.value] = fetch(x, y);
    });
    unrolled<0, atOnce>([&](auto j) {
      if (i64 y = first + j.value * columnStep; y < columnEnd)
        at(x, y, fetched[j.value]);
    });
  }
}
