//===- ccsynth.cpp - The synthesizer's command line -----------------------===//
//
// Parses options, calls the library, and turns its answers into text and exit
// codes: 0 done; 1 input wrong; 2 usage; 3 none found; 4 a run failed.
//
//===----------------------------------------------------------------------===//

#include "synth/Bound.h"
#include "synth/Forest.h"
#include "synth/Msccl.h"
#include "synth/Pareto.h"
#include "synth/Schedule.h"
#include "synth/Solve.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <unistd.h>

using namespace ccn::synth;

namespace {

enum ExitCode {
  Done = 0,
  InputWrong = 1,
  Usage = 2,
  NoneFound = 3,
  Failed = 4
};

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
  Result<Collective> collective = loadCollective(
      c.problem.collective, fabric->ranks, c.problem.chunks, c.problem.root);
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

int runTopologies(const std::string &name, const std::string &output) {
  if (name.empty()) {
    std::string text;
    for (const BuiltinTopology &t : builtinTopologies()) {
      std::string pattern = t.pattern;
      pattern.resize(std::max<size_t>(pattern.size() + 1, 20), ' ');
      text += pattern + t.summary + "\n";
    }
    return emit(output, text);
  }
  Result<Topology> topology = loadTopology(name);
  if (!topology)
    return fail(topology.error());
  return emit(output, writeTopology(*topology));
}

int runBound(const Problem &problem, bool json) {
  Result<Fabric> fabric = problem.fabric();
  if (!fabric)
    return fail(fabric.error());
  // all_to_all needs a multiple of the ranks; rounds are per chunk anyway.
  std::optional<CollectiveKind> kind = parseCollectiveKind(problem.collective);
  int chunks = kind == CollectiveKind::AllToAll ? fabric->ranks : 1;
  Result<Collective> collective =
      loadCollective(problem.collective, fabric->ranks, chunks, problem.root);
  if (!collective)
    return fail(collective.error());
  StepBound steps = stepBound(*fabric, *collective);
  RoundBound rounds = roundBound(*fabric, *collective);
  if (!json) {
    std::cout << "steps: " << describe(steps, *fabric) << "\n"
              << "rounds: " << describe(rounds, *fabric) << "\n";
    return Done;
  }
  nlohmann::ordered_json out;
  out["steps"] = steps.steps;
  for (int h : steps.path)
    out["path"].push_back(fabric->hostName(h));
  out["rounds_per_chunk"] = rounds.roundsPerChunk.str();
  out["cut"] = nlohmann::json::array();
  for (int v : rounds.nodes)
    out["cut"].push_back(fabric->topology.nodes[v].name);
  out["demand"] = rounds.demand;
  out["capacity"] = rounds.capacity;
  out["exact"] = rounds.exact;
  std::cout << out.dump(2) << "\n";
  return Done;
}

/// Loads a schedule, and the fabric if one is named.
struct Loaded {
  std::optional<Fabric> fabric;
  Schedule schedule;
};

Result<Loaded> loadSchedule(const Problem &problem, const std::string &file) {
  Loaded loaded;
  if (!problem.topology.empty()) {
    Result<Fabric> fabric = problem.fabric();
    if (!fabric)
      return fabric.error();
    loaded.fabric = std::move(*fabric);
  }
  Result<std::string> text = readFile(file);
  if (!text)
    return text.error();
  Result<Schedule> schedule =
      parseSchedule(*text, file == "-" ? "<stdin>" : file,
                    loaded.fabric ? &*loaded.fabric : nullptr);
  if (!schedule)
    return schedule.error();
  loaded.schedule = std::move(*schedule);
  return loaded;
}

/// Whether a file is XML, by its first character.
bool isXml(const std::string &text) {
  size_t at = text.find_first_not_of(" \t\r\n");
  return at != std::string::npos && text[at] == '<';
}

int checkXml(const std::string &text, const std::string &file) {
  Result<MscclProgram> program = parseMsccl(text, file);
  if (!program)
    return fail(program.error());
  std::string wrong = checkMsccl(*program);
  if (!wrong.empty())
    return fail({file + ": " + wrong});
  std::cout << file << ": correct " << kindName(program->kind) << " on "
            << program->gpus.size() << " ranks, MSCCL program \""
            << program->name << "\"\n";
  return Done;
}

int runConvert(const std::string &file, const std::string &to,
               const std::string &name, const std::string &output) {
  Result<std::string> text = readFile(file);
  if (!text)
    return fail(text.error());
  MscclDialect dialect = to == "msccl"         ? MscclDialect::Microsoft
                         : to == "msccl-azure" ? MscclDialect::Azure
                                               : MscclDialect::Rccl;
  std::string where = file == "-" ? "<stdin>" : file;
  if (isXml(*text)) {
    Result<MscclProgram> program = parseMsccl(*text, where);
    if (!program)
      return fail(program.error());
    if (!name.empty())
      program->name = name;
    return emit(output, writeMsccl(*program, dialect));
  }
  Result<Schedule> schedule = parseSchedule(*text, where);
  if (!schedule)
    return fail(schedule.error());
  Result<MscclProgram> program = exportMsccl(
      *schedule, name.empty() ? "ccn_" + schedule->collective.name : name);
  if (!program)
    return fail({where + ": " + program.error().text});
  return emit(output, writeMsccl(*program, dialect));
}

int runCheck(const Problem &problem, const std::string &file) {
  if (file != "-") {
    Result<std::string> text = readFile(file);
    if (!text)
      return fail(text.error());
    if (isXml(*text)) {
      if (!problem.topology.empty())
        return fail({"--topology: an MSCCL program names no links to check"},
                    Usage);
      return checkXml(*text, file);
    }
  }
  Result<Loaded> loaded = loadSchedule(problem, file);
  if (!loaded)
    return fail(loaded.error());
  const Schedule &s = loaded->schedule;
  std::string wrong = check(s, loaded->fabric ? &*loaded->fabric : nullptr);
  if (!wrong.empty())
    return fail({file + ": " + wrong});
  std::cout << file << ": correct " << s.collective.name << " on "
            << s.collective.ranks << " ranks, " << s.steps.size() << " steps, "
            << s.totalRounds() << " rounds, " << s.totalSends() << " sends"
            << (loaded->fabric ? ", within the capacities of " +
                                     loaded->fabric->topology.name
                               : "")
            << "\n";
  return Done;
}

/// "1024", "64KB", "1MB", "2GiB" in bytes; negative on a bad text.
double parseSize(const std::string &text) {
  size_t end = 0;
  double value = -1;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception &) {
    return -1;
  }
  static const std::map<std::string, double> units = {
      {"", 1},     {"B", 1},       {"KB", 1e3},       {"MB", 1e6},
      {"GB", 1e9}, {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.},
  };
  auto it = units.find(text.substr(end));
  return it == units.end() || !(value > 0) ? -1 : value * it->second;
}

