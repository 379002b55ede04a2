//===- hopper_attention.cuh - Attention with roles for warps --------------===//
//
// A kernel that is softmax(scores of q kᵀ) v, and what then becomes of each
// element. Blocks stay and take 128 rows of q in turns. One thread, the
// producer, copies the rows, and then k and v, some rows (keys) at a time, to
// rings of stages in shared memory. Each of two warpgroups has 64 rows: it
// multiplies them by the keys of a stage, makes scores and then weights of the
// products, which stay in registers, and multiplies these by v. The sums of
// weights and their products are relative to the largest score so far: when
// that grows they shrink. (As in Shah et al., "FlashAttention-3: Fast and
// Accurate Attention with Asynchrony and Low-precision", 2024: the products of
// one stage go on while weights of the next one are computed, and the
// warpgroups take turns, so that one computes weights while the other
// multiplies.)
//
//   attendWhole<Tile>(c, memory, shape, q, k, v, makeScores, makeEpilogue)
//
// called by all threads of a block, of which there are Tile::threads. q, k and
// v are maps of 64 columns of the operands' rows, of 128 of q and Tile::keys of
// the others, and then of Tile::dims dimensions of batches. What is outside of
// a matrix is 0, so sizes are any. makeScores() gives what becomes of products:
//
//   static constexpr bool isScaled     whether scores are products times
//   static constexpr float scale       this positive number, where isPlain of
//   bool isPlain(row, rowEnd, key, keyEnd)                       all of a range
//   static constexpr bool hasEmpty     whether isEmpty is ever true: all scores
//   bool isEmpty(row, rowEnd, key, keyEnd)                      of a range are
//   static constexpr float excluded    this number
//   void pair(batch, row, key, hasSecond, x, y)       makes scores, not scaled,
//                                      of the products x and y of key, key + 1
//   void place(batch, q, k, v)         where a batch is among those of maps
//   const T *values(batch, key)        the row of v, of elements side by side
//
// Ranges that are empty are left out. Whoever has nothing else gets the average
// of v that is due.
//
// Scores are of f32: products are not rounded before.
//
// Follows hopper_products.cuh, and uses its epilogues.
//
//===----------------------------------------------------------------------===//

/// How a block computes. Rows of q and k have `head` elements, rows of v
/// `columns`: 64, 128 or 256, of which all but the last may be 0. Sums over a
/// head are of `steps` times 16.
template <class T_, int head_, int steps_, int columns_, int keys_, int stages_,
          int dims_>
struct AttentionTile {
  using T = T_;
  static constexpr int head = head_, steps = steps_, n = columns_;
  static constexpr int keys = keys_, stages = stages_;
  /// Of batches.
  static constexpr int dims = dims_;

  static constexpr int m = 128, consumers = 2, threads = 384;
  static constexpr int queryBytes = m * head * 2;
  static constexpr int keyBytes = keys * head * 2, valueBytes = keys * n * 2;
  /// Of 64 columns.
  static constexpr int queryPanel = m * 128, keyPanel = keys * 128;
  static constexpr int keysAt = queryBytes;
  static constexpr int valuesAt = keysAt + stages * keyBytes;
  static constexpr int resultsAt = valuesAt + stages * valueBytes;
  // For finishTile.
  static constexpr int blocks = 1, panels = n < 128 ? 1 : 2;
  static constexpr int panelBytes = 16 * 64 * 2;
  static constexpr int barriersAt =
      resultsAt + consumers * 4 * panels * panelBytes;

  static_assert(sizeof(T) == 2 && steps * 16 <= head);
};

/// Rows of q, keys, and columns of v; how many matrices there are, and how many
/// of them blocks take at the same time.
struct AttentionShape {
  int rows, keys, columns, batches, group;
};

