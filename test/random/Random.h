//===- Random.h - Choices that a seed decides -------------------*- C++ -*-===//
//
// The same choices for the same seed with every standard library, whose
// distributions differ.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_RANDOM_RANDOM_H
#define CCN_TEST_RANDOM_RANDOM_H

#include <cassert>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace ccn::random {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// From 0 to n - 1; n is at least 1.
  int64_t below(int64_t n) {
    assert(n > 0);
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(n));
  }
  /// From `low` to `high`, both included.
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  bool chance(double probability) {
    return static_cast<double>(engine() >> 11) * 0x1p-53 < probability;
  }
  /// The list is not empty.
  template <typename T> const T &pick(const std::vector<T> &list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  /// A choice among values with weights, of which one is positive.
  template <typename T>
  T weighted(const std::vector<std::pair<int, T>> &choices) {
    int64_t total = 0;
    for (const auto &[weight, value] : choices)
      total += weight;
    int64_t at = below(total);
    for (const auto &[weight, value] : choices)
      if ((at -= weight) < 0)
        return value;
    return choices.back().second;
  }
  template <typename T> void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1],
                list[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  }

private:
  std::mt19937_64 engine;
};

} // namespace ccn::random

#endif // CCN_TEST_RANDOM_RANDOM_H
