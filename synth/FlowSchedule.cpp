//===- FlowSchedule.cpp - Point-to-point schedules at scale ---------------===//
//
// One commodity a source on the topology's links; the rounds for all of them
// are minimized, then the length of the ways. The dual values are lengths of
// links: the demands times their distances, over the capacities times the
// lengths, is a bound that needs no floating point. Ways are cut where they
// pass hosts, and their hops placed in the first steps that have room, long
// ways first.
//
//===----------------------------------------------------------------------===//

#include "synth/FlowSchedule.h"
#include "synth/EmptySchedule.h"
#include "synth/Flow.h"
#include "synth/Placement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <queue>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Multipliers up to this are always tried, larger ones while chunks are few.
constexpr int smallMultiplier = 16, largeMultiplier = 128;
constexpr int64_t manyChunks = 60000;
constexpr double tiny = 1e-6;

/// A way for some chunks: fabric edges, in order.
struct Way {
  std::vector<int> edges;
  double amount = 0;
};

class Builder {
public:
  Builder(Fabric &fabric, const Collective &base, const Limits &limits)
      : fabric(fabric), t(fabric.topology), limits(limits) {
    demand.assign(fabric.ranks, std::vector<int>(fabric.ranks));
    for (const ChunkRelation &chunk : base.chunks)
      if (!chunk.post.empty() && chunk.post[0] != chunk.pre[0])
        ++demand[chunk.pre[0]][chunk.post[0]];
    for (const EdgeSet &set : t.edgeSets)
      setCap.push_back(static_cast<int64_t>(set.gbps / fabric.unitGBps + tiny));
  }

  std::string optimize(FlowScheduleResult &result);
  int wholeMultiplier() const;
  /// The largest multiplier to try.
  int most() const {
    int64_t chunks = 1;
    for (const auto &row : demand)
      for (int d : row)
        chunks += d;
    return static_cast<int>(std::clamp<int64_t>(
        manyChunks / chunks, smallMultiplier, largeMultiplier));
  }
  std::string findWays();
  /// Whether a round carries so much that few whole rounds say little.
  bool isFine() const {
    return !fabric.linkCap.empty() &&
           *std::min_element(fabric.linkCap.begin(), fabric.linkCap.end()) >
               1000;
  }
  /// A chunk on its way.
  struct Trip {
    int chunk, offset;
    const Way *way;
  };
  /// Whole chunks for the ways, those of long ones first.
  std::vector<Trip> trips(const Collective &collective, int multiplier) const;
  Schedule place(const Collective &collective, const std::vector<Trip> &trips,
                 int steps) const;
  Schedule placeByPrices(const Collective &collective,
                         const std::vector<Trip> &trips) const;
  int longest() const;

private:
  void build();
  Fraction certify(const std::vector<double> &duals,
                   std::vector<int64_t> &length) const;
  int column(int source, int link) const { return sourceBase[source] + link; }

  Fabric &fabric;
  const Topology &t;
  const Limits &limits;
  std::vector<std::vector<int>> demand;
  std::vector<int64_t> setCap;
  LinearProgram lp;
  /// The column of a source's flow on link 0; links follow each other.
  std::vector<int> sourceBase;
  int roundsColumn = 0;
  size_t firstCapacityRow = 0, rowCount = 0;
  std::vector<double> values;
  /// By source and destination.
  std::vector<std::vector<std::vector<Way>>> ways;
};

