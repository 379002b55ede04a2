//===- SinkCasts.cpp - Casts after what repeats ---------------------------===//
//
// A cast of what is then repeated, or cut, would need a loop of its own, for
// which all others wait. To cast what is repeated costs next to nothing in the
// loop that uses it.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Finish.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ccn;

/// Swaps a cast and the movement of what it gives.
static void sinkCast(CastOp castOp, Operation *movement) {
  auto type = cast<RankedTensorType>(movement->getResult(0).getType());
  auto source = cast<RankedTensorType>(castOp.getInput().getType());
  OpBuilder builder(movement);
  IRMapping mapping;
  mapping.map(castOp.getResult(), castOp.getInput());
  Operation *moved = builder.clone(*movement, mapping);
  moved->getResult(0).setType(RankedTensorType::get(
      type.getShape(), source.getElementType(), type.getEncoding()));
  mapping.map(castOp.getInput(), moved->getResult(0));
  Operation *made = builder.clone(*castOp, mapping);
  made->getResult(0).setType(type);
  movement->replaceAllUsesWith(made->getResults());
  movement->erase();
  if (castOp->use_empty())
    castOp->erase();
}

void plan::sinkCasts(ProgramOp program) {
  program.walk([](FusedOp kernel) {
    for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
      if (!isa<BroadcastToOp, ExtractOp>(op))
        continue;
      auto castOp = op.getOperand(0).getDefiningOp<CastOp>();
      if (castOp && castOp->getBlock() == op.getBlock() &&
          (isa<BroadcastToOp>(op) || castOp->hasOneUse()))
        sinkCast(castOp, &op);
    }
  });
}
