//===- Fuse.cpp - Fuses operations into one kernel ------------------------===//
//
// Moves operations into one region, with the operations that only they need.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/PrimitiveOps.h"
#include "lib/Transforms/Regions.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_FUSE
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

/// The operation of `block` that contains `op` or is `op`.
static Operation *topLevel(Operation *op, Block *block) {
  return block->findAncestorOpInBlock(*op);
}

/// Whether the operations are connected by using each other's results.
/// Constants and other common inputs do not connect them.
static bool isConnected(ArrayRef<Operation *> ops) {
  llvm::DenseSet<Operation *> set(ops.begin(), ops.end());
  llvm::EquivalenceClasses<Operation *> parts;
  for (Operation *op : ops)
    parts.insert(op);
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (Operation *definer = operand.getDefiningOp())
        if (set.contains(definer))
          parts.unionSets(op, definer);
  return parts.getNumClasses() <= 1;
}

/// Adds elementwise operations without communication whose results only the set
/// uses: outside of the kernel, their results would be written to memory and
/// read again. Not so those of which several products have their operands, as
/// they would be computed before all of the kernel.
static void absorbProducers(llvm::SetVector<Operation *> &set, Block *block) {
  bool hasProducts = llvm::count_if(set, llvm::IsaPred<MatmulOp>) > 1;
  llvm::DenseSet<Operation *> ofOperands;
  // The loop adds operations to the set over which it runs.
  for (size_t i = 0; i < set.size(); ++i) {
    bool isOfOperand =
        hasProducts && (isa<MatmulOp>(set[i]) || ofOperands.contains(set[i]));
    for (Value operand : set[i]->getOperands()) {
      Operation *definer = operand.getDefiningOp();
      if (!definer || definer->getBlock() != block ||
          !isa<LayoutOpInterface>(definer) ||
          isa<CollectiveOpInterface, MatmulOp, Conv2dOp, ReductionOp,
              ConstantOp>(definer) ||
          (isOfOperand && isElementwise(definer)))
        continue;
      if (llvm::all_of(definer->getUsers(),
                       [&](Operation *user) {
                         return set.contains(topLevel(user, block));
                       }) &&
          set.insert(definer) && isOfOperand)
        ofOperands.insert(definer);
    }
  }
}

namespace {

/// What can be fused, and how.
struct Fusion {
  RegionBuilder region;
  Skeleton skeleton;
};

} // namespace

/// Checks the conditions.
static FailureOr<Fusion> planFusion(ArrayRef<Operation *> list,
                                    EmitRefusal emit) {
  // Stores take effect after the kernel, which writes what they store;
  // constants are part of whatever uses them.
  llvm::SetVector<Operation *> set;
  for (Operation *op : list)
    if (!isa<UpdateOp, ConstantOp>(op))
      set.insert(op);
  // fuse_c1
  for (Operation *op : set)
    if (op->getNumRegions() != 0 || !isa<ProgramOp>(op->getParentOp()))
      return refuse(emit, "fuse_c1",
                    "expected operations outside of fused regions", op);
  if (set.size() < 2)
    return refuse(emit, "fuse_c1",
                  "expected two operations at least, found " +
                      Twine(set.size()),
                  set.empty() ? nullptr : set.front());
  if (failed(checkInKernel(set.getArrayRef(), emit)))
    return failure();
  auto program = cast<ProgramOp>(set.front()->getParentOp());
  Block *block = set.front()->getBlock();
  forwardStores(program);
  absorbProducers(set, block);
  RegionBuilder region(set.getArrayRef());
  ArrayRef<Operation *> ops = region.getOps();

  // fuse_c4
  std::optional<Skeleton> skeleton = findSkeleton(ops);
  // fuse_c2
  if (skeleton != Skeleton::collectives && !isConnected(ops))
    return refuse(emit, "fuse_c2",
                  "expected operations that are connected by their values",
                  ops.back());
  // fuse_c3
  if (Operation *back = region.findPathBack())
    return refuse(emit, "fuse_c3",
                  "expected no path that leaves the operations and comes "
                  "back, found one that ends here",
                  back);
  if (!skeleton)
    return refuse(emit, "fuse_c4", "expected operations that fit one skeleton",
                  ops.back());
  return Fusion{std::move(region), *skeleton};
}

FailureOr<FusedOp> ccn::fuse(RewriterBase &rewriter, ArrayRef<Operation *> list,
                             EmitRefusal emit) {
  FailureOr<Fusion> fusion = planFusion(list, emit);
  if (failed(fusion))
    return failure();
  return cast<FusedOp>(
      fusion->region.build(rewriter, [&](Location loc, TypeRange types) {
        return FusedOp::create(rewriter, loc, types, fusion->skeleton);
      }));
}

LogicalResult ccn::checkFuse(ArrayRef<Operation *> list, EmitRefusal emit) {
  return planFusion(list, emit);
}

namespace {

struct FusePass : ccn::impl::FuseBase<FusePass> {
  using FuseBase::FuseBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    IRRewriter rewriter(&getContext());
    OpSet ops;
    for (const std::string &name : values)
      llvm::append_range(ops, findByName(program, name));
    if (failed(fuse(rewriter, ops, [&] { return program.emitError(); })))
      signalPassFailure();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The line of a schedule
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
transform::ScheduleFuseOp::apply(transform::TransformRewriter &rewriter,
                                 transform::TransformResults &results,
                                 transform::TransformState &state) {
  Applied applied(*this, state);
  OpSet ops;
  for (Value handle : getTargets())
    llvm::append_range(ops, payload(state, handle));
  FailureOr<FusedOp> fused = fuse(rewriter, ops, [&] { return emitError(); });
  if (failed(fused))
    return DiagnosedSilenceableFailure::definiteFailure();
  results.set(cast<OpResult>(getFused()), {*fused});
  return applied.success();
}
