//===- Chunking.cpp - Which values are made in chunks ---------------------===//
//
// Follows chunks from operands to results, and in kernels back to operands.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Chunking.h"

#include "dialect/ccn/Placement.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ccn;

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Follows chunks through operations.
class ChunkFlow {
public:
  /// In a global program.
  ChunkFlow(ChunkSeed seed, NotChunkable &why) : why(why) {
    chunking.seed = seed;
    chunking.dims[seed.value] = seed.dim;
    chunking.extent = typeOf(seed.value).getDimSize(seed.dim);
  }
  /// In one that is localized, with what the region says that it takes.
  ChunkFlow(Value taken, ChunkedAttr part, NotChunkable &why)
      : isLocal(true), why(why) {
    chunking.seed = {taken, static_cast<unsigned>(part.getDim())};
    chunking.dims[taken] = part.getDim();
    chunking.offsets[taken] = part.getOffset();
    chunking.extent = part.getExtent();
  }

  LogicalResult run(ArrayRef<Operation *> ops) {
    for (Operation *op : ops) {
      bool touched = false;
      if (failed(visit(op, touched)))
        return failure();
      if (!touched)
        chunking.whole.push_back(op);
    }
    for (Operation *op : llvm::reverse(ops))
      if (auto fused = dyn_cast<FusedOp>(op))
        for (Operation &inner :
             llvm::reverse(fused.getBody().front().without_terminator()))
          followBack(&inner);
    return success();
  }

  Chunking take() { return std::move(chunking); }

private:
  LogicalResult refuse(Operation *op, const Twine &text) {
    why = {op, text.str()};
    return failure();
  }
  LogicalResult visit(Operation *op, bool &touched);
  /// What takes nothing in chunks, but is only needed in chunks, element by
  /// element, by others of its kernel is made in chunks too: the first chunk
  /// would have to make and store all of it.
  void followBack(Operation *op);
  LogicalResult visitCommunicate(CommunicateOp op);
  /// An operation on one rank.
  LogicalResult visitComputation(Operation *op);
  /// The offset of the chunked operands, which all must have the same.
  LogicalResult joinOffsets(Operation *op, int64_t &offset);

  Chunking chunking;
  /// Whether types are of the parts of one rank.
  bool isLocal = false;
  NotChunkable &why;
};

LogicalResult ChunkFlow::visit(Operation *op, bool &touched) {
  if (auto fused = dyn_cast<FusedOp>(op)) {
    for (Operation &inner : fused.getBody().front().without_terminator())
      if (failed(visit(&inner, touched)))
        return failure();
    for (auto [result, value] : llvm::zip_equal(
             fused.getResults(),
             fused.getBody().front().getTerminator()->getOperands()))
      if (auto it = chunking.dims.find(value); it != chunking.dims.end()) {
        unsigned dim = it->second;
        chunking.dims[result] = dim;
        if (isLocal)
          chunking.offsets[result] = chunking.offsets.lookup(value);
      }
    return success();
  }
  if (llvm::none_of(op->getOperands(), [&](Value operand) {
        return chunking.dims.contains(operand);
      }))
    return success();
  touched = true;
  if (auto communicate = dyn_cast<CommunicateOp>(op))
    return visitCommunicate(communicate);
  // Elements stay what they are; only where they are changes.
  if (isa<CollectiveOpInterface, ReshardOp>(op)) {
    chunking.dims[op->getResult(0)] = chunking.dims.lookup(op->getOperand(0));
    return success();
  }
  return visitComputation(op);
}

void ChunkFlow::followBack(Operation *op) {
  if (!isElementwise(op) || isa<ConstantOp>(op) || op->use_empty() ||
      chunking.dims.contains(op->getResult(0)))
    return;
  Value result = op->getResult(0), like;
  for (Operation *user : result.getUsers()) {
    if (!isElementwise(user) || user->getBlock() != op->getBlock())
      return;
    Value made = user->getResult(0);
    if (!chunking.dims.contains(made) ||
        typeOf(made).getShape() != typeOf(result).getShape())
      return;
    if (like &&
        (chunking.dims[like] != chunking.dims[made] ||
         chunking.offsets.lookup(like) != chunking.offsets.lookup(made)))
      return;
    like = made;
  }
  chunking.dims[result] = unsigned(chunking.dims[like]);
  if (isLocal)
    chunking.offsets[result] = int64_t(chunking.offsets[like]);
}

