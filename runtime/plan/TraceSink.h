//===- TraceSink.h - Who is told what ran when ------------------*- C++ -*-===//
//
// Executors, on CPUs and on GPUs, record launches and their parts.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_TRACESINK_H
#define CCN_RUNTIME_PLAN_TRACESINK_H

#include <cstdint>
#include <string_view>

namespace ccn::runtime {

/// What ran when, by std::chrono::steady_clock.
struct TraceEvent {
  /// The launch's name, and its number in the plan.
  std::string_view launch;
  int index = 0;
  /// The part's kind and number; empty is the launch with its waits for others.
  std::string_view part;
  int partIndex = -1;
  int stream = 0;
  /// The number of the run, from 1.
  uint64_t run = 0;
  int64_t beginNanoseconds = 0, endNanoseconds = 0;
};

class TraceSink {
public:
  virtual ~TraceSink() = default;
  /// Called by each stream's thread, at the end of a part and of a launch; the
  /// text lives as long as the executor.
  virtual void record(const TraceEvent &event) = 0;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_TRACESINK_H
