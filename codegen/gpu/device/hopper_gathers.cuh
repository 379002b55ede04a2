//===- hopper_gathers.cuh - Products of what ranks gather -----------------===//
//
// A product with roles for warps (hopper_products.cuh), of which one operand is
// gathered: its lines, rows of A or columns of B, are slices that the members
// of a group hold. Each rank multiplies its own slice first, from where that
// lies. Meanwhile three warps of each block, the movers, copy the other slices
// to the own memory, chunk by chunk in the order in which they are used, and
// set a flag for each chunk. Before a tile of such a slice, the producer's warp
// waits for the flags of its chunks.
//
//   multiplyGathered<Tile, ...>(c, memory, shape, a, b, own, gather, group,
//                               setSlices, makeEpilogue)
//
// No tile has lines of two slices. What a tile loads behind its slice may still
// be moved; no result follows from it.
//
// Flags are of epochs, as all flags: what ranks tell each other before and
// after is the same as in other kernels of the launch, which other ranks may
// run.
//
// Follows flags.cuh and hopper_products.cuh.
//
//===----------------------------------------------------------------------===//

/// The lines [begin, end) of the gathered operand, which a rank holds.
struct GatheredSlice {
  int begin, end;
  /// The numbers of its first tile and of its first chunk, of all.
  int firstTile, firstChunk;
  /// Where its first line is; the bytes from line to line or, if the operand is
  /// transposed, from one position k to the next.
  const Byte *from;
  i64 stride;
  /// The rank's flag says that it is there.
  int rank;
  u32 flag;
};

/// How slices are gathered.
struct Gathering {
  int slices;
  /// How many of these, at the beginning, are the own: 0 or 1.
  int own;
  /// How many lines are moved at once, and by how many bytes a line or, if the
  /// operand is transposed, a position k is away from the next.
  int chunkLines;
  Byte *to;
  i64 stride;
  /// The first flag of chunks, and those by which members tell that they begin
  /// and that they end. Signals are counted, too.
  u32 chunkFlags, beginFlags, endFlags;
  int signals;
};

/// In the shared memory of a block, behind what tiles take.
struct GatherTable {
  GatheredSlice slices[CCN_MAX_RANKS];
  int ranks[CCN_MAX_RANKS];
};

/// The tiles of a product, slice by slice.
template <class Tile, bool isOfA> struct GatheredTiles {
  WholeShape shape;
  const GatheredSlice *slices;
  int sliceCount;

  __device__ static int linesOfTile() { return isOfA ? Tile::m : Tile::n; }
  __device__ WholeShape shapeOf(const GatheredSlice &slice) const {
    WholeShape part = shape;
    (isOfA ? part.m : part.n) = slice.end - slice.begin;
    return part;
  }
  __device__ int count() const {
    const GatheredSlice &last = slices[sliceCount - 1];
    return last.firstTile + tilesOf<Tile>(shapeOf(last));
  }
  __device__ const GatheredSlice &sliceOf(int tile) const {
    int number = 0;
    while (number + 1 < sliceCount && slices[number + 1].firstTile <= tile)
      ++number;
    return slices[number];
  }
  __device__ TilePlace place(int tile, WholeShape &ofTile) const {
    const GatheredSlice &slice = sliceOf(tile);
    TilePlace at = placeOfTile<Tile>(shapeOf(slice), tile - slice.firstTile);
    (isOfA ? at.row : at.column) += slice.begin;
    (isOfA ? ofTile.m : ofTile.n) = slice.end;
    return at;
  }
};

/// The waits of a thread for flags, which end as those for barriers do
/// (RoleWaits).
class FlagWaits {
public:
  __device__ explicit FlagWaits(const CcnContext &c) : c(c) {}
  /// For an own flag, which `peer` sets.
  __device__ void wait(int peer, u32 flag, u32 block, u32 epoch) {
    const u32 *word = flagOf(c, c.rank, flag, block);
    Patience patience(c);
    for (u32 seen; !isLost && !ccnReached(seen = loadAcquire(word), epoch);)
      isLost = !patience.goesOn(peer, flag, epoch, seen);
  }

private:
  const CcnContext &c;
  bool isLost = false;
};

//===----------------------------------------------------------------------===//
// Movers
//===----------------------------------------------------------------------===//

/// The threads that move slices, after the producer's warp; the barrier among
/// them, and that of the movers and the consumers at the end.
constexpr int movers = 96;
enum : int { moversBarrier = 3, endBarrier = 4 };