/// The shared memory of a block: rows of q, the rings of k and v, results, and
/// for each stage, and for q, a barrier that says that it is full, and one that
/// says that it is empty.
template <class Tile> struct AttentionMemory {
  Byte *memory;

  __device__ Byte *queries() const { return memory; }
  __device__ Byte *keys(int stage) const {
    return memory + Tile::keysAt + stage * Tile::keyBytes;
  }
  __device__ Byte *values(int stage) const {
    return memory + Tile::valuesAt + stage * Tile::valueBytes;
  }
  __device__ u64 *barrier(int number) const {
    return reinterpret_cast<u64 *>(memory + Tile::barriersAt) + number;
  }
  __device__ u64 *queriesFull() const { return barrier(0); }
  __device__ u64 *queriesEmpty() const { return barrier(1); }
  __device__ u64 *keysFull(int stage) const { return barrier(2 + stage); }
  __device__ u64 *keysEmpty(int stage) const {
    return keysFull(Tile::stages + stage);
  }
  __device__ u64 *valuesFull(int stage) const {
    return keysFull(2 * Tile::stages + stage);
  }
  __device__ u64 *valuesEmpty(int stage) const {
    return keysFull(3 * Tile::stages + stage);
  }
};

__device__ inline int rowTilesOf(const AttentionShape &shape) {
  return (shape.rows + 127) / 128;
}

/// Matrices of a group are taken together, the last rows, which may have the
/// most keys, first.
__device__ inline TilePlace placeOfQueries(const AttentionShape &shape,
                                           int tile) {
  int ofGroup = shape.group * rowTilesOf(shape);
  int first = tile / ofGroup * shape.group, inGroup = tile % ofGroup;
  int rest = shape.batches - first;
  int height = rest < shape.group ? rest : shape.group;
  return {first + inGroup % height,
          (rowTilesOf(shape) - 1 - inGroup / height) * 128, 0};
}

__device__ inline int smaller(int a, int b) { return a < b ? a : b; }

