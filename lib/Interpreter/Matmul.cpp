//===- Matmul.cpp - Matrix products ---------------------------------------===//
//
// The textbook triple loop, cut into blocks of columns and of k that stay in
// the caches. Blocking does not touch the order in which one element's
// products are added: k increases throughout.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Matmul.h"

#include "lib/Interpreter/Blocks.h"

namespace ccn::interp {

namespace {

/// A panel of blockK x blockN doubles takes 256 KB: half a second-level cache.
constexpr int64_t blockN = 256, blockK = 128;

struct Sizes {
  int64_t m, n, k;
};

/// One product of row-major matrices that begin at elements `aFirst` of `a`,
/// `bFirst` of `b` and `outFirst` of `out`. `sums` has room for m * blockN.
template <typename T>
void multiply(const HostTensor &a, int64_t aFirst, const HostTensor &b,
              int64_t bFirst, std::byte *out, int64_t outFirst, Sizes sizes,
              T *sums, T *panel) {
  T row[blockK];
  for (int64_t j = 0; j < sizes.n; j += blockN) {
    int64_t nj = std::min(blockN, sizes.n - j);
    std::fill_n(sums, sizes.m * nj, T(0));
    for (int64_t k = 0; k < sizes.k; k += blockK) {
      int64_t nk = std::min(blockK, sizes.k - k);
      for (int64_t kk = 0; kk < nk; ++kk)
        load(b.type(), b.data(), bFirst + (k + kk) * sizes.n + j, nj,
             panel + kk * nj);
      for (int64_t i = 0; i < sizes.m; ++i) {
        load(a.type(), a.data(), aFirst + i * sizes.k + k, nk, row);
        T *sum = sums + i * nj;
        for (int64_t kk = 0; kk < nk; ++kk) {
          const T *right = panel + kk * nj;
          for (int64_t jj = 0; jj < nj; ++jj)
            sum[jj] =
                addWrapping(sum[jj], multiplyWrapping(row[kk], right[jj]));
        }
      }
    }
    for (int64_t i = 0; i < sizes.m; ++i)
      store(a.type(), out, outFirst + i * sizes.n + j, nj, sums + i * nj);
  }
}

} // namespace

Result<HostTensor> matmul(const HostTensor &a, const HostTensor &b) {
  auto refuse = [&](const char *expected) {
    return error("matmul expects ", expected, ", found ", a.describe(), " and ",
                 b.describe());
  };
  if (a.type() != b.type())
    return refuse("operands of one element type");
  if (a.type() == ElementType::Bool)
    return refuse("numbers");
  if (a.rank() < 2 || b.rank() < 2)
    return refuse("operands of rank at least 2");
  Shape batchA(a.shape().begin(), a.shape().end() - 2);
  Shape batchB(b.shape().begin(), b.shape().end() - 2);
  if (!batchA.empty() && !batchB.empty() && batchA != batchB)
    return refuse("equal batch dimensions or an operand of rank 2");
  Sizes sizes = {a.size(a.rank() - 2), b.size(b.rank() - 1),
                 a.size(a.rank() - 1)};
  if (sizes.k != b.size(b.rank() - 2))
    return refuse("as many columns on the left as rows on the right");

  Shape shape = batchA.empty() ? batchB : batchA;
  int64_t batches = *elementCount(shape);
  shape.push_back(sizes.m);
  shape.push_back(sizes.n);
  Result<HostTensor> result = HostTensor::uninitialized(a.type(), shape);
  if (!result || result->count() == 0)
    return result;
  int64_t aStep = batchA.empty() ? 0 : sizes.m * sizes.k;
  int64_t bStep = batchB.empty() ? 0 : sizes.k * sizes.n;
  return withAccumulator(a.type(), [&](auto zero) -> Result<HostTensor> {
    using T = decltype(zero);
    Result<HostTensor> sums = HostTensor::uninitialized(
        ElementType::U8,
        {sizes.m, std::min(blockN, sizes.n), int64_t(sizeof(T))});
    if (!sums)
      return sums;
    std::vector<T> panel(blockK * blockN);
    std::byte *out = result->mutableData();
    for (int64_t i = 0; i < batches; ++i)
      multiply(a, i * aStep, b, i * bStep, out, i * sizes.m * sizes.n, sizes,
               sums->mutableDataAs<T>(), panel.data());
    return result;
  });
}

} // namespace ccn::interp
