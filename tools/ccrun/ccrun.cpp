//===- ccrun.cpp - Runs packages ------------------------------------------===//
//
// Reads a package and arrays, runs the ranks, or one that a launcher started,
// prints and writes what they leave. Exit codes: 0 done; 2 usage, or a package
// that cannot be run here; 4 the run failed or gave another result than the
// reference plan.
//
//===----------------------------------------------------------------------===//

#include "runtime/Bootstrap.h"
#include "runtime/CheckPackage.h"
#include "runtime/Convert.h"
#include "runtime/Environment.h"
#include "runtime/Random.h"
#include "runtime/RankCode.h"
#include "runtime/TunedVariant.h"
#include "runtime/cuda/GpuExecutor.h"
#include "tools/ccrun/Options.h"
#include "tools/ccrun/Ranks.h"
#include "tools/ccrun/Report.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <iostream>

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int Done = 0, WrongUsage = 2, RunFailed = 4;

/// As which rank this process was launched, if it was.
const Result<std::optional<RankLaunch>> &ownLaunch() {
  static const Result<std::optional<RankLaunch>> found = detectLaunch();
  return found;
}

int fail(int code, const std::string &why) {
  std::string who;
  // What is wrong may be so on one host only.
  const Result<std::optional<RankLaunch>> &launch = ownLaunch();
  if (launch && *launch && (*launch)->rank > 0 && code == WrongUsage)
    who = "rank " + std::to_string((*launch)->rank) + ": ";
  std::cout.flush();
  std::cerr << "ccrun: error: " + who + why + "\n";
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

/// Whether the package is one that this machine can run, on its CPU if that is
/// to be.
Status checkHere(const Package &package, bool onCpu) {
  Status status = checkPackage(package);
  return status && onCpu ? checkMachine(package) : status;
}

/// How many runs a graph has whose replays are timed: so many that starting it
/// counts for little, and few enough to be made quickly.
int runsPerGraph(const Plan &plan) {
  size_t launches = plan.ranks.empty() ? 0 : plan.ranks[0].launches.size();
  return static_cast<int>(
      std::clamp<size_t>(1000 / std::max<size_t>(launches, 1), 1, 20));
}

class Runner {
public:
  /// Ranks that were launched choose a variant of the package together, unless
  /// the options do.
  Runner(const RunnerOptions &options, Package &package,
         const Environment &environment, bool onGpus)
      : options(options), package(package), environment(environment),
        onGpus(onGpus) {}

  int run();

  /// The median time of a run, in seconds, of `runs`.
  Result<double> time(int runs);

private:
  using Inputs = std::map<std::string, HostTensor>;

  /// Runs a plan of the package, which is there in `memory` afterwards.
  Status runPlan(const Plan &plan, RunTask task, const Inputs &inputs,
                 std::unique_ptr<RunMemory> &memory);
  /// Runs the plans to compare with in the same way.
  Status runOthers(const Inputs &inputs);
  /// Fills `memory` with what ranks start with.
  Status setArguments(RunMemory &memory, const Inputs &inputs);
  /// Of ranks that were launched: runs this one. Rank 0 goes on with the
  /// results; the others end with the exit code.
  std::optional<int> runInTeam(const RunTask &task, const Inputs &inputs);
  /// What the plan that a team will run may take of its memory.
  Result<int64_t> planBytes() const;
  /// Makes the variant that the team has chosen the one that is run.
  Status takeVariant();
  /// What ranks do to have `runs` timed.
  RunTask timedTask(int runs) const;
  /// Runs what is to be run; an exit code if nothing is left to do.
  std::optional<int> runPlans(const RunTask &task, const Inputs &inputs);
  /// Prints and writes the results.
  int report(ProgramArrays &arrays);
  /// Compares the results with those of the reference plan.
  int check();
  /// What results are compared with: the program without its schedule, on the
  /// CPU; of a GPU's if there is no schedule, the same plan.
  const Plan &referencePlan() const {
    return package.reference ? *package.reference : package.plan;
  }
  std::string ranksAre() const {
    return team                ? team->description()
           : options.processes ? "processes"
                               : "threads";
  }
  /// The arguments that are no results.
  size_t countInputs() const {
    return static_cast<size_t>(std::count_if(
        package.plan.arguments.begin(), package.plan.arguments.end(),
        [](const Argument &argument) {
          return argument.kind != ArgumentKind::Result;
        }));
  }
  bool isOutput(const Argument &argument) const {
    return argument.kind != ArgumentKind::Input;
  }

  RunnerOptions options;
  Package &package;
  const Environment &environment;
  bool onGpus;
  /// Of ranks that were launched.
  std::unique_ptr<Team> team;
  /// Of the plan and, if they are run too, of the reference plan and of the
  /// plan that bounds its errors.
  std::unique_ptr<RunMemory> memory, reference, bounds;
};

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
      return converted(randomFill(package.plan.arguments[i].type, shape,
                                  {argument.shape, offsets}, options.seed,
                                  argument.name));
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
      std::span<std::byte> place = made.part(i, rank);
      const Placement &placement =
          plan.ranks[static_cast<size_t>(rank)].placements[i];
      if (place.empty())
        continue;
      Result<HostTensor> part = draw(placement.sizes, placement.offsets);
      if (!part)
        return fail(part.status());
      std::memcpy(place.data(), part->data(), place.size());
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
  if (options.processes)
    nameHeap(task);
  std::optional<int> only;
  if (team) {
    only = team->rank();
    task.ownClocks = !team->isOneHost();
    task.localRank = (*ownLaunch())->localRank.value_or(-1);
  }
  Result<std::unique_ptr<RunMemory>> made = RunMemory::create(plan, task, only);
  if (!made)
    return made.status();
  if (Status status = setArguments(**made, inputs); !status)
    return status;
  Trace trace;
  if (task.traced) {
    Result<Trace> created = Trace::create();
    if (!created)
      return created.status();
    trace = *std::move(created);
  }
  Status status = team ? runTeamRank(package, **made, *team, trace)
                  : options.processes
                      ? runProcesses(options.package, **made, trace)
                      : runThreads(package, **made, trace);
  if (status && task.traced && (!team || team->rank() == 0))
    status = trace.write(options.traceFile, plan);
  result = *std::move(made);
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

std::optional<int> Runner::runPlans(const RunTask &task, const Inputs &inputs) {
  if (*ownLaunch())
    return runInTeam(task, inputs);
  if (Status status = runPlan(package.plan, task, inputs, memory); !status)
    return fail(RunFailed, status.message());
  if (!options.check)
    return std::nullopt;
  if (Status status = runOthers(inputs); !status)
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
                                     const Inputs &inputs) {
  TeamOptions wanted;
  wanted.launch = **ownLaunch();
  wanted.ranks = static_cast<int>(package.plan.ranks.size());
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
  wanted.variants = {static_cast<int32_t>(fastestVariant(package, onGpus))};
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
    if (status)
      status = runPlan(package.plan, task, inputs, memory);
    if (status && options.check)
      status = runOthers(inputs);
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
                            (onGpus ? "the CPU"
                                    : "the program without its "
                                      "schedule"));
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

RunTask Runner::timedTask(int runs) const {
  RunTask task;
  task.onGpus = onGpus;
  task.timedRuns = runs;
  task.runs = runs + std::min(3, runs);
  task.runsPerGraph = runsPerGraph(package.plan);
  return task;
}

Result<double> Runner::time(int runs) {
  Result<Inputs> inputs = arraysOf(package).read(options.inputs);
  if (!inputs)
    return inputs.status();
  Status status = runPlan(package.plan, timedTask(runs), *inputs, memory);
  if (!status)
    return status;
  return medianSeconds(*memory);
}

int Runner::run() {
  if (options.check && !package.reference && !onGpus)
    return fail(WrongUsage,
                "--check: '" + options.package +
                    "' holds no reference plan to compare with; expected one "
                    "that was compiled with a schedule or for a topology");
  ProgramArrays arrays = arraysOf(package);
  Result<Inputs> inputs = arrays.read(options.inputs);
  if (!inputs)
    return fail(WrongUsage, inputs.message());
  if (Status status = arrays.checkOutputs(options.outputs); !status)
    return fail(WrongUsage, status.message());

  RunTask task;
  if (options.benchRuns)
    task = timedTask(*options.benchRuns);
  task.onGpus = onGpus;
  task.traced = !options.traceFile.empty();
  if (std::optional<int> code = runPlans(task, *inputs))
    return *code;
  return report(arrays);
}

/// Measures all variants, and keeps which one is the fastest.
int tune(RunnerOptions options, Package &package,
         const Environment &environment, bool onGpus) {
  if (package.variants.empty())
    return fail(WrongUsage, "--tune: '" + options.package +
                                "' holds no variants to choose from; expected "
                                "one that was compiled with --autotune");
  Result<std::string> machine = tunedMachine(onGpus);
  if (!machine)
    return fail(RunFailed, machine.message());
  if (onGpus) {
    std::vector<const GpuProgram *> programs = {&*package.gpu};
    for (const PackageVariant &variant : package.variants)
      if (variant.gpu)
        programs.push_back(&*variant.gpu);
    compileAhead(programs);
  }
  std::vector<double> seconds;
  size_t best = 0;
  std::cout << "variant   median of a run in ms\n";
  for (size_t number = 0; number <= package.variants.size(); ++number) {
    options.variant = static_cast<int>(number);
    if (number > 0)
      swapVariant(package, number);
    Status status = checkHere(package, !onGpus);
    if (!status && number == 0)
      return fail(WrongUsage, "'" + options.package + "': " + status.message());
    Result<double> time = status ? Runner(options, package, environment, onGpus)
                                       .time(*options.tuneRuns)
                                 : status;
    std::string name = package.variant;
    if (number > 0)
      swapVariant(package, number);
    // What it is compared with must run; others may need more than there is.
    if (!time && number == 0)
      return fail(RunFailed, time.message());
    seconds.push_back(time ? *time : -1);
    std::cout << std::setw(7) << number << "   ";
    if (time)
      std::cout << std::setw(14) << std::fixed << std::setprecision(5)
                << *time * 1e3 << "   " << name << "\n";
    else
      std::cout << std::setw(14) << "failed" << "   " << name << ": "
                << time.message() << "\n";
    if (time && *time < seconds[best])
      best = number;
  }
  // Less is what one measurement differs from another by.
  constexpr double worthwhile = 0.98;
  if (seconds[best] > worthwhile * seconds[0])
    best = 0;
  Result<std::string> path = keepTuned(package, *machine, best, seconds);
  if (!path)
    return fail(RunFailed, "--tune: " + path.message());
  std::cout << "variant " << best << " runs on " << *machine
            << " from now on, as '" << *path << "' says\n";
  return Done;
}

/// Chooses what is run of a package with variants; an exit code if that is
/// wrong.
std::optional<int> chooseVariant(RunnerOptions &options, Package &package,
                                 bool onGpus) {
  if (!options.variant)
    options.variant = static_cast<int>(fastestVariant(package, onGpus));
  auto number = static_cast<size_t>(*options.variant);
  if (number > package.variants.size())
    return fail(WrongUsage, "--variant: expected a number from 0 to " +
                                std::to_string(package.variants.size()) +
                                ", found " + std::to_string(number));
  if (number > 0)
    swapVariant(package, number);
  return std::nullopt;
}

/// Does with one package what the command line asks. `gpus` keeps those that it
/// uses set up.
int runPackage(RunnerOptions options, Environment environment,
               std::shared_ptr<void> &gpus) {
  const std::optional<RankLaunch> &launch = *ownLaunch();
  Result<Package> package = readPackage(options.package);
  if (!package)
    return fail(WrongUsage, package.message());
  bool onGpus = options.target.empty() ? package->gpu.has_value()
                                       : options.target == "cuda";
  if (options.info) {
    Result<std::string> machine = tunedMachine(onGpus);
    if (!launch || launch->rank == 0)
      printInfo(std::cout, *package, machine ? *machine : "");
    return Done;
  }
  if (onGpus && !package->gpu)
    return fail(WrongUsage, "--target cuda: '" + options.package +
                                "' holds no kernels for GPUs");
  environment.timeLimit = options.timeLimit.value_or(environment.timeLimit);
  if (auto ranks = static_cast<int>(package->plan.ranks.size());
      options.processes && *options.processes != ranks)
    return fail(WrongUsage, "--nproc: program '" + package->program +
                                "' has a mesh of " + std::to_string(ranks) +
                                " ranks, found " +
                                std::to_string(*options.processes));
  if (onGpus && !options.processes && !launch)
    gpus = holdGpus(static_cast<int>(package->plan.ranks.size()));
  if (options.tuneRuns)
    return tune(options, *package, environment, onGpus);
  if (options.variant || !launch)
    if (std::optional<int> code = chooseVariant(options, *package, onGpus))
      return *code;
  if (Status status = checkHere(*package, !onGpus || options.check); !status)
    return fail(WrongUsage, "'" + options.package + "': " + status.message());
  return Runner(options, *package, environment, onGpus).run();
}

/// Checks packages one after the other, and says how each has ended.
int checkAll(RunnerOptions options, const Environment &environment,
             std::shared_ptr<void> &gpus) {
  if (options.target != "cpu") {
    std::vector<Package> packages;
    std::vector<const GpuProgram *> programs;
    packages.reserve(options.packages.size());
    for (const std::string &path : options.packages)
      if (Result<Package> package = readPackage(path);
          package && package->gpu) {
        packages.push_back(*std::move(package));
        programs.push_back(&*packages.back().gpu);
      }
    if (!programs.empty())
      compileAhead(programs);
  }
  int worst = Done;
  for (const std::string &path : options.packages) {
    options.package = path;
    int code = runPackage(options, environment, gpus);
    std::cout << path << ": exit code " << code << std::endl;
    worst = std::max(worst, code);
    // After some failures a GPU's context does nothing any more.
    if (code == RunFailed && gpus)
      break;
  }
  return worst;
}

} // namespace

