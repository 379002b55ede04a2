//===- ccrun.cpp - Runs packages ------------------------------------------===//
//
// Reads a package and arrays, runs the ranks, or one that a launcher started,
// prints and writes what they leave. Exit codes: 0 done; 2 usage, or a package
// that cannot be run here; 4 the run failed or gave another result than the
// reference plan.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/RankCode.h"
#include "runtime/cuda/GpuExecutor.h"
#include "runtime/cuda/GpuMachine.h"
#include "runtime/plan/TunedVariant.h"
#include "tools/ccrun/MeasureMachine.h"
#include "tools/ccrun/Options.h"
#include "tools/ccrun/Ranks.h"
#include "tools/ccrun/Report.h"
#include "tools/ccrun/Runner.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// Measures all variants, and keeps which one is the fastest.
int tune(const RunnerOptions &options, Package &package,
         const Environment &environment, bool onGpus) {
  if (package.variants.empty())
    return fail(WrongUsage, "--tune: '" + options.package +
                                "' holds no variants to choose from; expected "
                                "one that was compiled with --autotune");
  ProgramArrays arrays = arraysOf(package);
  if (Status status = arrays.find(options.inputs); !status)
    return fail(WrongUsage, status.message());
  Runner runner(options, package, environment, onGpus);
  if (Status status = runner.checkMemory(options.tuneRuns); !status)
    return fail(RunFailed, "'" + options.package + "': " + status.message());
  Result<Inputs> inputs = arrays.read();
  if (!inputs)
    return fail(WrongUsage, inputs.message());
  Result<std::string> machine = tunedMachine(onGpus, environment.gpuTransport);
  if (!machine)
    return fail(RunFailed, machine.message());
  if (onGpus) {
    std::vector<const GpuProgram *> programs = {&*package.gpu};
    for (const PackageVariant &variant : package.variants)
      if (variant.gpu)
        programs.push_back(&*variant.gpu);
    compileAhead(programs, environment.gpuTransport);
  }
  std::vector<double> seconds;
  size_t best = 0;
  std::cout << "variant   median of a run in ms\n";
  for (size_t number = 0; number <= package.variants.size(); ++number) {
    if (number > 0)
      swapVariant(package, number);
    Status status = checkHere(package, !onGpus);
    if (!status && number == 0)
      return fail(WrongUsage, "'" + options.package + "': " + status.message());
    Result<double> time =
        status ? runner.time(number, *options.tuneRuns, *inputs) : status;
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
    // Who ends this early has seen those before.
    std::cout.flush();
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
                                 const Environment &environment, bool onGpus) {
  if (!options.variant)
    options.variant =
        fastestVariants(package, onGpus, environment.gpuTransport).oneHost;
  auto number = static_cast<size_t>(*options.variant);
  if (number > package.variants.size())
    return fail(WrongUsage, "--variant: expected a number from 0 to " +
                                std::to_string(package.variants.size()) +
                                ", found " + std::to_string(number));
  if (number > 0)
    swapVariant(package, number);
  return std::nullopt;
}

/// Does with the package of `options` what the command line asks. `gpus` keeps
/// those that it uses set up.
int runPackage(RunnerOptions options, Result<Package> read,
               Environment environment, HeldGpus &gpus) {
  if (!read)
    return fail(WrongUsage, read.message());
  Package &package = *read;
  const std::optional<RankLaunch> &launch = *ownLaunch();
  bool onGpus = options.target.empty() ? package.gpu.has_value()
                                       : options.target == "cuda";
  if (options.info) {
    Result<std::string> machine =
        tunedMachine(onGpus, environment.gpuTransport);
    if (!launch || launch->rank == 0)
      printInfo(std::cout, package, machine ? *machine : "");
    return Done;
  }
  if (onGpus && !package.gpu)
    return fail(WrongUsage, "--target cuda: '" + options.package +
                                "' holds no kernels for GPUs");
  environment.timeLimit = options.timeLimit.value_or(environment.timeLimit);
  if (auto ranks = static_cast<int>(package.plan.ranks.size());
      options.processes && *options.processes != ranks)
    return fail(WrongUsage, "--nproc: program '" + package.program +
                                "' has a mesh of " + std::to_string(ranks) +
                                " ranks, found " +
                                std::to_string(*options.processes));
  if (onGpus && !options.processes)
    gpus = launch ? holdGpus(launch->localRank.value_or(launch->rank), 1)
                  : holdGpus(0, static_cast<int>(package.plan.ranks.size()));
  if (options.tuneRuns)
    return tune(options, package, environment, onGpus);
  if (options.variant || !launch)
    if (std::optional<int> code =
            chooseVariant(options, package, environment, onGpus))
      return *code;
  if (Status status = checkHere(package, !onGpus || options.check); !status)
    return fail(WrongUsage, "'" + options.package + "': " + status.message());
  return Runner(options, package, environment, onGpus).run();
}

/// Checks packages one after the other, and says how each has ended; of ranks
/// that were launched, rank 0 says it.
int checkAll(RunnerOptions options, const Environment &environment,
             HeldGpus &gpus) {
  std::vector<Result<Package>> packages;
  for (const std::string &path : options.packages)
    packages.push_back(readPackage(path));
  std::vector<const GpuProgram *> programs;
  for (const Result<Package> &package : packages)
    if (package && package->gpu && options.target != "cpu")
      programs.push_back(&*package->gpu);
  const std::optional<RankLaunch> &launch = *ownLaunch();
  // That compiles the kernels of all ranks.
  if (!programs.empty() && !launch)
    compileAhead(programs, environment.gpuTransport);
  int worst = Done;
  for (size_t i = 0; i < packages.size(); ++i) {
    options.package = options.packages[i];
    int code = runPackage(options, std::move(packages[i]), environment, gpus);
    if (!launch || launch->rank == 0)
      std::cout << options.package << ": exit code " << code << std::endl;
    worst = std::max(worst, code);
    if (code == RunFailed && gpus && !areUsable(gpus))
      break;
  }
  return worst;
}

/// Measures this machine; the exit code.
int writeMachine(const std::string &path) {
  std::string name = "this-machine";
  if (path != "-")
    name = std::filesystem::path(path).stem().string();
  auto isPart = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), isPart))
    return fail(WrongUsage, "--measure-machine: expected a file whose name has "
                            "letters, digits, '_', '-' and '.', found '" +
                                path + "'");
  Result<std::string> text = measureMachine(name);
  if (!text)
    return fail(RunFailed, text.message());
  if (path == "-") {
    std::cout << *text << std::flush;
    return std::cout ? Done : WrongUsage;
  }
  std::ofstream file(path);
  file << *text;
  file.close();
  return file ? Done
              : fail(WrongUsage,
                     "--measure-machine: cannot write '" + path + "'");
}

} // namespace

int main(int argc, char **argv) {
  // Streams in one queue of a GPU wait for each other, and by default there are
  // few queues: ranks that share a GPU would wait for those behind them.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  RunnerOptions options;
  if (std::optional<int> code = parseOptions(argc, argv, options))
    return *code;
  if (!options.machineFile.empty())
    return writeMachine(options.machineFile);
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
  HeldGpus gpus;
  if (options.packages.size() == 1)
    return runPackage(options, readPackage(options.package), *environment,
                      gpus);
  // MPI can be ended once only.
  if (launch && launch->launcher == Launcher::Mpi)
    return fail(WrongUsage, "expected one package with " +
                                describe(launch->launcher) +
                                ", which has started the ranks, found " +
                                std::to_string(options.packages.size()));
  return checkAll(options, *environment, gpus);
}
