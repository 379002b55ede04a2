//===- hopper_products.cuh - Products with roles for warps ----------------===//
//
// A kernel that is one product of matrices, and what then becomes of each
// element of its result. Blocks stay and take tiles of the result in turns. One
// thread, the producer, copies parts of both operands to a ring of stages in
// shared memory; warpgroups, the consumers, multiply what is there, and then
// pass their sums, rounded to the elements' type, to the loops that use them.
//
//   multiplyWhole<Tile>(c, shape, a, b, makeEpilogue)
//
// called by all threads of a block, of which there are Tile::threads. a and b
// are maps of the operands (hopper.cuh) with boxes of whole lines of 128 bytes:
// of Tile::m or n lines along k, or of 64 elements for each of the Tile::depth
// positions k if it is transposed. What is outside of a matrix is 0, so sizes
// are any.
//
// Sums are those of tensor cores, in f32, in the order of k; of 8-bit elements
// these keep some 14 bits, more than results have.
//
// Follows faults.cuh and hopper.cuh.
//
//===----------------------------------------------------------------------===//

/// How a block computes a tile of m x n elements. The consumers share each
/// tile, or, if they take turns, have whole tiles of their own: while one of
/// them passes on its results, the other one multiplies.
template <class T_, int m_, int n_, int stages_, int consumers_,
          bool takeTurns_, bool isATransposed_, bool isBTransposed_>
struct WarpTile {
  using T = T_;
  static constexpr int m = m_, n = n_, stages = stages_;
  static constexpr int consumers = consumers_;
  static constexpr bool takeTurns = takeTurns_;
  static constexpr bool isATransposed = isATransposed_;
  static constexpr bool isBTransposed = isBTransposed_;

  static constexpr int threads = 128 * (consumers + 1);
  /// The positions k of a stage.
  static constexpr int depth = 128 / int(sizeof(T));
  static constexpr int aBytes = m * 128, bBytes = n * 128;
  static constexpr int stageBytes = aBytes + bBytes;
  /// What a consumer computes: blocks of 64 rows.
  static constexpr int rows = takeTurns ? m : m / consumers;
  static constexpr int blocks = rows / 64;
  /// Results that a warp has in shared memory at once: 16 rows of panels of 64
  /// columns.
  static constexpr int panels = n < 128 ? 1 : 2;
  static constexpr int panelBytes = 16 * 64 * int(sizeof(T));
  static constexpr int resultsAt = stages * stageBytes;
  static constexpr int barriersAt =
      resultsAt + consumers * 4 * panels * panelBytes;
  /// Of 64 rows or columns of a transposed operand.
  static constexpr int transposedBytes = depth * 128;

  static_assert(m % 64 == 0 && n % 64 == 0 && rows % 64 == 0);
  static_assert(!takeTurns || consumers == 2);
};

/// A product's sizes, and how many there are; groups of rows of tiles that
/// blocks take one after the other.
struct WholeShape {
  int m, n, k, batches, group;
};

/// The maps of an operand's matrices, and how many there are: one for all
/// products, or one for each.
struct WholeOperand {
  const void *map;
  int batches;
};

/// A tile's place: its product, and its first row and column.
struct TilePlace {
  int batch, row, column;
};

template <class Tile> __device__ inline int tilesOf(const WholeShape &shape) {
  return (shape.m + Tile::m - 1) / Tile::m *
         ((shape.n + Tile::n - 1) / Tile::n) * shape.batches;
}

/// Tiles that are computed at the same time share rows and columns.
template <class Tile>
__device__ inline TilePlace placeOfTile(const WholeShape &shape, int tile) {
  int tilesM = (shape.m + Tile::m - 1) / Tile::m;
  int tilesN = (shape.n + Tile::n - 1) / Tile::n;
  int batch = tile / (tilesM * tilesN), inProduct = tile % (tilesM * tilesN);
  int ofGroup = shape.group * tilesN;
  int firstRow = inProduct / ofGroup * shape.group;
  int inGroup = inProduct % ofGroup, rest = tilesM - firstRow;
  int height = rest < shape.group ? rest : shape.group;
  return {batch, (firstRow + inGroup % height) * Tile::m,
          inGroup / height * Tile::n};
}

