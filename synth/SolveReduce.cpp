//===- SolveReduce.cpp - Searching for all_reduce directly ----------------===//
//
// Trees and general partial sums, under groups of automorphisms and then
// without, with growing effort. "None" comes from cuts, from counting the
// sends of one chunk, or from the exhaustive search of partial sums.
//
//===----------------------------------------------------------------------===//

#include "synth/Flow.h"
#include "synth/ReduceEncoding.h"
#include "synth/SolveImpl.h"
#include "synth/SumOrder.h"

#include <algorithm>
#include <memory>
#include <set>

using namespace ccn::synth;

namespace {

/// The most divisions of the rounds among the steps that are looked at, and the
/// most of them that are searched.
constexpr size_t maxCandidates = 100000, maxVectors = 5000;
/// The most schedules that one model may give when ranks add in different
/// orders.
constexpr int maxDiffering = 20;
/// Parts models with more send events than this for a chunk are not built.
constexpr int maxPartsEvents = 200;

/// What to look for; only AllParts covers every schedule there is.
enum class Search { SpreadTrees, Trees, Parts, AllParts };

class ReduceSearch {
public:
  ReduceSearch(const Fabric &fabric, const Collective &collective, int steps,
               int rounds, const SolveOptions &options)
      : fabric(fabric), coll(collective), steps(steps), rounds(rounds),
        options(options), spend(options) {}

  SolveResult run();

private:
  bool sameForAll() const;
  bool solveOneStep(SolveResult &result) const;
  bool filterVectors(SolveResult &result);
  bool countSends(SolveResult &result);
  static bool forbidDiffering(const Schedule &schedule,
                              const std::vector<char> &values,
                              TreeEncoding &trees);
  bool attempt(Search search, size_t group, size_t vector, int64_t effort,
               SolveResult &result);
  void say(const std::string &text) const {
    if (options.progress)
      options.progress(text);
  }

  const Fabric &fabric;
  const Collective &coll;
  int steps, rounds;
  const SolveOptions &options;
  Effort spend;
  std::vector<Group> groups;
  std::vector<ChunkAction> actions;
  std::vector<std::vector<int>> vectors;
  bool allVectors = true;
  /// Refuted (search, group, vector).
  std::set<std::tuple<Search, size_t, size_t>> dead;
};

bool ReduceSearch::sameForAll() const {
  return std::all_of(
      coll.chunks.begin(), coll.chunks.end(), [&](const ChunkRelation &c) {
        return c.pre == coll.chunks[0].pre && c.post == coll.chunks[0].pre;
      });
}

/// In one step, every rank must send its contribution to every other rank.
/// Decides the question if the ranks have no choice of ways for that.
bool ReduceSearch::solveOneStep(SolveResult &result) const {
  if (steps != 1)
    return false;
  Step step;
  step.rounds = rounds;
  std::vector<int64_t> load(fabric.edges.size());
  for (int src : coll.chunks[0].pre)
    for (int dst : coll.chunks[0].pre) {
      if (src == dst)
        continue;
      std::vector<int> ways;
      for (int edge : fabric.out[src])
        if (fabric.edges[edge].dst == dst)
          ways.push_back(edge);
      if (ways.size() != 1)
        return false;
      for (size_t c = 0; c < coll.chunks.size(); ++c)
        step.sends.push_back({static_cast<int>(c),
                              src,
                              dst,
                              SendOp::Stash,
                              ways.front(),
                              {src}});
      load[ways.front()] += static_cast<int64_t>(coll.chunks.size());
    }
  result.method = "one step";
  result.answer = Answer::Yes;
  for (const FabricSet &set : fabric.sets) {
    int64_t total = 0;
    for (int edge : set.edges)
      total += load[edge];
    if (total <= static_cast<int64_t>(set.cap) * rounds)
      continue;
    result.answer = Answer::No;
    result.certificate = "in one step every rank sends to every other, " +
                         std::to_string(total) + " chunks over " + set.name +
                         ", which carries " +
                         std::to_string(int64_t(set.cap) * rounds);
    return true;
  }
  result.schedule.collective = coll;
  result.schedule.topology = fabric.topology.name;
  result.schedule.hosts = fabric.hosts;
  result.schedule.steps = {step};
  return true;
}

/// Keeps the round vectors with which the contribution of each rank can reach
/// all others, as in a broadcast.
bool ReduceSearch::filterVectors(SolveResult &result) {
  std::vector<std::vector<int>> candidates;
  allVectors = forEachRoundVector(steps, rounds, [&](const auto &vector) {
    candidates.push_back(vector);
    return candidates.size() < maxCandidates;
  });
  // Up and down mirror each other in most schedules: palindromes first, then
  // even ones.
  auto badness = [](const std::vector<int> &v) {
    int64_t off = 0, squares = 0;
    for (size_t i = 0; i < v.size(); ++i) {
      off += std::abs(v[i] - v[v.size() - 1 - i]);
      squares += static_cast<int64_t>(v[i]) * v[i];
    }
    return std::pair(off, squares);
  };
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [&](const auto &a, const auto &b) { return badness(a) < badness(b); });
  // A search that is bounded comes to few of them.
  bool bounded = options.maxConflicts > 0;
  size_t mostKept = bounded ? 20 : maxVectors;
  size_t mostTried = bounded ? 200 : maxVectors;
  size_t refuted = 0;
  std::string why;
  for (const std::vector<int> &vector : candidates) {
    if (options.limits.expired() || vectors.size() >= mostKept ||
        vectors.size() + refuted >= mostTried) {
      allVectors = false;
      break;
    }
    std::optional<StepCut> cut;
    for (int r : coll.chunks[0].pre) {
      Collective part = coll;
      part.combining = false;
      for (ChunkRelation &chunk : part.chunks)
        chunk.pre = {r};
      cut = findStepCut(fabric, part, vector);
      if (!cut)
        continue;
      ++refuted;
      if (refuted <= 20)
        why += (why.empty() ? "" : "\n") + std::string("contributions of ") +
               "rank " + std::to_string(r) + ": " + cut->str(fabric);
      break;
    }
    if (!cut)
      vectors.push_back(vector);
  }
  if (vectors.empty() && allVectors) {
    result.answer = Answer::No;
    result.method = "step cut";
    result.certificate = why;
    return true;
  }
  return false;
}

