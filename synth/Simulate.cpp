//===- Simulate.cpp - Predicting times of schedules -----------------------===//
//
// The alpha-beta model: whole steps one after the other, and events on links
// that serve one send at a time.
//
//===----------------------------------------------------------------------===//

#include "synth/SumOrder.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

using namespace ccn;
using namespace ccn::synth;

namespace {

class Simulator {
public:
  Simulator(const Schedule &schedule, const Fabric &fabric, double bytes,
            double partialFactor);
  Result<Timing> run();

private:
  struct Item {
    const Send *send;
    int step, edge;
    /// How many times as large as a chunk it is.
    double size;
    /// Arrivals still to come, and when the last of the others was.
    int waiting = 0;
    double ready = 0;
  };
  /// When an item can start, its step and its index: the first goes first.
  using Start = std::tuple<double, int, int>;
  template <typename T>
  using Queue = std::priority_queue<T, std::vector<T>, std::greater<>>;
  /// The items of one edge whose data is there or on its way, of which those
  /// that only wait for the edge go by their steps. So an item is moved once,
  /// however many others go first.
  struct Line {
    Queue<Start> coming;
    Queue<std::pair<int, int>> there;
    /// Where the edge stands in the queue of all, if it does.
    std::optional<Start> start;

    bool empty() const { return coming.empty() && there.empty(); }
    /// Of the item that goes first if the edge is free from some time on, which
    /// does not go back.
    Start first(double free) {
      for (; !coming.empty() && std::get<0>(coming.top()) <= free; coming.pop())
        there.push({std::get<1>(coming.top()), std::get<2>(coming.top())});
      if (there.empty())
        return coming.top();
      auto [step, index] = there.top();
      return {free, step, index};
    }
    /// Takes that item out.
    void pop() {
      if (there.empty())
        coming.pop();
      else
        there.pop();
    }
  };
  std::string collect();
  double stepwise() const;
  double events();
  /// The links of an edge and the edge sets they are in.
  const std::vector<int> &resources(int edge);
  size_t slot(int chunk, int host) const {
    return static_cast<size_t>(chunk) * schedule.hosts + host;
  }

  const Schedule &schedule;
  const Fabric &fabric;
  const double partialFactor;
  /// Microseconds one chunk keeps a resource busy.
  std::vector<double> cost;
  std::vector<std::vector<int>> setsOf, used;
  std::vector<Item> items;
};

Simulator::Simulator(const Schedule &schedule, const Fabric &fabric,
                     double bytes, double partialFactor)
    : schedule(schedule), fabric(fabric), partialFactor(partialFactor),
      used(fabric.edges.size()) {
  const Topology &t = fabric.topology;
  double chunkBytes = bytes / schedule.collective.bufferChunks;
  // One GB/s moves 1000 bytes in a microsecond.
  for (const Link &link : t.links)
    cost.push_back(chunkBytes / (link.gbps * 1000));
  setsOf.resize(t.links.size());
  for (const EdgeSet &set : t.edgeSets) {
    for (int l : set.links)
      setsOf[l].push_back(static_cast<int>(cost.size()));
    cost.push_back(chunkBytes / (set.gbps * 1000));
  }
}

const std::vector<int> &Simulator::resources(int edge) {
  std::vector<int> &result = used[edge];
  if (result.empty()) {
    for (int l : fabric.edges[edge].path) {
      result.push_back(l);
      result.insert(result.end(), setsOf[l].begin(), setsOf[l].end());
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
  }
  return result;
}

std::string Simulator::collect() {
  std::vector<std::vector<bool>> partial = partialSends(schedule);
  for (size_t i = 0; i < schedule.steps.size(); ++i)
    for (size_t j = 0; j < schedule.steps[i].sends.size(); ++j) {
      const Send &send = schedule.steps[i].sends[j];
      int edge = send.edge;
      if (edge < 0) {
        const std::vector<int> &out = fabric.out[send.src];
        auto it = std::find_if(out.begin(), out.end(), [&](int e) {
          return fabric.edges[e].dst == send.dst;
        });
        if (it == out.end())
          return "step " + std::to_string(i + 1) +
                 ": the topology has no link from rank " +
                 std::to_string(send.src) + " to rank " +
                 std::to_string(send.dst);
        edge = *it;
      }
      resources(edge);
      items.push_back({&send, static_cast<int>(i), edge,
                       partial[i][j] ? partialFactor : 1});
    }
  return "";
}

double Simulator::stepwise() const {
  double total = 0;
  for (size_t at = 0; at < items.size();) {
    int step = items[at].step;
    std::vector<double> busy(cost.size());
    double latency = 0;
    for (; at < items.size() && items[at].step == step; ++at) {
      for (int r : used[items[at].edge])
        busy[r] += cost[r] * items[at].size;
      latency = std::max(latency, fabric.edges[items[at].edge].us);
    }
    total += latency + *std::max_element(busy.begin(), busy.end());
  }
  return total;
}

double Simulator::events() {
  // Who sends each chunk on from each host.
  std::vector<std::vector<int>> senders(schedule.collective.chunks.size() *
                                        schedule.hosts);
  for (size_t i = 0; i < items.size(); ++i)
    senders[slot(items[i].send->chunk, items[i].send->src)].push_back(
        static_cast<int>(i));
  for (const Item &item : items)
    for (int later : senders[slot(item.send->chunk, item.send->dst)])
      items[later].waiting += items[later].step > item.step;
  std::vector<Line> lines(fabric.edges.size());
  std::vector<double> freeAt(cost.size());
  // Edges by the earliest start of one of their items, or a start before it:
  // resources are taken since, and then the edge goes back.
  std::set<std::pair<Start, int>> queue;
  auto moveTo = [&](int edge, std::optional<Start> start) {
    std::optional<Start> &known = lines[edge].start;
    if (known)
      queue.erase({*known, edge});
    if (start)
      queue.insert({*start, edge});
    known = start;
  };
  auto add = [&](int index) {
    const Item &item = items[index];
    Line &line = lines[item.edge];
    Start start(item.ready, item.step, index);
    line.coming.push(start);
    if (!line.start || start < *line.start)
      moveTo(item.edge, start);
  };
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].waiting == 0)
      add(static_cast<int>(i));
  double last = 0;
  while (!queue.empty()) {
    auto [expected, edge] = *queue.begin();
    Line &line = lines[edge];
    double free = 0;
    for (int r : used[edge])
      free = std::max(free, freeAt[r]);
    Start start = line.first(free);
    if (expected < start) {
      moveTo(edge, start);
      continue;
    }
    line.pop();
    moveTo(edge, line.empty() ? std::nullopt : std::optional(line.first(free)));
    auto [now, step, index] = start;
    const Item &item = items[index];
    double slowest = 0;
    for (int r : used[edge]) {
      slowest = std::max(slowest, cost[r] * item.size);
      freeAt[r] = now + cost[r] * item.size;
    }
    double end = now + fabric.edges[edge].us + slowest;
    last = std::max(last, end);
    for (int later : senders[slot(item.send->chunk, item.send->dst)]) {
      Item &next = items[later];
      if (next.step <= item.step)
        continue;
      next.ready = std::max(next.ready, end);
      if (--next.waiting == 0)
        add(later);
    }
  }
  return last;
}

Result<Timing> Simulator::run() {
  std::string problem = collect();
  if (!problem.empty())
    return error(problem);
  Timing timing;
  timing.stepwiseUs = stepwise();
  timing.eventUs = events();
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
