//===- ccsynth.cpp - The synthesizer's command line -----------------------===//
//
// Parses options and calls Commands.cpp. Exit codes: 0 done; 1 input wrong;
// 2 usage; 3 none found; 4 a run failed.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "runtime/base/Spelling.h"
#include "tools/common/CommandLine.h"

#include <csignal>
#include <iostream>
#include <memory>
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
    return first == "-h" || first == "--help" || first == "--version"
               ? ""
               : "expected a command, --help or --version, found '" +
                     std::string(first) + "'" +
                     ccn::didYouMean(first, std::vector<std::string_view>{
                                                "--help", "--version"});
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

/// What is wrong with an argument that the command does not know; empty if
/// `error` is about something else. It may be a misspelling of an option that
/// is missing.
static std::string wrongArgument(const CLI::App &app,
                                 const CLI::ParseError &error) {
  std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  std::vector<CLI::App *> commands = app.get_subcommands();
  bool isAbout = dynamic_cast<const CLI::ExtrasError *>(&error) ||
                 dynamic_cast<const CLI::RequiredError *>(&error);
  if (!isAbout || unknown.empty() || commands.empty())
    return "";
  return ccn::cli::unknownArgument(*commands.front(), unknown.front());
}

static const char *ganttText = "an SVG file for the links over time, at the "
                               "last size";

static const char *certificateText = "a JSON file for the bound's proof, which "
                                     "ccsynth check verifies by itself (-: "
                                     "standard output, with nothing else)";

static const char *explainText =
    "say in words what bounds the schedule, what its steps do, and by which "
    "way the last chunk arrives";

// Each adds a command, which sets `code`. What it reads into lives as long as
// its callback.

static void addFind(CLI::App &app, int &code) {
  auto options = std::make_shared<FindCommand>();
  CLI::App *command = app.add_subcommand(
      "find", "the fastest schedule for one size, by all engines");
  command->footer(
      "Runs every engine that fits (textbook algorithms, breadth-first flows, "
      "trees,\nhierarchy, flows, the frontier of solve, matching) on all cores "
      "and simulates\nwhat they find for the size. The fastest schedule is "
      "written; standard error says\nhow far it is from the bound that no "
      "schedule can beat. Ctrl-C ends the search\nearly and keeps the best so "
      "far.\n\nExample: ccsynth find -t dgx1 -c all_reduce --size 1MB -o "
      "fastest.json");
  options->problem.addTopology(command, true, false);
  options->problem.addCollective(command);
  command
      ->add_option(
          "--size", options->size,
          "bytes of the largest buffer that a rank holds: 65536, 64KB, "
          "1GiB")
      ->required();
  command
      ->add_option("--time-limit", options->timeLimit,
                   "seconds (default: 30); 0: until all engines have ended")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--threads", options->threads,
                   "engines that run at once (default: all)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--seed", options->seed, "the seed of the searches");
  command->add_option("-o,--output", options->output,
                      "the schedule's file (default: standard output)");
  command->add_option("--certificate", options->certificate,
                      "a JSON file for the bound's proof, which ccsynth check "
                      "verifies by itself");
  command->add_option("--gantt", options->gantt,
                      "an SVG file for the links over time, the bottleneck's "
                      "in red");
  command->add_flag("--explain", options->explains, explainText);
  command->add_flag("-q,--quiet", options->quiet,
                    "no progress and no table of engines");
  command->callback([options, &code] { code = runFind(*options); });
}

static void addSolve(CLI::App &app, int &code) {
  auto options = std::make_shared<SolveCommand>();
  CLI::App *command =
      app.add_subcommand("solve", "find a schedule, or prove there is none");
  options->problem.addTopology(command);
  options->problem.addCollective(command);
  command
      ->add_option("-C,--chunks", options->problem.chunks,
                   "chunks a node (see synth/README.md); a sketch may say it")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("-S,--steps", options->steps, "steps")
      ->required()
      ->check(CLI::Range(0, 4096));
  command
      ->add_option("-R,--rounds", options->rounds,
                   "rounds of all steps together")
      ->required()
      ->check(CLI::Range(0, 1 << 20));
  command->add_option("--engine", options->engine, "the engine that searches")
      ->check(CLI::IsMember({"auto", "z3", "sat", "flow"}));
  command->add_option("--mode", options->mode, "how all_reduce is made")
      ->check(CLI::IsMember({"auto", "direct", "composition", "one-sum"}));
  command->add_option("--time-limit", options->timeLimit, "seconds; 0: none")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", options->seed,
                      "results depend on the seed alone, not on the clock");
  command->add_option("--sketch", options->sketch,
                      "a JSON file with TACCL's keys that narrows the search");
  command->add_option("--certificate", options->certificate,
                      "where none exists: a JSON file for the proof of that, "
                      "which ccsynth check verifies by itself (-: standard "
                      "output)");
  command->add_option("-o,--output", options->output,
                      "the schedule's file (default: standard output)");
  command->add_flag("-q,--quiet", options->quiet, "no summary");
  command->callback([options, &code] { code = runSolve(*options); });
}

