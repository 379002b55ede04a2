//===- hopper_scatters.cuh - Products whose sums other ranks have ---------===//
//
// A kernel that multiplies matrices of which each rank of a group has some
// positions k, combines the ranks' results, and leaves each rank a slice of
// rows. Tiles do not cross slices. Each rank first computes the other ranks'
// slices, from the next rank's on, and its own last. The tiles of another
// rank's slice go to a slot in that rank's memory, which it has for each other
// rank. A tile of the own slice is combined with what the slots have, in the
// order of the group, and passed on to the loops that use it.
//
// A thread, the teller, tells the owner of a slice when a tile is in its slot,
// while the consumers already multiply the next one. Block b of a rank has one
// flag at each other rank, word b of `flags` + its own position: the progress
// in that rank's slice, which grows from run to run. At first it says that the
// kernel has begun, so that the rank's earlier kernels are over and its slots
// may be written; then how many of the slice's tiles block b has sent. All
// ranks have equally many blocks, and the same tiles, so that the owner knows
// which block sends what.
//
//   multiplyScattered<kind>(c, memory, ownMemory, scatter, a, b, makeEpilogue)
//
// called by all threads of a block; makeEpilogue is that of multiplyWhole, for
// the own slice. All ranks run this kernel or none does. So it goes on where an
// operand is at an address for which there is no map, and threads copy it.
//
// Follows combine.cuh, compute.cuh, flags.cuh, groups.cuh, vectors.cuh and
// hopper_products.cuh.
//
//===----------------------------------------------------------------------===//

/// Slices of rows of a product, one for each member of a group, in its order:
/// as large as the first, but for the last ones. `hasVectors`: 8 elements at
/// once go to slots, and come from there.
template <class Tile_, int members_, bool hasVectors_> struct Scatter {
  using Tile = Tile_;
  using T = typename Tile::T;
  static constexpr int members = members_;
  static constexpr bool hasVectors = hasVectors_;

  Group<members> group;
  u32 flags, epoch;
  /// Where slots are in symmetric memory, one after the other: those of the
  /// other members in their order.
  i64 slots;
  int rows, sliceRows, n, k, raster;

  /// Without an array that is indexed, which would not be in registers.
  __device__ int rankOf(int member) const {
    int rank = group.ranks[0];
    unrolled<1, members>([&](auto i) {
      if (member == i.value)
        rank = group.ranks[i.value];
    });
    return rank;
  }
  __device__ int firstRow(int member) const { return member * sliceRows; }
  __device__ WholeShape slice(int member) const {
    int left = rows - firstRow(member);
    return {left < 0           ? 0
            : left < sliceRows ? left
                               : sliceRows,
            n, k, 1, raster};
  }
  __device__ int tiles(int member) const {
    return tilesOf<Tile>(slice(member));
  }
  /// The tiles that a rank computes before those of member `owner`, if it is
  /// the member `sender`.
  __device__ int tilesBefore(int sender, int owner) const {
    int before = 0;
#pragma unroll 1
    for (int step = 1; step <= members; ++step) {
      int member = (sender + step) % members;
      if (member == owner)
        break;
      before += tiles(member);
    }
    return before;
  }
  /// The slot of member `sender` in the memory of member `owner`.
  __device__ T *slot(const CcnContext &c, int owner, int sender) const {
    return reinterpret_cast<T *>(c.symmetric[rankOf(owner)] + slots) +
           i64(sender < owner ? sender : sender - 1) * sliceRows * n;
  }
  /// What a flag says in this run of so many tiles.
  __device__ u32 progress(int sent) const {
    u32 most = u32(tiles(0)) + 2;
    return epoch * most + 1 + u32(sent);
  }
};

/// Whose slice a tile is in, its place there, and which of the slice's it is.
struct ScatteredTile {
  int owner;
  TilePlace at;
  int number;
};

/// Tile number `tile` of those that this rank computes.
template <class S>
__device__ inline ScatteredTile tileOf(const S &scatter, int tile) {
  int owner = scatter.group.position;
#pragma unroll 1
  for (int step = 1; step < S::members; ++step) {
    int member = (scatter.group.position + step) % S::members;
    int count = scatter.tiles(member);
    if (tile < count) {
      owner = member;
      break;
    }
    tile -= count;
  }
  return {owner, placeOfTile<typename S::Tile>(scatter.slice(owner), tile),
          tile};
}

