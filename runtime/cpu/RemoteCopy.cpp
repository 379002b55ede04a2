//===- RemoteCopy.cpp - Strided copies to and from other ranks ------------===//
//
// The dimensions are ordered by their strides in the other rank's memory. The
// inner dimensions that lie densely there form a piece; the outer ones are a
// loop over pieces.
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/RemoteCopy.h"

#include <algorithm>

namespace ccn::runtime {

namespace {

/// A copy as a loop over pieces.
class Pieces {
public:
  /// `remote` says which stride is that in the other rank's memory. A piece may
  /// extend there over at most `waste` times as many elements as it copies.
  Pieces(int elementSize, const CopyDims &dims, int64_t CopyDim::*remote,
         int64_t waste)
      : remote(remote), outer(mergeDims(dims)) {
    for (CopyDim &dim : outer) {
      if (dim.*remote >= 0)
        continue;
      outFirst += (dim.size - 1) * dim.outStride;
      inFirst += (dim.size - 1) * dim.inStride;
      dim.outStride = -dim.outStride;
      dim.inStride = -dim.inStride;
    }
    std::sort(outer.begin(), outer.end(),
              [&](const CopyDim &a, const CopyDim &b) {
                return a.*remote > b.*remote;
              });
    int64_t limit = RemoteCopy::pieceBytes / elementSize, copied = 1;
    while (!outer.empty() && (inner.empty() || chunk == inner.front().size)) {
      const CopyDim &dim = outer.back();
      int64_t stride = dim.*remote, size = dim.size;
      if (stride > 0)
        size = std::min(size, (limit - extent) / stride + 1);
      int64_t longer = extent + (size - 1) * stride;
      int64_t more = copied * (stride > 0 ? size : 1);
      if (size < 2 || longer > waste * more)
        break;
      rowExtent = extent;
      extent = longer;
      copied = more;
      chunk = size;
      inner.insert(inner.begin(), dim);
      outer.pop_back();
    }
  }

  /// The most elements over which a piece extends in the other rank's memory.
  int64_t largestExtent() const { return extent; }

  /// Calls body(outFirst, inFirst, dims, extent) for each piece; stops at the
  /// first failure.
  template <typename Body> Status forEach(Body body) const {
    Status status;
    CopyDims dims = inner;
    forEachIndex(outer, [&](int64_t out, int64_t in) {
      out += outFirst;
      in += inFirst;
      if (inner.empty()) {
        if (status)
          status = body(out, in, dims, extent);
        return;
      }
      const CopyDim &front = inner.front();
      for (int64_t i = 0; status && i < front.size; i += chunk) {
        int64_t n = std::min(chunk, front.size - i);
        dims.front().size = n;
        status = body(out + i * front.outStride, in + i * front.inStride, dims,
                      rowExtent + (n - 1) * front.*remote);
      }
    });
    return status;
  }

private:
  int64_t CopyDim::*remote;
  CopyDims outer, inner;
  /// How many indices of the outermost inner dimension one piece has.
  int64_t chunk = 1;
  /// The extent of a piece, and of one index of its outermost dimension, in
  /// elements of the other rank's memory.
  int64_t extent = 1, rowExtent = 1;
  /// Where index 0 is after negative remote strides have been made positive.
  int64_t outFirst = 0, inFirst = 0;
};

} // namespace

Status RemoteCopy::read(int elementSize, const CopyDims &dims, RemotePlace from,
                        std::byte *out) {
  if (isEmpty(dims))
    return Status();
  Pieces pieces(elementSize, dims, &CopyDim::inStride, 2);
  Result<std::byte *> scratch =
      viewed.get(pieces.largestExtent() * elementSize);
  if (!scratch)
    return scratch.status();
  return pieces.forEach([&](int64_t outFirst, int64_t inFirst,
                            const CopyDims &inner, int64_t extent) {
    const std::byte *in =
        memory.view(from.rank, from.offset + inFirst * elementSize,
                    extent * elementSize, *scratch);
    copyStrided(elementSize, inner, in, out + outFirst * elementSize);
    return Status();
  });
}

/// Puts pieces. gather(inner dimensions, inFirst, scratch) returns the elements
/// of a piece in the order of the other rank's memory.
template <typename Gather>
Status RemoteCopy::putPieces(int elementSize, const CopyDims &dims,
                             RemotePlace to, Gather gather) {
  if (isEmpty(dims))
    return Status();
  Pieces pieces(elementSize, dims, &CopyDim::outStride, 1);
  Result<std::byte *> scratch =
      staged.get(pieces.largestExtent() * elementSize);
  if (!scratch)
    return scratch.status();
  return pieces.forEach([&](int64_t outFirst, int64_t inFirst,
                            const CopyDims &inner, int64_t extent) {
    Result<const std::byte *> elements = gather(inner, inFirst, *scratch);
    if (!elements)
      return elements.status();
    memory.put(to.rank, to.offset + outFirst * elementSize, *elements,
               extent * elementSize);
    return Status();
  });
}

Status RemoteCopy::write(int elementSize, const CopyDims &dims,
                         const std::byte *in, RemotePlace to) {
  return putPieces(elementSize, dims, to,
                   [&](const CopyDims &inner, int64_t inFirst,
                       std::byte *scratch) -> Result<const std::byte *> {
                     const std::byte *first = in + inFirst * elementSize;
                     for (const CopyDim &dim : inner)
                       if (dim.inStride != dim.outStride) {
                         copyStrided(elementSize, inner, first, scratch);
                         return scratch;
                       }
                     return first;
                   });
}

Status RemoteCopy::relay(int elementSize, const CopyDims &dims,
                         RemotePlace from, RemotePlace to) {
  return putPieces(
      elementSize, dims, to,
      [&](const CopyDims &inner, int64_t inFirst,
          std::byte *scratch) -> Result<const std::byte *> {
        RemotePlace place = from;
        place.offset += inFirst * elementSize;
        if (Status status = read(elementSize, inner, place, scratch); !status)
          return status;
        return scratch;
      });
}

} // namespace ccn::runtime
