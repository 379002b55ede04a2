//===- KernelProducts.cpp - Matrix products, and collectives around them --===//
//
// A product alone is one part. In a kernel with the all_gather of its rows, the
// product starts with this rank's shard and uses each other shard when it
// arrives. In a kernel with the reduce_scatter of its result, it first makes
// the slices that other ranks wait for, and tells each owner. (Both as in Wang
// et al., "Overlap Communication with Dependent Computation via Decomposition
// in Large Deep Learning Models", ASPLOS 2023.)
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Kernel.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

void Kernel::addProduct(Strided a, Strided b, Strided c) {
  size_t rank = c.sizes.size();
  if (b.sizes.size() < rank) {
    // One product computes all batches, if their rows are contiguous.
    int64_t rows = countOf(ArrayRef<int64_t>(c.sizes).drop_back());
    std::optional<Strided> flatA = reshape(a, {rows, a.sizes.back()});
    std::optional<Strided> flatC = reshape(c, {rows, c.sizes.back()});
    if (flatA && flatC) {
      a = *flatA;
      c = *flatC;
    } else {
      Sizes sizes(ArrayRef<int64_t>(c.sizes).drop_back(2));
      llvm::append_range(sizes, b.sizes);
      b = broadcastTo(b, sizes);
    }
  }
  parts.matmul(a, b, c);
}

LogicalResult Kernel::lowerMatmul(MatmulOp op) {
  Value result = op.getResult();
  auto gather = op.getLhs().getDefiningOp<CommunicateOp>();
  if (gather && productFlags.contains(gather))
    return lowerGatheredProduct(op, gather);
  if (CommunicateOp scatter = findScatter(op))
    return lowerScatteredProduct(op, scatter);
  for (size_t i = 0; i < countPieces(result); ++i) {
    FailureOr<Strided> a = store(op.getLhsMutable(), i),
                       b = store(op.getRhsMutable(), i);
    if (failed(a) || failed(b))
      return failure();
    Strided c = pieceOf(planner.homeOf(result), result, i);
    addView(result, c);
    addProduct(*a, *b, c);
  }
  return success();
}

/// The only use of a value, if it is by an operation among `ops`.
template <typename Op>
static Op onlyUser(Value value, const llvm::SetVector<Operation *> &ops) {
  if (!value.hasOneUse() || !ops.contains(*value.user_begin()))
    return {};
  return dyn_cast<Op>(*value.user_begin());
}

//===----------------------------------------------------------------------===//
// all_gather, then a product
//===----------------------------------------------------------------------===//

bool Kernel::isGatheredByProduct(CommunicateOp op) {
  auto product = onlyUser<MatmulOp>(op.getResult(), ops);
  if (op.getCollective() != Collective::all_gather || chunk || !product ||
      product.getLhs() != op.getResult() ||
      isLarge(planner.groupOf(op.getAxes())))
    return false;
  // The shards are rows, or whole matrices if one matrix multiplies them all.
  Layout from = Layout::of(op.getSourceType()),
         to = Layout::of(op.getTargetType());
  unsigned rank = from.getRank();
  bool sharesB = Planner::shapeOf(product.getRhs()).size() == 2;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (from.getAxes(dim) != to.getAxes(dim) &&
        (dim + 1 == rank || (dim + 2 < rank && !sharesB)))
      return false;
  return true;
}

LogicalResult Kernel::lowerGatheredProduct(MatmulOp op, CommunicateOp gather) {
  Geometry geometry = geometryOf(gather);
  FailureOr<Strided> b = store(op.getRhsMutable(), 0);
  if (failed(b))
    return failure();
  Strided c = planner.homeOf(op.getResult());
  addView(op.getResult(), c);
  accessOthers(geometry.group);
  ArrayRef<int64_t> group = geometry.group.getRanks();
  Strided own = staged[gather].view;
  for (size_t step = 0; step < group.size(); ++step) {
    size_t member =
        (static_cast<size_t>(geometry.position) + step) % group.size();
    int64_t rank = group[member];
    const TensorPart &part = planner.partOf(geometry.from, rank);
    if (!hasElements(part))
      continue;
    Strided a = Strided::whole(own.buffer, boxSizes(part));
    if (rank != planner.getRank()) {
      parts.await(rank, productFlags[gather] + static_cast<int64_t>(member));
      a.rank = rank;
    }
    // The shard's rows give the result's rows with the same indices.
    Sizes offsets(c.sizes.size()), sizes = a.sizes;
    for (size_t dim = 0; dim + 1 < offsets.size(); ++dim)
      offsets[dim] = part[dim].offset - geometry.ownTo[dim].offset;
    sizes.back() = c.sizes.back();
    addProduct(a, *b, subBox(c, offsets, sizes));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// A product, then reduce_scatter
//===----------------------------------------------------------------------===//

CommunicateOp Kernel::findScatter(MatmulOp op) {
  auto scatter = onlyUser<CommunicateOp>(op.getResult(), ops);
  if (!scatter || chunk || exchangeOf(scatter) ||
      scatter.getCollective() != Collective::reduce_scatter ||
      isLarge(planner.groupOf(scatter.getAxes())))
    return {};
  return scatter;
}

LogicalResult Kernel::lowerScatteredProduct(MatmulOp op,
                                            CommunicateOp scatter) {
  Geometry geometry = geometryOf(scatter);
  FailureOr<Strided> a = store(op.getLhsMutable(), 0),
                     b = store(op.getRhsMutable(), 0);
  if (failed(a) || failed(b))
    return failure();
  Strided c = planner.homeOf(op.getResult());
  addView(op.getResult(), c);
  ArrayRef<int64_t> group = geometry.group.getRanks();
  int64_t flags = planner.takeFlags(static_cast<int64_t>(group.size()));
  productFlags[scatter] = flags;
  size_t dims = c.sizes.size();
  // This rank's part comes last, since no other rank waits for it.
  for (size_t step = 1; step <= group.size(); ++step) {
    int64_t rank =
        group[(static_cast<size_t>(geometry.position) + step) % group.size()];
    const TensorPart &box = planner.partOf(geometry.to, rank);
    if (!hasElements(box))
      continue;
    Sizes offsets, sizes = boxSizes(box);
    for (size_t dim = 0; dim < dims; ++dim)
      offsets.push_back(box[dim].offset - geometry.ownFrom[dim].offset);
    // The result's rows and batches are those of a; its columns (and batches)
    // are those of b.
    Sizes offsetsA = offsets, sizesA = sizes;
    offsetsA.back() = 0;
    sizesA.back() = a->sizes.back();
    Sizes offsetsB(b->sizes.size()), sizesB = b->sizes;
    offsetsB.back() = offsets.back();
    sizesB.back() = sizes.back();
    if (b->sizes.size() == dims)
      for (size_t dim = 0; dim + 2 < dims; ++dim) {
        offsetsB[dim] = offsets[dim];
        sizesB[dim] = sizes[dim];
      }
    addProduct(subBox(*a, offsetsA, sizesA), subBox(*b, offsetsB, sizesB),
               subBox(c, offsets, sizes));
    if (rank != planner.getRank())
      parts.signal(rank, flags + geometry.position);
  }
  return success();
}
