//===- FractionalTrees.cpp - Trees weighted by a linear program -----------===//
//
// See FractionalTrees.h.
//
//===----------------------------------------------------------------------===//

#include "synth/FractionalTrees.h"
#include "synth/Arborescence.h"
#include "synth/ColumnProgram.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Of each list this many trees at most are added for one set of prices.
constexpr int maxAdded = 12;
/// Trees that are tried before the first linear program, for prices that rise
/// with the loads so far.
constexpr int firstTries = 24;

/// What carries data: links, then edge sets. Capacities are in units.
struct Resources {
  /// Of slow links that part is used.
  Resources(const Fabric &fabric, double slowPart);
  /// The prices of links, with those of their sets.
  std::vector<double> ofLinks(const std::vector<double> &prices) const;

  std::vector<double> capacity;
  /// By link, the sets that it is in, as resources.
  std::vector<std::vector<int>> setsOf;
};

/// Whether a link is much slower than the fastest out of a rank.
bool isSlow(const Fabric &fabric, size_t link) {
  constexpr double much = 3;
  int fastest = 0;
  for (size_t l = 0; l < fabric.linkCap.size(); ++l)
    if (int host = fabric.nodeHost[fabric.topology.links[l].src];
        host >= 0 && host < fabric.ranks)
      fastest = std::max(fastest, fabric.linkCap[l]);
  return fabric.linkCap[link] * much < fastest;
}

Resources::Resources(const Fabric &fabric, double slowPart)
    : capacity(fabric.linkCap.begin(), fabric.linkCap.end()),
      setsOf(fabric.linkCap.size()) {
  if (slowPart < 1)
    for (size_t l = 0; l < setsOf.size(); ++l)
      if (isSlow(fabric, l))
        capacity[l] *= slowPart;
  for (const EdgeSet &set : fabric.topology.edgeSets) {
    for (int l : set.links)
      setsOf[l].push_back(static_cast<int>(capacity.size()));
    capacity.push_back(std::floor(set.gbps / fabric.unitGBps + 1e-6));
  }
}

std::vector<double>
Resources::ofLinks(const std::vector<double> &prices) const {
  std::vector<double> result(prices.begin(),
                             prices.begin() +
                                 static_cast<std::ptrdiff_t>(setsOf.size()));
  for (size_t l = 0; l < setsOf.size(); ++l)
    for (int set : setsOf[l])
      result[l] += prices[set];
  return result;
}

/// One column: the hops that a chunk makes.
struct Column {
  int list = 0;
  double cost = 0;
  WeightedTree tree;
};

/// The cheapest columns for some prices of links; the first of each list is the
/// cheapest that there is.
using Oracle = std::function<std::vector<Column>(const HostWays &)>;

/// What each chunk of an all_reduce costs at least. Where ways that cost at
/// most some price join hosts to blocks, at least 2 (blocks with ranks - 1)
/// sends go from block to block: the first host with the whole sum has it from
/// all other blocks, each of which receives something after that. Summed over
/// all prices, that is twice the cheapest spanning tree (Kruskal).
double leastOfSums(const HostWays &ways, int ranks) {
  const int hosts = static_cast<int>(ways.costs.size());
  std::vector<std::tuple<double, int, int>> joins;
  for (int a = 0; a < hosts; ++a)
    for (int b = 0; b < hosts; ++b)
      if (a != b && ways.costs[a][b] < unreachable)
        joins.push_back({ways.costs[a][b], a, b});
  std::sort(joins.begin(), joins.end());
  std::vector<int> block(hosts);
  std::iota(block.begin(), block.end(), 0);
  std::vector<char> hasRanks(hosts);
  std::fill(hasRanks.begin(), hasRanks.begin() + ranks, 1);
  double total = 0;
  for (auto [cost, a, b] : joins) {
    int kept = block[a], gone = block[b];
    if (kept == gone)
      continue;
    if (hasRanks[kept] && hasRanks[gone])
      total += 2 * cost;
    hasRanks[kept] |= hasRanks[gone];
    std::replace(block.begin(), block.end(), gone, kept);
  }
  return total;
}

/// Minimizes the rounds in which columns are carried.
class Generator {
public:
  Generator(const Fabric &fabric, double slowPart, int lists, bool sums,
            Oracle oracle)
      : fabric(fabric), lists(lists), sums(sums), oracle(std::move(oracle)),
        resources(fabric, slowPart), opposite(fabric.linkCap.size(), -1) {
    const std::vector<Link> &links = fabric.topology.links;
    std::map<std::pair<int, int>, int> byEnds;
    for (size_t l = 0; l < links.size(); ++l)
      byEnds[{links[l].src, links[l].dst}] = static_cast<int>(l);
    for (size_t l = 0; l < links.size(); ++l)
      if (auto it = byEnds.find({links[l].dst, links[l].src});
          it != byEnds.end())
        opposite[l] = it->second;
  }

