//===- Forest.h - Optimal throughput by packing trees -----------*- C++ -*-===//
//
// Spanning out-trees, equally many from every rank, that together use the
// links of a machine as well as any all_gather can (ForestColl). They make
// all_gather, and reversed reduce_scatter, and both all_reduce, at the
// throughput that the cuts allow, in polynomial time.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_FOREST_H
#define CCN_SYNTH_FOREST_H

#include "synth/Bound.h"
#include "synth/Schedule.h"

#include <climits>
#include <optional>
#include <vector>

namespace ccn::synth {

/// One edge of a tree: from rank to rank, over physical links.
struct TreeEdge {
  int src = 0, dst = 0;
  std::vector<int> path;
};

/// `multiplicity` equal trees from one root; edges from the root outwards.
struct PackedTree {
  int root = 0;
  int64_t multiplicity = 1;
  std::vector<TreeEdge> edges;
};

struct Forest {
  /// Trees of each root, counted with multiplicity. Roots are all ranks, or for
  /// a broadcast one.
  int64_t treesPerRank = 0;
  /// What bounds the throughput; every rank's data is split over its trees.
  RoundBound bound;
  std::vector<PackedTree> trees;
  /// GB/s of gathered bytes: roots * unit / roundsPerChunk.
  double algbwGBps = 0;
};

/// What each link may carry in a round, in `scale`-ths of a chunk.
struct LinkParts {
  int scale = 1;
  std::vector<int> capacity;
  /// Rounds for one chunk a rank, in floating point; no schedule needs fewer.
  double rounds = 0;
};

/// Parts of the links' capacities that respect edge sets and bring as much into
/// every switch as out of it, without loss for all_gather or, if there is a
/// root, for a broadcast from it.
Result<LinkParts> linkParts(const Fabric &fabric, const Limits &limits,
                            std::optional<int> root = std::nullopt);

/// Packs the trees. Switches, NICs and CPUs are removed by edge splitting;
/// trees grow by Edmonds' theorem in the form of Bérczi and Frank, one maximum
/// flow an edge. Where links share capacities (edge sets) or a switch has more
/// capacity on one side, each link is used up to its part (linkParts). Fails
/// on unreachable ranks, or (with the text "out of time") when the limits
/// expire. With a root all trees grow from it, for a broadcast.
Result<Forest> packTrees(const Fabric &fabric, const Limits &limits,
                         std::optional<int> root = std::nullopt);

/// Proves that the forest is what it says: every tree spans all ranks and
/// grows from its root, every rank has as many, no link is used beyond its
/// share of the optimal time. Empty, or what is wrong.
std::string checkForest(const Forest &forest, const Fabric &fabric,
                        std::optional<int> root = std::nullopt);

/// The forest as a schedule of all_gather or broadcast, every tree's data in
/// `pieces` chunks that follow each other for pipelining. A step is as deep in
/// the trees (plus the piece's place in line); its rounds are what its links
/// need. Ways that trees take and the fabric lacks, being longer than the
/// shortest, are added to it. What passes a CPU is stored there on its way.
Result<Schedule> forestSchedule(const Forest &forest, Fabric &fabric,
                                int pieces,
                                std::optional<int> root = std::nullopt);

/// all_gather, broadcast, reduce_scatter or reduce (from the reversed
/// topology's forest), or all_reduce (reduce_scatter and all_gather, one after
/// the other for each chunk) at optimal throughput.
/// `forests` receives what was packed. Adds ways to the fabric as above. A rank
/// has no more than `maxChunks` chunks: fewer pieces where they would be more,
/// and a failure where the trees are.
Result<Schedule> treeSchedule(Fabric &fabric, CollectiveKind kind, int pieces,
                              const Limits &limits,
                              std::vector<Forest> *forests = nullptr,
                              int maxChunks = INT_MAX, int root = 0);

/// Adds the ways that were added to the reversed fabric.
void addWaysOf(const Fabric &back, Fabric &fabric);

/// The error where a rank has more trees than it may have chunks.
Status tooManyTrees(int64_t trees, int maxChunks);

} // namespace ccn::synth

#endif // CCN_SYNTH_FOREST_H
