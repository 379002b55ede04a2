//===- RandomTest.cpp - Counter-based random numbers ----------------------===//
//
// Philox against the known answers published with Random123 (file kat_vectors),
// and that slices draw what the whole draws.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Random.h"

#include "lib/Interpreter/Movement.h"

#include "runtime/base/Hash.h"

#include "TestUtil.h"

using namespace ccn::interp;

namespace {

using enum ElementType;
using Counter = std::array<uint32_t, 4>;

TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Fnv1a, KnownAnswers) {
  EXPECT_EQ(ccn::runtime::fnv1a(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(ccn::runtime::fnv1a("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(ccn::runtime::fnv1a("foobar"), 0x85944171f73967e8ULL);
}

TEST(Dropout, FollowsItsDefinition) {
  uint64_t seed = 0x0123456789abcdefULL;
  Shape shape = {3, 1111};
  for (ElementType type : {F64, F32, F16, BF16, F8E4M3, F8E5M2}) {
    HostTensor x = randomTensor(type, shape, 1);
    double p = 0.3;
    HostTensor y = get(dropout(x, p, seed, {shape, {0, 0}}));
    int kept = 0;
    for (int64_t i = 0; i < x.count(); ++i) {
      Counter lanes =
          philox4x32({uint32_t(i / 4), 0, 0, 0}, {0x89abcdef, 0x01234567});
      double u = (lanes[size_t(i % 4)] >> 8) / 16777216.0;
      double expected = 0;
      if (u >= p) {
        ++kept;
        double exact = type == F64 ? x.doubleAt(i) * (1 / (1 - p))
                                   : float(x.doubleAt(i)) * float(1 / (1 - p));
        expected = floats(type, {}, {exact}).doubleAt(0);
      }
      ASSERT_EQ(y.doubleAt(i), expected) << name(type) << " element " << i;
    }
    EXPECT_NEAR(kept / 3333.0, 0.7, 0.03);
  }
}

TEST(Dropout, SlicesDrawWhatTheWholeDraws) {
  Shape shape = {5, 3, 7};
  HostTensor x = randomTensor(F32, shape, 2);
  HostTensor whole = get(dropout(x, 0.5, 9, {shape, {0, 0, 0}}));
  for (int64_t a = 0; a <= 5; ++a)
    for (int64_t b = 0; b <= 3; ++b)
      for (int64_t c = 0; c <= 7; ++c) {
        Box box = {{a, b, c}, {(5 - a + 1) / 2, 3 - b, (7 - c) / 2}};
        HostTensor slice = get(extractBox(x, box));
        EXPECT_TRUE(same(get(dropout(slice, 0.5, 9, {shape, box.offsets})),
                         get(extractBox(whole, box))));
      }
}

TEST(Dropout, IndicesBeyond32Bits) {
  // The far end of a tensor too large to exist: index 2^40 + 5.
  Shape global = {1LL << 37, 8};
  HostTensor x = floats(F64, {1, 1}, {1});
  for (uint64_t seed = 0; seed < 64; ++seed) {
    HostTensor y = get(dropout(x, 0.5, seed, {global, {(1LL << 37) - 1, 5}}));
    uint64_t index = (1ULL << 40) - 8 + 5;
    Counter lanes =
        philox4x32({uint32_t(index / 4), uint32_t(index / 4 >> 32), 0, 0},
                   {uint32_t(seed), 0});
    EXPECT_EQ(y.doubleAt(0), lanes[index % 4] >> 31 ? 2 : 0);
  }
}

TEST(Dropout, KeepsAtTheProbabilityItself) {
  // Element 0 draws u; it is kept if p is u, and dropped if p is just above.
  double u = (philox4x32({0, 0, 0, 0}, {7, 0})[0] >> 8) / 16777216.0;
  HostTensor x = floats(F32, {1}, {1});
  EXPECT_GT(get(dropout(x, u, 7, {{1}, {0}})).doubleAt(0), 0);
  EXPECT_EQ(get(dropout(x, std::nextafter(u, 1), 7, {{1}, {0}})).doubleAt(0),
            0);
}

TEST(Dropout, Extremes) {
  HostTensor x = floats(F32, {4}, {1, NaN, infinity, -2});
  GlobalPosition all = {{4}, {0}};
  EXPECT_TRUE(same(get(dropout(x, 0, 1, all)), x));
  EXPECT_EQ(doubles(get(dropout(x, 1, 1, all))),
            (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(get(dropout(floats(F32, {}, {3}), 0, 1, {{}, {}})).doubleAt(0), 3);
  EXPECT_EQ(get(dropout(get(HostTensor::zeros(F32, {2, 0})), 0.5, 1,
                        {{2, 0}, {0, 0}}))
                .count(),
            0);
  EXPECT_EQ(get(dropout(get(HostTensor::zeros(F32, {0})), 0.5, 1, {{4}, {4}}))
                .count(),
            0);
  expectError(dropout(x, -0.1, 1, all), "between 0 and 1", "-0.1");
  expectError(dropout(x, 1.5, 1, all), "1.5");
  expectError(dropout(x, NaN, 1, all), "between 0 and 1");
  expectError(dropout(iota(I32, {4}), 0.5, 1, all), "floats", "i32[4]");
  expectError(dropout(x, 0.5, 1, {{3}, {0}}), "f32[4]", "f32[3]");
  expectError(dropout(x, 0.5, 1, {{6}, {3}}), "does not lie inside");
  expectError(dropout(x, 0.5, 1, {{4, 1}, {0, 0}}), "does not lie inside");
  expectError(dropout(x, 0.5, 1, {{1LL << 62, 4}, {0, 0}}), "64 bits");
}

TEST(RandomFill, RangesAndDistribution) {
  Shape shape = {100, 101};
  for (ElementType type : allElementTypes) {
    HostTensor x = get(randomFill(type, shape, {shape, {0, 0}}, 4, "g"));
    double sum = 0, low = infinity, high = -infinity;
    for (double value : doubles(x)) {
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    double mean = sum / 10100;
    if (type == Bool) {
      EXPECT_NEAR(mean, 0.5, 0.02);
    } else if (isFloat(type)) {
      EXPECT_NEAR(mean, 0.5, 0.02) << name(type);
      EXPECT_LE(high, 1);
      if (sizeInBytes(type) > 1) {
        EXPECT_GT(low, 0);
      }
    } else {
      EXPECT_NEAR(mean, 1.5, 0.05) << name(type);
      EXPECT_EQ(low, 0);
      EXPECT_EQ(high, 3);
    }
  }
}

TEST(RandomFill, LargeMatricesAreScaled) {
  for (ElementType type : allElementTypes)
    for (const Shape &shape : {Shape{}, Shape{4096}, Shape{8, 4096}})
      EXPECT_EQ(drawScale(type, shape), 1) << name(type);
  EXPECT_EQ(drawScale(F16, {9, 4}), 0.5);
  EXPECT_EQ(drawScale(F16, {1024, 4096}), 0x1p-7);
  EXPECT_EQ(drawScale(F16, {64, 1024, 4}), 0x1p-7) << "of each of 64 matrices";
  EXPECT_EQ(drawScale(F32, {64, 32, 3, 3}), 0x1p-4) << "of filters";
  EXPECT_EQ(drawScale(F32, {0, 0}), 1);
  EXPECT_EQ(drawScale(I32, {1024, 4096}), 1);
  // What is smaller than these would lose bits, and then be 0.
  EXPECT_EQ(drawScale(F16, {1 << 30, 4}), 0x1p-11);
  EXPECT_EQ(drawScale(F8E4M3, {1 << 30, 4}), 0x1p-3);
  EXPECT_EQ(drawScale(F8E5M2, {1 << 30, 4}), 0x1p-11);
  EXPECT_EQ(drawScale(BF16, {1 << 30, 4}), 0x1p-27);
  // A scale is exact.
  Shape shape = {3, 5};
  for (ElementType type : {F64, F32, F16}) {
    std::vector<double> whole =
        doubles(get(randomFill(type, shape, {shape, {0, 0}}, 4, "g")));
    std::vector<double> half =
        doubles(get(randomFill(type, shape, {shape, {0, 0}}, 4, "g", 0.5)));
    for (size_t i = 0; i < whole.size(); ++i)
      EXPECT_EQ(half[i], whole[i] / 2);
  }
}

TEST(RandomFill, IndependentOfSlicing) {
  Shape shape = {6, 5};
  for (ElementType type : allElementTypes) {
    HostTensor whole = get(randomFill(type, shape, {shape, {0, 0}}, 4, "w"));
    Box box = {{2, 1}, {3, 3}};
    EXPECT_TRUE(
        same(get(randomFill(type, box.sizes, {shape, box.offsets}, 4, "w")),
             get(extractBox(whole, box))));
  }
}

TEST(RandomFill, LargeSlicesDrawWhatTheirPartsDraw) {
  // Several threads draw the slice, one each part.
  Shape global = {4, 400'009}, offsets = {1, 11}, shape = {3, 300'007};
  for (ElementType type : {F64, BF16, I8, Bool}) {
    HostTensor slice = get(randomFill(type, shape, {global, offsets}, 4, "w"));
    for (int64_t row = 0; row < shape[0]; ++row)
      for (int64_t first = 0; first < shape[1]; first += 50'021) {
        Box box = {{row, first},
                   {1, std::min(int64_t(50'021), shape[1] - first)}};
        Shape place = {offsets[0] + row, offsets[1] + first};
        ASSERT_TRUE(
            same(get(randomFill(type, box.sizes, {global, place}, 4, "w")),
                 get(extractBox(slice, box))))
            << name(type) << " row " << row << " from " << first;
      }
  }
}

TEST(RandomFill, DependsOnSeedAndStream) {
  Shape shape = {64};
  auto fill = [&](uint64_t seed, const char *stream) {
    return get(randomFill(F32, shape, {shape, {0}}, seed, stream));
  };
  EXPECT_TRUE(same(fill(1, "a"), fill(1, "a")));
  EXPECT_FALSE(same(fill(1, "a"), fill(2, "a")));
  EXPECT_FALSE(same(fill(1, "a"), fill(1ULL << 32 | 1, "a")));
  EXPECT_FALSE(same(fill(1, "a"), fill(1, "b")));
  Counter lanes = philox4x32({0, 0, uint32_t(ccn::runtime::fnv1a("a")),
                              uint32_t(ccn::runtime::fnv1a("a") >> 32)},
                             {1, 0});
  EXPECT_EQ(fill(1, "a").doubleAt(2),
            float(((lanes[2] >> 8) + 1) / 16777216.0));
}

} // namespace
