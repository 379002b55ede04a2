//===- Choose.cpp - How a collective runs ---------------------------------===//
//
// Algorithms, protocols and numbers of SMs are attributes of collectives and
// kernels. An algorithm from a file becomes a ccn.algorithm of the module,
// after the synthesizer's checker has proved that it implements the collective.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Algorithms.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/PrimitiveOps.h"
#include "lib/Transforms/Regions.h"

#include "runtime/base/File.h"
#include "synth/SumOrder.h"
#include "synth/interop/ScheduleImport.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_CHOOSE
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

/// The collective that an operation is, or the collectives that it contains.
SmallVector<Operation *> collectivesOf(Operation *op) {
  SmallVector<Operation *> collectives;
  op->walk([&](CollectiveOpInterface inner) {
    if (inner.communicates())
      collectives.push_back(inner);
  });
  return collectives;
}

/// Whether a built-in algorithm implements the collective.
bool implements(Algorithm algorithm, Operation *op) {
  Collective what = cast<CollectiveOpInterface>(op).getCollective();
  switch (algorithm) {
  case Algorithm::nccl:
    return true;
  case Algorithm::one_shot:
    return what == Collective::all_reduce;
  case Algorithm::two_shot:
  case Algorithm::ring:
    return what == Collective::all_reduce ||
           what == Collective::reduce_scatter || what == Collective::all_gather;
  case Algorithm::direct:
    return what != Collective::all_reduce;
  }
  llvm_unreachable("all algorithms are handled");
}

/// The only algorithm of a collective that a protocol works with; none if there
/// is no such algorithm, or if the protocol works with all.
std::optional<Algorithm> algorithmOf(Protocol protocol, Operation *op) {
  Collective what = cast<CollectiveOpInterface>(op).getCollective();
  if (protocol == Protocol::push && what == Collective::reduce_scatter)
    return Algorithm::direct;
  if (protocol == Protocol::simple || what != Collective::all_reduce)
    return std::nullopt;
  return protocol == Protocol::push ? Algorithm::two_shot : Algorithm::one_shot;
}

/// Checks that a protocol and an algorithm work together for a collective; each
/// is null if it is not chosen.
LogicalResult checkProtocol(Operation *op, Attribute protocol,
                            Attribute algorithm, EmitRefusal emit) {
  if (!protocol || !algorithm)
    return success();
  StringRef text = cast<StringAttr>(protocol).getValue();
  std::optional<Algorithm> expected = algorithmOf(*symbolizeProtocol(text), op);
  auto name = dyn_cast<StringAttr>(algorithm);
  // choose_c11
  if (!expected || (name && name == stringifyAlgorithm(*expected)))
    return success();
  // For collectives other than all_reduce, both algorithms are the same.
  if (*expected == Algorithm::direct && name &&
      name == stringifyAlgorithm(Algorithm::two_shot))
    return success();
  return refuse(emit, "choose_c11",
                "expected algorithm '" + stringifyAlgorithm(*expected) +
                    "' with protocol '" + text + "'" +
                    (name ? ", found '" + name.getValue() + "'" : ""),
                op);
}

FailureOr<Operation *> findTarget(ArrayRef<Operation *> value,
                                  EmitRefusal emit) {
  // choose_c1
  if (Operation *op = findCommunicating(value))
    return op;
  return refuse(emit, "choose_c1",
                "expected a value with one collective, or one kernel that "
                "communicates",
                value.empty() ? nullptr : value.back());
}

/// A schedule that was chosen for a collective.
struct Chosen {
  Operation *op;
  synth::Schedule schedule;
  /// The schedule's name in messages, from which the algorithm gets its name.
  std::string where;
};

FailureOr<synth::Schedule> readSchedule(StringRef text, StringRef where,
                                        EmitRefusal emit) {
  // choose_c4
  Result<synth::Schedule> schedule =
      synth::importSchedule(std::string_view(text), where.str());
  if (!schedule)
    return refuse(emit, "choose_c4", schedule.message(), nullptr);
  if (std::string wrong = synth::check(*schedule); !wrong.empty())
    return refuse(emit, "choose_c4", "'" + where + "' is not right: " + wrong,
                  nullptr);
  return std::move(*schedule);
}

