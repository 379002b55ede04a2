//===- RegionOps.cpp - Groups of operations that run as one ---------------===//
//
// Constraints of fused regions, and which kernel a set of operations can
// become.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Ccn.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ccn;

namespace {

/// How many operations of each kind a set holds.
struct Census {
  unsigned computations = 0; // elementwise, movement and reductions on one rank
  unsigned matmuls = 0;
  unsigned reducing = 0; // all_reduce, reduce_scatter
  unsigned gathers = 0;  // all_gather
  unsigned moves = 0;    // send, all_to_all
  unsigned others = 0;   // rooted collectives
  unsigned slices = 0;
  bool oneKind = true; // all collectives are one operation
};

Census count(ArrayRef<Operation *> ops) {
  Census census;
  std::optional<Collective> first;
  for (Operation *op : ops) {
    if (isa<ConstantOp>(op))
      continue;
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (collective && !collective.communicates()) {
      ++census.slices;
      continue;
    }
    if (!collective) {
      isa<MatmulOp, Conv2dOp>(op) ? ++census.matmuls : ++census.computations;
      continue;
    }
    Collective what = collective.getCollective();
    if (!first)
      first = what;
    census.oneKind &= *first == what;
    switch (what) {
    case Collective::all_reduce:
    case Collective::reduce_scatter:
      ++census.reducing;
      break;
    case Collective::all_gather:
      ++census.gathers;
      break;
    case Collective::send:
    case Collective::all_to_all:
      ++census.moves;
      break;
    default:
      ++census.others;
      break;
    }
  }
  return census;
}

/// The operations of a set from which a value follows.
llvm::SetVector<Operation *> sourcesOf(Value value, ArrayRef<Operation *> ops) {
  llvm::DenseSet<Operation *> set(ops.begin(), ops.end());
  llvm::SetVector<Operation *> found;
  auto add = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    if (op && set.contains(op))
      found.insert(op);
  };
  add(value);
  // The loop adds operations to the set over which it runs.
  for (size_t i = 0; i < found.size(); ++i)
    llvm::for_each(found[i]->getOperands(), add);
  return found;
}

/// Whether one of two products multiplies a softmax of the other one's result:
/// its largest elements and sums are found on the way.
bool isAttention(ArrayRef<Operation *> ops) {
  auto weighs = [&](MatmulOp product) {
    llvm::SetVector<Operation *> left = sourcesOf(product.getLhs(), ops),
                                 right = sourcesOf(product.getRhs(), ops);
    auto reduces = [&](ReductionKind kind) {
      return llvm::any_of(left, [&](Operation *op) {
        auto reduction = dyn_cast<ReductionOp>(op);
        return reduction && reduction.getKind() == kind;
      });
    };
    return llvm::any_of(left, llvm::IsaPred<MatmulOp>) &&
           llvm::none_of(right, llvm::IsaPred<MatmulOp>) &&
           reduces(ReductionKind::max) && reduces(ReductionKind::sum);
  };
  return llvm::any_of(ops, [&](Operation *op) {
    auto product = dyn_cast<MatmulOp>(op);
    return product && weighs(product);
  });
}

} // namespace

bool ccn::isEffectFree(Operation *op) {
  if (isa<CommunicateOp>(op))
    return true;
  if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return isMemoryEffectFree(op);
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      if (!isEffectFree(&inner))
        return false;
  return true;
}

std::optional<Skeleton> ccn::findSkeleton(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (op->getNumRegions() != 0 || !isEffectFree(op))
      return std::nullopt;
  Census c = count(ops);
  unsigned collectives = c.reducing + c.gathers + c.moves + c.others;
  unsigned computations = c.computations + c.slices;
  if (collectives == 0 && c.matmuls == 0)
    return computations ? std::optional(Skeleton::elementwise) : std::nullopt;
  if (collectives > 1 && computations == 0 && c.matmuls == 0 && c.oneKind)
    return Skeleton::collectives;
  if (c.others)
    return std::nullopt;
  if (c.matmuls == 1)
    return Skeleton::matmul_collective;
  if (c.matmuls == 2 && collectives == 0 && isAttention(ops))
    return Skeleton::attention;
  if (c.matmuls)
    return std::nullopt;
  if (c.moves == 1 && c.reducing == 0 && c.gathers == 0 && computations)
    return Skeleton::compute_move;
  if (c.moves == 0 && c.reducing + c.gathers > 0)
    return Skeleton::collective_compute;
  return std::nullopt;
}

// yield_c1 is HasParent.
LogicalResult FusedOp::verifyRegions() {
  Block &block = getBody().front();
  SmallVector<Operation *> ops;
  // fused_c1
  for (Operation &op : block.without_terminator()) {
    if (op.getNumRegions() != 0 || !isEffectFree(&op))
      return emitOpError("expected operations without side effects or regions")
                 .attachNote(op.getLoc())
             << "found this";
    ops.push_back(&op);
  }
  if (ops.empty())
    return emitOpError() << "expected at least one operation";
  // fused_c2
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError() << "expected a yield of the result types";
  for (Value value : yield.getOperands())
    if (value.getParentRegion() != &getBody())
      return emitOpError() << "expected to yield values of the region";
  // fused_c3
  std::optional<Skeleton> skeleton = findSkeleton(ops);
  if (!skeleton || *skeleton != getSkeleton())
    return emitOpError() << "expected operations that fit skeleton '"
                         << stringifySkeleton(getSkeleton()) << "'"
                         << (skeleton
                                 ? ", found those of '" +
                                       stringifySkeleton(*skeleton).str() + "'"
                                 : std::string());
  return success();
}
