//===- LibraryProductTest.cpp - Matrix products by cuBLASLt ---------------===//
//
// How the library is to see a product, against what the plan says; and plans
// whose products the library does, on the driver of FakeCuda.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/LibraryProduct.h"

#include "runtime/cuda/GpuMachine.h"
#include "runtime/cuda/GpuRuns.h"
#include "runtime/team/SymmetricHeap.h"
#include "test/unit/Package/SamplePackages.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

using namespace ccn;
using namespace ccn::runtime;

namespace {

MatmulPart part(std::vector<int64_t> batch, int64_t m, int64_t n, int64_t k,
                std::vector<int64_t> a, std::vector<int64_t> b,
                std::vector<int64_t> c) {
  MatmulPart made;
  made.batch = std::move(batch);
  made.m = m;
  made.n = n;
  made.k = k;
  made.a = {0, 0, std::move(a), -1};
  made.b = {1, 0, std::move(b), -1};
  made.c = {2, 0, std::move(c), -1};
  return made;
}

/// Where the library finds element (i, j) of an operand.
int64_t place(const LibraryMatrix &matrix, int64_t batch, int64_t i,
              int64_t j) {
  if (matrix.isTransposed)
    std::swap(i, j);
  EXPECT_LT(i, matrix.rows);
  EXPECT_LT(j, matrix.columns);
  return batch * matrix.batchStride + i + j * matrix.leading;
}

/// Whether it reads and writes the elements that the plan says.
void expectTheSame(const MatmulPart &p) {
  std::optional<LibraryForm> form = libraryForm(p);
  ASSERT_TRUE(form.has_value());
  EXPECT_FALSE(form->out.isTransposed);
  size_t dims = p.batch.size();
  int64_t batch = 0;
  std::vector<int64_t> index(dims, 0);
  auto at = [&](const View &view, int64_t i, int64_t j) {
    int64_t offset = i * view.strides[dims] + j * view.strides[dims + 1];
    for (size_t d = 0; d < dims; ++d)
      offset += index[d] * view.strides[d];
    return offset;
  };
  const LibraryMatrix &a = form->isSwapped ? form->right : form->left;
  const LibraryMatrix &b = form->isSwapped ? form->left : form->right;
  auto seen = [&](const LibraryMatrix &matrix, int64_t i, int64_t j) {
    return form->isSwapped ? place(matrix, batch, j, i)
                           : place(matrix, batch, i, j);
  };
  for (; batch < form->batch; ++batch) {
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t k = 0; k < p.k; ++k)
        EXPECT_EQ(seen(a, i, k), at(p.a, i, k));
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t j = 0; j < p.n; ++j)
        EXPECT_EQ(seen(b, k, j), at(p.b, k, j));
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j)
        EXPECT_EQ(seen(form->out, i, j), at(p.c, i, j));
    for (size_t d = dims; d-- > 0;) {
      if (++index[d] < p.batch[d])
        break;
      index[d] = 0;
    }
  }
}

TEST(LibraryForm, SeesEveryOrderOfEveryMatrix) {
  for (auto [m, n, k] : {std::tuple(5, 7, 3),
                         {1, 7, 3},
                         {5, 1, 3},
                         {5, 7, 1},
                         {1, 1, 9},
                         {1, 8, 1},
                         {6, 1, 1},
                         {1, 1, 1}})
    for (int orders = 0; orders < 8; ++orders)
      for (int64_t padding : {0, 2}) {
        auto matrix = [&](int64_t rows, int64_t columns, bool isTransposed) {
          return isTransposed ? std::vector<int64_t>{1, rows + padding}
                              : std::vector<int64_t>{columns + padding, 1};
        };
        expectTheSame(part({}, m, n, k, matrix(m, k, orders & 1),
                           matrix(k, n, orders & 2), matrix(m, n, orders & 4)));
      }
}

TEST(LibraryForm, ABatchHasOneStride) {
  // Row-major, 2 * 3 of them; the right side is the same for all.
  expectTheSame(
      part({2, 3}, 4, 5, 6, {72, 24, 6, 1}, {0, 0, 5, 1}, {60, 20, 5, 1}));
  // A dimension of one has any stride.
  expectTheSame(
      part({3, 1}, 4, 5, 6, {24, 99, 6, 1}, {30, 7, 5, 1}, {20, 0, 5, 1}));
  // Each second one, and another order of the batch: two strides.
  EXPECT_FALSE(libraryForm(
      part({2, 3}, 4, 5, 6, {144, 24, 6, 1}, {0, 0, 5, 1}, {60, 20, 5, 1})));
  EXPECT_FALSE(libraryForm(
      part({2, 3}, 4, 5, 6, {24, 48, 6, 1}, {0, 0, 5, 1}, {60, 20, 5, 1})));
}

