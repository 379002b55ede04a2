//===- Training.h - What the ranks train ------------------------*- C++ -*-===//
//
// Gradients that are made up, and Adam in plain loops over all parameters.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_EXAMPLES_CPP_TRAINING_H
#define CCN_EXAMPLES_CPP_TRAINING_H

#include "adam.h"

#include <ccn.hpp>
#include <string>
#include <vector>

/// What a rank holds in host memory: the gradient of its own data, all
/// parameters, and its slices of the optimizer's state.
struct RankState {
  RankState(const ccn::Program &program, int rank);

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
using Train = void(ccn::Rank &rank, const ccn::Program &program,
                   const Training &training, RankState &state);
Train trainOnCpu, trainOnGpu;

/// How a rank's state differs from what plain loops compute; empty if only by
/// rounding.
std::string compare(const ccn::Program &program, const Training &training,
                    const RankState &state);

#endif // CCN_EXAMPLES_CPP_TRAINING_H