void Builder::build() {
  using Relation = LinearProgram::Relation;
  int links = static_cast<int>(t.links.size());
  std::vector<std::vector<int>> in(t.nodes.size()), out(t.nodes.size());
  for (int l = 0; l < links; ++l) {
    in[t.links[l].dst].push_back(l);
    out[t.links[l].src].push_back(l);
  }
  roundsColumn = lp.addColumn(0);
  sourceBase.assign(fabric.ranks, -1);
  for (int u = 0; u < fabric.ranks; ++u) {
    if (std::all_of(demand[u].begin(), demand[u].end(),
                    [](int d) { return d == 0; }))
      continue;
    for (int l = 0; l < links; ++l) {
      int col = lp.addColumn(0);
      if (l == 0)
        sourceBase[u] = col;
    }
    for (size_t v = 0; v < t.nodes.size(); ++v) {
      int host = fabric.nodeHost[v];
      if (host == u)
        continue;
      LinearProgram::TermList terms;
      for (int l : in[v])
        terms.push_back({column(u, l), 1});
      for (int l : out[v])
        terms.push_back({column(u, l), -1});
      lp.addRow(std::move(terms), Relation::Equal,
                host >= 0 && host < fabric.ranks ? demand[u][host] : 0);
      ++rowCount;
    }
    // Nothing need come back to its source.
    LinearProgram::TermList back;
    for (int l : in[fabric.hostNode[u]])
      back.push_back({column(u, l), 1});
    lp.addRow(std::move(back), Relation::Equal, 0);
    ++rowCount;
  }
  firstCapacityRow = rowCount;
  auto cap = [&](const std::vector<int> &members, int64_t capacity) {
    LinearProgram::TermList terms = {{roundsColumn, -capacity}};
    for (int u = 0; u < fabric.ranks; ++u)
      if (sourceBase[u] >= 0)
        for (int l : members)
          terms.push_back({column(u, l), 1});
    lp.addRow(std::move(terms), Relation::AtMost, 0);
    ++rowCount;
  };
  for (int l = 0; l < links; ++l)
    cap({l}, fabric.linkCap[l]);
  for (size_t s = 0; s < t.edgeSets.size(); ++s)
    cap(t.edgeSets[s].links, setCap[s]);
}

/// The bound that lengths of links prove: rounds times capacities times
/// lengths is at least what all chunks pass of it.
Fraction Builder::certify(const std::vector<double> &duals,
                          std::vector<int64_t> &length) const {
  size_t links = t.links.size(), count = links + t.edgeSets.size();
  double most = 0;
  for (size_t k = 0; k < count; ++k)
    most = std::max(most, std::abs(duals[firstCapacityRow + k]));
  if (most <= 0)
    return {0, 1};
  // Small whole lengths in these proportions, or else fine ones.
  length.assign(count, 0);
  auto fits = [&](int64_t scale) {
    bool all = true;
    for (size_t k = 0; k < count; ++k) {
      double x = std::abs(duals[firstCapacityRow + k]) / most *
                 static_cast<double>(scale);
      length[k] = std::llround(x);
      all &= std::abs(x - static_cast<double>(length[k])) < 1e-5;
    }
    return all;
  };
  int64_t scale = 1;
  while (scale < 5040 && !fits(scale))
    ++scale;
  if (scale == 5040)
    fits(1000000);
  std::vector<int64_t> whole(length.begin(),
                             length.begin() + static_cast<ptrdiff_t>(links));
  int64_t room = 0;
  for (size_t l = 0; l < links; ++l)
    room += length[l] * fabric.linkCap[l];
  for (size_t s = 0; s < t.edgeSets.size(); ++s) {
    room += length[links + s] * setCap[s];
    for (int l : t.edgeSets[s].links)
      whole[l] += length[links + s];
  }
  std::vector<std::vector<int>> out(t.nodes.size());
  for (size_t l = 0; l < links; ++l)
    out[t.links[l].src].push_back(static_cast<int>(l));
  int64_t passed = 0;
  for (int u = 0; u < fabric.ranks; ++u) {
    if (sourceBase[u] < 0)
      continue;
    std::vector<int64_t> distance(t.nodes.size(), INT64_MAX);
    using Entry = std::pair<int64_t, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[fabric.hostNode[u]] = 0;
    queue.push({0, fabric.hostNode[u]});
    while (!queue.empty()) {
      auto [d, v] = queue.top();
      queue.pop();
      if (d > distance[v])
        continue;
      for (int l : out[v])
        if (int w = t.links[l].dst; d + whole[l] < distance[w]) {
          distance[w] = d + whole[l];
          queue.push({distance[w], w});
        }
    }
    for (int v = 0; v < fabric.ranks; ++v)
      if (demand[u][v])
        passed += demand[u][v] * distance[fabric.hostNode[v]];
  }
  return room > 0 ? Fraction(passed, room) : Fraction(0, 1);
}

