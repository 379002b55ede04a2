//===- CacheTest.cpp - What a rank's cache holds --------------------------===//

#include "codegen/predict/PartCost.h"
#include "gtest/gtest.h"

using namespace ccn::codegen;

namespace {

constexpr int64_t mega = 1 << 20;

/// Touches `megabytes` of memory number `memory`; returns the part of them that
/// the cache has.
double touch(CacheModel &cache, int memory, int64_t megabytes) {
  auto bytes = static_cast<double>(megabytes * mega);
  return cache.touch({0, memory, 0}, 0, megabytes * mega, bytes) / bytes;
}

} // namespace

TEST(CacheModel, HoldsWhatWasTouchedLast) {
  CacheModel cache(16 * mega);
  EXPECT_DOUBLE_EQ(touch(cache, 0, 4), 0);
  EXPECT_DOUBLE_EQ(touch(cache, 0, 4), 1);
  EXPECT_DOUBLE_EQ(touch(cache, 1, 4), 0);
  EXPECT_DOUBLE_EQ(touch(cache, 0, 4), 1);
}

TEST(CacheModel, LosesWhatWasTouchedLongAgo) {
  CacheModel cache(16 * mega);
  touch(cache, 0, 4);
  touch(cache, 1, 12);
  // Some of it is left, as what was touched since is about as large.
  double held = touch(cache, 0, 4);
  EXPECT_GT(held, 0);
  EXPECT_LT(held, 1);
  touch(cache, 2, 30);
  EXPECT_DOUBLE_EQ(touch(cache, 0, 4), 0);
}

TEST(CacheModel, TakesBackWhatWasTouched) {
  CacheModel cache(16 * mega), same(16 * mega);
  for (CacheModel *each : {&cache, &same}) {
    touch(*each, 0, 4);
    touch(*each, 1, 8);
  }
  cache.begin();
  // What it had, what is new, and both again.
  for (int memory : {0, 2, 0, 2, 1})
    touch(cache, memory, 6);
  cache.takeBack();
  EXPECT_DOUBLE_EQ(touch(cache, 2, 4), touch(same, 2, 4));
  EXPECT_DOUBLE_EQ(touch(cache, 0, 4), touch(same, 0, 4));
  EXPECT_DOUBLE_EQ(touch(cache, 1, 8), touch(same, 1, 8));
  // What is kept stays.
  cache.begin();
  touch(cache, 3, 6);
  cache.keep();
  touch(same, 3, 6);
  EXPECT_DOUBLE_EQ(touch(cache, 3, 6), 1);
  EXPECT_DOUBLE_EQ(touch(same, 3, 6), 1);
  EXPECT_DOUBLE_EQ(touch(cache, 0, 4), touch(same, 0, 4));
}

TEST(CacheModel, DoesNotHoldWhatDoesNotFit) {
  CacheModel cache(16 * mega);
  for (int time = 0; time < 3; ++time)
    EXPECT_DOUBLE_EQ(touch(cache, 0, 64), 0);
  // Nor what was there before.
  touch(cache, 1, 1);
  touch(cache, 0, 64);
  EXPECT_DOUBLE_EQ(touch(cache, 1, 1), 0);
}
