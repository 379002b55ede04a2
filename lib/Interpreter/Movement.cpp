//===- Movement.cpp - Kernels that move elements --------------------------===//
//
// All but the row kernels come down to one loop that copies a box of elements
// between two layouts given by strides.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Movement.h"

#include "lib/Interpreter/Blocks.h"

#include <cstring>
#include <numeric>
#include <span>

namespace ccn::interp {

namespace {

/// One dimension of a strided copy; strides in elements.
struct CopyDim {
  int64_t size, outStride, inStride;
};

/// Copies the elements of a box from `in` to `out`. The box is not empty.
template <typename Bits>
void copyStrided(Bits *out, const Bits *in, std::vector<CopyDim> dims) {
  // Neighbouring dimensions that are contiguous in each other on both sides act
  // as one; this makes the inner loop long.
  std::vector<CopyDim> merged;
  for (const CopyDim &dim : dims) {
    if (dim.size == 1)
      continue;
    if (!merged.empty() &&
        merged.back().outStride == dim.size * dim.outStride &&
        merged.back().inStride == dim.size * dim.inStride)
      merged.back() = {merged.back().size * dim.size, dim.outStride,
                       dim.inStride};
    else
      merged.push_back(dim);
  }
  if (merged.empty())
    merged.push_back({1, 1, 1});
  const CopyDim inner = merged.back();
  merged.pop_back();
  std::vector<int64_t> index(merged.size());
  int64_t outFirst = 0, inFirst = 0;
  for (;;) {
    if (inner.outStride == 1 && inner.inStride == 1)
      std::memcpy(out + outFirst, in + inFirst,
                  static_cast<size_t>(inner.size) * sizeof(Bits));
    else
      for (int64_t i = 0; i < inner.size; ++i)
        out[outFirst + i * inner.outStride] = in[inFirst + i * inner.inStride];
    size_t dim = merged.size();
    for (;;) {
      if (dim-- == 0)
        return;
      outFirst += merged[dim].outStride;
      inFirst += merged[dim].inStride;
      if (++index[dim] < merged[dim].size)
        break;
      index[dim] = 0;
      outFirst -= merged[dim].size * merged[dim].outStride;
      inFirst -= merged[dim].size * merged[dim].inStride;
    }
  }
}

/// A new tensor whose element at an index is the element of `x` at the dot
/// product of the index and `inStrides`, plus `inFirst`.
Result<HostTensor> gatherStrided(const HostTensor &x, Shape shape,
                                 const Shape &inStrides, int64_t inFirst) {
  Result<HostTensor> result = HostTensor::uninitialized(x.type(), shape);
  if (!result || result->count() == 0)
    return result;
  Shape outStrides = rowMajorStrides(shape);
  std::vector<CopyDim> dims;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    dims.push_back({shape[dim], outStrides[dim], inStrides[dim]});
  withBits(x.type(), [&](auto zero) {
    using Bits = decltype(zero);
    copyStrided(result->mutableDataAs<Bits>(), x.dataAs<Bits>() + inFirst,
                dims);
  });
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

/// The values of `indices`, checked to be in 0 .. rows-1.
Result<std::vector<int64_t>> checkIndices(const HostTensor &indices,
                                          int64_t rows) {
  if (indices.rank() != 1 || !isInteger(indices.type()))
    return error("row indices must be integers of rank 1, found ",
                 indices.describe());
  std::vector<int64_t> values(static_cast<size_t>(indices.count()));
  load(indices.type(), indices.data(), 0, indices.count(), values.data());
  for (size_t i = 0; i < values.size(); ++i)
    // A u64 too large for int64_t has become negative.
    if (values[i] < 0 || values[i] >= rows)
      return error("row index ", indices.textAt(static_cast<int64_t>(i)),
                   " at position ", i, " is out of range: there are ", rows,
                   rows == 1 ? " row" : " rows");
  return values;
}

/// Adds rows to the one row of `x` that is their target, in the order of the
/// (target, row) pairs.
template <typename T>
void addRows(const HostTensor &x, const HostTensor &rows, std::byte *out,
             int64_t width,
             std::span<const std::pair<int64_t, int64_t>> pairs) {
  T sums[blockSize], values[blockSize];
  int64_t targetFirst = pairs.front().first * width;
  forEachBlock(width, [&](int64_t first, int64_t n) {
    load(x.type(), x.data(), targetFirst + first, n, sums);
    for (auto [target, row] : pairs) {
      load(x.type(), rows.data(), row * width + first, n, values);
      for (int64_t i = 0; i < n; ++i)
        sums[i] = addWrapping(sums[i], values[i]);
    }
    store(x.type(), out, targetFirst + first, n, sums);
  });
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
  withBits(target.type(), [&](auto zero) {
    using Bits = decltype(zero);
    copyStrided(target.mutableDataAs<Bits>() + dot(offsets, outStrides),
                piece.dataAs<Bits>(), dims);
  });
  return Status();
}

Result<HostTensor> gatherRows(const HostTensor &table,
                              const HostTensor &indices) {
  if (table.rank() == 0)
    return error("a table must have at least rank 1, found ", table.describe());
  Result<std::vector<int64_t>> rows = checkIndices(indices, table.size(0));
  if (!rows)
    return rows.status();
  Shape shape = rowShape(table);
  shape.insert(shape.begin(), indices.size(0));
  Result<HostTensor> result = HostTensor::uninitialized(table.type(), shape);
  if (!result || result->count() == 0)
    return result;
  int64_t rowBytes = result->byteCount() / indices.size(0);
  std::byte *out = result->mutableData();
  for (int64_t row : *rows) {
    std::memcpy(out, table.data() + row * rowBytes,
                static_cast<size_t>(rowBytes));
    out += rowBytes;
  }
  return result;
}

Result<HostTensor> scatterRows(const HostTensor &x, const HostTensor &indices,
                               const HostTensor &rows) {
  if (x.type() == ElementType::Bool)
    return error("rows of numbers can be added, found ", x.describe());
  if (x.rank() == 0)
    return error("a table must have at least rank 1, found ", x.describe());
  Result<std::vector<int64_t>> targets = checkIndices(indices, x.size(0));
  if (!targets)
    return targets.status();
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
  std::byte *out = result->mutableData();
  // (target, row): sorted, the rows of a target are side by side and in order.
  std::vector<std::pair<int64_t, int64_t>> order;
  for (size_t i = 0; i < targets->size(); ++i)
    order.emplace_back((*targets)[i], i);
  std::sort(order.begin(), order.end());
  withAccumulator(x.type(), [&](auto zero) {
    for (auto begin = order.begin(); begin != order.end();) {
      auto end = std::find_if(begin, order.end(), [&](const auto &entry) {
        return entry.first != begin->first;
      });
      addRows<decltype(zero)>(x, rows, out, width, {begin, end});
      begin = end;
    }
  });
  return result;
}

} // namespace ccn::interp
