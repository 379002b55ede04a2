//===- Conv.cpp - Two-dimensional convolution -----------------------------===//
//
// The direct sum, for one row of the result at a time.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Conv.h"

#include "lib/Interpreter/Blocks.h"

namespace ccn::interp {

namespace {

/// One spatial dimension.
struct Axis {
  int64_t size, filter, stride, before, after;
  int64_t result = 0;

  /// Sets `result`; false if the sizes are wrong or overflow.
  bool check() {
    int64_t padded;
    if (filter < 1 || stride < 1 || before < 0 || after < 0 ||
        __builtin_add_overflow(size, before, &padded) ||
        __builtin_add_overflow(padded, after, &padded))
      return false;
    result = padded < filter ? 0 : (padded - filter) / stride + 1;
    return true;
  }

  /// The range of result positions at which filter tap `tap` lies inside the
  /// image, not in the padding.
  std::pair<int64_t, int64_t> inside(int64_t tap) const {
    auto positionsBelow = [&](int64_t limit) {
      return limit <= 0 ? 0 : std::min(result, (limit - 1) / stride + 1);
    };
    return {positionsBelow(before - tap), positionsBelow(size + before - tap)};
  }
};

/// All elements of `x` widened to accumulators, as bytes.
template <typename T> Result<HostTensor> widen(const HostTensor &x) {
  Result<HostTensor> wide = HostTensor::uninitialized(
      ElementType::U8, {x.count(), int64_t(sizeof(T))});
  if (wide)
    load(x.type(), x.data(), 0, x.count(), wide->mutableDataAs<T>());
  return wide;
}

} // namespace

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
  Axis vertical = {x.size(2), w.size(2), options.strideH, options.padTop,
                   options.padBottom};
  Axis horizontal = {x.size(3), w.size(3), options.strideW, options.padLeft,
                     options.padRight};
  if (!vertical.check() || !horizontal.check())
    return refuse("filters of at least 1 x 1, strides of at least 1 and "
                  "paddings of at least 0 that do not overflow");

  int64_t images = x.size(0), channels = x.size(1), filters = w.size(0);
  Result<HostTensor> result = HostTensor::uninitialized(
      x.type(), {images, filters, vertical.result, horizontal.result});
  if (!result || result->count() == 0)
    return result;
  return withAccumulator(x.type(), [&](auto zero) -> Result<HostTensor> {
    using T = decltype(zero);
    Result<HostTensor> wideX = widen<T>(x), wideW = widen<T>(w);
    Result<HostTensor> sums = HostTensor::uninitialized(
        ElementType::U8, {horizontal.result, int64_t(sizeof(T))});
    if (!wideX || !wideW || !sums)
      return !wideX ? wideX : !wideW ? wideW : sums;
    const T *image = wideX->dataAs<T>(), *weights = wideW->dataAs<T>();
    T *sum = sums->mutableDataAs<T>();
    std::byte *out = result->mutableData();

    auto addRow = [&](int64_t n, int64_t o, int64_t c, int64_t y, int64_t kh) {
      int64_t row = y * vertical.stride + kh - vertical.before;
      const T *in =
          image + ((n * channels + c) * vertical.size + row) * horizontal.size;
      for (int64_t kw = 0; kw < horizontal.filter; ++kw) {
        T weight = weights[((o * channels + c) * vertical.filter + kh) *
                               horizontal.filter +
                           kw];
        auto [begin, end] = horizontal.inside(kw);
        for (int64_t i = begin; i < end; ++i) {
          T value = in[i * horizontal.stride + kw - horizontal.before];
          sum[i] = addWrapping(sum[i], multiplyWrapping(weight, value));
        }
      }
    };
    int64_t first = 0;
    for (int64_t n = 0; n < images; ++n)
      for (int64_t o = 0; o < filters; ++o)
        for (int64_t y = 0; y < vertical.result; ++y) {
          std::fill_n(sum, horizontal.result, T(0));
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t kh = 0; kh < vertical.filter; ++kh) {
              auto [begin, end] = vertical.inside(kh);
              if (y >= begin && y < end)
                addRow(n, o, c, y, kh);
            }
          store(x.type(), out, first, horizontal.result, sum);
          first += horizontal.result;
        }
    return result;
  });
}

} // namespace ccn::interp
