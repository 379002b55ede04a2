//===- Options.cpp - The command line of ccrun ----------------------------===//
//
// What CLI11 finds wrong is said in our words.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Options.h"

#include "tools/common/CommandLine.h"

#include <iostream>

using namespace ccn;

namespace {

/// The command line while it is read: CLI11's options, and what they set
/// before it is known which of them are there.
class CommandLine {
public:
  explicit CommandLine(RunnerOptions &options);
  std::optional<int> parse(int argc, char **argv);

private:
  // In the order in which the help has them.
  void addPackage();
  void addMeasurement();
  void addRest();

  /// Sets what is there.
  void take();
  /// What does not go together.
  void check() const;

  RunnerOptions &options;
  CLI::App app;
  std::vector<std::string> inputs, outputs;
  int benchRuns = 0, tuneRuns = 0, processes = 0, variant = 0;
  double timeLimit = 0;
  CLI::Option *nproc = nullptr, *bench = nullptr, *tune = nullptr,
              *chosen = nullptr, *timeout = nullptr;
};

} // namespace

CommandLine::CommandLine(RunnerOptions &options)
    : options(options),
      app("Runs compiled programs over distributed tensors.\n"
          "A package holds machine code: run those whose maker you trust.\n\n"
          "  ccrun adam.ccnpkg --input g=g.npy --input lr=0.001 --output "
          "p=p.npy\n"
          "  ccrun adam.ccnpkg --nproc 4 --bench\n"
          "  mpirun -n 4 ccrun adam.ccnpkg\n"
          "  torchrun --nproc-per-node 4 --no-python ccrun adam.ccnpkg\n"
          "  srun -n 4 ccrun adam.ccnpkg\n",
          "ccrun") {
  app.option_defaults()->always_capture_default(false);
  addPackage();
  addMeasurement();
  addRest();
  app.footer(
      std::string(cli::arraysNote) +
      "Exit codes: 0 done; 2 usage, or a package that this machine cannot "
      "run; 4 the\nrun failed, there is not the memory for it, or --check "
      "found a difference.\n\n"
      "Where mpirun, torchrun or Slurm has started it, each process is a rank. "
      "The\nenvironment tells which of them it was; CCN_LAUNCHER overrides "
      "that (mpi, torchrun,\nslurm, none). torchrun's and Slurm's ranks meet "
      "over TCP at rank 0's host;\nCCN_MASTER_ADDR and CCN_MASTER_PORT give "
      "another address and port.");
}

void CommandLine::addPackage() {
  app.add_option("PACKAGE", options.packages,
                 "what the compiler made of a program; with --check it may be "
                 "several")
      ->type_name("");
  app.add_flag("--threads", options.threads,
               "ranks are threads of this process (the default)");
  nproc = app.add_option("--nproc", processes,
                         "ranks are processes of this host, as many as the "
                         "program's mesh has ranks")
              ->type_name("N")
              ->check(cli::expect("a number of ranks from 1 to 1024",
                                  cli::isIntegerFrom(1, 1024)));
  app.add_option("--target", options.target,
                 "what executes the package: cpu or cuda, which is GPUs of "
                 "NVIDIA (default: what it was compiled for)")
      ->type_name("TARGET")
      ->check(cli::expectOneOf({"cpu", "cuda"}));
  cli::addArrayOptions(app, inputs, outputs, options.seed, "Options");
}

