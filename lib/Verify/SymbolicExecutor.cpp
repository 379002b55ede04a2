//===- SymbolicExecutor.cpp - Executes programs on symbols ----------------===//
//
// Each operation is executed on all ranks, again and again until no rank has to
// wait for another's value.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/SymbolicExecutor.h"

namespace ccn::verify {

void LockstepExchange::startOperation() {
  shown.clear();
  waiting = false;
}

void LockstepExchange::startRank(int64_t rank) {
  rounds[rank] = 0;
  waiting = false;
}

Result<std::vector<runtime::HostTensor>>
LockstepExchange::exchange(int rank, const interp::RankGroup &group,
                           const interp::Meeting &meeting,
                           runtime::HostTensor value) {
  size_t round = rounds[rank]++;
  shown.insert_or_assign({round, rank}, std::move(value));
  std::vector<runtime::HostTensor> values;
  for (int member : group) {
    auto it = shown.find({round, member});
    if (it == shown.end()) {
      waiting = true;
      return error("rank ", rank, " waits for rank ", member, " in ",
                   meeting.name);
    }
    values.push_back(it->second);
  }
  return values;
}

SymbolicExecutor::SymbolicExecutor(interp::RankMesh mesh,
                                   SymbolicKernels &kernels)
    : meetings(mesh.numRanks()) {
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
    executors.push_back(std::make_unique<interp::RankExecutor>(
        mesh, static_cast<int>(rank), meetings, kernels));
}

void SymbolicExecutor::set(int64_t rank, mlir::Value value,
                           runtime::HostTensor part) {
  executors[rank]->set(value, std::move(part));
}

const runtime::HostTensor &SymbolicExecutor::get(int64_t rank,
                                                 mlir::Value value) const {
  return executors[rank]->get(value);
}

std::optional<ExecutionFailure>
SymbolicExecutor::executeInChunks(OverlappedOp op) {
  interp::ChunkPlan plan(op);
  auto onAllRanks = [&](auto &&step) -> std::optional<ExecutionFailure> {
    for (int64_t rank = 0; rank < numRanks(); ++rank)
      if (Status status = step(*executors[rank]); !status)
        return ExecutionFailure{op, rank, std::move(status)};
    return std::nullopt;
  };
  using Rank = interp::RankExecutor;
  auto failure = onAllRanks([&](Rank &rank) { return rank.startChunks(plan); });
  for (size_t chunk = 0; !failure && chunk < plan.ranges.size(); ++chunk) {
    failure =
        onAllRanks([&](Rank &rank) { return rank.beginChunk(plan, chunk); });
    for (mlir::Operation *inner : plan.order)
      if (!failure)
        failure = execute(inner, [&](Rank &rank) {
          return rank.executeForChunk(inner, plan, chunk);
        });
    if (!failure)
      failure =
          onAllRanks([&](Rank &rank) { return rank.endChunk(plan, chunk); });
  }
  if (!failure)
    for (auto &rank : executors)
      rank->finishChunks(plan);
  return failure;
}

std::optional<ExecutionFailure> SymbolicExecutor::execute(mlir::Operation *op) {
  if (op->hasTrait<mlir::OpTrait::IsTerminator>())
    return std::nullopt;
  if (auto overlapped = llvm::dyn_cast<OverlappedOp>(op))
    return executeInChunks(overlapped);
  if (auto fused = llvm::dyn_cast<FusedOp>(op))
    if (auto failure = execute(fused.getBody().front()))
      return failure;
  return execute(op,
                 [&](interp::RankExecutor &rank) { return rank.execute(op); });
}

std::optional<ExecutionFailure> SymbolicExecutor::execute(
    mlir::Operation *op,
    llvm::function_ref<Status(interp::RankExecutor &)> step) {
  meetings.startOperation();
  std::vector<int64_t> pending(executors.size());
  std::iota(pending.begin(), pending.end(), 0);
  while (!pending.empty()) {
    std::vector<int64_t> waiting;
    size_t shownBefore = meetings.numShown();
    std::optional<ExecutionFailure> last;
    for (int64_t rank : pending) {
      meetings.startRank(rank);
      Status status = step(*executors[rank]);
      if (status)
        continue;
      last = ExecutionFailure{op, rank, std::move(status)};
      if (!meetings.hasToWait())
        return last;
      waiting.push_back(rank);
    }
    // No rank finished and none has shown a new value: they wait forever.
    if (waiting.size() == pending.size() && meetings.numShown() == shownBefore)
      return last;
    pending = std::move(waiting);
  }
  return std::nullopt;
}

std::optional<ExecutionFailure> SymbolicExecutor::execute(mlir::Block &block) {
  for (mlir::Operation &op : block)
    if (auto failure = execute(&op))
      return failure;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static mlir::RankedTensorType argumentType(ProgramOp program, unsigned index) {
  return llvm::cast<mlir::RankedTensorType>(
      program.getArgument(index).getType());
}

Result<SymbolicInputs> makeSymbols(ProgramOp program,
                                   SymbolicKernels &kernels) {
  interp::RankMesh mesh(program.getMesh());
  SymbolicInputs inputs;
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    mlir::RankedTensorType type = argumentType(program, i);
    std::string name = program.getArgName(i).str();
    Result<runtime::HostTensor> tensor = kernels.symbols(
        name, elementTypeOf(type.getElementType()), mesh.externalShape(type));
    if (!tensor)
      return error("argument '", name, "': ", tensor.message());
    inputs[name] = *std::move(tensor);
  }
  return inputs;
}

Result<std::vector<std::vector<runtime::HostTensor>>>
executeProgram(ProgramOp program, const SymbolicInputs &inputs,
               SymbolicKernels &kernels) {
  interp::RankMesh mesh(program.getMesh());
  SymbolicExecutor executor(mesh, kernels);
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    std::string name = program.getArgName(i).str();
    for (int64_t rank = 0; rank < executor.numRanks(); ++rank) {
      Result<runtime::HostTensor> part = mesh.takePart(
          argumentType(program, i), inputs.find(name)->second, rank);
      if (!part)
        return error("argument '", name, "': ", part.message());
      executor.set(rank, program.getArgument(i), *std::move(part));
    }
  }
  if (auto failure = executor.execute(program.getBody().front()))
    return error(failure->op->getName().stripDialect().str(), " at ",
                 interp::describeLocation(failure->op->getLoc()), " on ",
                 mesh.describe(failure->rank), ": ", failure->status.message());
  std::vector<std::vector<runtime::HostTensor>> parts;
  for (const interp::Outcome &outcome : interp::outcomesOf(program)) {
    parts.emplace_back();
    for (int64_t rank = 0; rank < executor.numRanks(); ++rank)
      parts.back().push_back(executor.get(rank, outcome.value));
  }
  return parts;
}

} // namespace ccn::verify
