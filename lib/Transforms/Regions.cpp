//===- Regions.cpp - Moving operations into a region ----------------------===//
//
// Operations between those of the region move before or after it.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Regions.h"

using namespace mlir;
using namespace ccn;

RegionBuilder::RegionBuilder(ArrayRef<Operation *> list)
    : ops(list), set(list.begin(), list.end()),
      block(list.front()->getBlock()) {
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

Operation *RegionBuilder::findPathBack() {
  left.clear();
  for (Operation &op :
       llvm::make_range(ops.front()->getIterator(), block->end())) {
    bool afterSet = false, afterLeft = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *definer = operand.getDefiningOp();
        definer = definer ? topLevel(definer) : nullptr;
        afterSet |= definer && contains(definer);
        afterLeft |= definer && left.contains(definer);
      }
    });
    if (contains(&op) && afterLeft)
      return &op;
    if (!contains(&op) && (afterSet || afterLeft))
      left.insert(&op);
  }
  return nullptr;
}

SmallVector<Value> RegionBuilder::findOutputs() const {
  SmallVector<Value> outputs;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !contains(topLevel(user));
          }))
        outputs.push_back(result);
  return outputs;
}

Operation *RegionBuilder::build(
    RewriterBase &rewriter,
    llvm::function_ref<Operation *(Location, TypeRange)> create) {
  OpBuilder::InsertionGuard guard(rewriter);
  Operation *last = ops.back();
  SmallVector<Operation *> behind;
  for (Operation &op :
       llvm::make_range(ops.front()->getIterator(), last->getIterator()))
    if (left.contains(&op))
      behind.push_back(&op);
  Operation *anchor = last;
  for (Operation *op : behind) {
    rewriter.moveOpAfter(op, anchor);
    anchor = op;
  }

  SmallVector<Value> outputs = findOutputs();
  rewriter.setInsertionPoint(last);
  SmallVector<Location> locations;
  for (Operation *op : ops)
    locations.push_back(op->getLoc());
  Operation *holder =
      create(rewriter.getFusedLoc(locations), TypeRange(ValueRange(outputs)));
  Block &body = holder->getRegion(0).emplaceBlock();
  for (auto [output, result] : llvm::zip_equal(outputs, holder->getResults()))
    rewriter.replaceUsesWithIf(output, result, [&](OpOperand &use) {
      return !contains(topLevel(use.getOwner()));
    });
  for (Operation *op : ops)
    rewriter.moveOpBefore(op, &body, body.end());
  rewriter.setInsertionPointToEnd(&body);
  YieldOp::create(rewriter, holder->getLoc(), outputs);
  return holder;
}