std::string Builder::optimize(FlowScheduleResult &result) {
  build();
  result.columns = lp.numColumns();
  std::vector<double> duals;
  auto failed = [&](Answer answer) {
    return answer == Answer::No
               ? std::string("some chunk has no way to its destination")
           : limits.expired()
               ? std::string("out of time")
               : std::string("the linear program was not solved");
  };
  Answer answer = lp.minimizeAlike({{roundsColumn, 1}}, limits, values, duals);
  if (answer != Answer::Yes)
    return failed(answer);
  result.optimum = values[roundsColumn];
  result.bound = certify(duals, result.lengths);
  // Among the optimal flows one with short ways: no rounds are worth more.
  LinearProgram::Terms cost = {{roundsColumn, 1 << 20}};
  for (int u = 0; u < fabric.ranks; ++u)
    if (sourceBase[u] >= 0)
      for (size_t l = 0; l < t.links.size(); ++l)
        cost[column(u, static_cast<int>(l))] = 1;
  int64_t most = 0;
  for (const auto &row : demand)
    for (int d : row)
      most += d;
  // In fine units the optimum has far less than one round.
  double weight = std::max(1024.0, 4.0 * static_cast<double>(most)) /
                  std::clamp(result.optimum, 1e-9, 1.0);
  cost[roundsColumn] = static_cast<int64_t>(weight);
  answer = lp.minimizeAlike(cost, limits, values, duals);
  return answer == Answer::Yes ? "" : failed(answer);
}

/// The least multiplier with which all flows are whole numbers; 0 if there is
/// none up to the limit.
int Builder::wholeMultiplier() const {
  for (int k = 1; k <= most(); ++k) {
    bool whole = true;
    for (size_t c = 2; c < values.size() && whole; ++c)
      whole = std::abs(values[c] * k - std::round(values[c] * k)) < tiny * k;
    if (whole)
      return k;
  }
  return 0;
}

/// Takes the flow of each source apart into ways to its destinations.
std::string Builder::findWays() {
  FabricWays known(fabric);
  std::vector<std::vector<int>> out(t.nodes.size());
  for (size_t l = 0; l < t.links.size(); ++l)
    out[t.links[l].src].push_back(static_cast<int>(l));
  ways.assign(fabric.ranks, std::vector<std::vector<Way>>(fabric.ranks));
  for (int u = 0; u < fabric.ranks; ++u) {
    if (sourceBase[u] < 0)
      continue;
    if (limits.expired())
      return "out of time";
    std::vector<double> flow(t.links.size());
    for (size_t l = 0; l < t.links.size(); ++l)
      flow[l] = values[column(u, static_cast<int>(l))];
    for (int v = 0; v < fabric.ranks; ++v) {
      double left = demand[u][v];
      while (left > tiny) {
        // The fewest links over what is left of the flow.
        std::vector<int> by(t.nodes.size(), -1);
        std::vector<int> queue = {fabric.hostNode[u]};
        int goal = fabric.hostNode[v];
        for (size_t i = 0; i < queue.size() && by[goal] < 0; ++i)
          for (int l : out[queue[i]])
            if (flow[l] > tiny && by[t.links[l].dst] < 0 &&
                t.links[l].dst != fabric.hostNode[u]) {
              by[t.links[l].dst] = l;
              queue.push_back(t.links[l].dst);
            }
        if (by[goal] < 0)
          return "the flow from " + fabric.hostName(u) + " to " +
                 fabric.hostName(v) + " was lost in rounding";
        std::vector<int> path;
        double amount = left;
        for (int node = goal; node != fabric.hostNode[u];
             node = t.links[by[node]].src) {
          path.push_back(by[node]);
          amount = std::min(amount, flow[by[node]]);
        }
        std::reverse(path.begin(), path.end());
        Way way;
        way.amount = amount;
        std::vector<int> hop;
        for (int l : path) {
          flow[l] -= amount;
          hop.push_back(l);
          int host = fabric.nodeHost[t.links[l].dst];
          if (host < 0)
            continue;
          way.edges.push_back(known.edgeAlong(hop));
          hop.clear();
        }
        left -= amount;
        ways[u][v].push_back(std::move(way));
      }
    }
  }
  return "";
}

