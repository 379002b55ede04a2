//===- Strided.h - Copies of strided elements -------------------*- C++ -*-===//
//
// Copies between two arrays with different strides, for the reference
// interpreter and for the parts of plans; and a test for row-major strides.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_STRIDED_H
#define CCN_RUNTIME_TENSOR_STRIDED_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ccn::runtime {

/// The number of elements of an array of `sizes`.
inline int64_t product(std::span<const int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

/// Whether an array of `sizes` with these strides is row-major and contiguous.
/// True if it has no elements.
inline bool isRowMajor(std::span<const int64_t> sizes,
                       std::span<const int64_t> strides) {
  bool isSo = true;
  uint64_t expected = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (sizes[dim] == 0)
      return true;
    isSo &= sizes[dim] == 1 || static_cast<uint64_t>(strides[dim]) == expected;
    expected *= static_cast<uint64_t>(sizes[dim]);
  }
  return isSo;
}

/// One dimension of a strided copy. Strides are in elements and may be
/// negative.
struct CopyDim {
  int64_t size, outStride, inStride;
};
using CopyDims = std::vector<CopyDim>;

/// Drops dimensions of size 1, and merges two neighbouring dimensions if one
/// stride reaches all their elements on both sides. This makes the inner loop
/// long.
CopyDims mergeDims(std::span<const CopyDim> dims);

/// Whether a dimension has size 0, so that there is no element.
bool isEmpty(std::span<const CopyDim> dims);

/// Calls body(outFirst, inFirst) for each index of `dims` in row-major order;
/// both are offsets in elements. `dims` must not be empty in the sense of
/// isEmpty.
template <typename Body>
void forEachIndex(std::span<const CopyDim> dims, Body body) {
  constexpr size_t few = 8;
  int64_t small[few] = {};
  std::vector<int64_t> large(dims.size() > few ? dims.size() : 0);
  int64_t *index = dims.size() > few ? large.data() : small;
  int64_t outFirst = 0, inFirst = 0;
  for (;;) {
    body(outFirst, inFirst);
    size_t dim = dims.size();
    for (;;) {
      if (dim-- == 0)
        return;
      outFirst += dims[dim].outStride;
      inFirst += dims[dim].inStride;
      if (++index[dim] < dims[dim].size)
        break;
      index[dim] = 0;
      outFirst -= dims[dim].size * dims[dim].outStride;
      inFirst -= dims[dim].size * dims[dim].inStride;
    }
  }
}

/// Copies elements of `elementSize` bytes (1, 2, 4 or 8) from `in` to `out`,
/// the addresses of index 0. Source and destination must not overlap, unless
/// they are identical.
void copyStrided(int elementSize, std::span<const CopyDim> dims,
                 const std::byte *in, std::byte *out);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_STRIDED_H
