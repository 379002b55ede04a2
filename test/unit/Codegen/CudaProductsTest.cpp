//===- CudaProductsTest.cpp - products.cuh and tables.cuh -----------------===//
//
// Products of matrices, convolutions and rows of tables in CUDA C++, run on the
// CPU, against the runtime's kernels; and their compilation by NVRTC. Products
// are of small whole numbers, whose sums are exact in any order.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/device/CudaSource.h"
#include "codegen/gpu/device/DeviceLibrary.h"
#include "runtime/plan/GpuAbi.h"
#include "runtime/tensor/Convolution.h"
#include "runtime/tensor/MatrixProduct.h"
#include "runtime/tensor/RowTable.h"
#include "test/unit/Codegen/CudaUtil.h"
#include "gtest/gtest.h"

#include "test/common/emulator/Blocks.h"
#include "test/common/emulator/Intrinsics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>

namespace cuda {
#include "test/unit/Codegen/DeviceScalars.h"

/// How often a kernel failed, and with which code last.
static int failures, lastCode;
static void fail(const CcnContext &, int code) {
  ++failures;
  lastCode = code;
}

#include "codegen/gpu/device/tiles.cuh"

#include "codegen/gpu/device/products.cuh"

#include "codegen/gpu/device/tables.cuh"
} // namespace cuda

