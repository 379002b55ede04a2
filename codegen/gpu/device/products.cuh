//===- products.cuh - Products of matrices and convolutions ---------------===//
//
// What the parts of a plan of these kinds do on the GPU (runtime/Plan.h),
// called by all threads of all blocks of a kernel, which have `threads` threads
// each: 128, 256, 512 or 1024. Blocks take tiles of the result in turns. The
// calls do not wait for other blocks: what other blocks wrote before must be
// visible already, and what is written here is visible to others after the
// caller's barrier. Results overlap no operand.
//
//   matmul<T, threads>(batch, m, n, k, a, b, c)
//   conv2d<T, threads>(shape, x, w, y)
//
// T is the elements' type: double, float, the narrow floats of f16.cuh and
// f8.cuh, or an integer type of C (wrapping, so that signs do not matter).
// Sizes and strides are in elements, of 64 bits; where they are literals, what
// they rule out is not compiled.
//
// Products of f16 and bf16 are those of tensor cores, accumulated in f32; f32
// accumulates over up to 256 products in f32 and from there in f64, f8 in f32,
// f64 in f64; each sum is rounded once. The order of sums differs from that of
// the CPU, but is the same in each run with as many blocks.
//
// Follows tiles.cuh.
//
//===----------------------------------------------------------------------===//

/// How often a product is done, and the steps of its matrices, by dimension.
template <int dims> struct Batch {
  long long sizes[dims], a[dims], b[dims], c[dims];

  __device__ long long count() const {
    long long product = 1;
    for (int dim = 0; dim < dims; ++dim)
      product *= sizes[dim];
    return product;
  }
  /// Moves the addresses of the first matrices to those of another number.
  template <class A, class B, class C>
  __device__ void advance(long long number, A &aData, B &bData,
                          C &cData) const {
    for (int dim = dims - 1; dim >= 0; --dim) {
      long long index = number % sizes[dim];
      number /= sizes[dim];
      aData += index * a[dim];
      bData += index * b[dim];
      cData += index * c[dim];
    }
  }
};
template <> struct Batch<0> {
  __device__ long long count() const { return 1; }
  template <class A, class B, class C>
  __device__ void advance(long long, A &, B &, C &) const {}
};

/// A number as a type, for generic lambdas.
template <int number> struct Constant {
  static constexpr int value = number;
};

/// Of conv2d, as Conv2dPart; x is [images, channels, height, width], w
/// [filters, channels, filterHeight, filterWidth], and y [images, filters,
/// resultHeight, resultWidth], all row-major.
struct ConvolutionShape {
  long long images, channels, height, width;
  long long filters, filterHeight, filterWidth;
  long long resultHeight, resultWidth;
  long long stride, padding;
};

