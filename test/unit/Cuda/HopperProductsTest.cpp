//===- HopperProductsTest.cpp - Products of warpgroups on the emulator ----===//
//
// Products of tiles are begun, and used when they are done; or without a wait,
// a fence or a group, which is found.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Cuda/HopperUtil.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace cuda {
#include "test/unit/Codegen/DeviceScalars.h"
} // namespace cuda

using namespace ccn;
using namespace ccn::emulator;
using runtime::ElementType;

namespace {

struct ProductUse {
  bool fences = true, commits = true, waits = true, touches = false;
  /// Whether the operands are in copies' memory only when they were fenced.
  bool fencesOperands = true;
  int left = 0;
  int swizzle = 128;
};

/// The product of 64 rows and n columns over 128 bytes of k, in two groups of
/// products; how many sums are not right.
template <class T, int n, bool isATransposed, bool isBTransposed>
int wrongSums(unsigned seed, const ProductUse &use = {}) {
  constexpr int depth = 128 / int(sizeof(T));
  std::mt19937 random(seed);
  auto draw = [&](int lines) {
    std::vector<T> result;
    for (int i = 0; i < lines * depth; ++i)
      result.push_back(cuda::toHalf<T>(static_cast<float>(random() % 9) - 4));
    return result;
  };
  // Row-major: of lines and k, or of k and lines.
  const std::vector<T> a = draw(64), b = draw(n);
  ElementType type = sizeof(T) == 2 ? ElementType::U16 : ElementType::U8;
  auto map = [&](const std::vector<T> &operand, int64_t lines, bool isT) {
    return isT ? mapOf(operand.data(), type, {depth, lines}, {depth, 64},
                       use.swizzle)
               : mapOf(operand.data(), type, {lines, depth}, {lines, depth},
                       use.swizzle);
  };
  CcnTensorMap mapA = map(a, 64, isATransposed),
               mapB = map(b, n, isBTransposed);
  std::vector<float> result(64 * n);
  char *bAt = shared + 64 * 128;
  run(seed, 128, [&] {
    u64 *full = barrierAt(0);
    if (threadIdx.x == 0) {
      beginBarrier(full, 1);
      publishBarriers();
      arriveExpecting(full, (64 + n) * 128);
      auto load = [&](char *to, const CcnTensorMap &from, int lines, bool isT) {
        for (int line = 0; line < (isT ? lines : 64); line += 64)
          loadTile<2>(to + line * depth * 2, &from, {isT ? line : 0, 0}, full);
      };
      load(shared, mapA, 64, isATransposed);
      load(bAt, mapB, n, isBTransposed);
    }
    __syncthreads();
    awaitPhase(full, 0);
    float sums[n / 2];
    for (float &sum : sums)
      sum = 1;
    if (use.fences)
      beginProducts();
    for (int step = 0; step < 4; ++step) {
      auto operand = [&](char *at, bool isT) {
        return describeTile(at + step * (isT ? 2048 : 32), depth * 128, 1024);
      };
      multiplyShared<n, isATransposed, isBTransposed>(
          sums, operand(shared, isATransposed), operand(bAt, isBTransposed),
          step, T{});
      if (use.commits && step % 2)
        commitProducts();
    }
    if (use.touches)
      sums[3] = 0;
    if (use.waits && use.left == 1)
      awaitProducts<1>();
    else if (use.waits)
      awaitProducts<0>();
    int t = static_cast<int>(threadIdx.x);
    for (int i = 0; i < n / 2; ++i) {
      int row = 16 * (t / 32) + t % 32 / 4 + 8 * (i / 2 % 2),
          column = 8 * (i / 4) + 2 * (t % 4) + i % 2;
      result[static_cast<size_t>(row * n + column)] = sums[i];
    }
    awaitProducts<0>();
  });
  auto at = [&](const std::vector<T> &operand, int lines, int line, int k,
                bool isT) {
    return toFloat(operand[static_cast<size_t>(isT ? k * lines + line
                                                   : line * depth + k)]);
  };
  int wrong = 0;
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += at(a, 64, row, k, isATransposed) *
               at(b, n, column, k, isBTransposed);
      wrong += !(result[static_cast<size_t>(row * n + column)] == sum);
    }
  return wrong;
}

