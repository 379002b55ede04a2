//===- BalancedTrees.cpp - Trees by the prices of links -------------------===//
//
// See BalancedTrees.h.
//
//===----------------------------------------------------------------------===//

#include "synth/BalancedTrees.h"
#include "synth/StepPrices.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <random>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// The exponent of the prices, by the load: what it is at first, and at most.
constexpr double steepness = 20, steepest = 120;
/// What each step of waiting adds to the cost of a send to a relay, in average
/// prices.
constexpr double relayDelay = 0.5;
constexpr int maxPasses = 40, passesInVain = 6;
/// A limit on the work, counted in prices that are read: for one number of
/// trees and steps, and in total.
constexpr int64_t someWork = 400'000'000, maxWork = 2'500'000'000;

/// Trees for all ranks of all groups, in an all_gather of some steps.
class Balancer {
public:
  /// `rate`: the bound in rounds a chunk.
  Balancer(const Fabric &fabric, const Groups &groups, bool relays,
           int treesPerRank, int steps, double rate,
           const BalancedOptions &options);

  /// False where some rank cannot be reached within its group and the steps
  /// (with `relays`: over any ranks), or time is out.
  bool run(double enough);
  /// Chunks in the order of groups, ranks and trees; `stepOf` receives the
  /// step of each hop.
  std::vector<Hop> hops(std::vector<int> &stepOf) const;
  /// The bound's part of what the steps need.
  double share() const { return bestShare; }
  int64_t work() const { return looks; }

private:
  struct Branch {
    int edge, step;
    /// The branch before it (-1: the root).
    int parent;
  };
  struct Tree {
    int group = 0, root = 0;
    std::vector<Branch> branches;
  };
  struct Choice {
    double cost = 0;
    int edge = -1, step = 0;
  };
  bool grow(Tree &tree);
  Choice cheapest(const Tree &tree, int host, int from) const;
  /// Takes branches away that lead to no rank of the tree's group.
  void prune(Tree &tree);
  bool mayHold(int host, int group) const {
    return groupOf[host] == group || (relays && host < fabric.ranks);
  }
  void change(const Branch &branch, int by) {
    prices.add(branch.edge, branch.step, by);
  }
  double shareNow() const {
    double total = prices.rounds();
    return total > 0 ? rate * treesPerRank / total : 1;
  }
  const std::vector<int> &distances(int root);

  const Fabric &fabric;
  const Groups &groups;
  const BalancedOptions &options;
  bool relays;
  int steps, treesPerRank;
  double rate;
  std::vector<std::vector<int>> setsOf;
  std::vector<int> groupOf;
  StepPrices prices;
  std::vector<Tree> trees, best;
  double bestShare = 0;
  mutable int64_t looks = 0;
  /// By root: edges from it to each rank within its group, and the most.
  std::vector<std::vector<int>> distance;
  std::vector<int> reach;
  /// Of the tree that grows.
  std::vector<char> in;
};

} // namespace

Balancer::Balancer(const Fabric &fabric, const Groups &groups, bool relays,
                   int treesPerRank, int steps, double rate,
                   const BalancedOptions &options)
    : fabric(fabric), groups(groups), options(options), relays(relays),
      steps(steps), treesPerRank(treesPerRank), rate(rate),
      setsOf(setsOfEdges(fabric)), groupOf(fabric.hosts, -1),
      prices(fabric, setsOf, rate, treesPerRank, steps), distance(fabric.hosts),
      reach(fabric.hosts) {
  for (size_t g = 0; g < groups.size(); ++g)
    for (int rank : groups[g]) {
      groupOf[rank] = static_cast<int>(g);
      for (int k = 0; k < treesPerRank; ++k)
        trees.push_back({static_cast<int>(g), rank, {}});
    }
}

const std::vector<int> &Balancer::distances(int root) {
  std::vector<int> &found = distance[root];
  if (!found.empty())
    return found;
  found.assign(fabric.hosts, -1);
  found[root] = 0;
  std::vector<int> queue = {root};
  for (size_t i = 0; i < queue.size(); ++i)
    for (int e : fabric.out[queue[i]]) {
      int y = fabric.edges[e].dst;
      if (found[y] >= 0 || !mayHold(y, groupOf[root]))
        continue;
      found[y] = found[queue[i]] + 1;
      if (groupOf[y] == groupOf[root])
        reach[root] = found[y];
      queue.push_back(y);
    }
  return found;
}