LogicalResult checkSchedule(const Chosen &chosen, EmitRefusal emit) {
  const synth::Schedule &schedule = chosen.schedule;
  auto collective = cast<CollectiveOpInterface>(chosen.op);
  // choose_c5
  SynthRequest wanted = requestFor(collective);
  if (!isFor(schedule, wanted))
    return refuse(emit, "choose_c5",
                  "expected a schedule of " +
                      stringifyCollective(collective.getCollective()) + " on " +
                      Twine(wanted.ranks) + " ranks, found one of " +
                      synth::kindName(schedule.collective.kind).data() +
                      " on " + Twine(schedule.collective.ranks) +
                      (schedule.collective.rooted()
                           ? " with root " + Twine(schedule.collective.root)
                           : Twine()),
                  chosen.op);
  if (std::optional<int> chunk = findChunkThroughCpu(schedule))
    return refuse(emit, "choose_c5",
                  "expected a schedule between ranks, found one with a CPU on "
                  "the way of chunk " +
                      Twine(*chunk),
                  chosen.op);
  // choose_c10
  if (wanted.ordered)
    if (std::string differing = synth::differingSums(schedule);
        !differing.empty())
      return refuse(emit, "choose_c10",
                    "the ranks would get different floats from '" +
                        chosen.where + "', as " + differing +
                        "; take a schedule that forms each sum at one rank, "
                        "such as reduce_scatter and then all_gather",
                    chosen.op);
  return success();
}

/// Reads a schedule's file, and returns the schedule for each of the
/// collectives that it implements. If it implements none, the check against the
/// first one reports why it does not fit.
FailureOr<SmallVector<Chosen>> loadSchedule(ArrayRef<Operation *> collectives,
                                            StringRef path, EmitRefusal emit) {
  // choose_c4
  constexpr int64_t most = int64_t(1) << 30;
  Result<std::optional<std::string>> text = readText(path.str(), most);
  if (!text || !*text)
    return refuse(emit, "choose_c4",
                  "cannot read '" + path + "': " +
                      (text ? "it is larger than 1 GiB" : text.message()),
                  nullptr);
  FailureOr<synth::Schedule> schedule = readSchedule(**text, path, emit);
  if (failed(schedule))
    return failure();
  SmallVector<Chosen> chosen;
  for (Operation *op : collectives)
    if (isFor(*schedule, requestFor(cast<CollectiveOpInterface>(op))))
      chosen.push_back({op, *schedule, path.str()});
  if (chosen.empty())
    chosen.push_back({collectives.front(), *schedule, path.str()});
  return chosen;
}

/// Lets the synthesizer find a schedule.
FailureOr<Chosen> synthesizeSchedule(Operation *op, DictionaryAttr wish,
                                     EmitRefusal emit) {
  auto collective = cast<CollectiveOpInterface>(op);
  SynthRequest request = requestFor(collective);
  request.groups = groupsOf(collective);
  auto text = [&](StringRef key) {
    auto attr = wish.getAs<StringAttr>(key);
    return attr ? attr.str() : std::string();
  };
  auto number = [&](StringRef key, int64_t otherwise) {
    auto attr = wish.getAs<IntegerAttr>(key);
    return attr ? attr.getInt() : otherwise;
  };
  request.topology = text("topology");
  request.objective = text("objective");
  request.chunks = number("chunks", 0);
  request.steps = number("steps", 0);
  request.rounds = number("rounds", 0);
  request.seconds = static_cast<double>(number("seconds", 60));
  // choose_c9
  Result<Synthesized> found = synthesize(request);
  if (!found)
    return refuse(emit, "choose_c9", found.message(), op);
  if (!found->note.empty())
    remark::analysis(op->getLoc(),
                     remark::RemarkOpts::name("synth").category("schedule"))
        << found->note;
  std::string where = algorithmName(collective, request.topology);
  FailureOr<synth::Schedule> schedule =
      readSchedule(found->schedule, where, emit);
  if (failed(schedule))
    return failure();
  return Chosen{op, *std::move(schedule), where};
}

