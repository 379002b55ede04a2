//===- SliceState.cpp - State of which each rank needs a slice ------------===//
//
// Optimizer state that every rank holds whole but uses in slices is stored in
// slices: 1/n of the memory, and no gather (ZeRO; Rajbhandari et al., 2020).
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Rewrites.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_SLICESTATE
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

/// Whether the operation's result stays what it is when `operand` has the type.
static bool keepsResult(Operation *op, OpOperand &operand,
                        RankedTensorType type) {
  auto inferable = dyn_cast<LayoutOpInterface>(op);
  if (!inferable)
    return false;
  SmallVector<RankedTensorType> types;
  for (OpOperand &other : op->getOpOperands())
    types.push_back(other.get() == operand.get()
                        ? type
                        : cast<RankedTensorType>(other.get().getType()));
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<RankedTensorType> result = inferable.inferResultType(
      types, [&] { return mlir::emitError(op->getLoc()); });
  return succeeded(result) && *result == op->getResult(0).getType();
}

LogicalResult ccn::sliceState(RewriterBase &rewriter, ProgramOp program,
                              unsigned argument, EmitRefusal emit) {
  BlockArgument state = program.getArgument(argument);
  // slice_state_c1
  if (!program.isInout(argument))
    return refuse(emit, "slice_state_c1",
                  "expected an inout argument, found '" +
                      program.getArgName(argument).getValue() + "'",
                  program);
  forwardStores(program);

  // The stores, in order. slice_state_c2
  SmallVector<UpdateOp> updates;
  for (Value held = state;;) {
    UpdateOp next;
    for (OpOperand &use : held.getUses())
      if (auto update = dyn_cast<UpdateOp>(use.getOwner()))
        if (&use == &update.getTargetMutable())
          next = update;
    if (!next)
      break;
    updates.push_back(next);
    held = next.getResult();
  }
  if (updates.empty())
    return refuse(emit, "slice_state_c2",
                  "expected '" + program.getArgName(argument).getValue() +
                      "' to be stored to",
                  program);
  RankedTensorType type;
  for (UpdateOp update : updates) {
    auto gather = update.getValue().getDefiningOp<AllGatherOp>();
    if (!gather || (type && gather.getInput().getType() != type))
      return refuse(emit, "slice_state_c2",
                    "expected every store to gather slices that are cut in the "
                    "same way",
                    update);
    type = gather.getInput().getType();
  }

  // slice_state_c3
  SmallVector<SliceOp> slices;
  for (OpOperand &use : state.getUses()) {
    Operation *user = use.getOwner();
    if (isa<UpdateOp>(user) || keepsResult(user, use, type))
      continue;
    auto slice = dyn_cast<SliceOp>(user);
    if (slice && slice.getType() == type) {
      slices.push_back(slice);
      continue;
    }
    return refuse(emit, "slice_state_c3",
                  "expected every use of '" +
                      program.getArgName(argument).getValue() +
                      "' to need its slice only",
                  user);
  }

  state.setType(type);
  SmallVector<Type> types(program.getArgumentTypes());
  types[argument] = type;
  program.setType(rewriter.getFunctionType(types, program.getResultTypes()));
  for (SliceOp slice : slices)
    rewriter.replaceOp(slice, state);
  for (UpdateOp update : updates) {
    auto gather = update.getValue().getDefiningOp<AllGatherOp>();
    rewriter.modifyOpInPlace(update, [&] {
      update.getValueMutable().assign(gather.getInput());
      update.getResult().setType(type);
    });
    if (gather->use_empty())
      rewriter.eraseOp(gather);
  }
  return success();
}

namespace {

struct SliceStatePass : ccn::impl::SliceStateBase<SliceStatePass> {
  using SliceStateBase::SliceStateBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    IRRewriter rewriter(&getContext());
    for (const std::string &name : arguments) {
      std::optional<unsigned> index;
      for (unsigned i = 0; i < program.getNumArguments(); ++i)
        if (program.getArgName(i) == name)
          index = i;
      if (!index) {
        program.emitError() << "has no argument '" << name << "'";
        return signalPassFailure();
      }
      if (failed(sliceState(rewriter, program, *index,
                            [&] { return program.emitError(); })))
        return signalPassFailure();
      ++numSliced;
    }
  }
};

} // namespace
