//===- ElementTypeTest.cpp - Narrow floats against llvm::APFloat ----------===//
//
// Widening of every pattern, narrowing around every value and every midpoint
// between neighbours.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/ElementType.h"

#include "TestUtil.h"

#include "llvm/ADT/APFloat.h"

#include <bit>

using namespace ccn::interp;
using llvm::APFloat;

namespace {

const llvm::fltSemantics &semantics(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return APFloat::IEEEhalf();
  case ElementType::BF16:
    return APFloat::BFloat();
  case ElementType::F8E4M3:
    return APFloat::Float8E4M3FN();
  default:
    return APFloat::Float8E5M2();
  }
}

class NarrowFloat : public testing::TestWithParam<ElementType> {
protected:
  unsigned width() const { return 8 * unsigned(sizeInBytes(GetParam())); }
  unsigned patterns() const { return 1u << width(); }

  /// What APFloat makes of a double, with any NaN as the quiet one.
  uint16_t expected(double value) const {
    APFloat converted(value);
    bool lost;
    converted.convert(semantics(GetParam()), APFloat::rmNearestTiesToEven,
                      &lost);
    if (converted.isNaN())
      converted =
          APFloat::getQNaN(semantics(GetParam()), converted.isNegative());
    return uint16_t(converted.bitcastToAPInt().getZExtValue());
  }

  void check(double value) {
    ASSERT_EQ(encodeFloat(GetParam(), value), expected(value))
        << name(GetParam()) << " of " << std::hexfloat << value;
    ++checked;
  }

  /// The value, its neighbours among the doubles, and the negatives.
  void checkAround(double value) {
    for (double v : {value, std::nextafter(value, infinity),
                     std::nextafter(value, -infinity)}) {
      check(v);
      check(-v);
    }
  }

  long checked = 0;
};

TEST_P(NarrowFloat, WidensEveryPattern) {
  for (unsigned bits = 0; bits < patterns(); ++bits) {
    APFloat value(semantics(GetParam()), llvm::APInt(width(), bits));
    float decoded = decodeFloat(GetParam(), uint16_t(bits));
    ASSERT_EQ(std::isnan(decoded), value.isNaN()) << bits;
    ASSERT_EQ(std::signbit(decoded), value.isNegative()) << bits;
    if (value.isNaN())
      continue;
    bool lost;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    ASSERT_EQ(std::bit_cast<uint32_t>(decoded),
              value.bitcastToAPInt().getZExtValue())
        << bits;
  }
}

TEST_P(NarrowFloat, NarrowsItsOwnValuesToThemselves) {
  for (unsigned bits = 0; bits < patterns(); ++bits) {
    float value = decodeFloat(GetParam(), uint16_t(bits));
    if (!std::isnan(value)) {
      ASSERT_EQ(encodeFloat(GetParam(), value), bits);
    }
  }
}

TEST_P(NarrowFloat, NarrowsAroundEveryValueAndMidpoint) {
  // Positive finite patterns are consecutive and in increasing order.
  double previous = 0;
  for (unsigned bits = 0; bits < patterns() / 2; ++bits) {
    double value = decodeFloat(GetParam(), uint16_t(bits));
    if (!std::isfinite(value))
      break;
    checkAround(value);
    checkAround((previous + value) / 2);
    // Values that rounding through f32 would move onto the midpoint.
    double midpoint = (previous + value) / 2;
    check(midpoint * (1 + 0x1p-30));
    check(midpoint * (1 - 0x1p-30));
    previous = value;
  }
  // `previous` is the largest finite value: go beyond it.
  for (int i = 0; i <= 64; ++i)
    checkAround(previous * (1 + i / 256.0));
  EXPECT_GT(checked, 900);
}

TEST_P(NarrowFloat, NarrowsSpecialValues) {
  using Limits = std::numeric_limits<double>;
  for (double value :
       {0.0, infinity, NaN, Limits::max(), Limits::min(), Limits::denorm_min(),
        double(std::numeric_limits<float>::max()),
        double(std::numeric_limits<float>::denorm_min()), 0x1p-1022, 0x1p1023,
        std::bit_cast<double>(0x7ff0000000000001ULL),
        std::bit_cast<double>(0x7fffffffffffffffULL)}) {
    check(value);
    check(-value);
  }
}

TEST_P(NarrowFloat, NarrowsManyFloats) {
  // Every upper half of an f32, with lower halves at and around ties.
  for (uint32_t high = 0; high < 0x10000; ++high)
    for (uint32_t low : {0u, 1u, 0x1000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      check(std::bit_cast<float>(high << 16 | low));
}

TEST_P(NarrowFloat, NarrowsRandomDoubles) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    check(std::bit_cast<double>(random()));
    // Most random patterns overflow or vanish; these lie in every range.
    double scale = std::ldexp(1.0, int(random() % 300) - 150);
    check(scale * (1 + double(random() >> 11) * 0x1p-53));
  }
}

INSTANTIATE_TEST_SUITE_P(All, NarrowFloat,
                         testing::Values(ElementType::F16, ElementType::BF16,
                                         ElementType::F8E4M3,
                                         ElementType::F8E5M2),
                         [](const auto &info) {
                           return std::string(name(info.param));
                         });

TEST(ElementTypeTest, F8E4M3HasNoInfinity) {
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3, 448), 0x7e);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3, 464), 0x7e);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3, 464.0001), 0x7f);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3, -infinity), 0xff);
  EXPECT_EQ(encodeFloat(ElementType::F8E5M2, 57344), 0x7b);
  EXPECT_EQ(encodeFloat(ElementType::F8E5M2, 61440), 0x7c);
}

TEST(ElementTypeTest, RoundsDoublesOnce) {
  // 1 + 2^-11 + 2^-40 lies above a tie of f16; in f32 it would be the tie.
  EXPECT_EQ(encodeFloat(ElementType::F16, 1 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(encodeFloat(ElementType::F16, 1 + 0x1p-11), 0x3c00);
}

TEST(ElementTypeTest, NamesAndClasses) {
  for (ElementType type : allElementTypes) {
    EXPECT_EQ(parseElementType(name(type)), type);
    int classes = isFloat(type) + isSignedInteger(type) +
                  isUnsignedInteger(type) + (type == ElementType::Bool);
    EXPECT_EQ(classes, 1) << name(type);
    EXPECT_EQ(isInteger(type),
              isSignedInteger(type) || isUnsignedInteger(type));
    // A name's first digits are the size in bits.
    std::string digits(name(type).substr(
        name(type).find_first_of("0123456789") == std::string_view::npos
            ? name(type).size()
            : name(type).find_first_of("0123456789")));
    if (!digits.empty()) {
      EXPECT_EQ(std::stoi(digits), 8 * sizeInBytes(type));
    }
  }
  EXPECT_EQ(sizeInBytes(ElementType::Bool), 1);
  EXPECT_EQ(parseElementType("f33"), std::nullopt);
  EXPECT_EQ(parseElementType(""), std::nullopt);
}

} // namespace
