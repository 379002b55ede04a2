//===- ElementwiseTest.cpp - Elementwise kernels --------------------------===//
//
// 8-bit types over all pairs of values; the others over values at which
// something happens. Judges: llvm::APFloat for narrow arithmetic, long double
// for transcendental functions, plain C++ for integers.
//
//===----------------------------------------------------------------------===//

#include "test/common/Elementwise.h"

#include "TestUtil.h"

#include "llvm/ADT/APFloat.h"

#include <bit>
#include <functional>
#include <map>

using namespace ccn::interp;
using ccn::ElementwiseFunction;
using ccn::elementwiseFunctions;
using ccn::test::binary;
using ccn::test::unary;
using llvm::APFloat;
using llvm::APInt;

namespace {

using enum ElementType;

/// The functions of one operand as a textbook writes them, in 64 bits of
/// mantissa.
const std::map<std::string, long double (*)(long double)> references = {
    {"neg", [](long double x) { return -x; }},
    {"abs", [](long double x) { return fabsl(x); }},
    {"exp", [](long double x) { return expl(x); }},
    {"log", [](long double x) { return logl(x); }},
    {"sqrt", [](long double x) { return sqrtl(x); }},
    {"rsqrt", [](long double x) { return 1 / sqrtl(x); }},
    {"tanh", [](long double x) { return tanhl(x); }},
    {"sigmoid", [](long double x) { return 1 / (1 + expl(-x)); }},
    {"relu", [](long double x) { return std::isnan(x) ? x
                                        : x > 0       ? x
                                                      : 0; }},
    {"gelu", [](long double x) { return x / 2 * erfcl(-x / sqrtl(2)); }},
    {"silu", [](long double x) { return x / (1 + expl(-x)); }},
};

/// Those of two operands, of floats that the function takes, and of integers.
struct References {
  std::function<long double(long double, long double)> ofFloats;
  std::function<int(int, int)> ofIntegers;
};
const std::map<std::string, References> binaryReferences = {
    {"add", {std::plus<long double>(), std::plus<int>()}},
    {"sub", {std::minus<long double>(), std::minus<int>()}},
    {"mul", {std::multiplies<long double>(), std::multiplies<int>()}},
    {"div", {std::divides<long double>(), std::divides<int>()}},
    {"rem",
     {[](long double x, long double y) { return fmodl(x, y); },
      std::modulus<int>()}},
    {"min",
     {[](long double x, long double y) {
        return std::isnan(x) || std::isnan(y) ? x + y
               : x == y                       ? (std::signbit(x) ? x : y)
                                              : std::min(x, y);
      },
      [](int x, int y) { return std::min(x, y); }}},
    {"max",
     {[](long double x, long double y) {
        return std::isnan(x) || std::isnan(y) ? x + y
               : x == y                       ? (std::signbit(x) ? y : x)
                                              : std::max(x, y);
      },
      [](int x, int y) { return std::max(x, y); }}},
    {"pow", {[](long double x, long double y) { return powl(x, y); }, nullptr}},
};

/// A function that is added to the dialect has to be added above.
TEST(Elementwise, EachHasAReference) {
  for (const ElementwiseFunction *function : elementwiseFunctions()) {
    std::string name(function->name);
    EXPECT_TRUE(function->numOperands == 1 ? references.contains(name)
                                           : binaryReferences.contains(name))
        << name;
  }
}

/// Every pattern of a type of at most 16 bits.
HostTensor allValues(ElementType type) {
  std::vector<uint16_t> patterns;
  for (unsigned i = 0; i < 1u << (8 * sizeInBytes(type)); ++i)
    patterns.push_back(uint16_t(i));
  if (sizeInBytes(type) == 2)
    return raw(type, {int64_t(patterns.size())}, patterns);
  return raw(type, {256},
             std::vector<uint8_t>(patterns.begin(), patterns.end()));
}

TEST(Unary, EveryNarrowValue) {
  for (ElementType type : {F16, BF16, F8E4M3, F8E5M2}) {
    HostTensor x = allValues(type);
    for (const auto &[op, reference] : references) {
      HostTensor y = get(unary(op, x));
      for (int64_t i = 0; i < x.count(); ++i) {
        float expected = decodeFloat(
            type, encodeFloat(type, double(reference(x.doubleAt(i)))));
        double found = y.doubleAt(i);
        if (std::isnan(expected))
          ASSERT_TRUE(std::isnan(found)) << name(type) << " " << x.textAt(i);
        else
          ASSERT_EQ(found, expected)
              << name(type) << " op " << op << " of " << x.textAt(i);
      }
    }
  }
}

TEST(Unary, CorrectlyRoundedInF32) {
  std::mt19937_64 random(11);
  std::vector<float> values = {0.0f,     -0.0f,     1,    -1,     88.7f,
                               89,       -87,       -104, 1e-45f, 1e38f,
                               INFINITY, -INFINITY, NAN};
  for (int i = 0; i < 50000; ++i) {
    values.push_back(std::bit_cast<float>(uint32_t(random())));
    values.push_back(std::normal_distribution<float>(0, 5)(random));
  }
  HostTensor x = raw(F32, {int64_t(values.size())}, values);
  for (const auto &[op, reference] : references) {
    HostTensor y = get(unary(op, x));
    for (int64_t i = 0; i < x.count(); ++i) {
      auto expected = float(reference(values[size_t(i)]));
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(y.doubleAt(i)));
      else
        ASSERT_EQ(y.doubleAt(i), expected)
            << "op " << op << " of " << x.textAt(i);
    }
  }
}