/// Copies contiguous bytes, a multiple of 16; as many vectors are on the way at
/// once as hide it and as there are registers for.
__device__ __forceinline__ void copyVectors(const Byte *from, Byte *to,
                                            u32 bytes) {
  constexpr u32 atOnce = 6, step = movers * 16;
  u32 at = (threadIdx.x - 32) * 16;
#pragma unroll 1
  for (; at + (atOnce - 1) * step < bytes; at += atOnce * step) {
    uint4 got[atOnce];
#pragma unroll
    for (u32 i = 0; i < atOnce; ++i)
      got[i] = *reinterpret_cast<const uint4 *>(from + at + i * step);
#pragma unroll
    for (u32 i = 0; i < atOnce; ++i)
      *reinterpret_cast<uint4 *>(to + at + i * step) = got[i];
  }
#pragma unroll 1
  for (; at < bytes; at += step)
    *reinterpret_cast<uint4 *>(to + at) =
        *reinterpret_cast<const uint4 *>(from + at);
}
/// Copies `rows` rows of `count` elements.
template <class V>
__device__ __forceinline__ void copyStrided(const Byte *from, i64 fromStride,
                                            Byte *to, i64 toStride, u32 rows,
                                            u32 count) {
#pragma unroll 1
  for (u32 at = threadIdx.x - 32; at < rows * count; at += movers) {
    u32 row = at / count, inRow = at % count * u32(sizeof(V));
    *reinterpret_cast<V *>(to + row * toStride + inRow) =
        *reinterpret_cast<const V *>(from + row * fromStride + inRow);
  }
}

/// Moves `count` lines of a slice, from one on, all positions k of them.
template <class T, bool isTransposed>
__device__ __forceinline__ void moveLines(const GatheredSlice &slice,
                                          const Gathering &gather, int line,
                                          int count, int k) {
  int rows = isTransposed ? k : count, columns = isTransposed ? count : k;
  i64 fromLine = isTransposed ? i64(sizeof(T)) : slice.stride,
      toLine = isTransposed ? i64(sizeof(T)) : gather.stride;
  const Byte *from = slice.from + (line - slice.begin) * fromLine;
  Byte *to = gather.to + line * toLine;
  i64 bytes = i64(columns) * i64(sizeof(T));
  bool areVectors = isAligned(from, 16) && isAligned(to, 16) &&
                    ((slice.stride | gather.stride | bytes) & 15) == 0;
  // Rows are mostly one behind the other.
  if (areVectors && slice.stride == bytes && gather.stride == bytes)
    copyVectors(from, to, u32(rows * bytes));
  else if (areVectors)
    copyStrided<uint4>(from, slice.stride, to, gather.stride, u32(rows),
                       u32(bytes / 16));
  else
    copyStrided<T>(from, slice.stride, to, gather.stride, u32(rows),
                   u32(columns));
}

/// Tells the members, this rank's flag `flags` + its position being theirs.
template <int members>
__device__ inline void tellFrom(const CcnContext &c, const int *ranks,
                                int position, u32 flags, u32 block, u32 epoch) {
  int member = int(threadIdx.x) - 32;
  if (member < members && member != position)
    storeRelease(flagOf(c, ranks[member], flags + u32(position), block), epoch);
}

/// Moves the block's chunks of other ranks' slices and, if `keepsOwn`, of the
/// own one. If ranks meet in a barrier before, blocks tell each other; else a
/// signal is all blocks'.
template <class Tile, bool isOfA, bool meets, bool keepsOwn, int members>
__device__ inline void moveSlices(const CcnContext &c, const GatherTable &table,
                                  const Gathering &gather, int position, int k,
                                  u32 epoch) {
  FlagWaits waits(c);
  if (meets || (blockIdx.x == 0 && gather.signals > 0))
    tellFrom<members>(c, table.ranks, position, gather.beginFlags,
                      meets ? blockIdx.x : 0, epoch);
  // As many as all blocks are, for kernels in which each block tells.
  if (!meets && blockIdx.x == 0 && int(threadIdx.x) - 32 < gather.signals)
    atomicAdd(&c.control->signals[threadIdx.x - 32], gridDim.x);
  int chunk = int(blockIdx.x);
  // The own slice is moved last.
  int count = gather.slices - (keepsOwn ? 0 : gather.own);
  for (int i = 0; i < count; ++i) {
    int number = i + gather.own;
    const GatheredSlice &slice =
        table.slices[number < gather.slices ? number : 0];
    bool isOwn = slice.rank == c.rank;
    int last =
        slice.firstChunk + (slice.end - slice.begin - 1) / gather.chunkLines;
    if (chunk > last)
      continue;
    if (!isOwn) {
      if (threadIdx.x == 32)
        waits.wait(slice.rank, slice.flag, meets ? blockIdx.x : 0, epoch);
      syncThreads(moversBarrier, movers);
    }
    for (; chunk <= last; chunk += int(gridDim.x)) {
      int line = slice.begin + (chunk - slice.firstChunk) * gather.chunkLines;
      int rest = slice.end - line;
      moveLines<typename Tile::T,
                isOfA ? Tile::isATransposed : Tile::isBTransposed>(
          slice, gather, line,
          rest < gather.chunkLines ? rest : gather.chunkLines, k);
      syncThreads(moversBarrier, movers);
      if (threadIdx.x == 32)
        storeRelease(flagOf(c, c.rank, gather.chunkFlags, u32(chunk)), epoch);
    }
  }
}

