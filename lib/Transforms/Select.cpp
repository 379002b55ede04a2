//===- Select.cpp - Chooses how collectives run ---------------------------===//
//
// Decides what a schedule leaves open: by sizes and, if the topology is known,
// by the schedules that the synthesizer finds for it.
//
//===----------------------------------------------------------------------===//

#include "lib/CostModel/CollectiveTime.h"
#include "lib/Synthesis/GroupSchedules.h"
#include "lib/Transforms/Algorithms.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Rewrites.h"
#include "synth/interop/TopologyImport.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_SELECT
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

/// The most bytes per rank that a program's all_reduces may use for the
/// protocol lamport when this pass chooses it. Each of them needs its own
/// memory.
constexpr int64_t maxLamportMemory = int64_t(256) << 20;

/// Limits, in bytes of the largest part that a rank has, up to which an
/// all_reduce runs in one shot; -1 means never.
struct Limits {
  /// Up to `ll` by the protocol ll, larger ones up to `lamport` by the protocol
  /// lamport, if the type allows it.
  int64_t ll = -1, lamport = -1;
  /// By the protocol simple: in a kernel, for sizes above those; elsewhere only
  /// if the protocol is chosen.
  int64_t simple = -1;
  /// From this size on, members push the values that are combined, if none of
  /// these protocols is used; for a reduce_scatter too.
  int64_t push = std::numeric_limits<int64_t>::max();
};

