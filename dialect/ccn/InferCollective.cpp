//===- InferCollective.cpp - Inference of collectives ---------------------===//
//
// Constraints and result types of the operations in CollectiveOps.td. Each
// takes the states along its axes apart and gives them new ones; all others are
// kept.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Placement.h"

using namespace mlir;
using namespace ccn;

using TypeResult = FailureOr<RankedTensorType>;
using Types = ArrayRef<RankedTensorType>;

static InferenceError wrongState(EmitError emitError, RankedTensorType type,
                                 StringAttr axis, StringRef expected) {
  auto diagnostic = emitError();
  diagnostic << "expected an operand that is " << expected
             << " along mesh axis '" << axis.getValue() << "', found '"
             << typeName(type) << "'";
  return diagnostic;
}

static LogicalResult checkOneAxis(AxesAttr axes, EmitError emitError) {
  if (axes.getNames().size() == 1)
    return success();
  return emitError() << "expected one mesh axis, found "
                     << axes.getNames().size();
}

static LogicalResult checkDim(int64_t dim, RankedTensorType type,
                              EmitError emitError) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return emitError() << "expected a dimension of '" << typeName(type)
                     << "', found " << dim;
}

/// The operand may be reduced by `kind` along the axes: c1 and c2 of all_reduce
/// and reduce_scatter, c2 and c3 of reduce, and the last constraint of each.
static LogicalResult checkReducible(ReduceKind kind, RankedTensorType type,
                                    AxesAttr axes, EmitError emitError) {
  Layout layout = Layout::of(type);
  for (StringAttr axis : axes.getNames()) {
    AxisState state = layout.getState(axis);
    if (state.kind == AxisState::Local ||
        (state.kind == AxisState::Partial && state.reduction == kind))
      continue;
    return wrongState(
        emitError, type, axis,
        ("local or partial(" + stringifyReduceKind(kind) + ")").str());
  }
  bool arithmetic = kind == ReduceKind::sum || kind == ReduceKind::prod;
  if (arithmetic && !isNumber(type.getElementType()))
    return emitError() << "expected a number element type, found '"
                       << elementTypeName(type.getElementType()) << "'";
  for (PartialAxis partial : layout.getPartials())
    if (partial.kind != kind)
      return emitError() << "expected no other reduction than '"
                         << stringifyReduceKind(kind)
                         << "' to be pending, found '" << typeName(type)
                         << "'; repair with 'all_reduce("
                         << stringifyReduceKind(partial.kind) << ", "
                         << operandName(0) << ", " << partial.axis.getValue()
                         << ")' before";
  return success();
}

/// The operand is local along the axis. A partial one would lose what is
/// pending: only collectives that reduce take either.
static LogicalResult checkLocal(RankedTensorType type, StringAttr axis,
                                EmitError emitError) {
  Layout layout = Layout::of(type);
  AxisState::Kind kind = layout.getState(axis).kind;
  if (kind == AxisState::Local)
    return success();
  if (kind == AxisState::Partial)
    return emitError() << pendingError(layout, axis, operandName(0));
  return wrongState(emitError, type, axis, "local");
}

/// The operand is sliced along the axes, and removing them leaves whole slices
/// of the other axes. Makes it replicated there in `layout`.
static LogicalResult gatherAxes(RankedTensorType type, AxesAttr axes,
                                Layout &layout, EmitError emitError) {
  for (StringAttr axis : axes.getNames())
    if (layout.getState(axis).kind != AxisState::Sliced)
      return wrongState(emitError, type, axis, "sliced");
  for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
    SmallVector<StringAttr> kept(layout.getAxes(dim));
    while (!kept.empty() && llvm::is_contained(axes.getNames(), kept.back()))
      kept.pop_back();
    for (StringAttr axis : kept)
      if (llvm::is_contained(axes.getNames(), axis))
        return wrongState(emitError, type, axis, "sliced last")
               << "; repair with 'all_gather(" << operandName(0) << ", "
               << kept.back().getValue() << ")' before";
    layout.setAxes(dim, kept);
  }
  return success();
}

