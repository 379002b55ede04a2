//===- Runner.cpp - Runs the plans of a package ---------------------------===//
//
// Reads or draws arguments, has the ranks run, prints and writes what they
// leave.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Runner.h"

#include "runtime/api/RankCode.h"
#include "runtime/cuda/GpuExecutor.h"
#include "runtime/plan/CheckPackage.h"
#include "runtime/plan/TunedVariant.h"
#include "runtime/tensor/Convert.h"
#include "runtime/tensor/Random.h"
#include "tools/ccrun/Report.h"

#include <algorithm>
#include <cstring>
#include <iostream>

using namespace ccn;
using namespace ccn::runtime;

const Result<std::optional<RankLaunch>> &ccn::ownLaunch() {
  static const Result<std::optional<RankLaunch>> found = detectLaunch();
  return found;
}

int ccn::fail(int code, const std::string &why) {
  std::string who;
  // What is wrong may be so on one host only.
  const Result<std::optional<RankLaunch>> &launch = ownLaunch();
  if (launch && *launch && (*launch)->rank > 0 && code == WrongUsage)
    who = "rank " + std::to_string((*launch)->rank) + ": ";
  std::cout.flush();
  std::cerr << "ccrun: error: " + who + why + "\n";
  return code;
}

ProgramArrays ccn::arraysOf(const Package &package) {
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

Status ccn::checkHere(const Package &package, bool onCpu) {
  Status status = checkPackage(package);
  return status && onCpu ? checkMachine(package) : status;
}

/// How many runs a timed graph contains: enough that the time of its launch
/// hardly matters, and few enough that it is made quickly.
static int runsPerGraph(const Plan &plan) {
  size_t launches = plan.ranks.empty() ? 0 : plan.ranks[0].launches.size();
  return static_cast<int>(
      std::clamp<size_t>(1000 / std::max<size_t>(launches, 1), 1, 20));
}

Status Runner::setArguments(RunMemory &made, const Inputs &inputs) {
  const Plan &plan = made.plan();
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const Argument &argument = plan.arguments[i];
    if (argument.kind == ArgumentKind::Result)
      continue;
    auto fail = [&](const Status &status) {
      return error("argument '", argument.name, "': ", status.message());
    };
    auto given = inputs.find(argument.name);
    // A plan may take in f64 what the program takes in another type.
    auto converted = [&](Result<HostTensor> tensor) -> Result<HostTensor> {
      if (!tensor || tensor->type() == argument.type)
        return tensor;
      Result<HostTensor> wide =
          HostTensor::uninitialized(argument.type, tensor->shape());
      if (wide)
        convert(tensor->type(), tensor->data(), argument.type,
                wide->mutableData(), tensor->count());
      return wide;
    };
    auto draw = [&](const Shape &shape, const Shape &offsets) {
      ElementType type = package.plan.arguments[i].type;
      Shape global(argument.shape.begin() + argument.leadingDims,
                   argument.shape.end());
      return converted(randomFill(type, shape, {argument.shape, offsets},
                                  options.seed, argument.name,
                                  drawScale(type, global)));
    };
    if (team) {
      int rank = team->rank();
      if (given != inputs.end()) {
        Result<HostTensor> whole = converted(given->second);
        if (!whole)
          return fail(whole.status());
        made.setPart(i, rank, *whole);
        continue;
      }
      const Placement &placement =
          plan.ranks[static_cast<size_t>(rank)].placements[i];
      Result<HostTensor> part = draw(placement.sizes, placement.offsets);
      if (!part)
        return fail(part.status());
      made.fillPart(i, rank, *part);
      continue;
    }
    Result<HostTensor> whole =
        given != inputs.end()
            ? converted(given->second)
            : draw(argument.shape, Shape(argument.shape.size(), 0));
    if (!whole)
      return fail(whole.status());
    made.distribute(i, *whole);
  }
  return Status();
}