TEST(LibraryForm, WhatItCannot) {
  // No dimension of stride 1; repeated elements; nothing to do.
  EXPECT_FALSE(libraryForm(part({}, 4, 5, 6, {12, 2}, {5, 1}, {5, 1})));
  EXPECT_FALSE(libraryForm(part({}, 4, 5, 6, {0, 1}, {5, 1}, {5, 1})));
  EXPECT_FALSE(libraryForm(part({}, 4, 5, 6, {1, 0}, {5, 1}, {5, 1})));
  EXPECT_FALSE(libraryForm(part({}, 4, 5, 0, {0, 1}, {5, 1}, {5, 1})));
  EXPECT_FALSE(
      libraryForm(part({0}, 4, 5, 6, {24, 6, 1}, {30, 5, 1}, {20, 5, 1})));
  // Too large for it.
  EXPECT_FALSE(libraryForm(
      part({}, 4, 5, int64_t(1) << 32, {int64_t(1) << 32, 1}, {5, 1}, {5, 1})));
}

TEST(LibraryForm, RandomStrides) {
  std::mt19937 random(1);
  int done = 0;
  for (int i = 0; i < 20000; ++i) {
    auto draw = [&](int most) {
      return static_cast<int64_t>(random() % static_cast<unsigned>(most));
    };
    auto strides = [&] {
      std::vector<int64_t> list;
      for (int j = 0; j < 3; ++j)
        list.push_back(draw(2) ? 1 : draw(13));
      return list;
    };
    MatmulPart p = part({1 + draw(3)}, 1 + draw(3), 1 + draw(3), 1 + draw(3),
                        strides(), strides(), strides());
    if (!libraryForm(p))
      continue;
    ++done;
    expectTheSame(p);
  }
  EXPECT_GT(done, 1000);
}

/// c[2, 3] = a[2, 4] * b[4, 3]; d = c * e, where c begins at `offset`, in two
/// launches. The kernel in place of the products copies b to d.
Package twoProducts(int64_t offset) {
  Package package = averageOnGpus(1, 16);
  Plan &plan = package.plan;
  plan.arguments.clear();
  RankPlan own;
  const std::pair<const char *, int64_t> sizes[] = {
      {"a", 8}, {"b", 12}, {"c", 6 + offset}, {"d", 12}};
  for (const auto &[name, size] : sizes) {
    auto number = static_cast<int64_t>(plan.arguments.size());
    plan.arguments.push_back({name,
                              ArgumentKind::InOut,
                              ElementType::F64,
                              {size},
                              0,
                              true,
                              "f64",
                              false});
    own.buffers.push_back({Memory::Argument, ElementType::F64, size, number});
    own.placements.push_back({{0}, {size}});
  }
  MatmulPart first = part({}, 2, 3, 4, {4, 1}, {3, 1}, {3, 1});
  first.c.offset = offset;
  // By itself, transposed: d[3, 3] = c^T * c.
  MatmulPart second = part({}, 3, 3, 2, {1, 3}, {3, 1}, {3, 1});
  second.a.buffer = second.b.buffer = 2;
  second.a.offset = second.b.offset = offset;
  second.c.buffer = 3;
  own.launches = {{"first", 0, {}, {first}}, {"second", 0, {}, {second}}};
  plan.ranks = {own};
  GpuProgram &gpu = *package.gpu;
  gpu.symmetricBytes = 0;
  gpu.flags = 0;
  // Floats: half of the doubles.
  gpu.launches = {{{2, 1, 0, {0, 24, 0}, GpuProduct{first, true}},
                   {2, 1, 0, {0, 24, 0}, GpuProduct{second, true}}}};
  gpu.segments = {{1, {{}, {}}, {}}, {1, {{}, {}}, {}}};
  return package;
}

