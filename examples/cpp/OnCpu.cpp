//===- OnCpu.cpp - A rank on the CPU --------------------------------------===//
//
// The program runs on the rank's vectors.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

void trainOnCpu(ccn_team *team, const ccn_program *program,
                const Training &training, RankState &state) {
  Executor executor(team, program, state.rank);
  for (int step = 1; step <= training.steps; ++step) {
    state.differentiate(step);
    check(adam_run(executor.get(), state.g.data(), state.p.data(),
                   state.mom.data(), state.var.data(), training.learningRate,
                   static_cast<float>(step), nullptr));
  }
}