  /// False where nothing was found.
  bool run(double gap, const Limits &limits);

  double rounds = 0, leastRounds = 0;
  std::vector<Column> columns;
  std::vector<double> weights;
  /// Those that prove `leastRounds`.
  std::vector<double> bestPrices;
  /// Of links, those that prove most of any all_reduce.
  double sumRounds = 0;
  std::vector<double> sumPrices;

private:
  bool seed(const Limits &limits);
  double boundBy(const std::vector<double> &prices,
                 const std::vector<Column> &found) const;
  /// The columns for prices, whose bound counts.
  std::vector<Column> ask(const std::vector<double> &prices);
  void add(ColumnProgram &program, Column column);
  std::vector<std::pair<int, double>> uses(const Column &column) const;

  const Fabric &fabric;
  int lists;
  bool sums;
  Oracle oracle;
  Resources resources;
  /// By link, that in the other direction, or -1.
  std::vector<int> opposite;
  std::vector<Column> pending;
};

std::vector<std::pair<int, double>>
Generator::uses(const Column &column) const {
  std::map<int, double> use;
  auto addPath = [&](const std::vector<int> &path) {
    for (int l : path) {
      use[l] += 1;
      for (int set : resources.setsOf[l])
        use[set] += 1;
    }
  };
  for (const TreeEdge &edge : column.tree.in)
    addPath(edge.path);
  for (const TreeEdge &edge : column.tree.out)
    addPath(edge.path);
  return {use.begin(), use.end()};
}

double Generator::boundBy(const std::vector<double> &prices,
                          const std::vector<Column> &found) const {
  double room = 0, cost = 0;
  for (size_t r = 0; r < prices.size(); ++r)
    room += prices[r] * resources.capacity[r];
  std::vector<char> seen(lists);
  for (const Column &column : found)
    if (!seen[column.list]++)
      cost += column.cost;
  return room > 0 ? cost / room : 0;
}

std::vector<Column> Generator::ask(const std::vector<double> &prices) {
  std::vector<Column> found =
      oracle(cheapestWays(fabric, resources.ofLinks(prices)));
  double proved = boundBy(prices, found);
  if (proved > leastRounds) {
    leastRounds = proved;
    bestPrices = prices;
  }
  if (!sums)
    return found;
  // Of links alone: a way that passes an edge set twice may count there once.
  std::vector<double> ofLinks(
      prices.begin(),
      prices.begin() + static_cast<std::ptrdiff_t>(fabric.linkCap.size()));
  // Machines are mostly the same in both directions; then so are best prices.
  std::vector<double> even = ofLinks;
  for (size_t l = 0; l < even.size(); ++l)
    if (opposite[l] >= 0)
      even[l] = (ofLinks[l] + ofLinks[opposite[l]]) / 2;
  for (const std::vector<double> *each : {&ofLinks, &even})
    if (double least = leastSumRounds(fabric, *each); least > sumRounds) {
      sumRounds = least;
      sumPrices = *each;
    }
  return found;
}

/// Trees by prices that rise with the loads, so that the first program has some
/// to choose from.
bool Generator::seed(const Limits &limits) {
  std::vector<double> load(resources.capacity.size());
  for (int i = 0; i < firstTries && !limits.expired(); ++i) {
    double most = 1e-9;
    for (size_t r = 0; r < load.size(); ++r)
      if (resources.capacity[r] > 0)
        most = std::max(most, load[r] / resources.capacity[r]);
    std::vector<double> prices(load.size());
    for (size_t r = 0; r < load.size(); ++r)
      if (resources.capacity[r] > 0)
        prices[r] = std::exp(6 * load[r] / resources.capacity[r] / most) /
                    resources.capacity[r];
    std::vector<char> seen(lists);
    for (Column &column : ask(prices)) {
      if (!seen[column.list]++)
        for (auto [r, count] : uses(column))
          load[r] += count;
      pending.push_back(std::move(column));
    }
    if (std::count(seen.begin(), seen.end(), 0) > 0)
      return false;
  }
  return !pending.empty();
}

void Generator::add(ColumnProgram &program, Column column) {
  std::vector<std::pair<int, double>> terms = uses(column);
  terms.push_back(
      {static_cast<int>(resources.capacity.size()) + column.list, 1});
  program.addColumn(0, terms);
  columns.push_back(std::move(column));
}

