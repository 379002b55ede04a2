//===- Simulation.h - Work that waits and shares ----------------*- C++ -*-===//
//
// Simulates tasks on streams. A task is a list of steps, one after the other. A
// step waits for events, takes a fixed time, and then uses resources, which it
// shares with all steps that use them at the same time. The tasks of one
// stream run one after the other; a task may also wait for tasks of other
// streams.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_PREDICT_SIMULATION_H
#define CCN_CODEGEN_PREDICT_SIMULATION_H

#include <array>
#include <cstddef>
#include <vector>

namespace ccn::codegen {

/// What the time of a step is due to.
enum class Bound {
  Memory,     ///< the rate of device memory
  Cache,      ///< the rate of the last cache
  Link,       ///< the rate of links to other ranks
  Network,    ///< the rate of the network between nodes
  Tensor,     ///< products on tensor cores, or their like
  Arithmetic, ///< other scalar operations
  Latency,    ///< accesses and operations that wait for each other
  Launch,     ///< launches, and waits of streams for streams
  Flags,      ///< flags and barriers, of ranks and of blocks
  OtherRank   ///< another rank, which has not come so far
};
constexpr size_t boundCount = 10;
/// "memory", "other rank", ...
const char *nameOf(Bound bound);

/// Microseconds that a step needs a resource for if it has the resource for
/// itself.
struct Demand {
  int resource = 0;
  double us = 0;
  Bound bound = Bound::Memory;
  /// Whether it is of what another rank has.
  bool isOthers = false;
};

struct Step {
  /// Events, each of which some step signals when it is done. The time until
  /// all have been signalled counts as Bound::OtherRank.
  std::vector<int> awaits = {};
  /// The fixed time.
  double us = 0;
  Bound bound = Bound::Latency;
  /// The demands are met at once, and in `leastUs` at the earliest, which is
  /// due to `leastBound`.
  std::vector<Demand> demands = {};
  double leastUs = 0;
  Bound leastBound = Bound::Latency;
  std::vector<int> signals = {};
};

struct Task {
  /// Tasks with the same number run one after the other, in their order.
  int stream = 0;
  /// Numbers of tasks that must be done before.
  std::vector<int> after;
  std::vector<Step> steps;
};

/// When a task ran, and which times it is made of.
struct TaskTimes {
  double begin = 0, end = 0;
  std::array<double, boundCount> us = {};

  /// What takes most of the time.
  Bound bound() const;
};

/// Begins at 0. If a resource is asked for more than it has, all who use it
/// slow down alike. Tasks that wait for what never comes do not end: their end
/// is below their begin, and so is that of those behind them.
std::vector<TaskTimes> simulate(const std::vector<Task> &tasks);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_PREDICT_SIMULATION_H