/// The cheapest send from a host that has the data from step `from` on. It is
/// early enough that the ranks farther from the root can still be reached.
Balancer::Choice Balancer::cheapest(const Tree &tree, int host,
                                    int from) const {
  Choice choice;
  const std::vector<int> &far = distance[tree.root];
  // A relay is of use only while there are steps left.
  double delay = relays ? relayDelay * prices.averagePrice() : 0;
  for (int e : fabric.out[host]) {
    int y = fabric.edges[e].dst;
    if (in[y] || !mayHold(y, tree.group))
      continue;
    int left =
        std::max(reach[tree.root] - far[y], groupOf[y] == tree.group ? 0 : 1);
    int last = steps - 1 - left;
    for (int step = from; step <= last; ++step) {
      double cost = groupOf[y] == tree.group ? 0 : delay * step;
      cost = prices.plusPrice(cost, e, step);
      if (choice.edge < 0 || cost < choice.cost)
        choice = {cost, e, step};
    }
    looks += std::max(0, last - from + 1);
  }
  return choice;
}

/// Grows a tree from its root, always by the cheapest branch. A branch from a
/// relay also bears the cost of the branches that led to the relay.
bool Balancer::grow(Tree &tree) {
  tree.branches.clear();
  distances(tree.root);
  if (reach[tree.root] > steps)
    return false;
  std::vector<int> by(fabric.hosts, -1), from(fabric.hosts);
  std::vector<double> base(fabric.hosts);
  in.assign(fabric.hosts, 0);
  in[tree.root] = 1;
  // Hosts by what their cheapest branch costs at least.
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.push({0, tree.root});
  for (size_t missing = groups[tree.group].size() - 1; missing > 0;) {
    if (queue.empty())
      return false;
    int x = queue.top().second;
    queue.pop();
    Choice choice = cheapest(tree, x, from[x]);
    if (choice.edge < 0)
      continue;
    choice.cost += base[x];
    if (!queue.empty() && choice.cost > queue.top().first) {
      queue.push({choice.cost, x});
      continue;
    }
    int y = fabric.edges[choice.edge].dst;
    in[y] = 1;
    tree.branches.push_back({choice.edge, choice.step, by[x]});
    by[y] = static_cast<int>(tree.branches.size()) - 1;
    from[y] = choice.step + 1;
    change(tree.branches.back(), 1);
    bool member = groupOf[y] == tree.group;
    missing -= member;
    base[y] = member ? 0 : choice.cost;
    queue.push({choice.cost, x});
    queue.push({base[y], y});
  }
  if (relays)
    prune(tree);
  return true;
}

void Balancer::prune(Tree &tree) {
  std::vector<char> needed(tree.branches.size());
  std::vector<int> renamed(tree.branches.size(), -1);
  std::vector<Branch> kept;
  for (size_t i = tree.branches.size(); i-- > 0;) {
    const Branch &branch = tree.branches[i];
    needed[i] |= groupOf[fabric.edges[branch.edge].dst] == tree.group;
    if (needed[i] && branch.parent >= 0)
      needed[branch.parent] = 1;
    if (!needed[i])
      change(branch, -1);
  }
  for (size_t i = 0; i < tree.branches.size(); ++i) {
    if (!needed[i])
      continue;
    Branch branch = tree.branches[i];
    if (branch.parent >= 0)
      branch.parent = renamed[branch.parent];
    renamed[i] = static_cast<int>(kept.size());
    kept.push_back(branch);
  }
  tree.branches = std::move(kept);
}

bool Balancer::run(double enough) {
  std::mt19937_64 random(options.seed);
  std::vector<size_t> order(trees.size());
  std::iota(order.begin(), order.end(), 0);
  int inVain = 0;
  double steep = steepness;
  for (int pass = 0; pass < maxPasses && inVain < passesInVain; ++pass) {
    prices.reprice(steep);
    for (size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[random() % (i + 1)]);
    for (size_t i : order) {
      if (options.limits.expired() || (looks > someWork && !best.empty()))
        return !best.empty();
      for (const Branch &branch : trees[i].branches)
        change(branch, -1);
      if (!grow(trees[i]))
        return false;
    }
    double now = shareNow();
    inVain = now > bestShare + 1e-9 ? 0 : inVain + 1;
    if (now > bestShare) {
      bestShare = now;
      best = trees;
    }
    if (bestShare >= enough)
      break;
    steep = std::min(steepest, steep * 1.15);
  }
  return true;
}

