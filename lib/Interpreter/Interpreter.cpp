//===- Interpreter.cpp - The reference interpreter ------------------------===//
//
// Gives the ranks their parts of the arguments, runs the ranks, and assembles
// the outputs from their parts.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Interpreter.h"

#include "runtime/tensor/Random.h"

#include "lib/Interpreter/RankExecutor.h"
#include "lib/Interpreter/RankThreads.h"
#include "runtime/base/FreeMemory.h"
#include "llvm/ADT/StringSet.h"

#include <thread>

namespace ccn::interp {

using runtime::describeIndex;
using runtime::drawScale;
using runtime::firstDifference;
using runtime::randomFill;
using runtime::sizeInBytes;

namespace {

/// The program of a rank, with the order of its execution.
struct RankProgram {
  RankProgram(ProgramOp program, bool inChunks);

  /// The values that an operation reads, including those that its region reads
  /// or yields.
  llvm::SmallVector<mlir::Value> inputsOf(mlir::Operation *op) const;

  ProgramOp program;
  /// The operations in the order of execution: those of a region come before
  /// the operation that has the region, whose results then are the yielded
  /// values.
  std::vector<mlir::Operation *> order;
  /// The regions that are executed chunk by chunk, as one operation.
  ChunkPlans chunkPlans;
  std::vector<Outcome> outcomes;
  /// The values that nothing needs after each operation.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 2>> lastUses;
};

RankProgram::RankProgram(ProgramOp program, bool inChunks)
    : program(program), outcomes(outcomesOf(program)) {
  mlir::Block &block = program.getBody().front();
  for (auto op : block.getOps<OverlappedOp>())
    if (inChunks || addsBySchedule(op))
      chunkPlans.try_emplace(op, op);
  appendOrder(block, chunkPlans, order);

  llvm::DenseSet<mlir::Value> needed;
  for (const Outcome &outcome : outcomes)
    needed.insert(outcome.value);
  // Walks backwards, so the first use that it meets is the last use. A value
  // without uses is not needed after the operation that makes it.
  for (mlir::Operation *op : llvm::reverse(order)) {
    for (mlir::Value result : op->getResults())
      if (!needed.contains(result))
        lastUses[op].push_back(result);
    for (mlir::Value operand : inputsOf(op))
      if (needed.insert(operand).second)
        lastUses[op].push_back(operand);
  }
}

llvm::SmallVector<mlir::Value>
RankProgram::inputsOf(mlir::Operation *op) const {
  llvm::SmallVector<mlir::Value> inputs(op->getOperands());
  if (chunkPlans.contains(op))
    op->walk([&](mlir::Operation *inner) {
      for (mlir::Value operand : inner->getOperands())
        if (operand.getParentBlock() == op->getBlock())
          inputs.push_back(operand);
    });
  else if (llvm::isa<FusedOp, OverlappedOp>(op))
    llvm::append_range(inputs,
                       op->getRegion(0).front().getTerminator()->getOperands());
  return inputs;
}

/// Counts the bytes of values on rank 0, which has the largest parts.
class RankBytes {
public:
  RankBytes(const RankProgram &program, RankMesh mesh)
      : program(program), mesh(mesh) {}

  int64_t of(mlir::Value value) {
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    return bytes(type, mesh.boxOf(type, 0).sizes);
  }
  /// The bytes of a whole tensor in external form.
  int64_t ofWhole(mlir::RankedTensorType type) {
    return bytes(type, mesh.externalShape(type));
  }
  /// The most bytes that values take at one time. Arguments exist from the
  /// beginning, and a collective may need twice the memory of its result.
  int64_t mostAtOnce() {
    int64_t held = 0, most = 0;
    llvm::DenseMap<mlir::Value, int64_t> sizes;
    auto add = [&](mlir::Value value) {
      int64_t size = sizes[value] = of(value);
      held = addSaturating(held, size);
      return size;
    };
    ProgramOp own = program.program;
    for (mlir::BlockArgument argument : own.getArguments())
      add(argument);
    for (mlir::Operation *op : program.order) {
      int64_t made = 0;
      for (mlir::Value result : op->getResults())
        made = addSaturating(made, add(result));
      if (!llvm::isa<CollectiveOpInterface>(op))
        made = 0;
      most = std::max(most, addSaturating(held, made));
      auto it = program.lastUses.find(op);
      if (held == INT64_MAX || it == program.lastUses.end())
        continue;
      for (mlir::Value value : it->second)
        held -= sizes.lookup(value);
    }
    return std::max(most, held);
  }

private:
  static int64_t bytes(mlir::RankedTensorType type, const Shape &shape) {
    int64_t bytes = sizeInBytes(elementTypeOf(type.getElementType()));
    for (int64_t size : shape)
      bytes = multiplySaturating(bytes, size);
    return bytes;
  }

