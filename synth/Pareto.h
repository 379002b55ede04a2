//===- Pareto.h - The frontier of latency against bandwidth -----*- C++ -*-===//
//
// For each number of steps the schedule with the least rounds a chunk, and
// what is proved about it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_PARETO_H
#define CCN_SYNTH_PARETO_H

#include "synth/Solve.h"
#include "synth/StepProof.h"

#include <functional>
#include <vector>

namespace ccn::synth {

/// A lower bound on R/C in a number of steps, whatever C.
struct RateBound {
  /// 0/1 where nothing is known.
  Fraction rate;
  /// The step cuts and their weights, or what else proves it; one line each.
  std::vector<std::string> why;
  /// The cuts with whole weights, if they prove it; none where a solver's word
  /// is all there is.
  std::vector<TimedCut> cuts;
};

/// The least R/C that step cuts allow in `steps` steps: a linear program over
/// the rounds, its cuts found one by one by maximum flow. The bound is exact:
/// the dual weights are made fractions and verified in whole numbers. For
/// point-to-point collectives the fractional multicommodity flow decides
/// instead (its bound is only returned once Z3 has proved it).
RateBound rateBound(const Fabric &fabric, const Collective &collective,
                    int steps, const Limits &limits);

enum class Proof {
  Optimal,    ///< no schedule in as many steps has a smaller R/C, by cuts
  BySolver,   ///< the same, but a solver alone says so
  UpToChunks, ///< none with at most the chunks tried has
  Open,       ///< some were not decided in time
};
std::string_view proofName(Proof proof);

struct ParetoPoint {
  int chunks = 0, steps = 0, rounds = 0;
  Proof proof = Proof::Open;
  std::string method;
  /// The rate bound's numbers for this many steps.
  Fraction lowerBound;
  Schedule schedule;
  Fraction rate() const { return Fraction(rounds, chunks); }
};

struct ParetoOptions {
  /// With a bound of conflicts, some schedule is found first and then those
  /// that would be better are tried, only so many: the search ends soon, and
  /// the best that was found counts.
  SolveOptions solve;
  int maxChunks = 0; ///< 0: 8 a rank's share, 48 of a buffer, where few ranks
                     ///< add as many as there are ranks
  int minSteps = 0;  ///< fewer are not searched
  int granule = 0;   ///< chunks in multiples of it; 0: of what they need
  int maxSteps = 0;  ///< 0: until bandwidth-optimal, at most 12 more than least
  double secondsPerTry = 20;
  /// Called for each point found, and with a text when work moves on.
  std::function<void(const ParetoPoint &)> onPoint;
  /// Points of an earlier run; their steps are not searched again.
  std::vector<ParetoPoint> known;
};

struct ParetoResult {
  std::vector<ParetoPoint> points;
  /// Whether the last point reaches the bound of the cuts, beyond which no
  /// number of steps helps.
  bool reachesBandwidthBound = false;
  Fraction bandwidthBound;
  bool outOfTime = false;
  /// Numbers of steps for which not all was tried, for want of time.
  std::vector<int> open;
};

/// The frontier, by rising steps and falling R/C.
Result<ParetoResult>
paretoFrontier(const Fabric &fabric,
               const std::function<Result<Collective>(int chunks)> &collective,
               const ParetoOptions &options);

std::string paretoTable(const ParetoResult &result, const Fabric &fabric);
std::string paretoJson(const ParetoResult &result, const Fabric &fabric);
/// Reads what paretoJson wrote; every schedule is checked again.
Result<std::vector<ParetoPoint>>
parsePareto(std::string_view text, std::string_view where, Fabric &fabric);
/// Predicted time against size, one line a point, as an SVG drawing.
Result<std::string> paretoSvg(const ParetoResult &result, const Fabric &fabric);

} // namespace ccn::synth

#endif // CCN_SYNTH_PARETO_H
