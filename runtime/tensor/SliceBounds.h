//===- SliceBounds.h - The piece of a dimension that a rank holds *- C++
//-*-===//
//
// The arithmetic of ragged slices, for the compiler's layouts and the runtime's
// collectives alike.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_SLICEBOUNDS_H
#define CCN_RUNTIME_TENSOR_SLICEBOUNDS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ccn {

/// The part of a dimension that one rank holds, in elements of what was cut.
struct SliceBounds {
  int64_t offset;
  int64_t size;

  bool operator==(const SliceBounds &other) const = default;
};

/// Cuts a piece of `full` elements, of which the first `held` exist, by axes of
/// the given sizes, outermost first, and takes the piece at `coordinates`. Each
/// cut makes pieces of ceil(full / ranks) elements, the last ones short or
/// empty, and the next one divides the full piece of the one before, so that
/// all ranks agree on the piece's size without knowing which is short.
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
