//===- Movement.cpp - Kernels that move elements --------------------------===//
//
// All functions except those for rows call the runtime's copy of a box of
// elements between two strided layouts.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Movement.h"

#include "runtime/tensor/RowTable.h"
#include "runtime/tensor/Strided.h"

#include <numeric>

namespace ccn::interp {

using runtime::CopyDim;
using runtime::copyStrided;
using runtime::describe;
using runtime::elementCount;
using runtime::ElementType;
using runtime::isInteger;
using runtime::rowMajorStrides;
using runtime::sizeInBytes;

namespace {

/// A new tensor of `shape`: its element at an index is element inFirst + (dot
/// product of the index and `inStrides`) of `x`.
Result<HostTensor> gatherStrided(const HostTensor &x, Shape shape,
                                 const Shape &inStrides, int64_t inFirst) {
  Result<HostTensor> result = HostTensor::uninitialized(x.type(), shape);
  if (!result || result->count() == 0)
    return result;
  Shape outStrides = rowMajorStrides(shape);
  std::vector<CopyDim> dims;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    dims.push_back({shape[dim], outStrides[dim], inStrides[dim]});
  int size = sizeInBytes(x.type());
  copyStrided(size, dims, x.data() + inFirst * size, result->mutableData());
  return result;
}

/// Whether the box lies inside a tensor of `shape`.
bool contains(const Shape &shape, const Shape &offsets, const Shape &sizes) {
  if (offsets.size() != shape.size() || sizes.size() != shape.size())
    return false;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (offsets[dim] < 0 || sizes[dim] < 0 || sizes[dim] > shape[dim] ||
        offsets[dim] > shape[dim] - sizes[dim])
      return false;
  return true;
}

std::string describeList(const Shape &list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? ", " : "") + std::to_string(list[i]);
  return text + ']';
}

Status outsideBox(const HostTensor &x, const Shape &offsets,
                  const Shape &sizes) {
  return error("a box of ", describeList(sizes), " at ", describeList(offsets),
               " does not lie inside ", x.describe());
}

int64_t dot(const Shape &a, const Shape &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), int64_t(0));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The shape of a row of `x`.
Shape rowShape(const HostTensor &x) {
  return Shape(x.shape().begin() + 1, x.shape().end());
}

Status checkIndices(const HostTensor &indices) {
  if (indices.rank() != 1 || !isInteger(indices.type()))
    return error("row indices must be integers of rank 1, found ",
                 indices.describe());
  return Status();
}

} // namespace

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

Result<HostTensor> transpose(const HostTensor &x,
                             const std::vector<int64_t> &permutation) {
  std::vector<bool> seen(x.shape().size());
  Shape strides = rowMajorStrides(x.shape()), shape, inStrides;
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= x.rank() || seen[static_cast<size_t>(dim)])
      break;
    seen[static_cast<size_t>(dim)] = true;
    shape.push_back(x.size(dim));
    inStrides.push_back(strides[static_cast<size_t>(dim)]);
  }
  if (shape.size() != x.shape().size() || permutation.size() != shape.size())
    return error("a permutation of the dimensions of ", x.describe(),
                 " was expected, found ", describeList(permutation));
  return gatherStrided(x, shape, inStrides, 0);
}

Result<HostTensor> reshape(const HostTensor &x, const Shape &shape) {
  return x.reshaped(shape);
}

Result<HostTensor> extract(const HostTensor &x, int64_t dim, int64_t begin,
                           int64_t end) {
  if (dim < 0 || dim >= x.rank())
    return error("there is no dimension ", dim, " in ", x.describe());
  if (begin < 0 || begin > end || end > x.size(dim))
    return error("indices ", begin, " to ", end, " of dimension ", dim,
                 " do not lie inside ", x.describe());
  Box box = {Shape(x.shape().size(), 0), x.shape()};
  box.offsets[static_cast<size_t>(dim)] = begin;
  box.sizes[static_cast<size_t>(dim)] = end - begin;
  return extractBox(x, box);
}

Result<HostTensor> concat(int64_t dim, const std::vector<HostTensor> &pieces) {
  if (pieces.empty())
    return error("there is nothing to concatenate");
  const HostTensor &head = pieces.front();
  if (dim < 0 || dim >= head.rank())
    return error("there is no dimension ", dim, " in ", head.describe());
  auto at = static_cast<size_t>(dim);
  Shape shape = head.shape();
  shape[at] = 0;
  for (const HostTensor &piece : pieces) {
    Shape expected = piece.shape();
    if (expected.size() == shape.size())
      expected[at] = shape[at];
    if (piece.type() != head.type() || expected != shape)
      return error("pieces must agree in type and in all sizes but that of "
                   "dimension ",
                   dim, ", found ", head.describe(), " and ", piece.describe());
    if (__builtin_add_overflow(shape[at], piece.size(dim), &shape[at]))
      return error("the size of the concatenation does not fit 64 bits");
  }
  Result<HostTensor> result = HostTensor::uninitialized(head.type(), shape);
  if (!result)
    return result;
  Shape offsets(shape.size(), 0);
  for (const HostTensor &piece : pieces) {
    if (Status status = writeBox(*result, offsets, piece); !status)
      return status;
    offsets[at] += piece.size(dim);
  }
  return result;
}