/// What the blocks of a rank share, behind the ring of stages: for each
/// consumer that takes turns, or all, a barrier that says that a tile was
/// stored, and one that says that its owner was told.
template <class Tile> struct ScatterRing : ProductRing<Tile> {
  static constexpr int users = Tile::takeTurns ? 2 : 1;

  __device__ u64 *stored(int user) const {
    return this->full(0) + 2 * Tile::stages + user;
  }
  __device__ u64 *told(int user) const { return stored(user) + users; }
};

/// The waits of a thread for flags, and for barriers (RoleWaits).
class ScatterWaits : public RoleWaits {
public:
  __device__ explicit ScatterWaits(const CcnContext &c) : RoleWaits(c), c(c) {}
  /// Until block `block` of another member has come so far.
  template <class S>
  __device__ __forceinline__ void awaitProgress(const S &scatter, int member,
                                                u32 block, u32 progress) {
    if (isLate)
      return;
    u32 flag = scatter.flags + u32(member);
    const u32 *word = flagOf(c, c.rank, flag, block);
    Patience patience(c);
    for (u32 seen; !ccnReached(seen = loadAcquire(word), progress);)
      if (!patience.goesOn(scatter.rankOf(member), flag, progress, seen)) {
        isLate = true;
        return;
      }
  }

private:
  const CcnContext &c;
  bool isLate = false;
};

//===----------------------------------------------------------------------===//
// The producer and the teller
//===----------------------------------------------------------------------===//

/// An operand of so many lines: its map, and where it is.
template <class T> struct ScatterOperand {
  const void *map;
  const T *from;
  i64 lineStride, kStride;
  int lines;

  /// Whether it has a map.
  __device__ bool isMapped() const { return isAligned(from, 16); }
};

/// What copyOperand does, by the threads of a warp. `depth` is where k ends.
template <class T, bool isTransposed, int lines>
__device__ inline void copyByThreads(Byte *to, const ScatterOperand<T> &operand,
                                     int line, int k, int depth) {
  constexpr int elements = 16 / int(sizeof(T));
  constexpr int ofStage = 128 / int(sizeof(T));
  for (int chunk = int(threadIdx.x % 32); chunk < lines * 8; chunk += 32) {
    // In transposed panels lines are positions k.
    int row = chunk / 8, column = chunk % 8 * elements;
    int panel = isTransposed ? row / ofStage : 0;
    int inPanel = isTransposed ? row % ofStage : row;
    int atLine = line + (isTransposed ? panel * 64 + column : row);
    int atK = k + (isTransposed ? inPanel : column);
    Vector<T, elements> vector;
    memset(&vector, 0, sizeof(vector));
    const T *from =
        operand.from + atLine * operand.lineStride + atK * operand.kStride;
    unrolled<0, elements>([&](auto e) {
      constexpr int element = decltype(e)::value;
      int own = isTransposed ? atLine + element : atLine;
      int ownK = isTransposed ? atK : atK + element;
      if (own < operand.lines && ownK < depth)
        vector.at[element] = from[element * (isTransposed ? operand.lineStride
                                                          : operand.kStride)];
    });
    store<T, elements>(reinterpret_cast<T *>(to + panel * ofStage * 128 +
                                             chunkOfTile(inPanel, chunk % 8)),
                       vector);
  }
}

