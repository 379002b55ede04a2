//===- NumberTest.cpp - Numbers as they are written -----------------------===//
//
// llvm::APFloat, which rounds once from the digits to any type, is the judge.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Number.h"

#include "runtime/tensor/Blocks.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace ccn;
using namespace ccn::runtime;

namespace {

const llvm::fltSemantics &semanticsOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return llvm::APFloat::IEEEdouble();
  case ElementType::F32:
    return llvm::APFloat::IEEEsingle();
  case ElementType::F16:
    return llvm::APFloat::IEEEhalf();
  case ElementType::BF16:
    return llvm::APFloat::BFloat();
  case ElementType::F8E4M3:
    return llvm::APFloat::Float8E4M3FN();
  default:
    return llvm::APFloat::Float8E5M2();
  }
}

uint64_t bitsOf(const ElementBytes &bytes) {
  uint64_t bits;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  return bits;
}

void expectRounded(ElementType type, const std::string &text) {
  llvm::APFloat expected(semanticsOf(type));
  llvm::cantFail(
      expected.convertFromString(text, llvm::APFloat::rmNearestTiesToEven));
  Result<ElementBytes> found = parseElement(type, text);
  if (!expected.isFinite() || expected.isZero()) {
    EXPECT_FALSE(found.ok()) << text << " as " << name(type);
    return;
  }
  ASSERT_TRUE(found.ok()) << text << ": " << found.message();
  EXPECT_EQ(bitsOf(*found), expected.bitcastToAPInt().getZExtValue())
      << text << " as " << name(type);
}

} // namespace

TEST(NumberTest, RealsAreRoundedOnceFromTheirDigits) {
  std::mt19937_64 random(1);
  for (ElementType type :
       {ElementType::F64, ElementType::F32, ElementType::F16, ElementType::BF16,
        ElementType::F8E4M3, ElementType::F8E5M2}) {
    for (int i = 0; i < 4000; ++i) {
      // A tie between two neighbours of the type, exactly or but for a digit so
      // far behind that a double does not see it.
      llvm::APFloat value(
          semanticsOf(type),
          llvm::APInt(unsigned(8 * sizeInBytes(type)), random(), false, true));
      if (!value.isFinite() || value.isZero())
        continue;
      llvm::APFloat next = value;
      next.next(false);
      if (!next.isFinite() || next.isZero())
        continue;
      bool lost;
      for (llvm::APFloat *each : {&value, &next})
        each->convert(llvm::APFloat::IEEEquad(),
                      llvm::APFloat::rmNearestTiesToEven, &lost);
      value.add(next, llvm::APFloat::rmNearestTiesToEven);
      llvm::APFloat half(0.5);
      half.convert(llvm::APFloat::IEEEquad(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
      value.multiply(half, llvm::APFloat::rmNearestTiesToEven);
      llvm::SmallString<128> digits;
      // All its digits, without an exponent where that is short enough.
      value.toString(digits, 1100, 1100);
      std::string text = digits.str().str();
      if (text.find_first_of(".eE") == std::string::npos)
        text += ".0";
      expectRounded(type, text);
      if (text.find_first_of("eE") != std::string::npos)
        continue;
      expectRounded(type, text + "000000000000000000001");
      // The same but for a last digit below.
      size_t last = text.find_last_not_of(".0");
      if (last == std::string::npos || text[last] == '-')
        continue;
      std::string below = text;
      --below[last];
      for (size_t j = last + 1; j < below.size(); ++j)
        if (below[j] == '0')
          below[j] = '9';
      expectRounded(type, below + "99999999999999999999");
    }
  }
}

TEST(NumberTest, WhatIsNoNumberIsNone) {
  for (const char *text : {"",
                           "-",
                           "+",
                           "0x",
                           "1e",
                           "e5",
                           "nan",
                           "inf",
                           "-inf",
                           "1.2.3",
                           "--1",
                           "+-1",
                           "+-1.5",
                           "1e400",
                           "1e-400",
                           "0x1p3",
                           "1f",
                           " 1",
                           "1 ",
                           "True",
                           "18446744073709551616",
                           "-9223372036854775809"})
    EXPECT_FALSE(parseNumber(text)) << text;
  EXPECT_EQ(std::get<int64_t>(*parseNumber("010")), 10);
  EXPECT_EQ(std::get<int64_t>(*parseNumber("-0x10")), -16);
  EXPECT_EQ(std::get<int64_t>(*parseNumber("-9223372036854775808")), INT64_MIN);
  EXPECT_EQ(std::get<uint64_t>(*parseNumber("18446744073709551615")),
            UINT64_MAX);
  EXPECT_EQ(std::get<double>(*parseNumber("+1.5e-3")), 1.5e-3);
  EXPECT_EQ(std::get<bool>(*parseNumber("true")), true);
}

TEST(NumberTest, IntegersFitOrAreRefused) {
  auto whyNot = [](ElementType type, const char *text) {
    return parseElement(type, text).message();
  };
  EXPECT_EQ(bitsOf(*parseElement(ElementType::I8, "-128")), 0x80u);
  EXPECT_EQ(whyNot(ElementType::I8, "128"), "128 does not fit type 'i8'");
  EXPECT_EQ(bitsOf(*parseElement(ElementType::U8, "0xff")), 0xffu);
  EXPECT_EQ(whyNot(ElementType::U8, "-1"), "-1 does not fit type 'u8'");
  EXPECT_EQ(whyNot(ElementType::U32, "4294967296"),
            "4294967296 does not fit type 'u32'");
  EXPECT_EQ(bitsOf(*parseElement(ElementType::U64, "18446744073709551615")),
            UINT64_MAX);
  EXPECT_EQ(whyNot(ElementType::I64, "18446744073709551615"),
            "18446744073709551615 does not fit type 'i64'");
  EXPECT_EQ(whyNot(ElementType::I32, "0.5"),
            "expected an integer of type 'i32', found 0.5");
  EXPECT_EQ(whyNot(ElementType::Bool, "1"),
            "expected true or false for type 'bool', found 1");
  EXPECT_EQ(whyNot(ElementType::F32, "true"),
            "expected a number of type 'f32', found true");
  EXPECT_EQ(whyNot(ElementType::F16, "70000"),
            "70000 is too large for type 'f16'");
  EXPECT_EQ(whyNot(ElementType::F16, "1e-8"), "1e-8 would be 0 in type 'f16'");
  EXPECT_EQ(bitsOf(*parseElement(ElementType::F32, "-0.0")), 0x80000000u);
  // 2^24 + 1 is a tie of f32.
  EXPECT_EQ(bitsOf(*parseElement(ElementType::F32, "16777217")),
            bitsOf(*parseElement(ElementType::F32, "16777216")));
}