/// Proves that one chunk alone needs so many sends in these steps that C
/// chunks need more than all links carry.
bool ReduceSearch::countSends(SolveResult &result) {
  int64_t room = 0;
  for (const FabricSet &set : fabric.sets) {
    if (set.edges.size() != 1)
      return false;
    room += static_cast<int64_t>(set.cap) * rounds;
  }
  int64_t most = room / static_cast<int64_t>(coll.chunks.size());
  if (most > 4 * fabric.hosts)
    return false;
  say("counting the sends of one chunk");
  Collective one = coll;
  one.chunks.resize(1);
  one.chunksPerNode = one.bufferChunks = 1;
  Group trivial = trivialGroup(fabric);
  ChunkAction action = alikeAction(trivial, 1);
  // As many rounds in each step as any round vector has.
  std::vector<int> wide(steps, rounds - steps + 1);
  PartsEncoding encoding({fabric, one, wide, trivial, action}, true);
  encoding.limitSends(static_cast<int>(most));
  SatResult sat = solveModel(encoding.model(), satSolverOf(options.engine),
                             options.limits, 3000000, options.seed);
  if (sat.answer != Answer::No)
    return false;
  result.answer = Answer::No;
  result.method =
      std::string("count of sends (") + satSolverName(options.engine) + ")";
  result.certificate =
      "in " + std::to_string(steps) +
      " steps one chunk alone needs more than " + std::to_string(most) +
      " sends, so " + std::to_string(coll.chunks.size()) +
      " chunks need at least " +
      std::to_string((most + 1) * static_cast<int64_t>(coll.chunks.size())) +
      ", and all links carry " + std::to_string(room) + " in " +
      std::to_string(rounds) + " rounds";
  return true;
}

/// Forbids the trees of sums by which ranks add a chunk's contributions in
/// different orders. Returns whether there were any. The schedule must be
/// right.
bool ReduceSearch::forbidDiffering(const Schedule &schedule,
                                   const std::vector<char> &values,
                                   TreeEncoding &trees) {
  bool any = false;
  std::vector<std::vector<std::string>> orders = sumOrders(schedule);
  for (size_t c = 0; c < orders.size(); ++c)
    if (std::set(orders[c].begin(), orders[c].end()).size() > 1) {
      trees.forbidSum(static_cast<int>(c), values);
      any = true;
    }
  return any;
}

