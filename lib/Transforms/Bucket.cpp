//===- Bucket.cpp - Many collectives in few launches ----------------------===//
//
// Small collectives share a launch and large ones are cut, so that none waits
// long for another: tensor fusion (Sergeev and Del Balso, "Horovod", 2018) and
// partitioning (Peng et al., "ByteScheduler", SOSP 2019). Tensors are not
// copied into one buffer: the launch accesses all of them where they are.
//
//===----------------------------------------------------------------------===//

#include "lib/CostModel/CostModel.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/PrimitiveOps.h"
#include "lib/Transforms/Regions.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_BUCKET
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

RankedTensorType inputType(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(0).getType());
}

/// The dimension along which a collective can be cut into pieces: one that no
/// axis cuts before or after. None if there is none, or if the collective is of
/// another kind.
std::optional<unsigned> findCutDim(Operation *op) {
  if (!isa<AllReduceOp, ReduceOp, BroadcastOp, SendOp>(op))
    return std::nullopt;
  RankedTensorType type = inputType(op);
  Layout layout = Layout::of(type);
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (!layout.isSliced(dim) && type.getDimSize(dim) > 1)
      return dim;
  return std::nullopt;
}

/// Cuts a collective whose tensor is larger than `size` bytes.
OpSet cut(RewriterBase &rewriter, Operation *op, int64_t size) {
  std::optional<unsigned> dim = findCutDim(op);
  int64_t bytes = bytesOnRank(inputType(op), getMesh(op));
  if (!dim || bytes <= size)
    return {op};
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  int64_t extent = inputType(op).getDimSize(*dim);
  // A piece has as many whole rows as fit, at least one; all pieces have about
  // the same size.
  int64_t most = std::max<int64_t>(1, size / (bytes / extent));
  int64_t rows = llvm::divideCeil(extent, llvm::divideCeil(extent, most));
  OpSet pieces;
  SmallVector<Value> results;
  for (int64_t begin = 0; begin < extent; begin += rows) {
    int64_t end = std::min(extent, begin + rows);
    Value part = ExtractOp::create(rewriter, op->getLoc(), op->getOperand(0),
                                   *dim, begin, end);
    IRMapping map;
    map.map(op->getOperand(0), part);
    Operation *piece = rewriter.clone(*op, map);
    auto before = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> shape(before.getShape());
    shape[*dim] = end - begin;
    piece->getResult(0).setType(before.clone(shape));
    pieces.push_back(piece);
    results.push_back(piece->getResult(0));
  }
  auto whole = ConcatOp::create(rewriter, op->getLoc(), results, *dim);
  copyNames(op, whole);
  rewriter.replaceAllUsesWith(op->getResult(0), whole);
  rewriter.eraseOp(op);
  return pieces;
}

/// Gives a bucket the priority of its most urgent collective.
void takePriority(Operation *bucket, ArrayRef<Operation *> ops) {
  IntegerAttr first;
  for (Operation *op : ops)
    if (auto priority = dyn_cast_or_null<IntegerAttr>(op->removeDiscardableAttr(
            StringAttr::get(op->getContext(), kPriorityAttr))))
      if (!first || priority.getInt() < first.getInt())
        first = priority;
  if (first)
    bucket->setAttr(kPriorityAttr, first);
}

/// The operations that depend on any of `ops`.
llvm::DenseSet<Operation *> findDependents(ArrayRef<Operation *> ops) {
  Block *block = ops.front()->getBlock();
  llvm::DenseSet<Operation *> dependents;
  for (Operation &op : *block)
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *definer = operand.getDefiningOp();
        definer = definer ? block->findAncestorOpInBlock(*definer) : nullptr;
        if (definer && definer != &op &&
            (llvm::is_contained(ops, definer) || dependents.contains(definer)))
          dependents.insert(&op);
      }
    });
  return dependents;
}

} // namespace

