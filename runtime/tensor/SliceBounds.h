//===- SliceBounds.h - A rank's slice of a dimension ------------*- C++ -*-===//
//
// The arithmetic of slices of unequal sizes, for the compiler's layouts and for
// the runtime's collectives.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_SLICEBOUNDS_H
#define CCN_RUNTIME_TENSOR_SLICEBOUNDS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ccn {

/// The slice of a dimension that one rank holds, in elements of the whole
/// dimension.
struct SliceBounds {
  int64_t offset;
  int64_t size;

  bool operator==(const SliceBounds &other) const = default;
};

/// Cuts `full` elements, of which only the first `held` exist, along axes of
/// the given sizes, outermost first, and returns the slice at `coordinates`.
/// Each cut makes slices of ceil(full / ranks) elements, of which the last ones
/// may be short or empty. The next cut divides a full slice even where the
/// slice is short, so all ranks agree on the sizes of slices.
inline SliceBounds cutPiece(int64_t full, int64_t held,
                            std::span<const int64_t> axisSizes,
                            std::span<const int64_t> coordinates) {
  int64_t offset = 0;
  for (size_t axis = 0; axis < axisSizes.size(); ++axis) {
    int64_t ranks = axisSizes[axis];
    full = full / ranks + (full % ranks != 0);
    int64_t before = std::min(held, full * coordinates[axis]);
    offset += before;
    held = std::min(held - before, full);
  }
  return {offset, held};
}

} // namespace ccn

#endif // CCN_RUNTIME_TENSOR_SLICEBOUNDS_H
