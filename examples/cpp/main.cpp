//===- main.cpp - Trains with a compiled program --------------------------===//
//
//   adam-example [--gpu] [--launched] [--steps N]
//
// Runs steps of examples/adam.ccn, which is linked here, on buffers of its own,
// and compares with plain loops. Ranks are threads; with --launched this
// process is one of those that mpirun or torchrun has started. Exit codes: 0
// the result is right; 1 it is not; 2 usage; 4 something failed.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

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

/// Trains on all ranks of this process: an exit code.
int train(const Options &options) {
  ccn::Program program = ccn::Program::load(
      adam_load, options.onGpu ? CCN_TARGET_GPU : CCN_TARGET_CPU);
  ccn::Team team = options.isLaunched ? ccn::Team::join({program})
                                      : ccn::Team::create({program});
  std::atomic<bool> isRight = true;
  team.run([&](ccn::Rank &rank) {
    RankState state(program, rank.index());
    (options.onGpu ? trainOnGpu : trainOnCpu)(rank, program, options.training,
                                              state);
    std::string difference = compare(program, options.training, state);
    if (difference.empty())
      return;
    isRight = false;
    std::fprintf(stderr, "adam-example: rank %d: %s\n", rank.index(),
                 difference.c_str());
  });
  if (isRight && team.ownRank() <= 0)
    std::printf("adam: %d ranks, %d steps: right\n", adam_ranks,
                options.training.steps);
  return isRight ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs("usage: adam-example [--gpu] [--launched] [--steps N]\n",
               stderr);
    return 2;
  }
  try {
    return train(options);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "adam-example: %s\n", failure.what());
    return 4;
  }
}
