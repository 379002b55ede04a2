//===- BreadthFirst.h - Every chunk by the shortest ways --------*- C++ -*-===//
//
// Schedules in as many steps as the machine is wide: in step t each rank
// receives the chunks of all sources at distance t, and a flow balances from
// which of its neighbours (Zhao et al., "Efficient Direct-Connect Topologies
// for Collective Communications", BFB). On regular machines (tori, hypercubes,
// circulants) they have the least steps and the least rounds at once, and
// hundreds of ranks take seconds.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_BREADTHFIRST_H
#define CCN_SYNTH_BREADTHFIRST_H

#include "synth/Schedule.h"

#include <vector>

namespace ccn::synth {

/// What breadth-first schedules of some sources need on a machine where ranks
/// are joined by links of their own, without switches or CPUs.
class BreadthFirst {
public:
  /// All ranks need all chunks of `sources`, which have equally many. Fails
  /// where links are shared or a rank cannot be reached, or with "out of time".
  static Result<BreadthFirst>
  make(const Fabric &fabric, std::vector<int> sources, const Limits &limits);

  int steps() const { return static_cast<int>(rates.size()); }
  /// Rounds of each step for one chunk a source, in fractions.
  const std::vector<Fraction> &roundsPerChunk() const { return rates; }
  /// The least rounds of all steps together for `chunks` chunks a source.
  int64_t rounds(int chunks) const;
  /// The fewest chunks a source, up to `most`, that need the fewest rounds
  /// each.
  int bestChunks(int most) const;

  /// The schedule of a collective whose chunks have one source each, one of
  /// `sources`, and all ranks as destinations. Where it is to have more than
  /// steps(), those of the most rounds are split, at most until all have one
  /// round. Fails with "out of time".
  Result<Schedule> schedule(const Collective &collective, const Limits &limits,
                            int wantedSteps = 0) const;

private:
  explicit BreadthFirst(const Fabric &fabric) : fabric(fabric) {}
  Fraction worstRate(int rank, int step) const;
  std::pair<Step, Step> split(const Step &step) const;
  /// The sources at distance `step` from a rank, by index, and the edges into
  /// the rank by which each of them may come.
  struct Arrivals {
    std::vector<int> sources;
    std::vector<int> edges;
    /// Pairs of a source and an edge, as indices of the lists above.
    std::vector<std::pair<int, int>> ways;
  };
  Arrivals arrivals(int rank, int step) const;

  const Fabric &fabric;
  std::vector<int> sources;
  /// By source index and rank.
  std::vector<std::vector<int>> distance;
  /// Chunks a round of each edge.
  std::vector<int> cap;
  std::vector<Fraction> rates;
};

/// The sources of a copying collective for which BreadthFirst makes schedules:
/// empty where a chunk has several sources or does not go to all ranks, or
/// sources have different numbers of chunks.
std::vector<int> breadthFirstSources(const Collective &collective);

/// all_gather, reduce_scatter (turned round), all_reduce (both), broadcast from
/// or reduce to rank `root` with `chunks` chunks a source (0: bestChunks up to
/// 64).
/// Fails as BreadthFirst::make does, or where the kind is another.
Result<Schedule> breadthFirstSchedule(const Fabric &fabric, CollectiveKind kind,
                                      int root, int chunks,
                                      const Limits &limits);

} // namespace ccn::synth

#endif // CCN_SYNTH_BREADTHFIRST_H