namespace ccn::codegen {
namespace {

using emulator::runBlocks;
using runtime::ElementType;

template <typename T> constexpr ElementType typeOf = ElementType::F64;
template <> constexpr ElementType typeOf<float> = ElementType::F32;
template <> constexpr ElementType typeOf<cuda::f16> = ElementType::F16;
template <> constexpr ElementType typeOf<cuda::bf16> = ElementType::BF16;
template <> constexpr ElementType typeOf<cuda::f8e4m3> = ElementType::F8E4M3;
template <> constexpr ElementType typeOf<cuda::f8e5m2> = ElementType::F8E5M2;
template <> constexpr ElementType typeOf<signed char> = ElementType::I8;
template <> constexpr ElementType typeOf<unsigned short> = ElementType::U16;
template <> constexpr ElementType typeOf<unsigned> = ElementType::U32;
template <> constexpr ElementType typeOf<long long> = ElementType::I64;

/// Small whole numbers; of integer types any.
template <typename T>
std::vector<T> numbers(long long count, std::mt19937 &random) {
  std::vector<T> result(static_cast<size_t>(count));
  for (T &x : result) {
    int number = static_cast<int>(random() % 9) - 4;
    if constexpr (std::is_integral_v<T>)
      x = static_cast<T>(random() * 0x9e3779b97f4a7c15u);
    else if constexpr (std::is_floating_point_v<T>)
      x = static_cast<T>(number);
    else
      x = cuda::toHalf<T>(static_cast<float>(number));
  }
  return result;
}

template <typename T> const std::byte *bytes(const T *data) {
  return reinterpret_cast<const std::byte *>(data);
}
template <typename T> std::byte *bytes(T *data) {
  return reinterpret_cast<std::byte *>(data);
}

/// Whether they are the same bits.
template <typename T>
void expectSame(const std::vector<T> &found, const std::vector<T> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(std::memcmp(&found[i], &expected[i], sizeof(T)), 0)
        << "element " << i;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// How a matrix lies in memory.
enum class Order { Rows, Columns, Apart, Odd };

/// A matrix and where its elements lie.
template <typename T> struct Stored {
  std::vector<T> memory;
  long long offset = 0, rowStride = 0, columnStride = 0, size = 0;

  Stored(long long rows, long long columns, long long count, Order order,
         std::mt19937 &random) {
    switch (order) {
    case Order::Rows:
      rowStride = columns;
      columnStride = 1;
      break;
    case Order::Columns:
      rowStride = 1;
      columnStride = rows;
      break;
    case Order::Apart:
      rowStride = 3 * columns;
      columnStride = 2;
      break;
    case Order::Odd:
      // Neither aligned nor with whole rows of 8.
      rowStride = columns + 3;
      columnStride = 1;
      offset = 1;
      break;
    }
    size = std::max(rows * rowStride, columns * columnStride);
    memory = numbers<T>(offset + count * size + 8, random);
  }
};

template <typename T, int threads>
void multiplies(long long m, long long n, long long k, Order aOrder,
                Order bOrder, Order cOrder, unsigned seed, int blocks = 2) {
  std::mt19937 random(seed);
  // Two times three products, of which b's do not depend on the first index.
  constexpr long long outer = 2, inner = 3;
  Stored<T> a(m, k, outer * inner, aOrder, random);
  Stored<T> b(k, n, inner, bOrder, random);
  Stored<T> c(m, n, outer * inner, cOrder, random);
  std::vector<T> expected = c.memory;
  runtime::Workspace workspace;
  for (long long i = 0; i < outer; ++i)
    for (long long j = 0; j < inner; ++j) {
      long long number = i * inner + j;
      Status status = runtime::multiplyMatrices(
          typeOf<T>, {m, n, k},
          {bytes(a.memory.data() + a.offset + number * a.size), a.rowStride,
           a.columnStride},
          {bytes(b.memory.data() + b.offset + j * b.size), b.rowStride,
           b.columnStride},
          bytes(expected.data() + c.offset + number * c.size), c.rowStride,
          c.columnStride, workspace);
      ASSERT_TRUE(status) << status.message();
    }
  cuda::Batch<2> batch = {{outer, inner},
                          {inner * a.size, a.size},
                          {0, b.size},
                          {inner * c.size, c.size}};
  runBlocks(blocks, threads, [&] {
    cuda::matmul<T, threads>(batch, m, n, k,
                             cuda::Matrix<const T>{a.memory.data() + a.offset,
                                                   a.rowStride, a.columnStride},
                             cuda::Matrix<const T>{b.memory.data() + b.offset,
                                                   b.rowStride, b.columnStride},
                             cuda::Matrix<T>{c.memory.data() + c.offset,
                                             c.rowStride, c.columnStride});
  });
  SCOPED_TRACE(testing::Message()
               << runtime::name(typeOf<T>) << ", " << threads << " threads, "
               << m << " x " << n << " x " << k << ", orders " << int(aOrder)
               << int(bOrder) << int(cOrder));
  expectSame(c.memory, expected);
}

/// Sizes around those of tiles and their parts.
template <typename T, int threads> void multipliesAll() {
  unsigned seed = 0;
  for (auto [m, n, k] : {std::array<long long, 3>{1, 1, 1},
                         {0, 3, 4},
                         {3, 0, 4},
                         {5, 3, 0},
                         {17, 66, 104},
                         {72, 64, 32},
                         {130, 9, 17}}) {
    multiplies<T, threads>(m, n, k, Order(seed % 4), Order(seed / 2 % 4),
                           Order(seed % 3), seed);
    ++seed;
  }
}

TEST(CudaProducts, EveryType) {
  multipliesAll<double, 256>();
  multipliesAll<float, 256>();
  multipliesAll<cuda::f16, 256>();
  multipliesAll<cuda::bf16, 256>();
  multipliesAll<cuda::f8e4m3, 256>();
  multipliesAll<cuda::f8e5m2, 256>();
  multipliesAll<signed char, 256>();
  multipliesAll<unsigned short, 256>();
  multipliesAll<unsigned, 256>();
  multipliesAll<long long, 256>();
}

TEST(CudaProducts, EveryNumberOfThreads) {
  multipliesAll<double, 128>();
  multipliesAll<double, 512>();
  multipliesAll<double, 1024>();
  multipliesAll<float, 128>();
  multipliesAll<float, 512>();
  multipliesAll<float, 1024>();
  multipliesAll<cuda::f16, 128>();
  multipliesAll<cuda::f16, 512>();
  multipliesAll<cuda::f16, 1024>();
}

TEST(CudaProducts, EveryOrderOnTensorCores) {
  unsigned seed = 0;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      // With more blocks than large tiles there are small ones.
      multiplies<cuda::bf16, 256>(72, 64, 72, Order(a), Order(b),
                                  Order((a + b) % 4), ++seed, 7);
      if (a < 2 && b < 2)
        multiplies<cuda::f16, 256>(72, 64, 104, Order(a), Order(b), Order::Rows,
                                   ++seed, 1);
    }
}

/// Sums of many products of f32 are as good as that in f64 and rounded.
TEST(CudaProducts, LongSumsOfFloats) {
  constexpr long long k = 40000;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> distribution(0, 1);
  std::vector<float> a(k), b(k);
  double expected = 0;
  for (size_t i = 0; i < k; ++i) {
    a[i] = distribution(random);
    b[i] = distribution(random);
    expected += double(a[i]) * double(b[i]);
  }
  float found = 0;
  runBlocks(1, 128, [&] {
    cuda::matmul<float, 128>(cuda::Batch<0>(), 1, 1, k,
                             cuda::Matrix<const float>{a.data(), k, 1},
                             cuda::Matrix<const float>{b.data(), 1, 1},
                             cuda::Matrix<float>{&found, 1, 1});
  });
  // In f32 alone the error is some hundred times that.
  EXPECT_NEAR(found, expected, 0x1p-23 * expected);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The first weight is `first`, if that is given.
template <typename T>
void convolves(cuda::ConvolutionShape shape, std::optional<float> first = {}) {
  std::mt19937 random(11);
  runtime::ConvolutionSizes sizes{shape.images,
                                  shape.channels,
                                  shape.filters,
                                  {shape.height, shape.filterHeight,
                                   shape.stride, shape.padding, shape.padding},
                                  {shape.width, shape.filterWidth, shape.stride,
                                   shape.padding, shape.padding}};
  ASSERT_TRUE(sizes.vertical.setResult() && sizes.horizontal.setResult());
  shape.resultHeight = sizes.vertical.result;
  shape.resultWidth = sizes.horizontal.result;
  std::vector<T> x = numbers<T>(
      shape.images * shape.channels * shape.height * shape.width, random);
  std::vector<T> w = numbers<T>(shape.filters * shape.channels *
                                    shape.filterHeight * shape.filterWidth,
                                random);
  if (first)
    w.front() = cuda::Compute<T>::store(*first);
  std::vector<T> found = numbers<T>(shape.images * shape.filters *
                                        shape.resultHeight * shape.resultWidth,
                                    random);
  std::vector<T> expected = found;
  if (!expected.empty()) {
    runtime::Workspace workspace;
    ASSERT_TRUE(runtime::convolve(typeOf<T>, sizes, bytes(x.data()),
                                  bytes(w.data()), bytes(expected.data()),
                                  workspace));
  }
  runBlocks(3, 256, [&] {
    cuda::conv2d<T, 256>(shape, x.data(), w.data(), found.data());
  });
  expectSame(found, expected);
}

template <typename T> void convolvesAll() {
  convolves<T>({2, 3, 9, 11, 5, 3, 3, 0, 0, 1, 1});
  convolves<T>({1, 2, 12, 7, 3, 5, 2, 0, 0, 2, 3});
  convolves<T>({1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0});
  convolves<T>({1, 0, 4, 4, 2, 3, 3, 0, 0, 1, 0});
  convolves<T>({1, 2, 2, 2, 2, 3, 3, 0, 0, 1, 0});
  // Padding times infinity is NaN.
  if constexpr (!std::is_integral_v<T>)
    convolves<T>({2, 3, 9, 11, 5, 3, 3, 0, 0, 1, 1}, INFINITY);
}

TEST(CudaProducts, Convolution) {
  convolvesAll<float>();
  convolvesAll<cuda::bf16>();
  convolvesAll<double>();
  convolvesAll<unsigned>();
}

//===----------------------------------------------------------------------===//
// Rows of tables
//===----------------------------------------------------------------------===//

/// Elements that are no whole numbers, so that sums show their rounding.
template <typename T>
std::vector<T> fractions(long long count, std::mt19937 &random) {
  std::vector<T> result = numbers<T>(count, random);
  if constexpr (!std::is_integral_v<T>)
    for (T &x : result)
      x = cuda::Compute<T>::store(static_cast<float>(random() % 1000) / 7);
  return result;
}

/// What blocks did before is visible to all that follow, as after a barrier.
template <typename T, typename I>
void scatter(int blocks, runtime::RowTableSizes sizes,
             const std::vector<I> &indices, const std::vector<T> &rows,
             std::vector<T> &to) {
  CcnContext context = {};
  std::vector<long long> memory(indices.size() + 1, -1);
  auto *own =
      cuda::ScatterMemory::at(reinterpret_cast<unsigned char *>(memory.data()));
  runBlocks(blocks, 128, [&] { own->begin(); });
  runBlocks(blocks, 128, [&] {
    cuda::scatterRows<T, I, 128>(context, sizes.tableRows, sizes.rowSize,
                                 sizes.count, indices.data(), rows.data(),
                                 to.data(), own);
  });
}

template <typename T, typename I>
void movesRows(long long tableRows, long long rowSize, long long count,
               ElementType indexType) {
  SCOPED_TRACE(testing::Message()
               << runtime::name(typeOf<T>) << " " << tableRows << " " << rowSize
               << " " << count);
  std::mt19937 random(13);
  std::vector<I> indices(static_cast<size_t>(count));
  for (I &index : indices)
    index = static_cast<I>(random() % static_cast<unsigned>(tableRows));
  std::vector<T> table = fractions<T>(tableRows * rowSize, random);
  std::vector<T> rows = fractions<T>(count * rowSize, random);
  std::vector<T> found = rows, expected = rows;
  runtime::RowTableSizes sizes{tableRows, rowSize, count};
  CcnContext context = {};
  cuda::failures = 0;
  ASSERT_TRUE(runtime::gatherRows(typeOf<T>, sizes, bytes(table.data()),
                                  indexType, bytes(indices.data()),
                                  bytes(expected.data())));
  runBlocks(2, 128, [&] {
    cuda::gatherRows<T, I, 128>(context, tableRows, rowSize, count,
                                table.data(), indices.data(), found.data());
  });
  expectSame(found, expected);

  std::vector<T> sums = table, sumsOfOne = table;
  std::vector<std::pair<int64_t, int64_t>> order;
  ASSERT_TRUE(runtime::addRows(typeOf<T>, sizes, indexType,
                               bytes(indices.data()), bytes(rows.data()),
                               bytes(table.data()), order));
  scatter(3, sizes, indices, rows, sums);
  expectSame(sums, table);
  scatter(1, sizes, indices, rows, sumsOfOne);
  expectSame(sumsOfOne, table);
  EXPECT_EQ(cuda::failures, 0);
}

TEST(CudaProducts, AThreadThatHasEndedStopsItsBlock) {
  // As one that waited for other ranks in vain: nothing is written.
  for (unsigned ended : {0u, 77u}) {
    CcnContext context = {};
    std::vector<long long> memory(9, -1), before = memory;
    std::vector<int> indices = {1, 0, 1, 2, 1, 0, 2, 2};
    std::vector<float> rows(16, 1), to(6, 5);
    auto *own = cuda::ScatterMemory::at(
        reinterpret_cast<unsigned char *>(memory.data()));
    runBlocks(
        2, 128,
        [&] {
          if (threadIdx.x != ended)
            cuda::scatterRows<float, int, 128>(context, 3, 2, 8, indices.data(),
                                               rows.data(), to.data(), own);
        },
        /*mayEnd=*/true);
    EXPECT_EQ(memory, before);
    EXPECT_EQ(to, std::vector<float>(6, 5));
  }
}

TEST(CudaProducts, RowsOfTables) {
  for (long long rowSize : {1, 3, 16, 700})
    for (long long count : {0, 1, 300}) {
      movesRows<float, int>(40, rowSize, count, ElementType::I32);
      movesRows<cuda::bf16, signed char>(100, rowSize, count, ElementType::I8);
      movesRows<double, unsigned long long>(3, rowSize, count,
                                            ElementType::U64);
      movesRows<cuda::f8e4m3, short>(500, rowSize, count, ElementType::I16);
      movesRows<unsigned, unsigned>(1, rowSize, count, ElementType::U32);
    }
}

TEST(CudaProducts, IndicesOutsideOfTables) {
  CcnContext context = {};
  for (long long wrong : {-1ll, 4ll, 1ll << 40}) {
    std::vector<long long> indices = {0, 1, wrong, 2};
    std::vector<float> table(4 * 5, 1), rows(4 * 5, 2), to(4 * 5, 3);
    cuda::failures = cuda::lastCode = 0;
    runBlocks(2, 128, [&] {
      cuda::gatherRows<float, long long, 128>(context, 4, 5, 4, table.data(),
                                              indices.data(), to.data());
    });
    EXPECT_GT(cuda::failures, 0);
    EXPECT_EQ(cuda::lastCode, -1);
    cuda::failures = 0;
    scatter(2, {4, 5, 4}, indices, rows, table);
    EXPECT_EQ(cuda::failures, 1);
  }
}

//===----------------------------------------------------------------------===//
// NVRTC
//===----------------------------------------------------------------------===//

TEST(CudaProducts, CompileForGpus) {
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  std::string source =
      cudaSource("GpuAbi.h").str() + cudaSource("kernel.cuh").str();
  for (llvm::StringRef file : deviceFilesFor(
           "f16 f8e4m3", {"tiles.cuh", "products.cuh", "tables.cuh"}))
    source += cudaSource(file);
  source += R"(
template <class T, int threads>
__device__ void product(const void *a, const void *b, void *c) {
  matmul<T, threads>(Batch<1>{{3}, {6400}, {0}, {9600}}, 80, 120, 40,
                     Matrix<const T>{(const T *)a, 40, 1},
                     Matrix<const T>{(const T *)b, 120, 1},
                     Matrix<T>{(T *)c, 120, 1});
}
extern "C" __global__ void products(const void *a, const void *b, void *c) {
  product<double, 256>(a, b, c);
  product<float, 256>(a, b, c);
  product<f16, 256>(a, b, c);
  product<f8e4m3, 256>(a, b, c);
  product<unsigned char, 256>(a, b, c);
  product<long long, 256>(a, b, c);
}
extern "C" __global__ void large(const void *a, const void *b, void *c,
                                 long long n) {
  product<float, 1024>(a, b, c);
  matmul<bf16, 1024>(Batch<0>{}, n, n, n, Matrix<const bf16>{(const bf16 *)a, 1, n},
                     Matrix<const bf16>{(const bf16 *)b, 1, n},
                     Matrix<bf16>{(bf16 *)c, n, 1});
}
extern "C" __global__ void convolution(const bf16 *x, const bf16 *w, bf16 *y) {
  conv2d<bf16, 256>({2, 3, 9, 11, 5, 3, 3, 9, 11, 1, 1}, x, w, y);
}
extern "C" __global__ void rows(CcnContext context, const bf16 *table,
                                const int *indices, bf16 *to) {
  gatherRows<bf16, int, 256>(context, 10, 7, 5, table, indices, to);
  scatterRows<bf16, int, 256>(context, 10, 7, 5, indices, table, to,
                              ScatterMemory::at(context.workspace));
}
)";
  for (const char *target : {"sm_80", "sm_90a"})
    EXPECT_EQ(compileCuda(source, target), "");
}

} // namespace
} // namespace ccn::codegen