static TypeResult withLayout(RankedTensorType type, const Layout &layout) {
  return layout.getType(type.getShape(), type.getElementType());
}

/// The layout with the axes in a new state.
static TypeResult withState(RankedTensorType type, AxesAttr axes,
                            AxisState state) {
  Layout layout = Layout::of(type);
  layout.setMesh(axes.getMesh());
  for (StringAttr axis : axes.getNames())
    layout.setState(axis, state);
  return withLayout(type, layout);
}

static AxisState slicedAt(int64_t dim) {
  return {AxisState::Sliced, static_cast<unsigned>(dim), ReduceKind::sum};
}
static constexpr AxisState localState = {AxisState::Local, 0, ReduceKind::sum};

TypeResult AllReduceOp::inferType(GenericAdaptor<Types> op,
                                  EmitError emitError) {
  // all_reduce_c1, all_reduce_c2, all_reduce_c3
  if (failed(
          checkReducible(op.getKind(), op.getInput(), op.getAxes(), emitError)))
    return failure();
  return withState(op.getInput(), op.getAxes(), {});
}

TypeResult ReduceScatterOp::inferType(GenericAdaptor<Types> op,
                                      EmitError emitError) {
  // reduce_scatter_c1, reduce_scatter_c2, reduce_scatter_c4, reduce_scatter_c3
  if (failed(checkReducible(op.getKind(), op.getInput(), op.getAxes(),
                            emitError)) ||
      failed(checkDim(op.getDim(), op.getInput(), emitError)))
    return failure();
  return withState(op.getInput(), op.getAxes(), slicedAt(op.getDim()));
}

TypeResult AllGatherOp::inferType(GenericAdaptor<Types> op,
                                  EmitError emitError) {
  // all_gather_c1, all_gather_c2
  Layout layout = Layout::of(op.getInput());
  if (failed(gatherAxes(op.getInput(), op.getAxes(), layout, emitError)))
    return failure();
  return withLayout(op.getInput(), layout);
}

TypeResult SliceOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  // slice_c1
  Layout layout = Layout::of(op.getInput());
  for (StringAttr axis : op.getAxes().getNames())
    if (layout.getState(axis).kind != AxisState::Replicated)
      return wrongState(emitError, op.getInput(), axis, "replicated");
  // slice_c2
  if (failed(checkDim(op.getDim(), op.getInput(), emitError)))
    return failure();
  return withState(op.getInput(), op.getAxes(), slicedAt(op.getDim()));
}

bool SliceOp::communicates() { return false; }

TypeResult AllToAllOp::inferType(GenericAdaptor<Types> op,
                                 EmitError emitError) {
  RankedTensorType input = op.getInput();
  // all_to_all_c1, all_to_all_c2
  if (failed(checkOneAxis(op.getAxes(), emitError)) ||
      failed(checkDim(op.getFrom(), input, emitError)) ||
      failed(checkDim(op.getTo(), input, emitError)))
    return failure();
  if (op.getFrom() == op.getTo())
    return emitError() << "expected two dimensions that differ, found "
                       << op.getFrom() << " twice";
  // all_to_all_c3
  Layout layout = Layout::of(input);
  StringAttr axis = op.getAxes().getNames().front();
  if (layout.getState(axis) != slicedAt(op.getFrom()))
    return wrongState(emitError, input, axis,
                      "sliced(" + std::to_string(op.getFrom()) + ")");
  // all_to_all_c4
  if (failed(gatherAxes(input, op.getAxes(), layout, emitError)))
    return failure();
  layout.setState(axis, slicedAt(op.getTo()));
  return withLayout(input, layout);
}

TypeResult BroadcastOp::inferType(GenericAdaptor<Types> op,
                                  EmitError emitError) {
  // broadcast_c1, broadcast_c2
  if (failed(checkOneAxis(op.getAxes(), emitError)) ||
      failed(checkLocal(op.getInput(), op.getAxes().getNames().front(),
                        emitError)))
    return failure();
  return withState(op.getInput(), op.getAxes(), {});
}