/// Fills the stages with what the block's tiles need, one after the other;
/// called by a warp.
template <class S>
__device__ inline void produceScattered(const CcnContext &c, const S &scatter,
                                        ScatterRing<typename S::Tile> ring,
                                        const ScatterOperand<typename S::T> &a,
                                        const ScatterOperand<typename S::T> &b,
                                        int tiles) {
  using Tile = typename S::Tile;
  using T = typename S::T;
  bool areMapped = a.isMapped() && b.isMapped();
  bool isLeader = threadIdx.x % 32 == 0;
  RoleWaits waits(c);
  RingPlace<Tile::stages> place;
  for (int tile = int(blockIdx.x); tile < tiles; tile += int(gridDim.x)) {
    ScatteredTile own = tileOf(scatter, tile);
    int row = scatter.firstRow(own.owner) + own.at.row;
    if (areMapped) {
      if (isLeader)
        produceTile<Tile>(waits, ring, place, scatter.k, {a.map, row, 0},
                          {b.map, own.at.column, 0});
      continue;
    }
    for (int k = 0; k < scatter.k; k += Tile::depth) {
      if (isLeader)
        waits.wait(ring.empty(place.stage), place.parity ^ 1);
      __syncwarp();
      copyByThreads<T, Tile::isATransposed, Tile::m>(ring.a(place.stage), a,
                                                     row, k, scatter.k);
      copyByThreads<T, Tile::isBTransposed, Tile::n>(
          ring.b(place.stage), b, own.at.column, k, scatter.k);
      fenceForCopies();
      __syncwarp();
      if (isLeader)
        arrive(ring.full(place.stage));
      place.advance();
    }
  }
}

/// Tells the others that the kernel has begun, and owners of slices which of
/// their tiles have been sent. Called by a warp.
template <class S>
__device__ inline void tellOwners(const CcnContext &c, const S &scatter,
                                  ScatterRing<typename S::Tile> ring,
                                  int foreign) {
  using Tile = typename S::Tile;
  int own = scatter.group.position, lane = int(threadIdx.x % 32);
  if (lane < S::members && lane != own)
    storeRelease(
        flagOf(c, scatter.rankOf(lane), scatter.flags + u32(own), blockIdx.x),
        scatter.progress(0));
  if (lane != 0)
    return;
  RoleWaits waits(c);
  int owner = own, sent = 0, turn = 0;
  for (int tile = int(blockIdx.x); tile < foreign;
       tile += int(gridDim.x), ++turn) {
    int of = tileOf(scatter, tile).owner;
    sent = of == owner ? sent + 1 : 1;
    owner = of;
    int user = Tile::takeTurns ? turn % 2 : 0;
    int use = Tile::takeTurns ? turn / 2 : turn;
    waits.wait(ring.stored(user), u32(use) & 1);
    storeRelease(
        flagOf(c, scatter.rankOf(owner), scatter.flags + u32(own), blockIdx.x),
        scatter.progress(sent));
    arrive(ring.told(user));
  }
}

//===----------------------------------------------------------------------===//
// What becomes of tiles
//===----------------------------------------------------------------------===//

/// Puts results into rows of `n` elements: a slot, or what a consumer has for
/// its own tile.
template <class T, bool hasVectors_> struct RowsEpilogue {
  T *to;
  int n;
  static constexpr bool hasVectors = hasVectors_, takesVectors = true;
  template <int V> struct Fetched {};
  template <int V> __device__ Fetched<V> fetch(i64, i64, i64) const {
    return {};
  }
  template <int V>
  __device__ void store(i64, i64 i, i64 j, Fetched<V>,
                        const Vector<T, V> &value) const {
    ::store<T, V>(to + i * n + j, value);
  }
};