/// Whether a kernel needs meetings of ranks even without its all_reduces.
bool meets(FusedOp kernel) {
  return kernel
      ->walk([](CommunicateOp op) {
        return op.getCollective() == Collective::all_reduce
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// The default limits. With the protocol simple in kernels on CPUs, other
/// operations can combine values where they are; on GPUs its meetings cost
/// more, unless the kernel has them anyway. In one shot, each of n ranks sends
/// the whole tensor n - 1 times; in two shots, 2 (n - 1) / n times, but with
/// two more meetings. On GPUs these meetings take as long as the links need for
/// the machine's limit m of `lamport`. So one shot is faster up to m * n / ((n
/// - 1) (n - 2)); for two ranks, up to where clearing costs as much. On CPUs,
/// all ranks share the speed of memory.
///
/// Links are slower for reads of other ranks' memory than for writes. From the
/// limit `push` on, this difference is worth one more meeting.
Limits defaultLimits(int64_t ranks, const Target &target,
                     const Machine &machine, FusedOp kernel) {
  bool isPair = ranks <= 2;
  const Machine::OneShot &own =
      kernel ? (isPair ? machine.pairInKernel : machine.groupInKernel)
             : (isPair ? machine.pair : machine.group);
  Limits limits;
  limits.push = machine.push;
  limits.simple = own.simple;
  if (target.isGpu() && kernel && meets(kernel))
    return limits;
  limits.ll = own.ll;
  limits.lamport = own.lamport;
  bool isScaled = !isPair && own.lamport != Machine::never &&
                  own.lamport != Machine::always;
  if (isScaled && target.isGpu())
    limits.lamport = own.lamport * ranks / ((ranks - 1) * (ranks - 2));
  else if (isScaled)
    limits.lamport = own.lamport / ranks * 4;
  return limits;
}

/// A built-in way to run a collective.
struct Builtin {
  Algorithm algorithm;
  Protocol protocol = Protocol::simple;
};

/// The topology for which collectives may get synthesized schedules.
struct Network {
  /// The topology as the option names it.
  std::string topology;
  synth::Fabric fabric;
  /// How long each search may take, in seconds.
  double seconds = 0;
  /// Whether to make remarks about the choices.
  bool explains = false;
};

class Selector {
public:
  Selector(ModuleOp module, const SelectOptions &options,
           const Network *network)
      : module(module), mesh(getMesh(module)), options(options),
        network(network), builder(module.getContext()) {}

  void select(CommunicateOp op);

private:
  /// A schedule and its predicted time in microseconds.
  struct Candidate {
    synth::Schedule schedule;
    double time = 0;
  };

  /// How many ranks take part in a collective.
  int64_t countRanks(CommunicateOp op) {
    return requestFor(collectiveOf(op)).ranks;
  }
  static CollectiveOpInterface collectiveOf(CommunicateOp op) {
    return cast<CollectiveOpInterface>(op.getOperation());
  }
  /// The bytes of the largest part of a collective's input.
  int64_t bytesTaken(CommunicateOp op) {
    return largestBytes(op.getSourceType(), mesh);
  }
  Limits limitsFor(CommunicateOp op, FusedOp kernel);
  /// Reserves the memory for one more all_reduce by lamport. Returns false if
  /// the program would exceed maxLamportMemory.
  bool takeLamportMemory(CommunicateOp op);
  /// The built-in way for a collective, with `protocol` if that is chosen.
  Builtin builtinFor(CommunicateOp op, const Limits &limits,
                     std::optional<Protocol> protocol);
  /// The protocol for an algorithm that is chosen.
  Protocol protocolFor(CommunicateOp op, FusedOp kernel, Attribute algorithm);
  FlatSymbolRefAttr ringFor(CommunicateOp op);
  /// A schedule for the network, if one is predicted to be faster than
  /// `builtin`.
  FlatSymbolRefAttr synthesizedFor(CommunicateOp op, FusedOp kernel,
                                   Builtin builtin);
  /// Why a collective gets no schedule for the topology; empty if it may get
  /// one.
  std::string whyNoSchedule(CommunicateOp op, FusedOp kernel);
  std::optional<Candidate> findFastest(CommunicateOp op,
                                       const synth::Groups &groups,
                                       double bytes, std::string &why);

  ModuleOp module;
  MeshOp mesh;
  const SelectOptions &options;
  const Network *network;
  Builder builder;
  /// The bytes reserved so far, by program.
  llvm::DenseMap<Operation *, int64_t> lamportMemory;
};

} // namespace

/// Whether the element type has a value that marks elements that have not
/// arrived yet, which the protocol lamport needs.
static bool hasSentinel(CommunicateOp op) {
  Type element = op.getSourceType().getElementType();
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() >= 16;
}

Limits Selector::limitsFor(CommunicateOp op, FusedOp kernel) {
  Limits limits = defaultLimits(countRanks(op), options.target,
                                options.machine.orOf(options.target), kernel);
  for (auto [option, limit] : {std::pair(options.llLimit, &limits.ll),
                               std::pair(options.lamportLimit, &limits.lamport),
                               std::pair(options.kernelLimit, &limits.simple),
                               std::pair(options.pushLimit, &limits.push)})
    if (option >= 0)
      *limit = option;
  if (!kernel)
    limits.simple = limits.ll;
  if (!mayPush(op))
    limits.push = std::numeric_limits<int64_t>::max();
  return limits;
}

bool Selector::takeLamportMemory(CommunicateOp op) {
  // Each rank has three buffers for the parts of all ranks: one for this run,
  // one for the next run, and one that is being cleared.
  int64_t bytes = 3 * countRanks(op) * bytesTaken(op);
  int64_t &taken = lamportMemory[op->getParentOfType<ProgramOp>()];
  if (taken + bytes > maxLamportMemory)
    return false;
  taken += bytes;
  return true;
}

Builtin Selector::builtinFor(CommunicateOp op, const Limits &limits,
                             std::optional<Protocol> protocol) {
  int64_t bytes = bytesTaken(op);
  Protocol large = protocol               ? *protocol
                   : bytes >= limits.push ? Protocol::push
                                          : Protocol::simple;
  if (op.getCollective() != Collective::all_reduce)
    return {Algorithm::direct,
            op.getCollective() == Collective::reduce_scatter &&
                    large == Protocol::push
                ? large
                : Protocol::simple};
  if (protocol && *protocol != Protocol::simple && large != Protocol::push)
    return {Algorithm::one_shot, *protocol};
  if (!protocol && bytes <= limits.ll)
    return {Algorithm::one_shot, Protocol::ll};
  if (!protocol && bytes <= limits.lamport && hasSentinel(op))
    return {Algorithm::one_shot, Protocol::lamport};
  if (bytes <= limits.simple && large != Protocol::push)
    return {Algorithm::one_shot};
  return {Algorithm::two_shot, large};
}

Protocol Selector::protocolFor(CommunicateOp op, FusedOp kernel,
                               Attribute algorithm) {
  auto name = dyn_cast<StringAttr>(algorithm);
  Limits limits = limitsFor(op, kernel);
  int64_t bytes = bytesTaken(op);
  // For collectives other than all_reduce, both algorithms are the same.
  if (name && (name.getValue() == stringifyAlgorithm(Algorithm::two_shot) ||
               name.getValue() == stringifyAlgorithm(Algorithm::direct)))
    return builtinFor(op, {-1, -1, -1, limits.push}, std::nullopt).protocol;
  if (!name || name.getValue() != stringifyAlgorithm(Algorithm::one_shot))
    return Protocol::simple;
  // The protocol simple saves work only in kernels.
  if (bytes <= limits.ll || (!kernel && !hasSentinel(op)))
    return Protocol::ll;
  return hasSentinel(op) && (bytes <= limits.lamport || !kernel)
             ? Protocol::lamport
             : Protocol::simple;
}

FlatSymbolRefAttr Selector::ringFor(CommunicateOp op) {
  SynthRequest request = requestFor(collectiveOf(op));
  return addAlgorithm(
      module,
      synth::ringSchedule(request.kind, static_cast<int>(request.ranks)),
      ("ring_" + stringifyCollective(op.getCollective()) + "_" +
       Twine(request.ranks))
          .str(),
      op.getLoc());
}

//===----------------------------------------------------------------------===//
// Schedules for a topology
//===----------------------------------------------------------------------===//

std::string Selector::whyNoSchedule(CommunicateOp op, FusedOp kernel) {
  SynthRequest request = requestFor(collectiveOf(op));
  if (request.kind == synth::CollectiveKind::Custom)
    return ("no schedule implements '" +
            stringifyCollective(op.getCollective()) + "'")
        .str();
  if (request.ranks < 2)
    return "one rank takes part";
  auto overlapped = op->getParentOfType<OverlappedOp>();
  if (overlapped && overlapped.getRing())
    return "its chunks go around a ring";
  // The tiles of a product are sent while others are computed.
  if (kernel && kernel.getSkeleton() == Skeleton::matmul_collective)
    return "it runs at once with a product";
  return "";
}

std::optional<Selector::Candidate>
Selector::findFastest(CommunicateOp op, const synth::Groups &groups,
                      double bytes, std::string &why) {
  std::optional<Candidate> fastest;
  for (const char *objective : {"latency", "bandwidth"}) {
    SynthRequest request = requestFor(collectiveOf(op));
    request.topology = network->topology;
    request.groups = groups;
    request.objective = objective;
    request.seconds = network->seconds;
    Result<Synthesized> found = synthesizeOnce(request);
    if (!found) {
      why = found.message();
      continue;
    }
    Result<synth::Schedule> schedule =
        synth::parseSchedule(found->schedule, network->topology);
    std::string wrong = schedule ? synth::check(*schedule) : schedule.message();
    if (!wrong.empty()) {
      why = wrong;
      continue;
    }
    if (findChunkThroughCpu(*schedule)) {
      why = "chunks would pass through a CPU";
      continue;
    }
    // The groups of some axes share the machine.
    Result<synth::Timing> timing = synth::simulate(
        isWhole(groups, network->fabric)
            ? *schedule
            : inGroups(*schedule, groups, network->fabric.hosts),
        network->fabric, bytes, partialFactor(collectiveOf(op)));
    if (!timing)
      why = timing.message();
    else if (!fastest || timing->eventUs < fastest->time)
      fastest = Candidate{std::move(*schedule), timing->eventUs};
  }
  return fastest;
}

FlatSymbolRefAttr Selector::synthesizedFor(CommunicateOp op, FusedOp kernel,
                                           Builtin builtin) {
  auto remarkOptions = [&] {
    return remark::RemarkOpts::name("select")
        .category("schedule")
        .function(op->getParentOfType<ProgramOp>().getSymName());
  };
  // Each chunk is a collective of its own.
  int64_t chunks = 1;
  if (auto overlapped = op->getParentOfType<OverlappedOp>())
    chunks = std::max<int64_t>(1, overlapped.getChunks());
  std::string what = (stringifyCollective(op.getCollective()) + " of " +
                      (chunks == 1 ? "" : Twine(chunks) + " chunks of ") +
                      Twine(llvm::divideCeil(bytesTaken(op), chunks)) +
                      " B on " + Twine(countRanks(op)) + " ranks")
                         .str();
  auto keep = [&](const std::string &why) {
    if (network->explains)
      remark::missed(op.getLoc(), remarkOptions())
          << "a schedule for " + what
          << remark::detail::Remark::Arg("Reason", why)
          << remark::detail::Remark::Arg(
                 "Suggestion",
                 "it runs as " + stringifyAlgorithm(builtin.algorithm).str());
    return FlatSymbolRefAttr();
  };
  if (std::string why = whyNoSchedule(op, kernel); !why.empty())
    return keep(why);
  double bytes = std::max<double>(
      static_cast<double>(bytesTaken(op)),
      static_cast<double>(largestBytes(op.getTargetType(), mesh)));
  if (bytes == 0)
    return keep("nothing is sent");
  bytes /= static_cast<double>(chunks);
  synth::Groups groups = groupsOf(collectiveOf(op));
  std::string why;
  std::optional<Candidate> found = findFastest(op, groups, bytes, why);
  if (!found)
    return keep(why);
  auto microseconds = [&](double time) {
    return llvm::formatv("{0:f2} us{1}", time, chunks == 1 ? "" : " a chunk")
        .str();
  };
  Result<double> builtinTime =
      predictBuiltin(builtin.algorithm, builtin.protocol, op.getCollective(),
                     static_cast<int>(op.getRoot().value_or(0)),
                     network->fabric, groups, bytes);
  std::string size = describeSize(found->schedule);
  if (builtinTime && *builtinTime <= found->time)
    return keep("one of " + size + " is predicted to take " +
                microseconds(found->time) + ", " +
                stringifyAlgorithm(builtin.algorithm).str() + " " +
                microseconds(*builtinTime));
  if (network->explains)
    remark::passed(op.getLoc(), remarkOptions())
        << what + " takes a schedule of " + size + ", predicted to take " +
               microseconds(found->time) + "; " +
               stringifyAlgorithm(builtin.algorithm).str() + ": " +
               (builtinTime ? microseconds(*builtinTime)
                            : builtinTime.message());
  return addAlgorithm(module, found->schedule,
                      algorithmName(collectiveOf(op), network->topology),
                      op.getLoc());
}

void Selector::select(CommunicateOp op) {
  auto kernel = dyn_cast<FusedOp>(op->getParentOp());
  std::optional<Protocol> protocol;
  if (auto chosen = dyn_cast_or_null<StringAttr>(choiceFor(op, kProtocolAttr)))
    protocol = symbolizeProtocol(chosen.getValue());
  Attribute algorithm = choiceFor(op, kAlgorithmAttr);
  auto name = dyn_cast_or_null<StringAttr>(algorithm);
  if (name && name.getValue() == "ring") {
    algorithm = ringFor(op);
  } else if (!algorithm) {
    Limits limits = limitsFor(op, kernel);
    Builtin builtin = builtinFor(op, limits, protocol);
    // Only built-in algorithms use protocols, so a chosen protocol rules out
    // schedules.
    if (network && !protocol)
      algorithm = synthesizedFor(op, kernel, builtin);
    if (!algorithm) {
      if (!protocol && builtin.protocol == Protocol::lamport &&
          !takeLamportMemory(op)) {
        limits.lamport = -1;
        builtin = builtinFor(op, limits, protocol);
      }
      algorithm = builder.getStringAttr(stringifyAlgorithm(builtin.algorithm));
      protocol = builtin.protocol;
    }
  }
  if (!protocol)
    protocol = protocolFor(op, kernel, algorithm);
  op->setAttr(kAlgorithmAttr, algorithm);
  op->setAttr(kProtocolAttr,
              builder.getStringAttr(stringifyProtocol(*protocol)));
}

namespace {

struct SelectPass : ccn::impl::SelectBase<SelectPass> {
  using SelectBase::SelectBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<Network> network;
    // Without a mesh there is no communication.
    if (MeshOp mesh = getMesh(module); mesh && !topology.empty()) {
      FailureOr<Network> found = findNetwork(mesh);
      if (failed(found))
        return signalPassFailure();
      network = *std::move(found);
    }
    SelectOptions options{topology,     seconds,     explains,
                          target,       machine,     llLimit,
                          lamportLimit, kernelLimit, pushLimit};
    Selector selector(module, options, network ? &*network : nullptr);
    module.walk([&](CommunicateOp op) { selector.select(op); });
  }

private:
  FailureOr<Network> findNetwork(MeshOp mesh) {
    auto emit = [&] { return mesh.emitError(); };
    // select_c1
    Result<synth::Topology> found = synth::loadTopology(topology);
    if (!found)
      return refuse(emit, "select_c1", found.message(), nullptr);
    Result<synth::Fabric> fabric = synth::makeFabric(*found);
    if (!fabric)
      return refuse(emit, "select_c1", fabric.message(), nullptr);
    // select_c2
    if (fabric->ranks != mesh.getNumRanks())
      return refuse(emit, "select_c2",
                    "expected a topology of " + Twine(mesh.getNumRanks()) +
                        " GPUs, one for each rank of the mesh, found '" +
                        topology + "' with " + Twine(fabric->ranks),
                    nullptr);
    return Network{topology, std::move(*fabric), seconds, explains};
  }
};

} // namespace
