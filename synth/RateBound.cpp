//===- RateBound.cpp - Least rounds a chunk in some steps -----------------===//
//
// See Pareto.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Bound.h"
#include "synth/Flow.h"
#include "synth/LinearProgram.h"
#include "synth/Pareto.h"
#include "synth/Prove.h"
#include "synth/Symmetry.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace ccn;
using namespace ccn::synth;

/// The simplest fraction near x, denominators up to `limit`.
static Fraction nearby(double x, int64_t limit) {
  int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  double rest = x;
  for (int i = 0; i < 40; ++i) {
    double whole = std::floor(rest + 1e-12);
    int64_t a = static_cast<int64_t>(whole);
    if (q1 > 0 && a > (limit - q0) / q1)
      break;
    int64_t p2 = a * p1 + p0, q2 = a * q1 + q0;
    p0 = p1;
    q0 = q1;
    p1 = p2;
    q1 = q2;
    if (std::abs(rest - whole) < 1e-9 ||
        std::abs(static_cast<double>(p1) / static_cast<double>(q1) - x) < 1e-10)
      break;
    rest = 1 / (rest - whole);
  }
  return Fraction(p1, q1);
}

namespace {

/// One cut as a row: sum over the steps of caps[s] * r[s] >= need.
struct CutRow {
  std::vector<int64_t> caps;
  int64_t need;
  std::string text;
  TimedCut cut;
  friend bool operator<(const CutRow &a, const CutRow &b) {
    return std::tie(a.caps, a.need) < std::tie(b.caps, b.need);
  }
};

class CutPlanes {
public:
  CutPlanes(const Fabric &fabric, std::vector<Collective> parts, int steps,
            const Limits &limits)
      : fabric(fabric), parts(std::move(parts)), steps(steps), limits(limits) {}

  RateBound run(int chunksPerNode);

private:
  /// Adds a violated cut of every part; false if there is none.
  bool addCuts(const std::vector<double> &rounds);
  RateBound proof(const std::vector<double> &duals, int chunksPerNode) const;
  RateBound proofByZ3(double total, int chunksPerNode) const;

  const Fabric &fabric;
  std::vector<Collective> parts;
  int steps;
  const Limits &limits;
  std::vector<CutRow> rows;
  std::set<CutRow> known;
};

bool CutPlanes::addCuts(const std::vector<double> &rounds) {
  // Fractions of a round in units of 1 / scale: demands grow with it.
  constexpr int scale = 5000;
  std::vector<int> scaled;
  for (double r : rounds)
    scaled.push_back(static_cast<int>(r * scale + 1e-6));
  bool added = false;
  for (const Collective &part : parts)
    for (int dst = 0; dst < part.ranks && !limits.expired(); ++dst) {
      auto cut = findStepCut(fabric, part, scaled, {dst}, scale);
      if (!cut)
        continue;
      CutRow row;
      row.caps.assign(steps, 0);
      for (auto [link, step] : cut->links)
        row.caps[step - 1] += fabric.linkCap[link];
      row.need = (cut->need - cut->fixed) / scale;
      row.text = "rank " + std::to_string(dst) + " needs " +
                 std::to_string(row.need) + " chunks over links that carry";
      for (int s = 0; s < steps; ++s)
        row.text += " " + std::to_string(row.caps[s]);
      row.text += " a round in steps 1 to " + std::to_string(steps);
      row.cut = timedCut(fabric.topology, steps, *cut);
      if (!known.insert(row).second)
        continue;
      rows.push_back(std::move(row));
      added = true;
    }
  return added;
}

RateBound CutPlanes::proof(const std::vector<double> &duals,
                           int chunksPerNode) const {
  // Weights w with sum over cuts of w * caps[s] <= 1 for every s prove that
  // all rounds together are at least the sum of w * need.
  std::vector<Fraction> weights;
  int64_t common = 1;
  for (double d : duals) {
    weights.push_back(nearby(std::max(d, 0.0), 2000));
    common = std::lcm(common, weights.back().den);
    if (common > 1000000000)
      return {};
  }
  for (int s = 0; s < steps; ++s) {
    __int128 sum = 0;
    for (size_t i = 0; i < rows.size(); ++i)
      sum += static_cast<__int128>(weights[i].num) * (common / weights[i].den) *
             rows[i].caps[s];
    if (sum > common)
      return {};
  }
  __int128 total = 0;
  RateBound bound;
  for (size_t i = 0; i < rows.size(); ++i) {
    total += static_cast<__int128>(weights[i].num) * (common / weights[i].den) *
             rows[i].need;
    if (weights[i].num == 0)
      continue;
    bound.why.push_back("weight " + weights[i].str() + ": " + rows[i].text);
    bound.cuts.push_back(rows[i].cut);
    bound.cuts.back().weight = weights[i].num * (common / weights[i].den);
  }
  bound.rate = Fraction(static_cast<int64_t>(total), common * chunksPerNode);
  return bound;
}

/// Where the weights have unwieldy denominators: the cuts in exact arithmetic.
RateBound CutPlanes::proofByZ3(double total, int chunksPerNode) const {
  Fraction least = nearby(total, 2000);
  if (std::abs(least.value() - total) > 1e-7)
    return {};
  LinearProgram lp;
  LinearProgram::Terms all;
  for (int s = 0; s < steps; ++s)
    all[lp.addColumn(0)] = least.den;
  RateBound bound;
  for (const CutRow &row : rows) {
    LinearProgram::Terms terms;
    for (int s = 0; s < steps; ++s)
      terms[s + 1] = row.caps[s];
    lp.addRow(terms, LinearProgram::Relation::AtLeast, row.need);
    bound.why.push_back(row.text);
  }
  lp.addRow(all, LinearProgram::Relation::Below, least.num);
  if (lp.relax(LpSolver::Z3, limits) != Answer::No)
    return {};
  bound.rate = Fraction(least.num, least.den * chunksPerNode);
  return bound;
}

RateBound CutPlanes::run(int chunksPerNode) {
  std::vector<double> rounds(steps, 0.0), values, duals;
  while (addCuts(rounds) && !limits.expired()) {
    LinearProgram lp;
    LinearProgram::Terms all;
    for (int s = 0; s < steps; ++s)
      all[lp.addColumn(0)] = 1;
    for (const CutRow &row : rows) {
      LinearProgram::Terms terms;
      for (int s = 0; s < steps; ++s)
        terms[s + 1] = row.caps[s];
      lp.addRow(terms, LinearProgram::Relation::AtLeast, row.need);
    }
    if (lp.minimize(all, limits, values, duals) != Answer::Yes)
      return {};
    for (int s = 0; s < steps; ++s)
      rounds[s] = values[s + 1];
  }
  if (duals.size() != rows.size())
    return {};
  double total = std::accumulate(rounds.begin(), rounds.end(), 0.0);
  RateBound bound = proof(duals, chunksPerNode);
  if (bound.rate.value() * chunksPerNode < total - 1e-7) {
    RateBound exact = proofByZ3(total, chunksPerNode);
    if (bound.rate < exact.rate)
      return exact;
  }
  return bound;
}

} // namespace