/// The tiles of a product, in the order in which blocks take them. A class of
/// such tiles has their `shape`, their count(), and place(tile, shape), which
/// cuts off of that shape's rows and columns what is behind the tile's part of
/// the result.
template <class Tile> struct WholeTiles {
  WholeShape shape;

  __device__ int count() const { return tilesOf<Tile>(shape); }
  __device__ TilePlace place(int tile, WholeShape &) const {
    return placeOfTile<Tile>(shape, tile);
  }
};

/// The waits of a thread for barriers. When the time is up for one of them, the
/// thread reports that, and waits no more: results are wrong then, but all
/// warps come to their end.
class RoleWaits {
public:
  __device__ explicit RoleWaits(const CcnContext &c) : c(c) {}
  __device__ __forceinline__ void wait(u64 *barrier, u32 parity) {
    if (isPhaseOver(barrier, parity) || isLost)
      return;
    // What brings this may wait for another rank, and then names that.
    Patience patience(c, 2);
    while (!isPhaseOver(barrier, parity))
      if (!patience.goesOn(c.rank, 0, parity, parity ^ 1)) {
        isLost = true;
        return;
      }
  }

private:
  const CcnContext &c;
  bool isLost = false;
};

/// A place in the ring of stages: the stage, and the parity of how often the
/// ring was gone around.
template <int stages> struct RingPlace {
  int stage = 0;
  u32 parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  __device__ void advance(int steps) {
    stage += steps % stages;
    parity ^= static_cast<u32>(steps / stages) & 1;
    if (stage >= stages) {
      stage -= stages;
      parity ^= 1;
    }
  }
};

/// The shared memory of a block: the stages; results; and two barriers for each
/// stage, of which one says that it is full, the other that it is empty.
template <class Tile> struct ProductRing {
  Byte *memory;

  __device__ Byte *a(int stage) const {
    return memory + stage * Tile::stageBytes;
  }
  __device__ Byte *b(int stage) const { return a(stage) + Tile::aBytes; }
  __device__ u64 *full(int stage) const {
    return reinterpret_cast<u64 *>(memory + Tile::barriersAt) + stage;
  }
  __device__ u64 *empty(int stage) const { return full(Tile::stages) + stage; }
};

