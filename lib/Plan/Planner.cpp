//===- Planner.cpp - From a localized program to a plan -------------------===//
//
// Chooses the order of kernels, and where values lie between kernels.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Planner.h"

#include "lib/Plan/Kernel.h"

#include <numeric>

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

ArrayRef<int64_t> Planner::shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

Type Planner::elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

Value plan::outermost(Value value) {
  for (OpOperand &use : value.getUses())
    if (isa<YieldOp>(use.getOwner()))
      return outermost(
          use.getOwner()->getParentOp()->getResult(use.getOperandNumber()));
  return value;
}

Planner::Planner(ProgramOp program, BodyMaker &bodies, RankParts &rankParts)
    : program(program), mesh(program.getMesh()), bodies(bodies),
      rankParts(rankParts), builder(program) {}

GroupAttr Planner::groupOf(AxesAttr axes) {
  return GroupAttr::get(program.getContext(),
                        mesh.getGroup(getRank(), axes.getNames()));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

const Strided *Planner::findStorage(Value value) const {
  auto it = storage.find(value);
  return it == storage.end() ? nullptr : &it->second;
}

bool Planner::isReadByOthers(CommunicateOp op) {
  if (exchangeOf(op))
    return false;
  if (!isPushed(op) || groupOf(op.getAxes()).getRanks().size() == 1)
    return true;
  // In a ring, and after a product, flags signal that members' values are
  // ready, and the other members read them there.
  auto overlapped = op->getParentOfType<OverlappedOp>();
  if (overlapped && overlapped.getRingAttr())
    return true;
  auto product = op.getInput().getDefiningOp<MatmulOp>();
  return product && isa<FusedOp>(op->getParentOp()) &&
         product->getBlock() == op->getBlock();
}

CommunicateOp Planner::findReader(Value value) {
  for (OpOperand &use : value.getUses()) {
    if (auto op = dyn_cast<CommunicateOp>(use.getOwner());
        op && isReadByOthers(op))
      return op;
    if (isa<YieldOp>(use.getOwner()))
      if (CommunicateOp op = findReader(
              use.getOwner()->getParentOp()->getResult(use.getOperandNumber())))
        return op;
  }
  return {};
}

Strided Planner::symmetricHomeOf(Value value, RankedTensorType global) {
  auto [it, isNew] = homes.try_emplace(outermost(value), -1);
  if (isNew)
    it->second = addBuffer(Memory::symmetric, elementOf(value),
                           largestPart(global, mesh));
  return Strided::whole(it->second, shapeOf(value));
}

Strided Planner::homeOf(Value value) {
  if (!homes.contains(outermost(value))) {
    if (CommunicateOp reader = findReader(value))
      return symmetricHomeOf(value, reader.getSourceType());
    homes[outermost(value)] =
        addBuffer(Memory::private_, elementOf(value), countOf(shapeOf(value)));
  }
  return Strided::whole(homes[outermost(value)], shapeOf(value));
}

Strided Planner::stagingOf(CommunicateOp op) {
  Value input = op.getInput();
  auto home = homes.find(outermost(input));
  if (home != homes.end() &&
      memoryOf(builder.bufferAt(home->second)) == Memory::symmetric)
    return Strided::whole(home->second, shapeOf(input));
  auto [it, isNew] = staging.try_emplace(op, -1);
  if (isNew)
    it->second = addBuffer(Memory::symmetric, elementOf(input),
                           largestPart(op.getSourceType(), mesh));
  return Strided::whole(it->second, shapeOf(input));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A kernel's name: the program's names of its values, and its operations, such
/// as "avg, grad: reduce_scatter, div".
static std::string nameOf(Operation *op) {
  llvm::SmallSetVector<StringRef, 8> names, kinds;
  op->walk([&](Operation *inner) {
    if (isa<YieldOp, ConstantOp, FusedOp, ReturnOp>(inner))
      return;
    if (auto name = inner->getAttrOfType<StringAttr>(kLetAttr))
      names.insert(name.getValue());
    if (auto communicate = dyn_cast<CommunicateOp>(inner))
      kinds.insert(stringifyCollective(communicate.getCollective()));
    else
      kinds.insert(inner->getName().stripDialect());
  });
  constexpr size_t most = 4;
  auto join = [](ArrayRef<StringRef> parts) {
    std::string text = llvm::join(parts.take_front(most), ", ");
    return parts.size() > most ? text + ", ..." : text;
  };
  return join(names.getArrayRef()) + (names.empty() ? "" : ": ") +
         join(kinds.getArrayRef());
}

LaunchOp Planner::addLaunch(StringRef name, Location loc) {
  launches.push_back(builder.addLaunch(name, loc, segment));
  return launches.back();
}

/// The operations of a stage, which is a kernel or a single operation.
static SmallVector<Operation *> operationsOf(Operation *op) {
  if (auto kernel = dyn_cast<FusedOp>(op))
    return llvm::map_to_vector(kernel.getBody().front().without_terminator(),
                               [](Operation &inner) { return &inner; });
  return {op};
}

/// The values that a kernel yields as its results.
static OperandRange yieldsOf(Operation *op) {
  return op->getRegion(0).front().getTerminator()->getOperands();
}

bool Planner::leavesAhead(Operation *op) {
  if (!op->hasAttr(kPriorityAttr))
    return false;
  auto kernel = dyn_cast<FusedOp>(op);
  return isa<CommunicateOp>(op) ||
         (kernel && kernel.getSkeleton() == Skeleton::collectives);
}

void Planner::awaitAhead(LaunchOp launch, Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (auto it = ahead.find(operand); it != ahead.end())
        launch.waitFor(it->second);
  });
}

