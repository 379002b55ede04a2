//===- Overlap.cpp - Stages that run at once, chunk by chunk --------------===//
//
// Puts a chain of producers and consumers into one region that runs as a
// pipeline. While a stage works on a chunk, the one before works on the next.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Chunking.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/PrimitiveOps.h"
#include "lib/Transforms/Regions.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_OVERLAP
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

/// One overlapping: decides which operations run in chunks before it changes
/// the program.
class Overlapping {
public:
  Overlapping(RewriterBase &rewriter, EmitRefusal emit)
      : rewriter(rewriter), emit(emit) {}

  FailureOr<OverlappedOp> run(ArrayRef<OpSet> values, int64_t chunks);

private:
  LogicalResult findStages(ArrayRef<OpSet> values);
  LogicalResult findChain();
  LogicalResult chooseChunking(int64_t chunks);
  StringAttr findRing();
  /// The operations that run in chunks. Those whose results are the same for
  /// every chunk come before.
  OpSet inChunks(const Chunking &how) const {
    OpSet left = ops;
    llvm::erase_if(
        left, [&](Operation *op) { return llvm::is_contained(how.whole, op); });
    return left;
  }

  RewriterBase &rewriter;
  EmitRefusal emit;
  /// The operations of each named value.
  SmallVector<OpSet> stages;
  /// The operations of all stages, in program order.
  OpSet ops;
  Chunking chunking;
};

LogicalResult Overlapping::findStages(ArrayRef<OpSet> values) {
  // Stores are not part of a pipeline: they take effect after the pipeline that
  // computes the stored value. Constants become part of their users.
  llvm::SetVector<Operation *> all;
  for (auto [index, value] : llvm::enumerate(values)) {
    OpSet stage;
    for (Operation *op : value) {
      // An operation of several named values belongs to the last of them: with
      // `p` and the gather of `p`, the gather is its own stage.
      auto holdsIt = [&](const OpSet &later) {
        return llvm::is_contained(later, op);
      };
      if (isa<UpdateOp, ConstantOp>(op) ||
          llvm::any_of(values.drop_front(index + 1), holdsIt))
        continue;
      // The operation is part of a kernel that is named itself.
      if (llvm::any_of(values, [&](const OpSet &other) {
            return llvm::is_contained(other, op->getParentOp());
          }))
        continue;
      // overlap_c1
      if (!isa<ProgramOp>(op->getParentOp()) || isa<OverlappedOp>(op))
        return refuse(emit, "overlap_c1",
                      "expected operations outside of regions, or whole fused "
                      "kernels",
                      op);
      if (all.insert(op))
        stage.push_back(op);
    }
    if (!stage.empty())
      stages.push_back(stage);
  }
  if (stages.size() < 2)
    return refuse(emit, "overlap_c1",
                  "expected two values at least that compute or communicate, "
                  "found " +
                      Twine(stages.size()),
                  all.empty() ? nullptr : all.back());
  ops = OpSet(all.getArrayRef());
  return success();
}

