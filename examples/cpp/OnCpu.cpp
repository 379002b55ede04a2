//===- OnCpu.cpp - A rank on the CPU --------------------------------------===//
//
// The program runs on the rank's vectors.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

void trainOnCpu(ccn::Rank &rank, const ccn::Program &program,
                const Training &training, RankState &state) {
  ccn::Executor executor = rank.makeExecutor(program);
  for (int step = 1; step <= training.steps; ++step) {
    state.differentiate(step);
    executor.run({state.g, state.p, state.mom, state.var, training.learningRate,
                  static_cast<float>(step)});
  }
}
