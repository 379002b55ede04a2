//===- Explain.cpp - A schedule in words ----------------------------------===//
//
// See Explain.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Explain.h"
#include "synth/Bound.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Names beyond these are left out of a list.
constexpr size_t maxNames = 16;
/// Steps that differ beyond these are left out, but for the last ones.
constexpr size_t maxFirst = 12, maxLast = 2;

std::string counted(int64_t count, const std::string &one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// The schedule with the rounds that its sends need on the fabric, of which the
/// unit may be another than that of the schedule's own rounds.
Schedule fitted(Schedule schedule, const Fabric &fabric) {
  for (Step &step : schedule.steps) {
    step.rounds = 1;
    for (Send &send : step.sends)
      for (size_t i = 0; send.edge < 0 && i < fabric.out[send.src].size(); ++i)
        if (fabric.edges[fabric.out[send.src][i]].dst == send.dst)
          send.edge = fabric.out[send.src][i];
  }
  fitRounds(schedule, fabric);
  return schedule;
}

class Explanation {
public:
  Explanation(const Schedule &schedule, const Fabric &fabric, double bytes)
      : schedule(fitted(schedule, fabric)), fabric(fabric), t(fabric.topology),
        bytes(bytes), bound(roundBound(fabric, schedule.collective)),
        isInCut(t.nodes.size()) {
    for (int node : bound.nodes)
      isInCut[node] = 1;
  }

  std::string text();

private:
  void sayBounds();
  void sayBottleneck();
  void saySteps();
  std::string sayStep(const Step &step) const;
  std::string sayHosts(const std::map<int, int64_t> &counts,
                       const std::string &verb) const;
  void sayLastWay();
  void sayTime();

  const std::vector<int> &pathOf(const Send &send) const {
    return fabric.edges[send.edge].path;
  }
  template <typename Nodes, typename Name>
  static std::string list(const Nodes &nodes, const Name &name) {
    std::string result;
    size_t shown = 0;
    for (int node : nodes) {
      if (++shown > maxNames)
        return result + " and " + std::to_string(nodes.size() - maxNames) +
               " more";
      result += (shown > 1 ? ", " : "") + name(node);
    }
    return result;
  }

  const Schedule schedule;
  const Fabric &fabric;
  const Topology &t;
  const double bytes;
  const RoundBound bound;
  /// The nodes of the bottleneck.
  std::vector<char> isInCut;
  std::ostringstream out;
};

/// The cut, or the number of sends, in a sentence.
void Explanation::sayBottleneck() {
  if (bound.byCount) {
    out << "each chunk takes "
        << counted(bound.demand /
                       static_cast<int64_t>(schedule.collective.chunks.size()),
                   "send")
        << ", and all links together carry " << counted(bound.capacity, "chunk")
        << " a round";
    return;
  }
  std::vector<int> inside, outside;
  for (int node : fabric.hostNode)
    (isInCut[node] ? inside : outside).push_back(node);
  auto name = [&](int node) { return t.nodes[node].name; };
  // The side with fewer names says the same.
  bool isInto = outside.size() < inside.size();
  out << counted(bound.demand, "chunk") << " must "
      << (isInto ? "get to " : "leave ")
      << list(isInto ? outside : inside, name) << ", and the links "
      << (isInto ? "there" : "out of there") << " carry "
      << counted(bound.capacity, "chunk") << " a round";
}

void Explanation::sayBounds() {
  const Collective &c = schedule.collective;
  StepBound fewest = stepBound(fabric, c);
  out << "What bounds it:\n";
  if (fewest.steps > 0)
    out << "  steps: data of " << fabric.hostName(fewest.path.front())
        << " gets to " << fabric.hostName(fewest.path.back()) << " in "
        << counted(fewest.steps, "step") << " at least ("
        << list(fewest.path, [&](int host) { return fabric.hostName(host); })
        << "); the schedule has " << schedule.steps.size() << "\n";
  if (bound.roundsPerChunk.num <= 0 || bound.roundsPerChunk.den <= 0)
    return;
  double rounds = bound.roundsPerChunk.value() * c.chunksPerNode;
  double us = keptByRounding(fabric) * rounds * bytes / c.bufferChunks /
              (fabric.unitGBps * 1000);
  out << "  the bottleneck: ";
  sayBottleneck();
  char least[64];
  std::snprintf(least, sizeof least, "%.3f us", us);
  out << ": " << number(rounds) << " rounds, or " << least
      << ", at least; the schedule's steps need " << schedule.totalRounds()
      << (schedule.totalRounds() <= rounds + 1e-9
              ? ", so that it is never idle\n"
              : "\n");
}

/// "each GPU sends 2", or who sends how many.
std::string Explanation::sayHosts(const std::map<int, int64_t> &counts,
                                  const std::string &verb) const {
  std::set<int64_t> values;
  for (auto [host, count] : counts)
    values.insert(count);
  constexpr size_t maxNamed = 3;
  // Hosts besides the ranks are CPUs, which come last.
  bool areAllRanks =
      static_cast<int>(counts.size()) == schedule.collective.ranks &&
      counts.rbegin()->first < schedule.collective.ranks;
  if (values.size() == 1 && (counts.size() <= maxNamed || areAllRanks)) {
    std::vector<int> hosts;
    for (auto [host, count] : counts)
      hosts.push_back(host);
    std::string who = areAllRanks ? "each rank" : list(hosts, [&](int host) {
      return fabric.hostName(host);
    });
    return who + " " + verb +
           (hosts.size() == 1 || who == "each rank" ? "s " : " ") +
           std::to_string(*values.begin());
  }
  std::string least = std::to_string(*values.begin());
  return counted(static_cast<int64_t>(counts.size()), "host") + " " + verb +
         (counts.size() == 1 ? "s " : " ") + least +
         (values.size() == 1 ? "" : " to " + std::to_string(*values.rbegin()));
}

std::string Explanation::sayStep(const Step &step) const {
  std::map<int, int64_t> from, to;
  std::map<SendOp, int64_t> ops;
  std::vector<int64_t> onLink(t.links.size());
  int64_t crossing = 0, room = 0;
  for (const Send &send : step.sends) {
    ++from[send.src];
    ++to[send.dst];
    ++ops[send.op];
    for (int l : pathOf(send))
      ++onLink[l];
  }
  size_t used = 0, full = 0;
  for (size_t l = 0; l < onLink.size(); ++l) {
    int64_t most = static_cast<int64_t>(fabric.linkCap[l]) * step.rounds;
    used += onLink[l] > 0;
    full += onLink[l] > 0 && onLink[l] >= most;
    if (!isInCut[t.links[l].src] || isInCut[t.links[l].dst])
      continue;
    crossing += onLink[l];
    room += most;
  }
  std::string text = " (" + counted(step.rounds, "round") + "): ";
  std::string what;
  for (auto [op, count] : ops)
    what += (what.empty() ? "" : ", ") + counted(count, "chunk") +
            (op == SendOp::Copy ? (count == 1 ? " is copied" : " are copied")
             : op == SendOp::Reduce ? (count == 1 ? " is added" : " are added")
                                    : " kept apart to be added");
  if (step.sends.empty())
    return text + "nothing is sent";
  text += what + "; " + sayHosts(from, "send") + ", " +
          sayHosts(to, "receive") + "; " + std::to_string(used) + " of " +
          counted(static_cast<int64_t>(t.links.size()), "link") + " in use, " +
          std::to_string(full) + " full";
  if (room > 0)
    text += "; through the bottleneck " + std::to_string(crossing) +
            " of the " + std::to_string(room) + " that fit";
  return text;
}

void Explanation::saySteps() {
  out << "What it does:\n";
  struct Run {
    size_t first, last;
    std::string text;
  };
  std::vector<Run> runs;
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    std::string text = sayStep(schedule.steps[i]);
    if (!runs.empty() && runs.back().text == text)
      runs.back().last = i;
    else
      runs.push_back({i, i, text});
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i == maxFirst && runs.size() > maxFirst + maxLast) {
      size_t next = runs.size() - maxLast;
      out << "  ... " << runs[next].first - runs[i].first
          << " steps more that differ ...\n";
      i = next;
    }
    const Run &run = runs[i];
    if (run.first == run.last)
      out << "  step " << run.first + 1 << run.text << "\n";
    else
      out << "  steps " << run.first + 1 << " to " << run.last + 1 << ", each"
          << run.text << "\n";
  }
}

