//===- TestUtil.h - Helpers for tests of the numeric library ----*- C++ -*-===//
//
// Short ways to make tensors and to look at results.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_INTERPRETER_TESTUTIL_H
#define CCN_TEST_UNIT_INTERPRETER_TESTUTIL_H

#include "runtime/tensor/HostTensor.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace ccn::interp {

using namespace runtime;

inline const double infinity = std::numeric_limits<double>::infinity();
inline const double NaN = std::numeric_limits<double>::quiet_NaN();

/// The value of a result; fails the test with the message if there is none.
template <typename T> T get(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.message();
  return result.ok() ? *std::move(result) : T();
}

/// Expects a failure whose message contains each of the parts.
template <typename T, typename... Parts>
void expectError(const T &result, const Parts &...parts) {
  ASSERT_FALSE(result.ok());
  for (std::string part : {std::string(parts)...})
    EXPECT_NE(result.message().find(part), std::string::npos)
        << "message: " << result.message() << "\nlacks: " << part;
}

inline HostTensor floats(ElementType type, Shape shape,
                         const std::vector<double> &values) {
  return get(HostTensor::fromDoubles(type, std::move(shape), values));
}

inline HostTensor ints(ElementType type, Shape shape,
                       const std::vector<int64_t> &values) {
  return get(HostTensor::fromIntegers(type, std::move(shape), values));
}

/// A tensor over the given values in the representation of their type.
template <typename T>
HostTensor raw(ElementType type, Shape shape, const std::vector<T> &values) {
  return get(HostTensor::fromBytes(type, std::move(shape), values.data(),
                                   int64_t(values.size() * sizeof(T))));
}

/// 0, 1, 2, ... (in a narrow type, wrapped or rounded).
inline HostTensor iota(ElementType type, Shape shape) {
  std::vector<int64_t> values(size_t(get(elementCount(shape))));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int64_t(i);
  return ints(type, std::move(shape), values);
}

inline std::vector<double> doubles(const HostTensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.count(); ++i)
    values.push_back(tensor.doubleAt(i));
  return values;
}

inline std::vector<int64_t> integers(const HostTensor &tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.count(); ++i)
    values.push_back(tensor.integerAt(i));
  return values;
}

/// Random values of a type in a range that suits sums: small integers and
/// floats around zero.
inline HostTensor randomTensor(ElementType type, Shape shape, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(size_t(get(elementCount(shape))));
  for (double &value : values)
    value = isFloat(type) ? std::normal_distribution<double>()(random)
                          : double(int64_t(random() % 200) - 100);
  return floats(type, std::move(shape), values);
}

/// Same type, shape and bits, any NaN equal to any other.
inline testing::AssertionResult same(const HostTensor &a, const HostTensor &b) {
  if (a.type() != b.type() || a.shape() != b.shape())
    return testing::AssertionFailure()
           << a.describe() << " is not " << b.describe();
  if (auto index = firstDifference(a, b))
    return testing::AssertionFailure()
           << "element " << describeIndex(a.shape(), *index) << ": "
           << a.textAt(*index) << " is not " << b.textAt(*index);
  return testing::AssertionSuccess();
}

} // namespace ccn::interp

#endif // CCN_TEST_UNIT_INTERPRETER_TESTUTIL_H
