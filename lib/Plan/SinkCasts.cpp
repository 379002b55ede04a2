//===- SinkCasts.cpp - Casts and movements change places ------------------===//
//
// A cast before a broadcast or an extraction would need its own loop, for which
// all other loops would wait. After the broadcast, the cast costs next to
// nothing in the loop that uses the value. If no loop can do the cast, its
// result is stored, and should be the smaller value before the broadcast.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Planner.h"

#include "dialect/ccn/Chunking.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ccn;

/// Swaps a cast and a movement of elements, in either order, where `second`
/// uses the result of `first`. Returns the operation that comes first
/// afterwards.
static Operation *swapOps(Operation *first, Operation *second) {
  auto type = cast<RankedTensorType>(second->getResult(0).getType());
  auto source = cast<RankedTensorType>(first->getOperand(0).getType());
  OpBuilder builder(second);
  IRMapping mapping;
  mapping.map(first->getResult(0), first->getOperand(0));
  Operation *moved = builder.clone(*second, mapping);
  moved->getResult(0).setType(isa<CastOp>(second)
                                  ? source.clone(type.getElementType())
                                  : type.clone(source.getElementType()));
  mapping.map(first->getOperand(0), moved->getResult(0));
  Operation *made = builder.clone(*first, mapping);
  made->getResult(0).setType(type);
  second->replaceAllUsesWith(made->getResults());
  second->erase();
  if (first->use_empty())
    first->erase();
  return moved;
}

/// Whether the loop that uses the cast's result can compute the cast.
static bool isInLoop(CastOp op) {
  auto kernel = dyn_cast<FusedOp>(op->getParentOp());
  if (!kernel)
    return false;
  // Values that are the same for all chunks are stored with the first.
  auto overlapped = dyn_cast<OverlappedOp>(kernel->getParentOp());
  return !overlapped || getChunking(overlapped).dims.contains(op.getResult());
}

/// Whether a value is a broadcast, or a part of one.
static bool isRepeated(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<BroadcastToOp>(op) ||
         (isa_and_nonnull<ExtractOp>(op) && isRepeated(op->getOperand(0)));
}

void plan::sinkCasts(ProgramOp program) {
  program.walk([](CastOp castOp) {
    if (isInLoop(castOp))
      return;
    Operation *op = castOp;
    // In an overlapped region, the extraction of a chunk is between the
    // broadcast and the cast.
    while (isRepeated(op->getOperand(0)) &&
           op->getOperand(0).getParentBlock() == op->getBlock())
      op = swapOps(op->getOperand(0).getDefiningOp(), op);
  });
  program.walk([](FusedOp kernel) {
    for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
      if (!isa<BroadcastToOp, ExtractOp>(op))
        continue;
      auto castOp = op.getOperand(0).getDefiningOp<CastOp>();
      if (castOp && castOp->getBlock() == op.getBlock() &&
          (isa<BroadcastToOp>(op) ? isInLoop(castOp) : castOp->hasOneUse()))
        swapOps(castOp, &op);
    }
  });
}