TEST(Hopper, ProductsOfEveryShape) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    EXPECT_EQ((wrongSums<cuda::bf16, 64, false, false>(seed)), 0);
    EXPECT_EQ((wrongSums<cuda::bf16, 128, false, true>(seed)), 0);
    EXPECT_EQ((wrongSums<cuda::f16, 256, true, false>(seed)), 0);
    EXPECT_EQ((wrongSums<cuda::f16, 256, true, true>(seed)), 0);
    EXPECT_EQ((wrongSums<cuda::f8e4m3, 128, false, false>(seed)), 0);
    EXPECT_EQ((wrongSums<cuda::f8e5m2, 64, false, false>(seed)), 0);
  }
}

TEST(Hopper, ProductsThatAreUsedWrongly) {
  auto wrong = [](const ProductUse &use) {
    return wrongSums<cuda::bf16, 64, false, false>(1, use);
  };
  ProductUse use;
  use.waits = false;
  EXPECT_EQ(wrong(use), 64 * 64);
  // The last group is not done.
  use = {};
  use.left = 1;
  EXPECT_EQ(wrong(use), 64 * 64);
  use = {};
  use.swizzle = 0;
  EXPECT_GT(wrong(use), 64 * 32);
}

TEST(HopperDeathTest, ProductsThatAreUsedWrongly) {
  auto die = [](const std::function<void(ProductUse &)> &change) {
    ProductUse use;
    change(use);
    (void)wrongSums<cuda::bf16, 64, false, false>(1, use);
  };
  EXPECT_DEATH(die([](ProductUse &use) { use.fences = false; }),
               "a product begins without beginProducts");
  EXPECT_DEATH(die([](ProductUse &use) { use.commits = false; }),
               "it ends before its products were waited for");
  EXPECT_DEATH(die([](ProductUse &use) { use.touches = true; }),
               "sums are touched before their products were waited for");
  EXPECT_DEATH(run(1, 128,
                   [] {
                     float sums[32];
                     beginProducts();
                     u64 at = describeTile(shared, 16, 1024);
                     multiplyShared<64, false, false>(
                         sums, at, at, static_cast<int>(threadIdx.x / 32),
                         cuda::bf16{});
                     commitProducts();
                     awaitProducts<0>();
                   }),
               "threads of a warpgroup begin different products");
  EXPECT_DEATH(run(1, 128,
                   [] {
                     if (threadIdx.x >= 96)
                       return;
                     float sums[32];
                     beginProducts();
                     u64 at = describeTile(shared, 16, 1024);
                     multiplyShared<64, false, false>(sums, at, at, 0,
                                                      cuda::bf16{});
                     commitProducts();
                     awaitProducts<0>();
                   }),
               "a thread of a block waits for ever");
}

struct PackedUse {
  bool fences = true, touches = false;
};

