//===- LoopTurns.h - In what turns a team takes a row -----------*- C++ -*-===//
//
// Each thread of a team takes a vector of a row in each turn. What several
// turns take of memory may come at once, as far as there are registers for it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_LOOPTURNS_H
#define CCN_CODEGEN_GPU_MAP_LOOPTURNS_H

#include "codegen/gpu/map/LoopPlan.h"
#include "codegen/gpu/map/RowTeams.h"

namespace ccn::codegen {

/// Of a loop that is settled.
struct LoopTurns {
  LoopTurns(const LoopPlan &loop, Team team);

  /// Whether what each thread takes of memory can come at once, before other
  /// loops.
  bool canFetch(const LoopPlan &loop) const {
    return loop.takesParts() && turns > 0 && atOnce == turns;
  }

  /// Of what is shared out: the vectors, and how many of them a thread takes
  /// one after the other.
  int64_t lanes, vectors, turns;
  /// Whether each turn is written for itself, with a number.
  bool areNumbered;
  /// Of how many numbered turns what a thread takes of memory comes at once; 0
  /// if there is nothing.
  int64_t atOnce = 0;
  /// Likewise of turns without numbers.
  int64_t ofStep = 0;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LOOPTURNS_H