std::vector<Hop> Balancer::hops(std::vector<int> &stepOf) const {
  std::vector<Hop> result;
  stepOf.clear();
  for (size_t c = 0; c < best.size(); ++c) {
    int first = static_cast<int>(result.size());
    for (const Branch &branch : best[c].branches) {
      result.push_back({static_cast<int>(c), branch.edge,
                        branch.parent < 0 ? -1 : first + branch.parent});
      stepOf.push_back(branch.step);
    }
  }
  return result;
}

namespace {

/// The best all_gather on a fabric; on a reversed fabric, it becomes the
/// reduce_scatter.
struct Gathered {
  Schedule schedule;
  int treesPerRank = 0, steps = 0;
  double share = 0;
};

/// Searches for a Gathered; holds what the search is given and the best result
/// so far.
class Gathering {
public:
  Gathering(const Fabric &fabric, const Groups &groups, double rate,
            const BalancedOptions &options)
      : fabric(fabric), groups(groups), rate(rate), options(options) {
    for (const std::vector<int> &group : groups)
      sendsPerTree += static_cast<int64_t>(group.size()) *
                      static_cast<int64_t>(group.size() - 1);
    for (int rank = 0; rank < fabric.ranks; ++rank)
      for (int d : fabric.distancesFrom(rank))
        farthest = std::max(farthest, d);
  }

  /// Everyone sends to everyone in one step, over all ways in turn.
  std::string direct(int count);
  std::string grow(bool relays, int count, int steps);
  bool done() const {
    return best.share >= options.enough || options.limits.expired() ||
           work > maxWork;
  }
  bool tooMany(int count) const {
    return best.treesPerRank > 0 && count * sendsPerTree > options.maxSends;
  }
  int least() const { return farthest; }

  Gathered best;

private:
  std::string take(int count, int steps, double share,
                   const std::vector<Hop> &hops,
                   const std::vector<int> &stepOf);

  const Fabric &fabric;
  const Groups &groups;
  double rate;
  const BalancedOptions &options;
  int64_t sendsPerTree = 0, work = 0;
  int farthest = 1;
};

} // namespace

std::string Gathering::take(int count, int steps, double share,
                            const std::vector<Hop> &hops,
                            const std::vector<int> &stepOf) {
  Result<Collective> collective =
      makeGrouped(CollectiveKind::AllGather, fabric.ranks, groups, count);
  if (!collective)
    return collective.message();
  best = {listHops(fabric, *collective, hops, stepOf), count, steps, share};
  return "";
}

std::string Gathering::direct(int count) {
  std::vector<Hop> hops;
  int chunk = 0;
  std::vector<std::vector<int>> ways(fabric.hosts);
  for (const std::vector<int> &group : groups)
    for (int root : group) {
      for (int e : fabric.out[root])
        ways[fabric.edges[e].dst].push_back(e);
      for (int k = 0; k < count; ++k, ++chunk)
        for (int to : group) {
          if (to == root)
            continue;
          if (ways[to].empty())
            return "";
          hops.push_back({chunk, ways[to][k % ways[to].size()], -1});
        }
      for (std::vector<int> &list : ways)
        list.clear();
    }
  double share = rate * count / busiestSet(fabric, hops);
  if (share < options.enough)
    return "";
  return take(count, 1, share, hops, std::vector<int>(hops.size()));
}

std::string Gathering::grow(bool relays, int count, int steps) {
  Balancer balancer(fabric, groups, relays, count, steps, rate, options);
  bool made = balancer.run(options.enough);
  work += balancer.work();
  if (!made)
    return options.limits.expired() ? "out of time"
                                    : "some ranks cannot reach each other";
  // More trees or steps have to be worth it.
  if (best.treesPerRank > 0 && balancer.share() < best.share * 1.004)
    return "";
  std::vector<int> stepOf;
  std::vector<Hop> hops = balancer.hops(stepOf);
  return take(count, steps, balancer.share(), hops, stepOf);
}

/// Numbers of trees per rank to try: multiples of the smallest number with
/// which all links of the busiest cut carry equally much.
static std::vector<int> treeCounts(const Fraction &rate, int pieces) {
  int64_t base = rate.den <= 64 ? rate.den : 1;
  base = std::lcm<int64_t>(base, pieces);
  std::vector<int> result;
  for (int64_t factor : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64})
    if (base * factor <= 512 || factor == 1)
      result.push_back(static_cast<int>(base * factor));
  return result;
}