/// Backwards from a send of the last step, by what came last to who sends it.
void Explanation::sayLastWay() {
  std::vector<const Step *> steps;
  for (const Step &step : schedule.steps)
    steps.push_back(&step);
  while (!steps.empty() && steps.back()->sends.empty())
    steps.pop_back();
  if (steps.empty())
    return;
  // By chunk and host, the last arrival before a step.
  struct Hop {
    size_t step;
    const Send *send;
  };
  std::map<std::pair<int, int>, std::vector<Hop>> arrivals;
  for (size_t i = 0; i < steps.size(); ++i)
    for (const Send &send : steps[i]->sends)
      arrivals[{send.chunk, send.dst}].push_back({i, &send});
  auto wayOf = [&](const Send &last) {
    std::vector<Hop> way = {{steps.size() - 1, &last}};
    while (true) {
      const std::vector<Hop> &before =
          arrivals[{last.chunk, way.back().send->src}];
      auto it =
          std::find_if(before.rbegin(), before.rend(), [&](const Hop &hop) {
            return hop.step < way.back().step;
          });
      if (it == before.rend())
        break;
      way.push_back(*it);
    }
    std::reverse(way.begin(), way.end());
    return way;
  };
  std::vector<Hop> longest;
  for (const Send &send : steps.back()->sends)
    if (std::vector<Hop> way = wayOf(send); way.size() > longest.size())
      longest = std::move(way);
  const Send &first = *longest.front().send;
  out << "A way that ends last: chunk " << first.chunk << " begins at "
      << fabric.hostName(first.src);
  for (const Hop &hop : longest) {
    const Send &send = *hop.send;
    out << ", is "
        << (send.op == SendOp::Copy     ? "copied to "
            : send.op == SendOp::Reduce ? "added to that of "
                                        : "kept apart at ")
        << fabric.hostName(send.dst);
    const std::vector<int> &path = pathOf(send);
    for (size_t i = 0; i + 1 < path.size(); ++i)
      out << (i == 0 ? " over " : ", ") << t.nodes[t.links[path[i]].dst].name;
    out << " in step " << hop.step + 1;
  }
  out << "\n";
}

