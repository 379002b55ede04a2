//===- Convolution.cpp - The two-dimensional convolution's kernel ---------===//
//
// Computes the sum directly, for one row of the result at a time. Each image is
// widened once for all filters, and the filters once for all images.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Convolution.h"

#include "runtime/tensor/Blocks.h"

#include <type_traits>

namespace ccn::runtime {

bool ConvolutionAxis::setResult() {
  int64_t padded;
  if (size < 0 || filter < 1 || stride < 1 || before < 0 || after < 0 ||
      __builtin_add_overflow(size, before, &padded) ||
      __builtin_add_overflow(padded, after, &padded))
    return false;
  result = padded < filter ? 0 : (padded - filter) / stride + 1;
  return true;
}

std::pair<int64_t, int64_t> ConvolutionAxis::inside(int64_t tap) const {
  auto positionsBelow = [&](int64_t limit) {
    return limit <= 0 ? 0 : std::min(result, (limit - 1) / stride + 1);
  };
  return {positionsBelow(before - tap), positionsBelow(size + before - tap)};
}

namespace {

template <typename T> struct Convolution {
  const ConvolutionSizes &sizes;
  /// One widened image, all widened filters, and the sums of one row.
  const T *image, *weights;
  T *sums;

  /// Computes the sums of row `y` of the result of filter `o`.
  void row(int64_t o, int64_t y) const {
    const ConvolutionAxis &vertical = sizes.vertical;
    std::fill_n(sums, sizes.horizontal.result, T(0));
    for (int64_t c = 0; c < sizes.channels; ++c)
      for (int64_t u = 0; u < vertical.filter; ++u) {
        auto [begin, end] = vertical.inside(u);
        int64_t firstWeight = ((o * sizes.channels + c) * vertical.filter + u) *
                              sizes.horizontal.filter;
        if (y >= begin && y < end)
          addTaps(c, y * vertical.stride + u - vertical.before, firstWeight);
        else
          for (int64_t v = 0; v < sizes.horizontal.filter; ++v)
            addPadding(weights[firstWeight + v], 0, sizes.horizontal.result);
      }
  }

  /// Adds the products of a weight with zeros around the image to some sums:
  /// NaN if the weight is infinite or NaN, else nothing.
  void addPadding(T weight, int64_t begin, int64_t end) const {
    if constexpr (std::is_floating_point_v<T>)
      if (T product = weight * T(0); product != 0)
        for (int64_t j = begin; j < end; ++j)
          sums[j] += product;
  }

  /// Adds the products of one row of a filter with one row of the image.
  void addTaps(int64_t channel, int64_t imageRow, int64_t firstWeight) const {
    const ConvolutionAxis &axis = sizes.horizontal;
    const T *in =
        image + (channel * sizes.vertical.size + imageRow) * axis.size;
    for (int64_t v = 0; v < axis.filter; ++v) {
      T weight = weights[firstWeight + v];
      auto [begin, end] = axis.inside(v);
      addPadding(weight, 0, begin);
      for (int64_t j = begin; j < end; ++j)
        sums[j] = addWrapping(
            sums[j],
            multiplyWrapping(weight, in[j * axis.stride + v - axis.before]));
      addPadding(weight, end, axis.result);
    }
  }
};

} // namespace

Status convolve(ElementType type, const ConvolutionSizes &sizes,
                const std::byte *x, const std::byte *w, std::byte *y,
                Workspace &workspace) {
  const ConvolutionAxis &vertical = sizes.vertical;
  const ConvolutionAxis &horizontal = sizes.horizontal;
  int64_t imageCount = sizes.channels * vertical.size * horizontal.size;
  int64_t weightCount =
      sizes.filters * sizes.channels * vertical.filter * horizontal.filter;
  int64_t elements = imageCount + weightCount + horizontal.result;
  Result<std::byte *> memory = workspace.get(elements * 8);
  if (!memory)
    return memory.status();
  withAccumulator(type, [&](auto zero) {
    using T = decltype(zero);
    T *image = reinterpret_cast<T *>(*memory);
    T *weights = image + imageCount;
    T *sums = weights + weightCount;
    load(type, w, 0, weightCount, weights);
    Convolution<T> convolution{sizes, image, weights, sums};
    int64_t first = 0;
    for (int64_t n = 0; n < sizes.images; ++n) {
      load(type, x, n * imageCount, imageCount, image);
      for (int64_t o = 0; o < sizes.filters; ++o)
        for (int64_t i = 0; i < vertical.result; ++i) {
          convolution.row(o, i);
          store(type, y, first, horizontal.result, sums);
          first += horizontal.result;
        }
    }
  });
  return Status();
}

} // namespace ccn::runtime
