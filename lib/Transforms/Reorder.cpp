//===- Reorder.cpp - Gathers below the computations that follow them ------===//
//
// Operations between an all_gather and its new place run on slices: each rank
// computes its part, and only values that are needed whole are gathered. The
// layout inference of each operation says whether it can run on slices.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/PartialSums.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/PrimitiveOps.h"
#include "lib/Transforms/Rewrites.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_REORDER
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The axes along which an all_gather turns layout `have` into layout `want`.
/// None if that is impossible, as only the innermost axes can be gathered.
std::optional<SmallVector<StringAttr>> gatheredAxes(const Layout &have,
                                                    const Layout &want) {
  SmallVector<StringAttr> axes;
  Layout rest = have;
  for (unsigned dim = 0; dim < have.getRank(); ++dim) {
    ArrayRef<StringAttr> from = have.getAxes(dim), to = want.getAxes(dim);
    if (from.take_front(to.size()) != to)
      return std::nullopt;
    llvm::append_range(axes, from.drop_front(to.size()));
  }
  for (StringAttr axis : axes)
    rest.setState(axis, {});
  if (rest != want)
    return std::nullopt;
  return axes;
}

/// One reordering: plans all new operations before it changes the program.
class Reordering {
public:
  Reordering(RewriterBase &rewriter, AllGatherOp gather, EmitRefusal emit)
      : rewriter(rewriter), gather(gather), emit(emit) {}

  /// Finds the operations between the gather and `after`.
  LogicalResult findBetween(ArrayRef<OpSet> after);
  /// Infers the types of these operations on slices.
  LogicalResult infer();
  Reordered rewrite();

private:
  /// The type of a value when operations run on slices; its own type if it does
  /// not change.
  RankedTensorType slicedType(Value value) {
    auto it = sliced.find(value);
    return it == sliced.end() ? typeOf(value) : it->second;
  }
  LogicalResult inferOne(Operation *op);
  bool isRegrouped(Operation *op);
  Value finishReduction(Operation *reduction, ReduceKind kind,
                        ArrayRef<StringAttr> axes, Reordered &reordered);
  Value gatherWhole(Value value, Type type, Operation *like,
                    Reordered &reordered);

  RewriterBase &rewriter;
  AllGatherOp gather;
  EmitRefusal emit;
  /// The operations between the gather and `after`, in program order, including
  /// stores but not the gather.
  llvm::SetVector<Operation *> between;
  llvm::DenseMap<Value, RankedTensorType> sliced;
  /// Values of which each rank would hold other parts than before, though all
  /// ranks together have the same elements.
  llvm::DenseSet<Value> regrouped;
};

LogicalResult Reordering::findBetween(ArrayRef<OpSet> after) {
  // The operations that depend on the gather, in order.
  llvm::SetVector<Operation *> below;
  below.insert(gather);
  Block *block = gather->getBlock();
  for (Operation &op :
       llvm::make_range(std::next(gather->getIterator()), block->end()))
    for (Value operand : op.getOperands())
      if (Operation *definer = operand.getDefiningOp())
        if (below.contains(definer)) {
          below.insert(&op);
          break;
        }
  // The operations among them on which the named values depend.
  llvm::DenseSet<Operation *> needed;
  for (const OpSet &value : after) {
    bool depends = false;
    for (Operation *op : value) {
      // reorder_c4
      if (op->getBlock() != block || op->getNumRegions() != 0)
        return refuse(emit, "reorder_c4",
                      "expected operations outside of fused regions", op);
      if (!below.contains(op))
        continue;
      depends = true;
      needed.insert(op);
    }
    // reorder_c2
    if (!depends)
      return refuse(emit, "reorder_c2",
                    "expected a value that depends on the all_gather",
                    value.empty() ? gather.getOperation() : value.back());
  }
  for (Operation *op : llvm::reverse(below.getArrayRef()))
    if (needed.contains(op))
      for (Value operand : op->getOperands())
        if (Operation *definer = operand.getDefiningOp())
          if (below.contains(definer))
            needed.insert(definer);
  for (Operation *op : below)
    if (op != gather && needed.contains(op))
      between.insert(op);
  return success();
}

