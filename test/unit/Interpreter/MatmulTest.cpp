//===- MatmulTest.cpp - Matrix products and convolutions ------------------===//

#include "lib/Interpreter/Matmul.h"

#include "lib/Interpreter/Conv.h"

#include "TestUtil.h"

using namespace ccn::interp;

namespace {

using enum ElementType;

/// Sums products in the accumulator T of the contract and rounds once.
template <typename T> struct Sum {
  T value = 0;
  void add(const HostTensor &a, int64_t i, const HostTensor &b, int64_t j) {
    if constexpr (std::is_floating_point_v<T>)
      value += T(a.doubleAt(i)) * T(b.doubleAt(j));
    else
      value += T(a.integerAt(i)) * T(b.integerAt(j));
  }
};

template <typename Body>
HostTensor withSum(ElementType type, const Shape &shape, Body body) {
  auto collect = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> sums = body(zero);
    if constexpr (std::is_floating_point_v<T>)
      return floats(type, shape, std::vector<double>(sums.begin(), sums.end()));
    else
      return ints(type, shape, std::vector<int64_t>(sums.begin(), sums.end()));
  };
  if (isNarrowFloat(type))
    return collect(float());
  if (isFloat(type))
    return collect(double());
  return collect(uint64_t());
}

HostTensor slowMatmul(const HostTensor &a, const HostTensor &b) {
  int64_t m = a.size(a.rank() - 2), k = a.size(a.rank() - 1),
          n = b.size(b.rank() - 1);
  bool longerA = a.rank() >= b.rank();
  Shape shape((longerA ? a : b).shape());
  shape[shape.size() - 2] = m;
  shape.back() = n;
  int64_t batches = 1;
  for (size_t i = 0; i + 2 < shape.size(); ++i)
    batches *= shape[i];
  return withSum(a.type(), shape, [&](auto zero) {
    std::vector<decltype(zero)> sums;
    for (int64_t batch = 0; batch < batches; ++batch)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          Sum<decltype(zero)> sum;
          for (int64_t l = 0; l < k; ++l)
            sum.add(a, ((a.rank() > 2 ? batch : 0) * m + i) * k + l, b,
                    ((b.rank() > 2 ? batch : 0) * k + l) * n + j);
          sums.push_back(sum.value);
        }
    return sums;
  });
}

TEST(Matmul, AgainstTripleLoop) {
  const std::pair<Shape, Shape> shapes[] = {
      {{1, 1}, {1, 1}},       {{3, 5}, {5, 2}},
      {{2, 300}, {300, 3}},   {{3, 130}, {130, 513}},
      {{2, 3, 4}, {2, 4, 5}}, {{2, 3, 4}, {4, 5}},
      {{3, 4}, {2, 4, 5}},    {{2, 3, 1, 4}, {2, 3, 4, 2}},
      {{1, 257}, {257, 257}}};
  unsigned seed = 0;
  for (ElementType type : allElementTypes) {
    if (type == Bool)
      continue;
    for (const auto &[left, right] : shapes) {
      HostTensor a = randomTensor(type, left, ++seed),
                 b = randomTensor(type, right, ++seed);
      ASSERT_TRUE(same(get(matmul(a, b)), slowMatmul(a, b)))
          << a.describe() << " times " << b.describe();
    }
  }
}

TEST(Matmul, EmptySizes) {
  auto zeros = [](Shape shape) {
    return get(HostTensor::zeros(F32, std::move(shape)));
  };
  EXPECT_EQ(get(matmul(zeros({0, 3}), zeros({3, 2}))).shape(), (Shape{0, 2}));
  EXPECT_EQ(get(matmul(zeros({2, 3}), zeros({3, 0}))).shape(), (Shape{2, 0}));
  EXPECT_EQ(get(matmul(zeros({0, 2, 3}), zeros({0, 3, 4}))).shape(),
            (Shape{0, 2, 4}));
  EXPECT_EQ(get(matmul(zeros({0, 2, 3}), zeros({3, 4}))).shape(),
            (Shape{0, 2, 4}));
  // The sum of nothing is 0.
  EXPECT_TRUE(same(get(matmul(zeros({2, 0}), zeros({0, 3}))), zeros({2, 3})));
}

TEST(Matmul, NaNAndInfinity) {
  HostTensor a = floats(F32, {1, 2}, {0, infinity}),
             b = floats(F32, {2, 2}, {NaN, 1, 1, 0});
  HostTensor y = get(matmul(a, b));
  EXPECT_TRUE(std::isnan(y.doubleAt(0)) && std::isnan(y.doubleAt(1)));
}

TEST(Matmul, Errors) {
  auto check = [](ElementType ta, Shape a, ElementType tb, Shape b,
                  const char *expected) {
    expectError(matmul(iota(ta, a), iota(tb, b)), expected, describe(ta, a),
                describe(tb, b));
  };
  check(F32, {2, 3}, F32, {2, 3}, "columns");
  check(F32, {2, 3}, F64, {3, 2}, "one element type");
  check(F32, {3}, F32, {3, 2}, "rank at least 2");
  check(F32, {2, 3}, F32, {3}, "rank at least 2");
  check(F32, {2, 3, 4}, F32, {3, 4, 5}, "batch");
  check(F32, {2, 3, 4}, F32, {1, 2, 4, 5}, "batch");
  check(Bool, {1, 1}, Bool, {1, 1}, "numbers");
}