void CommandLine::addMeasurement() {
  app.add_flag("--check", options.check,
               "also run the program without its schedule, on the CPU (as it "
               "is, if it has none), and compare: floats within a bound that "
               "is printed, all else bit by bit");
  bench = app.add_option("--bench", benchRuns,
                         "run it N times (default 20) after some for "
                         "warming up, and print times and bytes moved; "
                         "on GPUs, N replays of a graph of several runs")
              ->type_name("[N]")
              ->expected(0, 1)
              ->check(cli::expect("a number of runs from 1 to 1000000",
                                  cli::isIntegerFrom(1, 1000000)));
  app.add_option("--json", options.benchFile,
                 "with --bench, a JSON file for what was measured")
      ->type_name("FILE");
  tune = app.add_option(
      "--tune", tuneRuns,
      "measure the package's variants (of cccompile --autotune), N runs each "
      "(default 20), and keep in CCN_CACHE_DIR, else ~/.cache/ccn, which is "
      "fastest; later runs on this machine use it");
  tune->type_name("[N]")->expected(0, 1)->check(cli::expect(
      "a number of runs from 1 to 1000000", cli::isIntegerFrom(1, 1000000)));
  chosen = app.add_option("--variant", variant,
                          "run this variant of the package, whatever was "
                          "tuned; 0 is the default, which ranks of several "
                          "hosts run if these were tuned differently")
               ->type_name("N")
               ->check(cli::expect("a number from 0 to 1000000",
                                   cli::isIntegerFrom(0, 1000000)));
}

void CommandLine::addRest() {
  app.add_option("--trace", options.traceFile,
                 "write what ran when, for ui.perfetto.dev: a process for each "
                 "rank, a track for each stream")
      ->type_name("FILE");
  timeout =
      app.add_option("--timeout", timeLimit,
                     "how many seconds a rank waits for another (default: "
                     "CCN_TIMEOUT in the environment, else 60)")
          ->type_name("SECONDS")
          ->check(cli::expect("seconds from 0.001 to 1e6",
                              cli::isNumberFrom(0.001, 1e6)));
  app.add_option("--measure-machine", options.machineFile,
                 "instead of running a package, measure how fast this "
                 "machine's CPU is, which takes some seconds, and write it as "
                 "a file for cccompile --machine; - is standard output")
      ->type_name("FILE");
  app.add_flag("--info", options.info, "say what the package is, and end");
  app.add_option("--worker", options.worker)->group("");
}

void CommandLine::take() {
  if (options.packages.empty() && options.machineFile.empty())
    throw CLI::RequiredError("PACKAGE");
  if (options.packages.empty())
    return;
  if (!options.machineFile.empty())
    throw CLI::ValidationError("--measure-machine", "expected without PACKAGE");
  options.package = options.packages.front();
  options.inputs = cli::splitAll(inputs, "--input", "NAME=FILE");
  options.outputs = cli::splitAll(outputs, "--output", "NAME=FILE");
  if (nproc->count())
    options.processes = processes;
  if (bench->count())
    options.benchRuns = benchRuns ? benchRuns : 20;
  if (tune->count())
    options.tuneRuns = tuneRuns ? tuneRuns : 20;
  if (chosen->count())
    options.variant = variant;
  if (timeout->count())
    options.timeLimit = timeLimit;
}

void CommandLine::check() const {
  if (options.threads && options.processes)
    throw CLI::ValidationError("--threads", "expected without --nproc");
  if (!options.benchFile.empty() && !options.benchRuns)
    throw CLI::ValidationError("--json", "expected --bench beside it");
  if (options.tuneRuns &&
      (options.benchRuns || options.check || options.variant ||
       !options.traceFile.empty() || !outputs.empty()))
    throw CLI::ValidationError("--tune", "expected without --bench, --check, "
                                         "--variant, --trace and --output");
  if (options.packages.size() > 1 &&
      (!options.check || options.variant || !options.traceFile.empty() ||
       !inputs.empty() || !outputs.empty() || !options.worker.empty()))
    throw CLI::ValidationError(
        "PACKAGE", "expected one, or --check without --variant, --trace, "
                   "--input and --output");
  if (options.check && options.benchRuns)
    throw CLI::ValidationError("--check", "expected without --bench");
}

std::optional<int> CommandLine::parse(int argc, char **argv) {
  return cli::parse(app, argc, argv, "PACKAGE", [&] {
    take();
    check();
  });
}

std::optional<int> ccn::parseOptions(int argc, char **argv,
                                     RunnerOptions &options) {
  return CommandLine(options).parse(argc, argv);
}
