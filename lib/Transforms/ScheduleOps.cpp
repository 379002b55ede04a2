//===- ScheduleOps.cpp - Schedules as transform operations ----------------===//
//
// Applies each schedule operation by its rewrite. Errors are reported at the
// schedule's line, with a note at the program's.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/ScheduleOps.h"

#include "lib/CostModel/CostModel.h"
#include "lib/Transforms/Rewrites.h"

#include "mlir/Dialect/Transform/TuneExtension/TuneExtension.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::transform;
using namespace ccn;

#define GET_OP_CLASSES
#include "dialect/schedule/ScheduleOps.cpp.inc"

#ifndef NDEBUG
/// With assertions MLIR's headers call this, which a MLIR without them, as
/// Debian's, does not have.
void mlir::transform::detail::checkImplementsTransformOpInterface(
    StringRef name, MLIRContext *context) {
  auto op = RegisteredOperationName::lookup(name, context);
  assert(op && op->hasInterface<TransformOpInterface>() &&
         op->hasInterface<MemoryEffectOpInterface>() &&
         "transform operations implement their interfaces");
}
#endif

namespace {

using Diagnosed = DiagnosedSilenceableFailure;

OpSet payload(TransformState &state, Value handle) {
  OpSet ops(state.getPayloadOps(handle));
  return ops;
}

SmallVector<OpSet> payloads(TransformState &state, ValueRange handles) {
  return llvm::map_to_vector(
      handles, [&](Value handle) { return payload(state, handle); });
}

/// The one number that a param holds; reports anything else.
std::optional<int64_t> getInteger(TransformState &state, Value param,
                                  Operation *op) {
  ArrayRef<Attribute> values = state.getParams(param);
  auto number = values.size() == 1 ? dyn_cast<IntegerAttr>(values.front())
                                   : IntegerAttr();
  if (number && number.getType().isSignlessInteger() &&
      number.getValue().isSignedIntN(64))
    return number.getInt();
  op->emitError() << "expected a param of one integer";
  return std::nullopt;
}

/// The one program that a handle holds; reports anything else.
ProgramOp getProgram(TransformState &state, Value handle, Operation *op) {
  OpSet ops = payload(state, handle);
  if (ops.size() == 1)
    if (auto program = dyn_cast<ProgramOp>(ops.front()))
      return program;
  op->emitError() << "expected a handle of one ccn.program";
  return {};
}

/// Remarks what a primitive saved, if it was applied and remarks are asked for.
class Applied {
public:
  /// `handles` hold the program, or operations of it.
  Applied(Operation *primitive, TransformState &state, ValueRange handles)
      : primitive(primitive) {
    if (!primitive->getContext()->getRemarkEngine())
      return;
    for (Value handle : handles) {
      if (!isa<TransformHandleTypeInterface>(handle.getType()))
        continue;
      for (Operation *op : state.getPayloadOps(handle)) {
        program = dyn_cast<ProgramOp>(op);
        if (!program)
          program = op->getParentOfType<ProgramOp>();
        before = trafficOf(program);
        return;
      }
    }
  }

  Diagnosed success() {
    if (program)
      remark();
    return Diagnosed::success();
  }

private:
  void remark() {
    Traffic after = trafficOf(program);
    auto change = [](double from, double to) {
      return from == to
                 ? describeBytes(to)
                 : describeBytes(from) + " before, now " + describeBytes(to);
    };
    StringRef name = primitive->getName().getStringRef();
    name.consume_front("transform.ccn.");
    remark::passed(primitive->getLoc(), remark::RemarkOpts::name(name)
                                            .category("schedule")
                                            .function(program.getSymName()))
        << "received: " + change(before.received, after.received) +
               "; through memory: " + change(before.memory, after.memory) +
               "; launches: " + std::to_string(before.launches) +
               (after.launches == before.launches
                    ? ""
                    : " before, now " + std::to_string(after.launches));
  }

