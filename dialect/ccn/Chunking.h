//===- Chunking.h - Which values are made in chunks -------------*- C++ -*-===//
//
// Overlapping runs operations chunk by chunk along a dimension. Which dimension
// of which value that is follows from the operations: those on one rank say it
// by the inference of their layouts, as if one more axis of the mesh cut them;
// collectives keep the dimension, as they only change where elements are.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_CHUNKING_H
#define CCN_DIALECT_CCN_CHUNKING_H

#include "dialect/ccn/Ccn.h"

namespace ccn {

/// The most chunks that a block is cut into.
inline constexpr int64_t maxChunks = 65536;

/// A value from outside, and the dimension along which it is taken in chunks.
struct ChunkSeed {
  mlir::Value value;
  unsigned dim = 0;
};

/// The part that operations make or take at a time.
struct Chunking {
  /// The chunked dimension of each value that is made or taken in chunks. All
  /// others are whole.
  llvm::DenseMap<mlir::Value, unsigned> dims;
  /// In a localized program, where the rank's part of each of these values
  /// begins in the chunked dimension. In a global one the layouts say that.
  llvm::DenseMap<mlir::Value, int64_t> offsets;
  /// The operations at the top that take no value in chunks: they make the same
  /// in every chunk.
  llvm::SmallVector<mlir::Operation *> whole;
  /// What it all follows from.
  ChunkSeed seed;
  /// The size of the chunked dimension, in elements of the global tensor.
  int64_t extent = 0;
};

/// Why operations cannot run in chunks.
struct NotChunkable {
  mlir::Operation *op;
  std::string why;
};

/// What `ops` (in order; of fused regions what is in them) take from outside:
/// all candidates for the chunks of the first operation that uses them.
llvm::SmallVector<ChunkSeed>
findChunkSeeds(llvm::ArrayRef<mlir::Operation *> ops);

/// Follows the chunks of `seed` through `ops`, in order, of a global program.
/// If they cannot be followed, says why.
std::optional<Chunking> inferChunking(llvm::ArrayRef<mlir::Operation *> ops,
                                      ChunkSeed seed, NotChunkable &why);

/// The chunking of a region that verifies.
Chunking getChunking(OverlappedOp op);

/// The ranges of the chunked dimension, in elements of the global tensor, that
/// each chunk consists of, some of them empty. With a ring, chunk
/// i * chunks + j is part j of the blocks at position i of its axis.
llvm::SmallVector<llvm::SmallVector<SliceBounds>>
getChunkRanges(OverlappedOp op);

/// The parts of `ranges` that lie in the `size` elements from `begin` on,
/// counted from there; none of them empty.
llvm::SmallVector<SliceBounds> clipRanges(llvm::ArrayRef<SliceBounds> ranges,
                                          int64_t begin, int64_t size);

/// The mesh axes that cut the chunked dimension of any value into blocks,
/// outermost first, in a global program.
llvm::SmallVector<mlir::StringAttr> findBlockAxes(const Chunking &chunking);
/// Those of a region that verifies: with a ring, its axis among them.
llvm::SmallVector<mlir::StringAttr> getBlockAxes(OverlappedOp op,
                                                 const Chunking &chunking);

} // namespace ccn

#endif // CCN_DIALECT_CCN_CHUNKING_H
