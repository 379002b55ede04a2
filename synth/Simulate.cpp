//===- Simulate.cpp - Predicting times of schedules -----------------------===//
//
// The alpha-beta model: whole steps one after the other, and events on links
// that serve one send at a time (Events.h).
//
//===----------------------------------------------------------------------===//

#include "synth/Events.h"
#include "synth/SumOrder.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::synth;

namespace {

class Simulator {
public:
  Simulator(const Schedule &schedule, const Fabric &fabric, double bytes,
            double partialFactor);
  Result<Timing> run();

private:
  std::string collect();
  double stepwise() const;
  /// The fabric's first edge from one host to another, or -1.
  int firstEdge(int src, int dst);
  /// The problem's edge for one of the fabric's.
  int timedEdge(int edge);

  const Schedule &schedule;
  const Fabric &fabric;
  const double partialFactor;
  const EdgeTimes times;
  EventProblem problem;
  /// By the fabric's edges; -1: not used yet.
  std::vector<int> renamed;
  /// Of each host, its neighbours with the first edge to each, sorted.
  std::vector<std::vector<std::pair<int, int>>> neighbours;
};

Simulator::Simulator(const Schedule &schedule, const Fabric &fabric,
                     double bytes, double partialFactor)
    : schedule(schedule), fabric(fabric), partialFactor(partialFactor),
      times(fabric, bytes / schedule.collective.bufferChunks),
      renamed(fabric.edges.size(), -1), neighbours(fabric.hosts) {
  problem.hosts = schedule.hosts;
  problem.cost = times.cost();
}

int Simulator::firstEdge(int src, int dst) {
  std::vector<std::pair<int, int>> &list = neighbours[src];
  if (list.empty()) {
    for (int e : fabric.out[src])
      list.push_back({fabric.edges[e].dst, e});
    std::stable_sort(
        list.begin(), list.end(),
        [](const auto &a, const auto &b) { return a.first < b.first; });
  }
  auto it = std::lower_bound(
      list.begin(), list.end(), dst,
      [](const std::pair<int, int> &a, int host) { return a.first < host; });
  return it == list.end() || it->first != dst ? -1 : it->second;
}

int Simulator::timedEdge(int edge) {
  int &known = renamed[edge];
  if (known >= 0)
    return known;
  known = static_cast<int>(problem.edges.size());
  problem.edges.push_back(times.edge(edge));
  return known;
}

std::string Simulator::collect() {
  std::vector<std::vector<bool>> partial = partialSends(schedule);
  problem.sends.reserve(static_cast<size_t>(schedule.totalSends()));
  for (size_t i = 0; i < schedule.steps.size(); ++i)
    for (size_t j = 0; j < schedule.steps[i].sends.size(); ++j) {
      const Send &send = schedule.steps[i].sends[j];
      int edge = send.edge < 0 ? firstEdge(send.src, send.dst) : send.edge;
      if (edge < 0)
        return "step " + std::to_string(i + 1) +
               ": the topology has no link from rank " +
               std::to_string(send.src) + " to rank " +
               std::to_string(send.dst);
      problem.sends.push_back({send.chunk, send.src, send.dst,
                               static_cast<int>(i), timedEdge(edge),
                               partial[i][j] ? partialFactor : 1});
    }
  return "";
}

double Simulator::stepwise() const {
  double total = 0;
  std::vector<double> busy(problem.cost.size());
  for (size_t at = 0; at < problem.sends.size();) {
    int step = problem.sends[at].step;
    std::fill(busy.begin(), busy.end(), 0);
    double latency = 0, longest = 0;
    for (; at < problem.sends.size() && problem.sends[at].step == step; ++at) {
      const TimedEdge &edge = problem.edges[problem.sends[at].edge];
      for (int r : edge.resources)
        longest = std::max(longest,
                           busy[r] += problem.cost[r] * problem.sends[at].size);
      latency = std::max(latency, edge.us);
    }
    total += latency + longest;
  }
  return total;
}

Result<Timing> Simulator::run() {
  std::string wrong = collect();
  if (!wrong.empty())
    return error(wrong);
  Timing timing;
  timing.stepwiseUs = stepwise();
  timing.eventUs = simulateEvents(problem);
  return timing;
}

} // namespace

Result<Timing> ccn::synth::simulate(const Schedule &schedule,
                                    const Fabric &fabric, double bytes,
                                    double partialFactor) {
  if (fabric.hosts < schedule.hosts)
    return error("expected a topology with " + std::to_string(schedule.hosts) +
                 " hosts, found " + std::to_string(fabric.hosts));
  return Simulator(schedule, fabric, bytes, partialFactor).run();
}

Result<double>
ccn::synth::simulateMessages(const std::vector<Message> &messages,
                             const Fabric &fabric, double bytes) {
  // Distances to a host are those from it where all edges are turned round.
  Fabric back = reversed(fabric);
  std::vector<std::vector<int>> distances(fabric.hosts);
  Schedule schedule;
  schedule.hosts = fabric.hosts;
  // Each is a chunk of its own, so that none waits for another.
  schedule.collective.chunks.resize(messages.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    auto [src, dst] = messages[i];
    std::vector<int> &left = distances[dst];
    if (left.empty())
      left = back.distancesFrom(dst);
    if (left[src] < 0)
      return error("the topology has no way from rank " + std::to_string(src) +
                   " to rank " + std::to_string(dst));
    for (size_t hop = 0; src != dst; ++hop) {
      if (hop == schedule.steps.size())
        schedule.steps.emplace_back();
      for (int edge : fabric.out[src])
        if (left[fabric.edges[edge].dst] + 1 == left[src]) {
          Send send;
          send.chunk = static_cast<int>(i);
          send.src = src;
          send.dst = src = fabric.edges[edge].dst;
          send.edge = edge;
          schedule.steps[hop].sends.push_back(send);
          break;
        }
    }
  }
  Result<Timing> timing = simulate(schedule, fabric, bytes);
  if (!timing)
    return timing.status();
  return timing->eventUs;
}