/// Where in the memory of a warp's panel 8 elements of a row are.
template <class T> __device__ inline int chunkOfPanel(int row, int chunk) {
  return row * 64 * int(sizeof(T)) + (chunk ^ (row & 7)) * 8 * int(sizeof(T));
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Copies an operand's part of a stage: `lines` lines from `line` on, at
/// position k.
template <bool isTransposed, int lines, int depth>
__device__ __forceinline__ void copyOperand(Byte *to, const void *map, int line,
                                            int k, int batch, u64 *full) {
  if constexpr (isTransposed) {
#pragma unroll
    for (int i = 0; i < lines / 64; ++i)
      loadTile<3>(to + i * depth * 128, map, {line + 64 * i, k, batch}, full);
  } else {
    loadTile<3>(to, map, {k, line, batch}, full);
  }
}

/// What a tile multiplies: the first of its lines of a map, and their matrix.
struct TileOperand {
  const void *map;
  int line, batch;
};

/// Fills the stages with what a tile needs.
template <class Tile>
__device__ __forceinline__ void
produceTile(RoleWaits &waits, ProductRing<Tile> ring,
            RingPlace<Tile::stages> &place, int depth, TileOperand a,
            TileOperand b) {
  for (int k = 0; k < depth; k += Tile::depth) {
    waits.wait(ring.empty(place.stage), place.parity ^ 1);
    u64 *full = ring.full(place.stage);
    arriveExpecting(full, Tile::stageBytes);
    copyOperand<Tile::isATransposed, Tile::m, Tile::depth>(
        ring.a(place.stage), a.map, a.line, k, a.batch, full);
    copyOperand<Tile::isBTransposed, Tile::n, Tile::depth>(
        ring.b(place.stage), b.map, b.line, k, b.batch, full);
    place.advance();
  }
}

/// Fills the stages with what the block's tiles need, one after the other.
template <class Tile>
__device__ inline void
produceTiles(const CcnContext &c, const WholeShape &shape,
             ProductRing<Tile> ring, WholeOperand a, WholeOperand b) {
  RoleWaits waits(c);
  RingPlace<Tile::stages> place;
  int tiles = tilesOf<Tile>(shape);
  for (int tile = int(blockIdx.x); tile < tiles; tile += int(gridDim.x)) {
    TilePlace at = placeOfTile<Tile>(shape, tile);
    produceTile<Tile>(waits, ring, place, shape.k,
                      {a.map, at.row, a.batches == 1 ? 0 : at.batch},
                      {b.map, at.column, b.batches == 1 ? 0 : at.batch});
  }
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// Multiplies what the stages bring for one tile. Returns the last stage, which
/// is in use until the products are done.
template <class Tile>
__device__ __forceinline__ int
consumeSteps(RoleWaits &waits, ProductRing<Tile> ring,
             RingPlace<Tile::stages> &place, int steps, int firstRow,
             float (&sums)[Tile::blocks][Tile::n / 2]) {
  using T = typename Tile::T;
  // From 32 bytes of k to the next, and from 64 lines to the next.
  constexpr int aStep = Tile::isATransposed ? 2048 : 32;
  constexpr int bStep = Tile::isBTransposed ? 2048 : 32;
  constexpr int aBlock = Tile::isATransposed ? Tile::transposedBytes : 8192;
  constexpr int leading = Tile::transposedBytes;
  bool isLeader = threadIdx.x % 32 == 0;
  int before = 0;
  for (int step = 0; step < steps; ++step) {
    waits.wait(ring.full(place.stage), place.parity);
    const Byte *a = ring.a(place.stage) + firstRow / 64 * aBlock;
    const Byte *b = ring.b(place.stage);
    beginProducts();
#pragma unroll
    for (int kk = 0; kk < 4; ++kk) {
      u64 right = describeTile(b + kk * bStep, leading, 1024);
#pragma unroll
      for (int block = 0; block < Tile::blocks; ++block)
        multiplyShared<Tile::n, Tile::isATransposed, Tile::isBTransposed>(
            sums[block],
            describeTile(a + block * aBlock + kk * aStep, leading, 1024), right,
            step | kk, T{});
    }
    commitProducts();
    // The products of the step before are done; their stage may be filled.
    if (step > 0) {
      awaitProducts<1>();
      if (isLeader)
        arrive(ring.empty(before));
    }
    before = place.stage;
    place.advance();
  }
  return before;
}

/// 16 rows of 64 columns of sums, rounded, to a warp's panel.
template <class T>
__device__ __forceinline__ void storePanel(Byte *panel, const float *sums) {
  int lane = int(threadIdx.x % 32);
  if constexpr (sizeof(T) == 2) {
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const float *s = sums + 8 * pair;
      storeMatrices(panel + chunkOfPanel<T>(lane % 16, 2 * pair + lane / 16),
                    {packHalves(s[0], s[1], T{}), packHalves(s[2], s[3], T{}),
                     packHalves(s[4], s[5], T{}), packHalves(s[6], s[7], T{})});
    }
  } else {
#pragma unroll
    for (int i = 0; i < 32; i += 2) {
      Vector<T, 2> two = {{toHalf<T>(sums[i]), toHalf<T>(sums[i + 1])}};
      int row = lane / 4 + i % 4 * 4;
      store<T, 2>(reinterpret_cast<T *>(panel + chunkOfPanel<T>(row, i / 4)) +
                      lane % 4 * 2,
                  two);
    }
  }
}

/// What a lane passes on at once: 8 elements of some rows of a panel, every
/// fourth one.
constexpr int chunksAtOnce = 2;

/// Loads what the loops use with them, from a row and a column on.
template <class Epilogue>
__device__ __forceinline__ void
fetchChunks(const Epilogue &epilogue, const WholeShape &shape, int batch,
            int row, int column,
            typename Epilogue::template Fetched<8> (&fetched)[chunksAtOnce]) {
  if constexpr (Epilogue::hasVectors) {
    if (!epilogue.takesVectors || column >= shape.n)
      return;
#pragma unroll
    for (int e = 0; e < chunksAtOnce; ++e)
      if (row + 4 * e < shape.m)
        fetched[e] = epilogue.template fetch<8>(batch, row + 4 * e, column);
  }
}

/// Passes on what a warp's panels have: vectors where they fit, else element by
/// element. `fetched` is what goes with the first elements.
template <class Tile, class Epilogue>
__device__ __forceinline__ void
passOn(const Epilogue &epilogue, const WholeShape &shape, const Byte *panels,
       int batch, int firstRow, int firstColumn,
       typename Epilogue::template Fetched<8> (&fetched)[chunksAtOnce]) {
  using T = typename Tile::T;
  constexpr int ofPanel = 4 / chunksAtOnce;
  int lane = int(threadIdx.x % 32);
#pragma unroll 1
  for (int turn = 0; turn < Tile::panels * ofPanel; ++turn) {
    auto rowOf = [&](int turn) {
      return lane / 8 + 4 * chunksAtOnce * (turn % ofPanel);
    };
    auto columnOf = [&](int turn) {
      return firstColumn + 64 * (turn / ofPanel) + lane % 8 * 8;
    };
    typename Epilogue::template Fetched<8> next[chunksAtOnce];
    if (turn + 1 < Tile::panels * ofPanel)
      fetchChunks(epilogue, shape, batch, firstRow + rowOf(turn + 1),
                  columnOf(turn + 1), next);
#pragma unroll
    for (int e = 0; e < chunksAtOnce; ++e) {
      int inPanel = rowOf(turn) + 4 * e;
      int row = firstRow + inPanel, column = columnOf(turn);
      const T *at = reinterpret_cast<const T *>(
          panels + turn / ofPanel * Tile::panelBytes +
          chunkOfPanel<T>(inPanel, lane % 8));
      if (row >= shape.m || column >= shape.n)
        continue;
      if constexpr (Epilogue::hasVectors) {
        if (epilogue.takesVectors) {
          epilogue.template store<8>(batch, row, column, fetched[e],
                                     load<T, 8>(at));
          continue;
        }
      }
#pragma unroll 1
      for (int i = 0; i < 8 && column + i < shape.n; ++i)
        epilogue.template store<1>(
            batch, row, column + i,
            epilogue.template fetch<1>(batch, row, column + i),
            load<T, 1>(at + i));
    }
#pragma unroll
    for (int e = 0; e < chunksAtOnce; ++e)
      fetched[e] = next[e];
  }
}

/// Passes on the sums of one tile, or of a consumer's share of it.
template <class Tile, class Epilogue>
__device__ __forceinline__ void
finishTile(const Epilogue &epilogue, const WholeShape &shape, Byte *panels,
           TilePlace at, const float (&sums)[Tile::blocks][Tile::n / 2]) {
  using T = typename Tile::T;
  int warp = int(threadIdx.x / 32 % 4), lane = int(threadIdx.x % 32);
  unrolled<0, Tile::blocks>([&](auto block) {
    int row = at.row + 64 * block.value + 16 * warp;
    unrolled<0, Tile::n / 64 / Tile::panels>([&](auto part) {
      constexpr int first = decltype(part)::value * Tile::panels;
      int column = at.column + 64 * first;
      typename Epilogue::template Fetched<8> fetched[chunksAtOnce];
      fetchChunks(epilogue, shape, at.batch, row + lane / 8,
                  column + lane % 8 * 8, fetched);
      // Nobody reads what was there before.
      __syncwarp();
      unrolled<0, Tile::panels>([&](auto panel) {
        storePanel<T>(panels + panel.value * Tile::panelBytes,
                      sums[block.value] + 32 * (first + panel.value));
      });
      __syncwarp();
      passOn<Tile>(epilogue, shape, panels, at.batch, row, column, fetched);
    });
  });
}

/// Multiplies, and passes on, the tiles of a consumer.
template <class Tile, class Tiles, class Epilogue>
__device__ __forceinline__ void
consumeTiles(const CcnContext &c, const Tiles &all, ProductRing<Tile> ring,
             const Epilogue &epilogue) {
  constexpr int both = 256;
  int consumer = int(threadIdx.x / 128) - 1;
  int steps = (all.shape.k + Tile::depth - 1) / Tile::depth;
  int tiles = all.count();
  int stride = int(gridDim.x) * (Tile::takeTurns ? 2 : 1);
  int tile = int(blockIdx.x);
  int firstRow = Tile::takeTurns ? 0 : consumer * Tile::rows;
  Byte *panels = ring.memory + Tile::resultsAt +
                 int(threadIdx.x / 32 - 4) * Tile::panels * Tile::panelBytes;
  RoleWaits waits(c);
  RingPlace<Tile::stages> place;
  // Barrier 1 + i says that it is the turn of consumer i.
  if (Tile::takeTurns && consumer == 1) {
    arriveThreads(1, both);
    tile += int(gridDim.x);
    place.advance(steps);
  }
  for (; tile < tiles; tile += stride) {
    WholeShape shape = all.shape;
    TilePlace at = all.place(tile, shape);
    float sums[Tile::blocks][Tile::n / 2];
    if (Tile::takeTurns)
      syncThreads(1 + consumer, both);
    int last = consumeSteps<Tile>(waits, ring, place, steps, firstRow, sums);
    if (Tile::takeTurns)
      arriveThreads(2 - consumer, both);
    awaitProducts<0>();
    if (threadIdx.x % 32 == 0)
      arrive(ring.empty(last));
    // The steps of the other consumer's tile.
    if (Tile::takeTurns)
      place.advance(steps);
    at.row += firstRow;
    finishTile<Tile>(epilogue, shape, panels, at, sums);
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Begins the barriers of the stages; called by one thread, before a
/// __syncthreads().
template <class Tile> __device__ inline void beginRing(ProductRing<Tile> ring) {
  for (int stage = 0; stage < Tile::stages; ++stage) {
    beginBarrier(ring.full(stage), 1);
    // Each warp arrives that has used the stage.
    beginBarrier(ring.empty(stage), Tile::takeTurns ? 4 : 4 * Tile::consumers);
  }
  publishBarriers();
}

/// makeEpilogue() gives what becomes of results: an object with a structure
/// Fetched<count>; fetch<count>(batch, row, column), which loads what goes with
/// so many elements of a row; and store<count>(batch, row, column, fetched,
/// elements). A count is 1, or 8 if it hasVectors, and takesVectors of the
/// addresses.
template <class Tile, class MakeEpilogue>
__device__ __forceinline__ void
multiplyWhole(const CcnContext &c, Byte *memory, WholeShape shape,
              WholeOperand a, WholeOperand b,
              const MakeEpilogue &makeEpilogue) {
  ProductRing<Tile> ring = {memory};
  if (threadIdx.x == 0) {
    prefetchMap(a.map);
    prefetchMap(b.map);
    beginRing(ring);
  }
  __syncthreads();
  // All have as many registers as fit one block; the producer needs few.
  if (threadIdx.x < 128) {
    if constexpr (Tile::consumers == 2)
      takeFewerRegisters<40>();
    if (threadIdx.x == 0)
      produceTiles<Tile>(c, shape, ring, a, b);
  } else {
    if constexpr (Tile::consumers == 2)
      takeMoreRegisters<232>();
    consumeTiles<Tile>(c, WholeTiles<Tile>{shape}, ring, makeEpilogue());
  }
}
