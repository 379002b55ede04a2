//===- SymbolicExecutor.cpp - Executes programs on symbols ----------------===//
//
// Each operation is executed on all ranks, and again on those that had to wait
// for others when these have come.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/SymbolicExecutor.h"

namespace ccn::verify {

SymbolicExecutor::SymbolicExecutor(interp::RankMesh mesh,
                                   SymbolicKernels &kernels)
    : meetings(static_cast<int>(mesh.numRanks())) {
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

std::optional<ExecutionFailure> SymbolicExecutor::execute(mlir::Operation *op) {
  if (op->hasTrait<mlir::OpTrait::IsTerminator>())
    return std::nullopt;
  if (auto overlapped = llvm::dyn_cast<OverlappedOp>(op)) {
    interp::ChunkPlan plan(overlapped);
    return execute(op, [&](interp::RankExecutor &rank) {
      return rank.executeInChunks(plan);
    });
  }
  if (auto fused = llvm::dyn_cast<FusedOp>(op))
    if (auto failure = execute(fused.getBody().front()))
      return failure;
  return execute(op,
                 [&](interp::RankExecutor &rank) { return rank.execute(op); });
}

std::optional<ExecutionFailure> SymbolicExecutor::execute(
    mlir::Operation *op,
    llvm::function_ref<Status(interp::RankExecutor &)> step) {
  std::vector<int> ready(executors.size());
  std::iota(ready.begin(), ready.end(), 0);
  size_t left = ready.size();
  std::optional<ExecutionFailure> last;
  while (left > 0) {
    for (int rank : ready) {
      Status status = step(*executors[rank]);
      if (status) {
        --left;
        continue;
      }
      last = ExecutionFailure{op, rank, std::move(status)};
      if (!executors[rank]->hasToWait())
        return last;
    }
    ready = meetings.takeReady();
    // Nobody has come for whom the others wait.
    if (ready.empty() && left > 0)
      return last;
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
