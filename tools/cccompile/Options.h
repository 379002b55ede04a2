//===- Options.h - The command line of cccompile ----------------*- C++ -*-===//
//
// What cccompile can be asked, as a plain struct: the parser behind it needs
// exceptions, nothing else of ours does.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_OPTIONS_H
#define CCN_TOOLS_CCCOMPILE_OPTIONS_H

#include "lib/Target/Target.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ccn {

/// `name=value` as given on the command line.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

struct Options {
  std::string file;
  NamedValues params;
  NamedValues mesh;
  std::string emit;
  std::string output = "-";
  /// Where a header for C is written beside a package or library; nowhere if
  /// empty.
  std::string header;
  /// What names in the header begin with; the program's if empty.
  std::string prefix;
  std::string stopAfter;
  /// The rank whose program is made; none if it is not given.
  std::optional<int64_t> rank;
  /// Whether a package gets variants for measurement to choose from.
  bool autotune = false;
  Target target;
  /// What a schedule is searched for: the target if it is given or code is
  /// emitted for it, else GPUs, unless the machine has none.
  Target searchTarget;
  /// How the kernels that are written get at the data of other ranks: "peers"
  /// or "messages"; by default the former.
  std::string transport;
  std::string dumpFolder;
  std::string schedule;
  /// What the schedule is called that is applied if none is named.
  std::string unnamedSchedule = "default";
  /// The arguments that a search may store in slices.
  std::vector<std::string> states;
  /// How many ways to run a program it prices at most.
  std::optional<int64_t> searchStates;
  /// The figures that choices are made by, by name or file; the target's own if
  /// it is not given.
  std::optional<std::string> machine;
  /// The network that collectives get schedules for; none if empty.
  std::string topology;
  /// How long each search for one may take.
  double searchSeconds = 10;
  std::string program;
  /// How to verify the schedule: by `run` or `prove`; not if empty.
  std::string verify;
  bool run = false;
  NamedValues inputs;
  NamedValues outputs;
  uint64_t seed = 0;
  bool jsonDiagnostics = false;
  bool roundTrip = false;
  bool explain = false;
  /// What is written of the predicted times: "table", "json" or "trace"; not
  /// predicted if empty.
  std::string predict;
  /// Options that MLIR itself reads, `--mlir-...`.
  std::vector<std::string> mlirArgs;

  /// Whether a schedule may have to be searched for although none is named:
  /// something is made for GPUs, or their schedule is asked for. Headers are
  /// the same without one. Searches with a topology would take long, and what
  /// they find would depend on the time.
  bool searchesUnnamed() const {
    return schedule.empty() && topology.empty() && emit != "header" &&
           (emit == "schedule" ? searchTarget : target).isGpu();
  }
  /// Whether a schedule may have to be searched for.
  bool searchesSchedule() const {
    return schedule == "auto" || schedule.ends_with("+auto") ||
           searchesUnnamed();
  }
  /// What the schedule that is applied is called.
  const std::string &nameOfSchedule() const {
    return schedule.empty() ? unnamedSchedule : schedule;
  }
  /// Whether the kernels for GPUs are written, as text or compiled.
  bool emitsKernels() const {
    return emit == "kernels" || emit == "cuda" || emit == "ptx" ||
           emit == "cubin";
  }
  /// Whether something is made of the plans of all ranks.
  bool emitsCode() const {
    return emit == "package" || emit == "lib" || emit == "header" ||
           emitsKernels();
  }
};

/// Reads the command line. If the tool is to end at once, the result is its
/// exit code: after `--help` or `--version`, which is printed, or after a
/// mistake, of which `mistake` then says what is wrong. `jsonDiagnostics` is
/// always set.
std::optional<int> parseOptions(int argc, char **argv, Options &options,
                                std::string &mistake);

} // namespace ccn

#endif // CCN_TOOLS_CCCOMPILE_OPTIONS_H