void Explanation::sayTime() {
  Result<Timing> timing = simulate(schedule, fabric, bytes);
  // What remains of nearly no data is latency.
  Result<Timing> latency = simulate(schedule, fabric, 1e-6);
  if (!timing || !latency)
    return;
  char text[200];
  std::snprintf(text, sizeof text,
                "Time: %.3f us step by step, %.3f of it latency; %.3f us where "
                "each send starts as soon as it can\n",
                timing->stepwiseUs, latency->stepwiseUs, timing->eventUs);
  out << text;
}

std::string Explanation::text() {
  const Collective &c = schedule.collective;
  char size[32];
  std::snprintf(size, sizeof size, "%.0f", bytes);
  out << c.name << " of " << size << " bytes on " << t.name << ": "
      << counted(static_cast<int64_t>(c.chunks.size()), "chunk") << " of "
      << number(bytes / c.bufferChunks) << " bytes, "
      << counted(static_cast<int64_t>(schedule.steps.size()), "step") << ", "
      << counted(schedule.totalRounds(), "round") << "\n";
  sayBounds();
  saySteps();
  sayLastWay();
  sayTime();
  return out.str();
}

} // namespace

std::string ccn::synth::explain(const Schedule &schedule, const Fabric &fabric,
                                double bytes) {
  return Explanation(schedule, fabric, bytes).text();
}