Status Runner::runPlan(const Plan &plan, RunTask task, const Inputs &inputs,
                       std::unique_ptr<RunMemory> &result) {
  task.timeLimit = environment.timeLimit;
  task.products = environment.products;
  task.gpuTransport = environment.gpuTransport;
  task.variant = static_cast<int32_t>(options.variant.value_or(0));
  package.hash.copy(task.packageHash, sizeof task.packageHash - 1);
  std::optional<int> only;
  if (team) {
    only = team->rank();
    task.ownClocks = !team->isOneHost();
    task.localRank = (*ownLaunch())->localRank.value_or(-1);
  }
  if (!result || !result->reuse(plan, task)) {
    result.reset();
    Result<std::unique_ptr<RunMemory>> made =
        RunMemory::create(plan, task, only);
    if (!made)
      return made.status();
    if (Status status = setArguments(**made, inputs); !status)
      return status;
    result = *std::move(made);
  }
  Trace trace;
  if (task.traced) {
    Result<Trace> created = Trace::create();
    if (!created)
      return created.status();
    trace = *std::move(created);
  }
  Status status = team ? runTeamRank(package, *result, *team, trace)
                  : options.processes
                      ? runProcesses(options.package, *result, trace)
                      : runThreads(package, *result, trace);
  if (status && task.traced && (!team || team->rank() == 0))
    status = trace.write(options.traceFile, plan);
  return status;
}

Status Runner::runOthers(const Inputs &inputs) {
  RunTask task;
  task.plan = PlanKind::Reference;
  Status status = runPlan(referencePlan(), task, inputs, reference);
  if (!status)
    return error("reference plan: ", status.message());
  if (!package.bounds)
    return status;
  task.plan = PlanKind::Bounds;
  status = runPlan(*package.bounds, task, inputs, bounds);
  return status ? status : error("error bounds: ", status.message());
}

Result<MemoryNeeds> Runner::needs(const RunTask &task,
                                  std::optional<int> only) const {
  std::vector<PlannedRun> runs = {{&package.plan, task}};
  if (options.check)
    runs.push_back({&referencePlan(), RunTask()});
  if (options.check && package.bounds)
    runs.push_back({&*package.bounds, RunTask()});
  std::set<std::string> given;
  for (const auto &[name, text] : options.inputs)
    given.insert(name);
  return needsOf(runs, given, only);
}

Status Runner::checkMemory(std::optional<int> timedRuns, int64_t held) const {
  RunTask task = this->task();
  if (timedRuns) {
    task = timedTask(*timedRuns);
    task.givesResults = false;
  }
  Result<MemoryNeeds> wanted = needs(task, std::nullopt);
  if (!wanted)
    return wanted.status();
  FreeMemory free = FreeMemory::now();
  for (int64_t *bytes :
       {&free.machine, &free.group, &free.addresses, &free.data})
    *bytes = addSaturating(*bytes, held);
  // These are limits of each process, and this one does not run ranks.
  if (options.processes)
    free.addresses = free.data = INT64_MAX;
  return ccn::checkMemory(*wanted, free);
}

std::optional<int> Runner::runPlans(const RunTask &task,
                                    ProgramArrays &arrays) {
  if (*ownLaunch())
    return runInTeam(task, arrays);
  if (Status status = checkMemory(); !status)
    return fail(RunFailed, "'" + options.package + "': " + status.message());
  Result<Inputs> inputs = arrays.read();
  if (!inputs)
    return fail(WrongUsage, inputs.message());
  if (Status status = runPlan(package.plan, task, *inputs, memory); !status)
    return fail(RunFailed, status.message());
  if (!options.check)
    return std::nullopt;
  if (Status status = runOthers(*inputs); !status)
    return fail(RunFailed, status.message());
  return std::nullopt;
}

Result<int64_t> Runner::planBytes() const {
  auto bytesOf = [&](const Plan &plan) { return teamBytes(plan, onGpus); };
  return options.variant ? bytesOf(package.plan) : mostBytes(package, bytesOf);
}

Status Runner::takeVariant() {
  if (options.variant)
    return Status();
  options.variant = team->variants().front();
  if (*options.variant == 0)
    return Status();
  swapVariant(package, static_cast<size_t>(*options.variant));
  return checkHere(package, !onGpus || options.check);
}