TypeResult ReduceOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  // reduce_c1, reduce_c2, reduce_c3, reduce_c4
  if (failed(checkOneAxis(op.getAxes(), emitError)) ||
      failed(
          checkReducible(op.getKind(), op.getInput(), op.getAxes(), emitError)))
    return failure();
  return withState(op.getInput(), op.getAxes(), localState);
}

TypeResult GatherOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  // gather_c1, gather_c2, gather_c3
  Layout layout = Layout::of(op.getInput());
  if (failed(checkOneAxis(op.getAxes(), emitError)) ||
      failed(gatherAxes(op.getInput(), op.getAxes(), layout, emitError)))
    return failure();
  layout.setState(op.getAxes().getNames().front(), localState);
  return withLayout(op.getInput(), layout);
}

TypeResult ScatterOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  // scatter_c1, scatter_c2, scatter_c3
  if (failed(checkOneAxis(op.getAxes(), emitError)) ||
      failed(checkLocal(op.getInput(), op.getAxes().getNames().front(),
                        emitError)) ||
      failed(checkDim(op.getDim(), op.getInput(), emitError)))
    return failure();
  return withState(op.getInput(), op.getAxes(), slicedAt(op.getDim()));
}

TypeResult SendOp::inferType(GenericAdaptor<Types> op, EmitError emitError) {
  // send_c1, send_c2
  if (failed(checkOneAxis(op.getAxes(), emitError)) ||
      failed(checkLocal(op.getInput(), op.getAxes().getNames().front(),
                        emitError)))
    return failure();
  return withState(op.getInput(), op.getAxes(), localState);
}

//===----------------------------------------------------------------------===//
// CommunicateOp
//===----------------------------------------------------------------------===//

namespace {

/// The target type that the global form of a collective infers; `set` sets its
/// properties other than the axes.
template <typename GlobalOp, typename Set>
TypeResult inferTarget(CommunicateOp op, EmitError emitError, Set set) {
  typename GlobalOp::Properties properties;
  properties.axes = op.getAxesAttr();
  set(properties);
  RankedTensorType source = op.getSourceType();
  return GlobalOp::inferType(
      typename GlobalOp::template GenericAdaptor<Types>(
          Types(source), DictionaryAttr::get(op.getContext()), properties),
      emitError);
}

TypeResult inferTarget(CommunicateOp op, EmitError emitError) {
  Builder builder(op.getContext());
  // The dimension that the target is cut at; -1, which is none, if it is not.
  auto cutAt = [&](RankedTensorType type) {
    AxisState state = Layout::of(type).getState(op.getAxes().getNames()[0]);
    return builder.getI64IntegerAttr(
        state.kind == AxisState::Sliced ? static_cast<int64_t>(state.dim) : -1);
  };
  auto kind = [&](auto &p) { p.kind = op.getKindAttr(); };
  auto root = [&](auto &p) { p.root = op.getRootAttr(); };
  auto dim = [&](auto &p) { p.dim = cutAt(op.getTargetType()); };
  switch (op.getCollective()) {
  case Collective::all_reduce:
    return inferTarget<AllReduceOp>(op, emitError, kind);
  case Collective::reduce_scatter:
    return inferTarget<ReduceScatterOp>(op, emitError, [&](auto &p) {
      kind(p);
      dim(p);
    });
  case Collective::all_gather:
    return inferTarget<AllGatherOp>(op, emitError, [](auto &) {});
  case Collective::slice:
    break;
  case Collective::all_to_all:
    return inferTarget<AllToAllOp>(op, emitError, [&](auto &p) {
      p.from = cutAt(op.getSourceType());
      p.to = cutAt(op.getTargetType());
    });
  case Collective::broadcast:
    return inferTarget<BroadcastOp>(op, emitError, root);
  case Collective::reduce:
    return inferTarget<ReduceOp>(op, emitError, [&](auto &p) {
      kind(p);
      root(p);
    });
  case Collective::gather:
    return inferTarget<GatherOp>(op, emitError, root);
  case Collective::scatter:
    return inferTarget<ScatterOp>(op, emitError, [&](auto &p) {
      root(p);
      dim(p);
    });
  case Collective::send:
    return inferTarget<SendOp>(op, emitError,
                               [&](auto &p) { p.shift = op.getShiftAttr(); });
  }
  llvm_unreachable("communicate_c2 was checked");
}

} // namespace