static void addPareto(CLI::App &app, int &code) {
  auto options = std::make_shared<ParetoCommand>();
  CLI::App *command = app.add_subcommand(
      "pareto", "the frontier of latency against bandwidth, with proofs");
  options->problem.addTopology(command);
  options->problem.addCollective(command);
  command
      ->add_option("--max-chunks", options->options.maxChunks,
                   "largest C to try")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--max-steps", options->options.maxSteps, "largest S to try")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--seconds-per-try", options->options.secondsPerTry,
                   "time limit of each (C,S,R)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--time-limit", options->timeLimit,
                   "seconds in all; 0: none")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--engine", options->engine, "the engine that searches")
      ->check(CLI::IsMember({"auto", "z3", "sat", "flow"}));
  command->add_option("--seed", options->options.solve.seed,
                      "the seed of the searches");
  command->add_option("-o,--output", options->output,
                      "a JSON file for the points and their schedules");
  command->add_option("--resume", options->resume,
                      "a JSON file of an earlier run to go on from");
  command->add_option("--certificate", options->certificate,
                      "a JSON file for the proofs of what is called optimal, "
                      "which ccsynth check verifies by itself");
  command->add_option("--plot", options->plot,
                      "an SVG file for predicted times against sizes");
  command->add_flag("-q,--quiet", options->quiet, "no progress");
  command->callback([options, &code] { code = runPareto(*options); });
}

static void addTrees(CLI::App &app, int &code) {
  auto options = std::make_shared<TreesCommand>();
  CLI::App *command = app.add_subcommand(
      "trees", "pack trees: optimal throughput for all_gather, "
               "reduce_scatter, all_reduce, broadcast and reduce");
  options->problem.addTopology(command);
  options->problem.addCollective(command);
  command
      ->add_option("--pieces", options->pieces,
                   "chunks of a tree's data, which follow each other")
      ->check(CLI::Range(1, 4096));
  command->add_option("--time-limit", options->timeLimit, "seconds")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--hierarchical", options->hierarchical,
                    "compose trees of one node with trees between nodes");
  command->add_option("--size", options->sizes,
                      "also predict times of these buffer sizes");
  command->add_option("--certificate", options->certificate, certificateText);
  command->add_option("--gantt", options->gantt, ganttText);
  command->add_flag("-q,--quiet", options->quiet,
                    "write no schedule unless -o says where");
  command->add_option("-o,--output", options->output,
                      "the schedule's file (default: standard output)");
  command->callback([options, &code] { code = runTrees(*options); });
}

static void addFlows(CLI::App &app, int &code) {
  auto options = std::make_shared<FlowsCommand>();
  CLI::App *command = app.add_subcommand(
      "flows", "optimal throughput for all_to_all, all_to_allv and other "
               "point-to-point collectives on large machines");
  options->problem.addTopology(command);
  options->problem.addCollective(command);
  command
      ->add_option("--multiplier", options->multiplier,
                   "chunks a pair (all_to_all) or a count (default: as few as "
                   "lose little)")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--steps", options->steps,
                   "steps to aim at (default: what needs the fewest rounds)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--time-limit", options->timeLimit, "seconds")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--size", options->sizes,
                      "also predict times of these buffer sizes");
  command->add_option("--gantt", options->gantt, ganttText);
  command->add_flag("-q,--quiet", options->quiet,
                    "write no schedule unless -o says where");
  command->add_option("-o,--output", options->output,
                      "the schedule's file (default: standard output)");
  command->add_option("--certificate", options->certificate, certificateText);
  command->callback([options, &code] { code = runFlows(*options); });
}

static void addTopologies(CLI::App &app, int &code) {
  struct Options {
    std::string name, output;
    std::vector<std::string> without;
    ImportOptions import;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "topologies", "list the named machines, or write one as JSON");
  command->add_option(
      "name", options->name,
      "a named machine, or a file to check: ours (JSON), NCCL's "
      "dump (.xml) or nvidia-smi topo -m (.txt)");
  command->add_option("-o,--output", options->output);
  addWithout(command, options->without);
  for (auto [flag, value, text] :
       {std::tuple("--nvlink-GBps", &options->import.nvlinkGBps,
                   "of one NVLink"),
        std::tuple("--pcie-GBps", &options->import.pcieGBps, "of a PCIe slot"),
        std::tuple("--nic-GBps", &options->import.nicGBps, "of a NIC"),
        std::tuple("--smp-GBps", &options->import.smpGBps, "between sockets")})
    command
        ->add_option(flag, *value,
                     std::string("when importing: GB/s ") + text +
                         " (default: see synth/README.md)")
        ->check(CLI::PositiveNumber);
  command->add_flag("--nvlink-only", options->import.nvlinkOnly,
                    "when importing: no PCIe, CPUs and NICs");
  command->callback([options, &code] {
    code = runTopologies(options->name, options->import, options->without,
                         options->output);
  });
}