bool Generator::run(double gap, const Limits &limits) {
  if (!seed(limits))
    return false;
  const size_t many = resources.capacity.size();
  // So many chunks that rounds are numbers of moderate size.
  double chunks =
      *std::max_element(resources.capacity.begin(), resources.capacity.end());
  std::vector<double> atMost(many), values, duals;
  std::vector<char> equal(many);
  atMost.resize(many + lists, chunks);
  equal.resize(many + lists, 1);
  ColumnProgram program(atMost, equal);
  std::vector<std::pair<int, double>> room;
  for (size_t r = 0; r < many; ++r)
    room.push_back({static_cast<int>(r), -resources.capacity[r]});
  program.addColumn(1, room);
  while (!pending.empty()) {
    for (Column &column : pending)
      add(program, std::move(column));
    pending.clear();
    if (program.minimize(limits, values, duals) != Answer::Yes)
      break;
    weights.assign(values.begin() + 1, values.end());
    for (double &weight : weights)
      weight /= chunks;
    rounds = values[0] / chunks;
    if (rounds <= (1 + gap) * leastRounds || limits.expired())
      break;
    std::vector<double> prices(many);
    for (size_t r = 0; r < many; ++r)
      prices[r] = std::max(0.0, -duals[r]);
    for (Column &column : ask(prices))
      if (column.cost < duals[many + column.list] * (1 - 1e-7) - 1e-12)
        pending.push_back(std::move(column));
    // Prices half way to the best known keep the search from swinging.
    std::vector<double> middle(many);
    double total = 0;
    for (size_t r = 0; r < many; ++r)
      total += bestPrices[r] * resources.capacity[r];
    for (size_t r = 0; r < many; ++r)
      middle[r] = (prices[r] + bestPrices[r] / total) / 2;
    for (Column &column : ask(middle))
      pending.push_back(std::move(column));
    if (rounds <= (1 + gap) * leastRounds)
      break;
  }
  return !weights.empty();
}

/// The tree's edges in an order in which each comes after that of its parent.
std::vector<TreeEdge> edgesOf(const SpanningTree &tree, const HostWays &ways) {
  const int hosts = static_cast<int>(tree.parent.size());
  std::vector<std::vector<int>> children(hosts);
  std::vector<int> order;
  for (int host = 0; host < hosts; ++host)
    if (tree.parent[host] >= 0)
      children[tree.parent[host]].push_back(host);
    else if (tree.parent[host] == -1)
      order.push_back(host);
  std::vector<TreeEdge> edges;
  for (size_t i = 0; i < order.size(); ++i)
    for (int child : children[order[i]]) {
      order.push_back(child);
      edges.push_back({order[i], child, ways.paths[order[i]][child]});
    }
  return edges;
}

Costs turned(const Costs &costs) {
  Costs result(costs.size(), std::vector<double>(costs.size()));
  for (size_t i = 0; i < costs.size(); ++i)
    for (size_t j = 0; j < costs.size(); ++j)
      result[i][j] = costs[j][i];
  return result;
}

/// The edges of a tree towards the root, from the leaves; `tree` is one away
/// from it at turned costs.
std::vector<TreeEdge> edgesTowards(const SpanningTree &tree,
                                   const HostWays &ways) {
  HostWays back = ways;
  for (size_t i = 0; i < ways.paths.size(); ++i)
    for (size_t j = 0; j < ways.paths.size(); ++j)
      back.paths[i][j] = ways.paths[j][i];
  std::vector<TreeEdge> edges = edgesOf(tree, back);
  for (TreeEdge &edge : edges)
    std::swap(edge.src, edge.dst);
  std::reverse(edges.begin(), edges.end());
  return edges;
}

void cheapestFirst(std::vector<Column> &columns) {
  std::stable_sort(
      columns.begin(), columns.end(),
      [](const Column &a, const Column &b) { return a.cost < b.cost; });
  if (columns.size() > maxAdded)
    columns.resize(maxAdded);
}

/// Takes away what brings the whole sum to where it was formed: if all of it
/// reaches the root, a CPU, from one host.
void dropDuplicates(WeightedTree &tree, int ranks) {
  for (int holder = tree.root; holder >= ranks;) {
    int only = -1, count = 0;
    for (const TreeEdge &edge : tree.in)
      if (edge.dst == holder) {
        only = edge.src;
        ++count;
      }
    if (count != 1)
      return;
    std::erase_if(tree.out,
                  [&](const TreeEdge &edge) { return edge.dst == only; });
    holder = only;
  }
}

