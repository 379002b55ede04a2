//===- main.cpp - Trains with a compiled program --------------------------===//
//
//   adam-example [--gpu] [--launched] [--steps N]
//
// Runs steps of examples/adam.ccn, whose functions are in "adam.h", on buffers
// of its own, and compares with plain loops. Ranks are threads; with --launched
// this process is one of those that mpirun or torchrun has started. Exit codes:
// 0 the result is right; 1 it is not; 2 usage; 4 something failed.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>

namespace {

struct Options {
  bool onGpu = false, isLaunched = false;
  Training training;
};

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--gpu")
      options.onGpu = true;
    else if (word == "--launched")
      options.isLaunched = true;
    else if (word == "--steps" && i + 1 < argc)
      options.training.steps = std::atoi(argv[++i]);
    else
      return false;
  }
  return options.training.steps > 0;
}

int fail(const char *what, const char *why) {
  std::fprintf(stderr, "adam-example: %s: %s\n", what, why);
  return 4;
}

/// What a rank's thread does: an exit code.
int runRank(const Options &options, ccn_team *team, const ccn_program *program,
            int rank) {
  std::string why, difference;
  try {
    RankState state(program, rank);
    (options.onGpu ? trainOnGpu : trainOnCpu)(team, program, options.training,
                                              state);
    difference = compare(program, options.training, state);
  } catch (const std::exception &failure) {
    why = failure.what();
    // So that the other ranks do not wait for this one.
    (void)ccn_team_fail(team, rank, failure.what());
  }
  if (ccn_team_leave(team, rank) != CCN_OK && why.empty())
    why = ccn_last_error();
  std::string rankName = "rank " + std::to_string(rank);
  if (!why.empty())
    return fail(rankName.c_str(), why.c_str());
  if (!difference.empty())
    std::fprintf(stderr, "adam-example: %s: %s\n", rankName.c_str(),
                 difference.c_str());
  return difference.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs("usage: adam-example [--gpu] [--launched] [--steps N]\n",
               stderr);
    return 2;
  }

  ccn_program *program = nullptr;
  if (adam_load(options.onGpu ? CCN_TARGET_GPU : CCN_TARGET_CPU, &program))
    return fail("the program", ccn_last_error());
  ccn_team *team = nullptr;
  auto *makeTeam = options.isLaunched ? ccn_team_join : ccn_team_create;
  if (makeTeam(&program, 1, /*time_limit=*/0, &team))
    return fail("the team", ccn_last_error());

  int rank = 0, code = 0;
  (void)ccn_team_describe(team, nullptr, &rank);
  if (options.isLaunched) {
    code = runRank(options, team, program, rank);
  } else {
    std::vector<std::thread> threads;
    std::vector<int> codes(adam_ranks);
    for (int i = 0; i < adam_ranks; ++i)
      threads.emplace_back(
          [&, i] { codes[i] = runRank(options, team, program, i); });
    for (std::thread &thread : threads)
      thread.join();
    for (int each : codes)
      code = each ? each : code;
  }
  ccn_team_release(team);
  ccn_program_release(program);
  if (code == 0 && rank <= 0)
    std::printf("adam: %d ranks, %d steps: right\n", adam_ranks,
                options.training.steps);
  return code;
}
