//===- ExecuteChunks.cpp - Overlapped regions chunk by chunk --------------===//
//
// Executes the stages of an overlapped region once for each chunk, with
// everything outside of the chunk spoiled. What is put together from the chunks
// is right only if no stage needs elements of another chunk.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/RankExecutor.h"

namespace ccn::interp {

namespace {

/// The indices, on one rank, of the elements along the chunked dimension.
std::vector<SliceBounds> rangesOnRank(llvm::ArrayRef<SliceBounds> ranges,
                                      int64_t offset, int64_t size) {
  std::vector<SliceBounds> local;
  for (SliceBounds range : ranges) {
    int64_t begin = std::max(range.offset - offset, int64_t(0));
    int64_t end = std::min(range.offset + range.size - offset, size);
    if (begin < end)
      local.push_back({begin, end - begin});
  }
  return local;
}

/// Elements that none may use, in place of `size` rows of a tensor: NaN, or of
/// a type without, copies of row `like`, which cause no new failures.
Result<HostTensor> spoiledRows(const HostTensor &x, int64_t dim, int64_t size,
                               int64_t like) {
  Shape shape = x.shape();
  shape[static_cast<size_t>(dim)] = size;
  if (isFloat(x.type()))
    return HostTensor::splat(x.type(), shape,
                             std::numeric_limits<double>::quiet_NaN());
  Result<HostTensor> row = extract(x, dim, like, like + 1);
  return row ? broadcastTo(*row, shape) : row;
}

/// `x` with all rows outside of the ranges spoiled. A rank that has no part in
/// the chunk keeps what it has, as nothing says what may stand there.
Result<HostTensor> spoilOutside(const HostTensor &x, int64_t dim,
                                const std::vector<SliceBounds> &ranges) {
  if (ranges.empty())
    return x;
  std::vector<HostTensor> pieces;
  int64_t done = 0;
  auto add = [&](Result<HostTensor> piece) {
    if (piece)
      pieces.push_back(*piece);
    return piece.status();
  };
  auto spoilTo = [&](int64_t end) {
    if (done == end)
      return Status();
    return add(spoiledRows(x, dim, end - done, ranges.front().offset));
  };
  for (SliceBounds range : ranges) {
    if (Status status = spoilTo(range.offset); !status)
      return status;
    done = range.offset + range.size;
    if (Status status = add(extract(x, dim, range.offset, done)); !status)
      return status;
  }
  if (Status status = spoilTo(x.size(dim)); !status)
    return status;
  return concat(dim, pieces);
}

} // namespace

std::vector<SliceBounds>
RankExecutor::chunkOf(mlir::Value value, const ChunkPlan &plan, size_t chunk) {
  unsigned dim = plan.chunking.dims.lookup(value);
  Box box = boxOf(value);
  return rangesOnRank(plan.ranges[chunk], box.offsets[dim], box.sizes[dim]);
}

Status RankExecutor::spoil(mlir::Value value, const ChunkPlan &plan,
                           size_t chunk) {
  auto it = plan.chunking.dims.find(value);
  if (it == plan.chunking.dims.end())
    return Status();
  Tensor spoiled =
      spoilOutside(get(value), it->second, chunkOf(value, plan, chunk));
  if (!spoiled)
    return spoiled.status();
  set(value, *std::move(spoiled));
  return Status();
}

Status RankExecutor::executeInChunks(OverlappedOp op, const ChunkPlan &plan) {
  mlir::OperandRange yielded =
      op.getBody().front().getTerminator()->getOperands();
  std::vector<HostTensor> results;
  for (mlir::Value value : yielded) {
    Tensor result = HostTensor::zeros(
        elementTypeOf(typeOf(value).getElementType()), boxOf(value).sizes);
    if (!result)
      return result.status();
    results.push_back(*std::move(result));
  }
  // What is taken in chunks from outside is spoiled too, and then put back.
  llvm::SmallVector<std::pair<mlir::Value, HostTensor>> taken;
  for (auto [value, dim] : plan.chunking.dims)
    if (value.getParentBlock() == op->getBlock())
      taken.push_back({value, get(value)});
  for (size_t chunk = 0; chunk < plan.ranges.size(); ++chunk) {
    for (auto &[value, tensor] : taken) {
      set(value, tensor);
      if (Status status = spoil(value, plan, chunk); !status)
        return status;
    }
    for (mlir::Operation *inner : plan.order) {
      Status status = execute(inner);
      for (mlir::Value result : inner->getResults())
        if (status)
          status = spoil(result, plan, chunk);
      if (!status)
        return status;
    }
    for (auto [value, result] : llvm::zip_equal(yielded, results)) {
      unsigned dim = plan.chunking.dims.lookup(value);
      for (SliceBounds range : chunkOf(value, plan, chunk)) {
        Tensor piece =
            extract(get(value), dim, range.offset, range.offset + range.size);
        Shape offsets(result.shape().size(), 0);
        offsets[dim] = range.offset;
        Status status =
            piece ? writeBox(result, offsets, *piece) : piece.status();
        if (!status)
          return status;
      }
    }
  }
  for (auto &[value, tensor] : taken)
    set(value, tensor);
  for (auto [value, result] : llvm::zip_equal(op.getResults(), results))
    set(value, result);
  for (mlir::Operation *inner : plan.order)
    for (mlir::Value result : inner->getResults())
      drop(result);
  return Status();
}

} // namespace ccn::interp
