//===- SliceState.cpp - Stores state in slices ----------------------------===//
//
// Optimizer state that every rank holds whole, but of which it uses only a
// slice, is stored in slices: this needs 1/n of the memory, and no gather
// (ZeRO; Rajbhandari et al., 2020).
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/PrimitiveOps.h"
#include "lib/Transforms/Rewrites.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_SLICESTATE
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

/// Finds the values that become sliced together with the state: those computed
/// from it and other whole values, up to operations that need only a slice.
class SlicedUses {
public:
  SlicedUses(BlockArgument state, RankedTensorType type) {
    types[state] = type;
  }

  /// The first operation that needs the whole state; null if there is none.
  Operation *find(Block &block, ArrayRef<UpdateOp> updates);
  void apply(RewriterBase &rewriter);

private:
  bool infer(Operation *op);

  llvm::MapVector<Value, RankedTensorType> types;
  /// Slice operations whose input is now already the slice.
  SmallVector<SliceOp> slices;
};

bool SlicedUses::infer(Operation *op) {
  if (auto slice = dyn_cast<SliceOp>(op))
    if (types.lookup(slice.getInput()) == slice.getType()) {
      slices.push_back(slice);
      return true;
    }
  auto inferable = dyn_cast<LayoutOpInterface>(op);
  if (!inferable)
    return false;
  SmallVector<RankedTensorType> operands;
  for (Value operand : op->getOperands()) {
    auto it = types.find(operand);
    operands.push_back(it != types.end()
                           ? it->second
                           : cast<RankedTensorType>(operand.getType()));
  }
  FailureOr<RankedTensorType> result =
      inferable.inferResultType(operands, [] { return InferenceError(); });
  if (failed(result))
    return false;
  auto before = cast<RankedTensorType>(op->getResult(0).getType());
  if (*result == before)
    return true;
  // Refuses a reduction across the slices, which would be pending.
  Layout now = Layout::of(*result), old = Layout::of(before);
  if (now.getPartials() != old.getPartials())
    return false;
  types[op->getResult(0)] = *result;
  return true;
}

Operation *SlicedUses::find(Block &block, ArrayRef<UpdateOp> updates) {
  for (Operation &op : block) {
    bool touched = false;
    op.walk([&](Operation *inner) {
      touched |= llvm::any_of(inner->getOperands(), [&](Value operand) {
        return types.contains(operand);
      });
    });
    auto update = dyn_cast<UpdateOp>(op);
    if (!touched || (update && llvm::is_contained(updates, update) &&
                     !types.contains(update.getValue())))
      continue;
    if (!infer(&op))
      return &op;
  }
  return nullptr;
}

void SlicedUses::apply(RewriterBase &rewriter) {
  for (auto &[value, type] : types)
    value.setType(type);
  for (SliceOp slice : slices)
    rewriter.replaceOp(slice, slice.getInput());
}

} // namespace

LogicalResult ccn::sliceState(RewriterBase &rewriter, ProgramOp program,
                              unsigned argument, EmitRefusal emit) {
  BlockArgument state = program.getArgument(argument);
  // slice_state_c1
  if (!program.isInout(argument))
    return refuse(emit, "slice_state_c1",
                  "expected an inout argument, found '" +
                      program.getArgName(argument).getValue() + "'",
                  program);
  // slice_state_c4
  if (program.isScattered(argument))
    return refuse(emit, "slice_state_c4",
                  "expected an argument that is not scattered, found '" +
                      program.getArgName(argument).getValue() + "'",
                  program);
  forwardStores(program);

  // slice_state_c2
  std::vector<UpdateOp> updates = program.getUpdates(argument);
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
  SlicedUses uses(state, type);
  if (Operation *whole = uses.find(program.getBody().front(), updates))
    return refuse(emit, "slice_state_c3",
                  "expected every use of '" +
                      program.getArgName(argument).getValue() +
                      "' to need its slice only",
                  whole);
  uses.apply(rewriter);
  SmallVector<Type> types(program.getArgumentTypes());
  types[argument] = type;
  program.setType(rewriter.getFunctionType(types, program.getResultTypes()));
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
        program.emitError() << "program '" << program.getSymName()
                            << "' has no argument '" << name << "'";
        return signalPassFailure();
      }
      if (failed(sliceState(rewriter, program, *index,
                            [&] { return program.emitError(); })))
        return signalPassFailure();
    }
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The line of a schedule
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
transform::ScheduleSliceStateOp::apply(transform::TransformRewriter &rewriter,
                                       transform::TransformResults &,
                                       transform::TransformState &state) {
  Applied applied(*this, state);
  ProgramOp program = programOf(state, getProgram(), *this);
  if (!program)
    return DiagnosedSilenceableFailure::definiteFailure();
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (program.getArgName(i) == getArgument())
      return succeeded(
                 sliceState(rewriter, program, i, [&] { return emitError(); }))
                 ? applied.success()
                 : DiagnosedSilenceableFailure::definiteFailure();
  emitError() << "program '" << program.getSymName() << "' has no argument '"
              << getArgument() << "'";
  return DiagnosedSilenceableFailure::definiteFailure();
}