/// Combines the own tile with what is in slots, and passes it on. It is in
/// memory: there would not be enough registers for it and for what is loaded
/// at once.
template <class S, Kind kind, class Epilogue> struct OwnTile {
  using Tile = typename S::Tile;
  using T = typename S::T;
  static constexpr int members = S::members;
  /// So many vectors of all members are loaded at once. Floats of 8 bits take
  /// more registers.
  static constexpr int atOnce = members <= 4 && sizeof(T) == 2 ? 2 : 1;

  const Epilogue &epilogue;
  /// Tile::rows rows of Tile::n elements.
  const T *tile;
  const T *slots;
  i64 slotElements;
  int position, rows, n;

  template <int V> struct Item {
    Vector<T, V> parts[members];
    typename Epilogue::template Fetched<V> fetched;
  };
  template <int V>
  __device__ __forceinline__ void fetch(Item<V> &item, int row, int column,
                                        const T *own) const {
    const T *slot = slots + i64(row) * n + column;
    unrolled<0, members>([&](auto m) {
      item.parts[m.value] = load<T, V>(m.value == position ? own : slot);
      if (m.value != position)
        slot += slotElements;
    });
    item.fetched = epilogue.template fetch<V>(0, row, column);
  }
  template <int V>
  __device__ __forceinline__ void pass(const Item<V> &item, int row,
                                       int column) const {
    epilogue.template store<V>(0, row, column, item.fetched,
                               combineAll<kind>(item.parts));
  }
  /// Elements of the tile, which a lane has stored: atOnce vectors, of every
  /// fourth row from one on, at the tile's and at the slice's place.
  __device__ __forceinline__ void passChunks(int inRow, int inColumn, int row,
                                             int column) const {
    const T *own = tile + inRow * Tile::n + inColumn;
    constexpr int step = 4 * Tile::n;
    if constexpr (S::hasVectors && Epilogue::hasVectors) {
      if (epilogue.takesVectors) {
        Item<8> items[atOnce];
        unrolled<0, atOnce>([&](auto e) {
          if (row + 4 * e.value < rows)
            fetch<8>(items[e.value], row + 4 * e.value, column,
                     own + e.value * step);
        });
        unrolled<0, atOnce>([&](auto e) {
          if (row + 4 * e.value < rows)
            pass<8>(items[e.value], row + 4 * e.value, column);
        });
        return;
      }
    }
#pragma unroll 1
    for (int i = 0; i < 8 && column + i < n; ++i) {
      Item<1> items[atOnce];
      unrolled<0, atOnce>([&](auto e) {
        if (row + 4 * e.value < rows)
          fetch<1>(items[e.value], row + 4 * e.value, column + i,
                   own + e.value * step + i);
      });
      unrolled<0, atOnce>([&](auto e) {
        if (row + 4 * e.value < rows)
          pass<1>(items[e.value], row + 4 * e.value, column + i);
      });
    }
  }
  /// `at` is the tile's place in the slice. Called by a warp, of its rows.
  __device__ __forceinline__ void pass(const TilePlace &at) const {
    constexpr int turns = 4 / atOnce, columns = Tile::n / 64;
    int lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32 % 4);
#pragma unroll 1
    for (int turn = 0; turn < Tile::blocks * columns * turns; ++turn) {
      int row = turn / turns / columns * 64 + 16 * warp +
                turn % turns * 4 * atOnce + lane / 8;
      int column = turn / turns % columns * 64 + lane % 8 * 8;
      if (at.column + column < n)
        passChunks(row, column, at.row + row, at.column + column);
    }
  }
};

/// Waits until the others have sent a tile of the own slice. Called by a warp.
template <class S>
__device__ __forceinline__ void awaitTile(ScatterWaits &waits, const S &scatter,
                                          int number) {
  int member = int(threadIdx.x % 32), own = scatter.group.position;
  if (member < S::members && member != own) {
    int before = scatter.tilesBefore(member, own);
    int tile = before + number, blocks = int(gridDim.x);
    int block = tile % blocks;
    // The first of the slice that this block computes.
    int first = before + (block - before % blocks + blocks) % blocks;
    waits.awaitProgress(scatter, member, u32(block),
                        scatter.progress((tile - first) / blocks + 1));
  }
  __syncwarp();
}

//===----------------------------------------------------------------------===//
// Consumers and blocks
//===----------------------------------------------------------------------===//

