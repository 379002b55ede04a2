//===- Simulation.cpp - Work that waits and shares ------------------------===//
//
// Goes from one moment at which a step ends to the next. In between, all rates
// are constant.
//
//===----------------------------------------------------------------------===//

#include "codegen/predict/Simulation.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace ccn::codegen;

const char *ccn::codegen::nameOf(Bound bound) {
  static const char *const names[boundCount] = {
      "memory",     "cache",   "link",   "network", "tensor cores",
      "arithmetic", "latency", "launch", "flags",   "other rank"};
  return names[static_cast<size_t>(bound)];
}

Bound TaskTimes::bound() const {
  return static_cast<Bound>(std::max_element(us.begin(), us.end()) -
                            us.begin());
}

namespace {

/// Times that differ by less are the same, and so are slowdowns.
constexpr double least = 1e-9;
/// Of large times, a double tells fewer apart.
constexpr double leastOfTime = 1e-12;

/// A task that has begun.
struct Running {
  enum Phase { Waits, Passes, Works };

  size_t task = 0, step = 0;
  Phase phase = Waits;
  /// When the phase began; when the fixed time has passed.
  double since = 0, until = 0;
  /// The part of the work that is left; the time that all of it takes alone;
  /// and its slowdown, due to `bound`.
  double left = 1, alone = 0, slowdown = 1;
  Bound bound = Bound::Latency;
};

class Simulator {
public:
  explicit Simulator(const std::vector<Task> &tasks);
  std::vector<TaskTimes> run();

private:
  /// Begins all tasks that can; whether there were any.
  bool begin();
  /// Takes a task as far as it comes at once; whether that was any further.
  bool advance(Running &running);
  void work(Running &running, const Step &step);
  bool isSignalled(const Step &step) const;
  void share();
  /// The next moment at which something happens.
  double next() const;
  void pass(double to);

  /// Less than this is no time.
  double moment() const { return std::max(least, now * leastOfTime); }
  const Step *stepOf(const Running &running) const {
    const std::vector<Step> &steps = tasks[running.task].steps;
    return running.step < steps.size() ? &steps[running.step] : nullptr;
  }
  void count(const Running &running, Bound bound, double us) {
    times[running.task].us[static_cast<size_t>(bound)] += us;
  }

  const std::vector<Task> &tasks;
  std::vector<TaskTimes> times;
  double now = 0;
  std::vector<bool> isDone;
  std::vector<char> signalled;
  /// By stream: its tasks, and how many of them have begun; whether the last of
  /// these runs.
  std::map<int, std::vector<size_t>> streams;
  std::map<int, size_t> begun;
  std::vector<Running> running;
  std::vector<double> loads;
};

} // namespace

Simulator::Simulator(const std::vector<Task> &tasks)
    : tasks(tasks), times(tasks.size()), isDone(tasks.size()) {
  int events = 0, resources = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    streams[tasks[i].stream].push_back(i);
    for (const Step &step : tasks[i].steps) {
      for (int event : step.awaits)
        events = std::max(events, event + 1);
      for (int event : step.signals)
        events = std::max(events, event + 1);
      for (const Demand &demand : step.demands)
        resources = std::max(resources, demand.resource + 1);
    }
  }
  signalled.resize(static_cast<size_t>(events));
  loads.resize(static_cast<size_t>(resources));
  for (TaskTimes &time : times)
    time.end = -1;
}

bool Simulator::begin() {
  bool hasBegun = false;
  for (auto &[stream, own] : streams) {
    size_t &next = begun[stream];
    if (next == own.size() || (next > 0 && !isDone[own[next - 1]]))
      continue;
    const Task &task = tasks[own[next]];
    if (!std::all_of(task.after.begin(), task.after.end(), [&](int other) {
          return isDone[static_cast<size_t>(other)];
        }))
      continue;
    Running made;
    made.task = own[next++];
    made.since = times[made.task].begin = now;
    running.push_back(made);
    hasBegun = true;
  }
  return hasBegun;
}

bool Simulator::isSignalled(const Step &step) const {
  return std::all_of(step.awaits.begin(), step.awaits.end(), [&](int event) {
    return signalled[static_cast<size_t>(event)] != 0;
  });
}

void Simulator::work(Running &running, const Step &step) {
  running.phase = Running::Works;
  running.since = now;
  running.left = 1;
  running.alone = step.leastUs;
  running.bound = step.leastBound;
  for (const Demand &demand : step.demands)
    if (demand.us > running.alone) {
      running.alone = demand.us;
      running.bound = demand.bound;
    }
}

bool Simulator::advance(Running &running) {
  bool hasMoved = false;
  while (const Step *step = stepOf(running)) {
    if (running.phase == Running::Waits) {
      if (!isSignalled(*step))
        return hasMoved;
      count(running, Bound::OtherRank, now - running.since);
      running.phase = Running::Passes;
      running.since = now;
      running.until = now + step->us;
    }
    if (running.phase == Running::Passes) {
      if (running.until > now + moment())
        return hasMoved;
      count(running, step->bound, step->us);
      work(running, *step);
    }
    if (running.alone > moment() && running.left * running.alone > moment())
      return hasMoved;
    for (int event : step->signals)
      signalled[static_cast<size_t>(event)] = 1;
    running.phase = Running::Waits;
    running.since = now;
    ++running.step;
    hasMoved = true;
  }
  return hasMoved;
}

void Simulator::share() {
  std::fill(loads.begin(), loads.end(), 0);
  auto eachWorking = [&](auto visit) {
    for (Running &each : running)
      if (each.phase == Running::Works)
        visit(each, *stepOf(each));
  };
  eachWorking([&](Running &each, const Step &step) {
    for (const Demand &demand : step.demands)
      loads[static_cast<size_t>(demand.resource)] += demand.us / each.alone;
  });
  eachWorking([&](Running &each, const Step &step) {
    each.slowdown = 1;
    for (const Demand &demand : step.demands)
      if (double load = loads[static_cast<size_t>(demand.resource)];
          demand.us > 0 && load > each.slowdown + least) {
        each.slowdown = load;
        each.bound = demand.bound;
      }
  });
}

double Simulator::next() const {
  double first = std::numeric_limits<double>::infinity();
  for (const Running &each : running) {
    if (each.phase == Running::Passes)
      first = std::min(first, each.until);
    else if (each.phase == Running::Works)
      first = std::min(first, now + each.left * each.alone * each.slowdown);
  }
  return first;
}

void Simulator::pass(double to) {
  for (Running &each : running)
    if (each.phase == Running::Works) {
      each.left -= (to - now) / (each.alone * each.slowdown);
      count(each, each.bound, to - now);
    }
  now = to;
}

std::vector<TaskTimes> Simulator::run() {
  while (true) {
    // What ends may let others go on.
    for (bool hasMoved = true; hasMoved;) {
      hasMoved = begin();
      for (Running &each : running)
        hasMoved |= advance(each);
      std::erase_if(running, [&](const Running &each) {
        if (stepOf(each))
          return false;
        isDone[each.task] = true;
        times[each.task].end = now;
        hasMoved = true;
        return true;
      });
    }
    share();
    double to = next();
    if (to == std::numeric_limits<double>::infinity())
      return std::move(times);
    pass(to);
  }
}

std::vector<TaskTimes> ccn::codegen::simulate(const std::vector<Task> &tasks) {
  return Simulator(tasks).run();
}
