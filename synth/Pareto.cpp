//===- Pareto.cpp - The frontier of latency against bandwidth -------------===//
//
// The sweep; bounds are in RateBound.cpp, table, JSON and SVG in
// ParetoOutput.cpp.
//
//===----------------------------------------------------------------------===//

#include "synth/Pareto.h"
#include "synth/Bound.h"

#include <algorithm>
#include <optional>
#include <set>

using namespace ccn;
using namespace ccn::synth;

std::string_view ccn::synth::proofName(Proof proof) {
  switch (proof) {
  case Proof::Optimal:
    return "optimal";
  case Proof::BySolver:
    return "optimal, no certificate";
  case Proof::UpToChunks:
    return "optimal up to the chunks tried";
  case Proof::Open:
    return "best found";
  }
  return "";
}

namespace {

/// Candidates whose rate is more than this many times the bound are not tried.
constexpr double hopeless = 4;

/// If conflicts are bounded, the search ends after this many candidates with
/// more chunks have failed.
constexpr int fewInVain = 4;

/// The effort of the first tries for a point that meets its bound, before
/// anything else is tried.
constexpr int64_t quickConflicts = 30000;
constexpr double quickSeconds = 3;
constexpr int quickTries = 3;

/// Candidates with more rounds are never tried.
int maxRounds(int chunks) { return 64 * chunks; }

/// Candidates (C, R) of one number of steps, the best rate first.
std::vector<std::pair<int, int>> candidates(int steps, int granule,
                                            int maxChunks, Fraction least,
                                            const Fraction *best) {
  std::vector<std::pair<int, int>> result;
  for (int c = granule; c <= maxChunks; c += granule)
    for (int r = steps; r <= maxRounds(maxChunks); ++r) {
      Fraction rate(r, c);
      if (best && !(rate < *best))
        break;
      if (rate < least)
        continue;
      result.push_back({c, r});
      if (!best && rate.value() > hopeless * least.value() && r > steps)
        break;
    }
  std::sort(result.begin(), result.end(), [](auto a, auto b) {
    Fraction x(a.second, a.first), y(b.second, b.first);
    if (!(x == y))
      return x < y;
    return a.first < b.first;
  });
  return result;
}

/// The search for the best rate in one number of steps. Its functions return
/// what went wrong, or nothing.
class StepSweep {
public:
  StepSweep(const Fabric &fabric,
            const std::function<Result<Collective>(int chunks)> &collective,
            const ParetoOptions &options, int steps, const RateBound &bound)
      : fabric(fabric), collective(collective), options(options), steps(steps),
        least(bound.rate), hasCuts(!bound.cuts.empty()) {}

  /// Takes the first of `list` that is found.
  std::string takeFirst(const std::vector<std::pair<int, int>> &list);
  /// The same for the first few that meet the bound, with little effort.
  std::string takeBound(const std::vector<std::pair<int, int>> &list);
  /// Takes what is found by a few tries.
  std::string findSome(int granule, int maxChunks);
  /// What is proved about `found` when nothing else is tried.
  Proof proof() const {
    if (found->rate() == least)
      return hasCuts ? Proof::Optimal : Proof::BySolver;
    return undecided ? Proof::Open : Proof::UpToChunks;
  }

  std::optional<ParetoPoint> found;
  const Fraction &bound() const { return least; }

private:
  /// What a `quick` try leaves undecided may be tried again.
  std::string attempt(int chunks, int rounds, bool &yes, bool quick = false);
  /// Takes the fewest rounds that are found for `chunks`.
  std::string halveRounds(int chunks);
  /// Takes more chunks, and then rounds, as long as that gains.
  std::string climb(int granule, int maxChunks);

