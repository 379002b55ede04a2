//===- Commands.h - What ccsynth's commands do ------------------*- C++ -*-===//
//
// One function for each command, from its options to its exit code.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCSYNTH_COMMANDS_H
#define CCN_TOOLS_CCSYNTH_COMMANDS_H

#include "synth/Bound.h"
#include "synth/Groups.h"
#include "synth/Pareto.h"
#include "synth/Schedule.h"
#include "synth/Solve.h"
#include "synth/interop/TopologyImport.h"

#include <CLI/CLI.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace ccn::synth {

enum ExitCode {
  Done = 0,
  InputWrong = 1,
  Usage = 2,
  NoneFound = 3,
  Failed = 4
};

/// Raised by Ctrl-C.
extern std::atomic<bool> interrupted;

/// Says on standard error what a reader did not know.
void printNotes(const std::vector<std::string> &notes);

/// Says what went wrong and returns the exit code.
int fail(const std::string &message, int code = InputWrong);
int fail(const Status &status, int code = InputWrong);
/// Fails if both paths are standard output, where one of what is written stands
/// alone: `first` and `second` name it. 0 if not.
int checkOutputs(const std::string &firstPath, const std::string &first,
                 const std::string &secondPath, const std::string &second);

/// Writes to a file, or to standard output for "-" or no name.
int emit(const std::string &path, const std::string &text);

/// Sizes in bytes, or the error that names the wrong one.
Result<std::vector<double>> parseSizes(const std::vector<std::string> &sizes);

/// Prints the predicted times.
int printTimes(const Schedule &schedule, const Fabric &fabric,
               const std::vector<double> &bytes);

/// Draws the links over time at the last of the sizes, if a file is named.
int drawGantt(const std::string &path, const Schedule &schedule,
              const Fabric &fabric, const std::vector<double> &bytes);

/// Writes what proves a bound on `machine`, of which `fabric` was made: the
/// rate in rounds a chunk, by lengths of links if there are any, else as
/// `rounds` says; and the bound of steps, if its path is not empty. Verifies it
/// first. Where the fabric's capacities are rounded, less is claimed: what the
/// proof shows for those of the machine.
int emitCertificate(const std::string &path, const Topology &machine,
                    const Fabric &fabric, const Collective &collective,
                    const Fraction &rate, const RoundBound &rounds,
                    const StepBound &steps,
                    const std::vector<int64_t> &lengths);

/// Adds --without.
inline void addWithout(CLI::App *app, std::vector<std::string> &without) {
  app->add_option("--without", without,
                  "a link (gpu3-gpu5, gpu3->gpu5) or a node (gpu3) that is "
                  "lost; may be repeated")
      ->allow_extra_args(false);
}

/// A machine as its file describes it, and what schedules are found on.
struct MachineInUnits {
  Topology machine;
  Fabric fabric;
};

/// Options that most commands share.
struct Problem {
  std::string topology, collective, counts;
  std::vector<std::string> without, groupTexts;
  /// What the file of counts says, once it was read.
  mutable std::shared_ptr<const std::string> countsText;
  int chunks = 0, root = 0;
  double unit = 0;

  void addTopology(CLI::App *app, bool required = true, bool withUnit = true) {
    CLI::Option *option = app->add_option(
        "-t,--topology", topology,
        "a name that \"ccsynth topologies\" lists, or a file: ours "
        "(JSON), NCCL's dump (.xml) or nvidia-smi topo -m (.txt)");
    if (required)
      option->required();
    addWithout(app, without);
    if (!withUnit)
      return;
    app->add_option("--unit", unit,
                    "GB/s that carry one chunk a round (default: the greatest "
                    "common divisor of the capacities)")
        ->check(CLI::PositiveNumber);
  }
  void addCollective(CLI::App *app) {
    app->add_option("-c,--collective", collective,
                    "all_gather, reduce_scatter, all_reduce, broadcast, "
                    "reduce, gather, scatter, all_to_all, all_to_allv, or a "
                    "JSON file")
        ->required();
    app->add_option("--counts", counts,
                    "for all_to_allv: a JSON file with how much rank p has for "
                    "rank q, [[0,1],[2,0]]");
    app->add_option("--root", root,
                    "the root of a rooted collective (of each group: its place "
                    "in the group)");
    app->add_option("--group", groupTexts,
                    "ranks that do the collective among themselves, as "
                    "0,1,4-7; may be repeated")
        ->allow_extra_args(false);
  }
  /// The groups that were asked for; none: all ranks together.
  Result<Groups> parseGroups(int ranks) const;
  /// The least number of chunks a node: all_to_all needs multiples.
  int granule(int ranks) const;
  /// The collective with `chunkCount` chunks a node.
  Result<Collective> load(const Fabric &fabric, int chunkCount) const;
  /// The same, but of a file with that many times the chunks that it lists.
  Result<Collective> loadTimes(const Fabric &fabric, int times) const;
  /// The machine without what is lost.
  Result<Topology> machine() const;
  /// The machine in units. Where chunks are searched for one by one, capacities
  /// without a coarse common divisor are rounded, which a note says.
  Result<MachineInUnits> inUnits(bool countsChunks = false) const;
  /// The same, for those who need no more than the units.
  Result<Fabric> fabric(bool countsChunks = false) const;
};

