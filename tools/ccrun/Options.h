//===- Options.h - The command line of ccrun --------------------*- C++ -*-===//
//
// What ccrun can be asked, as a plain struct.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_OPTIONS_H
#define CCN_TOOLS_CCRUN_OPTIONS_H

#include "runtime/tensor/ProgramArrays.h"

#include <optional>
#include <string>

namespace ccn {

struct RunnerOptions {
  std::string package;
  /// All packages, if --check is given several.
  std::vector<std::string> packages;
  /// How many processes to start; none is one thread for each rank.
  std::optional<int> processes;
  /// Whether threads were asked for.
  bool threads = false;
  /// What executes the package; empty is what it was compiled for.
  std::string target;
  runtime::NamedValues inputs, outputs;
  uint64_t seed = 0;
  bool check = false;
  /// How many timed runs; none is one run for its results.
  std::optional<int> benchRuns;
  std::string benchFile;
  /// How many timed runs of each variant; none is not to tune.
  std::optional<int> tuneRuns;
  /// Which variant to run; none is the one that was tuned.
  std::optional<int> variant;
  std::string traceFile;
  /// Seconds that a rank waits for another; none is what the environment says.
  std::optional<double> timeLimit;
  bool info = false;
  /// Where to write what was measured of this machine; `-` is standard output.
  std::string machineFile;
  /// For a process that ccrun starts as a rank: what runWorker takes.
  std::string worker;
};

/// Reads the command line. If the tool is to end at once, after `--help` or a
/// mistake, the result is its exit code.
std::optional<int> parseOptions(int argc, char **argv, RunnerOptions &options);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_OPTIONS_H