int runSimulate(const Problem &problem, const std::string &file,
                const std::vector<std::string> &sizes) {
  std::vector<double> bytes;
  for (const std::string &size : sizes) {
    bytes.push_back(parseSize(size));
    if (bytes.back() < 0)
      return fail(
          {"--size: expected a size like 65536, 64KB or 1GiB, found \"" + size +
           "\""},
          Usage);
  }
  Result<Loaded> loaded = loadSchedule(problem, file);
  if (!loaded)
    return fail(loaded.error());
  std::string wrong = check(loaded->schedule, &*loaded->fabric);
  if (!wrong.empty())
    return fail({file + ": " + wrong});
  std::printf("%14s %16s %16s %12s\n", "bytes", "stepwise us", "event us",
              "algbw GB/s");
  for (double b : bytes) {
    Result<Timing> timing = simulate(loaded->schedule, *loaded->fabric, b);
    if (!timing)
      return fail(timing.error());
    std::printf("%14.0f %16.3f %16.3f %12.3f\n", b, timing->stepwiseUs,
                timing->eventUs,
                timing->eventUs > 0 ? b / timing->eventUs / 1000 : 0.0);
  }
  return Done;
}

struct ParetoCommand {
  Problem problem;
  ParetoOptions options;
  std::string engine = "auto", output, plot, resume;
  double timeLimit = 0;
  bool quiet = false;
};

