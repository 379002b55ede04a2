//===- Training.h - What the ranks train ------------------------*- C++ -*-===//
//
// Gradients that are made up, and Adam in plain loops over all parameters.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_EXAMPLES_CPP_TRAINING_H
#define CCN_EXAMPLES_CPP_TRAINING_H

#include "adam.h"

#include <string>
#include <vector>

/// Throws what a call has failed with, a std::runtime_error.
void check(ccn_status status);

/// What a rank holds in host memory: the gradient of its own data, all
/// parameters, and its slices of the optimizer's state.
struct RankState {
  RankState(const ccn_program *program, int rank);

  /// Makes the gradient of a step.
  void differentiate(int step);

  int rank;
  std::vector<ccn_f16> g;
  std::vector<float> p, mom, var;
};

struct Training {
  int steps = 5;
  float learningRate = 0.125f;
};

/// What one rank does, from its executor to its last step, which leaves the
/// result in the state; throws what fails.
using Train = void(ccn_team *team, const ccn_program *program,
                   const Training &training, RankState &state);
Train trainOnCpu, trainOnGpu;

/// How a rank's state differs from what plain loops compute; empty if only by
/// rounding.
std::string compare(const ccn_program *program, const Training &training,
                    const RankState &state);

/// An executor that is released at the end.
class Executor {
public:
  /// All ranks make theirs at once.
  Executor(ccn_team *team, const ccn_program *program, int rank,
           int device = CCN_ANY_DEVICE) {
    check(adam_create(team, program, rank, device, &executor));
  }
  ~Executor() { (void)adam_release(executor); }
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  adam_executor *get() const { return executor; }
  /// For functions that all programs have.
  ccn_executor *untyped() const {
    return reinterpret_cast<ccn_executor *>(executor);
  }

private:
  adam_executor *executor = nullptr;
};

#endif // CCN_EXAMPLES_CPP_TRAINING_H