TEST(Unary, CloseInF64) {
  std::mt19937_64 random(12);
  std::vector<double> values;
  for (int i = 0; i < 20000; ++i)
    values.push_back(std::normal_distribution<double>(0, 5)(random));
  HostTensor x = raw(F64, {int64_t(values.size())}, values);
  for (const auto &[op, reference] : references) {
    HostTensor y = get(unary(op, x));
    for (int64_t i = 0; i < x.count(); ++i) {
      auto expected = double(reference(values[size_t(i)]));
      // Gelu's error grows with x^2/2, the exponent that erfc contains.
      double tolerance = op == "gelu" ? 1e-13 : 1e-15;
      if (!std::isnan(expected))
        ASSERT_NEAR(y.doubleAt(i), expected, tolerance * std::abs(expected))
            << "op " << op << " of " << x.textAt(i);
    }
  }
}

TEST(Unary, ExtremesInF64) {
  auto apply = [](const char *op, double x) {
    return get(unary(op, floats(F64, {}, {x}))).doubleAt(0);
  };
  EXPECT_EQ(apply("sigmoid", 1000), 1);
  EXPECT_EQ(apply("sigmoid", -1000), 0);
  EXPECT_GT(apply("sigmoid", -740), 0);
  EXPECT_EQ(apply("gelu", 100), 100);
  EXPECT_EQ(apply("gelu", -100), 0);
  EXPECT_LT(apply("gelu", -10), 0);
  EXPECT_EQ(apply("log", 0), -infinity);
  EXPECT_EQ(apply("rsqrt", 0), infinity);
  EXPECT_FALSE(std::signbit(apply("relu", -0.0)));
  EXPECT_TRUE(std::signbit(apply("neg", 0.0)));
}

TEST(Unary, Integers) {
  EXPECT_EQ(integers(get(unary("neg", ints(I8, {3}, {1, -128, 0})))),
            (std::vector<int64_t>{-1, -128, 0}));
  EXPECT_EQ(integers(get(unary("abs", ints(I8, {3}, {-1, -128, 5})))),
            (std::vector<int64_t>{1, -128, 5}));
  EXPECT_EQ(integers(get(unary("neg", ints(U16, {2}, {1, 0})))),
            (std::vector<int64_t>{65535, 0}));
  EXPECT_EQ(integers(get(unary("abs", ints(U64, {1}, {-1})))),
            (std::vector<int64_t>{-1}));
  EXPECT_EQ(integers(get(unary("neg", ints(I64, {1}, {INT64_MIN})))),
            (std::vector<int64_t>{INT64_MIN}));
  expectError(unary("exp", ints(I32, {2}, {1, 2})), "not defined", "i32[2]");
  expectError(unary("neg", ints(Bool, {}, {1})), "not defined", "bool");
  expectError(unary("relu", ints(Bool, {}, {1})), "not defined");
  EXPECT_EQ(integers(get(unary("relu", ints(I8, {3}, {-5, 0, 7})))),
            (std::vector<int64_t>{0, 0, 7}));
  EXPECT_EQ(integers(get(unary("relu", ints(U8, {2}, {200, 0})))),
            (std::vector<int64_t>{200, 0}));
}

