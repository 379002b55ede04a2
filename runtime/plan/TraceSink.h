//===- TraceSink.h - Receives what ran when ---------------------*- C++ -*-===//
//
// The executors, on CPUs and on GPUs, report launches and their parts here.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_TRACESINK_H
#define CCN_RUNTIME_PLAN_TRACESINK_H

#include <cstdint>
#include <string_view>

namespace ccn::runtime {

/// When a launch or a part ran, in the time of std::chrono::steady_clock.
struct TraceEvent {
  /// The launch's name, and its number in the plan.
  std::string_view launch;
  int index = 0;
  /// The part's kind and number; empty and -1 for the whole launch.
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
  /// Each stream's thread calls this at the end of each part and of each
  /// launch. The texts of the event live as long as the executor.
  virtual void record(const TraceEvent &event) = 0;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_TRACESINK_H
