//===- products.cuh - Products of matrices, convolutions, rows of tables --===//
//
// What the parts of a plan of these kinds do on the GPU (runtime/Plan.h),
// called by all threads of all blocks of a kernel, which have `threads` threads
// each: 128, 256, 512 or 1024. Blocks take tiles of the result, or rows, in
// turns. The calls do not wait for other blocks: what other blocks wrote before
// must be visible already, and what is written here is visible to others after
// the caller's barrier. Nothing written is also read, unless it says so.
//
//   matmul<T, threads>(batch, m, n, k, a, b, c)
//   conv2d<T, threads>(shape, x, w, y)
//   gatherRows<T, I, threads>(context, tableRows, rowSize, count,
//                             table, indices, to)
//   scatterRows<T, I, threads>(context, tableRows, rowSize, count,
//                              indices, rows, to)
//
// T is the elements' type: double, float, the narrow floats of scalars.cuh, or
// an integer type of C (wrapping, so that signs do not matter). Sizes and
// strides are in elements, of 64 bits; where they are literals, what they rule
// out is not compiled.
//
// Products of f16 and bf16 are those of tensor cores, accumulated in f32; f32
// accumulates over up to 256 products in f32 and from there in f64, f8 in f32,
// f64 in f64; each sum is rounded once. The order of sums differs from that of
// the CPU, but is the same in each run.
//
// Follows scalars.cuh and kernel.cuh, of which it takes
// `void fail(const CcnContext &, int code)`: reports a failure of the run, by
// CcnFault::code.
//
//===----------------------------------------------------------------------===//

/// A matrix in memory: element (0, 0), and the steps between rows and between
/// columns.
template <class T> struct Matrix {
  T *data;
  long long rowStride, columnStride;
};

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

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

#ifdef __CUDA_ARCH__

