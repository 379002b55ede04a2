//===- Flow.cpp - Point-to-point collectives as integer flows -------------===//
//
// One commodity a source; f(u, e, s) chunks of source u cross edge e in step
// s, h(u, n, s) of them rest at host n after step s, r(s) rounds. Chunks of
// one source and one destination are alike, so a schedule falls out of any
// integer solution.
//
//===----------------------------------------------------------------------===//

#include "synth/Flow.h"
#include "synth/EmptySchedule.h"
#include "synth/LinearProgram.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace ccn::synth;

bool ccn::synth::isPointToPoint(const Collective &collective) {
  return !collective.combining &&
         std::all_of(collective.chunks.begin(), collective.chunks.end(),
                     [](const ChunkRelation &c) {
                       return c.pre.size() == 1 && c.post.size() <= 1;
                     });
}

namespace {

/// demand[u][n]: chunks from rank u to rank n, itself excepted.
using Demand = std::vector<std::vector<int>>;

class FlowProgram {
public:
  /// `rounds` 0: any number of them, and any fraction of one in a step.
  FlowProgram(const Fabric &fabric, const Demand &demand, int steps, int rounds,
              const Group &group, const Forbidden &forbidden = {})
      : fabric(fabric), demand(demand), steps(steps), rounds(rounds),
        group(group), forbidden(forbidden) {
    build();
  }

  Answer relax(LpSolver solver, const Limits &limits) const {
    return impossible ? Answer::No : lp.relax(solver, limits);
  }
  Answer solve(LpSolver solver, const Limits &limits, int64_t effort) {
    return lp.solveIntegers(solver, limits, effort, values);
  }
  int roundsOf(int step) const {
    return static_cast<int>(values[roundCol[step - 1]]);
  }
  int flowOf(int source, int edge, int step) const {
    return static_cast<int>(values[flowCol(source, edge, step)]);
  }

  /// Whether fewer rounds than these have a fractional solution.
  Answer below(int64_t bound, const Limits &limits) {
    lp.addRow(allRounds(), Relation::Below, bound);
    return impossible ? Answer::No : lp.relax(LpSolver::Z3, limits);
  }
  double leastRounds(const Limits &limits) const {
    std::vector<double> columns, duals;
    if (impossible ||
        lp.minimize(allRounds(), limits, columns, duals) != Answer::Yes)
      return -1;
    double total = 0;
    for (int col : roundCol)
      total += columns[col];
    return total;
  }

private:
  using Terms = LinearProgram::Terms;
  using Relation = LinearProgram::Relation;
  void build();
  /// The first (source, host) of each orbit of the group, by
  /// `source * hosts + host`; sets `orbit`, the same of edges.
  std::vector<int> findOrbits();
  /// The columns of flows and rounds.
  void addColumns();
  /// Rows by which what rests at a host, and arrives and does not leave, rests
  /// on. The source has `total` chunks to send.
  void conserve(int source, int host, int total);
  /// Rows by which the flows of each step fit into its rounds.
  void limitFlows();
  Terms allRounds() const {
    Terms all;
    for (int col : roundCol)
      all[col] += 1;
    return all;
  }
  int flowCol(int source, int edge, int step) const {
    int base = edgeBase[orbit[source * fabric.edges.size() + edge]];
    return base && step >= from[source][edge] && step <= to[source][edge]
               ? base + step - from[source][edge]
               : 0;
  }

