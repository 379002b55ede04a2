//===- NarrowFloatTest.cpp - Floats of 16 and 8 bits ----------------------===//
//
// Rounding from float is the same as from double, where a float goes exactly.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/NarrowFloat.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>

using namespace ccn::runtime;

namespace {

template <typename Format> class NarrowFloat : public testing::Test {};
using Formats =
    testing::Types<F16Format, BF16Format, F8E4M3Format, F8E5M2Format>;
TYPED_TEST_SUITE(NarrowFloat, Formats);

template <typename Format> void expectSame(uint32_t bits) {
  auto value = std::bit_cast<float>(bits);
  ASSERT_EQ(encodeAs<Format>(value),
            encodeAs<Format>(static_cast<double>(value)))
      << std::hex << bits;
}

TYPED_TEST(NarrowFloat, RoundsFromFloatAsFromDouble) {
  // A prime step goes through all exponents and mantissas of both signs.
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 4093)
    expectSame<TypeParam>(static_cast<uint32_t>(bits));
}

TYPED_TEST(NarrowFloat, RoundsTiesAsFromDouble) {
  for (uint32_t pattern = 0; pattern < TypeParam::overflow; ++pattern) {
    float value = decodeAs<TypeParam>(pattern);
    float next = decodeAs<TypeParam>(pattern + 1);
    float middle = std::isfinite(next) ? value + (next - value) / 2 : value;
    for (float around : {value, middle})
      for (float close : {around, std::nextafter(around, -INFINITY),
                          std::nextafter(around, INFINITY)})
        for (float signedOne : {close, -close})
          expectSame<TypeParam>(std::bit_cast<uint32_t>(signedOne));
  }
}

} // namespace