  const Fabric &fabric;
  const std::function<Result<Collective>(int chunks)> &collective;
  const ParetoOptions &options;
  int steps;
  Fraction least;
  bool hasCuts;
  bool undecided = false;
  /// Those that were tried in vain.
  std::set<std::pair<int, int>> failed;
};

/// If there is a schedule, sets `yes` and `found`.
std::string StepSweep::attempt(int chunks, int rounds, bool &yes, bool quick) {
  yes = false;
  if (failed.count({chunks, rounds}))
    return "";
  Result<Collective> problem = collective(chunks);
  if (!problem)
    return problem.message();
  const Limits &limits = options.solve.limits;
  SolveOptions solveOptions = options.solve;
  double seconds = std::min(options.secondsPerTry, limits.remaining());
  if (quick) {
    seconds = std::min(seconds, quickSeconds);
    solveOptions.maxConflicts = quickConflicts;
  }
  solveOptions.limits = Limits::seconds(seconds, limits.interrupt);
  if (options.solve.progress)
    options.solve.progress("(" + std::to_string(chunks) + "," +
                           std::to_string(steps) + "," +
                           std::to_string(rounds) + ")");
  Result<SolveResult> solved =
      solve(fabric, *problem, steps, rounds, solveOptions);
  if (!solved)
    return solved.message();
  if (solved->answer == Answer::Unknown && quick)
    return "";
  undecided |= solved->answer == Answer::Unknown;
  if (solved->answer != Answer::Yes) {
    failed.insert({chunks, rounds});
    return "";
  }
  yes = true;
  ParetoPoint point;
  point.chunks = chunks;
  point.steps = steps;
  point.rounds = rounds;
  point.lowerBound = least;
  point.method = solved->method;
  point.schedule = std::move(solved->schedule);
  found = std::move(point);
  return "";
}

std::string StepSweep::takeFirst(const std::vector<std::pair<int, int>> &list) {
  bool yes = false;
  for (auto [chunks, rounds] : list) {
    if (options.solve.limits.expired() || yes)
      break;
    if (std::string wrong = attempt(chunks, rounds, yes); !wrong.empty())
      return wrong;
  }
  return "";
}

std::string StepSweep::takeBound(const std::vector<std::pair<int, int>> &list) {
  bool yes = false;
  for (size_t i = 0; i < list.size() && i < quickTries && !yes; ++i) {
    auto [chunks, rounds] = list[i];
    if (options.solve.limits.expired() || !(Fraction(rounds, chunks) == least))
      break;
    if (std::string wrong = attempt(chunks, rounds, yes, true); !wrong.empty())
      return wrong;
  }
  return "";
}

std::string StepSweep::halveRounds(int chunks) {
  // `low` rounds are too few, and `high`, where there are some, are enough or
  // no gain. Few rounds have few ways to share them among the steps: up in
  // small leaps, from the bound.
  int low = steps - 1, high = 0;
  if (least.num > 0)
    low = std::max(low, static_cast<int>((least.num * chunks - 1) / least.den));
  if (found)
    high = static_cast<int>(
        (int64_t(found->rounds) * chunks + found->chunks - 1) / found->chunks);
  // One chunk may use each link once where the chunks of all ranks would.
  double most = std::max<double>(steps, fabric.ranks * least.value() * chunks);
  int rounds = low + 1;
  while (low < rounds && (high > 0 ? rounds < high : rounds <= most) &&
         !options.solve.limits.expired()) {
    bool yes = false;
    if (std::string wrong = attempt(chunks, rounds, yes); !wrong.empty())
      return wrong;
    (yes ? high : low) = rounds;
    rounds = high > 0 ? low + (high - low) / 2 : low + low / 4 + 1;
  }
  return "";
}

std::string StepSweep::climb(int granule, int maxChunks) {
  int inVain = 0;
  for (int rounds = found ? found->rounds : 0;
       found && inVain < fewInVain && least < found->rate() &&
       !options.solve.limits.expired();
       ++rounds)
    for (bool yes = true; yes && !options.solve.limits.expired();) {
      // The fewest that gain.
      int64_t chunks =
          (int64_t(rounds) * found->chunks / found->rounds / granule + 1) *
          granule;
      if (chunks > maxChunks)
        return "";
      if (Fraction(rounds, chunks) < least)
        break;
      if (std::string wrong = attempt(static_cast<int>(chunks), rounds, yes);
          !wrong.empty())
        return wrong;
      inVain += !yes;
    }
  return "";
}

std::string StepSweep::findSome(int granule, int maxChunks) {
  std::string wrong = halveRounds(granule);
  if (wrong.empty())
    wrong = climb(granule, maxChunks);
  // As many chunks as ranks are often found where fewer are not: each rank adds
  // one.
  if (wrong.empty() && options.solve.mode == ReduceMode::OneSum)
    wrong = halveRounds(maxChunks);
  return wrong;
}

/// The sweep over the numbers of steps. Its functions return what went wrong,
/// or nothing.
class Frontier {
public:
  Frontier(const Fabric &fabric,
           const std::function<Result<Collective>(int chunks)> &collective,
           const ParetoOptions &options)
      : fabric(fabric), collective(collective), options(options),
        limits(options.solve.limits) {}

  std::string run();
  ParetoResult result;

private:
  std::string prepare();
  /// One number of steps after the other. If conflicts are bounded, few tries
  /// are made for each. Else the first tries of all come first, which find the
  /// points that meet the bound of their number of steps: these are often found
  /// at once where points of fewer steps take long.
  std::string sweep();
  /// The tries for a point that meets the bound.
  std::string quickly(int steps, StepSweep &search);
  /// Everything that may be tried for a number of steps.
  std::string finish(int steps, StepSweep &search);
  /// Accepts what a search has found.
  void take(StepSweep &search);
  bool isBounded() const { return options.solve.maxConflicts > 0; }
  void accept(const ParetoPoint &point);
  /// The best rate of the points with fewer steps, or null.
  const Fraction *bestBefore(int steps);
  const ParetoPoint *knownAt(int steps) const;
  bool reachesBound() const {
    return !result.points.empty() &&
           result.points.back().rate() == result.bandwidthBound;
  }

