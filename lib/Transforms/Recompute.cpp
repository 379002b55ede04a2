//===- Recompute.cpp - Computing a value again ----------------------------===//
//
// Two kernels pass a value that both need through memory, unless each computes
// it itself (Chen et al., "Training Deep Nets with Sublinear Memory Cost",
// 2016, do so with the activations of layers).
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/PrimitiveOps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ccn;

FailureOr<OpSet> ccn::recompute(RewriterBase &rewriter,
                                ArrayRef<Operation *> value,
                                ArrayRef<OpSet> users, EmitRefusal emit) {
  auto isOfValue = [&](Operation *op) { return llvm::is_contained(value, op); };
  // recompute_c1
  const char *unfit = "expected a value that is computed outside of regions, "
                      "without communication or stores";
  if (value.empty())
    return refuse(emit, "recompute_c1", unfit, nullptr);
  for (Operation *op : value)
    if (!isa<ProgramOp>(op->getParentOp()) || !isEffectFree(op) ||
        communicatesAlong(op))
      return refuse(emit, "recompute_c1", unfit, op);
  // recompute_c2
  llvm::SetVector<OpOperand *> uses;
  for (const OpSet &user : users) {
    size_t before = uses.size();
    for (Operation *op : user)
      op->walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (Operation *definer = operand.get().getDefiningOp();
              definer && isOfValue(definer) && !isOfValue(inner))
            uses.insert(&operand);
      });
    if (uses.size() == before)
      return refuse(emit, "recompute_c2",
                    "expected each value after it to use it, and none to be "
                    "named twice",
                    user.empty() ? nullptr : user.back());
  }
  // recompute_c3
  bool isUsedElsewhere = llvm::any_of(value, [&](Operation *op) {
    return llvm::any_of(op->getUses(), [&](OpOperand &use) {
      return !isOfValue(use.getOwner()) && !uses.contains(&use);
    });
  });
  if (!isUsedElsewhere)
    return refuse(emit, "recompute_c3",
                  "expected the value to be used elsewhere too", value.back());

  Block *block = value.front()->getBlock();
  Operation *first = nullptr;
  for (OpOperand *use : uses) {
    Operation *op = block->findAncestorOpInBlock(*use->getOwner());
    if (!first || op->isBeforeInBlock(first))
      first = op;
  }
  // recompute_c4
  for (Operation *op : value)
    for (Value operand : op->getOperands())
      if (Operation *definer = operand.getDefiningOp();
          definer && !isOfValue(definer) && !definer->isBeforeInBlock(first))
        return refuse(emit, "recompute_c4",
                      "expected all that the value is made of to come before "
                      "those that use it",
                      definer);
  rewriter.setInsertionPoint(first);
  IRMapping mapping;
  OpSet again;
  for (Operation *op : value) {
    again.push_back(rewriter.clone(*op, mapping));
    // Only the first computation keeps the value's names.
    again.back()->walk([](Operation *copy) {
      copy->removeAttr(kLetAttr);
      copy->removeAttr(kTagsAttr);
    });
  }
  for (OpOperand *use : uses)
    rewriter.modifyOpInPlace(use->getOwner(),
                             [&] { use->set(mapping.lookup(use->get())); });
  return again;
}

DiagnosedSilenceableFailure
transform::ScheduleRecomputeOp::apply(transform::TransformRewriter &rewriter,
                                      transform::TransformResults &results,
                                      transform::TransformState &state) {
  Applied applied(*this, state);
  FailureOr<OpSet> again =
      recompute(rewriter, payload(state, getTarget()),
                payloads(state, getUsers()), [&] { return emitError(); });
  if (failed(again))
    return DiagnosedSilenceableFailure::definiteFailure();
  results.set(cast<OpResult>(getAgain()), *again);
  return applied.success();
}
