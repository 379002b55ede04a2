//===- ccsynth.cpp - The synthesizer's command line -----------------------===//
//
// Parses options and calls Commands.cpp. Exit codes: 0 done; 1 input wrong;
// 2 usage; 3 none found; 4 a run failed.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "runtime/base/Spelling.h"

#include <csignal>
#include <iostream>
#include <unistd.h>

using namespace ccn::synth;

extern "C" void onInterrupt(int) {
  // A second Ctrl-C ends the program at once.
  if (interrupted.exchange(true))
    _exit(130);
}

/// What is wrong with the command that the arguments name; empty if nothing.
static std::string wrongCommand(const CLI::App &app, int argc, char **argv) {
  if (argc < 2)
    return "";
  std::string_view first = argv[1];
  if (first.starts_with("-"))
    return first == "-h" || first == "--help"
               ? ""
               : "expected a command or --help, found '" + std::string(first) +
                     "'";
  std::vector<std::string_view> known;
  std::string list;
  for (const CLI::App *command : app.get_subcommands({})) {
    known.push_back(command->get_name());
    list += (list.empty() ? "" : ", ") + command->get_name();
  }
  if (std::find(known.begin(), known.end(), first) != known.end())
    return "";
  return "expected one of the commands " + list + ", found '" +
         std::string(first) + "'" + ccn::didYouMean(first, known);
}