/// Gives each collective in `op` a schedule, or only those that the schedule of
/// a file implements.
LogicalResult chooseSchedules(Operation *op, Attribute choice,
                              EmitRefusal emit) {
  SmallVector<Operation *> collectives = collectivesOf(op);
  // choose_c2
  for (Operation *inner : collectives)
    if (auto collective = cast<CollectiveOpInterface>(inner);
        requestFor(collective).kind == synth::CollectiveKind::Custom)
      return refuse(emit, "choose_c2",
                    "no schedule implements '" +
                        stringifyCollective(collective.getCollective()) + "'",
                    inner);
  SmallVector<Chosen> all;
  if (auto wish = dyn_cast<DictionaryAttr>(choice)) {
    for (Operation *inner : collectives) {
      FailureOr<Chosen> chosen = synthesizeSchedule(inner, wish, emit);
      if (failed(chosen))
        return failure();
      all.push_back(*std::move(chosen));
    }
  } else {
    FailureOr<SmallVector<Chosen>> loaded =
        loadSchedule(collectives, cast<StringAttr>(choice).getValue(), emit);
    if (failed(loaded))
      return failure();
    all = *std::move(loaded);
  }
  for (const Chosen &chosen : all)
    if (failed(checkSchedule(chosen, emit)) ||
        failed(checkProtocol(chosen.op, choiceFor(chosen.op, kProtocolAttr),
                             choice, emit)))
      return failure();
  auto module = op->getParentOfType<ModuleOp>();
  for (const Chosen &chosen : all)
    chosen.op->setAttr(kAlgorithmAttr,
                       addAlgorithm(module, chosen.schedule, chosen.where,
                                    chosen.op->getLoc()));
  return success();
}

LogicalResult refuseInKernel(Operation *op, EmitRefusal emit) {
  // choose_c3
  return refuse(emit, "choose_c3",
                "NCCL runs collectives that are not in a kernel", op);
}

} // namespace

LogicalResult ccn::checkInKernel(ArrayRef<Operation *> ops, EmitRefusal emit) {
  for (Operation *op : ops)
    if (auto algorithm = op->getAttrOfType<StringAttr>(kAlgorithmAttr);
        algorithm &&
        algorithm.getValue() == stringifyAlgorithm(Algorithm::nccl))
      return refuseInKernel(op, emit);
  return success();
}

static LogicalResult chooseAlgorithm(ArrayRef<Operation *> value,
                                     Attribute choice, EmitRefusal emit) {
  FailureOr<Operation *> op = findTarget(value, emit);
  if (failed(op))
    return failure();
  auto wish = dyn_cast<DictionaryAttr>(choice);
  StringRef name = wish ? "synth" : cast<StringAttr>(choice).getValue();
  std::optional<Algorithm> algorithm = symbolizeAlgorithm(name);
  if (!algorithm)
    return chooseSchedules(*op, choice, emit);
  // choose_c2
  for (Operation *collective : collectivesOf(*op))
    if (!implements(*algorithm, collective))
      return refuse(
          emit, "choose_c2",
          "algorithm '" + name + "' does not implement '" +
              stringifyCollective(
                  cast<CollectiveOpInterface>(collective).getCollective()) +
              "'",
          collective);
  if (*algorithm == Algorithm::nccl &&
      (!isa<CollectiveOpInterface>(*op) || isa<FusedOp>((*op)->getParentOp())))
    return refuseInKernel(*op, emit);
  // choose_c7
  if (*algorithm == Algorithm::nccl && (*op)->hasAttr(kProtocolAttr))
    return refuse(emit, "choose_c7", "NCCL chooses its own protocols", *op);
  for (Operation *collective : collectivesOf(*op))
    if (failed(checkProtocol(collective, choiceFor(collective, kProtocolAttr),
                             choice, emit)))
      return failure();
  // Replaces earlier choices for single collectives of a kernel.
  for (Operation *collective : collectivesOf(*op))
    collective->removeAttr(kAlgorithmAttr);
  (*op)->setAttr(kAlgorithmAttr, choice);
  return success();
}