int Builder::longest() const {
  size_t most = 1;
  for (const auto &row : ways)
    for (const auto &list : row)
      for (const Way &way : list)
        most = std::max(most, way.edges.size());
  return static_cast<int>(most);
}

std::vector<Builder::Trip> Builder::trips(const Collective &collective,
                                          int multiplier) const {
  // The chunks of each pair, in order.
  std::map<std::pair<int, int>, std::vector<int>> chunks;
  for (size_t c = 0; c < collective.chunks.size(); ++c) {
    const ChunkRelation &chunk = collective.chunks[c];
    if (!chunk.post.empty() && chunk.post[0] != chunk.pre[0])
      chunks[{chunk.pre[0], chunk.post[0]}].push_back(static_cast<int>(c));
  }
  std::vector<Trip> trips;
  for (auto &[pair, list] : chunks) {
    auto [u, v] = pair;
    const std::vector<Way> &options = ways[u][v];
    // Whole parts first, then the largest remainders.
    std::vector<int> take(options.size());
    std::vector<std::pair<double, size_t>> rest;
    int given = 0, want = static_cast<int>(list.size());
    for (size_t i = 0; i < options.size(); ++i) {
      double exact = options[i].amount * multiplier;
      take[i] = static_cast<int>(std::floor(exact + tiny));
      given += take[i];
      rest.push_back({take[i] - exact, i});
    }
    std::sort(rest.begin(), rest.end());
    for (size_t i = 0; given < want; i = (i + 1) % rest.size()) {
      ++take[rest[i].second];
      ++given;
    }
    size_t next = 0;
    for (size_t i = 0; i < options.size(); ++i)
      for (int k = 0; k < take[i] && next < list.size(); ++k, ++next)
        trips.push_back({list[next],
                         (v - u + fabric.ranks) % fabric.ranks +
                             static_cast<int>(next) * fabric.ranks,
                         &options[i]});
  }
  std::stable_sort(trips.begin(), trips.end(),
                   [](const Trip &a, const Trip &b) {
                     size_t x = a.way->edges.size(), y = b.way->edges.size();
                     return x != y ? x > y : a.offset < b.offset;
                   });
  return trips;
}

Schedule Builder::placeByPrices(const Collective &collective,
                                const std::vector<Trip> &trips) const {
  std::vector<Hop> hops;
  for (const Trip &trip : trips)
    for (size_t i = 0; i < trip.way->edges.size(); ++i)
      hops.push_back({trip.chunk, trip.way->edges[i],
                      i == 0 ? -1 : static_cast<int>(hops.size()) - 1});
  return placeHops(fabric, collective, hops).schedule;
}

