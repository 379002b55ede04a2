//===- Movement.h - Kernels that move elements ------------------*- C++ -*-===//
//
// Operations on host tensors that move elements without computing (all but the
// sums in scatterRows), for the program's own operations and for cutting and
// joining slices in collectives. Any element type; the type stays.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_MOVEMENT_H
#define CCN_INTERPRETER_MOVEMENT_H

#include "runtime/tensor/HostTensor.h"

namespace ccn::interp {

using runtime::HostTensor;
using runtime::Shape;

/// Result dimension i is dimension permutation[i] of `x`.
Result<HostTensor> transpose(const HostTensor &x,
                             const std::vector<int64_t> &permutation);

/// The same row-major elements in another shape; copies nothing.
Result<HostTensor> reshape(const HostTensor &x, const Shape &shape);

/// Indices [begin, end) of dimension `dim`; 0 <= begin <= end <= size.
Result<HostTensor> extract(const HostTensor &x, int64_t dim, int64_t begin,
                           int64_t end);

/// Joins at least one tensor along `dim`; the other sizes agree. Pieces of size
/// 0 are allowed.
Result<HostTensor> concat(int64_t dim, const std::vector<HostTensor> &pieces);

/// Repeats `x` to `shape`, aligned at the right: missing dimensions and those
/// of size 1 expand.
Result<HostTensor> broadcastTo(const HostTensor &x, const Shape &shape);

/// A box of a tensor: one offset and one size for each dimension.
struct Box {
  Shape offsets;
  Shape sizes;
};

/// The elements in the box, in a tensor of the box's sizes.
Result<HostTensor> extractBox(const HostTensor &x, const Box &box);

/// `x` with the box that starts at `offsets` and has the shape of `piece`
/// replaced by `piece`.
Result<HostTensor> insertBox(const HostTensor &x, const Shape &offsets,
                             const HostTensor &piece);

/// Writes `piece` into the box of `target` that starts at `offsets`. `target`
/// has just been made by the caller and not been copied yet: this is how a
/// large tensor is put together from many pieces without copying it each time.
Status writeBox(HostTensor &target, const Shape &offsets,
                const HostTensor &piece);

/// Row indices[i] of `table` [V, ...] becomes row i of the result
/// [size(indices), ...]. `indices` has rank 1 and an integer type; an index
/// outside 0 .. V-1 is an error naming it and the range.
Result<HostTensor> gatherRows(const HostTensor &table,
                              const HostTensor &indices);

/// `x` [V, ...] with row i of `rows` [size(indices), ...] added to row
/// indices[i], for i in increasing order. f64 and f32 add in f64, narrower
/// floats in f32, with one rounding at the end; rows that no index names keep
/// their bits; integers wrap; bool is refused. Indices as in gatherRows.
Result<HostTensor> scatterRows(const HostTensor &x, const HostTensor &indices,
                               const HostTensor &rows);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_MOVEMENT_H