  const Fabric &fabric;
  const Demand &demand;
  int steps, rounds;
  const Group &group;
  Forbidden forbidden;
  LinearProgram lp;
  bool impossible = false;
  std::vector<int> orbit, edgeBase, roundCol;
  std::vector<std::vector<int>> from, to;
  std::vector<int64_t> values;
};

void FlowProgram::build() {
  std::vector<int> hostOrbit = findOrbits();
  addColumns();
  for (int u = 0; u < fabric.ranks; ++u) {
    int total = std::accumulate(demand[u].begin(), demand[u].end(), 0);
    for (int h = 0; total > 0 && h < fabric.hosts; ++h)
      if (int pair = u * fabric.hosts + h; hostOrbit[pair] == pair)
        conserve(u, h, total);
  }
  limitFlows();
  if (rounds > 0)
    lp.addRow(allRounds(), Relation::Equal, rounds);
}

std::vector<int> FlowProgram::findOrbits() {
  int edges = static_cast<int>(fabric.edges.size()), ranks = fabric.ranks;
  int hosts = fabric.hosts;
  orbit.assign(ranks * edges, ranks * edges);
  std::vector<int> hostOrbit(ranks * hosts, ranks * hosts);
  for (const Automorphism &g : group)
    for (int u = 0; u < ranks; ++u) {
      for (int e = 0; e < edges; ++e)
        orbit[u * edges + e] =
            std::min(orbit[u * edges + e], g.hosts[u] * edges + g.edges[e]);
      for (int h = 0; h < hosts; ++h)
        hostOrbit[u * hosts + h] =
            std::min(hostOrbit[u * hosts + h], g.hosts[u] * hosts + g.hosts[h]);
    }
  return hostOrbit;
}

void FlowProgram::addColumns() {
  int edges = static_cast<int>(fabric.edges.size()), ranks = fabric.ranks;
  std::vector<std::vector<int>> distance;
  for (int h = 0; h < fabric.hosts; ++h)
    distance.push_back(fabric.distancesFrom(h));
  // Only steps in which chunks of u can be there and still arrive.
  from.assign(ranks, std::vector<int>(edges, 1));
  to.assign(ranks, std::vector<int>(edges, 0));
  edgeBase.assign(ranks * edges, 0);
  for (int s = 0; s < steps; ++s)
    roundCol.push_back(lp.addColumn(rounds > 0 ? 1 : 0));
  for (int u = 0; u < ranks; ++u)
    for (int e = 0; e < edges; ++e) {
      int there = distance[u][fabric.edges[e].src];
      int left = steps + 1;
      for (int n = 0; n < ranks; ++n)
        if (demand[u][n] && distance[fabric.edges[e].dst][n] >= 0)
          left = std::min(left, distance[fabric.edges[e].dst][n]);
      if (there < 0 || fabric.edges[e].dst == u ||
          (!forbidden.empty() && forbidden[u][e]))
        continue;
      from[u][e] = there + 1;
      to[u][e] = steps - left;
      if (orbit[u * edges + e] != u * edges + e)
        continue;
      for (int s = from[u][e]; s <= to[u][e]; ++s) {
        int col = lp.addColumn(0);
        if (s == from[u][e])
          edgeBase[u * edges + e] = col;
      }
    }
}

void FlowProgram::conserve(int u, int h, int total) {
  int resting = 0;
  for (int s = 1; s <= steps; ++s) {
    Terms terms;
    int64_t bound = 0;
    if (s == 1)
      bound = h == u ? -total : 0;
    else if (resting)
      terms[resting] += 1;
    for (int e : fabric.in[h])
      if (int col = flowCol(u, e, s))
        terms[col] += 1;
    for (int e : fabric.out[h])
      if (int col = flowCol(u, e, s))
        terms[col] -= 1;
    // What leaves in a step was there before it.
    Terms leaves;
    for (int e : fabric.out[h])
      if (int col = flowCol(u, e, s))
        leaves[col] -= 1;
    if (!leaves.empty()) {
      if (s > 1 && resting)
        leaves[resting] += 1;
      int64_t have = s == 1 && h == u ? total : 0;
      lp.addRow(leaves, Relation::AtLeast, -have);
    }
    if (s == steps) {
      int keep = h < fabric.ranks ? demand[u][h] : 0;
      if (terms.empty()) {
        impossible |= bound + keep != 0;
        continue;
      }
      lp.addRow(terms, Relation::Equal, bound + keep);
      continue;
    }
    if (terms.empty() && bound == 0) {
      resting = 0;
      continue;
    }
    resting = lp.addColumn(0);
    terms[resting] -= 1;
    lp.addRow(terms, Relation::Equal, bound);
  }
}

void FlowProgram::limitFlows() {
  std::set<std::vector<std::pair<int, int64_t>>> done;
  for (const FabricSet &set : fabric.sets)
    for (int s = 1; s <= steps; ++s) {
      Terms terms;
      for (int u = 0; u < fabric.ranks; ++u)
        for (int e : set.edges)
          if (int col = flowCol(u, e, s))
            terms[col] += 1;
      if (terms.empty())
        continue;
      terms[roundCol[s - 1]] -= set.cap;
      if (done.insert({terms.begin(), terms.end()}).second)
        lp.addRow(terms, Relation::AtMost, 0);
    }
}

/// Splits the flow of each source into one way a chunk.
Schedule decompose(const FlowProgram &program, const Fabric &fabric,
                   const Collective &coll, int steps) {
  Schedule schedule = emptySchedule(coll, fabric);
  for (int s = 1; s <= steps; ++s)
    schedule.steps.push_back({program.roundsOf(s), {}});
  for (int u = 0; u < coll.ranks; ++u) {
    // Tokens at each host: how each one came there.
    using Way = std::vector<std::pair<int, int>>;
    std::vector<std::vector<Way>> tokens(fabric.hosts);
    std::map<int, std::vector<int>> wanted;
    for (size_t c = 0; c < coll.chunks.size(); ++c)
      if (coll.chunks[c].pre[0] == u && !coll.chunks[c].post.empty() &&
          coll.chunks[c].post[0] != u) {
        wanted[coll.chunks[c].post[0]].push_back(c);
        tokens[u].emplace_back();
      }
    for (int s = 1; s <= steps; ++s) {
      std::vector<std::vector<Way>> arriving(fabric.hosts);
      for (size_t e = 0; e < fabric.edges.size(); ++e)
        for (int k = program.flowOf(u, e, s); k > 0; --k) {
          std::vector<Way> &there = tokens[fabric.edges[e].src];
          if (there.empty())
            break;
          there.back().push_back({static_cast<int>(e), s});
          arriving[fabric.edges[e].dst].push_back(std::move(there.back()));
          there.pop_back();
        }
      for (int h = 0; h < fabric.hosts; ++h)
        for (Way &way : arriving[h])
          tokens[h].push_back(std::move(way));
    }
    for (auto &[rank, chunks] : wanted)
      for (size_t i = 0; i < chunks.size() && i < tokens[rank].size(); ++i) {
        // A way that returns to a host it has seen is cut short there.
        Way way;
        for (auto hop : tokens[rank][i]) {
          int target = fabric.edges[hop.first].dst;
          size_t keep = 0;
          while (keep < way.size() &&
                 fabric.edges[way[keep].first].dst != target)
            ++keep;
          if (target == u) {
            way.clear();
          } else if (keep < way.size()) {
            way.resize(keep + 1);
          } else {
            way.push_back(hop);
          }
        }
        for (auto [edge, s] : way)
          schedule.steps[s - 1].sends.push_back({chunks[i],
                                                 fabric.edges[edge].src,
                                                 fabric.edges[edge].dst,
                                                 SendOp::Copy,
                                                 edge,
                                                 {}});
      }
  }
  for (Step &step : schedule.steps)
    std::stable_sort(
        step.sends.begin(), step.sends.end(),
        [](const Send &a, const Send &b) { return a.chunk < b.chunk; });
  return schedule;
}

Demand demandOf(const Fabric &fabric, const Collective &collective) {
  Demand demand(fabric.ranks, std::vector<int>(fabric.ranks));
  for (const ChunkRelation &chunk : collective.chunks)
    if (!chunk.post.empty() && chunk.post[0] != chunk.pre[0])
      ++demand[chunk.pre[0]][chunk.post[0]];
  return demand;
}

} // namespace

