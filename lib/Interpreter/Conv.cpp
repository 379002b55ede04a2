//===- Conv.cpp - Two-dimensional convolution -----------------------------===//
//
// Checks the shapes and calls the runtime's kernel.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Conv.h"

#include "runtime/tensor/Convolution.h"

namespace ccn::interp {

using runtime::ElementType;

Result<HostTensor> conv2d(const HostTensor &x, const HostTensor &w,
                          const Conv2dOptions &options) {
  auto refuse = [&](const char *expected) {
    return error("conv2d expects ", expected, ", found ", x.describe(), " and ",
                 w.describe());
  };
  if (x.type() != w.type() || x.type() == ElementType::Bool)
    return refuse("numbers of one element type");
  if (x.rank() != 4 || w.rank() != 4)
    return refuse("an image [N, C, H, W] and filters [O, C, KH, KW]");
  if (x.size(1) != w.size(1))
    return refuse("as many channels in the image as in the filters");
  runtime::ConvolutionSizes sizes = {x.size(0),
                                     x.size(1),
                                     w.size(0),
                                     {x.size(2), w.size(2), options.strideH,
                                      options.padTop, options.padBottom},
                                     {x.size(3), w.size(3), options.strideW,
                                      options.padLeft, options.padRight}};
  if (!sizes.vertical.setResult() || !sizes.horizontal.setResult())
    return refuse("filters of at least 1 x 1, strides of at least 1 and "
                  "paddings of at least 0 that do not overflow");
  Result<HostTensor> result = HostTensor::uninitialized(
      x.type(), {sizes.images, sizes.filters, sizes.vertical.result,
                 sizes.horizontal.result});
  if (!result || result->count() == 0)
    return result;
  runtime::Workspace workspace;
  if (Status status = runtime::convolve(x.type(), sizes, x.data(), w.data(),
                                        result->mutableData(), workspace);
      !status)
    return status;
  return result;
}

} // namespace ccn::interp
