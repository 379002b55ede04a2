//===- Cuts.cpp - Cuts values as early as possible ------------------------===//
//
// A cut is a ccn.slice or a ccn.extract, which takes a range of one dimension.
// Cutting the operands of an elementwise operation in the same way cuts its
// result.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Cuts.h"

#include "dialect/ccn/Placement.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ccn;

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The part that a cut takes of a value.
struct Cut {
  unsigned dim = 0;
  /// The axes of a slice; null for a range.
  AxesAttr axes = {};
  uint64_t begin = 0, end = 0;

  bool operator==(const Cut &) const = default;
};

std::optional<Cut> cutOf(Operation *op) {
  if (auto slice = dyn_cast<SliceOp>(op))
    return Cut{static_cast<unsigned>(slice.getDim()), slice.getAxes()};
  if (auto extract = dyn_cast<ExtractOp>(op))
    return Cut{static_cast<unsigned>(extract.getDim()),
               {},
               extract.getBegin(),
               extract.getEnd()};
  return std::nullopt;
}

/// The operation before which a value is cut for a use by `op`.
Operation *findPlace(Operation *op, Value value) {
  // Operations of an overlapped region must use values in chunks; the cut of
  // another value would not, so it is made before the region.
  auto overlapped = dyn_cast<OverlappedOp>(op->getParentOp());
  if (overlapped && value != overlapped.getTaken() &&
      value.getParentRegion() != &overlapped.getBody())
    return overlapped;
  return op;
}

/// The cut of a value for an operation; operations in the same block share it.
Value cutFor(Operation *op, Value value, const Cut &cut) {
  Operation *place = findPlace(op, value);
  for (Operation *user : value.getUsers())
    if (user->getBlock() == place->getBlock() && cutOf(user) == cut) {
      if (!user->isBeforeInBlock(place))
        user->moveBefore(place);
      return user->getResult(0);
    }
  OpBuilder builder(place);
  if (cut.axes)
    return SliceOp::create(builder, op->getLoc(), value, cut.dim, cut.axes);
  return ExtractOp::create(builder, op->getLoc(), value, cut.dim, cut.begin,
                           cut.end);
}

/// Moves cuts from the results of operations to their operands.
class CutSinker {
public:
  explicit CutSinker(ProgramOp program) : program(program) {}

  void run();

private:
  void sink(Operation *op);
  /// The distinct cuts through which a value is used; empty if some use needs
  /// the whole value, or if the cuts together are larger than it.
  SmallVector<Cut, 2> findCuts(Value value);
  /// The bytes per element that are stored only because a value in a kernel is
  /// cut for a user.
  int64_t addedBytes(Value value, Operation *user);
  /// The sum for all operands of an operation.
  int64_t addedBytes(Operation *op);
  /// Makes an operation that computes only a part of the result of `op`.
  Operation *makePart(Operation *op, const Cut &cut);

  ProgramOp program;
};

/// The cut of an operand that is needed for a cut of the result; none if the
/// whole operand is needed.
std::optional<Cut> operandCut(OpOperand &operand, Cut cut) {
  RankedTensorType type = typeOf(operand.get());
  RankedTensorType result = typeOf(operand.getOwner()->getResult(0));
  int64_t dim = cut.dim + type.getRank() - result.getRank();
  if (dim < 0 || type.getDimSize(dim) != result.getDimSize(cut.dim))
    return std::nullopt;
  cut.dim = static_cast<unsigned>(dim);
  return cut;
}

/// Whether parts of the result can be computed from parts of the operands.
bool isMadeInParts(Operation *op, ArrayRef<Cut> cuts) {
  // A broadcast dimension cannot be cut along an axis of the mesh.
  if (isa<BroadcastToOp>(op))
    return llvm::all_of(cuts, [&](const Cut &cut) {
      return !cut.axes || operandCut(op->getOpOperand(0), cut);
    });
  // An integer division by zero is an error even if nobody needs the element.
  const ElementwiseFunction *function = functionOf(op);
  if (function && !function->zeroDivisor.empty() &&
      !isFloat(typeOf(op->getResult(0)).getElementType()))
    return false;
  return isElementwise(op);
}

} // namespace

/// Whether a kernel has only communication and cuts. Without the cuts it would
/// not be a kernel.
static bool computesOnlyCuts(Operation *parent) {
  auto kernel = dyn_cast<FusedOp>(parent);
  return kernel && llvm::all_of(kernel.getBody().front(), [](Operation &op) {
           return cutOf(&op) || isa<CollectiveOpInterface, YieldOp>(op);
         });
}

SmallVector<Cut, 2> CutSinker::findCuts(Value value) {
  SmallVector<Cut, 2> cuts;
  int64_t elements = 0;
  for (Operation *user : value.getUsers()) {
    std::optional<Cut> cut = cutOf(user);
    // A region must itself compute the values that it yields.
    bool isElsewhere = user->getBlock() != value.getParentBlock();
    bool isYielded =
        isElsewhere && llvm::any_of(user->getUsers(), llvm::IsaPred<YieldOp>);
    if (!cut || isYielded ||
        (isElsewhere && computesOnlyCuts(user->getParentOp())))
      return {};
    if (llvm::is_contained(cuts, *cut))
      continue;
    cuts.push_back(*cut);
    // The sizes are rounded down, so that all ranks decide alike; parts may be
    // slightly larger.
    int64_t part = typeOf(user->getResult(0)).getNumElements();
    if (cut->axes)
      for (StringAttr axis : cut->axes.getNames())
        part /= program.getMesh().getAxisSize(axis);
    elements += part;
  }
  return elements <= typeOf(value).getNumElements() ? cuts
                                                    : SmallVector<Cut, 2>();
}

