//===- Collective.h - What a collective must achieve ------------*- C++ -*-===//
//
// A collective as a relation: which ranks hold (or contribute to) each chunk
// at the start, and which must hold it at the end.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_COLLECTIVE_H
#define CCN_SYNTH_COLLECTIVE_H

#include "synth/Support.h"

#include <string>
#include <string_view>
#include <vector>

namespace ccn::synth {

enum class CollectiveKind {
  AllGather,
  ReduceScatter,
  AllReduce,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  AllToAll,
  AllToAllV,
  Custom,
};

std::string_view kindName(CollectiveKind kind);

/// One chunk: the ranks that have it before (for a combining collective: that
/// contribute to its sum) and those that need it (the whole sum) after. Both
/// sorted. A chunk that combines nothing has any one of `pre` as its source.
struct ChunkRelation {
  std::vector<int> pre, post;
};

/// counts[p][q]: how much rank p has for rank q.
using Counts = std::vector<std::vector<int>>;

/// A collective on `ranks` ranks. `chunksPerNode` is C, what a node
/// contributes (all_gather, gather), receives (reduce_scatter, scatter), the
/// whole of its buffer (broadcast, reduce, all_reduce, all_to_all) or one of
/// its counts (all_to_allv).
struct Collective {
  CollectiveKind kind = CollectiveKind::Custom;
  std::string name;
  int ranks = 0;
  int root = 0;
  int chunksPerNode = 0;
  /// Contributions of the `pre` ranks are summed.
  bool combining = false;
  /// A buffer of B bytes, the largest that any rank holds, has chunks of
  /// B / bufferChunks bytes.
  int bufferChunks = 1;
  std::vector<ChunkRelation> chunks;
  /// all_to_allv only.
  Counts counts;

  bool rooted() const {
    return kind == CollectiveKind::Broadcast ||
           kind == CollectiveKind::Reduce || kind == CollectiveKind::Gather ||
           kind == CollectiveKind::Scatter;
  }
};

/// The kind by its name ("all_gather"; "allgather" is accepted too).
std::optional<CollectiveKind> parseCollectiveKind(std::string_view text);

/// A named collective. all_to_all needs `chunksPerNode` to be a multiple of
/// the ranks; chunk c of rank p goes to rank c * ranks / C.
Result<Collective> makeCollective(CollectiveKind kind, int ranks,
                                  int chunksPerNode, int root = 0);

/// all_to_allv: `chunksPerCount` chunks for each of counts[p][q], in the order
/// of p, then q. The counts are a square matrix of numbers of at least 0.
Result<Collective> makeAllToAllV(const Counts &counts, int chunksPerCount);

/// The collective with every chunk cut into `times` chunks.
Collective repeated(const Collective &collective, int times);

/// Reads counts: a JSON array of arrays.
Result<Counts> parseCounts(std::string_view text, std::string_view where);

/// Reads a custom relation (format in synth/README.md).
Result<Collective> parseCollective(std::string_view text,
                                   std::string_view where);
std::string writeCollective(const Collective &collective);

/// A name, or a file in our JSON format. `counts` is for all_to_allv.
Result<Collective> loadCollective(const std::string &nameOrFile, int ranks,
                                  int chunksPerNode, int root = 0,
                                  const Counts &counts = {});

/// The collective whose schedules, reversed, are schedules of this one:
/// `pre` and `post` change places (reduce_scatter and all_gather, reduce and
/// broadcast, gather and scatter). Fails where a chunk of a combining
/// collective has several destinations (all_reduce).
Result<Collective> dual(const Collective &collective);

} // namespace ccn::synth

#endif // CCN_SYNTH_COLLECTIVE_H
