//===- ScheduleOps.cpp - Schedules as transform operations ----------------===//
//
// Registers the schedule operations, and applies those that look up or define
// names. The file of each rewrite applies its primitive.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/ScheduleOps.h"

#include "lib/CostModel/CostModel.h"
#include "lib/Transforms/PrimitiveOps.h"
#include "lib/Transforms/Rewrites.h"

#include "mlir/Dialect/Transform/TuneExtension/TuneExtension.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::transform;
using namespace ccn;

#define GET_OP_CLASSES
#include "dialect/schedule/ScheduleOps.cpp.inc"

#ifndef NDEBUG
/// MLIR's headers call this function if assertions are enabled. An MLIR that
/// was built without assertions, such as Debian's, does not have it.
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
// What primitives share
//===----------------------------------------------------------------------===//

OpSet ccn::payload(TransformState &state, Value handle) {
  OpSet ops(state.getPayloadOps(handle));
  return ops;
}

SmallVector<OpSet> ccn::payloads(TransformState &state, ValueRange handles) {
  return llvm::map_to_vector(
      handles, [&](Value handle) { return payload(state, handle); });
}

std::optional<int64_t> ccn::integerOf(TransformState &state, Value param,
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

ProgramOp ccn::programOf(TransformState &state, Value handle, Operation *op) {
  OpSet ops = payload(state, handle);
  if (ops.size() == 1)
    if (auto program = dyn_cast<ProgramOp>(ops.front()))
      return program;
  op->emitError() << "expected a handle of one ccn.program";
  return {};
}

Applied::Applied(Operation *primitive, TransformState &state)
    : primitive(primitive) {
  if (!primitive->getContext()->getRemarkEngine())
    return;
  for (Value handle : primitive->getOperands()) {
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

Diagnosed Applied::success() {
  if (!program)
    return Diagnosed::success();
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
  return Diagnosed::success();
}

void transform::primitiveEffects(
    Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(op->getOpOperands(), effects);
  producesHandle(op->getOpResults(), effects);
  modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Diagnosed ScheduleValueOp::apply(TransformRewriter &, TransformResults &results,
                                 TransformState &state) {
  ProgramOp program = programOf(state, getProgram(), *this);
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