static Result<Gathered> gather(const Fabric &fabric, const Groups &groups,
                               const std::vector<int> &counts,
                               const RoundBound &bound,
                               const BalancedOptions &options) {
  Gathering search(fabric, groups, bound.roundsPerChunk.value(), options);
  std::string wrong;
  for (int count : counts)
    if (wrong.empty() && !search.done() && !search.tooMany(count))
      wrong = search.direct(count);
  // Ranks outside a group help where that gains.
  size_t members = 0;
  for (const std::vector<int> &group : groups)
    members += group.size();
  bool others = groups.size() > 1 || static_cast<int>(members) < fabric.ranks;
  for (bool relays : {false, true}) {
    if (relays && !others)
      break;
    wrong.clear();
    for (size_t i = 0; i < counts.size() && !search.tooMany(counts[i]); ++i)
      for (double factor : {1.0, 1.5, 2.0, 3.0, 4.0}) {
        int steps =
            static_cast<int>(std::ceil(std::max(2, search.least()) * factor));
        if (!wrong.empty() || search.done())
          break;
        wrong = search.grow(relays, counts[i], steps);
      }
  }
  if (!wrong.empty() && search.best.treesPerRank == 0)
    return error(wrong);
  return std::move(search.best);
}

/// The named collective if the only group has all ranks; else a relation of the
/// groups.
static Result<Collective> named(CollectiveKind kind, const Fabric &fabric,
                                const Groups &groups, int chunks) {
  if (groups.size() == 1 &&
      static_cast<int>(groups[0].size()) == fabric.ranks &&
      std::is_sorted(groups[0].begin(), groups[0].end()))
    return makeCollective(kind, fabric.ranks, chunks);
  return makeGrouped(kind, fabric.ranks, groups, chunks);
}

Result<BalancedTrees>
ccn::synth::balancedTrees(const Fabric &fabric, CollectiveKind kind,
                          const Groups &wanted,
                          const BalancedOptions &options) {
  Groups groups = wanted;
  if (groups.empty()) {
    groups.emplace_back(fabric.ranks);
    std::iota(groups[0].begin(), groups[0].end(), 0);
  }
  if (std::string wrong = wrongGroups(groups, fabric.ranks); !wrong.empty())
    return error(wrong);
  bool gathers = kind != CollectiveKind::ReduceScatter;
  bool reduces = kind != CollectiveKind::AllGather;
  if (gathers && reduces && kind != CollectiveKind::AllReduce)
    return error(std::string("trees ") + (wanted.empty() ? "" : "of groups ") +
                 "make all_gather, reduce_scatter and all_reduce, not " +
                 std::string(kindName(kind)));
  if (gathers && reduces)
    for (const std::vector<int> &group : groups)
      if (group.size() != groups[0].size())
        return error("expected groups of equal size for an all_reduce, whose "
                     "chunks are equal, found " +
                     std::to_string(groups[0].size()) + " and " +
                     std::to_string(group.size()) + " ranks");
  Result<Collective> shard =
      named(CollectiveKind::AllGather, fabric, groups, 1);
  if (!shard)
    return shard.status();
  Fabric back = reversed(fabric);
  std::vector<int> counts;
  BalancedTrees result;
  std::optional<Schedule> first, second;
  for (bool reduce : {false, true}) {
    if (!(reduce ? reduces : gathers))
      continue;
    const Fabric &machine = reduce ? back : fabric;
    RoundBound bound = roundBound(machine, *shard);
    if (bound.roundsPerChunk.den == 0 || bound.roundsPerChunk.num == 0)
      return error(fabric.topology.name +
                   ": expected at least two ranks that reach each other");
    if (counts.empty())
      counts = treeCounts(bound.roundsPerChunk, options.pieces);
    Result<Gathered> made = gather(machine, groups, counts, bound, options);
    if (!made)
      return made.status();
    counts = {made->treesPerRank};
    result.treesPerRank = made->treesPerRank;
    result.bounds.push_back(bound);
    result.shares.push_back(made->share);
    (reduce ? first : second) = std::move(made->schedule);
  }
  if (first) {
    Result<Schedule> turned = invert(*first);
    if (!turned)
      return turned.status();
    first = std::move(*turned);
  }
  int chunks = result.treesPerRank;
  if (first && second)
    chunks *= static_cast<int>(groups[0].size());
  Result<Collective> whole = named(kind, fabric, groups, chunks);
  if (!whole)
    return whole.status();
  result.schedule = first && second ? concatenate(*first, *second, *whole)
                    : first         ? std::move(*first)
                                    : std::move(*second);
  result.schedule.collective = *whole;
  return result;
}