/// Gives hops to the first steps with room.
Schedule Builder::place(const Collective &collective,
                        const std::vector<Trip> &trips, int steps) const {
  std::vector<std::vector<int>> setsOf(fabric.edges.size());
  std::vector<int64_t> load(fabric.sets.size());
  for (size_t s = 0; s < fabric.sets.size(); ++s)
    for (int e : fabric.sets[s].edges)
      setsOf[e].push_back(static_cast<int>(s));
  for (const Trip &trip : trips)
    for (int e : trip.way->edges)
      for (int s : setsOf[e])
        ++load[s];
  // Steps of whole rounds, but where a round carries very many chunks.
  double rounds = 0;
  for (size_t s = 0; s < load.size(); ++s)
    rounds =
        std::max(rounds, static_cast<double>(load[s]) / fabric.sets[s].cap);
  double each =
      isFine() ? rounds / steps : std::ceil(std::ceil(rounds) / steps);
  Schedule schedule = emptySchedule(collective, fabric);
  std::vector<std::vector<int64_t>> used;
  for (const Trip &trip : trips) {
    size_t step = 0;
    for (int e : trip.way->edges) {
      auto full = [&] {
        return std::any_of(setsOf[e].begin(), setsOf[e].end(), [&](int s) {
          return static_cast<double>(used[step][s]) >=
                 std::max(1.0, std::floor(each * fabric.sets[s].cap + tiny));
        });
      };
      while (step < used.size() && full())
        ++step;
      if (step == used.size()) {
        used.emplace_back(fabric.sets.size());
        schedule.steps.emplace_back();
      }
      for (int s : setsOf[e])
        ++used[step][s];
      schedule.steps[step].sends.push_back({trip.chunk,
                                            fabric.edges[e].src,
                                            fabric.edges[e].dst,
                                            SendOp::Copy,
                                            e,
                                            {}});
      ++step;
    }
  }
  fitRounds(schedule, fabric);
  return schedule;
}

} // namespace

Result<FlowScheduleResult> ccn::synth::flowSchedule(
    Fabric &fabric, const std::function<Result<Collective>(int)> &collectiveOf,
    const FlowOptions &options) {
  Result<Collective> base = collectiveOf(1);
  if (!base)
    return base.status();
  if (!isPointToPoint(*base))
    return error(base->name + ": expected one source and one destination for "
                              "each chunk");
  FlowScheduleResult result;
  Builder builder(fabric, *base, options.limits);
  std::string problem = builder.optimize(result);
  if (problem.empty())
    problem = builder.findWays();
  if (!problem.empty())
    return error(problem);
  int whole = builder.wholeMultiplier();
  // Whole rounds, too, if that does not take too many chunks.
  int64_t rounded = std::lcm<int64_t>(std::max(whole, 1), result.bound.den);
  if (whole > 0 && rounded <= builder.most())
    whole = static_cast<int>(rounded);
  int exact = builder.wholeMultiplier();
  std::vector<int> tries = {options.steps};
  if (options.steps <= 0)
    tries = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  // Few chunks leave rounds partly empty: more of them until little is lost.
  int first = whole > 0 ? whole : smallMultiplier;
  double best = 0;
  for (int k = options.multiplier > 0 ? options.multiplier : first;; k *= 2) {
    Result<Collective> collective = collectiveOf(k);
    if (!collective)
      return collective.status();
    if (collective->chunks.size() != k * base->chunks.size())
      return error(base->name + ": expected " + std::to_string(k) + " times " +
                   std::to_string(base->chunks.size()) + " chunks, found " +
                   std::to_string(collective->chunks.size()));
    auto trips = builder.trips(*collective, k);
    auto take = [&](Schedule schedule) {
      double used = result.bound.value() * k /
                    (builder.isFine() ? roundsOfSteps(fabric, schedule)
                                      : schedule.totalRounds());
      if (used <= best)
        return;
      best = used;
      result.schedule = std::move(schedule);
      result.multiplier = k;
    };
    for (int steps : tries) {
      if (best > 0 && options.limits.expired())
        break;
      take(builder.place(*collective, trips, steps));
    }
    if (best < 0.97 && options.steps <= 0 && !options.limits.expired())
      take(builder.placeByPrices(*collective, trips));
    if (options.multiplier > 0 || best > 0.98 || 2 * k > builder.most())
      break;
  }
  if (best <= 0)
    return error("nothing need be sent");
  result.whole = exact > 0 && result.multiplier % exact == 0;
  return result;
}
