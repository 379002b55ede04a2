//===- ccsynth.cpp - The synthesizer's command line -----------------------===//
//
// Parses options, calls the library, and turns its answers into text and exit
// codes: 0 done; 1 input wrong; 2 usage; 3 none found; 4 a run failed.
//
//===----------------------------------------------------------------------===//

#include "synth/Bound.h"
#include "synth/Schedule.h"
#include "synth/Solve.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace ccn::synth;

namespace {

enum ExitCode { Done = 0, InputWrong = 1, Usage = 2, NoneFound = 3, Failed = 4 };

std::atomic<bool> interrupted{false};

extern "C" void onInterrupt(int) {
  // A second Ctrl-C ends the program at once.
  if (interrupted.exchange(true))
    _exit(130);
}

int fail(const Error &error, int code = InputWrong) {
  std::cerr << "ccsynth: " << error.text << "\n";
  return code;
}

/// Writes to a file, or to standard output for "-" or no name.
int emit(const std::string &path, const std::string &text) {
  if (path.empty() || path == "-") {
    std::cout << text << std::flush;
    return std::cout ? Done : Failed;
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    return fail({path + ": cannot write the file"}, Failed);
  return Done;
}

/// Options that most commands share.
struct Problem {
  std::string topology, collective;
  int chunks = 1, root = 0;
  double unit = 0;

  void addTopology(CLI::App *app, bool required = true) {
    CLI::Option *option = app->add_option(
        "-t,--topology", topology,
        "a name that \"ccsynth topologies\" lists, or a JSON file");
    if (required)
      option->required();
    app->add_option("--unit", unit,
                    "GB/s that carry one chunk a round (default: the greatest "
                    "common divisor of the capacities)")
        ->check(CLI::PositiveNumber);
  }
  void addCollective(CLI::App *app) {
    app->add_option("-c,--collective", collective,
                    "all_gather, reduce_scatter, all_reduce, broadcast, "
                    "reduce, gather, scatter, all_to_all, or a JSON file")
        ->required();
    app->add_option("--root", root, "the root of a rooted collective");
  }
  Result<Fabric> fabric() const {
    Result<Topology> loaded = loadTopology(topology);
    if (!loaded)
      return loaded.error();
    return makeFabric(*loaded, unit);
  }
};

struct SolveCommand {
  Problem problem;
  int steps = 0, rounds = 0;
  std::string engine = "auto", mode = "auto", output;
  double timeLimit = 0;
  uint64_t seed = 1;
  bool quiet = false;
};

int runSolve(const SolveCommand &c) {
  Result<Fabric> fabric = c.problem.fabric();
  if (!fabric)
    return fail(fabric.error());
  Result<Collective> collective =
      loadCollective(c.problem.collective, fabric->ranks, c.problem.chunks,
                     c.problem.root);
  if (!collective)
    return fail(collective.error());
  SolveOptions options;
  options.engine = *parseEngine(c.engine);
  options.mode = c.mode == "direct"        ? ReduceMode::Direct
                 : c.mode == "composition" ? ReduceMode::Composition
                                           : ReduceMode::Auto;
  options.seed = c.seed;
  options.limits = Limits::seconds(c.timeLimit, &interrupted);
  bool terminal = isatty(STDERR_FILENO) && !c.quiet;
  if (terminal)
    options.progress = [](const std::string &text) {
      std::cerr << "\r\033[K" << text << std::flush;
    };
  Result<SolveResult> result =
      solve(*fabric, *collective, c.steps, c.rounds, options);
  if (terminal)
    std::cerr << "\r\033[K" << std::flush;
  if (!result)
    return fail(result.error());
  std::string what = collective->name + " on " + fabric->topology.name + " (" +
                     std::to_string(collective->chunksPerNode) + "," +
                     std::to_string(c.steps) + "," + std::to_string(c.rounds) +
                     ")";
  if (result->answer == Answer::No) {
    std::cerr << what << ": none exists, by " << result->method << ": "
              << result->certificate << "\n";
    return NoneFound;
  }
  if (result->answer == Answer::Unknown) {
    std::cerr << what << ": "
              << (result->certificate.empty()
                      ? interrupted ? "interrupted" : "out of time"
                      : "undecided: " + result->certificate)
              << "\n";
    return NoneFound;
  }
  if (!c.quiet)
    std::cerr << what << ": found by " << result->method << "; "
              << result->schedule.totalSends() << " sends; checked\n";
  return emit(c.output, writeSchedule(result->schedule, &*fabric));
}

} // namespace

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
  solveApp->add_option("-C,--chunks", solveCommand.problem.chunks)
      ->required()
      ->check(CLI::Range(1, 1 << 20));
  solveApp->add_option("-S,--steps", solveCommand.steps)->required();
  solveApp->add_option("-R,--rounds", solveCommand.rounds)->required();
  solveApp->add_option("--engine", solveCommand.engine)
      ->check(CLI::IsMember({"auto", "z3", "sat", "flow"}));
  solveApp->add_option("--mode", solveCommand.mode)
      ->check(CLI::IsMember({"auto", "direct", "composition"}));
  solveApp->add_option("--time-limit", solveCommand.timeLimit);
  solveApp->add_option("--seed", solveCommand.seed);
  solveApp->add_option("-o,--output", solveCommand.output);
  solveApp->add_flag("-q,--quiet", solveCommand.quiet);
  solveApp->callback([&] { code = runSolve(solveCommand); });

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
