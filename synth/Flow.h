//===- Flow.h - Flows through the steps of a schedule -----------*- C++ -*-===//
//
// The time-expanded network of a fabric (every host once before the first
// step and after each) and what flows in it decide: a filter for round
// vectors whose minimum cut is a certificate, exact schedules for scatter, and
// integer multicommodity flow for every collective whose chunks have one
// source and one destination.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_FLOW_H
#define CCN_SYNTH_FLOW_H

#include "synth/LinearProgram.h"
#include "synth/Schedule.h"
#include "synth/Symmetry.h"

#include <optional>
#include <string>
#include <vector>

namespace ccn::synth {

/// Why some rounds cannot do: `rank` needs `need` chunks from others, but only
/// `can` can arrive, by the links (and steps, from 1) of the cut.
struct StepCut {
  std::vector<int> rounds;
  int rank = 0;
  int64_t need = 0, can = 0;
  std::vector<std::pair<int, int>> links;
  /// What the cut lets through of itself, without a link.
  int64_t fixed = 0;
  /// Whether node n is on the sources' side after step t (of a switch: during
  /// it), at t * nodes + n.
  std::vector<char> inside;
  /// One line: rounds, rank, numbers, links of the cut.
  std::string str(const Fabric &fabric) const;
};

/// Whether every rank can receive what it needs, each on its own, in steps of
/// these rounds. Necessary for any schedule that copies; sound for edge sets
/// of links only (others are ignored, which keeps it necessary). `ranks`
/// limits the destinations tried (empty: all); `scale` multiplies all demands,
/// which makes `rounds` fractions.
std::optional<StepCut> findStepCut(const Fabric &fabric,
                                   const Collective &collective,
                                   const std::vector<int> &rounds,
                                   const std::vector<int> &ranks = {},
                                   int64_t scale = 1);

/// Whether each chunk has exactly one source and at most one destination.
bool isPointToPoint(const Collective &collective);

struct FlowResult {
  Answer answer = Answer::Unknown;
  Schedule schedule;
  /// For No: why, where a single flow decides.
  std::string reason;
};

/// A schedule in `steps` steps and `rounds` rounds for a point-to-point
/// collective, by integer multicommodity flow with one commodity a source; the
/// rounds of each step are variables. The relaxation is solved first (No with
/// proof, over the orbits of all automorphisms); then the integer program
/// under each group in turn, the last being the trivial one (or one that was
/// asked for). All groups map what is forbidden onto itself.
FlowResult solveFlow(const Fabric &fabric, const Collective &collective,
                     int steps, int rounds, const std::vector<Group> &groups,
                     LpSolver solver, const Limits &limits,
                     const Forbidden &forbidden = {});

/// Whether a fractional flow of the collective in `steps` steps exists with
/// fewer than `rounds` rounds in all (a step may have any fraction of one).
/// No is exact: then no schedule in these steps has a smaller R/C, whatever
/// its C.
Answer flowBelow(const Fabric &fabric, const Collective &collective, int steps,
                 int rounds, const Group &group, const Limits &limits);

/// The least such number of rounds, in floating point; negative if unknown.
double flowRate(const Fabric &fabric, const Collective &collective, int steps,
                const Group &group, const Limits &limits);

} // namespace ccn::synth

#endif // CCN_SYNTH_FLOW_H