/// The inputs of the collectives of a kernel, or of the single collective `op`.
static llvm::SmallDenseSet<Value> takenBy(Operation *op) {
  llvm::SmallDenseSet<Value> taken;
  op->walk([&](CommunicateOp inner) { taken.insert(inner.getInput()); });
  return taken;
}

/// Collectives with the same input may each write it to the same symmetric
/// buffer, for other ranks to read. Whether they do depends on the rank, but
/// waits must be the same on all ranks, so the launch always waits.
void Planner::awaitSharedHomes(LaunchOp launch, Operation *op) {
  for (Value taken : takenBy(op))
    if (auto it = takenAhead.find(taken); it != takenAhead.end())
      launch.waitFor(it->second);
}

void Planner::awaitAllAhead(LaunchOp launch) {
  for (auto [made, left] : ahead)
    launch.waitFor(left);
  ahead.clear();
  takenAhead.clear();
}

void Planner::takeYields(Operation *op) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), yieldsOf(op)))
    storage[result] = storage.lookup(value);
}

LaunchOp Planner::makeLaunch(Operation *op, const Chunk *chunk,
                             bool *hasParts) {
  LaunchOp launch = builder.addLaunch(nameOf(op), op->getLoc(), segment);
  PartBuilder parts(builder, launch);
  failures |= failed(Kernel(*this, parts, chunk).lower(operationsOf(op)));
  if (!failures && isa<FusedOp>(op))
    takeYields(op);
  if (hasParts)
    *hasParts = parts.size() > 0;
  return launch;
}

