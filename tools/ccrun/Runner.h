//===- Runner.h - Runs the plans of a package -------------------*- C++ -*-===//
//
// What one call of ccrun does with one package that it has read: its plan and
// those to compare with, or its variants to be timed.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_RUNNER_H
#define CCN_TOOLS_CCRUN_RUNNER_H

#include "runtime/base/Environment.h"
#include "runtime/launch/Bootstrap.h"
#include "runtime/tensor/ProgramArrays.h"
#include "tools/ccrun/Options.h"
#include "tools/ccrun/Ranks.h"
#include "tools/ccrun/RunNeeds.h"

#include <algorithm>
#include <map>

namespace ccn {

/// Exit codes.
constexpr int Done = 0, WrongUsage = 2, RunFailed = 4;

/// The rank as which this process was launched, if it was.
const Result<std::optional<runtime::RankLaunch>> &ownLaunch();

/// Says why ccrun fails, and returns the code.
int fail(int code, const std::string &why);

/// What the package's program takes and gives as arrays.
runtime::ProgramArrays arraysOf(const runtime::Package &package);

/// Whether the package is one that this machine can run, on its CPU if that is
/// to be.
Status checkHere(const runtime::Package &package, bool onCpu);

/// Given arguments, by name.
using Inputs = std::map<std::string, runtime::HostTensor>;

class Runner {
public:
  /// Ranks that were launched choose a variant of the package together, unless
  /// the options do.
  Runner(const RunnerOptions &options, runtime::Package &package,
         const runtime::Environment &environment, bool onGpus)
      : options(options), package(package), environment(environment),
        onGpus(onGpus) {}

  int run();

  /// Whether there is enough memory for what the options ask, or for timing
  /// `timedRuns` runs; takes none of it. This process already holds `held`
  /// bytes. If ranks were launched, their team checks this instead.
  Status checkMemory(std::optional<int> timedRuns = std::nullopt,
                     int64_t held = 0) const;

  /// The median time, in seconds, of `runs` runs of variant `variant`, which
  /// the package runs now. All variants that are timed by this have the same
  /// arguments.
  Result<double> time(size_t variant, int runs, const Inputs &inputs);

private:
  /// Runs a plan of the package; `memory` has its results afterwards. If the
  /// arguments there are already this plan's, it runs on them.
  Status runPlan(const runtime::Plan &plan, RunTask task, const Inputs &inputs,
                 std::unique_ptr<RunMemory> &memory);
  /// Runs the plans to compare with in the same way.
  Status runOthers(const Inputs &inputs);
  /// Fills `memory` with what ranks start with.
  Status setArguments(RunMemory &memory, const Inputs &inputs);
  /// If ranks were launched: runs this one. Rank 0 goes on with the results;
  /// the others end with the exit code.
  std::optional<int> runInTeam(const RunTask &task,
                               runtime::ProgramArrays &arrays);
  /// What the plan that a team will run may take of its memory.
  Result<int64_t> planBytes() const;
  /// Makes the variant that the team has chosen the one that is run.
  Status takeVariant();
  /// The task of ranks for timing `runs` runs.
  RunTask timedTask(int runs) const;
  /// Runs what is to be run; an exit code if nothing is left to do.
  std::optional<int> runPlans(const RunTask &task,
                              runtime::ProgramArrays &arrays);
  /// What is to be run, with what has to be compared.
  RunTask task() const;
  Result<MemoryNeeds> needs(const RunTask &task, std::optional<int> only) const;
  /// Prints and writes the results.
  int report(runtime::ProgramArrays &arrays);
  /// Compares the results with those of the reference plan.
  int check();
  /// What results are compared with: the program without its schedule, on the
  /// CPU; of a GPU's if there is no schedule, the same plan.
  const runtime::Plan &referencePlan() const {
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
        [](const runtime::Argument &argument) {
          return argument.kind != runtime::ArgumentKind::Result;
        }));
  }
  bool isOutput(const runtime::Argument &argument) const {
    return argument.kind != runtime::ArgumentKind::Input;
  }

  RunnerOptions options;
  runtime::Package &package;
  const runtime::Environment &environment;
  bool onGpus;
  /// The team, if ranks were launched.
  std::unique_ptr<runtime::Team> team;
  /// The memory of the plan's run and, if they are run too, of the reference
  /// plan's and of the plan's that bounds its errors.
  std::unique_ptr<RunMemory> memory, reference, bounds;
};

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_RUNNER_H
