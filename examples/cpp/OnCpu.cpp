//===- OnCpu.cpp - A rank on the CPU --------------------------------------===//
//
// The program runs on the rank's vectors.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

ccn_status trainOnCpu(ccn_team *team, const ccn_program *program,
                      const Training &training, RankState &state) {
  adam_executor *executor = nullptr;
  ccn_status status =
      adam_create(team, program, state.rank, CCN_ANY_DEVICE, &executor);
  for (int step = 1; step <= training.steps && status == CCN_OK; ++step) {
    state.differentiate(step);
    status = adam_run(executor, state.g.data(), state.p.data(),
                      state.mom.data(), state.var.data(), training.learningRate,
                      static_cast<float>(step), nullptr);
  }
  (void)adam_release(executor);
  return status;
}