  Operation *primitive;
  ProgramOp program;
  Traffic before;
};

class ScheduleExtension : public TransformDialectExtension<ScheduleExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScheduleExtension)

  using Base::Base;
  void init() {
    declareGeneratedDialect<CcnDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "dialect/schedule/ScheduleOps.cpp.inc"
        >();
  }
};

} // namespace

void ccn::registerScheduleOps(DialectRegistry &registry) {
  registry.insert<TransformDialect>();
  registry.addExtensions<ScheduleExtension>();
  transform::registerTuneExtension(registry);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Diagnosed ScheduleValueOp::apply(TransformRewriter &, TransformResults &results,
                                 TransformState &state) {
  ProgramOp program = ::getProgram(state, getProgram(), *this);
  if (!program)
    return Diagnosed::definiteFailure();
  OpSet ops = findByName(program, getName());
  if (ops.empty() && !getIsOptional()) {
    auto reasons = program->getAttrOfType<DictionaryAttr>(kFoldedAttr);
    auto reason = reasons ? reasons.getAs<StringAttr>(getName()) : StringAttr();
    auto diagnostic = emitError()
                      << "nothing of program '" << program.getSymName()
                      << "' has the name '" << getName() << "' here: "
                      << (reason ? reason.getValue()
                                 : "it names what has another name too, or a "
                                   "line before has taken it apart");
    diagnostic.attachNote(program.getLoc()) << "the program";
    return Diagnosed::definiteFailure();
  }
  results.set(cast<OpResult>(getResult()), ops);
  return Diagnosed::success();
}

void ScheduleValueOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getProgramMutable(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  onlyReadsPayload(effects);
}

Diagnosed ScheduleNameOp::apply(TransformRewriter &, TransformResults &,
                                TransformState &state) {
  addTag(payload(state, getTarget()), getName());
  return Diagnosed::success();
}

void ScheduleNameOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetMutable(), effects);
  modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// Primitives
//
// None consumes its handles: several may hold one operation, or one that is in
// another's region. What a primitive erases leaves all handles.
//===----------------------------------------------------------------------===//

