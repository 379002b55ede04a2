//===- Events.cpp - Sends that wait for data and links --------------------===//
//
// See Events.h. Time goes from moment to moment. At each of them sends whose
// data has arrived, and the first in line at each resource that has become
// free, are candidates; they are tried in the given order, and each either
// starts or gets in line at a resource that is still busy.
//
//===----------------------------------------------------------------------===//

#include "synth/Events.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

using namespace ccn::synth;

EdgeTimes::EdgeTimes(const Fabric &fabric, double chunkBytes)
    : fabric(fabric), setsOf(fabric.topology.links.size()) {
  const Topology &t = fabric.topology;
  // One GB/s moves 1000 bytes in a microsecond.
  for (const Link &link : t.links)
    costs.push_back(chunkBytes / (link.gbps * 1000));
  for (const EdgeSet &set : t.edgeSets) {
    for (int l : set.links)
      setsOf[l].push_back(static_cast<int>(costs.size()));
    costs.push_back(chunkBytes / (set.gbps * 1000));
  }
}

TimedEdge EdgeTimes::edge(int edge) const {
  TimedEdge timed;
  timed.us = fabric.edges[edge].us;
  std::vector<int> &uses = timed.resources;
  for (int l : fabric.edges[edge].path) {
    uses.push_back(l);
    uses.insert(uses.end(), setsOf[l].begin(), setsOf[l].end());
  }
  std::sort(uses.begin(), uses.end());
  uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  return timed;
}

namespace {

/// A queue from which the least goes first.
template <typename T>
using Queue = std::priority_queue<T, std::vector<T>, std::greater<>>;

/// What happens to each chunk at each host, by steps: a send of a step comes
/// after what arrives in earlier steps and before what arrives in its own.
class Histories {
public:
  explicit Histories(const EventProblem &problem);

  struct Record {
    /// The chunk and the host, then the step, then whether it is an arrival.
    uint64_t key;
    int send;
    bool isArrival() const { return key & 1; }
    uint64_t place() const { return key >> stepBits; }
  };
  std::vector<Record> records;
  /// The first record of each history, and the number of all records.
  std::vector<int> starts;
  /// Of each send, the record of its arrival and the history it is in.
  std::vector<int> arrival, history;

private:
  static constexpr int stepBits = 25;
};

Histories::Histories(const EventProblem &problem)
    : arrival(problem.sends.size()), history(problem.sends.size()) {
  records.reserve(2 * problem.sends.size());
  for (size_t i = 0; i < problem.sends.size(); ++i) {
    const TimedSend &send = problem.sends[i];
    auto add = [&](int host, bool arrives) {
      uint64_t place = static_cast<uint64_t>(send.chunk) *
                           static_cast<uint64_t>(problem.hosts) +
                       static_cast<uint64_t>(host);
      records.push_back({place << stepBits |
                             static_cast<uint64_t>(send.step) << 1 |
                             static_cast<uint64_t>(arrives),
                         static_cast<int>(i)});
    };
    add(send.src, false);
    add(send.dst, true);
  }
  std::sort(records.begin(), records.end(),
            [](const Record &a, const Record &b) {
              return std::tie(a.key, a.send) < std::tie(b.key, b.send);
            });
  for (size_t i = 0; i < records.size(); ++i) {
    if (i == 0 || records[i].place() != records[i - 1].place())
      starts.push_back(static_cast<int>(i));
    if (records[i].isArrival()) {
      arrival[records[i].send] = static_cast<int>(i);
      history[records[i].send] = static_cast<int>(starts.size()) - 1;
    }
  }
  starts.push_back(static_cast<int>(records.size()));
}

class Events {
public:
  Events(const EventProblem &problem, const Histories &histories,
         const std::vector<int> &order)
      : problem(problem), order(order), histories(histories),
        rank(order.size()), cursor(histories.starts), latest(cursor.size()),
        arrivedAt(histories.records.size(), -1), lines(problem.edges.size()),
        place(problem.edges.size(), nowhere), freeAt(problem.cost.size()),
        waiting(problem.cost.size()), alarmed(problem.cost.size()) {
    for (size_t i = 0; i < order.size(); ++i)
      rank[order[i]] = static_cast<int>(i);
  }
  double run();

private:
  /// Where an edge can stand besides in line at a resource.
  enum Place { nowhere = -2, amongCandidates = -1 };
  /// An edge with the rank of the send that is first on it, and the resource
  /// that has let it go (-1: none). It is out of date if the edge has moved on
  /// or another send has become its first.
  struct Candidate {
    int rank, edge, resource;
    friend bool operator>(const Candidate &a, const Candidate &b) {
      return a.rank > b.rank;
    }
  };

  void advance(int history);
  void becomeReady(int send);
  void settle(int edge);
  void standInLine(int edge, int resource);
  void offer(int resource);
  void wakeWhenFree(int resource);
  bool isCurrent(int edge, int atRank, int where) const {
    return place[edge] == where && lines[edge].top() == atRank;
  }
  void tryCandidates();
  void start(int edge);