  const Fabric &fabric;
  const std::function<Result<Collective>(int chunks)> &collective;
  const ParetoOptions &options;
  const Limits &limits;
  std::optional<Collective> smallest;
  int granule = 1, maxChunks = 0, first = 1, maxSteps = 0;
  Fraction best;
};

std::string Frontier::prepare() {
  // The smallest C there is tells the granule (all_to_all: the ranks).
  granule = std::max(1, options.granule);
  Result<Collective> least = collective(granule);
  if (!least) {
    granule = fabric.ranks;
    least = collective(granule);
    if (!least)
      return least.message();
  }
  smallest = std::move(*least);
  maxChunks = options.maxChunks;
  if (maxChunks == 0)
    maxChunks = options.solve.mode == ReduceMode::OneSum ? fabric.ranks
                : granule > 1                            ? 4 * granule
                : smallest->bufferChunks == 1            ? 48
                                                         : 8;
  // Compositions have as many chunks as shares of ranks.
  if (options.solve.mode == ReduceMode::Composition &&
      smallest->kind == CollectiveKind::AllReduce)
    granule = fabric.ranks;
  maxChunks = std::max(maxChunks, granule);
  StepBound steps = stepBound(fabric, *smallest);
  if (steps.steps < 0)
    return describe(steps, fabric);
  result.bandwidthBound = roundBound(fabric, *smallest).roundsPerChunk;
  first = std::max({1, steps.steps, options.minSteps});
  maxSteps = options.maxSteps > 0 ? options.maxSteps : first + 12;
  return "";
}

const ParetoPoint *Frontier::knownAt(int steps) const {
  for (const ParetoPoint &point : options.known)
    if (point.steps == steps)
      return &point;
  return nullptr;
}

const Fraction *Frontier::bestBefore(int steps) {
  const Fraction *found = nullptr;
  for (const ParetoPoint &point : result.points)
    if (point.steps < steps) {
      best = point.rate();
      found = &best;
    }
  return found;
}

/// Adds a point, unless one with fewer steps is as good, and drops those with
/// more steps that are no better.
void Frontier::accept(const ParetoPoint &point) {
  const Fraction *before = bestBefore(point.steps);
  if (before && !(point.rate() < *before))
    return;
  std::erase_if(result.points, [&](const ParetoPoint &p) {
    return p.steps > point.steps && !(p.rate() < point.rate());
  });
  auto place =
      std::find_if(result.points.begin(), result.points.end(),
                   [&](const ParetoPoint &p) { return p.steps > point.steps; });
  result.points.insert(place, point);
  if (options.onPoint)
    options.onPoint(point);
}

void Frontier::take(StepSweep &search) {
  if (!search.found)
    return;
  search.found->proof = search.proof();
  accept(*search.found);
}

std::string Frontier::finish(int steps, StepSweep &search) {
  std::string wrong =
      isBounded()
          ? search.findSome(granule, maxChunks)
          : search.takeFirst(candidates(steps, granule, maxChunks,
                                        search.bound(), bestBefore(steps)));
  if (wrong.empty())
    take(search);
  return wrong;
}

std::string Frontier::quickly(int steps, StepSweep &search) {
  std::string wrong = search.takeBound(
      candidates(steps, granule, maxChunks, search.bound(), bestBefore(steps)));
  if (wrong.empty())
    take(search);
  return wrong;
}

std::string Frontier::sweep() {
  std::vector<std::pair<int, StepSweep>> open;
  for (int steps = first; steps <= maxSteps && !reachesBound(); ++steps) {
    if (const ParetoPoint *known = knownAt(steps)) {
      accept(*known);
      continue;
    }
    if (limits.expired()) {
      result.outOfTime = true;
      break;
    }
    RateBound bound = rateBound(fabric, *smallest, steps, limits);
    StepSweep search(fabric, collective, options, steps, bound);
    std::string wrong =
        isBounded() ? finish(steps, search) : quickly(steps, search);
    if (!wrong.empty())
      return wrong;
    if (!isBounded() && !search.found)
      open.emplace_back(steps, std::move(search));
  }
  for (auto &[steps, search] : open) {
    const Fraction *before = bestBefore(steps);
    if (before && !(search.bound() < *before))
      continue;
    if (std::string wrong = finish(steps, search); !wrong.empty())
      return wrong;
    if (limits.expired() && !search.found)
      result.open.push_back(steps);
  }
  result.outOfTime |=
      isBounded() ? limits.expired() && !reachesBound() : !result.open.empty();
  return "";
}

std::string Frontier::run() {
  std::string wrong = prepare();
  if (wrong.empty())
    wrong = sweep();
  result.reachesBandwidthBound = reachesBound();
  return wrong;
}

} // namespace

Result<ParetoResult> ccn::synth::paretoFrontier(
    const Fabric &fabric,
    const std::function<Result<Collective>(int chunks)> &collective,
    const ParetoOptions &options) {
  Frontier frontier(fabric, collective, options);
  if (std::string wrong = frontier.run(); !wrong.empty())
    return error(wrong);
  return std::move(frontier.result);
}