/// The product of 64 rows that threads have in registers, and n columns that
/// they store, over 32 positions k; how many sums are not right.
template <class T, int n> int wrongPacked(unsigned seed, PackedUse use = {}) {
  std::mt19937 random(seed);
  auto draw = [&](size_t count) {
    std::vector<float> result(count);
    for (float &value : result)
      value = static_cast<float>(random() % 9) - 4;
    return result;
  };
  const std::vector<float> a = draw(64 * 32), b = draw(32 * n);
  int wrong = 0;
  run(seed, 128, [&] {
    int t = static_cast<int>(threadIdx.x);
    // Positions k are lines of 128 bytes, of 64 columns.
    for (int i = t; i < 32 * n; i += 128) {
      int k = i / n, column = i % n;
      char *chunk = shared + (column / 64 * 32 + k) * 128 +
                    ((column % 64 / 8) ^ (k & 7)) * 16;
      reinterpret_cast<T *>(chunk)[column % 8] =
          cuda::toHalf<T>(b[static_cast<size_t>(i)]);
    }
    fenceForCopies();
    __syncthreads();
    int row = 16 * (t / 32) + t % 32 / 4;
    unsigned packed[2][4];
    for (int i = 0; i < 8; ++i) {
      auto at = [&](int e) {
        int k = 16 * (i / 4) + 8 * (i / 2 % 2) + 2 * (t % 4) + e;
        return unsigned(
            cuda::toHalf<T>(
                a[static_cast<size_t>((row + 8 * (i % 2)) * 32 + k)])
                .bits);
      };
      packed[i / 4][i % 4] = at(0) | at(1) << 16;
    }
    float sums[n / 2];
    if (use.fences)
      beginProducts();
    for (int step = 0; step < 2; ++step)
      multiplyPacked<n, true>(
          sums, packed[step],
          describeTile(shared + step * 2048, 32 * 128, 1024), step, T{});
    commitProducts();
    if (use.touches)
      packed[1][2] ^= 1;
    awaitProducts<0>();
    for (int i = 0; i < n / 2; ++i) {
      int of = row + 8 * (i / 2 % 2),
          column = 8 * (i / 4) + 2 * (t % 4) + i % 2;
      float sum = 0;
      for (int k = 0; k < 32; ++k)
        sum += a[static_cast<size_t>(of * 32 + k)] *
               b[static_cast<size_t>(k * n + column)];
      wrong += sums[i] != sum;
    }
  });
  return wrong;
}

TEST(Hopper, ProductsOfRegisters) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    EXPECT_EQ((wrongPacked<cuda::bf16, 64>(seed)), 0);
    EXPECT_EQ((wrongPacked<cuda::f16, 128>(seed)), 0);
    EXPECT_EQ((wrongPacked<cuda::bf16, 256>(seed)), 0);
  }
}

TEST(HopperDeathTest, ProductsOfRegistersThatAreUsedWrongly) {
  EXPECT_DEATH((void)(wrongPacked<cuda::bf16, 64>(1, {.fences = false})),
               "a product begins without beginProducts");
  EXPECT_DEATH((void)(wrongPacked<cuda::bf16, 64>(1, {.touches = true})),
               "an operand in registers is touched before");
}

/// Operands that threads store; whether all sums of ones are 16.
bool multipliesOnes(unsigned seed, bool fences, bool keeps) {
  bool isRight = true;
  run(seed, 128, [&] {
    constexpr unsigned short one = 0x3f80;
    unsigned short *words = reinterpret_cast<unsigned short *>(shared);
    for (unsigned i = threadIdx.x; i < 2 * 64 * 64; i += 128)
      words[i] = one;
    if (fences)
      fenceForCopies();
    __syncthreads();
    float sums[32];
    beginProducts();
    multiplyShared<64, false, false>(sums, describeTile(shared, 16, 1024),
                                     describeTile(shared + 8192, 16, 1024), 0,
                                     cuda::bf16{});
    commitProducts();
    if (!keeps) {
      // Too early.
      for (unsigned i = threadIdx.x; i < 2 * 64 * 64; i += 128)
        words[i] = 0;
      fenceForCopies();
    }
    awaitProducts<0>();
    for (float sum : sums)
      isRight &= sum == 16;
  });
  return isRight;
}

TEST(Hopper, ProductsReadWhatWasFencedUntilTheyAreDone) {
  for (unsigned seed = 1; seed <= all; ++seed)
    EXPECT_TRUE(multipliesOnes(seed, true, true));
  EXPECT_EQ(rightOnes([](unsigned seed) {
              return multipliesOnes(seed, false, true);
            }),
            0);
  EXPECT_LT(rightOnes([](unsigned seed) {
              return multipliesOnes(seed, true, false);
            }),
            all);
}

} // namespace
