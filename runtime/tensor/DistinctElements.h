//===- DistinctElements.h - Strided regions without repeats -----*- C++ -*-===//
//
// Whether the indices of a strided region are all different elements, so that
// the region can be written in any order.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_DISTINCTELEMENTS_H
#define CCN_RUNTIME_TENSOR_DISTINCTELEMENTS_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ccn::runtime {

/// Whether no two indices of a region are the same element. Only regions whose
/// dimensions are nested are known to be so: in the order of strides, each is
/// longer than all that the smaller ones reach. False for others, for negative
/// strides and if a number overflows.
inline bool hasDistinctElements(std::span<const int64_t> sizes,
                                std::span<const int64_t> strides) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] == 0)
      return true;
    if (sizes[dim] > 1)
      dims.emplace_back(strides[dim], sizes[dim]);
  }
  std::sort(dims.begin(), dims.end());
  // The last element that the dimensions so far reach.
  int64_t last = 0;
  for (auto [stride, size] : dims) {
    int64_t reach;
    if (stride <= last || __builtin_mul_overflow(size - 1, stride, &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return false;
  }
  return true;
}

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_DISTINCTELEMENTS_H
