//===- Order.cpp - Orders collectives by priority -------------------------===//
//
// Gives collectives priorities and moves each to the place where its input is
// ready. So collectives that are needed first overtake those that are needed
// later (Hashemi et al., "TicTac", MLSys 2019; Peng et al., "ByteScheduler",
// SOSP 2019).
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/PrimitiveOps.h"
#include "lib/Transforms/Rewrites.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_ORDER
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

/// Adds an operation, and all that it depends on directly or through other
/// operations of its block.
static void addMakers(Operation *op, llvm::DenseSet<Operation *> &makers) {
  Block *block = op->getBlock();
  SmallVector<Operation *> open = {op};
  while (!open.empty()) {
    Operation *next = open.pop_back_val();
    if (!makers.insert(next).second)
      continue;
    next->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definer = operand.getDefiningOp())
          if (Operation *top = block->findAncestorOpInBlock(*definer))
            open.push_back(top);
    });
  }
}

LogicalResult ccn::order(RewriterBase &rewriter, ArrayRef<OpSet> values,
                         EmitRefusal emit) {
  OpSet ops;
  llvm::DenseSet<Operation *> makers;
  for (const OpSet &value : values) {
    // order_c1
    Operation *op = findCommunicating(value);
    if (!op || !isa<ProgramOp>(op->getParentOp()) ||
        llvm::is_contained(ops, op))
      return refuse(emit, "order_c1",
                    "expected a value with one collective, or one kernel that "
                    "communicates, that is not named twice",
                    value.empty() ? nullptr : value.back());
    // order_c2
    if (makers.contains(op))
      return refuse(emit, "order_c2",
                    "expected no collective before what it is made from", op);
    addMakers(op, makers);
    ops.push_back(op);
  }
  // Goes from the last to the first: of two collectives that move to the same
  // place, the one moved later comes first.
  for (size_t priority = ops.size(); priority-- > 0;) {
    Operation *op = ops[priority];
    Operation *anchor = nullptr;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *definer = operand.getDefiningOp();
        definer =
            definer ? op->getBlock()->findAncestorOpInBlock(*definer) : nullptr;
        if (definer && definer != op &&
            (!anchor || anchor->isBeforeInBlock(definer)))
          anchor = definer;
      }
    });
    if (anchor)
      rewriter.moveOpAfter(op, anchor);
    else
      rewriter.moveOpBefore(op, op->getBlock(), op->getBlock()->begin());
    op->setAttr(kPriorityAttr,
                rewriter.getI64IntegerAttr(static_cast<int64_t>(priority)));
  }
  return success();
}

namespace {

struct OrderPass : ccn::impl::OrderBase<OrderPass> {
  using OrderBase::OrderBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    IRRewriter rewriter(&getContext());
    if (failed(order(rewriter, findAllByName(program, llvm::to_vector(values)),
                     [&] { return program.emitError(); })))
      signalPassFailure();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The line of a schedule
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
transform::ScheduleOrderOp::apply(transform::TransformRewriter &rewriter,
                                  transform::TransformResults &,
                                  transform::TransformState &state) {
  Applied applied(*this, state);
  return succeeded(order(rewriter, payloads(state, getTargets()),
                         [&] { return emitError(); }))
             ? applied.success()
             : DiagnosedSilenceableFailure::definiteFailure();
}
