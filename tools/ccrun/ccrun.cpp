//===- ccrun.cpp - Runs packages ------------------------------------------===//
//
// Reads a package and arrays, runs the ranks, prints and writes what they
// leave. Exit codes: 0 done; 2 usage, or a package that cannot be run here; 4
// the run failed or gave another result than the reference plan.
//
//===----------------------------------------------------------------------===//

#include "runtime/CheckPlan.h"
#include "runtime/Environment.h"
#include "runtime/Random.h"
#include "tools/ccrun/Options.h"
#include "tools/ccrun/Ranks.h"
#include "tools/ccrun/Report.h"

#include <iostream>

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int Done = 0, WrongUsage = 2, RunFailed = 4;

int fail(int code, const std::string &why) {
  std::cout.flush();
  std::cerr << "ccrun: error: " << why << "\n";
  return code;
}

ProgramArrays arraysOf(const Package &package) {
  std::vector<ProgramArray> arrays;
  for (const Argument &argument : package.plan.arguments) {
    ProgramArray array;
    array.name = argument.name;
    array.type = argument.type;
    array.shape = argument.shape;
    array.typeName = argument.typeName;
    array.isScalar =
        argument.leadingDims == static_cast<int64_t>(argument.shape.size());
    array.isScattered = argument.scattered;
    array.isInput = argument.kind != ArgumentKind::Result;
    array.isOutput = argument.kind != ArgumentKind::Input;
    arrays.push_back(std::move(array));
  }
  return ProgramArrays(package.program, std::move(arrays));
}

class Runner {
public:
  Runner(const RunnerOptions &options, const Package &package, double timeLimit)
      : options(options), package(package), timeLimit(timeLimit) {}

  int run();

private:
  using Inputs = std::map<std::string, HostTensor>;

  /// Runs a plan of the package, which is there in `memory` afterwards.
  Status runPlan(const Plan &plan, RunTask task, const Inputs &inputs,
                 std::unique_ptr<RunMemory> &memory);
  /// Compares the results with those of the reference plan.
  int check(const RunMemory &memory, const Inputs &inputs);
  bool isOutput(const Argument &argument) const {
    return argument.kind != ArgumentKind::Input;
  }

  const RunnerOptions &options;
  const Package &package;
  double timeLimit;
};

Status Runner::runPlan(const Plan &plan, RunTask task, const Inputs &inputs,
                       std::unique_ptr<RunMemory> &memory) {
  task.timeLimit = timeLimit;
  package.hash.copy(task.packageHash, sizeof task.packageHash - 1);
  if (options.processes)
    nameHeap(task);
  Result<std::unique_ptr<RunMemory>> made = RunMemory::create(plan, task);
  if (!made)
    return made.status();
  memory = *std::move(made);
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const Argument &argument = plan.arguments[i];
    if (argument.kind == ArgumentKind::Result)
      continue;
    auto given = inputs.find(argument.name);
    Result<HostTensor> tensor =
        given != inputs.end()
            ? Result<HostTensor>(given->second)
            : randomFill(argument.type, argument.shape,
                         {argument.shape, Shape(argument.shape.size(), 0)},
                         options.seed, argument.name);
    if (!tensor)
      return error("argument '", argument.name, "': ", tensor.message());
    memory->distribute(i, *tensor);
  }
  Trace trace;
  if (task.traced) {
    Result<Trace> created = Trace::create();
    if (!created)
      return created.status();
    trace = *std::move(created);
  }
  Status status = options.processes
                      ? runProcesses(options.package, *memory, trace)
                      : runThreads(package, *memory, trace);
  if (status && task.traced)
    status = trace.write(options.traceFile, plan);
  return status;
}

int Runner::check(const RunMemory &memory, const Inputs &inputs) {
  RunTask task;
  task.isReference = true;
  std::unique_ptr<RunMemory> reference;
  if (Status status = runPlan(*package.reference, task, inputs, reference);
      !status)
    return fail(RunFailed, "reference plan: " + status.message());
  bool isRight = true;
  for (size_t i = 0; i < package.plan.arguments.size(); ++i) {
    if (!isOutput(package.plan.arguments[i]))
      continue;
    Result<HostTensor> found = memory.collect(i);
    Result<HostTensor> expected = reference->collect(i);
    if (!found || !expected)
      return fail(RunFailed, !found ? found.message()
                                    : "reference plan: " + expected.message());
    isRight &= printComparison(std::cout, package.plan.arguments[i].name,
                               *found, *expected);
  }
  return isRight ? Done
                 : fail(RunFailed, "the results differ from those of the "
                                   "program without its schedule");
}