TEST(Binary, EveryPairOfF8AgainstAPFloat) {
  for (ElementType type : {F8E4M3, F8E5M2}) {
    const llvm::fltSemantics &semantics =
        type == F8E4M3 ? APFloat::Float8E4M3FN() : APFloat::Float8E5M2();
    std::vector<uint8_t> left, right;
    for (int i = 0; i < 65536; ++i) {
      left.push_back(uint8_t(i >> 8));
      right.push_back(uint8_t(i));
    }
    HostTensor a = raw(type, {65536}, left), b = raw(type, {65536}, right);
    using Judge = std::function<void(APFloat &, const APFloat &)>;
    auto mode = APFloat::rmNearestTiesToEven;
    const std::map<std::string, Judge> judges = {
        {"add", [&](APFloat &x, const APFloat &z) { x.add(z, mode); }},
        {"sub", [&](APFloat &x, const APFloat &z) { x.subtract(z, mode); }},
        {"mul", [&](APFloat &x, const APFloat &z) { x.multiply(z, mode); }},
        {"div", [&](APFloat &x, const APFloat &z) { x.divide(z, mode); }},
        {"rem", [](APFloat &x, const APFloat &z) { x.mod(z); }},
        {"min", [](APFloat &x, const APFloat &z) { x = llvm::minimum(x, z); }},
        {"max", [](APFloat &x, const APFloat &z) { x = llvm::maximum(x, z); }},
    };
    for (const auto &[op, judge] : judges) {
      HostTensor y = get(binary(op, a, b));
      for (int64_t i = 0; i < 65536; ++i) {
        APFloat expected(semantics, APInt(8, left[size_t(i)]));
        judge(expected, APFloat(semantics, APInt(8, right[size_t(i)])));
        uint8_t found = y.dataAs<uint8_t>()[i];
        if (expected.isNaN())
          ASSERT_TRUE(std::isnan(y.doubleAt(i)))
              << op << ": " << a.textAt(i) << ", " << b.textAt(i);
        else
          ASSERT_EQ(found, expected.bitcastToAPInt().getZExtValue())
              << op << ": " << a.textAt(i) << ", " << b.textAt(i);
      }
    }
  }
}

TEST(Binary, F16ArithmeticRoundsOnce) {
  std::mt19937_64 random(5);
  std::vector<uint16_t> left, right;
  for (int i = 0; i < 200000; ++i) {
    left.push_back(uint16_t(random()));
    right.push_back(uint16_t(random()));
  }
  HostTensor a = raw(F16, {200000}, left), b = raw(F16, {200000}, right);
  HostTensor sum = get(binary("add", a, b));
  HostTensor product = get(binary("mul", a, b));
  HostTensor quotient = get(binary("div", a, b));
  for (int64_t i = 0; i < a.count(); ++i) {
    APFloat x(APFloat::IEEEhalf(), APInt(16, left[size_t(i)]));
    APFloat z(APFloat::IEEEhalf(), APInt(16, right[size_t(i)]));
    APFloat s = x, p = x, q = x;
    s.add(z, APFloat::rmNearestTiesToEven);
    p.multiply(z, APFloat::rmNearestTiesToEven);
    q.divide(z, APFloat::rmNearestTiesToEven);
    auto check = [&](const APFloat &expected, const HostTensor &found) {
      return expected.isNaN() ? std::isnan(found.doubleAt(i))
                              : found.dataAs<uint16_t>()[i] ==
                                    expected.bitcastToAPInt().getZExtValue();
    };
    ASSERT_TRUE(check(s, sum)) << a.textAt(i) << " + " << b.textAt(i);
    ASSERT_TRUE(check(p, product)) << a.textAt(i) << " * " << b.textAt(i);
    ASSERT_TRUE(check(q, quotient)) << a.textAt(i) << " / " << b.textAt(i);
  }
}

