//===- FlowSchedule.h - Point-to-point schedules at scale -------*- C++ -*-===//
//
// all_to_all, all_to_allv and other collectives of chunks with one source and
// one destination, on machines too large for integer programs: the optimal
// throughput by a linear program (multicommodity flow, reduced by what is
// alike), then whole chunks on the flow's ways, in steps.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_FLOWSCHEDULE_H
#define CCN_SYNTH_FLOWSCHEDULE_H

#include "synth/Schedule.h"

#include <functional>

namespace ccn::synth {

struct FlowOptions {
  /// Chunks for one of the smallest collective; 0: as few as make the flow
  /// whole and lose at most 2 % in rounds, but no more than 16, or 128 while
  /// all chunks together are fewer than 60,000.
  int multiplier = 0;
  /// How many steps to aim at; 0: what needs the fewest rounds.
  int steps = 0;
  Limits limits;
};

struct FlowScheduleResult {
  Schedule schedule;
  /// Least rounds of the collective of multiplier 1, in fractions: no schedule
  /// needs less (lengths of the links prove it, in whole numbers), and what
  /// the linear program found, in floating point.
  Fraction bound;
  /// Those lengths: of the links, then of the edge sets.
  std::vector<int64_t> lengths;
  double optimum = 0;
  int multiplier = 1;
  /// Whether the chunks follow the optimal flow without rounding.
  bool whole = true;
  /// Columns of the linear program.
  size_t columns = 0;
};

/// `collectiveOf(k)` is the collective with k times the chunks. Every link
/// carries what the optimal flow gives it, up to the rounding of chunks. Ways
/// that the flow takes and the fabric lacks, being longer than the shortest,
/// are added to it.
Result<FlowScheduleResult>
flowSchedule(Fabric &fabric,
             const std::function<Result<Collective>(int)> &collectiveOf,
             const FlowOptions &options);

} // namespace ccn::synth

#endif // CCN_SYNTH_FLOWSCHEDULE_H
