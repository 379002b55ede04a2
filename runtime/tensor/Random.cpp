//===- Random.cpp - Counter-based random numbers --------------------------===//
//
// Implements Philox, and a loop over a slice's global indices.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Random.h"

#include "runtime/base/Hash.h"
#include "runtime/base/Parallel.h"
#include "runtime/tensor/Blocks.h"

#include <algorithm>
#include <cmath>

namespace ccn::runtime {

namespace {

/// How many elements one thread draws at a time, which takes about a
/// millisecond.
constexpr int64_t chunk = int64_t(1) << 18;

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

/// The 32 bits that each index of a stream draws.
class Draws {
public:
  Draws(uint64_t seed, uint64_t stream)
      : key{low(seed), high(seed)}, stream(stream) {}

  /// Draws for `n` indices from `first` on.
  void take(uint64_t first, int64_t n, uint32_t *bits) const {
    uint64_t counter = first / 4;
    size_t lane = first % 4;
    for (int64_t i = 0; i < n; ++counter, lane = 0) {
      std::array<uint32_t, 4> lanes = philox4x32(
          {low(counter), high(counter), low(stream), high(stream)}, key);
      while (lane < 4 && i < n)
        bits[i++] = lanes[lane++];
    }
  }

private:
  std::array<uint32_t, 2> key;
  uint64_t stream;
};

Status checkPosition(ElementType type, const Shape &shape,
                     const GlobalPosition &position) {
  if (Result<int64_t> count = elementCount(position.shape); !count)
    return count.status();
  bool inside = position.shape.size() == shape.size() &&
                position.offsets.size() == shape.size();
  for (size_t dim = 0; inside && dim < shape.size(); ++dim)
    inside = position.offsets[dim] >= 0 && shape[dim] <= position.shape[dim] &&
             position.offsets[dim] <= position.shape[dim] - shape[dim];
  if (!inside)
    return error("a slice ", describe(type, shape),
                 " does not lie inside the global tensor ",
                 describe(type, position.shape));
  return Status();
}

/// Calls body(first, n, global) for blocks that cover the elements [begin, end)
/// of a slice. Elements [first, first + n) of the slice have the global indices
/// from `global` on.
template <typename Body>
void forEachGlobalBlock(const Shape &shape, int64_t begin, int64_t end,
                        const GlobalPosition &position, Body body) {
  Shape strides = rowMajorStrides(shape);
  Shape globalStrides = rowMajorStrides(position.shape);
  int64_t width = shape.empty() ? 1 : shape.back();
  for (int64_t at = begin; at < end;) {
    int64_t rest = at, global = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      global +=
          (rest / strides[dim] + position.offsets[dim]) * globalStrides[dim];
      rest %= strides[dim];
    }
    // A block ends at the end of a row at the latest.
    int64_t size = std::min(width - at % width, end - at);
    forEachBlock(size, [&](int64_t first, int64_t n) {
      body(at + first, n, static_cast<uint64_t>(global + first));
    });
    at += size;
  }
}

} // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(0xD2511F53u) * counter[0];
    uint64_t product1 = uint64_t(0xCD9E8D57u) * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

Result<HostTensor> dropout(const HostTensor &x, double p, uint64_t seed,
                           const GlobalPosition &position) {
  if (!isFloat(x.type()))
    return error("dropout is defined for floats, found ", x.describe());
  if (!(p >= 0 && p <= 1))
    return error("the probability of a dropout must be between 0 and 1, found ",
                 p);
  if (Status status = checkPosition(x.type(), x.shape(), position); !status)
    return status;
  Result<HostTensor> result = HostTensor::uninitialized(x.type(), x.shape());
  if (!result)
    return result;
  std::byte *out = result->mutableData();
  Draws draws(seed, 0);
  auto apply = [&](auto zero) {
    using T = decltype(zero);
    T factor = static_cast<T>(1 / (1 - p));
    T values[blockSize];
    uint32_t bits[blockSize];
    forEachGlobalBlock(x.shape(), 0, x.count(), position,
                       [&](int64_t first, int64_t n, uint64_t global) {
                         load(x.type(), x.data(), first, n, values);
                         draws.take(global, n, bits);
                         for (int64_t i = 0; i < n; ++i) {
                           bool keep = (bits[i] >> 8) * 0x1p-24 >= p;
                           values[i] = keep ? values[i] * factor : T(0);
                         }
                         store(x.type(), out, first, n, values);
                       });
  };
  if (x.type() == ElementType::F64)
    apply(double());
  else
    apply(float());
  return result;
}

double drawScale(ElementType type, const Shape &shape) {
  constexpr int unscaledBits = 3;
  if (!isFloat(type) || shape.size() < 2)
    return 1;
  // The number of products in a sum: T for a matrix [T, H], H for a batch [E,
  // H, F], and for filters [O, C, h, w] C * h, a little less than C * h * w.
  double summed = 1;
  for (size_t dim = shape.size() > 2 ? 1 : 0; dim + 1 < shape.size(); ++dim)
    summed *= static_cast<double>(shape[dim]);
  int exponent = 0;
  while (std::ldexp(1.0, exponent + unscaledBits) < summed)
    ++exponent;
  int smallestNormal = type == ElementType::F8E4M3 ? -6
                       : type == ElementType::F8E5M2 || type == ElementType::F16
                           ? -14
                           : -126;
  return std::ldexp(1.0, std::max(-exponent, smallestNormal + unscaledBits));
}

Result<HostTensor> randomFill(ElementType type, const Shape &shape,
                              const GlobalPosition &position, uint64_t seed,
                              std::string_view stream, double scale) {
  if (Status status = checkPosition(type, shape, position); !status)
    return status;
  Result<HostTensor> result = HostTensor::uninitialized(type, shape);
  if (!result)
    return result;
  std::byte *out = result->mutableData();
  Draws draws(seed, fnv1a(stream));
  auto fill = [&](auto zero, auto convert) {
    forEachChunk(result->count(), chunk, [&](int64_t begin, int64_t size) {
      decltype(zero) values[blockSize];
      uint32_t bits[blockSize];
      forEachGlobalBlock(shape, begin, begin + size, position,
                         [&](int64_t first, int64_t n, uint64_t global) {
                           draws.take(global, n, bits);
                           for (int64_t i = 0; i < n; ++i)
                             values[i] = convert(bits[i]);
                           store(type, out, first, n, values);
                         });
    });
  };
  if (type == ElementType::F64)
    fill(double(), [unit = scale * 0x1p-24](uint32_t bits) {
      return ((bits >> 8) + 1) * unit;
    });
  else if (isFloat(type))
    // Exact, as `(bits >> 8) + 1` is at most 2^24.
    fill(float(), [unit = static_cast<float>(scale * 0x1p-24)](uint32_t bits) {
      return static_cast<float>((bits >> 8) + 1) * unit;
    });
  else if (type == ElementType::Bool)
    fill(uint64_t(), [](uint32_t bits) { return uint64_t(bits >> 31); });
  else
    fill(uint64_t(), [](uint32_t bits) { return uint64_t(bits >> 30); });
  return result;
}

} // namespace ccn::runtime