/// Whether a rank's local or partial values of a result would be computed from
/// other slices than before: if the gather's dimension would be cut instead of
/// the previous one.
bool Reordering::isRegrouped(Operation *op) {
  Layout result = Layout::of(slicedType(op->getResult(0)));
  if (!result.hasPartial() && !result.hasLocal())
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Layout now = Layout::of(slicedType(operand)),
           before = Layout::of(typeOf(operand));
    bool isWithin = !regrouped.contains(operand);
    for (unsigned dim = 0; dim < before.getRank(); ++dim) {
      ArrayRef<StringAttr> cuts = before.getAxes(dim);
      isWithin &= now.getAxes(dim).take_front(cuts.size()) == cuts;
    }
    return !isWithin;
  });
}

LogicalResult Reordering::inferOne(Operation *op) {
  // A store gathers its value, unless that has the argument's type. Later reads
  // of the argument already use the value itself (forwardStores).
  if (isa<UpdateOp>(op))
    return success();
  // Another gather still makes its value whole, but operations between use the
  // slices.
  if (auto other = dyn_cast<AllGatherOp>(op)) {
    if (other.getAxes() == gather.getAxes() &&
        slicedType(other.getInput()) == typeOf(other.getInput())) {
      sliced[other.getResult()] = typeOf(other.getInput());
      return success();
    }
  }
  // A slice of a value that is now sliced in that way is the value itself.
  if (auto slice = dyn_cast<SliceOp>(op))
    if (slicedType(slice.getInput()) == slice.getType()) {
      sliced[slice.getResult()] = slice.getType();
      return success();
    }
  // reorder_c3
  auto inferable = dyn_cast<LayoutOpInterface>(op);
  if (!inferable)
    return refuse(emit, "reorder_c3",
                  "'" + op->getName().stripDialect() + "' cannot run on slices",
                  op);
  SmallVector<RankedTensorType> types;
  for (Value operand : op->getOperands())
    types.push_back(slicedType(operand));
  std::string why;
  FailureOr<RankedTensorType> type;
  {
    ScopedDiagnosticHandler handler(op->getContext(),
                                    [&](Diagnostic &diagnostic) {
                                      why = diagnostic.str();
                                      return success();
                                    });
    type = inferable.inferResultType(
        types, [&] { return mlir::emitError(op->getLoc()); });
  }
  if (failed(type))
    return refuse(emit, "reorder_c3",
                  "'" + op->getName().stripDialect() +
                      "' cannot run on slices: " + why,
                  op);
  // A reduction across the cut is followed by an all_reduce, so its result is
  // not partial.
  Layout layout = Layout::of(*type),
         before = Layout::of(typeOf(op->getResult(0)));
  for (StringAttr axis : gather.getAxes().getNames())
    if (layout.getState(axis).kind == AxisState::Partial &&
        before.getState(axis).kind != AxisState::Partial)
      layout.setState(axis, {});
  sliced[op->getResult(0)] =
      layout.getType(type->getShape(), type->getElementType());
  if (isRegrouped(op))
    regrouped.insert(op->getResult(0));
  return success();
}

LogicalResult Reordering::infer() {
  sliced[gather.getResult()] = typeOf(gather.getInput());
  for (Operation *op : between)
    if (failed(inferOne(op)))
      return failure();
  // Values that are needed whole must be results that a gather can make.
  auto canGather = [&](Value value, Type whole) {
    return gatheredAxes(Layout::of(slicedType(value)),
                        Layout::of(cast<RankedTensorType>(whole)))
        .has_value();
  };
  for (Operation *op : between) {
    auto update = dyn_cast<UpdateOp>(op);
    bool isLeft = !update && llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !between.contains(user);
    });
    if (update ? !canGather(update.getValue(), update.getTarget().getType())
               : isLeft &&
                     !canGather(op->getResult(0), op->getResult(0).getType()))
      return refuse(emit, "reorder_c3",
                    "'" + op->getName().stripDialect() +
                        "' would leave slices that no all_gather makes whole",
                    op);
    if ((update && regrouped.contains(update.getValue())) ||
        (isLeft && regrouped.contains(op->getResult(0))))
      return refuse(emit, "reorder_c3",
                    "'" + op->getName().stripDialect() +
                        "' would leave other parts of what is reduced on each "
                        "rank",
                    op);
  }
  return success();
}

