//===- MatrixProduct.cpp - The matrix product's kernel --------------------===//
//
// The textbook triple loop, divided into blocks that stay in the second-level
// cache and tiles that stay in registers, as in Goto and van de Geijn, "Anatomy
// of high-performance matrix multiplication" (2008). Packing a block of a or b
// also widens it to the type in which sums accumulate. Blocking does not change
// the order in which the products of one element are added: k increases from 0.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/MatrixProduct.h"

#include "runtime/tensor/Blocks.h"
#include "runtime/tensor/Strided.h"

namespace ccn::runtime {

namespace {

/// The sizes of blocks. In doubles, a block of b takes 256 KB, the block of
/// sums 128 KB, and a block of a 64 KB.
constexpr int64_t blockM = 64, blockN = 256, blockK = 128;
/// Rows of a tile of sums.
constexpr int64_t tileM = 4;
/// Columns of a tile of sums. A tile fills half of the vector registers of
/// x86-64.
template <typename T> constexpr int64_t tileN = 32 / sizeof(T);

/// Loads `count` elements with this stride, and widens them.
template <typename T>
void loadStrided(ElementType type, const std::byte *data, int64_t stride,
                 int64_t count, T *out) {
  if (stride == 1)
    return load(type, data, 0, count, out);
  static_assert(blockN >= blockK);
  uint64_t packed[blockN];
  auto *bytes = reinterpret_cast<std::byte *>(packed);
  CopyDim dim{count, 1, stride};
  copyStrided(sizeInBytes(type), {&dim, 1}, data, bytes);
  load(type, bytes, 0, count, out);
}

/// Adds to a tile of sums the products of tileM rows of a, [k][tileM], with
/// tileN columns of b, [k][tileN].
template <typename T>
void addTile(int64_t nk, const T *left, const T *right, T *sums) {
  constexpr int64_t width = tileN<T>;
  T tile[tileM][width];
  for (int64_t i = 0; i < tileM; ++i)
    for (int64_t j = 0; j < width; ++j)
      tile[i][j] = sums[i * width + j];
  for (int64_t k = 0; k < nk; ++k)
    for (int64_t i = 0; i < tileM; ++i)
      for (int64_t j = 0; j < width; ++j)
        tile[i][j] =
            addWrapping(tile[i][j], multiplyWrapping(left[k * tileM + i],
                                                     right[k * width + j]));
  for (int64_t i = 0; i < tileM; ++i)
    for (int64_t j = 0; j < width; ++j)
      sums[i * width + j] = tile[i][j];
}

template <typename T> class Product {
  static constexpr int64_t width = tileN<T>;

public:
  /// The number of elements of the workspace.
  static constexpr int64_t workElements =
      blockK * blockN + blockM * blockK + blockM * blockN + blockN;

  Product(ElementType type, MatrixSizes sizes, MatrixView a, MatrixView b,
          std::byte *c, int64_t cRow, int64_t cColumn, T *work)
      : type(type), size(sizeInBytes(type)), sizes(sizes), a(a), b(b), c(c),
        cRow(cRow), cColumn(cColumn), panel(work),
        left(panel + blockK * blockN), sums(left + blockM * blockK),
        row(sums + blockM * blockN) {
    static_assert(blockM % tileM == 0 && blockN % width == 0);
  }

  void run() {
    for (int64_t j = 0; j < sizes.n; j += blockN)
      for (int64_t i = 0; i < sizes.m; i += blockM)
        block(i, std::min(blockM, sizes.m - i), j,
              std::min(blockN, sizes.n - j));
  }

private:
  /// Computes rows [i, i + ni) and columns [j, j + nj) of the result. Tiles at
  /// the edges are computed whole: their missing operands are zeros, and the
  /// extra sums are not stored.
  void block(int64_t i, int64_t ni, int64_t j, int64_t nj) {
    int64_t tilesM = (ni + tileM - 1) / tileM,
            tilesN = (nj + width - 1) / width;
    std::fill_n(sums, tilesM * tileM * tilesN * width, T(0));
    for (int64_t k = 0; k < sizes.k; k += blockK) {
      int64_t nk = std::min(blockK, sizes.k - k);
      packRight(k, nk, j, nj, tilesN);
      packLeft(i, ni, k, nk, tilesM);
      for (int64_t tn = 0; tn < tilesN; ++tn)
        for (int64_t tm = 0; tm < tilesM; ++tm)
          addTile(nk, left + tm * tileM * nk, panel + tn * width * nk,
                  sums + (tm * tilesN + tn) * tileM * width);
    }
    for (int64_t r = 0; r < ni; ++r) {
      for (int64_t t = 0; t < tilesN; ++t)
        std::copy_n(sums +
                        ((r / tileM * tilesN + t) * tileM + r % tileM) * width,
                    width, row + t * width);
      storeRow(i + r, j, nj);
    }
  }

  /// Packs columns of b in tiles, as [tile][k][width].
  void packRight(int64_t k, int64_t nk, int64_t j, int64_t nj, int64_t tiles) {
    std::fill_n(row, tiles * width, T(0));
    for (int64_t kk = 0; kk < nk; ++kk) {
      loadStrided(type,
                  b.data + ((k + kk) * b.rowStride + j * b.columnStride) * size,
                  b.columnStride, nj, row);
      for (int64_t t = 0; t < tiles; ++t)
        std::copy_n(row + t * width, width, panel + (t * nk + kk) * width);
    }
  }

  /// Packs rows of a in tiles, as [tile][k][tileM].
  void packLeft(int64_t i, int64_t ni, int64_t k, int64_t nk, int64_t tiles) {
    for (int64_t r = 0; r < tiles * tileM; ++r) {
      if (r < ni)
        loadStrided(
            type, a.data + ((i + r) * a.rowStride + k * a.columnStride) * size,
            a.columnStride, nk, row);
      else
        std::fill_n(row, nk, T(0));
      T *out = left + r / tileM * tileM * nk + r % tileM;
      for (int64_t kk = 0; kk < nk; ++kk)
        out[kk * tileM] = row[kk];
    }
  }

  void storeRow(int64_t i, int64_t j, int64_t nj) {
    std::byte *out = c + (i * cRow + j * cColumn) * size;
    if (cColumn == 1)
      return store(type, out, 0, nj, row);
    uint64_t packed[blockN];
    auto *bytes = reinterpret_cast<std::byte *>(packed);
    store(type, bytes, 0, nj, row);
    CopyDim dim{nj, cColumn, 1};
    copyStrided(size, {&dim, 1}, bytes, out);
  }

  ElementType type;
  int size;
  MatrixSizes sizes;
  MatrixView a, b;
  std::byte *c;
  int64_t cRow, cColumn;
  T *panel, *left, *sums, *row;
};

} // namespace

Status multiplyMatrices(ElementType type, MatrixSizes sizes, MatrixView a,
                        MatrixView b, std::byte *c, int64_t cRowStride,
                        int64_t cColumnStride, Workspace &workspace) {
  return withAccumulator(type, [&](auto zero) {
    using T = decltype(zero);
    Result<std::byte *> work =
        workspace.get(Product<T>::workElements * int64_t(sizeof(T)));
    if (!work)
      return work.status();
    Product<T>(type, sizes, a, b, c, cRowStride, cColumnStride,
               reinterpret_cast<T *>(*work))
        .run();
    return Status();
  });
}

} // namespace ccn::runtime
