//===- LoopFunctions.h - Bodies of loops for tests --------------*- C++ -*-===//
//
// C++ functions with the signature of compiled ones, and short ways to write
// the loops that call them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_RUNTIME_LOOPFUNCTIONS_H
#define CCN_TEST_UNIT_RUNTIME_LOOPFUNCTIONS_H

#include "CollectivePlans.h"

#include <atomic>
#include <map>
#include <numeric>

namespace ccn::runtime {

inline constexpr ElementType f32 = ElementType::F32;

/// Walks a loop nest of `rank` dimensions; at(operand) is an element's address.
template <int dims, int operands, typename Body>
void nest(const int64_t *sizes, void *const *data, const int64_t *strides,
          Body body) {
  std::array<int64_t, dims> index{};
  for (int d = 0; d < dims; ++d)
    if (sizes[d] == 0)
      return;
  for (;;) {
    std::array<int64_t, operands> at{};
    for (int o = 0; o < operands; ++o)
      for (int d = 0; d < dims; ++d)
        at[static_cast<size_t>(o)] +=
            index[static_cast<size_t>(d)] * strides[o * dims + d];
    body(at, data);
    int d = dims - 1;
    for (; d >= 0 && ++index[static_cast<size_t>(d)] == sizes[d]; --d)
      index[static_cast<size_t>(d)] = 0;
    if (d < 0)
      return;
  }
}

inline float &element(void *const *data, int operand, int64_t at) {
  return static_cast<float *>(data[operand])[at];
}

/// b = 2 * a over one dimension.
inline void twice(const int64_t *sizes, void *const *data,
                  const int64_t *strides, int64_t *) {
  nest<1, 2>(sizes, data, strides, [](auto at, auto d) {
    element(d, 1, at[1]) = 2 * element(d, 0, at[0]);
  });
}

/// b[i] = sum over j of a[i, j]; of nothing 0.
inline void sumRows(const int64_t *sizes, void *const *data,
                    const int64_t *strides, int64_t *) {
  for (int64_t i = 0; i < sizes[0]; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < sizes[1]; ++j)
      sum += element(data, 0, i * strides[0] + j * strides[1]);
    element(data, 1, i * strides[2]) = static_cast<float>(sum);
  }
}

/// c[i, j] = a[i, j] / b[i].
inline void divideRows(const int64_t *sizes, void *const *data,
                       const int64_t *strides, int64_t *) {
  nest<2, 3>(sizes, data, strides, [](auto at, auto d) {
    element(d, 2, at[2]) = element(d, 0, at[0]) / element(d, 1, at[1]);
  });
}

/// c[i, j] = a + 1000 * (the index operand).
inline void addIndex(const int64_t *sizes, void *const *data,
                     const int64_t *strides, int64_t *) {
  for (int64_t i = 0; i < sizes[0]; ++i)
    for (int64_t j = 0; j < sizes[1]; ++j) {
      int64_t index =
          *static_cast<int64_t *>(data[1]) + i * strides[2] + j * strides[3];
      element(data, 2, i * strides[4] + j * strides[5]) =
          element(data, 0, i * strides[0] + j * strides[1]) +
          1000 * static_cast<float>(index);
    }
}

/// a = sum of nothing or of all, two dimensions reduced.
inline void sumAll(const int64_t *sizes, void *const *data,
                   const int64_t *strides, int64_t *) {
  float sum = 0;
  nest<2, 2>(sizes, data, strides,
             [&](auto at, auto d) { sum += element(d, 0, at[0]); });
  element(data, 1, 0) = sum;
}

/// Fails with the code that is the first element.
inline void failing(const int64_t *, void *const *data, const int64_t *,
                    int64_t *status) {
  *status = static_cast<int64_t>(element(data, 0, 0));
}

inline std::atomic<int> meeting{0};

/// Ends when two are in it at once, or after some seconds.
inline void meet(const int64_t *, void *const *data, const int64_t *,
                 int64_t *) {
  ++meeting;
  auto start = std::chrono::steady_clock::now();
  while (meeting < 2 &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(20))
    std::this_thread::yield();
  element(data, 1, 0) = meeting >= 2 ? 1.f : 0.f;
}

inline LoopFunction resolve(std::string_view name) {
  static const std::map<std::string_view, LoopFunction> functions = {
      {"twice", twice},        {"sum_rows", sumRows}, {"divide", divideRows},
      {"add_index", addIndex}, {"sum_all", sumAll},   {"failing", failing},
      {"meet", meet}};
  auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

inline ExecutorOptions withFunctions() {
  ExecutorOptions options;
  options.resolve = resolve;
  return options;
}

inline LoopOperand load(int buffer, Shape strides, int64_t offset = 0) {
  return {Access::Load, {buffer, offset, std::move(strides)}, f32};
}
inline LoopOperand store(int buffer, Shape strides, int64_t offset = 0) {
  return {Access::Store, {buffer, offset, std::move(strides)}, f32};
}
inline LoopOperand scratch(int number, Shape strides) {
  return {Access::Scratch, {number, 0, std::move(strides)}, f32};
}

inline std::vector<float> counting(int64_t count, float first = 1) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

inline double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

} // namespace ccn::runtime

#endif // CCN_TEST_UNIT_RUNTIME_LOOPFUNCTIONS_H