/// The right operand of a convolution: a line is what one position of the
/// result sees of an image, by channel, filter row and filter column. Index is
/// an unsigned type for the numbers of positions and taps.
template <class T, class Index> struct ImageOperand {
  using Element = T;
  /// Where the filter's first element lies in the image.
  struct Line {
    long long row, column;
  };
  static constexpr bool isStrided = false;

  const T *image;
  const ConvolutionShape &shape;

  __device__ Line line(long long number) const {
    auto position = static_cast<Index>(number);
    auto width = static_cast<Index>(shape.resultWidth);
    auto placed = [&](Index index) {
      return static_cast<long long>(index) * shape.stride - shape.padding;
    };
    return {placed(position / width), placed(position % width)};
  }
  /// A tap of a filter, and what a line sees there.
  struct Tap {
    long long channel, row, column;
  };
  __device__ Tap tap(long long k) const {
    auto number = static_cast<Index>(k);
    auto width = static_cast<Index>(shape.filterWidth);
    auto height = static_cast<Index>(shape.filterHeight);
    Index rest = number / width;
    return {static_cast<long long>(rest / height),
            static_cast<long long>(rest % height),
            static_cast<long long>(number % width)};
  }
  __device__ void advance(Tap &tap) const {
    if (++tap.column < shape.filterWidth)
      return;
    tap.column = 0;
    if (++tap.row < shape.filterHeight)
      return;
    tap.row = 0;
    ++tap.channel;
  }
  __device__ T at(Line line, Tap tap) const {
    long long row = line.row + tap.row, column = line.column + tap.column;
    if (row < 0 || row >= shape.height || column < 0 || column >= shape.width)
      return T{};
    return image[(tap.channel * shape.height + row) * shape.width + column];
  }
  __device__ T at(Line line, long long k) const { return at(line, tap(k)); }
  __device__ bool isAlongK() const { return false; }
  __device__ bool isAligned() const { return false; }
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Calls body(batch, i, j) for this block's tiles of m x n elements. Tiles that
/// are computed at the same time share rows and columns.
template <int m, int n, class Body>
__device__ void forEachTile(long long batches, ProductSizes sizes, Body body) {
  constexpr long long group = 8;
  long long tilesM = (sizes.m + m - 1) / m, tilesN = (sizes.n + n - 1) / n;
  long long each = tilesM * tilesN;
  for (long long t = blockIdx.x; t < batches * each; t += gridDim.x) {
    long long tile = t % each, inGroup = tile % (group * tilesN);
    long long firstM = tile / (group * tilesN) * group;
    long long rest = tilesM - firstM, height = rest < group ? rest : group;
    body(t / each, (firstM + inGroup % height) * m, inGroup / height * n);
  }
}

/// Calls body with whether rows of an operand's part in shared memory are along
/// k. Those of an image are, as then each has one line.
template <class Operand, class Body>
__device__ inline void withDirection(const Operand &operand, Body body) {
  if constexpr (!Operand::isStrided)
    body(Constant<1>());
  else if (operand.isAlongK())
    body(Constant<1>());
  else
    body(Constant<0>());
}

template <class T, int threads, int size, class OperandsOf>
__device__ void multiplyHalves(long long batches, ProductSizes sizes,
                               OperandsOf operandsOf) {
  forEachTile<size, size>(
      batches, sizes, [&](long long batch, long long i, long long j) {
        auto operands = operandsOf(batch);
        withDirection(operands.a, [&](auto aAlongK) {
          withDirection(operands.b, [&](auto bAlongK) {
            tensorTile<T, threads, size, decltype(aAlongK)::value != 0,
                       decltype(bAlongK)::value != 0>(operands.a, operands.b,
                                                      sizes, i, j, operands.c);
          });
        });
      });
}

/// The products of a batch. operandsOf(number) gives the Operands of one.
template <class T, int threads, class OperandsOf>
__device__ void multiplyBatch(long long batches, ProductSizes sizes,
                              OperandsOf operandsOf) {
  static_assert(threads == 128 || threads == 256 || threads == 512 ||
                    threads == 1024,
                "expected 128, 256, 512 or 1024 threads");
  if (batches <= 0 || sizes.m <= 0 || sizes.n <= 0)
    return;
  if constexpr (IsHalf<T>::value) {
    // Small tiles if there are not large ones for all blocks.
    if constexpr (threads <= 512) {
      long long large = (sizes.m + 127) / 128 * ((sizes.n + 127) / 128);
      if (large * batches < gridDim.x)
        return multiplyHalves<T, threads, 64>(batches, sizes, operandsOf);
    }
    multiplyHalves<T, threads, 128>(batches, sizes, operandsOf);
  } else {
    using Tile = ScalarTile<T, threads>;
    forEachTile<Tile::m, Tile::n>(
        batches, sizes, [&](long long batch, long long i, long long j) {
          auto operands = operandsOf(batch);
          scalarTile<T, threads>(operands.a, operands.b, sizes, i, j,
                                 operands.c);
        });
  }
}

/// c[i, j] = sum over k of a[i, k] * b[k, j], for each index of the batch.
/// Operands may lie in other ranks' memory.
template <class T, int threads, int dims>
__device__ void matmul(const Batch<dims> &batch, long long m, long long n,
                       long long k, Matrix<const T> a, Matrix<const T> b,
                       Matrix<T> c) {
  using Operand = StridedOperand<T>;
  multiplyBatch<T, threads>(
      batch.count(), {m, n, k},
      [&](long long number) -> Operands<Operand, Operand, T> {
        Operands<Operand, Operand, T> operands = {
            {a.data, a.rowStride, a.columnStride},
            {b.data, b.columnStride, b.rowStride},
            c};
        batch.advance(number, operands.a.data, operands.b.data,
                      operands.c.data);
        return operands;
      });
}

/// y[b, o, i, j] = sum over c, u, v of x[b, c, i * stride + u - padding,
/// j * stride + v - padding] * w[o, c, u, v]: of each image the product of the
/// filters and the matrix of what each position sees.
template <class T, int threads>
__device__ void conv2d(const ConvolutionShape &shape, const T *x, const T *w,
                       T *y) {
  long long positions = shape.resultHeight * shape.resultWidth;
  long long taps = shape.channels * shape.filterHeight * shape.filterWidth;
  long long imageSize = shape.channels * shape.height * shape.width;
  auto withIndex = [&](auto zero) {
    using Image = ImageOperand<T, decltype(zero)>;
    multiplyBatch<T, threads>(
        shape.images, {shape.filters, positions, taps},
        [&](long long number) -> Operands<StridedOperand<T>, Image, T> {
          return {{w, taps, 1},
                  {x + number * imageSize, shape},
                  {y + number * shape.filters * positions, positions, 1}};
        });
  };
  if (positions < 1ll << 32 && taps < 1ll << 32)
    withIndex(0u);
  else
    withIndex(0ull);
}
