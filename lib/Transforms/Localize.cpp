//===- Localize.cpp - Programs as one rank executes them ------------------===//
//
// Localizes in two steps. The first step, while all types are global, cuts
// values that are needed in parts. It also records in attributes what only the
// global types say: the source and target types of collectives, positions, and
// chunks. The second step replaces the types.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Localize.h"

#include "dialect/ccn/Chunking.h"
#include "dialect/ccn/Placement.h"
#include "lib/Transforms/Cuts.h"
#include "lib/Transforms/Passes.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_LOCALIZE
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

class Localizer {
public:
  Localizer(ProgramOp program, int64_t rank)
      : program(program), mesh(program.getMesh()), rank(rank),
        builder(program.getContext()) {}

  void run();

private:
  TensorPart partOf(RankedTensorType type) {
    return ccn::partOf(type, mesh, rank);
  }
  SmallVector<Operation *> collectOps();

  // The first step.
  void recordChunks(OverlappedOp op);
  void recordPosition(DropoutOp op);
  void recordPosition(IotaOp op);
  void recordDivisor(ReductionOp op);
  void recordRange(SliceOp op);
  /// Replaces a collective by its local form, which still has a global type.
  Operation *replaceCollective(CollectiveOpInterface op);

  // The second step.
  void localizeInterface();
  void localizeOp(Operation *op);
  void localizeResult(Value value) {
    value.setType(localType(typeOf(value), mesh, rank));
  }
  void removeReshard(ReshardOp op);
  void replaceSlice(SliceOp op);

  ProgramOp program;
  MeshOp mesh;
  int64_t rank;
  OpBuilder builder;
  int64_t channels = 0;
  /// The ranges that slices take of the rank's part, in elements of that part.
  llvm::DenseMap<Operation *, SliceBounds> ranges;
};

} // namespace

SmallVector<Operation *> Localizer::collectOps() {
  SmallVector<Operation *> ops;
  program.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  return ops;
}

//===----------------------------------------------------------------------===//
// While types are global
//===----------------------------------------------------------------------===//

void Localizer::recordChunks(OverlappedOp op) {
  Chunking chunking = getChunking(op);
  auto [value, dim] = chunking.seed;
  SmallVector<Attribute> axes;
  llvm::append_range(axes, findBlockAxes(chunking));
  op.getTakenMutable().assign(value);
  op.setPartAttr(ChunkedAttr::get(op.getContext(), dim,
                                  partOf(typeOf(value))[dim].offset,
                                  chunking.extent, builder.getArrayAttr(axes)));
  op.getBody().walk([&](Operation *inner) {
    // A reshard in a region becomes a reshape.
    if (!isa<ReshapeOp, ReshardOp>(inner))
      return;
    auto it = chunking.dims.find(inner->getResult(0));
    if (it != chunking.dims.end())
      inner->setAttr(kChunkedDimAttr, builder.getI64IntegerAttr(it->second));
  });
}

void Localizer::recordPosition(DropoutOp op) {
  RankedTensorType type = op.getInput().getType();
  Layout layout = Layout::of(type);
  bool isCut = false;
  SmallVector<int64_t> offsets(type.getRank());
  if (op.getOffsets())
    offsets.assign(op.getOffsets()->begin(), op.getOffsets()->end());
  for (auto [dim, bounds] : llvm::enumerate(partOf(type))) {
    isCut |= layout.isSliced(dim);
    offsets[dim] += bounds.offset;
  }
  if (!isCut)
    return;
  op.setOffsets(offsets);
  if (!op.getGlobalShape())
    op.setGlobalShape(type.getShape());
}

void Localizer::recordPosition(IotaOp op) {
  RankedTensorType type = op.getInput().getType();
  auto dim = static_cast<int64_t>(op.getDim());
  if (Layout::of(type).isSliced(static_cast<int>(dim)))
    op.setFrom(op.getFrom() + partOf(type)[static_cast<size_t>(dim)].offset);
}

void Localizer::recordDivisor(ReductionOp op) {
  Layout layout = Layout::of(op.getInput().getType());
  bool isCut = false;
  int64_t divisor = 1;
  for (int64_t dim : op.getDims()) {
    isCut |= layout.isSliced(dim);
    divisor *= op.getInput().getType().getDimSize(dim);
  }
  if (isCut && op.getKind() == ReductionKind::mean && !op.getDivisor())
    op.setDivisor(divisor);
}

void Localizer::recordRange(SliceOp op) {
  auto dim = static_cast<size_t>(op.getDim());
  SliceBounds whole = partOf(op.getInput().getType())[dim];
  SliceBounds part = partOf(op.getType())[dim];
  ranges[op] = {part.offset - whole.offset, part.size};
}

Operation *Localizer::replaceCollective(CollectiveOpInterface op) {
  IntegerAttr root, shift;
  ReduceKindAttr kind;
  if (std::optional<int64_t> position = op.getRootPosition())
    root = builder.getI64IntegerAttr(*position);
  if (std::optional<ReduceKind> reduction = op.getReduction())
    kind = ReduceKindAttr::get(op.getContext(), *reduction);
  if (std::optional<int64_t> by = op.getShiftBy())
    shift = builder.getI64IntegerAttr(*by);
  builder.setInsertionPoint(op);
  auto local = CommunicateOp::create(
      builder, op.getLoc(), op.getTargetType(),
      CollectiveAttr::get(op.getContext(), op.getCollective()), kind,
      op.getSource(), op.getMeshAxes(), root, shift,
      builder.getI64IntegerAttr(channels++), TypeAttr::get(op.getSourceType()),
      TypeAttr::get(op.getTargetType()));
  local->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->getResult(0).replaceAllUsesWith(local.getResult());
  op.erase();
  return local;
}