  const EventProblem &problem;
  const std::vector<int> &order;
  const Histories &histories;
  std::vector<int> rank;
  /// How far each history has come, and when the last arrival before was.
  std::vector<int> cursor;
  std::vector<double> latest;
  /// By record, -1 if it has not happened.
  std::vector<double> arrivedAt;
  /// The ranks of the sends of each edge whose data is there.
  std::vector<Queue<int>> lines;
  std::vector<int> place;
  std::vector<double> freeAt;
  /// The edges in line at each resource, each with the rank of its first send.
  std::vector<Queue<std::pair<int, int>>> waiting;
  /// Whether a resource will be looked at when it is free.
  std::vector<char> alarmed;
  /// Moments and what they bring: a send's data, or (-1 - r) that resource r
  /// is free.
  Queue<std::pair<double, int>> moments;
  Queue<Candidate> candidates;
  double now = 0, last = 0;
};

/// Goes on in a history up to the next arrival that has not happened.
void Events::advance(int history) {
  int &at = cursor[history];
  for (int end = histories.starts[history + 1]; at < end; ++at) {
    const Histories::Record &record = histories.records[at];
    if (!record.isArrival()) {
      if (latest[history] <= now)
        becomeReady(record.send);
      else
        moments.push({latest[history], record.send});
    } else if (arrivedAt[at] < 0) {
      return;
    } else {
      latest[history] = std::max(latest[history], arrivedAt[at]);
    }
  }
}

void Events::becomeReady(int send) {
  int edge = problem.sends[send].edge;
  Queue<int> &line = lines[edge];
  line.push(rank[send]);
  if (line.top() != rank[send])
    return;
  if (place[edge] >= 0)
    standInLine(edge, place[edge]);
  else
    settle(edge);
}

/// Puts an edge with sends in line at the resource that is busy for longest, or
/// among the candidates if none is busy.
void Events::settle(int edge) {
  int busiest = -1;
  for (int r : problem.edges[edge].resources)
    if (freeAt[r] > now && (busiest < 0 || freeAt[r] > freeAt[busiest]))
      busiest = r;
  if (busiest >= 0) {
    standInLine(edge, busiest);
    return;
  }
  place[edge] = amongCandidates;
  candidates.push({lines[edge].top(), edge, -1});
}

void Events::standInLine(int edge, int resource) {
  place[edge] = resource;
  waiting[resource].push({lines[edge].top(), edge});
  wakeWhenFree(resource);
}

void Events::wakeWhenFree(int resource) {
  if (alarmed[resource])
    return;
  alarmed[resource] = 1;
  moments.push({freeAt[resource], -1 - resource});
}

/// Makes the first in line at a free resource a candidate.
void Events::offer(int resource) {
  for (auto &line = waiting[resource]; !line.empty();) {
    auto [atRank, edge] = line.top();
    line.pop();
    if (!isCurrent(edge, atRank, resource))
      continue;
    place[edge] = amongCandidates;
    candidates.push({atRank, edge, resource});
    return;
  }
}

void Events::start(int edge) {
  const TimedEdge &way = problem.edges[edge];
  int index = order[lines[edge].top()];
  const TimedSend &send = problem.sends[index];
  lines[edge].pop();
  double slowest = 0;
  for (int r : way.resources) {
    slowest = std::max(slowest, problem.cost[r] * send.size);
    freeAt[r] = now + problem.cost[r] * send.size;
  }
  double end = now + way.us + slowest;
  last = std::max(last, end);
  if (lines[edge].empty())
    place[edge] = nowhere;
  else
    settle(edge);
  arrivedAt[histories.arrival[index]] = end;
  advance(histories.history[index]);
}

void Events::tryCandidates() {
  while (!candidates.empty()) {
    auto [atRank, edge, resource] = candidates.top();
    candidates.pop();
    if (isCurrent(edge, atRank, amongCandidates)) {
      const std::vector<int> &uses = problem.edges[edge].resources;
      if (std::all_of(uses.begin(), uses.end(),
                      [&](int r) { return freeAt[r] <= now; }))
        start(edge);
      else
        settle(edge);
    }
    if (resource < 0 || waiting[resource].empty())
      continue;
    if (freeAt[resource] <= now)
      offer(resource);
    else
      wakeWhenFree(resource);
  }
}

double Events::run() {
  for (size_t h = 0; h + 1 < histories.starts.size(); ++h)
    advance(static_cast<int>(h));
  tryCandidates();
  while (!moments.empty()) {
    now = moments.top().first;
    for (; !moments.empty() && moments.top().first <= now;) {
      int what = moments.top().second;
      moments.pop();
      if (what >= 0) {
        becomeReady(what);
        continue;
      }
      int resource = -1 - what;
      alarmed[resource] = 0;
      if (freeAt[resource] <= now)
        offer(resource);
      else
        wakeWhenFree(resource);
    }
    tryCandidates();
  }
  return last;
}

} // namespace

/// The sends of each step by how far their receivers come after their senders.
static std::vector<int> rotated(const EventProblem &problem,
                                std::vector<int> order) {
  auto key = [&](int index) {
    const TimedSend &send = problem.sends[index];
    int onward = send.dst - send.src;
    return std::pair(send.step, onward < 0 ? onward + problem.hosts : onward);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return key(a) < key(b); });
  return order;
}

/// How long the resource that is busy for longest is busy.
static double busiest(const EventProblem &problem) {
  std::vector<double> busy(problem.cost.size());
  double most = 0;
  for (const TimedSend &send : problem.sends)
    for (int r : problem.edges[send.edge].resources)
      most = std::max(most, busy[r] += problem.cost[r] * send.size);
  return most;
}

double ccn::synth::simulateEvents(const EventProblem &problem) {
  Histories histories(problem);
  std::vector<int> listed(problem.sends.size());
  std::iota(listed.begin(), listed.end(), 0);
  double time = Events(problem, histories, listed).run();
  // What takes hardly longer than its busiest resource needs no other order.
  constexpr double negligible = 1.001;
  if (time <= negligible * busiest(problem))
    return time;
  std::vector<int> other = rotated(problem, listed);
  if (other == listed)
    return time;
  return std::min(time, Events(problem, histories, other).run());
}