FailureOr<OpSet> ccn::bucket(RewriterBase &rewriter, ArrayRef<OpSet> values,
                             int64_t size, EmitRefusal emit) {
  OpSet ops;
  for (const OpSet &value : values) {
    // bucket_c1
    Operation *op = findCommunicating(value);
    if (!op || !isa<CollectiveOpInterface>(op) ||
        !isa<ProgramOp>(op->getParentOp()))
      return refuse(emit, "bucket_c1",
                    "expected a value with one collective that is in no region",
                    value.empty() ? nullptr : value.back());
    if (llvm::is_contained(ops, op))
      continue;
    // bucket_c2
    if (!ops.empty() && (op->getName() != ops.front()->getName() ||
                         op->getPropertiesAsAttribute() !=
                             ops.front()->getPropertiesAsAttribute() ||
                         inputType(op).getElementType() !=
                             inputType(ops.front()).getElementType()))
      return refuse(emit, "bucket_c2",
                    "expected collectives of one operation, with the same "
                    "attributes, element type and axes",
                    op);
    ops.push_back(op);
  }
  if (ops.empty())
    return refuse(emit, "bucket_c1", "expected a collective, found none",
                  nullptr);
  // Collectives that share a launch form a kernel.
  if (ops.size() > 1 && failed(checkInKernel(ops, emit)))
    return failure();
  forwardStores(cast<ProgramOp>(ops.front()->getParentOp()));
  // bucket_c3
  llvm::DenseSet<Operation *> dependents = findDependents(ops);
  for (Operation *op : ops)
    if (dependents.contains(op))
      return refuse(emit, "bucket_c3",
                    "expected collectives that are not made from each other",
                    op);

  OpSet buckets, current;
  int64_t filled = 0;
  auto close = [&] {
    if (current.size() == 1) {
      buckets.push_back(current.front());
    } else if (!current.empty()) {
      RegionBuilder region(current);
      [[maybe_unused]] Operation *back = region.findPathBack();
      assert(!back && "collectives that do not depend on each other");
      buckets.push_back(
          region.build(rewriter, [&](Location loc, TypeRange types) {
            return FusedOp::create(rewriter, loc, types, Skeleton::collectives);
          }));
      takePriority(buckets.back(), current);
    }
    current.clear();
    filled = 0;
  };
  for (Operation *op : ops)
    for (Operation *piece : cut(rewriter, op, size)) {
      int64_t bytes = bytesOnRank(inputType(piece), getMesh(piece));
      if (!current.empty() && bytes > size - filled)
        close();
      current.push_back(piece);
      filled += std::min(bytes, size);
    }
  close();
  return buckets;
}

namespace {

struct BucketPass : ccn::impl::BucketBase<BucketPass> {
  using BucketBase::BucketBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (size < 1) {
      program.emitError() << "expected a size of at least 1 byte, found "
                          << int64_t(size);
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    if (failed(bucket(rewriter, findAllByName(program, llvm::to_vector(values)),
                      size, [&] { return program.emitError(); })))
      signalPassFailure();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The line of a schedule
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
transform::ScheduleBucketOp::apply(transform::TransformRewriter &rewriter,
                                   transform::TransformResults &results,
                                   transform::TransformState &state) {
  Applied applied(*this, state);
  std::optional<int64_t> size = integerOf(state, getSize(), *this);
  if (!size)
    return DiagnosedSilenceableFailure::definiteFailure();
  if (*size < 1) {
    emitError() << "expected a size of at least 1 byte, found " << *size;
    return DiagnosedSilenceableFailure::definiteFailure();
  }
  FailureOr<OpSet> buckets = bucket(rewriter, payloads(state, getTargets()),
                                    *size, [&] { return emitError(); });
  if (failed(buckets))
    return DiagnosedSilenceableFailure::definiteFailure();
  results.set(cast<OpResult>(getBuckets()), *buckets);
  return applied.success();
}