//===----------------------------------------------------------------------===//
// From global types to local ones
//===----------------------------------------------------------------------===//

void Localizer::localizeInterface() {
  SmallVector<Type> arguments, results;
  for (BlockArgument argument : program.getArguments()) {
    program.setArgAttr(argument.getArgNumber(), kGlobalAttr,
                       TypeAttr::get(argument.getType()));
    localizeResult(argument);
    arguments.push_back(argument.getType());
  }
  for (auto [index, type] : llvm::enumerate(program.getResultTypes())) {
    program.setResultAttr(index, kGlobalAttr, TypeAttr::get(type));
    results.push_back(localType(cast<RankedTensorType>(type), mesh, rank));
  }
  program.setType(builder.getFunctionType(arguments, results));
}

void Localizer::replaceSlice(SliceOp op) {
  SliceBounds range = ranges.lookup(op);
  builder.setInsertionPoint(op);
  auto made =
      ExtractOp::create(builder, op.getLoc(), op.getInput(), op.getDim(),
                        range.offset, range.offset + range.size);
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.getResult().replaceAllUsesWith(made);
  op.erase();
}

void Localizer::removeReshard(ReshardOp op) {
  Value value = op.getInput();
  if (op->getParentOp() != program) {
    // A region must itself compute the values that it yields.
    builder.setInsertionPoint(op);
    auto made = ReshapeOp::create(builder, op.getLoc(), value,
                                  typeOf(value).getShape());
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    value = made;
  }
  op.getResult().replaceAllUsesWith(value);
  op.erase();
}

void Localizer::localizeOp(Operation *op) {
  if (auto slice = dyn_cast<SliceOp>(op))
    return replaceSlice(slice);
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return removeReshard(reshard);
  llvm::for_each(op->getResults(), [&](Value v) { localizeResult(v); });
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    reshape.setShape(reshape.getType().getShape());
  else if (auto broadcast = dyn_cast<BroadcastToOp>(op))
    broadcast.setShape(broadcast.getType().getShape());
}

void Localizer::run() {
  // This comes first, since chunks depend on the original collectives and
  // layouts.
  program.getBody().walk([&](OverlappedOp op) { recordChunks(op); });
  sliceOperands(program);
  sinkCuts(program);
  SmallVector<Operation *> ops = collectOps();
  for (Operation *&op : ops) {
    if (auto collective = dyn_cast<CollectiveOpInterface>(op);
        collective && collective.communicates())
      op = replaceCollective(collective);
    else if (auto dropout = dyn_cast<DropoutOp>(op))
      recordPosition(dropout);
    else if (auto iota = dyn_cast<IotaOp>(op))
      recordPosition(iota);
    else if (auto reduction = dyn_cast<ReductionOp>(op))
      recordDivisor(reduction);
    else if (auto slice = dyn_cast<SliceOp>(op))
      recordRange(slice);
  }
  localizeInterface();
  for (Operation *op : ops)
    localizeOp(op);
  program->setAttr(kRankAttr, builder.getI64IntegerAttr(rank));
}

bool ccn::isRelabelling(ReshardOp op) {
  Layout from = Layout::of(op.getInput().getType());
  Layout to = Layout::of(op.getType());
  for (unsigned dim = 0; dim < from.getRank(); ++dim)
    if (from.getAxes(dim) != to.getAxes(dim))
      return false;
  SmallVector<StringAttr> axes = from.getNamedAxes();
  llvm::append_range(axes, to.getNamedAxes());
  return llvm::all_of(axes, [&](StringAttr axis) {
    return from.getState(axis) == to.getState(axis) ||
           to.getState(axis).kind == AxisState::Local;
  });
}

LogicalResult ccn::localize(ProgramOp program, int64_t rank, EmitRefusal emit) {
  // localize_c1
  if (std::optional<int64_t> other = program.getRank())
    return refuse(emit, "localize_c1",
                  "expected a program that is not localized, found one for "
                  "rank " +
                      Twine(*other),
                  nullptr);
  // localize_c2
  MeshOp mesh = program.getMesh();
  int64_t ranks = mesh ? mesh.getNumRanks() : 1;
  if (rank < 0 || rank >= ranks)
    return refuse(emit, "localize_c2",
                  "expected a rank from 0 to " + Twine(ranks - 1) + ", found " +
                      Twine(rank),
                  nullptr);
  // localize_c3
  ReshardOp moving;
  program.getBody().walk([&](ReshardOp op) {
    if (!moving && !isRelabelling(op))
      moving = op;
  });
  if (moving)
    return refuse(
        emit, "localize_c3",
        "expected reshards that move nothing; ccn-lower-reshard makes "
        "collectives of others",
        moving);
  Localizer(program, rank).run();
  return success();
}

namespace {

struct LocalizePass : ccn::impl::LocalizeBase<LocalizePass> {
  using LocalizeBase::LocalizeBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (failed(localize(program, rank, [&] { return program.emitError(); })))
      signalPassFailure();
  }
};

} // namespace