/// The barrier of ranks at the end, when all that the block does is done.
template <class Tile, int members>
__device__ inline void endGathered(const CcnContext &c,
                                   const GatherTable &table, u32 flags,
                                   int position, u32 epoch) {
  syncThreads(endBarrier, movers + 128 * Tile::consumers);
  tellFrom<members>(c, table.ranks, position, flags, blockIdx.x, epoch);
  int member = int(threadIdx.x) - 32;
  if (member < members && member != position)
    FlagWaits(c).wait(table.ranks[member], flags + u32(member), blockIdx.x,
                      epoch);
  if (member == 0)
    atomicAdd(&c.control->epochs[blockIdx.x], u64(1));
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Fills the stages with what the block's tiles need, as soon as it is there;
/// called by a warp, of which one thread copies.
template <class Tile, bool isOfA>
__device__ inline void
produceGathered(const CcnContext &c, const GatheredTiles<Tile, isOfA> &all,
                ProductRing<Tile> ring, const Gathering &gather, u32 epoch,
                const void *a, const void *b, const void *own) {
  RoleWaits waits(c);
  FlagWaits flags(c);
  RingPlace<Tile::stages> place;
  int tiles = all.count();
  // All chunks before this one are there.
  int arrived = 0;
  for (int tile = int(blockIdx.x); tile < tiles; tile += int(gridDim.x)) {
    const GatheredSlice &slice = all.sliceOf(tile);
    WholeShape shape = all.shape;
    TilePlace at = all.place(tile, shape);
    int line = isOfA ? at.row : at.column;
    TileOperand gathered = {isOfA ? a : b, line, 0};
    if (slice.rank == c.rank) {
      gathered = {own, line - slice.begin, 0};
    } else {
      int inSlice = line - slice.begin, size = slice.end - slice.begin,
          last = inSlice + all.linesOfTile() - 1;
      last = last < size ? last : size - 1;
      int first = slice.firstChunk + inSlice / gather.chunkLines,
          end = slice.firstChunk + last / gather.chunkLines + 1;
      if (end > arrived) {
        for (int i = first + int(threadIdx.x); i < end; i += 32)
          flags.wait(slice.rank, gather.chunkFlags, u32(i), epoch);
        __syncwarp();
        fenceAllForCopies();
        arrived = first <= arrived ? end : arrived;
      }
    }
    if (threadIdx.x == 0)
      produceTile<Tile>(waits, ring, place, shape.k,
                        isOfA ? gathered : TileOperand{a, at.row, 0},
                        isOfA ? TileOperand{b, at.column, 0} : gathered);
    __syncwarp();
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// `a` and `b` are maps of the operands, of which one is what is gathered, and
/// `own` that of the own slice. setSlices(slices) writes the slices, of the own
/// rank, then of the next, and so on. Called by all threads of all blocks of
/// all ranks, at once.
template <class Tile, bool isOfA, bool meets, bool keepsOwn, int members,
          class SetSlices, class MakeEpilogue>
__device__ __forceinline__ void
multiplyGathered(const CcnContext &c, Byte *memory, WholeShape shape,
                 const void *a, const void *b, const void *own,
                 const Gathering &gather, const Group<members> &group,
                 const SetSlices &setSlices, const MakeEpilogue &makeEpilogue) {
  ProductRing<Tile> ring = {memory};
  GatherTable &table = *reinterpret_cast<GatherTable *>(
      memory + Tile::barriersAt + 16 * Tile::stages);
  if (threadIdx.x == 0) {
    prefetchMap(a);
    prefetchMap(b);
    setSlices(table.slices);
    unrolled<0, members>(
        [&](auto i) { table.ranks[i.value] = group.ranks[i.value]; });
    beginRing(ring);
  }
  __syncthreads();
  GatheredTiles<Tile, isOfA> tiles = {shape, table.slices, gather.slices};
  // Movers have as many values on the way as these registers hold.
  if (threadIdx.x < 128) {
    if constexpr (Tile::consumers == 2)
      takeFewerRegisters<56>();
    u32 epoch = u32(beginRun(c));
    if (threadIdx.x < 32) {
      produceGathered<Tile, isOfA>(c, tiles, ring, gather, epoch, a, b, own);
    } else {
      moveSlices<Tile, isOfA, meets, keepsOwn, members>(
          c, table, gather, group.position, shape.k, epoch);
      endGathered<Tile, members>(c, table, gather.endFlags, group.position,
                                 epoch);
    }
  } else {
    if constexpr (Tile::consumers == 2)
      takeMoreRegisters<224>();
    consumeTiles<Tile>(c, tiles, ring, makeEpilogue());
    arriveThreads(endBarrier, movers + 128 * Tile::consumers);
  }
}
