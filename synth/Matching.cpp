//===- Matching.cpp - Chunks matched to links as time goes on -------------===//
//
// See Matching.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Matching.h"
#include "synth/Events.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <tuple>

using namespace ccn;
using namespace ccn::synth;

namespace {

using Words = std::vector<uint64_t>;

class Matching {
public:
  Matching(const Fabric &fabric, const Collective &collective,
           const MatchingOptions &options);
  Result<Schedule> run(double &us);

private:
  size_t slot(int chunk, int host) const {
    return static_cast<size_t>(chunk) * fabric.hosts + host;
  }
  bool isFree(int edge) const {
    return std::all_of(edges[edge].resources.begin(),
                       edges[edge].resources.end(),
                       [&](int r) { return freeAt[r] <= now; });
  }
  /// The chunk that the edge takes, or -1.
  int choose(int edge);
  bool othersAreFaster(int edge, double arrival) const;
  void start(int edge, int chunk);
  void touch(int edge) {
    if (!touched[edge])
      wake.push_back(edge);
    touched[edge] = 1;
  }
  void tryTouched();
  bool wakeSlowLinks();

  const Fabric &fabric;
  const Collective &coll;
  const MatchingOptions &options;
  std::mt19937_64 random;
  std::vector<TimedEdge> edges;
  std::vector<double> cost;
  /// How long each edge is busy with a chunk.
  std::vector<double> busy;
  std::vector<std::vector<int>> usersOf;
  std::vector<double> freeAt;
  /// By host, sets of chunks: those that are there, and those that are needed
  /// and neither there nor on their way.
  std::vector<Words> there, lacking;
  std::vector<int> lacks;
  /// How many hosts have a chunk or soon will.
  std::vector<int> copies;
  /// The step after which a chunk is at a host, and the last of each edge.
  std::vector<int> stepAt, stepOf;
  /// A moment with an arrival (chunk, host), or with (-1, resource) free.
  using Moment = std::tuple<double, int, int>;
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments;
  std::vector<char> touched;
  std::vector<int> wake;
  Schedule schedule;
  double now = 0, last = 0;
  int64_t missing = 0;
  bool sparing;
};

Matching::Matching(const Fabric &fabric, const Collective &collective,
                   const MatchingOptions &options)
    : fabric(fabric), coll(collective), options(options), random(options.seed),
      lacks(fabric.hosts), copies(collective.chunks.size()),
      stepAt(collective.chunks.size() * fabric.hosts),
      stepOf(fabric.edges.size()), touched(fabric.edges.size()),
      sparing(options.sparesSlowLinks) {
  EdgeTimes times(fabric, options.bytes / coll.bufferChunks);
  cost = times.cost();
  usersOf.resize(cost.size());
  freeAt.resize(cost.size());
  for (size_t e = 0; e < fabric.edges.size(); ++e) {
    edges.push_back(times.edge(static_cast<int>(e)));
    double longest = 0;
    for (int r : edges.back().resources) {
      usersOf[r].push_back(static_cast<int>(e));
      longest = std::max(longest, cost[r]);
    }
    busy.push_back(longest);
  }
  size_t words = (coll.chunks.size() + 63) / 64;
  there.assign(fabric.hosts, Words(words));
  lacking.assign(fabric.hosts, Words(words));
  for (size_t c = 0; c < coll.chunks.size(); ++c) {
    uint64_t bit = uint64_t(1) << (c % 64);
    for (int rank : coll.chunks[c].post)
      lacking[rank][c / 64] |= bit;
    for (int rank : coll.chunks[c].pre) {
      there[rank][c / 64] |= bit;
      lacking[rank][c / 64] &= ~bit;
      ++copies[c];
    }
  }
  for (int host = 0; host < fabric.hosts; ++host) {
    for (uint64_t word : lacking[host])
      lacks[host] += __builtin_popcountll(word);
    missing += lacks[host];
  }
  schedule.collective = coll;
  schedule.topology = fabric.topology.name;
  schedule.hosts = fabric.hosts;
}

/// Whether the receiver's other links could bring everything that it lacks
/// before this link brings the chunk.
bool Matching::othersAreFaster(int edge, double arrival) const {
  int dst = fabric.edges[edge].dst;
  double rate = 0, latency = 0;
  for (int e : fabric.in[dst])
    if (busy[e] < busy[edge]) {
      rate += 1 / busy[e];
      latency = std::max(latency, edges[e].us);
    }
  return rate > 0 && now + lacks[dst] / rate + latency < arrival;
}

int Matching::choose(int edge) {
  const Words &have = there[fabric.edges[edge].src];
  const Words &want = lacking[fabric.edges[edge].dst];
  double arrival = now + busy[edge] + edges[edge].us;
  if ((options.deadline > 0 && arrival > options.deadline) ||
      (sparing && othersAreFaster(edge, arrival)))
    return -1;
  int best = -1, fewest = std::numeric_limits<int>::max();
  uint64_t draws = 0;
  for (size_t w = 0; w < have.size(); ++w)
    for (uint64_t both = have[w] & want[w]; both; both &= both - 1) {
      int chunk = static_cast<int>(w) * 64 + __builtin_ctzll(both);
      if (copies[chunk] > fewest)
        continue;
      // Each of the rarest is as likely as the others.
      draws = copies[chunk] < fewest ? 1 : draws + 1;
      fewest = copies[chunk];
      if (draws == 1 || random() % draws == 0)
        best = chunk;
    }
  return best;
}

void Matching::start(int edge, int chunk) {
  auto [src, dst] = std::pair(fabric.edges[edge].src, fabric.edges[edge].dst);
  int step = std::max(stepOf[edge], stepAt[slot(chunk, src)]);
  stepOf[edge] = step;
  stepAt[slot(chunk, dst)] = step + 1;
  if (step >= static_cast<int>(schedule.steps.size()))
    schedule.steps.resize(step + 1);
  schedule.steps[step].sends.push_back(
      {chunk, src, dst, SendOp::Copy, edge, {}});
  for (int r : edges[edge].resources) {
    freeAt[r] = now + cost[r];
    moments.push({freeAt[r], -1, r});
  }
  double arrival = now + busy[edge] + edges[edge].us;
  moments.push({arrival, chunk, dst});
  last = std::max(last, arrival);
  lacking[dst][chunk / 64] &= ~(uint64_t(1) << (chunk % 64));
  --lacks[dst];
  ++copies[chunk];
  --missing;
}

/// Fast links choose their chunks first; equally fast links choose in a random
/// order.
void Matching::tryTouched() {
  std::shuffle(wake.begin(), wake.end(), random);
  std::stable_sort(wake.begin(), wake.end(),
                   [&](int a, int b) { return busy[a] < busy[b]; });
  for (int edge : wake) {
    touched[edge] = 0;
    if (lacks[fabric.edges[edge].dst] == 0 || !isFree(edge))
      continue;
    int chunk = choose(edge);
    if (chunk >= 0)
      start(edge, chunk);
  }
  wake.clear();
}

/// If no send is under way because slow links were left idle, lets slow links
/// send. Returns whether any of them does.
bool Matching::wakeSlowLinks() {
  if (!sparing)
    return false;
  sparing = false;
  for (size_t e = 0; e < edges.size(); ++e)
    touch(static_cast<int>(e));
  tryTouched();
  return !moments.empty();
}

Result<Schedule> Matching::run(double &us) {
  for (size_t e = 0; e < edges.size(); ++e)
    touch(static_cast<int>(e));
  tryTouched();
  // Moments that differ by rounding alone are the same.
  constexpr double equal = 1e-9;
  while (missing > 0 && (!moments.empty() || wakeSlowLinks())) {
    if (options.limits.expired())
      return error("out of time");
    now = std::get<0>(moments.top()) * (1 + equal);
    while (!moments.empty() && std::get<0>(moments.top()) <= now) {
      auto [time, chunk, where] = moments.top();
      moments.pop();
      if (chunk >= 0)
        there[where][chunk / 64] |= uint64_t(1) << (chunk % 64);
      for (int edge : chunk >= 0 ? fabric.out[where] : usersOf[where])
        touch(edge);
    }
    tryTouched();
  }
  if (missing > 0)
    return error(options.deadline > 0
                     ? "no schedule before the deadline"
                     : "a chunk cannot reach all that need it");
  us = last;
  fitRounds(schedule, fabric);
  return std::move(schedule);
}

} // namespace

Result<Schedule> ccn::synth::matchingSchedule(const Fabric &fabric,
                                              const Collective &collective,
                                              const MatchingOptions &options,
                                              double &us) {
  if (collective.combining)
    return error(collective.name + ": expected a collective that copies");
  return Matching(fabric, collective, options).run(us);
}
