//===- Trace.h - What ran when ----------------------------------*- C++ -*-===//
//
// Collects what the ranks' executors report, and writes it as a timeline for
// Perfetto or chrome://tracing: a process for each rank, in it a track for each
// stream.
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_TRACE_H
#define CCN_TOOLS_CCRUN_TRACE_H

#include "runtime/base/File.h"
#include "runtime/plan/Plan.h"
#include "runtime/plan/TraceSink.h"

#include <mutex>

namespace ccn {

/// The events of one rank.
class RankTrace : public runtime::TraceSink {
public:
  explicit RankTrace(int rank) : rank(rank) {}
  void record(const runtime::TraceEvent &event) override;
  /// Makes lines of JSON of them, while the executor that reported them is
  /// there. Times are from `zero`, in nanoseconds.
  void finish(int64_t zero);
  const std::string &text() const { return lines; }

private:
  int rank;
  std::mutex mutex;
  std::vector<runtime::TraceEvent> events;
  std::string lines;
};

/// The events of all ranks, in a file without a name that processes share.
class Trace {
public:
  /// For a run that is traced.
  static Result<Trace> create();
  /// No trace.
  Trace() = default;
  /// Of a process: the open file.
  explicit Trace(int file) : descriptor(file) {}

  int file() const { return descriptor.get(); }

  /// Adds the events of a rank; ranks may do this at once.
  Status add(const std::string &lines);

  /// All that was added.
  Result<std::string> text() const;

  /// Writes all events to `path`.
  Status write(const std::string &path, const runtime::Plan &plan) const;

private:
  FileDescriptor descriptor;
};

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_TRACE_H
