//===- ExecuteChunks.cpp - Overlapped regions chunk by chunk --------------===//
//
// Executes the stages of an overlapped region once for each chunk, with all
// elements outside of the chunk spoiled. So the assembled results are right
// only if no stage needs elements of another chunk.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/RankExecutor.h"

namespace ccn::interp {

ChunkPlan::ChunkPlan(OverlappedOp op)
    : op(op), chunking(getChunking(op)), ranges(getChunkRanges(op)) {
  appendOrder(op.getBody().front(), ChunkPlans(), order);
}

llvm::SmallVector<SliceBounds>
RankExecutor::chunkOf(mlir::Value value, const ChunkPlan &plan, size_t chunk) {
  unsigned dim = plan.chunking.dims.lookup(value);
  Box box = boxOf(value);
  int64_t offset = box.offsets[dim] + plan.chunking.offsets.lookup(value);
  return clipRanges(plan.ranges[chunk], offset, box.sizes[dim]);
}

RankExecutor::Tensor
RankExecutor::spoilOutside(mlir::Type type, const HostTensor &x, int64_t dim,
                           llvm::ArrayRef<SliceBounds> ranges) {
  // A rank that has no part of the chunk keeps its values, as there is no row
  // to copy.
  if (ranges.empty())
    return x;
  std::vector<HostTensor> pieces;
  int64_t done = 0;
  auto add = [&](Tensor piece) {
    if (piece)
      pieces.push_back(*piece);
    return piece.status();
  };
  auto spoilTo = [&](int64_t end) {
    if (done == end)
      return Status();
    int64_t like = ranges.front().offset;
    Tensor row = extract(x, dim, like, like + 1);
    Shape shape = x.shape();
    shape[static_cast<size_t>(dim)] = end - done;
    return row ? add(kernels.spoiled(elementTypeOf(type), *row, shape))
               : row.status();
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

Status RankExecutor::spoil(mlir::Value value, const ChunkPlan &plan,
                           size_t chunk) {
  auto it = plan.chunking.dims.find(value);
  if (it == plan.chunking.dims.end())
    return Status();
  Tensor spoiled = spoilOutside(typeOf(value).getElementType(), get(value),
                                it->second, chunkOf(value, plan, chunk));
  if (!spoiled)
    return spoiled.status();
  set(value, *std::move(spoiled));
  return Status();
}

/// The values that a region yields.
static mlir::OperandRange yieldedBy(OverlappedOp op) {
  return op.getBody().front().getTerminator()->getOperands();
}

Status RankExecutor::startChunks(const ChunkPlan &plan) {
  OverlappedOp op = plan.op;
  taken.clear();
  joined.clear();
  for (auto [value, dim] : plan.chunking.dims)
    if (value.getParentBlock() == op->getBlock())
      taken.push_back({value, get(value)});
  for (mlir::Value value : yieldedBy(op)) {
    Tensor zeros = kernels.zeros(elementTypeOf(typeOf(value).getElementType()),
                                 boxOf(value).sizes);
    if (!zeros)
      return zeros.status();
    joined.push_back(*std::move(zeros));
  }
  return Status();
}

Status RankExecutor::beginChunk(const ChunkPlan &plan, size_t chunk) {
  for (auto &[value, tensor] : taken) {
    set(value, tensor);
    if (Status status = spoil(value, plan, chunk); !status)
      return status;
  }
  return Status();
}

Status RankExecutor::executeForChunk(mlir::Operation *op, const ChunkPlan &plan,
                                     size_t chunk) {
  current = {&plan, chunk};
  Status status = execute(op);
  current.reset();
  for (mlir::Value result : op->getResults())
    if (status)
      status = spoil(result, plan, chunk);
  return status;
}

Status RankExecutor::endChunk(const ChunkPlan &plan, size_t chunk) {
  for (auto [value, result] : llvm::zip_equal(yieldedBy(plan.op), joined)) {
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
  return Status();
}

void RankExecutor::finishChunks(const ChunkPlan &plan) {
  OverlappedOp op = plan.op;
  for (auto &[value, tensor] : taken)
    set(value, tensor);
  for (auto [value, result] : llvm::zip_equal(op.getResults(), joined))
    set(value, result);
  for (mlir::Operation *inner : plan.order)
    for (mlir::Value result : inner->getResults())
      drop(result);
  taken.clear();
  joined.clear();
}

Status RankExecutor::executeInChunks(const ChunkPlan &plan) {
  if (!inside) {
    if (Status status = startChunks(plan); !status)
      return status;
    inside.emplace();
  }
  for (auto &[chunk, operation] = *inside; chunk < plan.ranges.size();
       ++chunk, operation = 0) {
    if (operation == 0)
      if (Status status = beginChunk(plan, chunk); !status)
        return status;
    for (; operation < plan.order.size(); ++operation)
      if (Status status = executeForChunk(plan.order[operation], plan, chunk);
          !status)
        return status;
    if (Status status = endChunk(plan, chunk); !status)
      return status;
  }
  inside.reset();
  finishChunks(plan);
  return Status();
}

} // namespace ccn::interp
