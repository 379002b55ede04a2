//===- TensorUtil.h - Host tensors through compiled loops -------*- C++ -*-===//
//
// What tests of loops share that compare with the interpreter's kernels.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CODEGEN_TENSORUTIL_H
#define CCN_TEST_UNIT_CODEGEN_TENSORUTIL_H

#include "runtime/tensor/HostTensor.h"
#include "test/common/Elementwise.h"
#include "test/unit/Codegen/LoopsUtil.h"

#include <cmath>
#include <random>

namespace ccn::codegen {

using runtime::ElementType;
using runtime::HostTensor;
using runtime::Shape;
using test::binary;
using test::unary;

template <typename T> T get(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.message();
  return result.ok() ? *std::move(result) : T();
}

/// The type of scalars in a body; `elementType` has the sign.
inline std::string scalarName(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3:
    return "f8E4M3FN";
  case ElementType::F8E5M2:
    return "f8E5M2";
  case ElementType::Bool:
    return "i1";
  default:
    if (runtime::isFloat(type))
      return std::string(runtime::name(type));
    return "i" + std::to_string(8 * runtime::sizeInBytes(type));
  }
}
inline std::string elementName(ElementType type) {
  if (runtime::isUnsignedInteger(type))
    return "u" + scalarName(type);
  return scalarName(type);
}

/// Random elements, many of them special: zeros, extremes, infinities, NaN,
/// subnormals, and small numbers so that sums do not only overflow.
inline HostTensor randomTensor(ElementType type, const Shape &shape,
                               unsigned seed) {
  std::mt19937_64 random(seed);
  int64_t count = get(runtime::elementCount(shape));
  if (runtime::isFloat(type)) {
    static const double special[] = {
        0.0,       -0.0,      1.0,      -1.0,      0x1p-1074, 0x1p-149,
        -0x1p-140, 0x1p-24,   0x1p-9,   448.0,     57344.0,   65504.0,
        0x1p127,   -0x1p1023, INFINITY, -INFINITY, NAN};
    std::vector<double> values(static_cast<size_t>(count));
    for (double &value : values)
      value = random() % 8 == 0
                  ? special[random() % std::size(special)]
                  : std::normal_distribution<double>(0, 2)(random);
    return get(HostTensor::fromDoubles(type, shape, values));
  }
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (int64_t &value : values) {
    auto bits = static_cast<int64_t>(random());
    switch (random() % 4) {
    case 0:
      value = bits;
      break;
    case 1:
      value = bits % 2 ? INT64_MIN : INT64_MAX;
      break;
    default:
      value = bits % 5;
    }
  }
  return get(HostTensor::fromIntegers(type, shape, values));
}

inline void expectEqual(const HostTensor &found, const HostTensor &expected,
                        const std::string &what) {
  ASSERT_EQ(found.describe(), expected.describe()) << what;
  if (auto at = runtime::firstDifference(found, expected))
    FAIL() << what << ": element " << runtime::describeIndex(found.shape(), *at)
           << " is " << found.textAt(*at) << ", expected "
           << expected.textAt(*at);
}

} // namespace ccn::codegen

#endif // CCN_TEST_UNIT_CODEGEN_TENSORUTIL_H