void Planner::planKernel(Operation *op) {
  bool hasParts = false;
  LaunchOp launch = makeLaunch(op, nullptr, &hasParts);
  if (failures)
    return;
  // A kernel of only views needs no launch. Reshapes are excluded, since
  // whether one must copy depends on the rank's shapes.
  bool isViews = llvm::all_of(
      operationsOf(op), llvm::IsaPred<TransposeOp, ExtractOp, BroadcastToOp>);
  if (!hasParts && isViews) {
    launch.erase();
    // Values that a kernel's region uses are not operands of the kernel.
    for (Operation *inner : operationsOf(op))
      for (Value operand : inner->getOperands())
        if (auto it = ahead.find(operand); it != ahead.end()) {
          LaunchOp left = it->second;
          for (Value result : op->getResults())
            ahead[result] = left;
        }
    return;
  }
  awaitAhead(launch, op);
  if (leavesAhead(op)) {
    // The collective begins when all earlier launches are done, which include
    // the one that makes its input.
    launch.setStream(1);
    for (LaunchOp before : llvm::reverse(launches))
      if (before.getStream() == 0 && isInSegment(before)) {
        launch.waitFor(before);
        break;
      }
    for (Value result : op->getResults())
      ahead[result] = launch;
    for (Value taken : takenBy(op))
      takenAhead[taken] = launch;
  } else {
    awaitSharedHomes(launch, op);
  }
  for (Value result : op->getResults())
    makers[result] = launch;
  launches.push_back(launch);
}

/// The only collective of a pipeline that runs as a ring, in which each rank
/// begins with another block: a reduce_scatter, where a rank's own block is
/// needed last, or an all_gather, where it is there first. Null if all ranks
/// must process blocks in the same order, as they would otherwise wait for each
/// other in a circle: if there are several collectives, or if other axes cut
/// blocks so that ranks have parts of other positions' blocks.
CommunicateOp Planner::findRing(OverlappedOp op, const Chunking &chunking) {
  SmallVector<CommunicateOp> collectives;
  op.getBody().walk([&](CommunicateOp inner) { collectives.push_back(inner); });
  if (!op.getRingAttr() || collectives.size() != 1)
    return {};
  CommunicateOp only = collectives.front();
  bool scatters = only.getCollective() == Collective::reduce_scatter;
  bool fits = (scatters || only.getCollective() == Collective::all_gather) &&
              chunking.dims.contains(only.getInput());
  if (!fits)
    return {};
  Layout parts =
      Layout::of(scatters ? only.getTargetType() : only.getSourceType());
  ArrayRef<StringAttr> cut =
      parts.getAxes(chunking.dims.lookup(only.getInput()));
  SmallVector<StringAttr> blocks = getBlockAxes(op, chunking);
  bool areOwn = llvm::is_contained(cut, op.getRingAttr()) &&
                cut == ArrayRef(blocks).take_front(cut.size());
  ArrayRef<StringAttr> axes = only.getAxes().getNames();
  return areOwn && !exchangeOf(only) && axes.size() == 1 &&
                 axes.front() == op.getRingAttr()
             ? only
             : CommunicateOp();
}

/// The most streams on which the stages of a region run. At most as many stages
/// run at once as there are chunks. So up to this number of chunks, each
/// running stage has its own stream, no matter how many stages there are.
constexpr uint64_t overlapStreams = 16;

void Planner::planChunk(OverlappedOp op, const Chunk &chunk) {
  llvm::DenseMap<Operation *, LaunchOp> made;
  for (auto [stream, stage] : llvm::enumerate(op.getStages())) {
    LaunchOp launch = makeLaunch(stage, &chunk);
    if (failures)
      return;
    launch.setStream(stream % overlapStreams);
    // The launch waits for the stages whose results it uses.
    stage->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto it = made.find(operand.getDefiningOp()); it != made.end())
          launch.waitFor(it->second);
    });
    made[stage] = launch;
    launches.push_back(launch);
  }
}

void Planner::orderPipeline(size_t begin, size_t stages) {
  auto stepOf = [&](size_t number) {
    return (number - begin) / stages + (number - begin) % stages;
  };
  std::vector<size_t> order(launches.size() - begin);
  std::iota(order.begin(), order.end(), begin);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(stepOf(a), a) < std::pair(stepOf(b), b);
  });
  std::vector<LaunchOp> sorted(
      launches.begin(), launches.begin() + static_cast<std::ptrdiff_t>(begin));
  for (size_t number : order) {
    sorted.push_back(launches[number]);
    Block *block = launches[number]->getBlock();
    launches[number]->moveBefore(block, block->end());
  }
  launches = std::move(sorted);
}

