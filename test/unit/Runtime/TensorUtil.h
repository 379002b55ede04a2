//===- TensorUtil.h - Tensors that collectives are tested with --*- C++ -*-===//
//
// Random tensors of every type with their unusual values, and what the
// reference interpreter makes of them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_RUNTIME_TENSORUTIL_H
#define CCN_TEST_UNIT_RUNTIME_TENSORUTIL_H

#include "lib/Interpreter/Reduce.h"
#include "runtime/tensor/Combine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace ccn::runtime {

using runtime::HostTensor;

/// Random elements of `type`, with NaNs, infinities, zeros and all-ones bits.
inline HostTensor randomTensor(ElementType type, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(count * sizeInBytes(type)));
  for (uint8_t &byte : bytes)
    byte = random() % 8 == 0 ? 0xff : static_cast<uint8_t>(random());
  if (type == ElementType::Bool)
    for (uint8_t &byte : bytes)
      byte &= 1;
  // Moderate values too, or sums of floats would rarely be ordinary.
  HostTensor raw = *HostTensor::fromBytes(type, {count}, bytes.data(),
                                          static_cast<int64_t>(bytes.size()));
  if (!isFloat(type))
    return raw;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(random() % 4 == 0
                         ? raw.doubleAt(i)
                         : static_cast<double>(random() % 2000) / 64 - 15);
  HostTensor tensor = *HostTensor::fromDoubles(type, {count}, values);
  std::vector<std::byte> data(tensor.data(),
                              tensor.data() + tensor.byteCount());
  int size = sizeInBytes(type);
  for (int64_t i = 3; i < count; i += 17)
    std::memset(&data[static_cast<size_t>(i * size)], 0xff,
                static_cast<size_t>(size));
  return *HostTensor::fromBytes(type, {count}, data.data(), tensor.byteCount());
}

inline HostTensor expectedSum(ElementType type, ReduceKind kind, int ranks,
                              int64_t count, uint64_t seed) {
  std::vector<HostTensor> inputs;
  for (int rank = 0; rank < ranks; ++rank)
    inputs.push_back(
        randomTensor(type, count, seed + static_cast<uint64_t>(rank)));
  return *interp::combine(kind, inputs);
}

inline ::testing::AssertionResult sameBits(const HostTensor &expected,
                                           const std::vector<uint64_t> &found,
                                           int64_t firstElement = 0) {
  HostTensor tensor =
      *HostTensor::fromBytes(expected.type(), expected.shape(),
                             reinterpret_cast<const std::byte *>(found.data()) +
                                 firstElement * sizeInBytes(expected.type()),
                             expected.byteCount());
  auto at = runtime::firstDifference(expected, tensor);
  if (!at)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "element " << *at << ": expected " << expected.textAt(*at)
         << ", found " << tensor.textAt(*at);
}

inline std::vector<uint64_t> storage(int64_t bytes) {
  return std::vector<uint64_t>(static_cast<size_t>(bytes) / 8 + 1);
}

inline bool isDefined(ReduceKind kind, ElementType type) {
  return checkReduction(kind, type, "").ok();
}

inline constexpr ReduceKind kinds[] = {ReduceKind::Sum, ReduceKind::Prod,
                                       ReduceKind::Max, ReduceKind::Min};

} // namespace ccn::runtime

#endif // CCN_TEST_UNIT_RUNTIME_TENSORUTIL_H