LogicalResult ChunkFlow::visitCommunicate(CommunicateOp op) {
  Value input = op.getInput();
  unsigned dim = chunking.dims.lookup(input);
  auto program = op->getParentOfType<ProgramOp>();
  auto offsetOf = [&](RankedTensorType type) {
    return partOf(type, program.getMesh(), *program.getRank())[dim].offset;
  };
  if (op.getSourceType().getDimSize(dim) != chunking.extent ||
      offsetOf(op.getSourceType()) != chunking.offsets.lookup(input))
    return refuse(op, "'communicate' takes another part than it is given");
  chunking.dims[op.getResult()] = dim;
  chunking.offsets[op.getResult()] = offsetOf(op.getTargetType());
  return success();
}

LogicalResult ChunkFlow::joinOffsets(Operation *op, int64_t &offset) {
  std::optional<int64_t> joined;
  for (Value operand : op->getOperands()) {
    auto it = chunking.offsets.find(operand);
    if (it == chunking.offsets.end())
      continue;
    if (joined && *joined != it->second)
      return refuse(op, "'" + op->getName().stripDialect() +
                            "' takes parts that begin at different places");
    joined = it->second;
  }
  offset = joined.value_or(0);
  return success();
}

LogicalResult ChunkFlow::visitComputation(Operation *op) {
  StringRef name = op->getName().stripDialect();
  Value result = op->getNumResults() ? op->getResult(0) : Value();
  int64_t offset = 0;
  if (isLocal) {
    if (failed(joinOffsets(op, offset)))
      return failure();
    if (result)
      chunking.offsets[result] = offset;
  }
  // A part that is cut further.
  if (auto extract = dyn_cast<ExtractOp>(op))
    if (unsigned dim = chunking.dims.lookup(extract.getInput());
        isLocal && extract.getDim() == dim) {
      chunking.dims[result] = dim;
      chunking.offsets[result] =
          offset + static_cast<int64_t>(extract.getBegin());
      return success();
    }
  auto inferable = dyn_cast<LayoutOpInterface>(op);
  if (!inferable)
    return refuse(op, "'" + name + "' cannot run in chunks");
  std::optional<int64_t> size;
  // As if an axis cut what comes in chunks and nothing else was distributed.
  auto mesh = FlatSymbolRefAttr::get(op->getContext(), "chunks");
  auto axis = StringAttr::get(op->getContext(), "chunk");
  SmallVector<RankedTensorType> types;
  for (Value operand : op->getOperands()) {
    RankedTensorType type = typeOf(operand);
    Layout layout(type.getRank());
    if (auto it = chunking.dims.find(operand); it != chunking.dims.end()) {
      layout.setMesh(mesh);
      layout.setState(axis, {AxisState::Sliced, it->second});
      size = type.getDimSize(it->second);
    }
    types.push_back(layout.getType(type.getShape(), type.getElementType()));
  }
  FailureOr<RankedTensorType> inferred =
      inferable.inferResultType(types, [] { return InferenceError(); });
  AxisState state;
  if (succeeded(inferred))
    state = Layout::of(*inferred).getState(axis);
  if (state.kind != AxisState::Sliced)
    return refuse(op, "'" + name + "' combines elements of several chunks");
  // Of several dimensions that a reshape may have made of one, in a part.
  if (auto declared = op->getAttrOfType<IntegerAttr>(kChunkedDimAttr);
      declared && isLocal) {
    auto reshape = cast<ReshapeOp>(op);
    if (declared.getInt() < 0 ||
        declared.getInt() >= reshape.getType().getRank() ||
        !ReshapeOp::keepsDimension(reshape.getInput().getType().getShape(),
                                   chunking.dims.lookup(reshape.getInput()),
                                   reshape.getShape(), declared.getInt()))
      return refuse(op, "'reshape' does not make dimension " +
                            Twine(declared.getInt()) + " of what it is given");
    state.dim = declared.getInt();
  }
  if (inferred->getDimSize(state.dim) != size)
    return refuse(op, "'" + name + "' changes the size of that dimension");
  chunking.dims[result] = state.dim;
  return success();
}

/// The values that an operation and those in it use.
SmallVector<Value> usedBy(Operation *op) {
  SmallVector<Value> values;
  op->walk([&](Operation *inner) {
    llvm::append_range(values, inner->getOperands());
  });
  return values;
}

