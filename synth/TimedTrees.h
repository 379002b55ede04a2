//===- TimedTrees.h - Trees and their steps by a linear program -*- C++ -*-===//
//
// Trees whose branches have steps, weighted by a linear program so that some
// steps one after the other take the least time. Where data goes over several
// links at once, as through a switch, such steps lose nothing, while sends that
// start when they can wait for each other.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_TIMEDTREES_H
#define CCN_SYNTH_TIMEDTREES_H

#include "synth/Schedule.h"

namespace ccn::synth {

/// A send in a step, from 0.
struct TimedBranch {
  int edge = 0, step = 0;
  SendOp op = SendOp::Copy;
};

struct TimedTree {
  std::vector<TimedBranch> branches;
  double weight = 0;
};

struct TimedTrees {
  int steps = 0;
  /// For all_gather by rank, else of the whole buffer; the weights of each list
  /// add up to 1.
  std::vector<std::vector<TimedTree>> trees;
  /// Rounds of all steps for one chunk a rank (all_gather) or of the buffer.
  double rounds = 0;
};

/// A tree without steps: the edges away from the root and (all_reduce only)
/// those towards it, each after that of its parent in the tree.
struct TreeShape {
  std::vector<int> in, out;
};

/// Trees for all_gather, broadcast or all_reduce in so many steps, over the
/// fabric's edges: those that are found, by list some of known shapes, and, if
/// there are any, those for fewer steps. Fails where some ranks are not
/// reached.
Result<TimedTrees> timedTrees(const Fabric &fabric, CollectiveKind kind,
                              int root, int steps,
                              const std::vector<std::vector<TreeShape>> &shapes,
                              const TimedTrees *fewerSteps,
                              const Limits &limits);

/// A schedule by such trees, with at most so many chunks a rank (all_gather) or
/// in all: the fewest with which rounding the weights loses little.
Result<Schedule> scheduleOfTimedTrees(const TimedTrees &trees,
                                      const Fabric &fabric, CollectiveKind kind,
                                      int root, int maxChunks);

} // namespace ccn::synth

#endif // CCN_SYNTH_TIMEDTREES_H
