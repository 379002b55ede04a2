//===- RemoteCopy.cpp - Strided parts of others' memory -------------------===//
//
// The dimensions are ordered by their strides in the other's memory. The inner
// ones, as many as lie densely there, are one piece; the outer ones are a loop
// over pieces.
//
//===----------------------------------------------------------------------===//

#include "runtime/RemoteCopy.h"

#include <algorithm>

namespace ccn::runtime {

namespace {

/// A copy as a loop over pieces.
struct Pieces {
  CopyDims outer, inner;
  /// The elements from a piece's first to its last in the other's memory.
  int64_t extent = 1;
  /// Of index 0, relative to what was given: strides are made positive.
  int64_t outFirst = 0, inFirst = 0;
};

/// Cuts a copy into pieces of at most RemoteCopy::pieceBytes. `remote` is the
/// stride in the other's memory, `waste` how many times as many elements as are
/// copied a piece may extend over.
Pieces cutPieces(int elementSize, const CopyDims &dims,
                 int64_t CopyDim::*remote, int64_t waste) {
  Pieces pieces;
  CopyDims sorted = mergeDims(dims);
  for (CopyDim &dim : sorted) {
    if (dim.*remote >= 0)
      continue;
    pieces.outFirst += (dim.size - 1) * dim.outStride;
    pieces.inFirst += (dim.size - 1) * dim.inStride;
    dim.outStride = -dim.outStride;
    dim.inStride = -dim.inStride;
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const CopyDim &a, const CopyDim &b) {
                     return a.*remote > b.*remote;
                   });
  int64_t limit = RemoteCopy::pieceBytes / elementSize, count = 1;
  while (!sorted.empty()) {
    CopyDim &dim = sorted.back();
    int64_t stride = dim.*remote;
    // As much of the dimension as fits one piece.
    int64_t size = dim.size;
    if (stride > 0)
      size = std::min(size, (limit - pieces.extent) / stride + 1);
    int64_t extent = pieces.extent + (size - 1) * stride;
    int64_t copied = count * (stride > 0 ? size : 1);
    if (size < 2 || extent > waste * copied)
      break;
    pieces.inner.insert(pieces.inner.begin(),
                        {size, dim.outStride, dim.inStride});
    pieces.extent = extent;
    count = copied;
    if (size < dim.size) {
      // A loop over whole pieces here; what is left at the end is cut by who
      // goes through them.
      dim = {dim.size, dim.outStride, dim.inStride};
      break;
    }
    sorted.pop_back();
  }
  pieces.outer = std::move(sorted);
  return pieces;
}

} // namespace