/// What d is after a run, and c.
std::vector<double> run(int64_t offset, ProductChoice products,
                        const std::function<void(Package &)> &change = nullptr,
                        std::vector<double> *ofC = nullptr) {
  Package package = twoProducts(offset);
  if (change)
    change(package);
  std::vector<double> a = {1, 2, 3, 4, 5, 6, 7, 8}, b(12), d(12, -1),
                      c(static_cast<size_t>(6 + offset), -1);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<double>(i) - 3;
  auto heap = SymmetricHeap::create(1, gpuTransportBytes(package.plan));
  EXPECT_TRUE(heap.ok());
  GpuExecutorOptions options;
  options.products = products;
  auto executor =
      GpuExecutor::create(package.plan, *package.gpu, 0, **heap, options);
  EXPECT_EQ(executor.message(), "");
  if (!executor)
    return {};
  auto runs = GpuRuns::create(**executor, package.plan, 0);
  EXPECT_EQ(runs.message(), "");
  std::vector<void *> arguments = {a.data(), b.data(), c.data(), d.data()};
  EXPECT_EQ((*runs)->upload(arguments).message(), "");
  EXPECT_EQ((*runs)->run().message(), "");
  EXPECT_EQ((*runs)->download(arguments).message(), "");
  if (ofC)
    *ofC = c;
  return d;
}

TEST(LibraryProduct, TheLibraryMultiplies) {
  if (Status status = checkGpus(); !status)
    GTEST_SKIP() << status.message();
  // c = {{30, 40, 50}, {54, 80, 106}}
  std::vector<double> expected = {3816, 5520,  7224,  5520, 8000, 10480,
                                  7224, 10480, 13736, -1,   -1,   -1};
  for (ProductChoice choice : {ProductChoice::Auto, ProductChoice::CublasLt}) {
    EXPECT_EQ(run(0, choice), expected);
    EXPECT_EQ(run(2, choice), expected);
  }
}

/// A product of f64 by the library, of matrices whose rows have such lengths.
void expectProduct(int64_t m, int64_t n, int64_t k, int64_t offset) {
  Package package = twoProducts(0);
  Plan &plan = package.plan;
  // The last is not used.
  const std::pair<int64_t, int64_t> sizes[] = {{m, k}, {k, n}, {m, n}, {1, 1}};
  RankPlan &own = plan.ranks.front();
  std::vector<std::vector<double>> data;
  std::mt19937 random(1);
  for (size_t i = 0; i < std::size(sizes); ++i) {
    int64_t size = sizes[i].first * sizes[i].second + offset;
    plan.arguments[i].shape = {size};
    own.buffers[i].count = size;
    own.placements[i] = {{0}, {size}};
    data.emplace_back(static_cast<size_t>(size));
    for (double &x : data.back())
      x = static_cast<double>(random() % 17) - 8;
  }
  MatmulPart product = part({}, m, n, k, {k, 1}, {n, 1}, {n, 1});
  product.a.offset = product.b.offset = product.c.offset = offset;
  own.launches = {{"product", 0, {}, {product}}};
  GpuProgram &gpu = *package.gpu;
  gpu.launches = {{{2, 1, 0, {0, 24, 0}, GpuProduct{product, true}}}};
  gpu.segments = {{1, {{}, {}}, {}}};
  auto heap = SymmetricHeap::create(1, gpuTransportBytes(plan));
  ASSERT_TRUE(heap.ok());
  GpuExecutorOptions options;
  options.products = ProductChoice::CublasLt;
  auto executor = GpuExecutor::create(plan, gpu, 0, **heap, options);
  ASSERT_EQ(executor.message(), "");
  auto runs = GpuRuns::create(**executor, plan, 0);
  ASSERT_EQ(runs.message(), "");
  std::vector<void *> arguments;
  for (std::vector<double> &each : data)
    arguments.push_back(each.data());
  const std::vector<double> c = data[2];
  ASSERT_EQ((*runs)->upload(arguments).message(), "");
  // What the first leaves in copies is no part of the second.
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ((*runs)->run().message(), "");
  ASSERT_EQ((*runs)->download(arguments).message(), "");
  auto at = [&](size_t matrix, int64_t row, int64_t column) {
    return data[matrix][static_cast<size_t>(
        offset + row * sizes[matrix].second + column)];
  };
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += at(0, i, l) * at(1, l, j);
      ASSERT_EQ(at(2, i, j), sum) << i << ", " << j;
    }
  for (int64_t i = 0; i < offset; ++i)
    EXPECT_EQ(data[2][static_cast<size_t>(i)], c[static_cast<size_t>(i)]);
}