/// The value with the type that the rest of the program expects, gathered if
/// necessary.
Value Reordering::gatherWhole(Value value, Type type, Operation *like,
                              Reordered &reordered) {
  if (value.getType() == type)
    return value;
  std::optional<SmallVector<StringAttr>> axes = gatheredAxes(
      Layout::of(typeOf(value)), Layout::of(cast<RankedTensorType>(type)));
  assert(axes && "infer() has asked");
  auto whole = AllGatherOp::create(
      rewriter, like->getLoc(), value,
      AxesAttr::get(rewriter.getContext(), gather.getAxes().getMesh(), *axes));
  copyNames(like, whole);
  reordered.gathers.push_back(whole);
  return whole;
}

/// Adds the all_reduce along `axes` after a reduction of slices. Sums of slices
/// of 16- and 8-bit floats stay in f32 until they are added.
Value Reordering::finishReduction(Operation *reduction, ReduceKind kind,
                                  ArrayRef<StringAttr> axes,
                                  Reordered &reordered) {
  Location loc = reduction->getLoc();
  Value result = reduction->getResult(0);
  auto add = [&](Operation *made) {
    copyNames(reduction, made);
    reordered.computations.push_back(made);
    return made->getResult(0);
  };
  auto cast = [&](Value value, Type element) {
    return add(CastOp::create(rewriter, loc, value, TypeAttr::get(element)));
  };
  Type element = typeOf(result).getElementType(),
       partial = partialElement(kind, element);
  // If another reduction stays pending, the value must keep its type.
  Layout layout = Layout::of(typeOf(result));
  bool isKept = partial != element && isa<ReductionOp>(reduction) &&
                !hasPartials(reduction->getOperand(0)) &&
                layout.getPartials().size() == axes.size();
  if (isKept) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(reduction);
    reduction->setOperand(0, cast(reduction->getOperand(0), partial));
    result.setType(typeOf(result).clone(partial));
  }
  result = add(AllReduceOp::create(
      rewriter, loc, kind, result,
      AxesAttr::get(rewriter.getContext(), gather.getAxes().getMesh(), axes)));
  return isKept ? cast(result, element) : result;
}

Reordered Reordering::rewrite() {
  Reordered reordered;
  IRMapping onSlices;
  onSlices.map(gather.getResult(), gather.getInput());
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Operation *> dead, kept;
  for (Operation *op : between) {
    rewriter.setInsertionPoint(op);
    if (auto update = dyn_cast<UpdateOp>(op)) {
      if (llvm::is_contained(kept, update.getValue().getDefiningOp()))
        continue;
      Value value = onSlices.lookupOrDefault(update.getValue());
      Value whole =
          gatherWhole(value, update.getTarget().getType(), update, reordered);
      rewriter.modifyOpInPlace(update,
                               [&] { update.getValueMutable().assign(whole); });
      continue;
    }
    Value old = op->getResult(0);
    RankedTensorType type = sliced.lookup(old);
    if (auto other = dyn_cast<AllGatherOp>(op);
        other && type == typeOf(other.getInput())) {
      onSlices.map(old, onSlices.lookupOrDefault(other.getInput()));
      rewriter.modifyOpInPlace(
          other, [&] { other.getInputMutable().assign(onSlices.lookup(old)); });
      kept.push_back(other);
      continue;
    }
    if (auto slice = dyn_cast<SliceOp>(op);
        slice && slicedType(slice.getInput()) == type) {
      onSlices.map(old, onSlices.lookupOrDefault(slice.getInput()));
      dead.push_back(op);
      continue;
    }
    Operation *moved = rewriter.clone(*op, onSlices);
    Value result = moved->getResult(0);
    // The clone has the type of the whole value; its own type is inferred.
    SmallVector<RankedTensorType> types;
    for (Value operand : moved->getOperands())
      types.push_back(typeOf(operand));
    FailureOr<RankedTensorType> inferred =
        cast<LayoutOpInterface>(moved).inferResultType(
            types, [&] { return mlir::emitError(moved->getLoc()); });
    assert(succeeded(inferred) && "it was inferred before");
    result.setType(*inferred);
    reordered.computations.push_back(moved);
    if (*inferred != type) {
      // Reductions that were pending before stay pending; only new ones are
      // finished here.
      Layout pending = Layout::of(*inferred), planned = Layout::of(type);
      SmallVector<StringAttr> axes;
      for (StringAttr axis : gather.getAxes().getNames())
        if (pending.getState(axis).kind == AxisState::Partial &&
            planned.getState(axis).kind != AxisState::Partial)
          axes.push_back(axis);
      result = finishReduction(moved, pending.getState(axes.front()).reduction,
                               axes, reordered);
    }
    onSlices.map(old, result);
    dead.push_back(op);
  }
  // Values that the rest of the program needs whole are gathered where they are
  // computed.
  for (Operation *op : dead) {
    Value old = op->getResult(0);
    auto isOutside = [&](OpOperand &use) {
      return !llvm::is_contained(dead, use.getOwner());
    };
    if (llvm::none_of(old.getUses(), isOutside))
      continue;
    Value now = onSlices.lookup(old);
    rewriter.setInsertionPoint(op);
    Value whole = gatherWhole(now, old.getType(), op, reordered);
    rewriter.replaceUsesWithIf(old, whole, isOutside);
  }
  for (Operation *op : llvm::reverse(dead))
    rewriter.eraseOp(op);
  for (Operation *op : llvm::reverse(kept)) {
    if (op->use_empty())
      rewriter.eraseOp(op);
    else
      reordered.gathers.push_back(op);
  }
  if (gather->use_empty())
    rewriter.eraseOp(gather);
  return reordered;
}

} // namespace