static LogicalResult chooseProtocol(ArrayRef<Operation *> value,
                                    StringRef choice, EmitRefusal emit) {
  FailureOr<Operation *> op = findTarget(value, emit);
  if (failed(op))
    return failure();
  std::optional<Protocol> protocol = symbolizeProtocol(choice);
  if (!protocol) {
    emit() << "expected protocol 'simple', 'll', 'lamport' or 'push', found '"
           << choice << "'";
    return failure();
  }
  // choose_c6
  if (*protocol == Protocol::lamport)
    for (Operation *collective : collectivesOf(*op)) {
      Type element = getElementTypeOrSelf(collective->getOperand(0).getType());
      if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() < 16)
        return refuse(emit, "choose_c6",
                      "expected elements of f64, f32, f16 or bf16 for "
                      "protocol 'lamport', found " +
                          elementTypeName(element),
                      collective);
    }
  // choose_c7
  if (auto algorithm = (*op)->getAttrOfType<StringAttr>(kAlgorithmAttr);
      algorithm && algorithm.getValue() == "nccl")
    return refuse(emit, "choose_c7", "NCCL chooses its own protocols", *op);
  // choose_c11
  SmallVector<Operation *> collectives = collectivesOf(*op);
  if (*protocol != Protocol::simple &&
      llvm::none_of(collectives, [&](Operation *collective) {
        return algorithmOf(*protocol, collective).has_value();
      }))
    return refuse(
        emit, "choose_c11",
        Twine("expected an all_reduce ") +
            (*protocol == Protocol::push ? "or reduce_scatter " : "") +
            "for protocol '" + choice + "'",
        *op);
  auto chosen = StringAttr::get((*op)->getContext(), choice);
  for (Operation *collective : collectives)
    if (failed(checkProtocol(collective, chosen,
                             choiceFor(collective, kAlgorithmAttr), emit)))
      return failure();
  // Replaces earlier choices for single collectives of a kernel.
  for (Operation *collective : collectives)
    collective->removeAttr(kProtocolAttr);
  (*op)->setAttr(kProtocolAttr, chosen);
  return success();
}

static LogicalResult chooseSms(ArrayRef<Operation *> value, int64_t count,
                               EmitRefusal emit) {
  FailureOr<Operation *> op = findTarget(value, emit);
  if (failed(op))
    return failure();
  // choose_c8
  if (count < 1 || count > maxSms)
    return refuse(emit, "choose_c8",
                  "expected from 1 to " + Twine(maxSms) + " SMs, found " +
                      Twine(count),
                  nullptr);
  (*op)->setAttr(
      kSmsAttr,
      IntegerAttr::get(IntegerType::get((*op)->getContext(), 64), count));
  return success();
}

LogicalResult ccn::choose(StringRef what, ArrayRef<Operation *> value,
                          Attribute choice, EmitRefusal emit) {
  if (what == "sms") {
    if (auto count = dyn_cast_or_null<IntegerAttr>(choice);
        count && count.getValue().isSignedIntN(64))
      return chooseSms(value, count.getValue().getSExtValue(), emit);
    emit() << "expected an integer for 'sms'";
    return failure();
  }
  auto text = dyn_cast_or_null<StringAttr>(choice);
  if ((text || isa_and_nonnull<DictionaryAttr>(choice)) && what == "algorithm")
    return chooseAlgorithm(value, choice, emit);
  if (text && what == "protocol")
    return chooseProtocol(value, text, emit);
  if (text)
    emit() << "expected 'algorithm', 'protocol' or 'sms', found '" << what
           << "'";
  else
    emit() << "expected a string for '" << what << "'";
  return failure();
}

namespace {

struct ChoosePass : ccn::impl::ChooseBase<ChoosePass> {
  using ChooseBase::ChooseBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    int64_t number;
    Attribute attr = StringRef(choice).getAsInteger(10, number)
                         ? Attribute(builder.getStringAttr(choice))
                         : builder.getI64IntegerAttr(number);
    bool found = false;
    for (auto program : llvm::to_vector(module.getOps<ProgramOp>())) {
      OpSet ops = findByName(program, value);
      if (ops.empty())
        continue;
      found = true;
      if (failed(choose(what, ops, attr, [&] { return program.emitError(); })))
        return signalPassFailure();
    }
    if (!found) {
      module.emitError() << "no program has a value '" << value << "'";
      signalPassFailure();
    }
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// The line of a schedule
//===----------------------------------------------------------------------===//

LogicalResult transform::ScheduleChooseOp::verify() {
  if (llvm::is_contained({"algorithm", "protocol", "sms"}, getWhat()))
    return success();
  return emitOpError() << "expected 'algorithm', 'protocol' or 'sms', found '"
                       << getWhat() << "'";
}

DiagnosedSilenceableFailure
transform::ScheduleChooseOp::apply(transform::TransformRewriter &,
                                   transform::TransformResults &,
                                   transform::TransformState &state) {
  Applied applied(*this, state);
  ArrayRef<Attribute> params = state.getParams(getChoice());
  return succeeded(choose(getWhat(), payload(state, getTarget()),
                          params.size() == 1 ? params.front() : Attribute(),
                          [&] { return emitError(); }))
             ? applied.success()
             : DiagnosedSilenceableFailure::definiteFailure();
}
