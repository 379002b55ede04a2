//===- HostTensorTest.cpp - Construction and inspection of tensors --------===//

#include "runtime/tensor/HostTensor.h"

#include "TestUtil.h"

using namespace ccn;
using namespace ccn::interp;

namespace {

TEST(HostTensorTest, ElementCount) {
  EXPECT_EQ(get(elementCount({})), 1);
  EXPECT_EQ(get(elementCount({3, 4})), 12);
  EXPECT_EQ(get(elementCount({3, 0, 4})), 0);
  EXPECT_EQ(get(elementCount({1LL << 31, 1LL << 31})), 1LL << 62);
  expectError(elementCount({1LL << 32, 1LL << 31}), "64 bits");
  // Not saved by a zero: strides would overflow.
  expectError(elementCount({0, 1LL << 32, 1LL << 32}), "64 bits");
  expectError(elementCount({2, -1}), "at least 0, found -1");
}

TEST(HostTensorTest, Default) {
  HostTensor tensor;
  EXPECT_EQ(tensor.describe(), "f32");
  EXPECT_EQ(tensor.count(), 1);
  EXPECT_EQ(tensor.doubleAt(0), 0);
}

TEST(HostTensorTest, TooLargeIsAnError) {
  expectError(HostTensor::zeros(ElementType::F32, {1LL << 50}),
              "not enough memory", "f32[1125899906842624]",
              "4503599627370496 bytes");
  expectError(HostTensor::uninitialized(ElementType::F64, {1LL << 62}),
              "size in bytes does not fit 64 bits");
  expectError(HostTensor::uninitialized(ElementType::F64, {3, -2}),
              "f64[3, -2]", "at least 0");
  expectError(HostTensor::splat(ElementType::F64, {1LL << 50}, 1),
              "not enough memory");
}

TEST(HostTensorTest, CopiesShareStorage) {
  HostTensor a = iota(ElementType::I32, {2, 3});
  HostTensor b = a;
  EXPECT_EQ(a.data(), b.data());
  HostTensor c = get(a.reshaped({3, 2}));
  EXPECT_EQ(a.data(), c.data());
  EXPECT_EQ(c.shape(), (Shape{3, 2}));
  expectError(a.reshaped({4}), "i32[2, 3] with 6", "i32[4] with 4");
  expectError(a.reshaped({-6}), "at least 0");
}

TEST(HostTensorTest, AlignedAndNeverNull) {
  for (int64_t size : {0, 1, 7, 1000}) {
    HostTensor tensor = get(HostTensor::zeros(ElementType::U8, {size}));
    ASSERT_NE(tensor.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u);
  }
}

TEST(HostTensorTest, Splat) {
  for (ElementType type : allElementTypes) {
    HostTensor three = get(HostTensor::splat(type, {5}, 3));
    HostTensor minusOne = get(HostTensor::splatInteger(type, {2, 2}, -1));
    for (int64_t i = 0; i < 5; ++i)
      EXPECT_EQ(three.doubleAt(i), type == ElementType::Bool ? 1 : 3);
    if (isFloat(type) || isSignedInteger(type)) {
      EXPECT_EQ(minusOne.doubleAt(3), -1);
    } else {
      EXPECT_EQ(minusOne.integerAt(3),
                type == ElementType::Bool ? 1
                : type == ElementType::U64
                    ? -1
                    : (1LL << (8 * sizeInBytes(type))) - 1);
    }
  }
  EXPECT_EQ(get(HostTensor::splat(ElementType::F32, {}, 2)).rank(), 0);
  EXPECT_EQ(get(HostTensor::splat(ElementType::F32, {0}, 2)).count(), 0);
}

TEST(HostTensorTest, FromBytes) {
  uint8_t bytes[] = {0, 1, 2, 255};
  HostTensor bools =
      get(HostTensor::fromBytes(ElementType::Bool, {4}, bytes, 4));
  EXPECT_EQ(integers(bools), (std::vector<int64_t>{0, 1, 1, 1}));
  expectError(HostTensor::fromBytes(ElementType::Bool, {5}, bytes, 4),
              "bool[5] takes 5 bytes, found 4");
  expectError(HostTensor::fromDoubles(ElementType::F16, {3}, {1, 2}), "found");
}

TEST(HostTensorTest, Text) {
  EXPECT_EQ(floats(ElementType::F32, {}, {0.1}).textAt(0), "0.1");
  EXPECT_EQ(floats(ElementType::F64, {}, {0.1}).textAt(0), "0.1");
  EXPECT_EQ(floats(ElementType::F32, {}, {NaN}).textAt(0), "nan");
  EXPECT_EQ(floats(ElementType::BF16, {}, {-infinity}).textAt(0), "-inf");
  EXPECT_EQ(ints(ElementType::I8, {}, {-3}).textAt(0), "-3");
  EXPECT_EQ(ints(ElementType::U64, {}, {-1}).textAt(0), "18446744073709551615");
  EXPECT_EQ(ints(ElementType::U64, {}, {-1}).doubleAt(0), 0x1p64);
  EXPECT_EQ(ints(ElementType::Bool, {2}, {1, 0}).textAt(0), "true");
  EXPECT_EQ(describeIndex({2, 3}, 5), "[1, 2]");
  EXPECT_EQ(describeIndex({}, 0), "[]");
  EXPECT_EQ(describe(ElementType::BF16, {0, 7}), "bf16[0, 7]");
}

TEST(HostTensorTest, FirstDifference) {
  HostTensor a = iota(ElementType::F32, {3000});
  std::vector<double> values = doubles(a);
  EXPECT_EQ(firstDifference(a, floats(ElementType::F32, {3000}, values)),
            std::nullopt);
  values[2500] = values[2700] = -1;
  EXPECT_EQ(firstDifference(a, floats(ElementType::F32, {3000}, values)), 2500);
  // Zeros differ in sign; NaNs are all the same.
  EXPECT_EQ(firstDifference(floats(ElementType::F16, {2}, {0, 0}),
                            floats(ElementType::F16, {2}, {0, -0.0})),
            1);
  EXPECT_EQ(firstDifference(raw<uint32_t>(ElementType::F32, {1}, {0x7fc00000}),
                            raw<uint32_t>(ElementType::F32, {1}, {0xffc00001})),
            std::nullopt);
  EXPECT_EQ(firstDifference(ints(ElementType::I8, {2}, {1, 2}),
                            ints(ElementType::I8, {2}, {1, 3})),
            1);
}

} // namespace