/// Multiplies, and sends or passes on, the tiles of a consumer.
template <Kind kind, class S, class Epilogue>
__device__ __forceinline__ void
consumeScattered(const CcnContext &c, const S &scatter,
                 ScatterRing<typename S::Tile> ring, Byte *ownMemory,
                 const Epilogue &epilogue, int tiles) {
  using Tile = typename S::Tile;
  using T = typename S::T;
  constexpr int both = 256;
  int own = scatter.group.position;
  int consumer = int(threadIdx.x / 128) - 1;
  int steps = (scatter.k + Tile::depth - 1) / Tile::depth;
  int stride = int(gridDim.x) * (Tile::takeTurns ? 2 : 1);
  int tile = int(blockIdx.x), user = Tile::takeTurns ? consumer : 0;
  int firstRow = Tile::takeTurns ? 0 : consumer * Tile::rows;
  Byte *panels = ring.memory + Tile::resultsAt +
                 int(threadIdx.x / 32 - 4) * Tile::panels * Tile::panelBytes;
  bool isLeader = threadIdx.x % 32 == 0;
  T *scratch =
      reinterpret_cast<T *>(ownMemory) + consumer * Tile::rows * Tile::n;
  const OwnTile<S, kind, Epilogue> ownTile = {
      epilogue,
      scratch,
      scatter.slot(c, own, own == 0 ? 1 : 0),
      i64(scatter.sliceRows) * scatter.n,
      own,
      scatter.slice(own).m,
      scatter.n};
  ScatterWaits waits(c);
  RingPlace<Tile::stages> place;
  u32 uses = 0;
  int begun = own;
  // Barrier 1 + i says that it is the turn of consumer i.
  if (Tile::takeTurns && consumer == 1) {
    arriveThreads(1, both);
    tile += int(gridDim.x);
    place.advance(steps);
  }
  for (; tile < tiles; tile += stride) {
    ScatteredTile what = tileOf(scatter, tile);
    float sums[Tile::blocks][Tile::n / 2];
    // Otherwise they would have registers before they are used, too.
    unrolled<0, Tile::blocks>([&](auto block) {
      unrolled<0, Tile::n / 2>([&](auto i) { sums[block.value][i.value] = 0; });
    });
    if (Tile::takeTurns)
      syncThreads(1 + consumer, both);
    int last = consumeSteps<Tile>(waits, ring, place, steps, firstRow, sums);
    if (Tile::takeTurns)
      arriveThreads(2 - consumer, both);
    awaitProducts<0>();
    if (isLeader)
      arrive(ring.empty(last));
    // The steps of the other consumer's tile.
    if (Tile::takeTurns)
      place.advance(steps);
    what.at.row += firstRow;
    using Rows = RowsEpilogue<T, S::hasVectors>;
    bool isOwn = what.owner == own;
    // Once for each owner.
    if (isLeader && !isOwn && what.owner != begun)
      waits.awaitProgress(scatter, what.owner, blockIdx.x, scatter.progress(0));
    begun = what.owner;
    __syncwarp();
    finishTile<Tile>(isOwn ? Rows{scratch, Tile::n}
                           : Rows{scatter.slot(c, what.owner, own), scatter.n},
                     isOwn ? WholeShape{Tile::rows, Tile::n, 0, 1, 1}
                           : scatter.slice(what.owner),
                     panels, isOwn ? TilePlace{0, 0, 0} : what.at, sums);
    if (isOwn) {
      awaitTile(waits, scatter, what.number);
      ownTile.pass(what.at);
      continue;
    }
    __syncwarp();
    if (isLeader) {
      waits.wait(ring.told(user), (uses & 1) ^ 1);
      arrive(ring.stored(user));
    }
    ++uses;
  }
}

/// `ownMemory` is the block's, of tiles as the consumers have them at once.
template <Kind kind, class S, class MakeEpilogue>
__device__ __forceinline__ void
multiplyScattered(const CcnContext &c, Byte *memory, Byte *ownMemory,
                  const S &scatter, const ScatterOperand<typename S::T> &a,
                  const ScatterOperand<typename S::T> &b,
                  const MakeEpilogue &makeEpilogue) {
  using Tile = typename S::Tile;
  ScatterRing<Tile> ring = {{memory}};
  int own = scatter.group.position;
  int foreign = scatter.tilesBefore(own, own);
  int tiles = foreign + scatter.tiles(own);
  if (threadIdx.x == 0) {
    if (a.isMapped())
      prefetchMap(a.map);
    if (b.isMapped())
      prefetchMap(b.map);
    for (int user = 0; user < ring.users; ++user) {
      // Each warp arrives that has stored its rows.
      beginBarrier(ring.stored(user),
                   Tile::takeTurns ? 4 : 4 * Tile::consumers);
      beginBarrier(ring.told(user), 1);
    }
    beginRing<Tile>(ring);
  }
  __syncthreads();
  // All have as many registers as fit one block; who only copies needs few.
  if (threadIdx.x < 128) {
    if constexpr (Tile::consumers == 2)
      takeFewerRegisters<40>();
    if (threadIdx.x < 32)
      produceScattered(c, scatter, ring, a, b, tiles);
    else if (threadIdx.x / 32 == 1)
      tellOwners(c, scatter, ring, foreign);
  } else {
    if constexpr (Tile::consumers == 2)
      takeMoreRegisters<232>();
    consumeScattered<kind>(c, scatter, ring, ownMemory, makeEpilogue(), tiles);
  }
}
