//===- Choose.cpp - How a collective runs ---------------------------------===//
//
// Algorithms, protocols and numbers of SMs are attributes of what communicates.
// An algorithm from a file becomes a ccn.algorithm of the module, after the
// synthesizer's checker has proved that it does what the collective asks for.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Rewrites.h"

#include "lib/Synthesis/Synthesize.h"
#include "synth/ScheduleImport.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_CHOOSE
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

/// The collectives that an operation is or holds.
SmallVector<Operation *> collectivesOf(Operation *op) {
  SmallVector<Operation *> collectives;
  op->walk([&](CollectiveOpInterface inner) {
    if (inner.communicates())
      collectives.push_back(inner);
  });
  return collectives;
}

/// Whether a built-in algorithm does what the collective asks for.
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

/// How what the collective adds or multiplies rounds; none where nothing does,
/// so that the order does not matter.
std::optional<synth::Rounding> roundingOf(CollectiveOpInterface collective) {
  std::optional<ReduceKind> kind = collective.getReduction();
  auto element = dyn_cast<FloatType>(
      getElementTypeOrSelf(collective->getOperand(0).getType()));
  if (!element || !kind || *kind == ReduceKind::max || *kind == ReduceKind::min)
    return std::nullopt;
  return element.getWidth() < 32 ? synth::Rounding::AtEnd
                                 : synth::Rounding::EachStep;
}

/// What an algorithm for a collective must do.
SynthRequest requestFor(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  MeshOp mesh = getMesh(op);
  SynthRequest request;
  std::optional<synth::CollectiveKind> kind = synth::parseCollectiveKind(
      stringifyCollective(collective.getCollective()).str());
  request.kind = kind.value_or(synth::CollectiveKind::Custom);
  request.ranks = 1;
  for (StringAttr axis : collective.getMeshAxes().getNames())
    request.ranks *= mesh.getAxisSize(axis);
  request.root = collective.getRootPosition().value_or(0);
  request.rounding = roundingOf(collective);
  return request;
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

/// A symbol of the module that is not taken, from a name or a file's.
std::string freeSymbol(ModuleOp module, StringRef text) {
  std::string stem;
  for (char c : llvm::sys::path::stem(text))
    stem += llvm::isAlnum(c) ? c : '_';
  std::string name = stem;
  for (unsigned i = 1; module.lookupSymbol(name); ++i)
    name = stem + "_" + std::to_string(i);
  return name;
}

/// JSON on one line.
std::string onOneLine(StringRef text) {
  std::string line;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\'))
      inString = !inString;
    if (inString || !llvm::isSpace(text[i]))
      line += text[i];
  }
  return line;
}

/// Makes a schedule an algorithm of the module that `op` may refer to. `where`
/// is what it is called in messages.
FailureOr<FlatSymbolRefAttr> addAlgorithm(Operation *op, StringRef text,
                                          StringRef where, EmitRefusal emit) {
  // choose_c4
  synth::Result<synth::Schedule> schedule =
      synth::importSchedule(std::string_view(text), where.str());
  if (!schedule)
    return refuse(emit, "choose_c4", schedule.error().text, nullptr);
  if (std::string wrong = synth::check(*schedule); !wrong.empty())
    return refuse(emit, "choose_c4", "'" + where + "' is not right: " + wrong,
                  nullptr);
  // choose_c5
  SynthRequest wanted = requestFor(op);
  std::string found = synth::kindName(schedule->collective.kind).data();
  if (schedule->collective.kind != wanted.kind ||
      schedule->collective.ranks != wanted.ranks ||
      (schedule->collective.rooted() &&
       schedule->collective.root != wanted.root))
    return refuse(emit, "choose_c5",
                  "expected a schedule of " + op->getName().stripDialect() +
                      " on " + Twine(wanted.ranks) + " ranks, found one of " +
                      found + " on " + Twine(schedule->collective.ranks) +
                      (schedule->collective.rooted()
                           ? " with root " + Twine(schedule->collective.root)
                           : Twine()),
                  op);
  for (const synth::Step &step : schedule->steps)
    for (const synth::Send &send : step.sends)
      if (std::max(send.src, send.dst) >= schedule->collective.ranks)
        return refuse(emit, "choose_c5",
                      "expected a schedule between ranks, found one with a CPU "
                      "on the way of chunk " +
                          Twine(send.chunk),
                      op);
  // choose_c10
  if (wanted.rounding)
    if (std::string differing =
            synth::differingSums(*schedule, *wanted.rounding);
        !differing.empty())
      return refuse(emit, "choose_c10",
                    "the ranks would get different floats from '" + where +
                        "', as " + differing +
                        "; take a schedule that forms each sum at one rank, "
                        "such as reduce_scatter and then all_gather",
                    op);
  auto module = op->getParentOfType<ModuleOp>();
  std::string line = onOneLine(synth::writeSchedule(*schedule));
  for (auto other : module.getOps<AlgorithmOp>())
    if (other.getSchedule() == line)
      return FlatSymbolRefAttr::get(other.getSymNameAttr());
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  if (MeshOp mesh = getMesh(module))
    builder.setInsertionPointAfter(mesh);
  auto algorithm =
      AlgorithmOp::create(builder, op->getLoc(), freeSymbol(module, where),
                          found, wanted.ranks, line);
  return FlatSymbolRefAttr::get(algorithm.getSymNameAttr());
}