int64_t CutSinker::addedBytes(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  bool isReduced = isa_and_nonnull<AllReduceOp, ReduceScatterOp>(op);
  // Most values are stored in any case. Exceptions are values that elementwise
  // operations of a kernel pass to each other, and values of all ranks that
  // they combine.
  if (!op || op->getBlock() != user->getBlock() ||
      !isa<FusedOp>(op->getParentOp()) || typeOf(value).getRank() == 0 ||
      (!isReduced && !isElementwise(op)))
    return 0;
  bool isShared = false;
  for (Operation *other : value.getUsers()) {
    if (other == user || cutOf(other))
      continue;
    if (!isElementwise(other))
      return 0;
    isShared = true;
  }
  int64_t bytes = elementBytes(typeOf(value).getElementType());
  return isShared || isReduced ? bytes : std::min(bytes, addedBytes(op));
}

int64_t CutSinker::addedBytes(Operation *op) {
  // It takes only the shape of its operand.
  if (isa<IotaOp>(op))
    return 0;
  int64_t bytes = 0;
  for (Value operand :
       llvm::SmallSetVector<Value, 3>(op->operand_begin(), op->operand_end()))
    bytes += addedBytes(operand, op);
  return bytes;
}

Operation *CutSinker::makePart(Operation *op, const Cut &cut) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Cut> own = operandCut(operand, cut);
    operands.push_back(own ? cutFor(op, operand.get(), *own) : operand.get());
  }
  RankedTensorType type = typeOf(op->getResult(0));
  SmallVector<int64_t> shape(type.getShape());
  Layout layout = Layout::of(type);
  if (cut.axes) {
    layout.setMesh(cut.axes.getMesh());
    for (StringAttr axis : cut.axes.getNames())
      layout.setState(axis, {AxisState::Sliced, cut.dim});
  } else {
    shape[cut.dim] = static_cast<int64_t>(cut.end - cut.begin);
  }
  OpBuilder builder(op);
  Operation *part = builder.clone(*op);
  part->setOperands(operands);
  part->getResult(0).setType(layout.getType(shape, type.getElementType()));
  if (cut.axes)
    return part;
  if (auto broadcast = dyn_cast<BroadcastToOp>(part)) {
    broadcast.setShape(shape);
  } else if (auto dropout = dyn_cast<DropoutOp>(part)) {
    // The random bits depend on the element's index in the whole tensor.
    SmallVector<int64_t> offsets(type.getRank());
    if (dropout.getOffsets())
      offsets.assign(dropout.getOffsets()->begin(),
                     dropout.getOffsets()->end());
    offsets[cut.dim] += static_cast<int64_t>(cut.begin);
    dropout.setOffsets(offsets);
    if (!dropout.getGlobalShape())
      dropout.setGlobalShape(type.getShape());
  } else if (auto iota = dyn_cast<IotaOp>(part)) {
    if (static_cast<int64_t>(iota.getDim()) == static_cast<int64_t>(cut.dim))
      iota.setFrom(iota.getFrom() + cut.begin);
  }
  return part;
}

void CutSinker::sink(Operation *op) {
  if (op->getNumResults() != 1)
    return;
  Value result = op->getResult(0);
  SmallVector<Cut, 2> cuts = findCuts(result);
  // Cutting the operands must not store more than the result, which is stored
  // now so that it can be cut.
  if (cuts.empty() || !isMadeInParts(op, cuts) ||
      addedBytes(op) > elementBytes(typeOf(result).getElementType()))
    return;
  SmallVector<Operation *, 2> parts;
  for (const Cut &cut : cuts)
    parts.push_back(makePart(op, cut));
  for (Operation *user : llvm::to_vector(result.getUsers())) {
    auto *cut = llvm::find(cuts, *cutOf(user));
    user->replaceAllUsesWith(parts[static_cast<size_t>(cut - cuts.begin())]);
    user->erase();
  }
  op->erase();
  // A part's operands may be cut further.
  for (Operation *part : parts)
    sink(part);
}

void CutSinker::run() {
  SmallVector<Operation *> ops;
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isElementwise(op) || isa<BroadcastToOp>(op))
      ops.push_back(op);
  });
  // Visits users before the operations that compute their operands.
  for (Operation *op : llvm::reverse(ops))
    sink(op);
}

void ccn::sinkCuts(ProgramOp program) { CutSinker(program).run(); }

void ccn::sliceOperands(ProgramOp program) {
  SmallVector<Operation *> ops;
  program.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    for (OpOperand &operand : op->getOpOperands()) {
      Layout own = Layout::of(typeOf(operand.get()));
      Layout needed = slicedOperandLayout(operand);
      for (unsigned dim = 0; dim < own.getRank(); ++dim) {
        ArrayRef<StringAttr> axes = needed.getAxes(dim);
        axes = axes.drop_front(own.getAxes(dim).size());
        if (axes.empty())
          continue;
        auto attr = AxesAttr::get(op->getContext(), needed.getMesh(), axes);
        operand.set(cutFor(op, operand.get(), {dim, attr}));
      }
    }
}
