//===- CastTest.cpp - Casts against llvm::APFloat and llvm::APSInt --------===//
//
// Every pair of types, over values at which something happens.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Elementwise.h"

#include "TestUtil.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

#include <bit>

using namespace ccn::interp;
using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;

namespace {

const llvm::fltSemantics &semantics(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return APFloat::IEEEdouble();
  case ElementType::F32:
    return APFloat::IEEEsingle();
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

unsigned width(ElementType type) { return 8 * unsigned(sizeInBytes(type)); }

uint64_t bitsAt(const HostTensor &tensor, int64_t index) {
  uint64_t bits = 0;
  auto size = size_t(sizeInBytes(tensor.type()));
  std::memcpy(&bits, tensor.data() + size_t(index) * size, size);
  return bits;
}

/// Patterns of `type`: all of them if there are at most 2^16, else ends, powers
/// of two and their neighbours, and random ones.
HostTensor interestingValues(ElementType type) {
  std::vector<uint64_t> patterns;
  unsigned bits = width(type);
  if (type == ElementType::Bool) {
    patterns = {0, 1};
  } else if (bits <= 16) {
    for (uint64_t i = 0; i < 1ULL << bits; ++i)
      patterns.push_back(i);
  } else {
    std::mt19937_64 random(3);
    for (unsigned i = 0; i < bits; ++i)
      for (int64_t step : {-2, -1, 0, 1, 2}) {
        patterns.push_back((1ULL << i) + uint64_t(step));
        patterns.push_back(0 - (1ULL << i) + uint64_t(step));
      }
    for (int i = 0; i < 20000; ++i)
      patterns.push_back(random() >> (random() % 64));
    // Floats near every power of two, where integers begin to overflow, and
    // with fractions that truncation drops.
    for (int exponent = -160; exponent <= 160; ++exponent)
      for (double m : {1.0, 1.25, 1.5, 1 - 0x1p-53, 1 - 0x1p-24, 1 + 0x1p-52,
                       1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-24})
        for (double sign : {1.0, -1.0}) {
          double value = sign * std::ldexp(m, exponent);
          patterns.push_back(type == ElementType::F64
                                 ? std::bit_cast<uint64_t>(value)
                                 : std::bit_cast<uint32_t>(float(value)));
        }
    if (isFloat(type))
      for (double value : {infinity, -infinity, NaN, 0.0, -0.0})
        patterns.push_back(type == ElementType::F64
                               ? std::bit_cast<uint64_t>(value)
                               : std::bit_cast<uint32_t>(float(value)));
  }
  auto size = size_t(sizeInBytes(type));
  std::vector<char> bytes(patterns.size() * size);
  for (size_t i = 0; i < patterns.size(); ++i)
    std::memcpy(bytes.data() + i * size, &patterns[i], size);
  return get(HostTensor::fromBytes(type, {int64_t(patterns.size())},
                                   bytes.data(), int64_t(bytes.size())));
}

/// The bits that the cast of one element should have; nullopt: any NaN.
std::optional<uint64_t> expectedCast(ElementType from, uint64_t bits,
                                     ElementType to) {
  APInt pattern(width(from), bits & (~0ULL >> (64 - width(from))));
  if (isFloat(from)) {
    APFloat value(semantics(from), pattern);
    if (to == ElementType::Bool)
      return !value.isZero();
    if (isFloat(to)) {
      bool lost;
      value.convert(semantics(to), APFloat::rmNearestTiesToEven, &lost);
      if (value.isNaN())
        return std::nullopt;
      return value.bitcastToAPInt().getZExtValue();
    }
    // Saturates; NaN gives 0.
    APSInt integer(width(to), /*isUnsigned=*/isUnsignedInteger(to));
    bool exact;
    value.convertToInteger(integer, APFloat::rmTowardZero, &exact);
    return integer.getZExtValue();
  }
  if (to == ElementType::Bool)
    return !pattern.isZero();
  if (isFloat(to)) {
    APFloat value(semantics(to));
    value.convertFromAPInt(pattern, isSignedInteger(from),
                           APFloat::rmNearestTiesToEven);
    if (value.isNaN())
      return std::nullopt;
    return value.bitcastToAPInt().getZExtValue();
  }
  APInt wide = isSignedInteger(from) ? pattern.sext(128) : pattern.zext(128);
  return wide.trunc(width(to)).getZExtValue();
}

class CastFrom : public testing::TestWithParam<ElementType> {};

TEST_P(CastFrom, EveryType) {
  HostTensor x = interestingValues(GetParam());
  for (ElementType to : allElementTypes) {
    HostTensor y = get(cast(x, to));
    ASSERT_EQ(y.type(), to);
    ASSERT_EQ(y.shape(), x.shape());
    for (int64_t i = 0; i < x.count(); ++i) {
      auto expected = expectedCast(GetParam(), bitsAt(x, i), to);
      if (expected) {
        ASSERT_EQ(bitsAt(y, i), *expected)
            << name(GetParam()) << " " << x.textAt(i) << " to " << name(to)
            << " gave " << y.textAt(i);
      } else {
        ASSERT_TRUE(std::isnan(y.doubleAt(i)))
            << name(GetParam()) << " " << x.textAt(i) << " to " << name(to)
            << " gave " << y.textAt(i);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CastFrom, testing::ValuesIn(allElementTypes),
                         [](const auto &info) {
                           return std::string(name(info.param));
                         });

TEST(Cast, Examples) {
  EXPECT_EQ(integers(get(cast(floats(ElementType::F32, {6},
                                     {1.9, -1.9, 300, -300, NaN, infinity}),
                              ElementType::I8))),
            (std::vector<int64_t>{1, -1, 127, -128, 0, 127}));
  EXPECT_EQ(integers(get(cast(floats(ElementType::F64, {3}, {NaN, -0.0, 0.1}),
                              ElementType::Bool))),
            (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(integers(get(
                cast(ints(ElementType::I32, {2}, {257, -1}), ElementType::U8))),
            (std::vector<int64_t>{1, 255}));
  // 2^60 + 2^36 + 1 is above a tie of f32; in f64 it would be the tie.
  int64_t value = (1LL << 60) + (1LL << 36) + 1;
  EXPECT_EQ(get(cast(ints(ElementType::I64, {}, {value}), ElementType::F32))
                .doubleAt(0),
            double((1LL << 60) + (1LL << 37)));
}

TEST(Cast, EmptyAndScalar) {
  EXPECT_EQ(
      get(cast(floats(ElementType::F32, {0, 3}, {}), ElementType::F16)).shape(),
      (Shape{0, 3}));
  EXPECT_EQ(get(cast(floats(ElementType::F32, {}, {2.5}), ElementType::I16))
                .integerAt(0),
            2);
}

} // namespace