/// To each root and away from it.
std::vector<Column> bothWays(const HostWays &ways, int ranks) {
  const int hosts = static_cast<int>(ways.costs.size());
  const Costs back = turned(ways.costs);
  std::vector<Column> columns;
  std::vector<std::pair<SpanningTree, SpanningTree>> trees(hosts);
  for (int root = 0; root < hosts; ++root) {
    trees[root] = {cheapestSpanningTree(back, ranks, root),
                   cheapestSpanningTree(ways.costs, ranks, root)};
    if (trees[root].first.parent.empty() || trees[root].second.parent.empty())
      continue;
    Column column;
    column.cost = trees[root].first.cost + trees[root].second.cost;
    column.tree.root = root;
    columns.push_back(std::move(column));
  }
  cheapestFirst(columns);
  for (Column &column : columns) {
    const auto &[in, out] = trees[column.tree.root];
    column.tree.in = edgesTowards(in, ways);
    column.tree.out = edgesOf(out, ways);
    dropDuplicates(column.tree, ranks);
  }
  return columns;
}

std::vector<Column> awayFrom(const HostWays &ways, int ranks,
                             const std::vector<int> &roots) {
  std::vector<Column> columns;
  for (size_t i = 0; i < roots.size(); ++i) {
    SpanningTree tree = cheapestSpanningTree(ways.costs, ranks, roots[i]);
    if (tree.parent.empty())
      continue;
    Column column;
    column.list = static_cast<int>(i);
    column.cost = tree.cost;
    column.tree = {roots[i], {}, edgesOf(tree, ways), 0};
    columns.push_back(std::move(column));
  }
  return columns;
}

} // namespace

/// Prices as whole numbers, in proportion.
static std::vector<int64_t> wholePrices(const std::vector<double> &prices) {
  constexpr double scale = 1e9;
  std::vector<int64_t> result;
  if (prices.empty())
    return result;
  double most = *std::max_element(prices.begin(), prices.end());
  for (double price : prices)
    result.push_back(std::llround(price / most * scale));
  return result;
}

double ccn::synth::leastSumRounds(const Fabric &fabric,
                                  const std::vector<double> &prices) {
  double room = 0;
  for (size_t l = 0; l < prices.size(); ++l)
    room += prices[l] * fabric.linkCap[l];
  if (room <= 0)
    return 0;
  return leastOfSums(cheapestWays(fabric, prices), fabric.ranks) / room;
}

std::vector<int> ccn::synth::rootsOf(CollectiveKind kind, int ranks, int root) {
  if (kind != CollectiveKind::AllGather)
    return {root};
  std::vector<int> roots(ranks);
  std::iota(roots.begin(), roots.end(), 0);
  return roots;
}

Result<FractionalTrees>
ccn::synth::fractionalTrees(const Fabric &fabric, CollectiveKind kind, int root,
                            double gap, double slowPart, const Limits &limits) {
  using enum CollectiveKind;
  if (kind == ReduceScatter || kind == Reduce)
    return fractionalTrees(reversed(fabric),
                           kind == Reduce ? Broadcast : AllGather, root, gap,
                           slowPart, limits);
  if (kind != AllGather && kind != Broadcast && kind != AllReduce)
    return error("expected a collective that trees make");
  if (fabric.ranks < 2)
    return error("expected at least two ranks");
  std::vector<int> roots = rootsOf(kind, fabric.ranks, root);
  bool sums = kind == AllReduce;
  Generator generator(fabric, slowPart, static_cast<int>(roots.size()), sums,
                      [&](const HostWays &ways) {
                        return sums ? bothWays(ways, fabric.ranks)
                                    : awayFrom(ways, fabric.ranks, roots);
                      });
  if (!generator.run(gap, limits))
    return error(limits.expired() ? "out of time"
                                  : fabric.topology.name +
                                        ": expected ranks that reach each "
                                        "other");
  FractionalTrees result;
  result.trees.resize(roots.size());
  result.rounds = generator.rounds;
  result.leastRounds = generator.leastRounds;
  result.sumPrices = wholePrices(generator.sumPrices);
  if (!result.sumPrices.empty())
    result.sumRounds = leastSumRounds(
        fabric, {result.sumPrices.begin(), result.sumPrices.end()});
  constexpr double negligible = 1e-6;
  for (size_t c = 0; c < generator.weights.size(); ++c)
    if (generator.weights[c] > negligible) {
      Column &column = generator.columns[c];
      column.tree.weight = generator.weights[c];
      result.trees[column.list].push_back(std::move(column.tree));
    }
  return result;
}