TEST(Binary, F32AndF64ComputeInTheirOwnType) {
  std::mt19937_64 random(6);
  std::vector<float> fa, fb;
  std::vector<double> da, db;
  for (int i = 0; i < 30000; ++i) {
    fa.push_back(std::bit_cast<float>(uint32_t(random())));
    fb.push_back(std::bit_cast<float>(uint32_t(random())));
    da.push_back(std::bit_cast<double>(random()));
    db.push_back(std::bit_cast<double>(random()));
  }
  auto check = [](ElementType type, const auto &a, const auto &b) {
    using T = std::decay_t<decltype(a[0])>;
    HostTensor x = raw(type, {30000}, a), y = raw(type, {30000}, b);
    const std::pair<const char *, std::function<T(T, T)>> table[] = {
        {"add", [](T p, T q) { return p + q; }},
        {"sub", [](T p, T q) { return p - q; }},
        {"mul", [](T p, T q) { return p * q; }},
        {"div", [](T p, T q) { return p / q; }},
        {"rem", [](T p, T q) { return T(fmodl(p, q)); }},
        {"pow", [](T p, T q) { return T(pow(double(p), double(q))); }}};
    for (const auto &[op, function] : table) {
      std::vector<T> expected;
      for (size_t i = 0; i < a.size(); ++i)
        expected.push_back(function(a[i], b[i]));
      EXPECT_TRUE(same(get(binary(op, x, y)), raw(type, {30000}, expected)))
          << "op " << op << " of " << name(type);
    }
  };
  check(F32, fa, fb);
  check(F64, da, db);
}

TEST(Binary, EveryFunctionOfNarrowFloats) {
  std::mt19937_64 random(7);
  for (ElementType type : {F16, BF16, F8E4M3, F8E5M2}) {
    HostTensor all = allValues(type);
    std::vector<double> left, right;
    for (int i = 0; i < 65536; ++i) {
      left.push_back(all.doubleAt(int64_t(random() % uint64_t(all.count()))));
      right.push_back(all.doubleAt(int64_t(random() % uint64_t(all.count()))));
    }
    HostTensor a = floats(type, {65536}, left);
    HostTensor b = floats(type, {65536}, right);
    for (const auto &[op, reference] : binaryReferences) {
      HostTensor y = get(binary(op, a, b));
      for (int64_t i = 0; i < y.count(); ++i) {
        float expected = decodeFloat(
            type, encodeFloat(type, double(reference.ofFloats(
                                        left[size_t(i)], right[size_t(i)]))));
        if (std::isnan(expected))
          ASSERT_TRUE(std::isnan(y.doubleAt(i)))
              << op << ": " << a.textAt(i) << ", " << b.textAt(i);
        else
          ASSERT_EQ(y.doubleAt(i), expected)
              << op << ": " << a.textAt(i) << ", " << b.textAt(i);
      }
    }
  }
}

TEST(Binary, MinimumAndMaximum) {
  for (ElementType type : {F64, F32, F16, BF16}) {
    HostTensor a = floats(type, {6}, {-0.0, 0.0, NaN, 1, -infinity, 2});
    HostTensor b = floats(type, {6}, {0.0, -0.0, 1, NaN, 3, infinity});
    EXPECT_TRUE(same(get(binary("min", a, b)),
                     floats(type, {6}, {-0.0, -0.0, NaN, NaN, -infinity, 2})));
    EXPECT_TRUE(same(get(binary("max", a, b)),
                     floats(type, {6}, {0.0, 0.0, NaN, NaN, 3, infinity})));
  }
  HostTensor a = ints(Bool, {4}, {0, 0, 1, 1}),
             b = ints(Bool, {4}, {0, 1, 0, 1});
  EXPECT_TRUE(same(get(binary("min", a, b)), ints(Bool, {4}, {0, 0, 0, 1})));
  EXPECT_TRUE(same(get(binary("max", a, b)), ints(Bool, {4}, {0, 1, 1, 1})));
  expectError(binary("add", a, b), "not defined", "bool[4]");
}