/// The first keys after `key`, that many at a time, that some row of a tile
/// needs.
template <class Tile, class Scores>
__device__ __forceinline__ int
nextKeys(const Scores &scores, const AttentionShape &shape, int row, int key) {
  key += Tile::keys;
  if constexpr (Scores::hasEmpty)
    while (key < shape.keys &&
           scores.isEmpty(row, smaller(row + Tile::m, shape.rows), key,
                          smaller(key + Tile::keys, shape.keys)))
      key += Tile::keys;
  return key;
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Copies `panels` times 64 columns of rows from `row` on.
template <int panels, int panelBytes, int dims>
__device__ __forceinline__ void copyRows(Byte *to, const void *map, int row,
                                         const int (&batch)[dims], u64 *full) {
  int at[2 + dims] = {0, row};
#pragma unroll
  for (int dim = 0; dim < dims; ++dim)
    at[2 + dim] = batch[dim];
#pragma unroll
  for (int panel = 0; panel < panels; ++panel) {
    at[0] = 64 * panel;
    loadTile<2 + dims>(to + panel * panelBytes, map, at, full);
  }
}

/// Copies what the block's rows need.
template <class Tile, class Scores>
__device__ inline void
produceRows(const CcnContext &c, const AttentionShape &shape,
            AttentionMemory<Tile> memory, const void *q, const void *k,
            const void *v, const Scores &scores) {
  RoleWaits waits(c);
  RingPlace<Tile::stages> place;
  u32 parity = 0;
  int tiles = rowTilesOf(shape) * shape.batches;
  for (int tile = int(blockIdx.x); tile < tiles; tile += int(gridDim.x)) {
    TilePlace at = placeOfQueries(shape, tile);
    int query[Tile::dims], key[Tile::dims], value[Tile::dims];
    scores.place(at.batch, query, key, value);
    waits.wait(memory.queriesEmpty(), parity ^ 1);
    parity ^= 1;
    arriveExpecting(memory.queriesFull(), Tile::queryBytes);
    copyRows<Tile::head / 64, Tile::queryPanel>(memory.queries(), q, at.row,
                                                query, memory.queriesFull());
    int row = nextKeys<Tile>(scores, shape, at.row, -Tile::keys);
    while (row < shape.keys) {
      waits.wait(memory.keysEmpty(place.stage), place.parity ^ 1);
      u64 *full = memory.keysFull(place.stage);
      arriveExpecting(full, Tile::keyBytes);
      copyRows<Tile::head / 64, Tile::keyPanel>(memory.keys(place.stage), k,
                                                row, key, full);
      waits.wait(memory.valuesEmpty(place.stage), place.parity ^ 1);
      full = memory.valuesFull(place.stage);
      arriveExpecting(full, Tile::valueBytes);
      copyRows<Tile::n / 64, Tile::keyPanel>(memory.values(place.stage), v, row,
                                             value, full);
      place.advance();
      row = nextKeys<Tile>(scores, shape, at.row, row);
    }
  }
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// log2(e)
constexpr float log2OfE = 1.44269504f;

/// Of a thread's two rows: the largest score so far, and of those weights that
/// the thread has computed the sum, relative to the largest score's.
struct RowWeights {
  float largest[2], sum[2];
};

/// What scores are relative to: the largest one, unless that is -infinity.
__device__ inline float baseOf(float largest) {
  return largest == -float(infinity()) ? 0.0f : largest;
}

/// The factor that what is relative to the largest score so far shrinks by
/// where there is one of `score`.
__device__ inline float raise(float &largest, float score) {
  float next = fmaxf(largest, score);
  float factor = powerOf2((largest - baseOf(next)) * log2OfE);
  largest = next;
  return factor;
}

/// Makes scores of products, those of rows `row` and 8 further.
template <class Tile, class Scores>
__device__ __forceinline__ void
score(const Scores &scores, const AttentionShape &shape, int batch, int row,
      int key, float (&s)[Tile::keys / 2]) {
  // What is not there is -infinity, and its weight 0.
  float absent = -float(infinity());
  int column = key + int(threadIdx.x % 4) * 2;
#pragma unroll
  for (int i = 0; i < Tile::keys / 4; ++i) {
    int at = column + i / 2 * 8;
    float &x = s[2 * i], &y = s[2 * i + 1];
    if (at < shape.keys)
      scores.pair(batch, smaller(row + i % 2 * 8, shape.rows - 1), at,
                  at + 1 < shape.keys, x, y);
    else
      x = absent;
    if (at + 1 >= shape.keys)
      y = absent;
  }
}

/// Makes weights of products, and of the factors by which what was before
/// shrinks.
template <class Tile, class Scores>
__device__ __forceinline__ void
weigh(const Scores &scores, const AttentionShape &shape, int batch, int row,
      int key, float (&s)[Tile::keys / 2], RowWeights &weights,
      float (&shrink)[2]) {
  int firstRow = row & ~15;
  bool isPlain = false;
  if constexpr (Scores::isScaled)
    isPlain = key + Tile::keys <= shape.keys &&
              scores.isPlain(firstRow, smaller(firstRow + 16, shape.rows), key,
                             key + Tile::keys);
  if (!isPlain)
    score<Tile>(scores, shape, batch, row, key, s);
  float base[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float largest = fmaxf(s[2 * h], s[2 * h + 1]);
#pragma unroll
    for (int i = 1; i < Tile::keys / 8; ++i)
      largest = fmaxf(largest, fmaxf(s[4 * i + 2 * h], s[4 * i + 2 * h + 1]));
    largest = fmaxf(largest, shuffleXor(largest, 1, ~0u));
    largest = fmaxf(largest, shuffleXor(largest, 2, ~0u));
    if (isPlain)
      largest *= Scores::scale;
    shrink[h] = raise(weights.largest[h], largest);
    base[h] = baseOf(weights.largest[h]);
  }
  float sum[2] = {0, 0};
  if (isPlain) {
#pragma unroll
    for (int i = 0; i < Tile::keys / 2; ++i) {
      int h = i / 2 % 2;
      s[i] = powerOf2(fmaf(s[i], Scores::scale * log2OfE, base[h] * -log2OfE));
      sum[h] += s[i];
    }
  } else {
    // Differences first: scores may be as small as f32 has them.
#pragma unroll
    for (int i = 0; i < Tile::keys / 2; ++i) {
      int h = i / 2 % 2;
      s[i] = powerOf2((s[i] - base[h]) * log2OfE);
      sum[h] += s[i];
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h)
    weights.sum[h] = fmaf(weights.sum[h], shrink[h], sum[h]);
}

/// The weights as an operand of a product.
template <class T, int count>
__device__ __forceinline__ void pack(const float (&s)[count],
                                     u32 (&p)[count / 8][4]) {
#pragma unroll
  for (int i = 0; i < count / 2; ++i)
    p[i / 4][i % 4] = packHalves(s[2 * i], s[2 * i + 1], T{});
}

/// Adds what was left out as empty to rows for which it matters: those whose
/// scores are hardly larger, or that have none. Called by all threads of a
/// warp.
template <class Tile, class Scores>
__device__ __forceinline__ void
addEmpty(const Scores &scores, const AttentionShape &shape, TilePlace at,
         RowWeights &weights, float (&o)[Tile::n / 2]) {
  // In f32 the exponential of less is 0.
  constexpr float least = -105.0f;
  bool matters = false;
#pragma unroll
  for (int h = 0; h < 2; ++h)
    matters |= Scores::excluded - weights.largest[h] >= least;
  if (!__ballot_sync(~0u, matters))
    return;
  using T = typename Tile::T;
  int lane = int(threadIdx.x % 32);
  float each[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float factor = raise(weights.largest[h], Scores::excluded);
    weights.sum[h] *= factor;
    each[h] =
        powerOf2((Scores::excluded - baseOf(weights.largest[h])) * log2OfE);
#pragma unroll
    for (int i = 0; i < Tile::n / 8; ++i) {
      o[4 * i + 2 * h] *= factor;
      o[4 * i + 2 * h + 1] *= factor;
    }
  }
  auto forEachKey = [&](const auto &f) {
#pragma unroll 1
    for (int key = 0; key < shape.keys; ++key) {
      int block = key / Tile::keys * Tile::keys;
      if (scores.isEmpty(at.row, smaller(at.row + Tile::m, shape.rows), block,
                         smaller(block + Tile::keys, shape.keys)))
        f(key);
    }
  };
  // The sums of four threads are one.
  forEachKey([&](int) {
#pragma unroll
    for (int h = 0; h < 2; ++h)
      weights.sum[h] += lane % 4 == 0 ? each[h] : 0.0f;
  });
  // Few columns at a time, which take few registers.
  unrolled<0, Tile::n / 16>([&](auto part) {
    constexpr int first = 16 * decltype(part)::value;
    forEachKey([&](int key) {
      const T *row = scores.values(at.batch, key);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        int column = first + i / 2 * 8 + lane % 4 * 2 + i % 2;
        float value = column < shape.columns ? toFloat(row[column]) : 0.0f;
        o[first / 2 + i / 2 * 4 + i % 2] += each[0] * value;
        o[first / 2 + i / 2 * 4 + 2 + i % 2] += each[1] * value;
      }
    });
  });
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// What a warpgroup has of the shared memory.
template <class Tile> struct AttentionStages {
  AttentionMemory<Tile> memory;
  RoleWaits &waits;
  int consumer;
  /// Of keys, and of values.
  RingPlace<Tile::stages> keyPlace, valuePlace;

  __device__ bool isLeader() const { return threadIdx.x % 32 == 0; }
  __device__ void awaitKeys() {
    waits.wait(memory.keysFull(keyPlace.stage), keyPlace.parity);
  }
  __device__ void awaitValues() {
    waits.wait(memory.valuesFull(valuePlace.stage), valuePlace.parity);
  }
  __device__ void leaveKeys() {
    if (isLeader())
      arrive(memory.keysEmpty(keyPlace.stage));
    keyPlace.advance();
  }
  __device__ void leaveValues() {
    if (isLeader())
      arrive(memory.valuesEmpty(valuePlace.stage));
    valuePlace.advance();
  }
  __device__ void leaveQueries() {
    if (isLeader())
      arrive(memory.queriesEmpty());
  }
};

/// Begins the products of a warpgroup's rows and the keys of a stage.
template <class Tile>
__device__ __forceinline__ void
multiplyKeys(const AttentionStages<Tile> &stages, float (&s)[Tile::keys / 2]) {
  const Byte *q = stages.memory.queries() + stages.consumer * 64 * 128;
  const Byte *k = stages.memory.keys(stages.keyPlace.stage);
  beginProducts();
#pragma unroll
  for (int step = 0; step < Tile::steps; ++step)
    multiplyShared<Tile::keys, false, false>(
        s,
        describeTile(q + step / 4 * Tile::queryPanel + step % 4 * 32, 0, 1024),
        describeTile(k + step / 4 * Tile::keyPanel + step % 4 * 32, 0, 1024),
        step, typename Tile::T{});
  commitProducts();
}

/// Begins the products of weights and the values of a stage.
template <class Tile>
__device__ __forceinline__ void
multiplyValues(const AttentionStages<Tile> &stages,
               const u32 (&p)[Tile::keys / 16][4], float (&o)[Tile::n / 2]) {
  const Byte *v = stages.memory.values(stages.valuePlace.stage);
  beginProducts();
#pragma unroll
  for (int step = 0; step < Tile::keys / 16; ++step)
    multiplyPacked<Tile::n, true>(
        o, p[step], describeTile(v + step * 2048, Tile::keyPanel, 1024),
        /*adds=*/1, typename Tile::T{});
  commitProducts();
}

/// Attends to all keys that the rows of a tile need; what comes of it is not
/// divided by the sum of weights.
template <class Tile, class Scores>
__device__ __forceinline__ void
attendRows(AttentionStages<Tile> &stages, const Scores &scores,
           const AttentionShape &shape, TilePlace at, int row,
           RowWeights &weights, float (&o)[Tile::n / 2]) {
  using T = typename Tile::T;
  constexpr int both = 256;
  float s[Tile::keys / 2];
  u32 p[Tile::keys / 16][4];
  float shrink[2];
#pragma unroll
  for (float &sum : o)
    sum = 0;
  int key = nextKeys<Tile>(scores, shape, at.row, -Tile::keys);
  if (key >= shape.keys)
    return stages.leaveQueries();
  // Barrier 1 + i says that it is the turn of consumer i.
  int own = 1 + stages.consumer, other = 2 - stages.consumer;
  int next = nextKeys<Tile>(scores, shape, at.row, key);
  stages.awaitKeys();
  syncThreads(own, both);
  multiplyKeys<Tile>(stages, s);
  arriveThreads(other, both);
  awaitProducts<0>();
  claimSums(s);
  stages.leaveKeys();
  if (next >= shape.keys)
    stages.leaveQueries();
  weigh<Tile>(scores, shape, at.batch, row, key, s, weights, shrink);
  pack<T>(s, p);
  // No products are in progress from turn to turn, or CUDA's compiler would do
  // them one by one.
#pragma unroll 1
  while (next < shape.keys) {
    key = next;
    next = nextKeys<Tile>(scores, shape, at.row, key);
    stages.awaitKeys();
    syncThreads(own, both);
    multiplyKeys<Tile>(stages, s);
    stages.awaitValues();
    multiplyValues<Tile>(stages, p, o);
    arriveThreads(other, both);
    awaitProducts<1>();
    claimSums(s);
    stages.leaveKeys();
    if (next >= shape.keys)
      stages.leaveQueries();
    weigh<Tile>(scores, shape, at.batch, row, key, s, weights, shrink);
    awaitProducts<0>();
    claimSums(o);
    stages.leaveValues();
#pragma unroll
    for (int i = 0; i < Tile::n / 2; ++i)
      o[i] *= shrink[i / 2 % 2];
    pack<T>(s, p);
  }
  stages.awaitValues();
  syncThreads(own, both);
  multiplyValues<Tile>(stages, p, o);
  arriveThreads(other, both);
  awaitProducts<0>();
  claimSums(o);
  stages.leaveValues();
}

/// Computes, and passes on, a warpgroup's rows of the block's tiles.
template <class Tile, class Scores, class Epilogue>
__device__ __forceinline__ void
consumeRows(const CcnContext &c, const AttentionShape &shape,
            AttentionMemory<Tile> memory, const Scores &scores,
            const Epilogue &epilogue) {
  constexpr int both = 256;
  RoleWaits waits(c);
  AttentionStages<Tile> stages = {
      memory, waits, int(threadIdx.x / 128) - 1, {}, {}};
  Byte *panels = memory.memory + Tile::resultsAt +
                 int(threadIdx.x / 32 - 4) * Tile::panels * Tile::panelBytes;
  WholeShape results = {shape.rows, shape.columns, 0, shape.batches, 0};
  int inTile = 64 * stages.consumer + int(threadIdx.x / 32 % 4) * 16 +
               int(threadIdx.x % 32 / 4);
  u32 parity = 0;
  if (stages.consumer == 1)
    arriveThreads(1, both);
  int tiles = rowTilesOf(shape) * shape.batches;
  for (int tile = int(blockIdx.x); tile < tiles; tile += int(gridDim.x)) {
    TilePlace at = placeOfQueries(shape, tile);
    float o[1][Tile::n / 2];
    float least = -float(infinity());
    RowWeights weights = {{least, least}, {0, 0}};
    waits.wait(memory.queriesFull(), parity);
    parity ^= 1;
    attendRows<Tile>(stages, scores, shape, at, at.row + inTile, weights, o[0]);
    if constexpr (Scores::hasEmpty)
      addEmpty<Tile>(scores, shape, at, weights, o[0]);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float sum = weights.sum[h];
      sum += shuffleXor(sum, 1, ~0u);
      sum += shuffleXor(sum, 2, ~0u);
      float part = 1.0f / sum;
#pragma unroll
      for (int i = 0; i < Tile::n / 8; ++i) {
        o[0][4 * i + 2 * h] *= part;
        o[0][4 * i + 2 * h + 1] *= part;
      }
    }
    at.row += 64 * stages.consumer;
    finishTile<Tile>(epilogue, results, panels, at, o);
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

template <class Tile, class MakeScores, class MakeEpilogue>
__device__ __forceinline__ void
attendWhole(const CcnContext &c, Byte *shared, AttentionShape shape,
            const void *q, const void *k, const void *v,
            const MakeScores &makeScores, const MakeEpilogue &makeEpilogue) {
  AttentionMemory<Tile> memory = {shared};
  if (threadIdx.x == 0) {
    prefetchMap(q);
    prefetchMap(k);
    prefetchMap(v);
    // Each warp arrives that has used a stage.
    constexpr u32 warps = 4 * Tile::consumers;
    beginBarrier(memory.queriesFull(), 1);
    beginBarrier(memory.queriesEmpty(), warps);
    for (int stage = 0; stage < Tile::stages; ++stage) {
      beginBarrier(memory.keysFull(stage), 1);
      beginBarrier(memory.keysEmpty(stage), warps);
      beginBarrier(memory.valuesFull(stage), 1);
      beginBarrier(memory.valuesEmpty(stage), warps);
    }
    publishBarriers();
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    takeFewerRegisters<24>();
    if (threadIdx.x == 0)
      produceRows<Tile>(c, shape, memory, q, k, v, makeScores());
  } else {
    takeMoreRegisters<240>();
    consumeRows<Tile>(c, shape, memory, makeScores(), makeEpilogue());
  }
}