  const RankProgram &program;
  RankMesh mesh;
};

/// The memory for a run on all ranks: the values on the ranks and, in addition,
/// the larger of the largest argument in external form and of the assembled
/// outputs.
MemoryNeeds needsOf(const RankProgram &ranked, RankMesh mesh) {
  RankBytes bytes(ranked, mesh);
  ProgramOp program = ranked.program;
  int64_t largest = 0, outputs = 0;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    largest =
        std::max(largest, bytes.ofWhole(program.getGlobalArgumentType(i)));
  for (const Outcome &outcome : ranked.outcomes)
    outputs = addSaturating(outputs, bytes.ofWhole(outcome.type));
  MemoryNeeds needs;
  needs.add("the values of " + std::to_string(mesh.numRanks()) + " ranks",
            mesh.numRanks(), bytes.mostAtOnce());
  needs.add("whole arrays", 1, std::max(largest, outputs));
  return needs;
}

/// Where and why a rank failed.
struct Failure {
  mlir::Operation *op;
  Status status;
  /// Whether the cause is not this rank alone: another rank failed, or ranks
  /// did not meet.
  bool shared;
  /// The position of the operation in the order of execution.
  size_t place;
};

mlir::LogicalResult checkMemory(ProgramOp program, const MemoryNeeds &needs) {
  // Small programs run often, so the check of the memory is skipped for them.
  constexpr int64_t small = int64_t(16) << 20;
  if (needs.total() <= small)
    return mlir::success();
  Status status = ::ccn::checkMemory(needs);
  return status ? mlir::success()
                : mlir::emitError(program.getLoc()) << status.message();
}

/// The execution of a program on one rank.
class RankRun {
public:
  RankRun(const RankProgram &program, RankMesh mesh, int rank,
          Rendezvous &meetings, std::vector<HostTensor> arguments);

  /// Executes operations until one has to wait, one fails or all are done.
  Pause run();

  std::optional<Failure> failure;
  /// The rank's parts of the outputs, by outcome.
  std::vector<HostTensor> results;

private:
  const RankProgram &program;
  int rank;
  Rendezvous &meetings;
  RankExecutor executor;
  /// The position of the next operation in the order of execution.
  size_t place = 0;
};

/// One execution of a program, or of programs localized for each rank.
class Run {
public:
  Run(llvm::ArrayRef<ProgramOp> list, MeshOp mesh, const RunOptions &options)
      : program(list.front()), mesh(mesh), ranks(this->mesh.numRanks()),
        options(options), list(list) {}

  mlir::FailureOr<std::vector<Output>> run(NamedTensors inputs);

private:
  mlir::LogicalResult checkPrograms();
  mlir::LogicalResult checkNames(const NamedTensors &inputs);
  mlir::FailureOr<HostTensor> takeInput(unsigned index, NamedTensors &inputs);
  mlir::LogicalResult distribute(NamedTensors inputs);
  /// Orders the programs' operations, and checks that there is enough memory.
  mlir::LogicalResult prepare();
  mlir::LogicalResult execute();
  mlir::LogicalResult report();
  mlir::LogicalResult checkReplicas(const Outcome &outcome, size_t index);
  mlir::FailureOr<HostTensor> collect(const Outcome &outcome, size_t index);
  const RankProgram &programOf(int64_t rank) const {
    return programs[programs.size() == 1 ? 0 : rank];
  }

