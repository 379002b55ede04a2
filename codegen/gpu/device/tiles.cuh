//===- tiles.cuh - Tiles of products of matrices --------------------------===//
//
// The product of some rows of one operand with some columns of the other, by
// all threads of a block: on tensor cores for f16 and bf16, else in registers.
// Operands are anything whose elements can be asked for; those that are
// matrices in memory are brought to shared memory by asynchronous copies if
// they can.
//
//===----------------------------------------------------------------------===//

/// A matrix in memory: element (0, 0), and the steps between rows and between
/// columns.
template <class T> struct Matrix {
  T *data;
  long long rowStride, columnStride;
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
/// Waits for the copies that this thread has begun.
__device__ inline void awaitCopies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
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
  int stage = 0;
  for (long long k = 0; k < sizes.k; k += depth, stage ^= 1) {
    awaitCopies();
    // All have brought their share, and none reads the other stage any more.
    __syncthreads();
    if (k + depth < sizes.k)
      copy(k + depth, stage ^ 1);
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