LogicalResult ScheduleSplitOp::verify() {
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

Diagnosed ScheduleSplitOp::apply(TransformRewriter &rewriter,
                                 TransformResults &results,
                                 TransformState &state) {
  Applied applied(*this, state, (*this)->getOperands());
  FailureOr<SmallVector<OpSet>> parts =
      split(rewriter, payload(state, getTarget()), *splitFormByName(getForm()),
            [&] { return emitError(); });
  if (failed(parts))
    return Diagnosed::definiteFailure();
  for (auto [result, part] : llvm::zip_equal(getParts(), *parts))
    results.set(cast<OpResult>(result), part);
  return applied.success();
}

void ScheduleSplitOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetMutable(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

Diagnosed ScheduleReorderOp::apply(TransformRewriter &rewriter,
                                   TransformResults &results,
                                   TransformState &state) {
  Applied applied(*this, state, (*this)->getOperands());
  SmallVector<OpSet> after;
  for (Value handle : getAfter())
    after.push_back(payload(state, handle));
  FailureOr<Reordered> reordered =
      reorder(rewriter, payload(state, getGather()), after,
              [&] { return emitError(); });
  if (failed(reordered))
    return Diagnosed::definiteFailure();
  results.set(cast<OpResult>(getComputations()), reordered->computations);
  results.set(cast<OpResult>(getGathers()), reordered->gathers);
  return applied.success();
}

void ScheduleReorderOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getGatherMutable(), effects);
  onlyReadsHandle(getAfterMutable(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

Diagnosed ScheduleSliceStateOp::apply(TransformRewriter &rewriter,
                                      TransformResults &,
                                      TransformState &state) {
  Applied applied(*this, state, (*this)->getOperands());
  ProgramOp program = ::getProgram(state, getProgram(), *this);
  if (!program)
    return Diagnosed::definiteFailure();
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (program.getArgName(i) == getArgument())
      return succeeded(
                 sliceState(rewriter, program, i, [&] { return emitError(); }))
                 ? applied.success()
                 : Diagnosed::definiteFailure();
  emitError() << "program '" << program.getSymName() << "' has no argument '"
              << getArgument() << "'";
  return Diagnosed::definiteFailure();
}

void ScheduleSliceStateOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getProgramMutable(), effects);
  modifiesPayload(effects);
}

Diagnosed ScheduleFuseOp::apply(TransformRewriter &rewriter,
                                TransformResults &results,
                                TransformState &state) {
  Applied applied(*this, state, (*this)->getOperands());
  OpSet ops;
  for (Value handle : getTargets())
    llvm::append_range(ops, payload(state, handle));
  FailureOr<FusedOp> fused = fuse(rewriter, ops, [&] { return emitError(); });
  if (failed(fused))
    return Diagnosed::definiteFailure();
  results.set(cast<OpResult>(getFused()), {*fused});
  return applied.success();
}

void ScheduleFuseOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetsMutable(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

Diagnosed ScheduleOverlapOp::apply(TransformRewriter &rewriter,
                                   TransformResults &results,
                                   TransformState &state) {
  Applied applied(*this, state, (*this)->getOperands());
  std::optional<int64_t> chunks = defaultChunks;
  if (getChunks())
    chunks = getInteger(state, getChunks(), *this);
  if (!chunks)
    return Diagnosed::definiteFailure();
  FailureOr<OverlappedOp> overlapped =
      overlap(rewriter, payloads(state, getTargets()), *chunks,
              [&] { return emitError(); });
  if (failed(overlapped))
    return Diagnosed::definiteFailure();
  results.set(cast<OpResult>(getOverlapped()), {*overlapped});
  return applied.success();
}

void ScheduleOverlapOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetsMutable(), effects);
  onlyReadsHandle(getChunksMutable(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

Diagnosed ScheduleBucketOp::apply(TransformRewriter &rewriter,
                                  TransformResults &results,
                                  TransformState &state) {
  Applied applied(*this, state, (*this)->getOperands());
  std::optional<int64_t> size = getInteger(state, getSize(), *this);
  if (!size)
    return Diagnosed::definiteFailure();
  if (*size < 1) {
    emitError() << "expected a size of at least 1 byte, found " << *size;
    return Diagnosed::definiteFailure();
  }
  FailureOr<OpSet> buckets = bucket(rewriter, payloads(state, getTargets()),
                                    *size, [&] { return emitError(); });
  if (failed(buckets))
    return Diagnosed::definiteFailure();
  results.set(cast<OpResult>(getBuckets()), *buckets);
  return applied.success();
}

void ScheduleBucketOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetsMutable(), effects);
  onlyReadsHandle(getSizeMutable(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

Diagnosed ScheduleOrderOp::apply(TransformRewriter &rewriter,
                                 TransformResults &, TransformState &state) {
  Applied applied(*this, state, (*this)->getOperands());
  return succeeded(order(rewriter, payloads(state, getTargets()),
                         [&] { return emitError(); }))
             ? applied.success()
             : Diagnosed::definiteFailure();
}

void ScheduleOrderOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetsMutable(), effects);
  modifiesPayload(effects);
}

LogicalResult ScheduleChooseOp::verify() {
  if (llvm::is_contained({"algorithm", "protocol", "sms"}, getWhat()))
    return success();
  return emitOpError() << "expected 'algorithm', 'protocol' or 'sms', found '"
                       << getWhat() << "'";
}

Diagnosed ScheduleChooseOp::apply(TransformRewriter &, TransformResults &,
                                  TransformState &state) {
  Applied applied(*this, state, (*this)->getOperands());
  ArrayRef<Attribute> params = state.getParams(getChoice());
  return succeeded(choose(getWhat(), payload(state, getTarget()),
                          params.size() == 1 ? params.front() : Attribute(),
                          [&] { return emitError(); }))
             ? applied.success()
             : Diagnosed::definiteFailure();
}

void ScheduleChooseOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetMutable(), effects);
  onlyReadsHandle(getChoiceMutable(), effects);
  modifiesPayload(effects);
}