std::optional<int> Runner::runInTeam(const RunTask &task,
                                     ProgramArrays &arrays) {
  TeamOptions wanted;
  wanted.launch = **ownLaunch();
  wanted.ranks = static_cast<int>(package.plan.ranks.size());
  // Who is none of the program's ranks is told so when they meet.
  if (wanted.launch.rank >= 0 && wanted.launch.rank < wanted.ranks) {
    Result<MemoryNeeds> own = needs(task, wanted.launch.rank);
    if (!own)
      return fail(WrongUsage, own.message());
    wanted.otherBytes = own->total();
  }
  wanted.environment = environment;
  // What makes ranks do something else than others.
  wanted.content =
      package.hash + ", seed " + std::to_string(options.seed) + ", " +
      std::to_string(task.runs) + " runs" +
      (options.variant ? ", variant " + std::to_string(*options.variant) : "") +
      (onGpus ? ", on GPUs" : "") +
      (onGpus ? ", products by " + std::string(name(environment.products))
              : "") +
      (task.traced ? ", trace" : "") + (options.check ? ", check" : "");
  wanted.variants = {
      fastestVariants(package, onGpus, environment.gpuTransport)};
  std::vector<Result<int64_t>> needed = {planBytes()};
  if (options.check)
    needed.push_back(teamBytes(referencePlan(), false));
  if (options.check && package.bounds)
    needed.push_back(teamBytes(*package.bounds, false));
  for (const Result<int64_t> &bytes : needed) {
    if (!bytes)
      return fail(WrongUsage, bytes.message());
    if (__builtin_add_overflow(wanted.bytesPerRank, *bytes,
                               &wanted.bytesPerRank))
      return fail(WrongUsage, "the symmetric memory of all plans overflows");
  }
  team = Team::join(wanted);
  Status status = team->joined();
  int code = team->isWrongSize() ? WrongUsage : RunFailed;
  if (status) {
    status = takeVariant();
    Result<Inputs> inputs = status ? arrays.read() : Result<Inputs>(status);
    status = inputs.status();
    if (status)
      status = runPlan(package.plan, task, *inputs, memory);
    if (status && options.check)
      status = runOthers(*inputs);
    if (!status)
      status = team->transport().fail(team->rank(), status.message());
  }
  auto say = [&] {
    if (!status && team->mayTell())
      fail(code, status.message());
  };
  say();
  if (Status end = team->leave(); status)
    status = end;
  say();
  if (!status)
    return code;
  return team->rank() == 0 ? std::nullopt : std::optional(Done);
}

int Runner::check() {
  bool isRight = true;
  for (size_t i = 0; i < package.plan.arguments.size(); ++i) {
    if (!isOutput(package.plan.arguments[i]))
      continue;
    Result<HostTensor> found = memory->collect(i);
    Result<HostTensor> expected = reference->collect(i);
    if (!found || !expected)
      return fail(RunFailed, !found ? found.message()
                                    : "reference plan: " + expected.message());
    std::optional<HostTensor> bound;
    auto it = std::find(package.bounded.begin(), package.bounded.end(),
                        static_cast<int>(i));
    if (bounds && it != package.bounded.end()) {
      Result<HostTensor> collected = bounds->collect(
          static_cast<size_t>(it - package.bounded.begin()) + countInputs());
      if (!collected)
        return fail(RunFailed, "error bounds: " + collected.message());
      bound = *std::move(collected);
    }
    isRight &= printComparison(std::cout, package.plan.arguments[i].name,
                               *found, *expected, bound ? &*bound : nullptr);
  }
  return isRight ? Done
                 : fail(RunFailed,
                        std::string("the results differ from those of ") +
                            (onGpus              ? "the CPU"
                             : package.reference ? "the program without its "
                                                   "schedule"
                                                 : "another run"));
}

int Runner::report(ProgramArrays &arrays) {
  if (options.benchRuns)
    printBench(std::cout, *memory);
  if (!options.benchFile.empty())
    if (Status status =
            writeBench(options.benchFile, package, *memory, ranksAre());
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
  return options.check ? check() : Done;
}

RunTask Runner::task() const {
  RunTask task;
  if (options.benchRuns)
    task = timedTask(*options.benchRuns);
  task.onGpus = onGpus;
  task.traced = !options.traceFile.empty();
  return task;
}

RunTask Runner::timedTask(int runs) const {
  RunTask task;
  task.onGpus = onGpus;
  task.timedRuns = runs;
  task.runs = runs + std::min(3, runs);
  task.runsPerGraph = runsPerGraph(package.plan);
  return task;
}

Result<double> Runner::time(size_t variant, int runs, const Inputs &inputs) {
  options.variant = static_cast<int>(variant);
  RunTask task = timedTask(runs);
  task.givesResults = false;
  int64_t held = memory ? memory->bytes() : 0;
  for (const auto &[name, tensor] : inputs)
    held += tensor.byteCount();
  Status status = checkMemory(runs, held);
  if (status)
    status = runPlan(package.plan, task, inputs, memory);
  if (status)
    return medianSeconds(*memory);
  // Ranks that fail may leave anything in arguments.
  memory.reset();
  return status;
}

int Runner::run() {
  ProgramArrays arrays = arraysOf(package);
  if (Status status = arrays.find(options.inputs); !status)
    return fail(WrongUsage, status.message());
  if (Status status = arrays.checkOutputs(options.outputs); !status)
    return fail(WrongUsage, status.message());
  if (std::optional<int> code = runPlans(task(), arrays))
    return *code;
  return report(arrays);
}