/// The schedule in a file.
FailureOr<FlatSymbolRefAttr> loadAlgorithm(Operation *op, StringRef path,
                                           EmitRefusal emit) {
  // choose_c4
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return refuse(emit, "choose_c4",
                  "cannot read '" + path + "': " + buffer.getError().message(),
                  nullptr);
  return addAlgorithm(op, (*buffer)->getBuffer(), path, emit);
}

/// A schedule that the synthesizer finds.
FailureOr<FlatSymbolRefAttr>
synthesizeAlgorithm(Operation *op, DictionaryAttr wish, EmitRefusal emit) {
  SynthRequest request = requestFor(op);
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
  synth::Result<Synthesized> found = synthesize(request);
  if (!found)
    return refuse(emit, "choose_c9", found.error().text, op);
  if (!found->note.empty())
    remark::analysis(op->getLoc(),
                     remark::RemarkOpts::name("synth").category("schedule"))
        << found->note;
  return addAlgorithm(
      op, found->schedule,
      (op->getName().stripDialect() + "_" + request.topology).str(), emit);
}

} // namespace

static LogicalResult chooseAlgorithm(ArrayRef<Operation *> value,
                                     Attribute choice, EmitRefusal emit) {
  FailureOr<Operation *> op = findTarget(value, emit);
  if (failed(op))
    return failure();
  auto wish = dyn_cast<DictionaryAttr>(choice);
  StringRef name = wish ? "synth" : cast<StringAttr>(choice).getValue();
  std::optional<Algorithm> algorithm = symbolizeAlgorithm(name);
  if (!algorithm) {
    // choose_c2
    auto collective = dyn_cast<CollectiveOpInterface>(*op);
    if (!collective)
      return refuse(emit, "choose_c2",
                    "expected one of " + algorithmNames() +
                        " for a kernel, found '" + name + "'",
                    *op);
    if (requestFor(*op).kind == synth::CollectiveKind::Custom)
      return refuse(emit, "choose_c2",
                    "no schedule implements '" +
                        (*op)->getName().stripDialect() + "'",
                    *op);
    FailureOr<FlatSymbolRefAttr> symbol =
        wish ? synthesizeAlgorithm(*op, wish, emit)
             : loadAlgorithm(*op, name, emit);
    if (failed(symbol))
      return failure();
    (*op)->setAttr(kAlgorithmAttr, *symbol);
    return success();
  }
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
  // choose_c3
  if (*algorithm == Algorithm::nccl && !isa<CollectiveOpInterface>(*op))
    return refuse(emit, "choose_c3",
                  "NCCL runs collectives that are not in a kernel", *op);
  // choose_c7
  if (*algorithm == Algorithm::nccl && (*op)->hasAttr(kProtocolAttr))
    return refuse(emit, "choose_c7", "NCCL chooses its own protocols", *op);
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
    emit() << "expected protocol 'simple', 'll' or 'lamport', found '" << choice
           << "'";
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
  (*op)->setAttr(kProtocolAttr, StringAttr::get((*op)->getContext(), choice));
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