/// Verifies a certificate's text, and that it is about the problem's machine,
/// if that is given.
int checkCertificate(const Problem &problem, const std::string &text,
                     const std::string &file);

struct SolveCommand {
  Problem problem;
  int steps = 0, rounds = 0;
  std::string engine = "auto", mode = "auto", output, sketch, certificate;
  double timeLimit = 0;
  uint64_t seed = 1;
  bool quiet = false;
};

/// Says if "none exists" is a solver's word alone. Returns the exit code.
int sayWhoProved(const SolveResult &result);

/// Writes a proof that none exists, or says that there is none to be had.
/// Returns the exit code.
int emitStepProof(const SolveCommand &c, const Topology &machine,
                  const Fabric &fabric, const Collective &collective,
                  const SolveResult &result);

struct ParetoCommand;

/// Writes the proofs of the points that are called optimal. Returns the exit
/// code.
int emitRateProofs(const ParetoCommand &c, const Topology &machine,
                   const Fabric &fabric, const ParetoResult &result);

struct ParetoCommand {
  Problem problem;
  ParetoOptions options;
  std::string engine = "auto", output, plot, resume, certificate;
  double timeLimit = 0;
  bool quiet = false;
};

struct TreesCommand {
  Problem problem;
  std::string output, gantt, certificate;
  std::vector<std::string> sizes;
  int pieces = 1;
  double timeLimit = 0;
  bool hierarchical = false, quiet = false;
};

/// Writes what proves the throughput that trees are compared with: of an
/// all_reduce, of its halves. Returns the exit code.
int emitTreeCertificates(const TreesCommand &c, const Topology &machine,
                         const Fabric &fabric, CollectiveKind kind);

struct FlowsCommand {
  Problem problem;
  std::string output, gantt, certificate;
  std::vector<std::string> sizes;
  int multiplier = 0, steps = 0;
  double timeLimit = 0;
  bool quiet = false;
};

struct NcclCommand {
  Problem problem;
  std::string graphs, tuner;
  int channels = 0, machine = 0;
  uint64_t seed = 1;
};

struct FindCommand {
  Problem problem;
  std::string size, output, certificate, gantt;
  double timeLimit = 30;
  int threads = 0;
  uint64_t seed = 1;
  bool quiet = false, explains = false;
};

struct ConvertCommand {
  Problem problem;
  std::string input, to, name, output;
};

int runSolve(const SolveCommand &c);
int runTopologies(const std::string &name, const ImportOptions &options,
                  const std::vector<std::string> &without,
                  const std::string &output);
int runBound(const Problem &problem, bool json, const std::string &certificate);
int runConvert(const ConvertCommand &c);
int runCheck(const Problem &problem, const std::string &file);
int runSimulate(const Problem &problem, const std::string &file,
                const std::vector<std::string> &sizes, const std::string &gantt,
                bool explains);
int runPareto(ParetoCommand &c);
int runTrees(const TreesCommand &c);
int runFlows(const FlowsCommand &c);
int runNccl(const NcclCommand &c);
int runFind(const FindCommand &c);

} // namespace ccn::synth

#endif // CCN_TOOLS_CCSYNTH_COMMANDS_H
