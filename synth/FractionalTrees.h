//===- FractionalTrees.h - Trees weighted by a linear program ---*- C++ -*-===//
//
// The best throughput of trees on any machine, CPUs that add included: a linear
// program weights trees, and its prices of links say which tree to add next
// (column generation). For all_reduce each part of the buffer has a tree to
// some root and one away from it, of any shapes, which together load the links
// more evenly than a reduce_scatter and an all_gather.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_FRACTIONALTREES_H
#define CCN_SYNTH_FRACTIONALTREES_H

#include "synth/Forest.h"

namespace ccn::synth {

/// What some part of a rank's data, or of the buffer, is sent along.
struct WeightedTree {
  /// The host that the edges `in` lead to (all_reduce only, from the leaves)
  /// and `out` away from.
  int root = 0;
  std::vector<TreeEdge> in, out;
  double weight = 0;
};

struct FractionalTrees {
  /// For all_gather and reduce_scatter by rank, else of the whole buffer; the
  /// weights of each list add up to 1.
  std::vector<std::vector<WeightedTree>> trees;
  /// Rounds for one chunk a rank (all_gather) or of the buffer; with all trees
  /// that there are, none needs fewer than `leastRounds`.
  double rounds = 0, leastRounds = 0;
  /// No all_reduce of one chunk takes fewer, whatever it does, which prices of
  /// the links prove (see Certificate.h).
  double sumRounds = 0;
  std::vector<int64_t> sumPrices;
};

/// What prices of links prove: rounds that any all_reduce of one chunk takes.
double leastSumRounds(const Fabric &fabric, const std::vector<double> &prices);

/// The roots of the trees that make a collective, in the order of their lists:
/// all ranks for an all_gather, else `root`.
std::vector<int> rootsOf(CollectiveKind kind, int ranks, int root);

/// Trees for all_gather, reduce_scatter, broadcast, reduce or all_reduce, as
/// good as is found within the limits, or within `gap` of the best. Those of
/// reduce_scatter and reduce are of the reversed machine. Links much slower
/// than the fastest out of a rank are used in part only: sends that wait for
/// each other cannot fill all links, and slow ones matter least.
Result<FractionalTrees> fractionalTrees(const Fabric &fabric,
                                        CollectiveKind kind, int root,
                                        double gap, double slowPart,
                                        const Limits &limits);

/// A schedule by such trees, with so many chunks a rank (all_gather and
/// reduce_scatter) or in all; ways that the fabric lacks are added to it.
Result<Schedule> scheduleOfTrees(const FractionalTrees &trees, Fabric &fabric,
                                 CollectiveKind kind, int root, int chunks);

} // namespace ccn::synth

#endif // CCN_SYNTH_FRACTIONALTREES_H
