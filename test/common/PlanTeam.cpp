//===- PlanTeam.cpp - Plans executed as packages, in tests ----------------===//
//
// Each run takes new threads; executors and memory stay.
//
//===----------------------------------------------------------------------===//

#include "PlanTeam.h"

#include "codegen/package/BuildPackage.h"
#include "runtime/plan/CheckPlan.h"
#include "runtime/plan/Pieces.h"
#include "runtime/team/SymmetricHeap.h"

#include <cstring>
#include <thread>

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;

PlanTeam::~PlanTeam() {
  // Executors end before the heap and the code that they use.
  executors.clear();
}

Result<std::unique_ptr<PlanTeam>> PlanTeam::create(mlir::ModuleOp plans,
                                                   llvm::StringRef program,
                                                   double timeLimit) {
  Result<Package> built = codegen::buildPackage(plans, {program.str(), "", {}});
  if (!built)
    return error("no package: ", built.message());
  Result<std::string> bytes = encodePackage(*built);
  if (!bytes)
    return error("the package cannot be written: ", bytes.message());
  Result<Package> read = decodePackage(*bytes);
  if (!read)
    return error("the package cannot be read: ", read.message());
  std::unique_ptr<PlanTeam> team(new PlanTeam);
  team->package = *std::move(read);
  team->timeLimit = timeLimit;
  if (Status status = checkPlan(team->package.plan); !status)
    return error("the package's plan: ", status.message());
  Result<std::unique_ptr<ObjectCode>> code =
      ObjectCode::load(team->package.objectCode);
  if (!code)
    return error("the package's code: ", code.message());
  team->code = *std::move(code);
  Result<std::unique_ptr<RunMemory>> memory =
      RunMemory::create(team->package.plan, RunTask());
  if (!memory)
    return memory.status();
  team->memory = *std::move(memory);
  if (Status status = team->start(); !status)
    return status;
  return team;
}

void PlanTeam::forAllRanks(size_t ranks, const std::function<void(int)> &work) {
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back(work, static_cast<int>(rank));
  for (std::thread &thread : threads)
    thread.join();
}

Status PlanTeam::start() {
  const Plan &plan = package.plan;
  Result<int64_t> bytes = planSymmetricBytes(plan);
  if (!bytes)
    return bytes.status();
  executors.clear();
  Result<std::unique_ptr<SymmetricHeap>> made =
      SymmetricHeap::create(static_cast<int>(plan.ranks.size()), *bytes);
  if (!made)
    return made.status();
  heap = *std::move(made);
  executors.resize(plan.ranks.size());
  ExecutorOptions options;
  options.timeLimit = timeLimit;
  options.resolve = [&](std::string_view name) { return code->find(name); };
  std::vector<Status> statuses(plan.ranks.size());
  forAllRanks(plan.ranks.size(), [&](int rank) {
    auto executor = PlanExecutor::create(plan, rank, *heap, options);
    if (executor)
      executors[static_cast<size_t>(rank)] = *std::move(executor);
    else
      statuses[static_cast<size_t>(rank)] = executor.status();
  });
  for (const Status &status : statuses)
    if (!status)
      return status;
  return Status();
}

Result<PlanTeam::Outputs> PlanTeam::run(const interp::NamedTensors &inputs) {
  const Plan &plan = package.plan;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
      if (void *place = memory->arguments(static_cast<int>(rank))[i])
        std::memset(place, 0xa5,
                    static_cast<size_t>(
                        memory->argumentBytes(static_cast<int>(rank), i)));
    const Argument &argument = plan.arguments[i];
    if (argument.kind == ArgumentKind::Result)
      continue;
    auto input = inputs.find(argument.name);
    if (input == inputs.end() || input->second.type() != argument.type ||
        input->second.shape() != argument.shape)
      return error("the plan has an argument '", argument.name, "' of ",
                   describe(argument.type, argument.shape),
                   ", which the program does not have");
    memory->distribute(i, input->second);
  }
  return runAgain();
}

Result<PlanTeam::Outputs> PlanTeam::runAgain() {
  const Plan &plan = package.plan;
  if (!heap->failure().ok())
    if (Status status = start(); !status)
      return status;
  forAllRanks(plan.ranks.size(), [&](int rank) {
    WholeArguments arguments(plan, rank, memory->arguments(rank));
    (void)executors[static_cast<size_t>(rank)]->run(arguments);
  });
  if (Status status = heap->failure(); !status)
    return status;
  Outputs outputs;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    if (plan.arguments[i].kind == ArgumentKind::Input)
      continue;
    Result<HostTensor> tensor = memory->collect(i);
    if (!tensor)
      return tensor.status();
    outputs.push_back({plan.arguments[i].name, *std::move(tensor)});
  }
  return outputs;
}
