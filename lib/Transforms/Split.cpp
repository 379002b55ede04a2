//===- Split.cpp - Splits an all_reduce into collectives ------------------===//
//
// After the split, computations can move between the parts of an all_reduce.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/PartialSums.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/PrimitiveOps.h"
#include "lib/Transforms/Rewrites.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_SPLIT
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

std::optional<SplitForm> ccn::splitFormByName(StringRef name) {
  return llvm::StringSwitch<std::optional<SplitForm>>(name)
      .Case("rs_ag", SplitForm::ReduceScatterAllGather)
      .Case("reduce_broadcast", SplitForm::ReduceBroadcast)
      .Case("hierarchical", SplitForm::Hierarchical)
      .Default(std::nullopt);
}

/// Checks that an all_reduce may be split in this form.
static LogicalResult checkSplit(AllReduceOp op, SplitForm form,
                                EmitRefusal emit) {
  ArrayRef<StringAttr> names = op.getAxes().getNames();
  // split_c5
  if (!isa<ProgramOp>(op->getParentOp()))
    return refuse(emit, "split_c5", "expected an all_reduce outside of regions",
                  op);
  // split_c2
  if (form != SplitForm::ReduceBroadcast && op.getType().getRank() == 0)
    return refuse(emit, "split_c2",
                  "expected a tensor with a dimension to scatter, found a "
                  "scalar",
                  op);
  // split_c3
  if (form == SplitForm::ReduceBroadcast && names.size() != 1)
    return refuse(emit, "split_c3",
                  "expected an all_reduce along one axis, found " +
                      Twine(names.size()),
                  op);
  // split_c4
  if (form == SplitForm::Hierarchical && names.size() < 2)
    return refuse(emit, "split_c4",
                  "expected an all_reduce along two axes or more, found one",
                  op);
  // split_c6
  if (form == SplitForm::Hierarchical && hasPartials(op.getResult()) &&
      partialElement(op.getKind(), op.getType().getElementType()) !=
          op.getType().getElementType())
    return refuse(emit, "split_c6",
                  "expected a sum of 16- or 8-bit floats that no other axis "
                  "has to end, as what is between the steps is in f32",
                  op);
  return success();
}

FailureOr<SmallVector<OpSet>> ccn::split(RewriterBase &rewriter,
                                         ArrayRef<Operation *> value,
                                         SplitForm form, EmitRefusal emit) {
  // split_c1
  SmallVector<AllReduceOp> reduces;
  for (Operation *op : value)
    if (auto reduce = dyn_cast<AllReduceOp>(op))
      reduces.push_back(reduce);
  if (reduces.size() != 1)
    return refuse(emit, "split_c1",
                  "expected a value with one all_reduce, found " +
                      Twine(reduces.size()),
                  reduces.empty() ? (value.empty() ? nullptr : value.back())
                                  : reduces[1].getOperation());
  AllReduceOp op = reduces.front();
  if (failed(checkSplit(op, form, emit)))
    return failure();
  ArrayRef<StringAttr> names = op.getAxes().getNames();

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<OpSet> parts;
  // Adds an operation to the last part; returns its result.
  auto addTo = [&](auto part) -> Value {
    copyNames(op, part);
    parts.back().push_back(part);
    return part.getResult();
  };
  auto add = [&](auto part) {
    parts.emplace_back();
    return addTo(part);
  };
  auto axes = [&](ArrayRef<StringAttr> some) {
    return AxesAttr::get(op.getContext(), op.getAxes().getMesh(), some);
  };
  switch (form) {
  case SplitForm::ReduceScatterAllGather: {
    Value slices = add(ReduceScatterOp::create(rewriter, loc, op.getKind(),
                                               op.getInput(), 0, op.getAxes()));
    add(AllGatherOp::create(rewriter, loc, slices, op.getAxes()));
    break;
  }
  case SplitForm::ReduceBroadcast: {
    Value atRoot = add(ReduceOp::create(rewriter, loc, op.getKind(),
                                        op.getInput(), 0, op.getAxes()));
    add(BroadcastOp::create(rewriter, loc, atRoot, 0, op.getAxes()));
    break;
  }
  case SplitForm::Hierarchical: {
    // Between the reductions there are partial sums, which are not rounded to
    // the element type.
    Type element = op.getType().getElementType();
    Type partial = partialElement(op.getKind(), element);
    auto cast = [&](Value value, Type to) {
      return partial == element ? value
                                : addTo(CastOp::create(rewriter, loc, value,
                                                       TypeAttr::get(to)));
    };
    parts.emplace_back();
    Value input = op.getInput();
    if (partial != element && hasPartials(input))
      input = addTo(ReshardOp::create(rewriter, loc, asLocal(input), input));
    Value slices = addTo(ReduceScatterOp::create(rewriter, loc, op.getKind(),
                                                 cast(input, partial), 0,
                                                 axes(names.back())));
    Value reduced = add(AllReduceOp::create(rewriter, loc, op.getKind(), slices,
                                            axes(names.drop_back())));
    reduced = cast(reduced, element);
    add(AllGatherOp::create(rewriter, loc, reduced, axes(names.back())));
    break;
  }
  }
  // Replaces only the uses, so that handles of the all_reduce become empty
  // instead of holding one part.
  rewriter.replaceAllUsesWith(op.getResult(),
                              parts.back().back()->getResult(0));
  rewriter.eraseOp(op);
  return parts;
}

namespace {

struct SplitPass : ccn::impl::SplitBase<SplitPass> {
  using SplitBase::SplitBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    std::optional<SplitForm> splitForm = splitFormByName(form);
    if (!splitForm) {
      program.emitError() << "expected form 'rs_ag', 'reduce_broadcast' or "
                             "'hierarchical', found '"
                          << form << "'";
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    OpSet ops = findByName(program, value);
    if (failed(split(rewriter, ops, *splitForm,
                     [&] { return program.emitError(); })))
      signalPassFailure();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The line of a schedule
//===----------------------------------------------------------------------===//

LogicalResult transform::ScheduleSplitOp::verify() {
  std::optional<SplitForm> form = splitFormByName(getForm());
  if (!form)
    return emitOpError() << "expected form 'rs_ag', 'reduce_broadcast' or "
                            "'hierarchical', found '"
                         << getForm() << "'";
  size_t parts = form == SplitForm::Hierarchical ? 3 : 2;
  if (getParts().size() != parts)
    return emitOpError() << "expected " << parts << " results, found "
                         << getParts().size();
  return success();
}

DiagnosedSilenceableFailure
transform::ScheduleSplitOp::apply(transform::TransformRewriter &rewriter,
                                  transform::TransformResults &results,
                                  transform::TransformState &state) {
  Applied applied(*this, state);
  FailureOr<SmallVector<OpSet>> parts =
      split(rewriter, payload(state, getTarget()), *splitFormByName(getForm()),
            [&] { return emitError(); });
  if (failed(parts))
    return DiagnosedSilenceableFailure::definiteFailure();
  for (auto [result, part] : llvm::zip_equal(getParts(), *parts))
    results.set(cast<OpResult>(result), part);
  return applied.success();
}
