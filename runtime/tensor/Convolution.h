//===- Convolution.h - The two-dimensional convolution's kernel -*- C++ -*-===//
//
// The convolution of neural networks (the filter is not mirrored), for the
// reference interpreter and the executor of plans.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_CONVOLUTION_H
#define CCN_RUNTIME_TENSOR_CONVOLUTION_H

#include "runtime/base/Workspace.h"
#include "runtime/tensor/ElementType.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ccn::runtime {

/// One spatial dimension: the sizes of image and filter, the stride, and how
/// many zeros pad the image before and after.
struct ConvolutionAxis {
  int64_t size = 0, filter = 1, stride = 1, before = 0, after = 0;
  int64_t result = 0;

  /// Sets `result` to (size + before + after - filter) / stride + 1, or to 0 if
  /// the filter is larger than the padded image. Returns false if the sizes are
  /// invalid or overflow.
  bool setResult();
  /// The range of result positions at which filter tap `tap` lies inside the
  /// image, not in the padding.
  std::pair<int64_t, int64_t> inside(int64_t tap) const;
};

struct ConvolutionSizes {
  int64_t images = 0, channels = 0, filters = 0;
  ConvolutionAxis vertical, horizontal;
};

/// Sets y[n, o, i, j] to the sum over (c, u, v), in row-major order, from 0, of
///
///   x[n, c, i * stride + u - before, j * stride + v - before] * w[o, c, u, v]
///
/// where positions in the padding are left out. All arrays are row-major and of
/// `type`, which must not be bool. Sums accumulate as in multiplyMatrices. `y`
/// must not overlap x or w. An error if there is no memory for one widened
/// image and the filters.
Status convolve(ElementType type, const ConvolutionSizes &sizes,
                const std::byte *x, const std::byte *w, std::byte *y,
                Workspace &workspace);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_CONVOLUTION_H