/// Returns true when `result` holds a schedule.
bool ReduceSearch::attempt(Search search, size_t group, size_t vector,
                           int64_t effort, SolveResult &result) {
  auto key = std::tuple(search, group, vector);
  bool parts = search == Search::Parts || search == Search::AllParts;
  if (actions[group].empty() || dead.count(key))
    return false;
  say(std::string(parts ? "partial sums, " : "trees, ") +
      satSolverName(options.engine) + ", group of " +
      std::to_string(groups[group].size()) + ", round vector " +
      std::to_string(vector + 1) + " of " + std::to_string(vectors.size()));
  ReduceProblem problem{fabric, coll, vectors[vector], groups[group],
                        actions[group]};
  if (search == Search::SpreadTrees && !TreeEncoding::canSpread(problem)) {
    dead.insert(key);
    return false;
  }
  std::unique_ptr<ReduceEncoding> encoding;
  TreeEncoding *trees = nullptr;
  if (parts)
    encoding =
        std::make_unique<PartsEncoding>(problem, search == Search::AllParts);
  else
    encoding.reset(
        trees = new TreeEncoding(problem, search == Search::SpreadTrees));
  bool wanted = false;
  for (int tries = 0; !wanted; ++tries) {
    SatResult sat =
        tries < maxDiffering
            ? solveModel(encoding->model(), satSolverOf(options.engine),
                         options.limits, effort, options.seed)
            : SatResult();
    if (sat.answer == Answer::No)
      dead.insert(key);
    if (sat.answer == Answer::Unknown)
      spend.undecidedAfter(effort);
    if (sat.answer != Answer::Yes)
      return false;
    result.schedule = encoding->decode(sat.values);
    // Two that exchange halves may each have them in parts, and then add them
    // in different orders. A wrong schedule has no such order: solve() says
    // what is wrong with it.
    wanted = options.mode != ReduceMode::OneSum || !trees ||
             !check(result.schedule).empty() ||
             !forbidDiffering(result.schedule, sat.values, *trees);
  }
  result.answer = Answer::Yes;
  result.method = std::string("direct ") + (parts ? "partial sums" : "trees") +
                  " (" + satSolverName(options.engine);
  if (groups[group].size() > 1)
    result.method += ", group of " + std::to_string(groups[group].size());
  result.method += ")";
  return true;
}

SolveResult ReduceSearch::run() {
  SolveResult result;
  if (options.engine == Engine::Flow) {
    result.certificate = "flows do not decide combining collectives";
    return result;
  }
  if (!sameForAll()) {
    result.certificate = "the groups have no such schedule each on its own "
                         "links, no composition was found, and the direct "
                         "search needs every chunk to "
                         "be summed over, and needed by, the same ranks";
    return result;
  }
  if (solveOneStep(result) || filterVectors(result))
    return result;
  // All chunks are alike, so a group need not map ranks freely.
  groups = candidateGroups(fabric, coll, 3);
  for (const Group &group : groups)
    actions.push_back(alikeAction(group, coll.chunks.size()));
  int events = static_cast<int>(fabric.edges.size()) * steps;
  bool canParts =
      events <= maxPartsEvents && options.mode != ReduceMode::OneSum;
  bool counted = false;
  size_t trivial = groups.size() - 1;
  // Without symmetry, for all round vectors.
  auto deadEverywhere = [&](Search search) {
    for (size_t v = 0; v < vectors.size(); ++v)
      if (!dead.count({search, trivial, v}))
        return false;
    return true;
  };
  for (int64_t effort : {3000, 30000, 300000, 3000000, 0}) {
    if (!spend.allows(effort))
      break;
    // Few steps need overlapping sums, many have good trees.
    std::vector<Search> order = {Search::SpreadTrees, Search::Trees,
                                 Search::Parts};
    if (steps <= 3)
      std::reverse(order.begin(), order.end());
    for (Search kind : order)
      for (size_t g = 0; g < groups.size(); ++g)
        for (size_t v = 0; v < vectors.size(); ++v) {
          if (options.limits.expired() || !spend.allows(effort))
            return result;
          if ((effort == 0 && g != trivial) ||
              (kind == Search::Parts && !canParts))
            continue;
          bool deep = g == trivial && (effort == 0 || effort >= 300000);
          Search search =
              kind == Search::Parts && deep ? Search::AllParts : kind;
          if (attempt(search, g, v, effort, result))
            return result;
        }
    if (!counted && canParts && effort >= 30000 && !options.limits.expired()) {
      counted = true;
      if (countSends(result))
        return result;
    }
    // Of what may be searched for nothing is left.
    if (options.mode == ReduceMode::OneSum && allVectors &&
        deadEverywhere(Search::Trees)) {
      result.certificate = "no trees do it, and other sums are formed by "
                           "several ranks";
      return result;
    }
    bool refuted = canParts && allVectors && deadEverywhere(Search::AllParts);
    if (refuted) {
      result.answer = Answer::No;
      result.method = satSolverName(options.engine);
      result.certificate =
          "exhaustive search over partial sums without symmetry";
      return result;
    }
  }
  return result;
}

} // namespace

SolveResult ccn::synth::solveReduceDirect(const Fabric &fabric,
                                          const Collective &collective,
                                          int steps, int rounds,
                                          const SolveOptions &options) {
  return ReduceSearch(fabric, collective, steps, rounds, options).run();
}