int main(int argc, char **argv) {
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  CLI::App app("Finds, bounds, checks and times schedules of collectives.",
               "ccsynth");
  app.require_subcommand(1);
  int code = Done;

  SolveCommand solveCommand;
  CLI::App *solveApp =
      app.add_subcommand("solve", "find a schedule, or prove there is none");
  solveCommand.problem.addTopology(solveApp);
  solveCommand.problem.addCollective(solveApp);
  solveApp
      ->add_option("-C,--chunks", solveCommand.problem.chunks,
                   "chunks a node (see synth/README.md); a sketch may say it")
      ->check(CLI::Range(1, 1 << 20));
  solveApp->add_option("-S,--steps", solveCommand.steps, "steps")
      ->required()
      ->check(CLI::Range(0, 4096));
  solveApp
      ->add_option("-R,--rounds", solveCommand.rounds,
                   "rounds of all steps together")
      ->required()
      ->check(CLI::Range(0, 1 << 20));
  solveApp->add_option("--engine", solveCommand.engine, "what searches")
      ->check(CLI::IsMember({"auto", "z3", "sat", "flow"}));
  solveApp->add_option("--mode", solveCommand.mode, "how all_reduce is made")
      ->check(CLI::IsMember({"auto", "direct", "composition", "one-sum"}));
  solveApp
      ->add_option("--time-limit", solveCommand.timeLimit, "seconds; 0: none")
      ->check(CLI::NonNegativeNumber);
  solveApp->add_option("--seed", solveCommand.seed,
                       "results depend on it alone");
  solveApp->add_option("--sketch", solveCommand.sketch,
                       "a JSON file with TACCL's keys that narrows the search");
  solveApp->add_option("-o,--output", solveCommand.output,
                       "the schedule's file (default: standard output)");
  solveApp->add_flag("-q,--quiet", solveCommand.quiet, "no summary");
  solveApp->callback([&] { code = runSolve(solveCommand); });

  ParetoCommand paretoCommand;
  CLI::App *paretoApp = app.add_subcommand(
      "pareto", "the frontier of latency against bandwidth, with proofs");
  paretoCommand.problem.addTopology(paretoApp);
  paretoCommand.problem.addCollective(paretoApp);
  paretoApp
      ->add_option("--max-chunks", paretoCommand.options.maxChunks,
                   "largest C to try")
      ->check(CLI::Range(1, 4096));
  paretoApp
      ->add_option("--max-steps", paretoCommand.options.maxSteps,
                   "largest S to try")
      ->check(CLI::Range(1, 4096));
  paretoApp
      ->add_option("--seconds-per-try", paretoCommand.options.secondsPerTry,
                   "time limit of each (C,S,R)")
      ->check(CLI::PositiveNumber);
  paretoApp
      ->add_option("--time-limit", paretoCommand.timeLimit,
                   "seconds in all; 0: none")
      ->check(CLI::NonNegativeNumber);
  paretoApp->add_option("--engine", paretoCommand.engine, "what searches")
      ->check(CLI::IsMember({"auto", "z3", "sat", "flow"}));
  paretoApp->add_option("--seed", paretoCommand.options.solve.seed,
                        "of the searches");
  paretoApp->add_option("-o,--output", paretoCommand.output,
                        "a JSON file for the points and their schedules");
  paretoApp->add_option("--resume", paretoCommand.resume,
                        "a JSON file of an earlier run to go on from");
  paretoApp->add_option("--plot", paretoCommand.plot,
                        "an SVG file for predicted times against sizes");
  paretoApp->add_flag("-q,--quiet", paretoCommand.quiet, "no progress");
  paretoApp->callback([&] { code = runPareto(paretoCommand); });

  TreesCommand treesCommand;
  CLI::App *treesApp = app.add_subcommand(
      "trees", "pack trees: optimal throughput for all_gather, "
               "reduce_scatter and all_reduce");
  treesCommand.problem.addTopology(treesApp);
  treesCommand.problem.addCollective(treesApp);
  treesApp
      ->add_option("--pieces", treesCommand.pieces,
                   "chunks of a tree's data, which follow each other")
      ->check(CLI::Range(1, 4096));
  treesApp->add_option("--time-limit", treesCommand.timeLimit, "seconds")
      ->check(CLI::NonNegativeNumber);
  treesApp->add_flag("--hierarchical", treesCommand.hierarchical,
                     "compose trees of one node with trees between nodes");
  treesApp->add_option("--size", treesCommand.sizes,
                       "also predict times of these buffer sizes");
  treesApp->add_flag("-q,--quiet", treesCommand.quiet,
                     "write no schedule unless -o says where");
  treesApp->add_option("-o,--output", treesCommand.output,
                       "the schedule's file (default: standard output)");
  treesApp->callback([&] { code = runTrees(treesCommand); });

  FlowsCommand flowsCommand;
  CLI::App *flowsApp = app.add_subcommand(
      "flows", "optimal throughput for all_to_all, all_to_allv and other "
               "point-to-point collectives on large machines");
  flowsCommand.problem.addTopology(flowsApp);
  flowsCommand.problem.addCollective(flowsApp);
  flowsApp
      ->add_option("--multiplier", flowsCommand.multiplier,
                   "chunks a pair (all_to_all) or a count (default: as few as "
                   "lose little)")
      ->check(CLI::Range(1, 4096));
  flowsApp
      ->add_option("--steps", flowsCommand.steps,
                   "steps to aim at (default: what needs the fewest rounds)")
      ->check(CLI::Range(1, 4096));
  flowsApp->add_option("--time-limit", flowsCommand.timeLimit, "seconds")
      ->check(CLI::NonNegativeNumber);
  flowsApp->add_option("--size", flowsCommand.sizes,
                       "also predict times of these buffer sizes");
  flowsApp->add_flag("-q,--quiet", flowsCommand.quiet,
                     "write no schedule unless -o says where");
  flowsApp->add_option("-o,--output", flowsCommand.output,
                       "the schedule's file (default: standard output)");
  flowsApp->callback([&] { code = runFlows(flowsCommand); });

  std::string topologyName, topologyOutput;
  CLI::App *topologiesApp = app.add_subcommand(
      "topologies", "list the named machines, or write one as JSON");
  topologiesApp->add_option(
      "name", topologyName,
      "a named machine, or a file to check: ours (JSON), NCCL's "
      "dump (.xml) or nvidia-smi topo -m (.txt)");
  topologiesApp->add_option("-o,--output", topologyOutput);
  ImportOptions import;
  for (auto [flag, value, text] :
       {std::tuple("--nvlink-GBps", &import.nvlinkGBps, "of one NVLink"),
        std::tuple("--pcie-GBps", &import.pcieGBps, "of a PCIe slot"),
        std::tuple("--nic-GBps", &import.nicGBps, "of a NIC"),
        std::tuple("--smp-GBps", &import.smpGBps, "between sockets")})
    topologiesApp
        ->add_option(flag, *value,
                     std::string("when importing: GB/s ") + text +
                         " (default: see synth/README.md)")
        ->check(CLI::PositiveNumber);
  topologiesApp->add_flag("--nvlink-only", import.nvlinkOnly,
                          "when importing: no PCIe, CPUs and NICs");
  topologiesApp->callback(
      [&] { code = runTopologies(topologyName, import, topologyOutput); });

  Problem boundProblem;
  bool boundJson = false;
  CLI::App *boundApp = app.add_subcommand(
      "bound", "lower bounds for steps and rounds, with certificates");
  boundProblem.addTopology(boundApp);
  boundProblem.addCollective(boundApp);
  boundApp->add_flag("--json", boundJson);
  boundApp->callback([&] { code = runBound(boundProblem, boundJson); });

  Problem checkProblem;
  std::string checkFile;
  CLI::App *checkApp =
      app.add_subcommand("check", "prove that a schedule is right");
  checkProblem.addTopology(checkApp, false);
  checkApp
      ->add_option("schedule", checkFile,
                   "a schedule, MSCCL XML, or an MSCCL++ plan")
      ->required();
  checkApp->callback([&] { code = runCheck(checkProblem, checkFile); });

  ConvertCommand convertCommand;
  CLI::App *convertApp = app.add_subcommand(
      "convert", "write a schedule or a program in another format");
  convertApp
      ->add_option("input", convertCommand.input,
                   "a schedule, MSCCL XML, or an MSCCL++ plan")
      ->required();
  convertApp
      ->add_option(
          "--to", convertCommand.to,
          "schedule, msccl, msccl-azure, msccl-rccl, mscclpp (puts and "
          "signals), mscclpp-ll (packets) or mscclpp-legacy (mscclpp for "
          "versions up to 0.6)")
      ->required()
      ->check(CLI::IsMember({"schedule", "msccl", "msccl-azure", "msccl-rccl",
                             "mscclpp", "mscclpp-ll", "mscclpp-legacy"}));
  convertCommand.problem.addTopology(convertApp, false);
  convertApp->add_option("--name", convertCommand.name, "the program's name");
  convertApp->add_option("-o,--output", convertCommand.output,
                         "the output file (default: standard output)");
  convertApp->callback([&] { code = runConvert(convertCommand); });

  Problem simulateProblem;
  std::string simulateFile;
  std::vector<std::string> sizes = {"1KB", "64KB", "1MB", "64MB", "1GB"};
  CLI::App *simulateApp =
      app.add_subcommand("simulate", "predict a schedule's times");
  simulateProblem.addTopology(simulateApp);
  simulateApp->add_option("schedule", simulateFile)->required();
  simulateApp->add_option("--size", sizes, "buffer sizes: 65536, 64KB, 1GiB");
  simulateApp->callback(
      [&] { code = runSimulate(simulateProblem, simulateFile, sizes); });

  if (std::string wrong = wrongCommand(app, argc, argv); !wrong.empty()) {
    std::cerr << "ccsynth: " << wrong << "\n";
    return Usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &e) {
    int status = app.exit(e);
    return status == 0 ? Done : Usage;
  } catch (const std::exception &e) {
    std::cerr << "ccsynth: " << e.what() << "\n";
    return Failed;
  }
  return code;
}
