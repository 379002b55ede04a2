//===- Conv.h - Two-dimensional convolution ---------------------*- C++ -*-===//
//
// The two-dimensional convolution of host tensors, as in neural networks: a
// cross-correlation, in which the filter is not mirrored.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_CONV_H
#define CCN_INTERPRETER_CONV_H

#include "runtime/tensor/HostTensor.h"

namespace ccn::interp {

using runtime::HostTensor;

/// The strides and the padding of a convolution, in elements.
struct Conv2dOptions {
  int64_t strideH = 1, strideW = 1;
  /// Rows and columns of zeros around the image.
  int64_t padTop = 0, padBottom = 0, padLeft = 0, padRight = 0;
};

/// Convolves x[N, C, H, W] with the filters w[O, C, KH, KW]. The result has the
/// shape [N, O, OH, OW] with OH = (H + padTop + padBottom - KH) / strideH + 1,
/// or 0 if the filter is larger than the padded image; likewise OW. Strides
/// must be >= 1, pads >= 0, and filters at least 1 x 1.
///
/// Each element is the sum over (c, kh, kw) in row-major order, starting from
/// 0, accumulated as in `matmul`. Positions in the padding are skipped, so an
/// infinite weight there adds nothing.
Result<HostTensor> conv2d(const HostTensor &x, const HostTensor &w,
                          const Conv2dOptions &options);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_CONV_H