  /// The first rank's program, which has the arguments and results of all
  /// ranks.
  ProgramOp program;
  RankMesh mesh;
  int64_t ranks;
  RunOptions options;
  unsigned threads = 1;
  llvm::ArrayRef<ProgramOp> list;
  /// One program for each rank, or one for all.
  std::vector<RankProgram> programs;
  /// The ranks' parts of the arguments, by rank, then by argument.
  std::vector<std::vector<HostTensor>> arguments;
  std::vector<std::unique_ptr<RankRun>> runs;
};

mlir::LogicalResult Run::checkPrograms() {
  if (!program.getRank() && list.size() == 1)
    return mlir::success();
  if (list.size() != static_cast<size_t>(ranks))
    return mlir::emitError(program.getLoc())
           << "program '" << program.getSymName() << "' is localized for rank "
           << *program.getRank() << "; expected a program for each of " << ranks
           << " ranks, found " << list.size();
  for (int64_t rank = 0; rank < ranks; ++rank)
    if (ProgramOp other = list[rank]; other.getRank() != rank)
      return mlir::emitError(other.getLoc())
             << "expected a program that is localized for rank " << rank;
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

mlir::LogicalResult Run::checkNames(const NamedTensors &inputs) {
  llvm::StringSet<> known;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    known.insert(program.getArgName(i));
  for (const auto &[name, tensor] : inputs)
    if (!known.contains(name))
      return mlir::emitError(program.getLoc())
             << "program '" << program.getSymName() << "' has no argument '"
             << name << "'";
  return mlir::success();
}

mlir::FailureOr<HostTensor> Run::takeInput(unsigned index,
                                           NamedTensors &inputs) {
  mlir::BlockArgument argument = program.getArgument(index);
  mlir::RankedTensorType type = program.getGlobalArgumentType(index);
  ElementType element = elementTypeOf(type.getElementType());
  Shape shape = mesh.externalShape(type);
  std::string name = program.getArgName(index).str();
  auto it = inputs.find(name);
  Result<HostTensor> tensor =
      it == inputs.end()
          ? randomFill(element, shape, {shape, Shape(shape.size(), 0)},
                       options.seed, name,
                       drawScale(element, Shape(type.getShape())))
          : Result<HostTensor>(std::move(it->second));
  if (!tensor)
    return mlir::emitError(argument.getLoc())
           << "argument '" << name << "': " << tensor.message();
  if (tensor->type() != element || tensor->shape() != shape)
    return mlir::emitError(argument.getLoc())
           << "argument '" << name << "' expects " << describe(element, shape)
           << ", found " << tensor->describe();
  return *std::move(tensor);
}

mlir::LogicalResult Run::distribute(NamedTensors inputs) {
  arguments.resize(ranks);
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    mlir::FailureOr<HostTensor> tensor = takeInput(i, inputs);
    if (mlir::failed(tensor))
      return mlir::failure();
    mlir::BlockArgument argument = program.getArgument(i);
    mlir::RankedTensorType type = program.getGlobalArgumentType(i);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t replica = mesh.firstReplica(type, rank);
      if (replica != rank) {
        // Ranks that hold the same part share its storage.
        arguments[rank].push_back(arguments[replica][i]);
        continue;
      }
      Result<HostTensor> part = mesh.takePart(type, *tensor, rank);
      if (!part)
        return mlir::emitError(argument.getLoc())
               << "argument '" << program.getArgName(i).getValue()
               << "': " << part.message();
      arguments[rank].push_back(*std::move(part));
    }
    inputs.erase(program.getArgName(i).str());
  }
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

RankRun::RankRun(const RankProgram &program, RankMesh mesh, int rank,
                 Rendezvous &meetings, std::vector<HostTensor> arguments)
    : program(program), rank(rank), meetings(meetings),
      executor(mesh, rank, meetings) {
  ProgramOp own = program.program;
  for (auto [argument, tensor] : llvm::zip_equal(own.getArguments(), arguments))
    executor.set(argument, std::move(tensor));
}

Pause RankRun::run() {
  for (; place < program.order.size(); ++place) {
    mlir::Operation *op = program.order[place];
    auto plan = program.chunkPlans.find(op);
    Status status = plan == program.chunkPlans.end()
                        ? executor.execute(op)
                        : executor.executeInChunks(plan->second);
    if (!status) {
      if (executor.hasToWait())
        return Pause::Waits;
      meetings.abort(rank, status);
      failure = Failure{op, std::move(status), executor.meetingFailed(), place};
      return Pause::Done;
    }
    auto it = program.lastUses.find(op);
    if (it == program.lastUses.end())
      continue;
    for (mlir::Value value : it->second)
      executor.drop(value);
  }
  for (const Outcome &outcome : program.outcomes)
    results.push_back(executor.get(outcome.value));
  executor.dropAll();
  return Pause::Done;
}

mlir::LogicalResult Run::prepare() {
  for (ProgramOp each : list)
    programs.emplace_back(each, options.inChunks);
  MemoryNeeds needs = needsOf(programs.front(), mesh);
  // Below, starting a thread takes longer than what it does.
  constexpr int64_t smallForThreads = int64_t(256) << 10;
  threads = options.threads ? options.threads
            : needs.total() <= smallForThreads
                ? 1
                : std::thread::hardware_concurrency();
  return checkMemory(program, needs);
}

mlir::LogicalResult Run::execute() {
  Rendezvous meetings(static_cast<int>(ranks));
  for (int64_t rank = 0; rank < ranks; ++rank)
    runs.push_back(std::make_unique<RankRun>(programOf(rank), mesh,
                                             static_cast<int>(rank), meetings,
                                             std::move(arguments[rank])));
  arguments.clear();
  runRanks(static_cast<int>(ranks), threads, meetings,
           [&](int rank) { return runs[rank]->run(); });
  return report();
}

mlir::LogicalResult Run::report() {
  // Reports the first operation at which a rank failed by itself or, if none
  // did, at which ranks did not meet, on the first rank that failed there.
  std::optional<int64_t> first;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (!runs[rank]->failure)
      continue;
    auto isEarlier = [&](const Failure &a, const Failure &b) {
      if (a.shared != b.shared)
        return !a.shared;
      return a.place < b.place;
    };
    if (!first || isEarlier(*runs[rank]->failure, *runs[*first]->failure))
      first = rank;
  }
  if (!first)
    return mlir::success();
  const Failure &failure = *runs[*first]->failure;
  auto diagnostic = mlir::emitError(failure.op->getLoc());
  if (!failure.shared)
    diagnostic << "on " << mesh.describe(*first) << ": ";
  diagnostic << failure.status.message();
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

mlir::LogicalResult Run::checkReplicas(const Outcome &outcome, size_t index) {
  mlir::RankedTensorType type = outcome.type;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t replica = mesh.firstReplica(type, rank);
    const HostTensor &expected = runs[replica]->results[index];
    const HostTensor &found = runs[rank]->results[index];
    std::optional<int64_t> difference = firstDifference(expected, found);
    if (!difference)
      continue;
    std::string where =
        describeIndex(mesh.externalIndex(type, rank, *difference));
    return mlir::emitError(outcome.loc)
           << "'" << outcome.name << "' should be the same on "
           << mesh.describe(replica) << " and " << mesh.describe(rank)
           << ", but element " << where << " is "
           << expected.textAt(*difference) << " and "
           << found.textAt(*difference);
  }
  return mlir::success();
}

mlir::FailureOr<HostTensor> Run::collect(const Outcome &outcome, size_t index) {
  std::vector<HostTensor> parts;
  for (const std::unique_ptr<RankRun> &run : runs)
    parts.push_back(run->results[index]);
  Result<HostTensor> whole = mesh.joinParts(outcome.type, parts);
  if (!whole)
    return mlir::emitError(outcome.loc)
           << "'" << outcome.name << "': " << whole.message();
  return *std::move(whole);
}

mlir::FailureOr<std::vector<Output>> Run::run(NamedTensors inputs) {
  if (mlir::failed(checkPrograms()) || mlir::failed(checkNames(inputs)) ||
      mlir::failed(prepare()) || mlir::failed(distribute(std::move(inputs))) ||
      mlir::failed(execute()))
    return mlir::failure();
  std::vector<Output> outputs;
  for (auto [index, outcome] : llvm::enumerate(programs.front().outcomes)) {
    if (mlir::failed(checkReplicas(outcome, index)))
      return mlir::failure();
    mlir::FailureOr<HostTensor> tensor = collect(outcome, index);
    if (mlir::failed(tensor))
      return mlir::failure();
    outputs.push_back({outcome.name, *std::move(tensor)});
    for (const std::unique_ptr<RankRun> &run : runs)
      run->results[index] = HostTensor();
  }
  return outputs;
}

} // namespace

