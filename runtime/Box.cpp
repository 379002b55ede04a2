//===- Box.cpp - Boxes of tensors and copies between them -----------------===//
//
// Copies runs of elements that are consecutive on both sides.
//
//===----------------------------------------------------------------------===//

#include "runtime/Box.h"

#include <algorithm>
#include <cstring>

namespace ccn::runtime {

Box intersect(const Box &a, const Box &b) {
  Box box;
  for (size_t dim = 0; dim < a.sizes.size(); ++dim) {
    int64_t begin = std::max(a.offsets[dim], b.offsets[dim]);
    int64_t end =
        std::min(a.offsets[dim] + a.sizes[dim], b.offsets[dim] + b.sizes[dim]);
    box.offsets.push_back(begin);
    box.sizes.push_back(std::max<int64_t>(end - begin, 0));
  }
  return box;
}

namespace {

struct Copy {
  const Box &region, &sourceBox, &targetBox;
  /// Dimensions from here on are one run.
  size_t runFrom;
  int64_t runBytes;

  void operator()(size_t dim, const std::byte *source,
                  std::byte *target) const {
    if (dim == runFrom) {
      std::memcpy(target, source, static_cast<size_t>(runBytes));
      return;
    }
    for (int64_t i = 0; i < region.sizes[dim]; ++i) {
      (*this)(dim + 1, source, target);
      source += sourceStrides[dim];
      target += targetStrides[dim];
    }
  }

  std::vector<int64_t> sourceStrides, targetStrides;
};

std::vector<int64_t> strides(const Box &box, int64_t elementSize) {
  std::vector<int64_t> result(box.sizes.size());
  int64_t stride = elementSize;
  for (size_t dim = result.size(); dim-- > 0;) {
    result[dim] = stride;
    stride *= box.sizes[dim];
  }
  return result;
}

} // namespace

void copyBox(int64_t elementSize, const Box &region, const std::byte *source,
             const Box &sourceBox, std::byte *target, const Box &targetBox) {
  if (region.count() == 0)
    return;
  Copy copy{region,
            sourceBox,
            targetBox,
            region.sizes.size(),
            elementSize,
            strides(sourceBox, elementSize),
            strides(targetBox, elementSize)};
  // A run goes on outwards as long as the dimension inside is whole.
  bool whole = true;
  while (copy.runFrom > 0 && whole) {
    size_t dim = --copy.runFrom;
    copy.runBytes *= region.sizes[dim];
    whole = region.sizes[dim] == sourceBox.sizes[dim] &&
            region.sizes[dim] == targetBox.sizes[dim];
  }
  for (size_t dim = 0; dim < region.sizes.size(); ++dim) {
    source += (region.offsets[dim] - sourceBox.offsets[dim]) *
              copy.sourceStrides[dim];
    target += (region.offsets[dim] - targetBox.offsets[dim]) *
              copy.targetStrides[dim];
  }
  copy(0, source, target);
}

} // namespace ccn::runtime