/// Whether `op` uses, in it or its regions, a result of one of `makers`.
bool uses(Operation *op, ArrayRef<Operation *> makers) {
  return op
      ->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (operand.getDefiningOp() &&
              llvm::is_contained(makers, operand.getDefiningOp()))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult Overlapping::findChain() {
  // overlap_c2
  for (size_t i = 1; i < stages.size(); ++i)
    if (llvm::none_of(stages[i],
                      [&](Operation *op) { return uses(op, stages[i - 1]); }))
      return refuse(emit, "overlap_c2",
                    "expected each value to be made from the one before it",
                    stages[i].back());
  // overlap_c3
  if (Operation *back = RegionBuilder(ops).findPathBack())
    return refuse(emit, "overlap_c3",
                  "expected no path that leaves the values and comes back, "
                  "found one that ends here",
                  back);
  // overlap_c4
  if (llvm::none_of(ops, [](Operation *op) { return communicatesAlong(op); }))
    return refuse(emit, "overlap_c4",
                  "expected a value at least that communicates", ops.back());
  return success();
}

LogicalResult Overlapping::chooseChunking(int64_t chunks) {
  ops = OpSet(RegionBuilder(ops).getOps());
  MeshOp mesh = getMesh(ops.front());
  NotChunkable why{};
  // The best chunking has a chunk of every block of ranks and, among those, the
  // outermost dimension, where a chunk is contiguous.
  std::optional<std::pair<bool, int64_t>> best;
  for (ChunkSeed seed : findChunkSeeds(ops)) {
    NotChunkable here{};
    std::optional<Chunking> found = inferChunking(ops, seed, here);
    if (found)
      // A stage without an operation that runs in chunks would not overlap.
      for (const OpSet &stage : stages)
        if (llvm::all_of(stage, [&](Operation *op) {
              return llvm::is_contained(found->whole, op);
            })) {
          here = {stage.back(), "this takes nothing in chunks"};
          found.reset();
          break;
        }
    if (found)
      for (Value output : RegionBuilder(inChunks(*found)).findOutputs())
        if (!found->dims.contains(output)) {
          here = {output.getDefiningOp(), "this is not made in chunks"};
          found.reset();
          break;
        }
    // At least one communicating operation must be part of the pipeline.
    if (found && llvm::none_of(ops, [&](Operation *op) {
          return communicatesAlong(op) && !llvm::is_contained(found->whole, op);
        })) {
      here = {ops.back(), "what communicates takes nothing in chunks"};
      found.reset();
    }
    if (!found) {
      if (!why.op)
        why = here;
      continue;
    }
    int64_t blocks = 1;
    for (StringAttr axis : findBlockAxes(*found))
      blocks *= mesh.getAxisSize(axis);
    int64_t outermost = 0;
    for (Operation *op : ops)
      for (Value result : op->getResults())
        if (auto it = found->dims.find(result); it != found->dims.end())
          outermost = std::max<int64_t>(outermost, it->second);
    std::pair<bool, int64_t> score = {found->extent / blocks >= chunks,
                                      -outermost};
    if (!best || score > *best) {
      best = score;
      chunking = *std::move(found);
    }
  }
  // overlap_c5
  if (!best) {
    InFlightDiagnostic diagnostic = emit();
    diagnostic << "expected a dimension along which all values can be made in "
                  "chunks (overlap_c5)";
    if (why.op)
      diagnostic.attachNote(why.op->getLoc())
          << "in the program, this operation: " << why.why;
    return diagnostic;
  }
  ops = inChunks(chunking);
  return success();
}

/// The axis of a ring: that of an all_gather at the beginning, or of a
/// reduce_scatter at the end, that cuts the chunked dimension, or that of an
/// all_reduce at the end. Null if there is no such axis, or if the collective
/// has several.
StringAttr Overlapping::findRing() {
  auto alongOne = [](Operation *op) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    return collective && collective.getMeshAxes().getNames().size() == 1
               ? collective.getMeshAxes().getNames().front()
               : StringAttr();
  };
  auto isCut = [&](Value value, StringAttr axis) {
    auto it = chunking.dims.find(value);
    if (it == chunking.dims.end())
      return false;
    Layout layout = Layout::of(cast<RankedTensorType>(value.getType()));
    AxisState state = layout.getState(axis);
    return state.kind == AxisState::Sliced && state.dim == it->second;
  };
  Operation *first = ops.front(), *last = ops.back();
  if (auto gather = dyn_cast<AllGatherOp>(first))
    if (StringAttr axis = alongOne(first);
        axis && isCut(gather.getInput(), axis))
      return axis;
  if (auto scatter = dyn_cast<ReduceScatterOp>(last))
    if (StringAttr axis = alongOne(last);
        axis && isCut(scatter.getResult(), axis))
      return axis;
  if (isa<AllReduceOp>(last))
    return alongOne(last);
  return {};
}

FailureOr<OverlappedOp> Overlapping::run(ArrayRef<OpSet> values,
                                         int64_t chunks) {
  if (failed(findStages(values)))
    return failure();
  forwardStores(cast<ProgramOp>(ops.front()->getParentOp()));
  if (failed(findChain()) || failed(chooseChunking(chunks)))
    return failure();
  RegionBuilder region(ops);
  ops = OpSet(region.getOps());
  if (Operation *back = region.findPathBack())
    return refuse(emit, "overlap_c3",
                  "expected no path that leaves the values and comes back, "
                  "found one that ends here",
                  back);
  SmallVector<int64_t> dims;
  for (Value output : region.findOutputs())
    dims.push_back(chunking.dims.lookup(output));
  StringAttr ring = findRing();
  return cast<OverlappedOp>(
      region.build(rewriter, [&](Location loc, TypeRange types) {
        return OverlappedOp::create(rewriter, loc, types, chunks, dims, ring);
      }));
}

} // namespace

FailureOr<OverlappedOp> ccn::overlap(RewriterBase &rewriter,
                                     ArrayRef<OpSet> values, int64_t chunks,
                                     EmitRefusal emit) {
  // overlap_c6
  if (chunks < 1 || chunks > maxChunks)
    return refuse(emit, "overlap_c6",
                  "expected from 1 to " + Twine(maxChunks) + " chunks, found " +
                      Twine(chunks),
                  nullptr);
  return Overlapping(rewriter, emit).run(values, chunks);
}

namespace {

struct OverlapPass : ccn::impl::OverlapBase<OverlapPass> {
  using OverlapBase::OverlapBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    IRRewriter rewriter(&getContext());
    if (failed(overlap(rewriter,
                       findAllByName(program, llvm::to_vector(values)), chunks,
                       [&] { return program.emitError(); })))
      signalPassFailure();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The line of a schedule
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
transform::ScheduleOverlapOp::apply(transform::TransformRewriter &rewriter,
                                    transform::TransformResults &results,
                                    transform::TransformState &state) {
  Applied applied(*this, state);
  std::optional<int64_t> chunks = defaultChunks;
  if (getChunks())
    chunks = integerOf(state, getChunks(), *this);
  if (!chunks)
    return DiagnosedSilenceableFailure::definiteFailure();
  FailureOr<OverlappedOp> overlapped =
      overlap(rewriter, payloads(state, getTargets()), *chunks,
              [&] { return emitError(); });
  if (failed(overlapped))
    return DiagnosedSilenceableFailure::definiteFailure();
  results.set(cast<OpResult>(getOverlapped()), {*overlapped});
  return applied.success();
}