HostTensor slowConv(const HostTensor &x, const HostTensor &w,
                    const Conv2dOptions &o, const Shape &shape) {
  return withSum(x.type(), shape, [&](auto zero) {
    std::vector<decltype(zero)> sums;
    for (int64_t n = 0; n < shape[0]; ++n)
      for (int64_t f = 0; f < shape[1]; ++f)
        for (int64_t i = 0; i < shape[2]; ++i)
          for (int64_t j = 0; j < shape[3]; ++j) {
            Sum<decltype(zero)> sum;
            for (int64_t c = 0; c < x.size(1); ++c)
              for (int64_t kh = 0; kh < w.size(2); ++kh)
                for (int64_t kw = 0; kw < w.size(3); ++kw) {
                  int64_t h = i * o.strideH + kh - o.padTop,
                          v = j * o.strideW + kw - o.padLeft;
                  if (h < 0 || v < 0 || h >= x.size(2) || v >= x.size(3))
                    continue;
                  sum.add(
                      x, ((n * x.size(1) + c) * x.size(2) + h) * x.size(3) + v,
                      w,
                      ((f * w.size(1) + c) * w.size(2) + kh) * w.size(3) + kw);
                }
            sums.push_back(sum.value);
          }
    return sums;
  });
}

TEST(Conv2d, AgainstDirectLoops) {
  struct Case {
    Shape x, w;
    Conv2dOptions options;
    Shape result;
  } cases[] = {
      {{1, 1, 4, 5}, {1, 1, 1, 1}, {}, {1, 1, 4, 5}},
      {{2, 3, 7, 6}, {4, 3, 3, 2}, {}, {2, 4, 5, 5}},
      {{2, 3, 7, 6}, {4, 3, 3, 3}, {1, 1, 1, 1, 1, 1}, {2, 4, 7, 6}},
      {{1, 2, 9, 8}, {3, 2, 3, 3}, {2, 3, 1, 0, 2, 1}, {1, 3, 4, 3}},
      {{1, 1, 2, 2}, {1, 1, 5, 5}, {1, 1, 4, 4, 4, 4}, {1, 1, 6, 6}},
      {{1, 1, 2, 2}, {1, 1, 3, 3}, {}, {1, 1, 0, 0}},
      {{0, 1, 4, 4}, {1, 1, 2, 2}, {}, {0, 1, 3, 3}},
      {{1, 0, 4, 4}, {2, 0, 2, 2}, {}, {1, 2, 3, 3}},
      {{1, 1, 0, 3}, {1, 1, 2, 2}, {1, 1, 1, 1, 0, 0}, {1, 1, 1, 2}},
      {{1, 1, 3, 3}, {1, 1, 2, 2}, {INT64_MAX, 100, 0, 0, 0, 0}, {1, 1, 1, 1}},
  };
  unsigned seed = 50;
  for (ElementType type : {F64, F32, F16, BF16, F8E4M3, I8, I64, U32})
    for (const Case &c : cases) {
      HostTensor x = randomTensor(type, c.x, ++seed),
                 w = randomTensor(type, c.w, ++seed);
      ASSERT_TRUE(same(get(conv2d(x, w, c.options)),
                       slowConv(x, w, c.options, c.result)))
          << x.describe() << " with " << w.describe();
    }
}

// As kernels have it, which multiply all that a filter covers.
TEST(Conv2d, PaddingIsZeroForAnyWeight) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  HostTensor x = floats(F32, {1, 1, 2, 2}, {1, 2, 3, 4});
  for (double weight : {inf, -inf, std::numeric_limits<double>::quiet_NaN()}) {
    HostTensor y = get(conv2d(x, floats(F32, {1, 1, 2, 2}, {weight, 1, 1, 1}),
                              {1, 1, 1, 1, 1, 1}));
    for (int64_t i = 0; i < 9; ++i) {
      bool isAround = i < 3 || i % 3 == 0;
      if (isAround || std::isnan(weight))
        EXPECT_TRUE(std::isnan(y.doubleAt(i))) << i;
      else
        EXPECT_EQ(y.doubleAt(i), weight) << i;
    }
  }
}

TEST(Conv2d, Errors) {
  HostTensor x = iota(F32, {1, 2, 3, 3}), w = iota(F32, {1, 2, 2, 2});
  expectError(conv2d(x, iota(F32, {1, 3, 2, 2}), {}), "channels");
  expectError(conv2d(iota(F32, {2, 3, 3}), w, {}), "[N, C, H, W]");
  expectError(conv2d(x, iota(F16, {1, 2, 2, 2}), {}), "one element type");
  expectError(conv2d(x, w, {0, 1, 0, 0, 0, 0}), "strides");
  expectError(conv2d(x, w, {1, 1, 0, -1, 0, 0}), "paddings");
  expectError(conv2d(x, w, {1, 1, INT64_MAX, 0, 0, 0}), "overflow");
  expectError(conv2d(x, get(HostTensor::zeros(F32, {1, 2, 0, 2})), {}),
              "1 x 1");
  // A pad that is valid but makes a result too large for the machine.
  expectError(conv2d(x, w, {1, 1, 1LL << 40, 1LL << 40, 0, 0}),
              "not enough memory");
}

} // namespace
