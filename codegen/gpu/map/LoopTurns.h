//===- LoopTurns.h - The turns of a team in a row ---------------*- C++ -*-===//
//
// In each turn, each thread of a team takes one vector of a row. The loads of
// several turns may be in flight at once if there are enough registers.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_LOOPTURNS_H
#define CCN_CODEGEN_GPU_MAP_LOOPTURNS_H

#include "codegen/gpu/map/LoopPlan.h"
#include "codegen/gpu/map/RowTeams.h"

namespace ccn::codegen {

/// The loop must be settled.
struct LoopTurns {
  LoopTurns(const LoopPlan &loop, Team team);

  /// Whether all loads of a thread can be done at once, before earlier loops.
  bool canFetch(const LoopPlan &loop) const {
    return loop.takesParts() && turns > 0 && atOnce == turns;
  }

  /// The threads of the team, the vectors of a row, and the turns of a thread.
  int64_t lanes, vectors, turns;
  /// Whether the turns are unrolled, each with a constant number.
  bool areNumbered;
  /// The number of numbered turns whose loads are in flight at once; 0 if
  /// nothing is loaded.
  int64_t atOnce = 0;
  /// The same for turns without numbers.
  int64_t ofStep = 0;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LOOPTURNS_H