/// Four matrices of 8 x 8 elements of 16 bits, of which lane i gives the
/// address of row i % 8 of matrix i / 8; of each a lane gets the elements
/// 2 * (lane % 4) and the next of row lane / 4.
__device__ inline void loadMatrices(unsigned (&to)[4], const void *row) {
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
               "[%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
/// The same of the matrices' transposes.
__device__ inline void loadTransposed(unsigned (&to)[4], const void *row) {
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, "
               "%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// Adds to 16 x 8 sums the product of 16 x 16 and 16 x 8 elements.
__device__ inline void multiplyAdd(float (&sums)[4], const unsigned (&a)[4],
                                   const unsigned *b, f16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiplyAdd(float (&sums)[4], const unsigned (&a)[4],
                                   const unsigned *b, bf16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Begins a copy of 16 bytes to shared memory, of which all but the first
/// `bytes` become 0 without being read.
__device__ inline void copyAsync(void *to, const void *from, int bytes) {
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address),
               "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}
/// Ends a group of copies.
__device__ inline void commitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits for all but the last group of copies.
__device__ inline void awaitCopies() {
  asm volatile("cp.async.wait_group 1;" ::: "memory");
}

#endif // __CUDA_ARCH__

/// 16 bytes that are loaded and stored at once.
struct alignas(16) Words {
  unsigned words[4];
};

/// Memory that the block's threads share. One for all products of a kernel,
/// which come one after the other.
__device__ inline unsigned char *productMemory() {
  __shared__ Words memory[2048];
  return reinterpret_cast<unsigned char *>(memory);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// An operand of a product by its lines, the rows of the left or the columns of
/// the right matrix, and by the position k in a line.
template <class T> struct StridedOperand {
  using Element = T;
  using Line = const T *;
  static constexpr bool isStrided = true;

  const T *data;
  long long lineStride, kStride;

  __device__ Line line(long long number) const {
    return data + number * lineStride;
  }
  __device__ T at(Line line, long long k) const { return line[k * kStride]; }
  /// Whether neighbours in memory are neighbours in a line.
  __device__ bool isAlongK() const { return kStride == 1 || lineStride != 1; }
  /// Whether 8 neighbours of 16 bits lie in 16 bytes.
  __device__ bool isAligned() const {
    long long inner = isAlongK() ? kStride : lineStride;
    long long outer = isAlongK() ? lineStride : kStride;
    return inner == 1 && outer % 8 == 0 &&
           reinterpret_cast<unsigned long long>(data) % 16 == 0;
  }
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

/// A product's sizes.
struct ProductSizes {
  long long m, n, k;
};

template <class A, class B, class T> struct Operands {
  A a;
  B b;
  Matrix<T> c;
};

//===----------------------------------------------------------------------===//
// Tiles without tensor cores
//===----------------------------------------------------------------------===//

/// The type of factors, and of the sums of few products.
template <class T> struct Factor {
  using Type = typename Compute<T>::Type;
  __device__ static Type load(T x) { return Compute<T>::load(x); }
  __device__ static Type multiplyAdd(Type a, Type b, Type c) {
    if constexpr (sizeof(Type) == sizeof(float))
      return fmaf(a, b, c);
    else
      return fma(a, b, c);
  }
};
template <class T> struct IntegerFactor {
  using Type = typename Wrapping<T>::Type;
  __device__ static Type load(T x) { return static_cast<Type>(x); }
  __device__ static Type multiplyAdd(Type a, Type b, Type c) {
    return a * b + c;
  }
};
template <> struct Factor<signed char> : IntegerFactor<signed char> {};
template <> struct Factor<unsigned char> : IntegerFactor<unsigned char> {};
template <> struct Factor<short> : IntegerFactor<short> {};
template <> struct Factor<unsigned short> : IntegerFactor<unsigned short> {};
template <> struct Factor<int> : IntegerFactor<int> {};
template <> struct Factor<unsigned> : IntegerFactor<unsigned> {};
template <> struct Factor<long long> : IntegerFactor<long long> {};
template <>
struct Factor<unsigned long long> : IntegerFactor<unsigned long long> {};

/// A tile of rows times 64 columns. Each thread has `rows` times 4 sums, with
/// 16 threads side by side.
template <class T, int threads> struct ScalarTile {
  using Value = typename Factor<T>::Type;
  static constexpr int columns = 4, across = 16, depth = 16;
  static constexpr int most = sizeof(Value) == 8 ? 4 : 8;
  static constexpr int wanted = most * 256 / threads;
  static constexpr int rows = wanted > most ? most : wanted < 2 ? 2 : wanted;
  static constexpr int m = threads / across * rows, n = across * columns;
  /// Between lines of shared memory, so that they begin in other banks.
  static constexpr int pitchM = m + 16 / sizeof(Value);
  static constexpr int pitchN = n + 16 / sizeof(Value);
  static_assert(depth * (pitchM + pitchN) * sizeof(Value) <= 32768,
                "more than productMemory");
};

/// One thread's share of a tile of `lines` lines of an operand: from memory to
/// registers, and, when the last tile is no longer needed, to shared memory.
template <class Operand, int threads, int lines, int depth> struct Fetch {
  using T = typename Operand::Element;
  static constexpr int count = lines * depth / threads;
  static_assert(count * threads == lines * depth && threads % lines == 0);

  const Operand &operand;
  long long firstLine, lineCount, kCount;
  bool isAlongK;
  /// Of the first element, in the tile.
  int line, k;
  typename Operand::Line first;
  T values[count];

  __device__ Fetch(const Operand &operand, long long firstLine,
                   long long lineCount, long long kCount)
      : operand(operand), firstLine(firstLine), lineCount(lineCount),
        kCount(kCount), isAlongK(operand.isAlongK()) {
    int thread = static_cast<int>(threadIdx.x);
    line = isAlongK ? thread / depth : thread % lines;
    k = isAlongK ? thread % depth : thread / lines;
    first = operand.line(firstLine + line);
  }

  __device__ void load(long long firstK) {
#pragma unroll
    for (int e = 0; e < count; ++e) {
      int lineHere = line + (isAlongK ? e * (threads / depth) : 0);
      int kHere = k + (isAlongK ? 0 : e * (threads / lines));
      bool isInside =
          firstLine + lineHere < lineCount && firstK + kHere < kCount;
      values[e] = T{};
      if (isInside)
        values[e] =
            operand.at(isAlongK ? operand.line(firstLine + lineHere) : first,
                       firstK + kHere);
    }
  }

  template <class Value> __device__ void store(Value *shared, int pitch) const {
#pragma unroll
    for (int e = 0; e < count; ++e) {
      int lineHere = line + (isAlongK ? e * (threads / depth) : 0);
      int kHere = k + (isAlongK ? 0 : e * (threads / lines));
      shared[kHere * pitch + lineHere] = Factor<T>::load(values[e]);
    }
  }
};

/// Copies `count` values of shared memory that begin at 16 bytes.
template <int count, class Value>
__device__ inline void loadShared(Value (&to)[count], const Value *from) {
  struct alignas(count * sizeof(Value) % 16 ? sizeof(Value) : 16) Line {
    Value values[count];
  };
  Line line = *reinterpret_cast<const Line *>(from);
#pragma unroll
  for (int i = 0; i < count; ++i)
    to[i] = line.values[i];
}

/// The tile of the result that begins at row `i` and column `j`.
template <class T, int threads, class A, class B>
__device__ void scalarTile(const A &a, const B &b, ProductSizes sizes,
                           long long i, long long j, Matrix<T> c) {
  using Tile = ScalarTile<T, threads>;
  using Value = typename Tile::Value;
  // Where that is wider, products add up in it in pieces.
  using Sum = typename Accumulate<T>::Type;
  constexpr bool inPieces = sizeof(Sum) > sizeof(Value) && IsFloat<T>::value;
  constexpr int pieceSteps = 256 / Tile::depth;
  constexpr int rows = Tile::rows, columns = Tile::columns;

  auto *left = reinterpret_cast<Value *>(productMemory());
  Value *right = left + Tile::depth * Tile::pitchM;
  int thread = static_cast<int>(threadIdx.x);
  int row = thread / Tile::across * rows;
  int column = thread % Tile::across * columns;
  Value sums[rows][columns] = {};
  [[maybe_unused]] Sum totals[rows][columns] = {};

  Fetch<A, threads, Tile::m, Tile::depth> fetchA(a, i, sizes.m, sizes.k);
  Fetch<B, threads, Tile::n, Tile::depth> fetchB(b, j, sizes.n, sizes.k);
  fetchA.load(0);
  fetchB.load(0);
  int step = 0;
  for (long long k = 0; k < sizes.k; k += Tile::depth) {
    __syncthreads();
    fetchA.store(left, Tile::pitchM);
    fetchB.store(right, Tile::pitchN);
    __syncthreads();
    if (k + Tile::depth < sizes.k) {
      fetchA.load(k + Tile::depth);
      fetchB.load(k + Tile::depth);
    }
#pragma unroll
    for (int kk = 0; kk < Tile::depth; ++kk) {
      Value x[rows], y[columns];
      loadShared(x, left + kk * Tile::pitchM + row);
      loadShared(y, right + kk * Tile::pitchN + column);
#pragma unroll
      for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int s = 0; s < columns; ++s)
          sums[r][s] = Factor<T>::multiplyAdd(x[r], y[s], sums[r][s]);
    }
    if constexpr (inPieces) {
      if (++step < pieceSteps)
        continue;
      step = 0;
#pragma unroll
      for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int s = 0; s < columns; ++s) {
          totals[r][s] += sums[r][s];
          sums[r][s] = 0;
        }
    }
  }
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int s = 0; s < columns; ++s) {
      if (i + row + r >= sizes.m || j + column + s >= sizes.n)
        continue;
      T &to = c.data[(i + row + r) * c.rowStride +
                     (j + column + s) * c.columnStride];
      if constexpr (inPieces)
        to = Accumulate<T>::store(totals[r][s] + sums[r][s]);
      else if constexpr (IsFloat<Value>::value)
        to = Compute<T>::store(sums[r][s]);
      else
        to = static_cast<T>(sums[r][s]);
    }
}

//===----------------------------------------------------------------------===//
// Tiles on tensor cores
//===----------------------------------------------------------------------===//

template <class T> struct IsHalf {
  static constexpr bool value = false;
};
template <> struct IsHalf<f16> {
  static constexpr bool value = true;
};
template <> struct IsHalf<bf16> {
  static constexpr bool value = true;
};

/// A tile of 128 x 128 sums, or 64 x 64 for small results; the warps have equal
/// parts of it.
template <int threads, int size_> struct TensorTile {
  static constexpr int size = size_, depth = 32;
  static constexpr int warps = threads / 32;
  static constexpr int warpsM = warps >= 16 ? 4 : 2, warpsN = warps / warpsM;
  static constexpr int m = size / warpsM, n = size / warpsN;
  /// Elements of one operand's part.
  static constexpr int elements = size * depth;
  static_assert(m % 16 == 0 && n % 16 == 0, "warps have no equal parts");
  static_assert(4 * elements * 2 <= 32768, "more than productMemory");
};

/// Where 8 elements of shared memory lie, in elements, for chunk `chunk` of row
/// `row`, of `width` elements: such that the same chunk of 8 rows is in 8 times
/// 4 different banks.
template <int width> __device__ inline int swizzled(int row, int chunk) {
  if constexpr (width == 32)
    return row * width + 8 * (chunk ^ (row / 2 % 4));
  else
    return row * width + 8 * (chunk ^ (row % 8));
}

/// Brings a part of an operand to shared memory: rows are lines of k if
/// `isAlongK`, else positions k of lines.
template <class Operand, int threads, int lines, int depth, bool isAlongK>
__device__ inline void copyPart(const Operand &operand, bool isAligned,
                                unsigned short *shared, long long firstLine,
                                long long lineCount, long long firstK,
                                long long kCount) {
  constexpr int width = isAlongK ? depth : lines;
  constexpr int chunks = width / 8;
#pragma unroll
  for (int e = 0; e < (lines * depth / 8 + threads - 1) / threads; ++e) {
    int id = static_cast<int>(threadIdx.x) + e * threads;
    if (lines * depth / 8 % threads != 0 && id >= lines * depth / 8)
      break;
    int row = id / chunks, chunk = id % chunks;
    unsigned short *to = shared + swizzled<width>(row, chunk);
    long long line = firstLine + (isAlongK ? row : 8 * chunk);
    long long k = firstK + (isAlongK ? 8 * chunk : row);
    long long rest = isAlongK ? kCount - k : lineCount - line;
    bool isInside = line < lineCount && k < kCount;
    int valid = !isInside ? 0 : rest < 8 ? static_cast<int>(rest) : 8;
    if constexpr (Operand::isStrided) {
      if (isAligned) {
        const auto *from = operand.line(line) + k * operand.kStride;
        copyAsync(to, valid ? from : operand.data, 2 * valid);
        continue;
      }
    }
    alignas(16) unsigned short values[8];
    if constexpr (Operand::isStrided) {
      const auto *from = operand.line(line) + k * operand.kStride;
      long long step = isAlongK ? operand.kStride : operand.lineStride;
#pragma unroll
      for (int i = 0; i < 8; ++i)
        values[i] = i < valid ? from[i * step].bits : 0;
    } else {
      static_assert(isAlongK, "each row has one line");
      auto tap = operand.tap(k);
      auto from = operand.line(line);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        values[i] = i < valid ? operand.at(from, tap).bits : 0;
        operand.advance(tap);
      }
    }
    *reinterpret_cast<Words *>(to) = *reinterpret_cast<Words *>(values);
  }
}

/// As scalarTile.
template <class T, int threads, int size, bool aAlongK, bool bAlongK, class A,
          class B>
__device__ void tensorTile(const A &a, const B &b, ProductSizes sizes,
                           long long i, long long j, Matrix<T> c) {
  using Tile = TensorTile<threads, size>;
  constexpr int depth = Tile::depth;
  auto *shared = reinterpret_cast<unsigned short *>(productMemory());
  int thread = static_cast<int>(threadIdx.x);
  int lane = thread % 32, warp = thread / 32;
  int warpRow = warp / Tile::warpsN * Tile::m;
  int warpColumn = warp % Tile::warpsN * Tile::n;
  bool aAligned = a.isAligned(), bAligned = b.isAligned();
  float sums[Tile::m / 16][Tile::n / 8][4] = {};

  auto copy = [&](long long k, int stage) {
    unsigned short *to = shared + stage * 2 * Tile::elements;
    copyPart<A, threads, size, depth, aAlongK>(a, aAligned, to, i, sizes.m, k,
                                               sizes.k);
    copyPart<B, threads, size, depth, bAlongK>(b, bAligned, to + Tile::elements,
                                               j, sizes.n, k, sizes.k);
  };
  // Of what was there before.
  __syncthreads();
  if (sizes.k > 0)
    copy(0, 0);
  commitCopies();
  int stage = 0;
  for (long long k = 0; k < sizes.k; k += depth, stage ^= 1) {
    if (k + depth < sizes.k)
      copy(k + depth, stage ^ 1);
    commitCopies();
    awaitCopies();
    __syncthreads();
    const unsigned short *left = shared + stage * 2 * Tile::elements;
    const unsigned short *right = left + Tile::elements;
#pragma unroll
    for (int kk = 0; kk < depth; kk += 16) {
      unsigned x[Tile::m / 16][4], y[Tile::n / 16][4];
#pragma unroll
      for (int r = 0; r < Tile::m / 16; ++r) {
        int line = warpRow + 16 * r;
        if constexpr (aAlongK)
          loadMatrices(x[r], left + swizzled<depth>(line + lane % 16,
                                                    kk / 8 + lane / 16));
        else
          loadTransposed(x[r],
                         left + swizzled<size>(kk + lane / 16 * 8 + lane % 8,
                                               line / 8 + lane / 8 % 2));
      }
#pragma unroll
      for (int s = 0; s < Tile::n / 16; ++s) {
        int line = warpColumn + 16 * s;
        if constexpr (bAlongK)
          loadMatrices(y[s],
                       right + swizzled<depth>(line + lane / 16 * 8 + lane % 8,
                                               kk / 8 + lane / 8 % 2));
        else
          loadTransposed(
              y[s], right + swizzled<size>(kk + lane / 8 % 2 * 8 + lane % 8,
                                           line / 8 + lane / 16));
      }
#pragma unroll
      for (int r = 0; r < Tile::m / 16; ++r)
#pragma unroll
        for (int s = 0; s < Tile::n / 8; ++s)
          multiplyAdd(sums[r][s], x[r], y[s / 2] + s % 2 * 2, T{});
    }
    __syncthreads();
  }

  // Pairs of columns at once, if they lie side by side in 4 bytes.
  bool inPairs = c.columnStride == 1 && c.rowStride % 2 == 0 &&
                 reinterpret_cast<unsigned long long>(c.data) % 4 == 0;
#pragma unroll
  for (int r = 0; r < Tile::m / 16; ++r)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      long long row = i + warpRow + 16 * r + 8 * half + lane / 4;
      if (row >= sizes.m)
        continue;
      T *line = c.data + row * c.rowStride;
#pragma unroll
      for (int s = 0; s < Tile::n / 8; ++s) {
        long long column = j + warpColumn + 8 * s + lane % 4 * 2;
        T first = toHalf<T>(sums[r][s][2 * half]);
        T second = toHalf<T>(sums[r][s][2 * half + 1]);
        if (inPairs && column + 1 < sizes.n) {
          *reinterpret_cast<unsigned *>(line + column) =
              first.bits | static_cast<unsigned>(second.bits) << 16;
          continue;
        }
        if (column < sizes.n)
          line[column * c.columnStride] = first;
        if (column + 1 < sizes.n)
          line[(column + 1) * c.columnStride] = second;
      }
    }
}

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

//===----------------------------------------------------------------------===//
// Rows of tables
//===----------------------------------------------------------------------===//

/// The code of an index outside of a table.
constexpr int outsideOfTable = -1;

/// An index, negative if it is too large for 63 bits.
template <class I> __device__ inline bool isRow(I index, long long tableRows) {
  auto row = static_cast<long long>(index);
  return row >= 0 && row < tableRows;
}

/// gatherRows in units of Unit, which divide a row; `lanes` neighbours, a power
/// of two up to 32, copy a row.
template <class Unit, class I, int threads>
__device__ void gatherUnits(const CcnContext &context, long long tableRows,
                            long long units, long long count, const Unit *table,
                            const I *indices, Unit *to) {
  int lanes = 1;
  while (lanes < 32 && lanes < units)
    lanes *= 2;
  int thread = static_cast<int>(threadIdx.x);
  long long rowsAtOnce = threads / lanes;
  for (long long i = blockIdx.x * rowsAtOnce + thread / lanes; i < count;
       i += gridDim.x * rowsAtOnce) {
    I index = indices[i];
    if (!isRow(index, tableRows)) {
      fail(context, outsideOfTable);
      continue;
    }
    const Unit *from = table + static_cast<long long>(index) * units;
    for (long long unit = thread % lanes; unit < units; unit += lanes)
      to[i * units + unit] = from[unit];
  }
}

/// to[i, ...] = table[indices[i], ...], all row-major, of `rowSize` elements in
/// a row and `count` indices. Rows whose index is outside of the table keep
/// what they have, and the run fails.
template <class T, class I, int threads>
__device__ void gatherRows(const CcnContext &context, long long tableRows,
                           long long rowSize, long long count, const T *table,
                           const I *indices, T *to) {
  long long bytes = rowSize * static_cast<long long>(sizeof(T));
  unsigned long long all = reinterpret_cast<unsigned long long>(table) |
                           reinterpret_cast<unsigned long long>(to) |
                           static_cast<unsigned long long>(bytes);
  if (all % 16 == 0)
    gatherUnits<Words, I, threads>(context, tableRows, bytes / 16, count,
                                   reinterpret_cast<const Words *>(table),
                                   indices, reinterpret_cast<Words *>(to));
  else
    gatherUnits<T, I, threads>(context, tableRows, rowSize, count, table,
                               indices, to);
}

/// Adds rows[i] to row indices[i] of `to`, which holds the table (visible to
/// all blocks before), for i in increasing order. Sums are rounded once; rows
/// that no index names keep their bits. An index outside of the table fails the
/// run.
///
/// A block takes the first index that names a row and walks those after it. So
/// each index is compared with each other once or twice, by all threads of a
/// block at a time.
template <class T, class I, int threads>
__device__ void scatterRows(const CcnContext &context, long long tableRows,
                            long long rowSize, long long count,
                            const I *indices, const T *rows, T *to) {
  using Sum = typename Accumulate<T>::Type;
  // Of a thread at once.
  constexpr int columns = 4;
  auto *matches = reinterpret_cast<unsigned *>(productMemory());
  int thread = static_cast<int>(threadIdx.x);
  for (long long i = blockIdx.x; i < count; i += gridDim.x) {
    I row = indices[i];
    if (!isRow(row, tableRows)) {
      if (thread == 0)
        fail(context, outsideOfTable);
      continue;
    }
    bool isFirst = true;
    for (long long j = thread; isFirst && j - thread < i; j += threads)
      isFirst = !__syncthreads_or(j < i && indices[j] == row);
    if (!isFirst)
      continue;
    T *target = to + static_cast<long long>(row) * rowSize;
    for (long long first = 0; first < rowSize; first += threads * columns) {
      Sum sums[columns] = {};
#pragma unroll
      for (int s = 0; s < columns; ++s)
        if (long long column = first + s * threads + thread; column < rowSize)
          sums[s] = Accumulate<T>::load(target[column]);
      for (long long j = i + thread; j - thread < count; j += threads) {
        unsigned found =
            __ballot_sync(0xffffffffu, j < count && indices[j] == row);
        // Of those before.
        __syncthreads();
        if (thread % 32 == 0)
          matches[thread / 32] = found;
        __syncthreads();
        for (int warp = 0; warp < threads / 32; ++warp)
          for (unsigned rest = matches[warp]; rest; rest &= rest - 1) {
            const T *source =
                rows + (j - thread + 32 * warp + __ffs(rest) - 1) * rowSize;
#pragma unroll
            for (int s = 0; s < columns; ++s)
              if (long long column = first + s * threads + thread;
                  column < rowSize)
                sums[s] = add(sums[s], Accumulate<T>::load(source[column]));
          }
      }
#pragma unroll
      for (int s = 0; s < columns; ++s)
        if (long long column = first + s * threads + thread; column < rowSize)
          target[column] = Accumulate<T>::store(sums[s]);
    }
  }
}