/// How the region's results come to be chunked as it says; if it has operations
/// that take nothing in chunks, they are in `whole`.
std::optional<Chunking> findChunking(OverlappedOp op, NotChunkable &why) {
  SmallVector<Operation *> stages = op.getStages();
  OperandRange yielded = op.getBody().front().getTerminator()->getOperands();
  auto fits = [&](const Chunking &chunking) {
    for (auto [value, dim] : llvm::zip_equal(yielded, op.getDims())) {
      auto it = chunking.dims.find(value);
      if (it == chunking.dims.end() || it->second != dim)
        return false;
    }
    return true;
  };
  if (op.getTaken()) {
    ChunkFlow flow(op.getTaken(), *op.getPart(), why);
    if (failed(flow.run(stages)))
      return std::nullopt;
    Chunking chunking = flow.take();
    return fits(chunking) ? std::optional(std::move(chunking)) : std::nullopt;
  }
  std::optional<Chunking> incomplete;
  for (ChunkSeed seed : findChunkSeeds(stages)) {
    NotChunkable ignored{};
    std::optional<Chunking> chunking = inferChunking(stages, seed, ignored);
    if (!chunking) {
      if (!why.op)
        why = ignored;
      continue;
    }
    if (!fits(*chunking))
      continue;
    if (chunking->whole.empty())
      return chunking;
    if (!incomplete)
      incomplete = std::move(chunking);
  }
  return incomplete;
}

} // namespace

SmallVector<ChunkSeed> ccn::findChunkSeeds(ArrayRef<Operation *> ops) {
  llvm::SetVector<Value> outside;
  for (Operation *op : ops)
    for (Value value : usedBy(op)) {
      Operation *definer = value.getDefiningOp();
      if (!definer || llvm::none_of(ops, [&](Operation *other) {
            return other->isAncestor(definer);
          }))
        outside.insert(value);
    }
  SmallVector<ChunkSeed> seeds;
  for (Value value : outside)
    for (unsigned dim = 0; dim < typeOf(value).getRank(); ++dim)
      seeds.push_back({value, dim});
  return seeds;
}

std::optional<Chunking> ccn::inferChunking(ArrayRef<Operation *> ops,
                                           ChunkSeed seed, NotChunkable &why) {
  ChunkFlow flow(seed, why);
  if (failed(flow.run(ops)))
    return std::nullopt;
  return flow.take();
}

Chunking ccn::getChunking(OverlappedOp op) {
  NotChunkable why{};
  std::optional<Chunking> chunking = findChunking(op, why);
  assert(chunking && "overlapped_c5 was verified");
  return *std::move(chunking);
}

SmallVector<StringAttr> ccn::getBlockAxes(OverlappedOp op,
                                          const Chunking &chunking) {
  ChunkedAttr part = op.getPartAttr();
  SmallVector<StringAttr> axes =
      part ? llvm::to_vector(part.getAxes().getAsRange<StringAttr>())
           : findBlockAxes(chunking);
  if (StringAttr ring = op.getRingAttr();
      ring && !llvm::is_contained(axes, ring))
    axes.push_back(ring);
  return axes;
}

SmallVector<StringAttr> ccn::findBlockAxes(const Chunking &chunking) {
  // The values cut by fewer axes are gathered from, or scattered to, those cut
  // by more. The map has no order, so ties go by name.
  SmallVector<StringAttr> axes;
  for (auto [value, dim] : chunking.dims) {
    Layout layout = Layout::of(typeOf(value));
    ArrayRef<StringAttr> cut = layout.getAxes(dim);
    auto isEarlier = [](StringAttr a, StringAttr b) {
      return a.getValue() < b.getValue();
    };
    if (cut.size() > axes.size() ||
        (cut.size() == axes.size() &&
         std::lexicographical_compare(cut.begin(), cut.end(), axes.begin(),
                                      axes.end(), isEarlier)))
      axes = SmallVector<StringAttr>(cut);
  }
  return axes;
}

SmallVector<SliceBounds> ccn::clipRanges(ArrayRef<SliceBounds> ranges,
                                         int64_t begin, int64_t size) {
  SmallVector<SliceBounds> clipped;
  for (SliceBounds range : ranges) {
    int64_t first = std::max(range.offset - begin, int64_t(0));
    int64_t end = std::min(range.offset + range.size - begin, size);
    if (first < end)
      clipped.push_back({first, end - first});
  }
  return clipped;
}

SmallVector<SmallVector<SliceBounds>> ccn::getChunkRanges(OverlappedOp op) {
  Chunking chunking = getChunking(op);
  MeshOp mesh = getMesh(op);
  SmallVector<StringAttr> axes = getBlockAxes(op, chunking);
  SmallVector<int64_t> sizes;
  int64_t blocks = 1;
  for (StringAttr axis : axes) {
    sizes.push_back(mesh.getAxisSize(axis));
    blocks *= sizes.back();
  }
  auto parts = static_cast<int64_t>(op.getChunks());
  StringAttr ring = op.getRingAttr();
  SmallVector<SmallVector<SliceBounds>> chunks(
      ring ? mesh.getAxisSize(ring) * parts : parts);
  SmallVector<int64_t> position(axes.size());
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t rest = block;
    for (size_t i = axes.size(); i-- > 0;) {
      position[i] = rest % sizes[i];
      rest /= sizes[i];
    }
    int64_t first =
        ring ? position[llvm::find(axes, ring) - axes.begin()] * parts : 0;
    SliceBounds whole = sliceBounds(chunking.extent, sizes, position);
    for (int64_t part = 0; part < parts; ++part) {
      SliceBounds piece = sliceBounds(whole.size, {parts}, {part});
      piece.offset += whole.offset;
      chunks[first + part].push_back(piece);
    }
  }
  return chunks;
}