int runPareto(ParetoCommand &c) {
  Result<Fabric> fabric = c.problem.fabric();
  if (!fabric)
    return fail(fabric.error());
  ParetoOptions &options = c.options;
  options.solve.engine = *parseEngine(c.engine);
  options.solve.limits = Limits::seconds(c.timeLimit, &interrupted);
  if (!c.resume.empty()) {
    Result<std::string> text = readFile(c.resume);
    if (!text)
      return fail(text.error());
    Result<std::vector<ParetoPoint>> known =
        parsePareto(*text, c.resume, *fabric);
    if (!known)
      return fail(known.error());
    options.known = std::move(*known);
  }
  bool terminal = isatty(STDERR_FILENO) && !c.quiet;
  if (terminal)
    options.solve.progress = [](const std::string &text) {
      std::cerr << "\r\033[K" << text << std::flush;
    };
  Result<ParetoResult> result = paretoFrontier(
      *fabric,
      [&](int chunks) {
        return loadCollective(c.problem.collective, fabric->ranks, chunks,
                              c.problem.root);
      },
      options);
  if (terminal)
    std::cerr << "\r\033[K" << std::flush;
  if (!result)
    return fail(result.error());
  int code = emit("", paretoTable(*result, *fabric));
  if (code == Done && !c.output.empty())
    code = emit(c.output, paretoJson(*result, *fabric));
  if (code == Done && !c.plot.empty()) {
    Result<std::string> svg = paretoSvg(*result, *fabric);
    if (!svg)
      return fail(svg.error(), NoneFound);
    code = emit(c.plot, *svg);
  }
  return code == Done && result->points.empty() ? NoneFound : code;
}

struct TreesCommand {
  Problem problem;
  std::string output;
  int pieces = 1;
  double timeLimit = 0;
};

int runTrees(const TreesCommand &c) {
  Result<Fabric> fabric = c.problem.fabric();
  if (!fabric)
    return fail(fabric.error());
  std::optional<CollectiveKind> kind =
      parseCollectiveKind(c.problem.collective);
  if (!kind)
    return fail({"expected all_gather, reduce_scatter or all_reduce, found \"" +
                 c.problem.collective + "\""});
  std::vector<Forest> forests;
  Result<Schedule> schedule =
      treeSchedule(*fabric, *kind, c.pieces,
                   Limits::seconds(c.timeLimit, &interrupted), &forests);
  if (!schedule)
    return fail(schedule.error(), schedule.error().text == "out of time"
                                      ? NoneFound
                                      : InputWrong);
  std::string wrong = check(*schedule, &*fabric);
  if (!wrong.empty())
    return fail({"the schedule does not pass its check (a bug): " + wrong},
                Failed);
  for (const Forest &forest : forests)
    std::fprintf(stderr,
                 "%lld trees a rank, optimal at %.2f GB/s of gathered bytes: "
                 "%s\n",
                 static_cast<long long>(forest.treesPerRank), forest.algbwGBps,
                 describe(forest.bound, *fabric).c_str());
  std::fprintf(stderr, "%s: %zu steps, %d sends; checked\n",
               schedule->collective.name.c_str(), schedule->steps.size(),
               schedule->totalSends());
  return emit(c.output, writeSchedule(*schedule, &*fabric));
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
  solveApp
      ->add_option("-C,--chunks", solveCommand.problem.chunks,
                   "chunks a node (see synth/README.md)")
      ->required()
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
      ->check(CLI::IsMember({"auto", "direct", "composition"}));
  solveApp
      ->add_option("--time-limit", solveCommand.timeLimit, "seconds; 0: none")
      ->check(CLI::NonNegativeNumber);
  solveApp->add_option("--seed", solveCommand.seed,
                       "results depend on it alone");
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
  treesApp->add_option("-o,--output", treesCommand.output,
                       "the schedule's file (default: standard output)");
  treesApp->callback([&] { code = runTrees(treesCommand); });

  std::string topologyName, topologyOutput;
  CLI::App *topologiesApp = app.add_subcommand(
      "topologies", "list the named machines, or write one as JSON");
  topologiesApp->add_option("name", topologyName,
                            "a named machine, or a file to check");
  topologiesApp->add_option("-o,--output", topologyOutput);
  topologiesApp->callback(
      [&] { code = runTopologies(topologyName, topologyOutput); });

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
  checkApp->add_option("schedule", checkFile, "a schedule, or MSCCL XML")
      ->required();
  checkApp->callback([&] { code = runCheck(checkProblem, checkFile); });

  std::string convertFile, convertTo, convertName, convertOutput;
  CLI::App *convertApp = app.add_subcommand(
      "convert", "write a schedule or an MSCCL program as MSCCL XML");
  convertApp->add_option("input", convertFile, "a schedule, or MSCCL XML")
      ->required();
  convertApp->add_option("--to", convertTo, "msccl, msccl-azure or msccl-rccl")
      ->required()
      ->check(CLI::IsMember({"msccl", "msccl-azure", "msccl-rccl"}));
  convertApp->add_option("--name", convertName, "the program's name");
  convertApp->add_option("-o,--output", convertOutput,
                         "the XML file (default: standard output)");
  convertApp->callback([&] {
    code = runConvert(convertFile, convertTo, convertName, convertOutput);
  });

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