// A launch that goes on after a product has the library do that, and its kernel
// what is left; or all of it.
TEST(LibraryProduct, KernelsGoOnAfterProducts) {
  if (Status status = checkGpus(); !status)
    GTEST_SKIP() << status.message();
  std::vector<double> copied;
  for (int i = 0; i < 12; ++i)
    copied.push_back(i - 3);
  auto goOn = [](Package &package) {
    // As the kernel does.
    std::vector<Launch> &launches = package.plan.ranks.front().launches;
    launches.pop_back();
    launches[0].parts.push_back(
        CopyPart{{12}, {1, 0, {1}, -1}, {3, 0, {1}, -1}});
    package.gpu->launches.front().pop_back();
    package.gpu->launches.front().front().product->isAll = false;
    package.gpu->segments.pop_back();
  };
  std::vector<double> product = {30, 40, 50, 54, 80, 106},
                      none(product.size(), -1), c;
  EXPECT_EQ(run(0, ProductChoice::CublasLt, goOn, &c), copied);
  EXPECT_EQ(c, product);
  EXPECT_EQ(run(0, ProductChoice::Kernels, goOn, &c), copied);
  EXPECT_EQ(c, none);
}

TEST(LibraryProduct, RowsOfOddLengthsAreFilledUp) {
  if (Status status = checkGpus(); !status)
    GTEST_SKIP() << status.message();
  expectProduct(481, 483, 485, 0);
  // Copies need no alignment.
  expectProduct(487, 482, 483, 1);
}

TEST(LibraryProduct, CopiesTakeWhatOthersLeave) {
  if (Status status = checkGpus(); !status)
    GTEST_SKIP() << status.message();
  auto device = GpuDevice::open(0);
  ASSERT_EQ(device.message(), "");
  CurrentContext current((*device)->driver, (*device)->context);
  MatmulPart odd = part({}, 481, 483, 485, {485, 1}, {483, 1}, {483, 1});
  // Rows and columns of f64 in pairs.
  const int64_t bytes = 8 * (482 * 486 + 486 * 484 + 482 * 484);
  for (int64_t before : {bytes + 5, bytes, bytes - 1, int64_t{0}}) {
    int64_t spare = before;
    auto made = LibraryProduct::create(**device, odd, ElementType::F64, spare);
    ASSERT_EQ(made.message(), "");
    ASSERT_TRUE(*made);
    EXPECT_EQ((*made)->mustAlign(), before < bytes);
    EXPECT_EQ(spare, before < bytes ? before : before - bytes);
  }
}

TEST(LibraryForm, IsPaddedWhereThatPays) {
  auto pad = [](const MatmulPart &p, int64_t size) {
    return paddedForm(*libraryForm(p), size, LibraryProduct::alignment);
  };
  auto rowMajor = [](int64_t m, int64_t n, int64_t k) {
    return part({}, m, n, k, {k, 1}, {n, 1}, {n, 1});
  };
  std::optional<LibraryForm> padded = pad(rowMajor(1001, 1002, 1003), 2);
  ASSERT_TRUE(padded);
  // Swapped: the transposes.
  EXPECT_EQ(padded->left.rows, 1008);
  EXPECT_EQ(padded->left.columns, 1008);
  EXPECT_EQ(padded->right.rows, 1008);
  EXPECT_EQ(padded->right.columns, 1008);
  EXPECT_EQ(padded->out.leading, 1008);
  EXPECT_FALSE(pad(rowMajor(1001, 1008, 1000), 2));
  EXPECT_FALSE(pad(rowMajor(1001, 1002, 1002), 8));
  EXPECT_TRUE(pad(rowMajor(1001, 1002, 1003), 8));
  // Copies would take longer.
  EXPECT_FALSE(pad(rowMajor(101, 8001, 8003), 2));
  EXPECT_FALSE(pad(part({2}, 1001, 1002, 1003, {1004003, 1003, 1},
                        {1005006, 1002, 1}, {1003002, 1002, 1}),
                   2));
}

TEST(LibraryProduct, KernelsDoWhereItDoesNotOrCannot) {
  if (Status status = checkGpus(); !status)
    GTEST_SKIP() << status.message();
  std::vector<double> copied;
  for (int i = 0; i < 12; ++i)
    copied.push_back(i - 3);
  EXPECT_EQ(run(0, ProductChoice::Kernels), copied);
  // Addresses that are multiples of 8 bytes only.
  EXPECT_EQ(run(1, ProductChoice::Auto), copied);
}

} // namespace