Result<HostTensor> broadcastTo(const HostTensor &x, const Shape &shape) {
  Shape strides = rowMajorStrides(x.shape());
  Shape inStrides(shape.size(), 0);
  bool fits = shape.size() >= x.shape().size();
  for (size_t i = 0; fits && i < x.shape().size(); ++i) {
    size_t dim = shape.size() - x.shape().size() + i;
    if (x.shape()[i] == shape[dim])
      inStrides[dim] = strides[i];
    else
      fits = x.shape()[i] == 1;
  }
  if (!fits)
    return error("cannot broadcast ", x.describe(), " to ",
                 describe(x.type(), shape),
                 ": aligned at the right, sizes must be equal or 1");
  return gatherStrided(x, shape, inStrides, 0);
}

Result<HostTensor> extractBox(const HostTensor &x, const Box &box) {
  if (!contains(x.shape(), box.offsets, box.sizes))
    return outsideBox(x, box.offsets, box.sizes);
  if (box.sizes == x.shape())
    return x;
  Shape strides = rowMajorStrides(x.shape());
  return gatherStrided(x, box.sizes, strides, dot(box.offsets, strides));
}

Result<HostTensor> insertBox(const HostTensor &x, const Shape &offsets,
                             const HostTensor &piece) {
  Result<HostTensor> result =
      HostTensor::fromBytes(x.type(), x.shape(), x.data(), x.byteCount());
  if (!result)
    return result;
  if (Status status = writeBox(*result, offsets, piece); !status)
    return status;
  return result;
}

Status writeBox(HostTensor &target, const Shape &offsets,
                const HostTensor &piece) {
  if (target.type() != piece.type())
    return error("cannot put ", piece.describe(), " into ", target.describe());
  if (!contains(target.shape(), offsets, piece.shape()))
    return outsideBox(target, offsets, piece.shape());
  if (piece.count() == 0)
    return Status();
  Shape outStrides = rowMajorStrides(target.shape());
  Shape inStrides = rowMajorStrides(piece.shape());
  std::vector<CopyDim> dims;
  for (size_t dim = 0; dim < offsets.size(); ++dim)
    dims.push_back({piece.shape()[dim], outStrides[dim], inStrides[dim]});
  int size = sizeInBytes(target.type());
  copyStrided(size, dims, piece.data(),
              target.mutableData() + dot(offsets, outStrides) * size);
  return Status();
}

Result<HostTensor> gatherRows(const HostTensor &table,
                              const HostTensor &indices) {
  if (table.rank() == 0)
    return error("a table must have at least rank 1, found ", table.describe());
  if (Status status = checkIndices(indices); !status)
    return status;
  Shape shape = rowShape(table);
  int64_t width = *elementCount(shape);
  shape.insert(shape.begin(), indices.size(0));
  Result<HostTensor> result = HostTensor::uninitialized(table.type(), shape);
  if (!result)
    return result;
  Status status = runtime::gatherRows(
      table.type(), {table.size(0), width, indices.size(0)}, table.data(),
      indices.type(), indices.data(), result->mutableData());
  return status ? result : status;
}

Result<HostTensor> scatterRows(const HostTensor &x, const HostTensor &indices,
                               const HostTensor &rows) {
  if (x.type() == ElementType::Bool)
    return error("rows of numbers can be added, found ", x.describe());
  if (x.rank() == 0)
    return error("a table must have at least rank 1, found ", x.describe());
  if (Status status = checkIndices(indices); !status)
    return status;
  Shape expected = rowShape(x);
  int64_t width = *elementCount(expected);
  expected.insert(expected.begin(), indices.size(0));
  if (rows.type() != x.type() || rows.shape() != expected)
    return error("the rows added to ", x.describe(), " must be ",
                 describe(x.type(), expected), ", found ", rows.describe());
  Result<HostTensor> result =
      HostTensor::fromBytes(x.type(), x.shape(), x.data(), x.byteCount());
  if (!result)
    return result;
  std::vector<std::pair<int64_t, int64_t>> order;
  Status status = runtime::addRows(
      x.type(), {x.size(0), width, indices.size(0)}, indices.type(),
      indices.data(), rows.data(), result->mutableData(), order);
  return status ? result : status;
}

} // namespace ccn::interp