void Planner::planOverlapped(OverlappedOp op) {
  Chunking chunking = getChunking(op);
  auto ranges = getChunkRanges(op);
  // A segment waits for all launches of the one before.
  ++segment;
  ahead.clear();
  takenAhead.clear();
  CommunicateOp ring = findRing(op, chunking);
  size_t first = 0;
  std::optional<int64_t> flags;
  GroupAttr group;
  if (ring) {
    group = groupOf(ring.getAxes());
    size_t members = group.getRanks().size();
    auto position = static_cast<size_t>(
        llvm::find(group.getRanks(), getRank()) - group.getRanks().begin());
    if (ring.getCollective() == Collective::reduce_scatter)
      ++position;
    first = position % members * (ranges.size() / members);
    flags = takeFlags(static_cast<int64_t>(ranges.size() * members));
  }
  const size_t begin = launches.size();
  for (size_t i = 0; i < ranges.size() && !failures; ++i) {
    size_t number = (first + i) % ranges.size();
    Chunk chunk = {chunking, ranges[number]};
    chunk.isFirst = i == 0;
    if (ring)
      chunk.flags =
          *flags + static_cast<int64_t>(number * group.getRanks().size());
    planChunk(op, chunk);
  }
  if (failures)
    return;
  orderPipeline(begin, op.getStages().size());
  takeYields(op);
  ++segment;
  if (ring) {
    // No rank reuses the memory that others read before all have read it.
    PartBuilder(builder, addLaunch("end of ring", ring.getLoc()))
        .barrier(group,
                 takeFlags(static_cast<int64_t>(group.getRanks().size())));
  }
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

void Planner::planArguments() {
  for (BlockArgument argument : program.getArguments()) {
    int buffer = builder.addArgument(argument);
    storage[argument] = Strided::whole(buffer, shapeOf(argument));
  }
  for (unsigned i = 0, end = program.getResultTypes().size(); i < end; ++i)
    resultBuffers.push_back(builder.addResult(i));
}

/// Whether a value may lie in the memory of an argument, on some rank: it is
/// the argument's old or new value, a view of it, or the result of a send or
/// reduce on a rank that keeps its input. The same on all ranks.
static bool mayLieIn(Value value, BlockArgument argument) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return value == argument;
  if (auto update = dyn_cast<UpdateOp>(op))
    return mayLieIn(update.getTarget(), argument);
  if (auto communicate = dyn_cast<CommunicateOp>(op))
    return (communicate.getCollective() == Collective::send ||
            communicate.getCollective() == Collective::reduce) &&
           mayLieIn(communicate.getInput(), argument);
  if (isa<FusedOp>(op))
    return mayLieIn(yieldsOf(op)[cast<OpResult>(value).getResultNumber()],
                    argument);
  return isa<TransposeOp, ExtractOp, BroadcastToOp, ReshapeOp>(op) &&
         mayLieIn(op->getOperand(0), argument);
}

