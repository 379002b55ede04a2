//===- Chunking.cpp - Which values are made in chunks ---------------------===//
//
// Follows chunks from operands to results.
//
//===----------------------------------------------------------------------===//

#include "dialect/Chunking.h"

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
  ChunkFlow(ChunkSeed seed, NotChunkable &why) : why(why) {
    chunking.dims[seed.value] = seed.dim;
    chunking.extent = typeOf(seed.value).getDimSize(seed.dim);
  }

  LogicalResult run(ArrayRef<Operation *> ops) {
    for (Operation *op : ops) {
      bool touched = false;
      if (failed(visit(op, touched)))
        return failure();
      if (!touched)
        chunking.whole.push_back(op);
    }
    return success();
  }

  Chunking take() { return std::move(chunking); }

private:
  LogicalResult refuse(Operation *op, const Twine &text) {
    why = {op, text.str()};
    return failure();
  }
  LogicalResult visit(Operation *op, bool &touched);
  LogicalResult visitLocal(Operation *op);

  Chunking chunking;
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
      if (auto it = chunking.dims.find(value); it != chunking.dims.end())
        chunking.dims[result] = it->second;
    return success();
  }
  if (llvm::none_of(op->getOperands(), [&](Value operand) {
        return chunking.dims.contains(operand);
      }))
    return success();
  touched = true;
  // Elements stay what they are; only where they are changes.
  if (isa<CollectiveOpInterface, ReshardOp>(op)) {
    chunking.dims[op->getResult(0)] = chunking.dims.lookup(op->getOperand(0));
    return success();
  }
  return visitLocal(op);
}

LogicalResult ChunkFlow::visitLocal(Operation *op) {
  StringRef name = op->getName().stripDialect();
  auto inferable = dyn_cast<LayoutOpInterface>(op);
  if (!inferable)
    return refuse(op, "'" + name + "' cannot run in chunks");
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
    }
    types.push_back(layout.getType(type.getShape(), type.getElementType()));
  }
  FailureOr<RankedTensorType> result =
      inferable.inferResultType(types, [] { return InferenceError(); });
  AxisState state;
  if (succeeded(result))
    state = Layout::of(*result).getState(axis);
  if (state.kind != AxisState::Sliced)
    return refuse(op, "'" + name + "' combines elements of several chunks");
  if (result->getDimSize(state.dim) != chunking.extent)
    return refuse(op, "'" + name + "' changes the size of that dimension");
  chunking.dims[op->getResult(0)] = state.dim;
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
  std::optional<Chunking> incomplete;
  for (ChunkSeed seed : findChunkSeeds(stages)) {
    NotChunkable ignored{};
    std::optional<Chunking> chunking = inferChunking(stages, seed, ignored);
    if (!chunking) {
      if (!why.op)
        why = ignored;
      continue;
    }
    bool fits = true;
    for (auto [value, dim] : llvm::zip_equal(yielded, op.getDims())) {
      auto it = chunking->dims.find(value);
      fits &= it != chunking->dims.end() && it->second == dim;
    }
    if (fits && chunking->whole.empty())
      return chunking;
    if (fits && !incomplete)
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

SmallVector<SmallVector<SliceBounds>> ccn::getChunkRanges(OverlappedOp op) {
  Chunking chunking = getChunking(op);
  MeshOp mesh = getMesh(op);
  SmallVector<StringAttr> axes = findBlockAxes(chunking);
  if (op.getRingAttr())
    axes = {op.getRingAttr()};
  SmallVector<int64_t> sizes;
  int64_t blocks = 1;
  for (StringAttr axis : axes) {
    sizes.push_back(mesh.getAxisSize(axis));
    blocks *= sizes.back();
  }
  auto parts = static_cast<int64_t>(op.getChunks());
  SmallVector<SmallVector<SliceBounds>> chunks(op.getRingAttr() ? blocks * parts
                                                                : parts);
  SmallVector<int64_t> position(axes.size());
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t rest = block;
    for (size_t i = axes.size(); i-- > 0;) {
      position[i] = rest % sizes[i];
      rest /= sizes[i];
    }
    SliceBounds whole = sliceBounds(chunking.extent, sizes, position);
    for (int64_t part = 0; part < parts; ++part) {
      SliceBounds piece = sliceBounds(whole.size, {parts}, {part});
      piece.offset += whole.offset;
      chunks[op.getRingAttr() ? block * parts + part : part].push_back(piece);
    }
  }
  return chunks;
}

//===----------------------------------------------------------------------===//
// OverlappedOp
//===----------------------------------------------------------------------===//

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
    if (!isMemoryEffectFree(op) || (op->getNumRegions() && !isa<FusedOp>(op)))
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
