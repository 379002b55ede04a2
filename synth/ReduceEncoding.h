//===- ReduceEncoding.h - all_reduce as a Boolean model ---------*- C++ -*-===//
//
// Two encodings of a sum that several ranks need, neither of them a
// composition. Trees: the contributions of a chunk run up a tree to a root, or
// to two neighbours that exchange what they have, and the sum runs down
// another. Parts: every send names which partial sums of its sender it adds
// up, so that any schedule at all can be said (it may need scratch memory).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_REDUCEENCODING_H
#define CCN_SYNTH_REDUCEENCODING_H

#include "synth/Sat.h"
#include "synth/Schedule.h"
#include "synth/Symmetry.h"

namespace ccn::synth {

/// A permutation of the chunks for each element of a group.
using ChunkAction = std::vector<std::vector<int>>;

/// How a group moves `chunks` chunks that are all alike: orbits as large as
/// possible, each the cosets of a cyclic subgroup. Empty where the sizes of
/// orbits do not add up.
ChunkAction alikeAction(const Group &group, int chunks);

/// What both encodings are made for. References must outlive the encoding;
/// every chunk's sum is needed by all its contributors, the same for all.
struct ReduceProblem {
  const Fabric &fabric;
  const Collective &collective;
  const std::vector<int> &rounds;
  const Group &group;
  const ChunkAction &action;
};

/// Common to both: orbits of (chunk, edge) and capacities.
class ReduceEncoding {
public:
  explicit ReduceEncoding(const ReduceProblem &problem);
  virtual ~ReduceEncoding() = default;
  const Model &model() const { return m; }
  virtual Schedule decode(const std::vector<char> &values) const = 0;

protected:
  size_t slot(int chunk, int edge) const {
    return static_cast<size_t>(chunk) * edges + edge;
  }
  bool isContributor(int host) const { return contributor[host] != 0; }
  /// Adds, for each edge set and step, the capacity over the literals that
  /// `literals(chunk, edge, step)` appends; `full` makes them exact.
  template <typename F> void addCapacities(F literals, bool full);
  Schedule emptySchedule() const;

  const ReduceProblem p;
  int chunks, edges, hosts, steps;
  Model m;
  std::vector<char> contributor;
  /// The group element that takes a chunk to the first of its orbit.
  std::vector<int> toFirst, first;
};

class TreeEncoding : public ReduceEncoding {
public:
  /// With `spreadRoots`, the ranks are the roots of equally many chunks each,
  /// which leaves far less to search; canSpread() says whether they can be.
  TreeEncoding(const ReduceProblem &problem, bool spreadRoots);
  static bool canSpread(const ReduceProblem &problem);
  Schedule decode(const std::vector<char> &values) const override;
  /// From now on the chunk's sum is not formed by the trees of `values`.
  void forbidSum(int chunk, const std::vector<char> &values);

private:
  struct Vars {
    /// By edge and step (from 0): partial sums up, sums down, exchanges.
    std::vector<std::vector<int>> up, down, exchange;
  };
  /// What is known of each host while a chunk is reduced.
  struct Sums {
    /// By host and step (0: before any): it has given its partial sum away;
    /// it has the whole sum.
    std::vector<std::vector<int>> left, full;
    std::vector<int> root;
  };
  /// `onlyRoot` -1: any root, or an exchange.
  void addChunk(int chunk, int onlyRoot);
  /// Variables of the events that can be; 0 stands for those that cannot. The
  /// exchanges among them.
  std::vector<int> addEvents(Vars &v, int onlyRoot);
  /// A host gives its partial sum away once, or is the root.
  void addFate(const Vars &v, const Sums &sums, int host);
  /// Which events change what is known of a host, and which need it.
  void addSteps(const Vars &v, const Sums &sums, int host);
  /// A host that contributes nothing passes on only what it has received.
  void addHelper(const Vars &v, int host);
  int find(const std::vector<std::vector<int>> Vars::*what, int chunk, int edge,
           int step) const;

  std::vector<int> reverseEdge;
  std::vector<std::vector<int>> distance;
  std::vector<Vars> vars;
};

class PartsEncoding : public ReduceEncoding {
public:
  /// With `everySlot`, a chunk may cross an edge as several partial sums in
  /// one step, as many as the edge carries, so that "none" is a proof;
  /// without, as one.
  PartsEncoding(const ReduceProblem &problem, bool everySlot);
  Schedule decode(const std::vector<char> &values) const override;
  /// Bounds the number of sends of the (only) chunk; for counting arguments.
  void limitSends(int most);

private:
  /// A partial sum: which contributions it can hold, by literals (0: not).
  struct Part {
    int present = 0;
    std::vector<int> holds;
  };
  struct Vars {
    /// By edge, step and slot.
    std::vector<std::vector<std::vector<Part>>> sent;
  };
  void addChunk(int chunk);
  Part combine(const std::vector<Part> &parts, int present, bool needAll);

  bool everySlot;
  std::vector<int> edgeCap;
  std::vector<Vars> vars;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_REDUCEENCODING_H