Answer ccn::synth::flowBelow(const Fabric &fabric, const Collective &collective,
                             int steps, int rounds, const Group &group,
                             const Limits &limits) {
  Demand demand = demandOf(fabric, collective);
  return FlowProgram(fabric, demand, steps, 0, group).below(rounds, limits);
}

double ccn::synth::flowRate(const Fabric &fabric, const Collective &collective,
                            int steps, const Group &group,
                            const Limits &limits) {
  Demand demand = demandOf(fabric, collective);
  return FlowProgram(fabric, demand, steps, 0, group).leastRounds(limits);
}

FlowResult ccn::synth::solveFlow(const Fabric &fabric,
                                 const Collective &collective, int steps,
                                 int rounds, const std::vector<Group> &groups,
                                 LpSolver solver, const Limits &limits,
                                 const Forbidden &forbidden) {
  FlowResult result;
  if (!isPointToPoint(collective) || rounds < steps)
    return result;
  Demand demand = demandOf(fabric, collective);
  for (size_t i = 0; i < groups.size(); ++i) {
    FlowProgram program(fabric, demand, steps, rounds, groups[i], forbidden);
    Answer answer = program.relax(solver, limits);
    if (answer == Answer::No) {
      // Averaging any schedule over a group gives an invariant fractional
      // one, so infeasible under a group is infeasible.
      result.answer = Answer::No;
      result.reason = "the linear relaxation (flows of " +
                      std::to_string(fabric.ranks) +
                      " sources, rounds free) has no solution";
      return result;
    }
    if (answer == Answer::Yes) {
      bool last = i + 1 == groups.size();
      answer = program.solve(solver, limits, last ? 1000000 : 200);
      if (answer == Answer::Yes) {
        result.schedule = decompose(program, fabric, collective, steps);
        result.answer = Answer::Yes;
        return result;
      }
    }
    if (limits.expired())
      return result;
    if (i + 1 == groups.size() && answer == Answer::No) {
      result.answer = Answer::No;
      result.reason = "the integer program has no solution";
    }
  }
  return result;
}