template <typename T> void checkAllPairs(ElementType type) {
  std::vector<T> left, right;
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j) {
      left.push_back(T(i));
      right.push_back(T(j));
    }
  std::vector<T> nonzero = right;
  for (T &v : nonzero)
    v = v == 0 ? T(1) : v;
  HostTensor a = raw(type, {65536}, left);
  for (const auto &[op, reference] : binaryReferences) {
    if (!reference.ofIntegers)
      continue;
    const std::vector<T> &b =
        ccn::test::named(op).zeroDivisor.empty() ? right : nonzero;
    std::vector<T> expected;
    for (size_t i = 0; i < left.size(); ++i) {
      int r = reference.ofIntegers(left[i], b[i]);
      expected.push_back(T(r));
    }
    EXPECT_TRUE(same(get(binary(op, a, raw(type, {65536}, b))),
                     raw(type, {65536}, expected)))
        << name(type) << " op " << op;
  }
}

TEST(Binary, EveryPairOf8BitIntegers) {
  checkAllPairs<int8_t>(I8);
  checkAllPairs<uint8_t>(U8);
}

TEST(Binary, WideIntegersWrap) {
  HostTensor low = ints(I64, {1}, {INT64_MIN}), minusOne = ints(I64, {1}, {-1});
  auto apply = [](const char *op, const HostTensor &a, const HostTensor &b) {
    return get(binary(op, a, b)).integerAt(0);
  };
  EXPECT_EQ(apply("add", low, minusOne), INT64_MAX);
  EXPECT_EQ(apply("div", low, minusOne), INT64_MIN);
  EXPECT_EQ(apply("rem", low, minusOne), 0);
  EXPECT_EQ(apply("mul", low, minusOne), INT64_MIN);
  EXPECT_EQ(apply("div", ints(I32, {1}, {INT32_MIN}), ints(I32, {1}, {-1})),
            INT32_MIN);
  HostTensor high = ints(U64, {1}, {-1}), two = ints(U64, {1}, {2});
  EXPECT_EQ(apply("div", high, two), INT64_MAX);
  EXPECT_EQ(apply("max", high, two), -1);
  EXPECT_EQ(apply("rem", high, ints(U64, {1}, {10})), 5);
}

TEST(Binary, BadIntegersNameTheElement) {
  HostTensor a = iota(I32, {2, 3});
  HostTensor zero = ints(I32, {2, 3}, {1, 1, 1, 1, 0, 1});
  expectError(binary("div", a, zero), "division by zero", "[1, 1]",
              "i32[2, 3]");
  expectError(binary("rem", a, zero), "remainder by zero", "[1, 1]");
  expectError(binary("div", a, ints(I32, {}, {0})), "division by zero");
  expectError(binary("pow", a, a), "pow is not defined for i32[2, 3]");
  // Nothing is divided.
  EXPECT_TRUE(binary("div", ints(I32, {0}, {}), ints(I32, {}, {0})).ok());
  EXPECT_EQ(get(binary("div", floats(F32, {}, {1}), floats(F32, {}, {0})))
                .doubleAt(0),
            infinity);
}

TEST(Binary, ScalarsBroadcast) {
  // More than a block of elements.
  HostTensor x = iota(F32, {3, 700}), two = floats(F32, {}, {2});
  HostTensor difference = get(binary("sub", x, two));
  HostTensor reversed = get(binary("sub", two, x));
  for (int64_t i = 0; i < x.count(); ++i) {
    ASSERT_EQ(difference.doubleAt(i), double(i) - 2);
    ASSERT_EQ(reversed.doubleAt(i), 2 - double(i));
  }
  EXPECT_EQ(get(binary("add", two, two)).rank(), 0);
  EXPECT_EQ(get(binary("add", two, floats(F32, {0, 5}, {}))).shape(),
            (Shape{0, 5}));
}