RateBound ccn::synth::rateBound(const Fabric &fabric,
                                const Collective &collective, int steps,
                                const Limits &limits) {
  // The bound of all cuts holds in any number of steps.
  RoundBound cut = roundBound(fabric, collective);
  RateBound overall;
  overall.rate = cut.roundsPerChunk;
  overall.why = {describe(cut, fabric)};
  overall.cuts = {timedCut(fabric.topology, steps, cut)};
  overall.cuts[0].weight = 1;
  auto better = [&](RateBound other) {
    return overall.rate < other.rate ? other : overall;
  };
  if (Result<Collective> other = dual(collective);
      other &&
      (collective.combining || collective.kind == CollectiveKind::Gather)) {
    // Reversed: the same schedules backwards.
    Fabric back = reversed(fabric);
    RateBound bound = rateBound(back, *other, steps, limits);
    for (TimedCut &timed : bound.cuts)
      timed = turned(fabric.topology, steps, timed);
    return better(std::move(bound));
  }
  if (isPointToPoint(collective)) {
    std::vector<Group> groups = candidateGroups(fabric, collective);
    double least = flowRate(fabric, collective, steps, groups[0], limits);
    if (least <= 0)
      return overall;
    Fraction rounds = nearby(least, 200);
    // Scale the demand so that the rounds are whole.
    Collective scaled = collective;
    for (int64_t i = 1; i < rounds.den; ++i)
      scaled.chunks.insert(scaled.chunks.end(), collective.chunks.begin(),
                           collective.chunks.end());
    if (std::abs(rounds.value() - least) > 1e-7 ||
        flowBelow(fabric, scaled, steps, static_cast<int>(rounds.num),
                  groups[0], limits) != Answer::No)
      return overall;
    RateBound flow;
    flow.rate = Fraction(rounds.num, rounds.den * collective.chunksPerNode);
    flow.why = {"no fractional flow in " + std::to_string(steps) +
                " steps has fewer than " + flow.rate.str() + " rounds a chunk"};
    return better(std::move(flow));
  }
  std::vector<Collective> parts;
  if (!collective.combining) {
    parts.push_back(collective);
  } else {
    for (int r = 0; r < collective.ranks; ++r) {
      Collective part = collective;
      part.combining = false;
      for (ChunkRelation &chunk : part.chunks)
        chunk = std::binary_search(chunk.pre.begin(), chunk.pre.end(), r)
                    ? ChunkRelation{{r}, chunk.post}
                    : ChunkRelation{{r}, {r}};
      parts.push_back(std::move(part));
    }
  }
  return better(CutPlanes(fabric, std::move(parts), steps, limits)
                    .run(collective.chunksPerNode));
}
