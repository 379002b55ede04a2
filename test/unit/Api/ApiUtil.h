//===- ApiUtil.h - Ranks that use the C API ---------------------*- C++ -*-===//
//
// Packages made by hand as programs of the C API, and threads as ranks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_API_APIUTIL_H
#define CCN_TEST_UNIT_API_APIUTIL_H

#include "ccn.h"
#include "test/unit/Package/SamplePackages.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// What a call returned, and the text if that is an error.
struct Outcome {
  ccn_status status;
  std::string text;

  /// Of a call in this thread.
  explicit Outcome(ccn_status status)
      : status(status), text(status == CCN_OK ? "" : ccn_last_error()) {}
  Outcome() : Outcome(CCN_OK) {}
};

struct ReleaseProgram {
  void operator()(ccn_program *program) const { ccn_program_release(program); }
};
struct ReleaseTeam {
  void operator()(ccn_team *team) const { ccn_team_release(team); }
};
struct ReleaseExecutor {
  void operator()(ccn_executor *executor) const;
};
using Program = std::unique_ptr<ccn_program, ReleaseProgram>;
using Team = std::unique_ptr<ccn_team, ReleaseTeam>;
using Executor = std::unique_ptr<ccn_executor, ReleaseExecutor>;

/// Loads a package from memory; a failure fails the test.
Program load(const ccn::runtime::Package &package,
             ccn_target target = CCN_TARGET_CPU);
/// A team of threads that runs these programs.
Team makeTeam(const std::vector<ccn_program *> &programs,
              double timeLimit = 30);
/// The result, of which a failure is in `outcome`.
Executor make(ccn_team *team, const ccn_program *program, int rank,
              Outcome &outcome);

/// Calls body(rank) in a thread for each rank, which then leaves the team.
void onRanks(ccn_team *team, int ranks, const std::function<void(int)> &body);

/// Arguments and results of the ranks of `average`, which starts with y = 1.
struct AverageArrays {
  AverageArrays(int ranks, int64_t count);

  /// The addresses for a rank.
  std::vector<void *> of(int rank);
  /// What y is after so many runs with `scale`.
  std::vector<float> expected(int runs) const;
  /// Whether all ranks have it, and their slices of it.
  void expectAfter(int runs, const ccn_program *program) const;

  int64_t count;
  float scale = 0.25f;
  std::vector<std::vector<float>> x, y, s;
};

#endif // CCN_TEST_UNIT_API_APIUTIL_H