TEST(Binary, MismatchesAreErrors) {
  expectError(binary("add", iota(F32, {3}), iota(F32, {4})), "f32[3]", "f32[4]",
              "same shape");
  expectError(binary("add", iota(F32, {1}), iota(F32, {4})), "same shape");
  expectError(binary("add", iota(F32, {3}), iota(F64, {3})), "f32[3]", "f64[3]",
              "same element type");
  expectError(compare(CompareOp::Lt, iota(I8, {3}), iota(U8, {3})),
              "same element type");
}

TEST(Compare, EveryTypeAndOperation) {
  for (ElementType type : allElementTypes) {
    std::vector<double> values = {0, 1};
    if (type != Bool)
      values.insert(values.end(), {2, 3, 100});
    if (isFloat(type))
      values.insert(values.end(), {-0.0, -5, NaN, infinity, -infinity});
    if (isSignedInteger(type))
      values.insert(values.end(), {-1, -128});
    std::vector<double> left, right;
    for (double x : values)
      for (double y : values) {
        left.push_back(x);
        right.push_back(y);
      }
    auto n = int64_t(left.size());
    HostTensor a = floats(type, {n}, left), b = floats(type, {n}, right);
    auto check = [&](CompareOp op, auto predicate) {
      HostTensor found = get(compare(op, a, b));
      ASSERT_EQ(found.type(), Bool);
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(found.integerAt(i), predicate(a.doubleAt(i), b.doubleAt(i)))
            << name(type) << " op " << int(op) << ": " << a.textAt(i) << ", "
            << b.textAt(i);
    };
    check(CompareOp::Eq, std::equal_to<>());
    check(CompareOp::Ne, std::not_equal_to<>());
    check(CompareOp::Lt, std::less<>());
    check(CompareOp::Le, std::less_equal<>());
    check(CompareOp::Gt, std::greater<>());
    check(CompareOp::Ge, std::greater_equal<>());
  }
  // Beyond what doubles tell apart, and beyond int64_t.
  EXPECT_EQ(get(compare(CompareOp::Lt, ints(I64, {}, {INT64_MAX - 1}),
                        ints(I64, {}, {INT64_MAX})))
                .integerAt(0),
            1);
  EXPECT_EQ(get(compare(CompareOp::Gt, ints(U64, {}, {-1}), ints(U64, {}, {1})))
                .integerAt(0),
            1);
}

TEST(Select, Elements) {
  for (ElementType type : allElementTypes) {
    HostTensor c = ints(Bool, {2, 2}, {1, 0, 0, 1});
    HostTensor a = ints(type, {2, 2}, {1, 1, 1, 1});
    HostTensor b = ints(type, {2, 2}, {0, 0, 0, 0});
    HostTensor one = ints(type, {}, {1}), zero = ints(type, {}, {0});
    HostTensor expected = ints(type, {2, 2}, {1, 0, 0, 1});
    EXPECT_TRUE(same(get(select(c, a, b)), expected));
    EXPECT_TRUE(same(get(select(c, one, b)), expected));
    EXPECT_TRUE(same(get(select(c, a, zero)), expected));
    EXPECT_TRUE(same(get(select(c, one, zero)), expected));
    EXPECT_TRUE(same(get(select(ints(Bool, {}, {1}), a, b)), a));
    EXPECT_TRUE(same(get(select(ints(Bool, {}, {0}), a, zero)), b));
    EXPECT_TRUE(same(get(select(ints(Bool, {}, {0}), one, zero)), zero));
  }
  HostTensor x = iota(F32, {3});
  expectError(select(x, x, x), "must be bool", "f32[3]");
  expectError(select(ints(Bool, {2}, {1, 0}), x, x), "bool[2]", "f32[3]");
  expectError(select(ints(Bool, {3}, {1, 0, 1}), x, iota(F32, {4})), "f32[4]");
}

} // namespace
