//===- OrderedSums.cpp - Reductions across ranks by a schedule ------------===//
//
// A schedule cuts the elements of a collective into chunks, and each chunk is
// added along a tree. All ranks have shown their parts, so each rank can follow
// the trees of its own results by itself.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/RankExecutor.h"

#include "runtime/tensor/Combine.h"

namespace ccn::interp {

namespace {

int64_t countOf(const std::vector<Box> &boxes) {
  int64_t count = 0;
  for (const Box &box : boxes) {
    int64_t elements = 1;
    for (int64_t size : box.sizes)
      elements *= size;
    count += elements;
  }
  return count;
}

/// The elements of the boxes, one box after the other, as a one-dimensional
/// tensor.
Result<HostTensor> flatten(const HostTensor &tensor,
                           const std::vector<Box> &boxes) {
  std::vector<HostTensor> pieces;
  for (const Box &box : boxes) {
    Result<HostTensor> piece = extractBox(tensor, box);
    if (!piece)
      return piece;
    Result<HostTensor> flat = reshape(*piece, {piece->count()});
    if (!flat)
      return flat;
    pieces.push_back(*std::move(flat));
  }
  return concat(0, pieces);
}

/// Computes the sums of one chunk.
class ChunkAdder {
public:
  ChunkAdder(Kernels &kernels, ReduceKind kind, ElementType type,
             const synth::ChunkSums &sums, std::vector<HostTensor> parts)
      : kernels(kernels), kind(kind), type(type),
        partial(runtime::partialType(kind, type)), sums(sums.sums),
        parts(std::move(parts)), done(this->sums.size()) {}

  /// The value of an operand of the sums, rounded to the element type.
  Result<HostTensor> round(int operand) {
    Result<HostTensor> wide = get(operand);
    return wide ? kernels.cast(partial, type, *wide) : wide;
  }

private:
  /// The same, in the type of partial sums.
  Result<HostTensor> get(int operand) {
    if (operand < 0)
      return kernels.cast(type, partial,
                          parts[static_cast<size_t>(-1 - operand)]);
    auto index = static_cast<size_t>(operand);
    if (done[index])
      return *done[index];
    Result<HostTensor> a = get(sums[index].first);
    if (!a)
      return a;
    Result<HostTensor> b = get(sums[index].second);
    if (!b)
      return b;
    Result<HostTensor> sum =
        kernels.combine(kind, partial, {*std::move(a), *std::move(b)});
    if (sum)
      done[index] = *sum;
    return sum;
  }

  Kernels &kernels;
  const ReduceKind kind;
  const ElementType type, partial;
  const std::vector<std::pair<int, int>> &sums;
  std::vector<HostTensor> parts;
  std::vector<std::optional<HostTensor>> done;
};

} // namespace

std::vector<Box> RankExecutor::boxesNow(CollectiveOpInterface op,
                                        int64_t which) {
  mlir::Value result = op->getResult(0);
  Box part = mesh.boxOf(op.getTargetType(), which);
  Box whole{Shape(part.sizes.size(), 0), part.sizes};
  if (!current)
    return {whole};
  auto [plan, chunk] = *current;
  auto it = plan->chunking.dims.find(result);
  if (it == plan->chunking.dims.end())
    return {whole};
  unsigned dim = it->second;
  // Where the part of rank `which` begins, in the coordinates of the chunking.
  int64_t begin = boxOf(result).offsets[dim] +
                  plan->chunking.offsets.lookup(result) + part.offsets[dim] -
                  mesh.boxOf(op.getTargetType(), rank).offsets[dim];
  std::vector<Box> boxes;
  for (SliceBounds range :
       clipRanges(plan->ranges[chunk], begin, part.sizes[dim])) {
    boxes.push_back(whole);
    boxes.back().offsets[dim] = range.offset;
    boxes.back().sizes[dim] = range.size;
  }
  return boxes;
}

RankExecutor::Tensor RankExecutor::combineBy(const SumSchedule &sums,
                                             CollectiveOpInterface op,
                                             ReduceKind kind,
                                             llvm::ArrayRef<HostTensor> pieces,
                                             int64_t position) {
  ElementType type = elementTypeOf(op.getSourceType().getElementType());
  Tensor result = kernels.zeros(type, pieces.front().shape());
  std::vector<Box> boxes = boxesNow(op, rank);
  int64_t count = countOf(boxes);
  if (!result || count == 0)
    return result;
  // A reduce_scatter has a block of chunks for each member, and all blocks are
  // as large as the largest on any rank; other collectives have one block.
  bool hasBlocks = op.getCollective() == Collective::reduce_scatter;
  auto perBlock = static_cast<int64_t>(sums.chunks.size());
  int64_t blockCount = count;
  if (hasBlocks) {
    perBlock /= static_cast<int64_t>(pieces.size());
    for (int64_t other = 0; other < mesh.numRanks(); ++other)
      blockCount = std::max(blockCount, countOf(boxesNow(op, other)));
  }
  std::vector<HostTensor> flat;
  for (const HostTensor &piece : pieces) {
    Tensor elements = flatten(piece, boxes);
    if (!elements)
      return elements;
    flat.push_back(*std::move(elements));
  }

  std::vector<HostTensor> done;
  for (int64_t within = 0; within < perBlock; ++within) {
    SliceBounds part = sliceBounds(blockCount, {perBlock}, {within});
    int64_t end = std::min(part.offset + part.size, count);
    if (part.offset >= end)
      continue;
    std::vector<HostTensor> parts;
    for (const HostTensor &elements : flat) {
      Tensor some = extract(elements, 0, part.offset, end);
      if (!some)
        return some;
      parts.push_back(*std::move(some));
    }
    auto chunk =
        static_cast<int>(within + (hasBlocks ? position * perBlock : 0));
    std::optional<int> operand = sums.resultAt(chunk, position);
    if (!operand)
      return error("internal error: the schedule does not bring chunk ", chunk,
                   " to member ", position);
    Tensor sum =
        ChunkAdder(kernels, kind, type, sums.chunks[static_cast<size_t>(chunk)],
                   std::move(parts))
            .round(*operand);
    if (!sum)
      return sum;
    done.push_back(*std::move(sum));
  }
  Tensor all = concat(0, done);
  if (!all)
    return all;
  int64_t first = 0;
  for (const Box &box : boxes) {
    int64_t size = countOf({box});
    Tensor some = extract(*all, 0, first, first + size);
    Tensor piece = some ? reshape(*some, box.sizes) : some;
    Status status =
        piece ? writeBox(*result, box.offsets, *piece) : piece.status();
    if (!status)
      return status;
    first += size;
  }
  return result;
}

} // namespace ccn::interp