int Runner::run() {
  auto ranks = static_cast<int>(package.plan.ranks.size());
  if (options.processes && *options.processes != ranks)
    return fail(WrongUsage, "--nproc: program '" + package.program +
                                "' has a mesh of " + std::to_string(ranks) +
                                " ranks, found " +
                                std::to_string(*options.processes));
  if (options.check && !package.reference)
    return fail(WrongUsage,
                "--check: '" + options.package +
                    "' holds no reference plan to compare with; expected one "
                    "that was compiled with a schedule");
  ProgramArrays arrays = arraysOf(package);
  Result<Inputs> inputs = arrays.read(options.inputs);
  if (!inputs)
    return fail(WrongUsage, inputs.message());
  if (Status status = arrays.checkOutputs(options.outputs); !status)
    return fail(WrongUsage, status.message());

  RunTask task;
  task.traced = !options.traceFile.empty();
  if (options.benchRuns) {
    task.timedRuns = *options.benchRuns;
    task.runs = task.timedRuns + std::min(3, task.timedRuns);
  }
  std::unique_ptr<RunMemory> memory;
  if (Status status = runPlan(package.plan, task, *inputs, memory); !status)
    return fail(RunFailed, status.message());
  if (options.benchRuns)
    printBench(std::cout, *memory);
  if (!options.benchFile.empty())
    if (Status status = writeBench(options.benchFile, package, *memory,
                                   options.processes ? "processes" : "threads");
        !status)
      return fail(WrongUsage, status.message());
  for (size_t i = 0; i < package.plan.arguments.size(); ++i) {
    const Argument &argument = package.plan.arguments[i];
    if (!isOutput(argument))
      continue;
    Result<HostTensor> tensor = memory->collect(i);
    if (!tensor)
      return fail(RunFailed, tensor.message());
    if (!options.benchRuns)
      arrays.print(std::cout, argument.name, *tensor);
    if (Status status = arrays.write(argument.name, *tensor, options.outputs);
        !status)
      return fail(WrongUsage, status.message());
  }
  return options.check ? check(*memory, *inputs) : Done;
}

/// What makes a package one that this machine and this tool can run.
Status checkPackage(const Package &package) {
  if (Status status = checkMachine(package); !status)
    return status;
  if (Status status = checkPlan(package.plan); !status)
    return error("plan: ", status.message());
  if (package.reference) {
    if (Status status = checkPlan(*package.reference); !status)
      return error("reference plan: ", status.message());
    const Plan &plan = package.plan, &reference = *package.reference;
    bool isAlike = plan.ranks.size() == reference.ranks.size() &&
                   plan.arguments.size() == reference.arguments.size();
    for (size_t i = 0; isAlike && i < plan.arguments.size(); ++i) {
      const Argument &a = plan.arguments[i], &b = reference.arguments[i];
      isAlike = a.name == b.name && a.kind == b.kind && a.type == b.type &&
                a.shape == b.shape;
    }
    if (!isAlike)
      return error("the reference plan has other arguments or ranks");
  }
  return Status();
}

} // namespace

int main(int argc, char **argv) {
  RunnerOptions options;
  if (std::optional<int> code = parseOptions(argc, argv, options))
    return *code;
  if (!options.worker.empty())
    return runWorker(options.package, options.worker);
  Result<Environment> environment = Environment::read();
  if (!environment)
    return fail(WrongUsage, environment.message());
  Result<Package> package = readPackage(options.package);
  if (!package)
    return fail(WrongUsage, package.message());
  if (options.info) {
    printInfo(std::cout, *package);
    return Done;
  }
  if (Status status = checkPackage(*package); !status)
    return fail(WrongUsage, "'" + options.package + "': " + status.message());
  return Runner(options, *package,
                options.timeLimit.value_or(environment->timeLimit))
      .run();
}