/// The one all_gather of a value; null if that is refused.
static AllGatherOp findGather(ArrayRef<Operation *> value, EmitRefusal emit) {
  // reorder_c1
  SmallVector<AllGatherOp> gathers;
  for (Operation *op : value)
    if (auto gather = dyn_cast<AllGatherOp>(op))
      gathers.push_back(gather);
  if (gathers.size() != 1) {
    (void)refuse(emit, "reorder_c1",
                 "expected a value with one all_gather, found " +
                     Twine(gathers.size()),
                 gathers.empty() ? (value.empty() ? nullptr : value.back())
                                 : gathers[1].getOperation());
    return {};
  }
  AllGatherOp gather = gathers.front();
  // reorder_c4
  auto program = dyn_cast<ProgramOp>(gather->getParentOp());
  if (!program) {
    (void)refuse(emit, "reorder_c4",
                 "expected operations outside of fused regions", gather);
    return {};
  }
  forwardStores(program);
  return gather;
}

/// How a gather moves; none, with an error, if it cannot.
static std::optional<Reordering> findReordering(RewriterBase &rewriter,
                                                ArrayRef<Operation *> value,
                                                ArrayRef<OpSet> after,
                                                EmitRefusal emit) {
  AllGatherOp gather = findGather(value, emit);
  if (!gather)
    return std::nullopt;
  Reordering reordering(rewriter, gather, emit);
  if (failed(reordering.findBetween(after)) || failed(reordering.infer()))
    return std::nullopt;
  return reordering;
}

FailureOr<Reordered> ccn::reorder(RewriterBase &rewriter,
                                  ArrayRef<Operation *> value,
                                  ArrayRef<OpSet> after, EmitRefusal emit) {
  std::optional<Reordering> reordering =
      findReordering(rewriter, value, after, emit);
  if (!reordering)
    return failure();
  return reordering->rewrite();
}

LogicalResult ccn::checkReorder(RewriterBase &rewriter,
                                ArrayRef<Operation *> value,
                                ArrayRef<OpSet> after, EmitRefusal emit) {
  return success(findReordering(rewriter, value, after, emit).has_value());
}

namespace {

struct ReorderPass : ccn::impl::ReorderBase<ReorderPass> {
  using ReorderBase::ReorderBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    IRRewriter rewriter(&getContext());
    if (failed(reorder(rewriter, findByName(program, value),
                       findAllByName(program, llvm::to_vector(after)),
                       [&] { return program.emitError(); })))
      signalPassFailure();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The line of a schedule
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
transform::ScheduleReorderOp::apply(transform::TransformRewriter &rewriter,
                                    transform::TransformResults &results,
                                    transform::TransformState &state) {
  Applied applied(*this, state);
  SmallVector<OpSet> after;
  for (Value handle : getAfter())
    after.push_back(payload(state, handle));
  FailureOr<Reordered> reordered =
      reorder(rewriter, payload(state, getGather()), after,
              [&] { return emitError(); });
  if (failed(reordered))
    return DiagnosedSilenceableFailure::definiteFailure();
  results.set(cast<OpResult>(getComputations()), reordered->computations);
  results.set(cast<OpResult>(getGathers()), reordered->gathers);
  return applied.success();
}