//===----------------------------------------------------------------------===//
// RankExecutor
//===----------------------------------------------------------------------===//

Status RankExecutor::execute(mlir::Operation *op) {
  metAgain = 0;
  failedToMeet = false;
  Status status = executeAgain(op);
  if (!status && hasToWait())
    return status;
  sequence += static_cast<int64_t>(met.size());
  met.clear();
  return status;
}

Status RankExecutor::executeAgain(mlir::Operation *op) {
  if (llvm::isa<FusedOp, OverlappedOp>(op)) {
    mlir::Operation *yield = op->getRegion(0).front().getTerminator();
    for (auto [result, value] :
         llvm::zip_equal(op->getResults(), yield->getOperands()))
      set(result, HostTensor(get(value)));
    return Status();
  }
  std::optional<Tensor> result = executeElementwise(op);
  if (!result)
    result = executeTensorOp(op);
  if (!result)
    result = executeCollective(op);
  if (!result)
    return error("the reference interpreter does not know operation '",
                 op->getName().getStringRef().str(), "'");
  if (!*result)
    return result->status();
  mlir::Value value = op->getResult(0);
  const HostTensor &tensor = **result;
  // Every later operation relies on the result's type and shape.
  if (tensor.type() != kernels.storageOf(elementOf(value)) ||
      tensor.shape() != boxOf(value).sizes)
    return error("internal error: the operation gave ", tensor.describe(),
                 " for '", typeName(typeOf(value)), "'");
  set(value, *std::move(*result));
  return Status();
}

mlir::LogicalResult checkRoom(ProgramOp program, MeshOp mesh) {
  return checkMemory(program, needsOf(RankProgram(program, /*inChunks=*/false),
                                      RankMesh(mesh)));
}

mlir::FailureOr<std::vector<Output>> run(llvm::ArrayRef<ProgramOp> programs,
                                         MeshOp mesh, NamedTensors inputs,
                                         const RunOptions &options) {
  return Run(programs, mesh, options).run(std::move(inputs));
}

} // namespace ccn::interp