static void addBound(CLI::App &app, int &code) {
  struct Options {
    Problem problem;
    bool json = false;
    std::string certificate;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "bound", "lower bounds for steps and rounds, with certificates");
  options->problem.addTopology(command);
  options->problem.addCollective(command);
  command->add_flag("--json", options->json);
  command->add_option("--certificate", options->certificate, certificateText);
  command->callback([options, &code] {
    code = runBound(options->problem, options->json, options->certificate);
  });
}

static void addCheck(CLI::App &app, int &code) {
  struct Options {
    Problem problem;
    std::string file;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("check", "prove that a schedule or a bound is right");
  options->problem.addTopology(command, false);
  command
      ->add_option("schedule", options->file,
                   "a schedule, MSCCL XML, an MSCCL++ plan, or a certificate")
      ->required();
  command->callback(
      [options, &code] { code = runCheck(options->problem, options->file); });
}

static void addConvert(CLI::App &app, int &code) {
  auto options = std::make_shared<ConvertCommand>();
  CLI::App *command = app.add_subcommand(
      "convert", "write a schedule or a program in another format");
  command
      ->add_option("input", options->input,
                   "a schedule, MSCCL XML, or an MSCCL++ plan")
      ->required();
  command
      ->add_option(
          "--to", options->to,
          "schedule, msccl, msccl-azure, msccl-rccl, mscclpp (puts and "
          "signals), mscclpp-ll (packets) or mscclpp-legacy (mscclpp for "
          "versions up to 0.6)")
      ->required()
      ->check(CLI::IsMember({"schedule", "msccl", "msccl-azure", "msccl-rccl",
                             "mscclpp", "mscclpp-ll", "mscclpp-legacy"}));
  options->problem.addTopology(command, false);
  command->add_option("--name", options->name, "the program's name");
  command->add_option("-o,--output", options->output,
                      "the output file (default: standard output)");
  command->callback([options, &code] { code = runConvert(*options); });
}

static void addNccl(CLI::App &app, int &code) {
  auto options = std::make_shared<NcclCommand>();
  CLI::App *command = app.add_subcommand(
      "nccl", "rings of all GPUs for NCCL, and a table for its tuner");
  options->problem.addTopology(command);
  command->add_option("--graph", options->graphs,
                      "an XML file for NCCL_GRAPH_FILE: the rings as channels");
  command->add_option("--tuner", options->tuner,
                      "a CSV file for NVIDIA's example of a tuner plugin "
                      "(NCCL_TUNER_CONFIG_FILE)");
  command
      ->add_option("--channels", options->channels,
                   "the most channels (default: 32)")
      ->check(CLI::Range(1, 32));
  command
      ->add_option("--machine", options->machine,
                   "of several machines, the one that --graph is for "
                   "(default: 0); each has a file of its own")
      ->check(CLI::Range(0, 1 << 20));
  command->add_option("--seed", options->seed, "the seed of the search");
  command->callback([options, &code] { code = runNccl(*options); });
}

static void addSimulate(CLI::App &app, int &code) {
  struct Options {
    Problem problem;
    std::string file;
    std::vector<std::string> sizes = {"1KB", "64KB", "1MB", "64MB", "1GB"};
    std::string gantt;
    bool explains = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("simulate", "predict a schedule's times");
  options->problem.addTopology(command);
  command->add_option("schedule", options->file)->required();
  command->add_option("--size", options->sizes,
                      "buffer sizes: 65536, 64KB, 1GiB");
  command->add_flag("--explain", options->explains, explainText);
  command->add_option("--gantt", options->gantt, ganttText);
  command->callback([options, &code] {
    code = runSimulate(options->problem, options->file, options->sizes,
                       options->gantt, options->explains);
  });
}

int main(int argc, char **argv) {
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  CLI::App app("Finds, bounds, checks and times schedules of collectives.",
               "ccsynth");
  app.set_version_flag("--version", "ccsynth " CCN_VERSION,
                       "print the version, and end");
  app.require_subcommand(1);
  int code = Done;
  for (auto *add :
       {addFind, addSolve, addPareto, addTrees, addFlows, addTopologies,
        addBound, addCheck, addConvert, addSimulate, addNccl})
    add(app, code);

  if (std::string wrong = wrongCommand(app, argc, argv); !wrong.empty()) {
    std::cerr << "ccsynth: " << wrong << "\n";
    return Usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &e) {
    if (std::string wrong = wrongArgument(app, e); !wrong.empty()) {
      std::cerr << "ccsynth: " << wrong << "\n";
      return Usage;
    }
    int status = app.exit(e);
    return status == 0 ? Done : Usage;
  } catch (const std::exception &e) {
    std::cerr << "ccsynth: " << e.what() << "\n";
    return Failed;
  }
  return code;
}
