//===- ReduceTest.cpp - Reductions of a tensor and across ranks -----------===//

#include "lib/Interpreter/Reduce.h"

#include "TestUtil.h"

using namespace ccn::interp;

namespace {

using enum ElementType;

constexpr ReduceKind kinds[] = {ReduceKind::Sum, ReduceKind::Prod,
                                ReduceKind::Max, ReduceKind::Min};

/// One step in the accumulator T, written without the library's helpers.
template <typename T> T stepOf(ReduceKind kind, T a, T b) {
  switch (kind) {
  case ReduceKind::Prod:
    return a * b;
  case ReduceKind::Max:
    return std::isnan(double(a)) || a > b ? a : b;
  case ReduceKind::Min:
    return std::isnan(double(a)) || a < b ? a : b;
  default:
    return a + b;
  }
}

/// Reduces by walking over all elements and decoding each one's index.
template <typename T>
HostTensor slowReduce(ReduceKind kind, const HostTensor &x,
                      const std::vector<int64_t> &dims) {
  Shape shape;
  std::vector<bool> reduced(size_t(x.rank()));
  for (int64_t dim : dims)
    reduced[size_t(dim)] = true;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (!reduced[size_t(dim)])
      shape.push_back(x.size(dim));
  auto n = size_t(get(elementCount(shape)));
  std::vector<T> sums(n);
  std::vector<bool> seen(n);
  for (int64_t i = 0; i < x.count(); ++i) {
    int64_t rest = i, target = 0;
    Shape strides = rowMajorStrides(x.shape());
    for (int64_t dim = 0; dim < x.rank(); ++dim) {
      int64_t index = rest / strides[size_t(dim)];
      rest %= strides[size_t(dim)];
      if (!reduced[size_t(dim)])
        target = target * x.size(dim) + index;
    }
    T value =
        std::is_floating_point_v<T> ? T(x.doubleAt(i)) : T(x.integerAt(i));
    sums[size_t(target)] = seen[size_t(target)]
                               ? stepOf(kind, sums[size_t(target)], value)
                               : value;
    seen[size_t(target)] = true;
  }
  if (std::is_floating_point_v<T>)
    return floats(x.type(), shape,
                  std::vector<double>(sums.begin(), sums.end()));
  return ints(x.type(), shape, std::vector<int64_t>(sums.begin(), sums.end()));
}

TEST(Reduce, AgainstSlowLoops) {
  const Shape shapes[] = {{5},       {3, 4},    {2, 3, 4, 5},
                          {1, 7, 1}, {3, 2500}, {2, 1, 3, 1030}};
  unsigned seed = 0;
  for (ElementType type : allElementTypes) {
    if (type == Bool)
      continue;
    for (const Shape &shape : shapes) {
      HostTensor x = randomTensor(type, shape, ++seed);
      auto rank = unsigned(shape.size());
      for (unsigned mask = 0; mask < 1u << rank; ++mask) {
        std::vector<int64_t> dims;
        for (unsigned dim = 0; dim < rank; ++dim)
          if (mask >> dim & 1)
            dims.insert(dims.begin(), dim);
        for (ReduceKind kind : kinds) {
          HostTensor expected =
              isNarrowFloat(type) ? slowReduce<float>(kind, x, dims)
              : isFloat(type)     ? slowReduce<double>(kind, x, dims)
                                  : slowReduce<uint64_t>(kind, x, dims);
          if (isSignedInteger(type) &&
              (kind == ReduceKind::Max || kind == ReduceKind::Min))
            expected = slowReduce<int64_t>(kind, x, dims);
          ASSERT_TRUE(same(get(reduce(kind, x, dims)), expected))
              << name(kind) << " of " << x.describe() << " mask " << mask;
        }
      }
    }
  }
}

TEST(Reduce, F32AccumulatesInF64) {
  // In f32, 2^24 + 1 is 2^24.
  EXPECT_EQ(doubles(get(reduce(ReduceKind::Sum,
                               floats(F32, {5}, {0x1p24, 1, 1, 1, 1}), {0}))),
            (std::vector<double>{0x1p24 + 4}));
}

TEST(Reduce, NarrowFloatsAccumulateInF32) {
  // 4096 ones: bf16 alone would stop at 256, f8e4m3 at 16.
  for (ElementType type : {F16, BF16})
    EXPECT_EQ(get(reduce(ReduceKind::Sum,
                         get(HostTensor::splat(type, {4096}, 1)), {0}))
                  .doubleAt(0),
              4096);
  EXPECT_EQ(get(reduce(ReduceKind::Sum,
                       get(HostTensor::splat(F8E4M3, {256}, 1)), {0}))
                .doubleAt(0),
            256);
  // f32 and not f64: 2^24 ones and one more.
  HostTensor big = floats(BF16, {3}, {0x1p24, 1, 1});
  EXPECT_EQ(get(reduce(ReduceKind::Sum, big, {0})).doubleAt(0), 0x1p24);
  // Overflow in f8e4m3 is NaN, in f8e5m2 infinity.
  EXPECT_TRUE(std::isnan(
      get(reduce(ReduceKind::Sum, floats(F8E4M3, {2}, {448, 448}), {0}))
          .doubleAt(0)));
  EXPECT_EQ(
      get(reduce(ReduceKind::Sum, floats(F8E5M2, {2}, {57344, 57344}), {0}))
          .doubleAt(0),
      infinity);
}

TEST(Reduce, Mean) {
  HostTensor x = floats(F32, {2, 2}, {1, 2, 4, 8});
  EXPECT_EQ(doubles(get(reduce(ReduceKind::Mean, x, {1}, 2))),
            (std::vector<double>{1.5, 6}));
  // The divisor of the whole reduction, of which this is a slice.
  EXPECT_EQ(doubles(get(reduce(ReduceKind::Mean, x, {0, 1}, 8))),
            (std::vector<double>{15.0 / 8}));
  // The sum overflows f16, the mean does not.
  EXPECT_EQ(
      get(reduce(ReduceKind::Mean, floats(F16, {2}, {60000, 60000}), {0}, 2))
          .doubleAt(0),
      60000);
  EXPECT_TRUE(std::isnan(
      get(reduce(ReduceKind::Mean, floats(F32, {0}, {}), {0}, 0)).doubleAt(0)));
  EXPECT_EQ(
      get(reduce(ReduceKind::Mean, floats(F32, {0}, {}), {0}, 7)).doubleAt(0),
      0);
  expectError(reduce(ReduceKind::Mean, iota(I32, {3}), {0}, 3), "mean",
              "i32[3]");
}

TEST(Reduce, OfNothing) {
  for (ElementType type : allElementTypes) {
    HostTensor x = get(HostTensor::zeros(type, {2, 0}));
    for (ReduceKind kind : kinds) {
      if (type == Bool && kind != ReduceKind::Max && kind != ReduceKind::Min)
        continue;
      HostTensor y = get(reduce(kind, x, {1}));
      ASSERT_EQ(y.shape(), Shape{2});
      // Neutral: combining with it changes nothing.
      HostTensor one = ints(type, {2}, {1, 0});
      EXPECT_TRUE(same(get(combine(kind, {y, one})), one)) << name(type);
    }
    EXPECT_EQ(get(reduce(ReduceKind::Max, x, {0})).count(), 0);
  }
  auto empty = [](ElementType type, ReduceKind kind) {
    return get(reduce(kind, get(HostTensor::zeros(type, {0})), {0}));
  };
  EXPECT_EQ(empty(F32, ReduceKind::Max).doubleAt(0), -infinity);
  EXPECT_EQ(empty(F8E5M2, ReduceKind::Min).doubleAt(0), infinity);
  EXPECT_EQ(empty(F8E4M3, ReduceKind::Max).doubleAt(0), -448);
  EXPECT_EQ(empty(I8, ReduceKind::Max).integerAt(0), -128);
  EXPECT_EQ(empty(I64, ReduceKind::Min).integerAt(0), INT64_MAX);
  EXPECT_EQ(empty(I64, ReduceKind::Max).integerAt(0), INT64_MIN);
  EXPECT_EQ(empty(U16, ReduceKind::Min).integerAt(0), 65535);
  EXPECT_EQ(empty(U64, ReduceKind::Min).integerAt(0), -1);
  EXPECT_EQ(empty(U64, ReduceKind::Max).integerAt(0), 0);
  EXPECT_EQ(empty(Bool, ReduceKind::Max).integerAt(0), 0);
  EXPECT_EQ(empty(Bool, ReduceKind::Min).integerAt(0), 1);
}

TEST(Reduce, NaNWins) {
  for (ElementType type : {F64, F32, F16, BF16, F8E4M3, F8E5M2})
    for (ReduceKind kind : {ReduceKind::Max, ReduceKind::Min})
      for (size_t at = 0; at < 3; ++at) {
        std::vector<double> values = {1, 2, 3};
        values[at] = NaN;
        EXPECT_TRUE(std::isnan(
            get(reduce(kind, floats(type, {3}, values), {0})).doubleAt(0)));
      }
}

TEST(Reduce, ScalarsAndErrors) {
  EXPECT_EQ(get(reduce(ReduceKind::Sum, floats(F32, {}, {3}), {})).doubleAt(0),
            3);
  expectError(reduce(ReduceKind::Sum, iota(F32, {2, 3}), {2}), "dimension 2",
              "f32[2, 3]");
  expectError(reduce(ReduceKind::Sum, iota(F32, {2, 3}), {-1}), "dimension -1");
  expectError(reduce(ReduceKind::Sum, iota(F32, {2, 3}), {1, 1}), "twice");
  expectError(reduce(ReduceKind::Sum, ints(Bool, {2}, {1, 1}), {0}), "sum",
              "bool[2]");
  EXPECT_EQ(get(reduce(ReduceKind::Max, ints(Bool, {2, 2}, {0, 1, 0, 0}), {1}))
                .integerAt(0),
            1);
}

TEST(Combine, InRankOrder) {
  // In f32, (2^24 + 1) + 1 is 2^24, but 2^24 + (1 + 1) is not.
  HostTensor big = floats(F32, {1}, {0x1p24}), one = floats(F32, {1}, {1});
  EXPECT_EQ(get(combine(ReduceKind::Sum, {big, one, one})).doubleAt(0), 0x1p24);
  EXPECT_EQ(get(combine(ReduceKind::Sum, {one, one, big})).doubleAt(0),
            0x1p24 + 2);
  EXPECT_EQ(get(combine(ReduceKind::Sum,
                        {floats(F64, {1}, {0x1p24}), floats(F64, {1}, {1})}))
                .doubleAt(0),
            0x1p24 + 1);
}

TEST(Combine, NarrowFloatsRoundOnce) {
  // f16: 2048 + 1 is 2048 when each step rounds.
  HostTensor big = floats(F16, {1}, {2048}), one = floats(F16, {1}, {1});
  EXPECT_EQ(get(combine(ReduceKind::Sum, {big, one, one})).doubleAt(0), 2050);
  HostTensor f8 = floats(F8E4M3, {1}, {448});
  EXPECT_EQ(get(combine(ReduceKind::Sum,
                        {f8, f8, get(HostTensor::splat(F8E4M3, {1}, -448))}))
                .doubleAt(0),
            448);
  EXPECT_EQ(get(combine(ReduceKind::Mean, {f8, f8})).doubleAt(0), 448);
}

TEST(Combine, ManyElementsOfEveryType) {
  for (ElementType type : allElementTypes) {
    if (type == Bool)
      continue;
    std::vector<HostTensor> ranks;
    for (unsigned r = 0; r < 5; ++r)
      ranks.push_back(randomTensor(type, {3, 1000}, 100 + r));
    for (ReduceKind kind : kinds) {
      HostTensor y = get(combine(kind, ranks));
      for (int64_t i = 0; i < y.count(); ++i) {
        HostTensor expected;
        if (type == F64 || isNarrowFloat(type) || type == F32) {
          double d = ranks[0].doubleAt(i);
          auto f = float(d);
          for (size_t r = 1; r < 5; ++r) {
            d = stepOf(kind, d, ranks[r].doubleAt(i));
            f = stepOf(kind, f, float(ranks[r].doubleAt(i)));
          }
          expected = floats(type, {}, {type == F64 ? d : f});
        } else {
          auto v = ranks[0].integerAt(i);
          for (size_t r = 1; r < 5; ++r) {
            int64_t w = ranks[r].integerAt(i);
            if (type == U64 && kind != ReduceKind::Sum &&
                kind != ReduceKind::Prod)
              v = int64_t(stepOf(kind, uint64_t(v), uint64_t(w)));
            else if (kind == ReduceKind::Sum || kind == ReduceKind::Prod)
              v = int64_t(stepOf(kind, uint64_t(v), uint64_t(w)));
            else
              v = stepOf(kind, v, w);
          }
          expected = ints(type, {}, {v});
        }
        ASSERT_EQ(y.textAt(i), expected.textAt(0))
            << name(type) << " " << name(kind);
      }
    }
  }
}

TEST(Combine, OneAndErrors) {
  HostTensor x = iota(F16, {3});
  EXPECT_TRUE(same(get(combine(ReduceKind::Sum, {x})), x));
  expectError(combine(ReduceKind::Sum, {}), "nothing");
  expectError(combine(ReduceKind::Sum, {x, iota(F16, {4})}), "f16[3]",
              "f16[4]");
  expectError(combine(ReduceKind::Sum, {x, iota(F32, {3})}), "f16[3]",
              "f32[3]");
  expectError(combine(ReduceKind::Prod, {ints(Bool, {}, {1})}), "prod", "bool");
  EXPECT_EQ(
      get(combine(ReduceKind::Max, {ints(Bool, {}, {0}), ints(Bool, {}, {1})}))
          .integerAt(0),
      1);
  EXPECT_EQ(get(combine(ReduceKind::Sum, {get(HostTensor::zeros(F32, {0})),
                                          get(HostTensor::zeros(F32, {0}))}))
                .count(),
            0);
}

} // namespace