int main(int argc, char **argv) {
  // Streams in one queue of a GPU wait for each other, and by default there are
  // few queues: ranks that share a GPU would wait for those behind them.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  RunnerOptions options;
  if (std::optional<int> code = parseOptions(argc, argv, options))
    return *code;
  if (!options.worker.empty())
    return runWorker(options.package, options.worker);
  if (!ownLaunch())
    return fail(WrongUsage, ownLaunch().message());
  const std::optional<RankLaunch> &launch = *ownLaunch();
  if (launch && (options.processes || options.threads || options.tuneRuns))
    return fail(WrongUsage, std::string(options.processes  ? "--nproc"
                                        : options.tuneRuns ? "--tune"
                                                           : "--threads") +
                                ": expected without " +
                                describe(launch->launcher) +
                                ", which has started the ranks");
  Result<Environment> environment = Environment::read();
  if (!environment)
    return fail(WrongUsage, environment.message());
  std::shared_ptr<void> gpus;
  if (options.packages.size() == 1)
    return runPackage(options, *environment, gpus);
  if (launch)
    return fail(WrongUsage, "expected one package with " +
                                describe(launch->launcher) +
                                ", which has started the ranks, found " +
                                std::to_string(options.packages.size()));
  return checkAll(options, *environment, gpus);
}
