//===- Box.h - Boxes of tensors and copies between them ---------*- C++ -*-===//
//
// A rank holds a box of a tensor, row by row; collectives that move data copy
// the common part of two boxes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BOX_H
#define CCN_RUNTIME_BOX_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ccn::runtime {

/// Offsets and sizes by dimension, in elements of the whole tensor.
struct Box {
  std::vector<int64_t> offsets, sizes;

  /// The box that starts at zero.
  static Box whole(const std::vector<int64_t> &shape) {
    return {std::vector<int64_t>(shape.size()), shape};
  }

  int64_t count() const {
    int64_t product = 1;
    for (int64_t size : sizes)
      product *= size;
    return product;
  }
};

/// The common part of two boxes of one tensor; of no common part some size is
/// 0.
Box intersect(const Box &a, const Box &b);

/// Copies `region`, which lies in both boxes, from row-major `source`, which
/// holds sourceBox, to row-major `target`, which holds targetBox.
void copyBox(int64_t elementSize, const Box &region, const std::byte *source,
             const Box &sourceBox, std::byte *target, const Box &targetBox);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_BOX_H