LogicalResult CommunicateOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  // communicate_c1
  auto program = (*this)->getParentOfType<ProgramOp>();
  std::optional<int64_t> rank = program ? program.getRank() : std::nullopt;
  if (!rank)
    return emitOpError() << "expected in a program with '" << kRankAttr << "'";
  // communicate_c2
  Collective what = getCollective();
  bool reduces = what == Collective::all_reduce ||
                 what == Collective::reduce_scatter ||
                 what == Collective::reduce;
  bool rooted = what == Collective::broadcast || what == Collective::reduce ||
                what == Collective::gather || what == Collective::scatter;
  if (what == Collective::slice || getKind().has_value() != reduces ||
      getRoot().has_value() != rooted ||
      getShift().has_value() != (what == Collective::send))
    return emitOpError() << "expected a collective that communicates, with a "
                            "kind of reduction, a root and a shift as it needs "
                            "them and no others";
  // communicate_c3
  MeshOp mesh = getMesh(*this);
  for (Type type : {getFrom(), getTo()}) {
    if (failed(checkTensor(type, emitError)))
      return failure();
    Layout layout = Layout::of(cast<RankedTensorType>(type));
    for (StringAttr axis : layout.getNamedAxes())
      if (layout.getMesh() != getAxes().getMesh() || !mesh ||
          !mesh.getAxisIndex(axis))
        return emitOpError() << "expected layouts on mesh "
                             << getAxes().getMesh() << ", found " << type;
  }
  TypeResult target = inferTarget(*this, emitError);
  if (failed(target))
    return failure();
  if (*target != getTargetType())
    return emitOpError() << "expected to make '" << typeName(*target)
                         << "' of '" << typeName(getSourceType())
                         << "', found '" << typeName(getTargetType()) << "'";
  // communicate_c4
  auto checkPart = [&](Type found, RankedTensorType whole) -> LogicalResult {
    RankedTensorType part = localType(whole, mesh, *rank);
    if (part == found)
      return success();
    return emitOpError() << "expected " << part << ", which rank " << *rank
                         << " holds of '" << typeName(whole) << "', found "
                         << found;
  };
  if (failed(checkPart(getInput().getType(), getSourceType())) ||
      failed(checkPart(getType(), getTargetType())))
    return failure();
  return success();
}

LogicalResult ReshardOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  // reshard_c1
  if (from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType())
    return emitOpError()
           << "expected shape and element type to be kept, found '"
           << typeName(from) << "' and '" << typeName(to) << "'";
  Layout source = Layout::of(from), target = Layout::of(to);
  // reshard_c3
  if (source.getMesh() && target.getMesh() &&
      source.getMesh() != target.getMesh())
    return emitOpError() << "expected layouts on one mesh, found "
                         << source.getMesh() << " and " << target.getMesh();
  // reshard_c2
  if (StringAttr axis = findIllegalAxis(source, target))
    return emitOpError() << "layout '" << source.str() << "' cannot become '"
                         << target.str() << "' along mesh axis '"
                         << axis.getValue() << "'";
  return success();
}

StringAttr ReshardOp::findIllegalAxis(const Layout &from, const Layout &to) {
  SmallVector<StringAttr> axes = from.getNamedAxes();
  llvm::append_range(axes, to.getNamedAxes());
  for (StringAttr axis : axes) {
    AxisState a = from.getState(axis), b = to.getState(axis);
    bool legal = false;
    switch (a.kind) {
    case AxisState::Replicated:
      legal = b.kind != AxisState::Partial;
      break;
    case AxisState::Sliced:
      legal = b.kind == AxisState::Replicated || b.kind == AxisState::Sliced;
      break;
    case AxisState::Partial:
      legal = b.kind != AxisState::Partial || b.reduction == a.reduction;
      break;
    case AxisState::Local:
      legal = b.kind == AxisState::Local;
      break;
    }
    if (!legal)
      return axis;
  }
  return {};
}

OpFoldResult ReshardOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return {};
}
