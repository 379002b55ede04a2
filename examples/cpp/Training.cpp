//===- Training.cpp - What the ranks train, and what must come out --------===//
//
// Gradients are multiples of 1/8 and small, so their sums are exact in 16 bits.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

#include <cmath>
#include <cstdlib>

namespace {

int64_t eighths(int step, int rank, size_t i) {
  return static_cast<int64_t>((i * 7 + static_cast<size_t>(rank) * 5 +
                               static_cast<size_t>(step) * 11) %
                              65) -
         32;
}

/// The bits of n/8 in IEEE binary16; n has at most 11 bits.
ccn_f16 halfOfEighths(int64_t n) {
  auto sign = static_cast<ccn_f16>(n < 0 ? 0x8000 : 0);
  if (n == 0)
    return sign;
  auto magnitude = static_cast<unsigned>(std::abs(n));
  int exponent = std::ilogb(magnitude);
  unsigned fraction = (magnitude << (10 - exponent)) & 0x3ff;
  auto biased = static_cast<unsigned>(exponent - 3 + 15);
  return static_cast<ccn_f16>(sign | biased << 10 | fraction);
}

struct Parameter {
  float p, mom = 0, var = 0;
};

float initial(size_t i) { return static_cast<float>(i % 17) / 4 - 2; }

} // namespace

RankState::RankState(const ccn::Program &program, int rank) : rank(rank) {
  auto size = [&](int argument) {
    return static_cast<size_t>(program.part(argument, rank).count);
  };
  g.resize(size(adam_argument_g));
  p.resize(size(adam_argument_p));
  mom.resize(size(adam_argument_mom));
  var.resize(size(adam_argument_var));
  for (size_t i = 0; i < p.size(); ++i)
    p[i] = initial(i);
}

void RankState::differentiate(int step) {
  for (size_t i = 0; i < g.size(); ++i)
    g[i] = halfOfEighths(eighths(step, rank, i));
}

std::string compare(const ccn::Program &program, const Training &training,
                    const RankState &state) {
  std::vector<Parameter> expected;
  for (size_t i = 0; i < state.p.size(); ++i)
    expected.push_back({initial(i)});
  for (int step = 1; step <= training.steps; ++step)
    for (size_t i = 0; i < expected.size(); ++i) {
      float g = 0;
      for (int rank = 0; rank < adam_ranks; ++rank)
        g += static_cast<float>(eighths(step, rank, i)) / 8;
      g /= static_cast<float>(adam_ranks);
      auto &[p, mom, var] = expected[i];
      mom = 0.9f * mom + 0.1f * g;
      var = 0.999f * var + 0.001f * g * g;
      auto t = static_cast<float>(step);
      float mhat = mom / (1 - std::pow(0.9f, t));
      float vhat = var / (1 - std::pow(0.999f, t));
      p -= training.learningRate * mhat / (std::sqrt(vhat) + 1e-8f);
    }

  auto differ = [&](const char *name, size_t index, float found, float wanted,
                    float absolute) {
    // Also false for NaN. The averages are rounded to 16 bits unless the ranks
    // are a power of two.
    if (std::fabs(found - wanted) <= 1e-3f * std::fabs(wanted) + absolute)
      return std::string();
    return std::string(name) + "[" + std::to_string(index) + "] is " +
           std::to_string(found) + ", expected " + std::to_string(wanted);
  };
  std::string difference;
  for (size_t i = 0; i < state.p.size() && difference.empty(); ++i)
    difference = differ("p", i, state.p[i], expected[i].p, 1e-3f);
  auto first = [&](int argument) {
    return static_cast<size_t>(program.part(argument, state.rank).offset[0]);
  };
  for (size_t i = 0; i < state.mom.size() && difference.empty(); ++i) {
    size_t index = first(adam_argument_mom) + i;
    difference = differ("mom", index, state.mom[i], expected[index].mom, 5e-4f);
  }
  for (size_t i = 0; i < state.var.size() && difference.empty(); ++i) {
    size_t index = first(adam_argument_var) + i;
    difference = differ("var", index, state.var[i], expected[index].var, 2e-5f);
  }
  return difference;
}