bool Planner::isReadAhead(BlockArgument argument) {
  return llvm::any_of(ahead, [&](const auto &item) {
    Operation *op = item.first.getDefiningOp();
    auto reads = [&](Operation *inner) {
      return llvm::any_of(inner->getOperands(), [&](Value operand) {
        return mayLieIn(operand, argument);
      });
    };
    return op
        ->walk([&](Operation *inner) {
          return reads(inner) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  });
}

void Planner::storeIn(Value value, const Strided &target,
                      BlockArgument argument, Location loc) {
  // Constants are computed where they are needed, which is here.
  if (!findStorage(value))
    planKernel(value.getDefiningOp());
  Strided source = storage.lookup(value);
  // If the last kernel computed the value, that kernel stores it too.
  auto it = makers.find(value);
  if (it == makers.end() || it->second != launches.back() ||
      !isInSegment(launches.back()) || launches.back().getStream() != 0 ||
      (argument && isReadAhead(argument))) {
    // Launches that run ahead may still read the memory that the store
    // overwrites.
    awaitAllAhead(addLaunch("store", loc));
  }
  PartBuilder(builder, launches.back()).copy(source, target, /*isStore=*/true);
}

void Planner::saveOldValues(UpdateOp op, BlockArgument argument) {
  auto isUsedLater = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *top = op->getBlock()->findAncestorOpInBlock(*user);
      return top && op->isBeforeInBlock(top);
    });
  };
  auto buffer = static_cast<int>(argument.getArgNumber());
  SmallVector<Value> old;
  for (auto &[value, view] : storage) {
    bool may = mayLieIn(value, argument);
    assert((may || view.buffer != buffer) && "nothing else is put there");
    // The value to store must not already lie in the argument's memory in
    // another order.
    bool isMoved = value == op.getValue() && value.getDefiningOp() &&
                   !value.getDefiningOp<UpdateOp>();
    if (may && (isMoved || isUsedLater(value)))
      old.push_back(value);
  }
  if (old.empty())
    return;
  // Sorts the values in the program's order, since the map has none.
  llvm::sort(old, [](Value a, Value b) {
    auto position = [](Value v) {
      return std::pair(
          v.getDefiningOp() != nullptr,
          v.getDefiningOp() ? 0u : cast<BlockArgument>(v).getArgNumber());
    };
    if (position(a) != position(b))
      return position(a) < position(b);
    if (a.getDefiningOp() && a.getDefiningOp() == b.getDefiningOp())
      return cast<OpResult>(a).getResultNumber() <
             cast<OpResult>(b).getResultNumber();
    return a.getDefiningOp() != b.getDefiningOp() && a.getDefiningOp() &&
           a.getDefiningOp()->getBlock() == b.getDefiningOp()->getBlock() &&
           a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
  });
  // All ranks have the launch, even if some have nothing to save.
  PartBuilder parts(builder, addLaunch(nameOf(op), op.getLoc()));
  awaitAllAhead(parts.getLaunch());
  for (Value value : old) {
    if (storage[value].buffer != buffer)
      continue;
    Strided copy = Strided::whole(
        addBuffer(Memory::private_, elementOf(value), countOf(shapeOf(value))),
        shapeOf(value));
    parts.copy(storage[value], copy);
    storage[value] = copy;
  }
}

void Planner::planUpdate(UpdateOp op) {
  // The target is the argument's memory, even if its old value was saved
  // elsewhere.
  Value first = op.getTarget();
  while (auto update = first.getDefiningOp<UpdateOp>())
    first = update.getTarget();
  auto argument = cast<BlockArgument>(first);
  Strided target = Strided::whole(static_cast<int>(argument.getArgNumber()),
                                  shapeOf(argument));
  saveOldValues(op, argument);
  storeIn(op.getValue(), target, argument, op.getLoc());
  storage[op.getResult()] = target;
}

void Planner::planReturn(ReturnOp op) {
  for (auto [value, buffer] : llvm::zip_equal(op->getOperands(), resultBuffers))
    storeIn(value, Strided::whole(buffer, shapeOf(value)), {}, op.getLoc());
}

LogicalResult Planner::run() {
  planArguments();
  for (Operation &op : program.getBody().front()) {
    if (auto update = dyn_cast<UpdateOp>(op))
      planUpdate(update);
    else if (auto end = dyn_cast<ReturnOp>(op))
      planReturn(end);
    else if (auto overlapped = dyn_cast<OverlappedOp>(op))
      planOverlapped(overlapped);
    else if (!isa<ConstantOp>(op))
      planKernel(&op);
    if (failures)
      return failure();
  }
  return success();
}