//===----------------------------------------------------------------------===//
// OverlappedOp
//===----------------------------------------------------------------------===//

void OverlappedOp::build(OpBuilder &builder, OperationState &state,
                         TypeRange results, int64_t chunks,
                         ArrayRef<int64_t> dims, StringAttr ring) {
  build(builder, state, results, chunks, dims, ring, Value(), ChunkedAttr());
}

/// Checks overlapped_c8.
static LogicalResult verifyTaken(OverlappedOp op) {
  auto program = cast<ProgramOp>(op->getParentOp());
  bool isLocal = program.getRank().has_value();
  if (bool(op.getTaken()) != isLocal || bool(op.getPartAttr()) != isLocal)
    return op.emitOpError()
           << (isLocal ? "expected 'takes' in a program with '"
                       : "expected no 'takes' in a program without '")
           << kRankAttr << "'";
  if (!isLocal)
    return success();
  ChunkedAttr part = op.getPartAttr();
  RankedTensorType type = typeOf(op.getTaken());
  if (part.getDim() >= type.getRank() ||
      type.getDimSize(part.getDim()) > part.getExtent() - part.getOffset())
    return op.emitOpError() << "expected to take a part of the extent along a "
                               "dimension of '"
                            << typeName(type) << "', found " << part;
  for (auto axis : part.getAxes().getAsRange<StringAttr>())
    if (MeshOp mesh = getMesh(op); !mesh || !mesh.getAxisIndex(axis))
      return op.emitOpError() << "expected an axis of the mesh, found '"
                              << axis.getValue() << "'";
  return success();
}

SmallVector<Operation *> OverlappedOp::getStages() {
  return llvm::map_to_vector(getBody().front().without_terminator(),
                             [](Operation &op) { return &op; });
}

bool ccn::communicatesAlong(Operation *op, StringAttr axis) {
  return op
      ->walk([&](CollectiveOpInterface collective) {
        bool along = collective.communicates() &&
                     (!axis || llvm::is_contained(
                                   collective.getMeshAxes().getNames(), axis));
        return along ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult OverlappedOp::verifyRegions() {
  SmallVector<Operation *> stages = getStages();
  // overlapped_c1
  if (stages.size() < 2)
    return emitOpError() << "expected at least two operations";
  for (Operation *op : stages)
    if (!isEffectFree(op) || (op->getNumRegions() && !isa<FusedOp>(op)))
      return emitOpError("expected operations without side effects, and "
                         "without regions unless they are fused")
                 .attachNote(op->getLoc())
             << "found this";
  // overlapped_c2
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getOperands().empty() ||
      yield.getOperandTypes() != getResultTypes())
    return emitOpError()
           << "expected a yield of the result types, one at least";
  for (Value value : yield.getOperands())
    if (value.getParentRegion() != &getBody())
      return emitOpError() << "expected to yield values of the region";
  // overlapped_c6
  if (getChunks() < 1 || getChunks() > maxChunks)
    return emitOpError() << "expected from 1 to " << maxChunks
                         << " chunks, found " << getChunks();
  // overlapped_c4
  if (llvm::none_of(stages,
                    [](Operation *op) { return communicatesAlong(op); }))
    return emitOpError() << "expected an operation that communicates";
  // overlapped_c7
  if (getRing() && llvm::none_of(stages, [&](Operation *op) {
        return communicatesAlong(op, getRingAttr());
      }))
    return emitOpError() << "expected an operation that communicates along '"
                         << *getRing() << "'";
  // overlapped_c5
  if (getDims().size() != getNumResults())
    return emitOpError() << "expected a dimension for each of "
                         << getNumResults() << " results, found "
                         << getDims().size();
  if (failed(verifyTaken(*this)))
    return failure();
  NotChunkable why{};
  std::optional<Chunking> chunking = findChunking(*this, why);
  if (!chunking) {
    auto diagnostic = emitOpError()
                      << "expected operations that run in chunks along ["
                      << getDims() << "]";
    if (why.op)
      diagnostic.attachNote(why.op->getLoc()) << why.why;
    return diagnostic;
  }
  // overlapped_c3
  if (!chunking->whole.empty())
    return emitOpError("expected operations that take a value in chunks")
               .attachNote(chunking->whole.front()->getLoc())
           << "this does not";
  return success();
}
