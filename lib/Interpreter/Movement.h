//===- Movement.h - Kernels that move elements ------------------*- C++ -*-===//
//
// Operations on host tensors that move elements without computing (except for
// the sums in scatterRows). The program's operations use them, and collectives,
// to cut and join slices. They accept any element type and keep it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_MOVEMENT_H
#define CCN_INTERPRETER_MOVEMENT_H

#include "runtime/tensor/HostTensor.h"

namespace ccn::interp {

using runtime::HostTensor;
using runtime::Shape;

/// Dimension i of the result is dimension permutation[i] of `x`.
Result<HostTensor> transpose(const HostTensor &x,
                             const std::vector<int64_t> &permutation);

/// The same row-major elements in another shape; copies nothing.
Result<HostTensor> reshape(const HostTensor &x, const Shape &shape);

/// Indices [begin, end) of dimension `dim`; 0 <= begin <= end <= size.
Result<HostTensor> extract(const HostTensor &x, int64_t dim, int64_t begin,
                           int64_t end);

/// Joins one or more tensors along `dim`; their other sizes must be equal.
/// Pieces of size 0 are allowed.
Result<HostTensor> concat(int64_t dim, const std::vector<HostTensor> &pieces);

/// Broadcasts `x` to `shape`, aligned at the right: missing dimensions and
/// dimensions of size 1 are repeated.
Result<HostTensor> broadcastTo(const HostTensor &x, const Shape &shape);

/// A box of a tensor: one offset and one size for each dimension.
struct Box {
  Shape offsets;
  Shape sizes;
};

/// A tensor with the elements of the box and the box's sizes.
Result<HostTensor> extractBox(const HostTensor &x, const Box &box);

/// `x` with the box that starts at `offsets` and has the shape of `piece`
/// replaced by `piece`.
Result<HostTensor> insertBox(const HostTensor &x, const Shape &offsets,
                             const HostTensor &piece);

/// Writes `piece` into the box of `target` that starts at `offsets`, in place.
/// The caller must own the only copy of `target`. So a large tensor can be
/// assembled from many pieces without copying it each time.
Status writeBox(HostTensor &target, const Shape &offsets,
                const HostTensor &piece);

/// Row indices[i] of `table` [V, ...] becomes row i of the result
/// [size(indices), ...]. `indices` has rank 1 and an integer type; an index
/// outside 0 .. V-1 is an error that names the index and the range.
Result<HostTensor> gatherRows(const HostTensor &table,
                              const HostTensor &indices);

/// `x` [V, ...] with row i of `rows` [size(indices), ...] added to row
/// indices[i], for i in increasing order. f64 and f32 are added in f64,
/// narrower floats in f32, with one rounding at the end. Integers wrap; bool is
/// an error. Rows that no index names keep their bits. Indices are as in
/// gatherRows.
Result<HostTensor> scatterRows(const HostTensor &x, const HostTensor &indices,
                               const HostTensor &rows);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_MOVEMENT_H
