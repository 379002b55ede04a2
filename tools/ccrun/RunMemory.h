//===- RunMemory.h - What the parts of a run share --------------*- C++ -*-===//
//
// The memory in which ccrun and the ranks of a run, which are its threads or
// processes that it starts, hand each other what is needed: what to run, the
// arguments and results of each rank, how each rank ended, and when its runs
// began and ended. A file without a name, so nothing is left behind.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_RUNMEMORY_H
#define CCN_TOOLS_CCRUN_RUNMEMORY_H

#include "runtime/base/Environment.h"
#include "runtime/base/File.h"
#include "runtime/plan/Package.h"
#include "runtime/tensor/HostTensor.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>

namespace ccn {

/// Which plan of a package.
enum class PlanKind : int32_t { Scheduled, Reference, Bounds };

/// What the ranks are to do.
struct RunTask {
  int32_t ranks = 1;
  PlanKind plan = PlanKind::Scheduled;
  /// Which variant of the package that plan is of.
  int32_t variant = 0;
  /// Whether GPUs execute it.
  bool onGpus = false;
  /// What computes products of matrices there.
  runtime::ProductChoice products = runtime::ProductChoice::Auto;
  runtime::GpuTransport gpuTransport = runtime::GpuTransport::Auto;
  bool traced = false;
  /// Whether each rank has a clock of its own, which says nothing of when
  /// something happened on another; times are from the rank's first run then.
  bool ownClocks = false;
  /// Runs; those before the last `timedRuns` are for warming up. Each starts
  /// with the same arguments.
  int32_t runs = 1, timedRuns = 0;
  /// On GPUs a timed run is one of so many in a graph.
  int32_t runsPerGraph = 1;
  /// Whether results are wanted. If only times are, arguments stay as they are.
  bool givesResults = true;
  /// Seconds that a rank waits for another.
  double timeLimit = 60;
  /// The number of the only rank here among those of its host, -1 if no
  /// launcher has said it.
  int32_t localRank = -1;
  /// Of processes: the hash of the package that they must find.
  char packageHash[72] = {};
};

/// How far a rank is.
enum class RankState : uint32_t { Starting, Running, Done, Failed };

/// Bytes that one run reads and writes in own memory and in others'.
struct MovedBytes {
  int64_t own, remoteRead, remoteWritten;
};

struct RankReport {
  std::atomic<RankState> state;
  /// Of one that is a process: whether that has ended.
  std::atomic<bool> hasEnded;
  /// Why it failed.
  char message[2000];
  MovedBytes moved;
  /// On GPUs: the median time of a run that is launched rather than replayed.
  double launchedSeconds;
};

/// When one rank began and ended one run, in nanoseconds of the host's steady
/// clock. If ranks have clocks of their own, as on GPUs, times count from the
/// run's begin.
struct RunTime {
  int64_t begin, end;
};

class RunMemory {
public:
  /// Memory for running `plan`, which checkPlan accepts, as `task` says. It
  /// holds all ranks' parts; of a process that has it for itself, as `only`
  /// says, that rank's, and on rank 0 the results of all.
  static Result<std::unique_ptr<RunMemory>>
  create(const runtime::Plan &plan, const RunTask &task,
         std::optional<int> only = std::nullopt);
  int64_t bytes() const { return totalBytes; }
  /// The bytes that such memory takes.
  static Result<int64_t> bytesFor(const runtime::Plan &plan, int32_t timedRuns,
                                  std::optional<int> only = std::nullopt);
  /// For a rank that is a process: takes over the memory in this open file. An
  /// error if the package is not the one for which the memory was made.
  static Result<std::unique_ptr<RunMemory>>
  open(int file, int rank, const runtime::Package &package);
  /// If open() fails: writes the cause into the memory in the file, and returns
  /// the exit code.
  static int reportFailure(int file, int rank, const Status &cause);

  /// Makes this the memory for running another plan, or the same by another
  /// task, on the arguments that are there. False, without any change, if the
  /// plan has other arguments, or if ranks hold other parts of them.
  bool reuse(const runtime::Plan &plan, const RunTask &task);

  ~RunMemory();
  RunMemory(const RunMemory &) = delete;
  RunMemory &operator=(const RunMemory &) = delete;

  int file() const { return descriptor.get(); }
  const RunTask &task() const { return *header; }
  const runtime::Plan &plan() const { return *usedPlan; }

  RankReport &report(int rank) { return reports[rank]; }
  /// Of timed run `run`.
  RunTime &time(int rank, int run) {
    return times[static_cast<int64_t>(rank) * header->timedRuns + run];
  }

  /// The address of each argument's and result's part on `rank`.
  std::vector<void *> arguments(int rank) const;
  int64_t argumentBytes(int rank, size_t argument) const {
    return parts[static_cast<size_t>(rank)][argument].bytes;
  }

  /// Gives all ranks, or one, their parts of an argument in external form.
  void distribute(size_t argument, const runtime::HostTensor &whole);
  void setPart(size_t argument, int rank, const runtime::HostTensor &whole);
  /// Gives a rank its own part.
  void fillPart(size_t argument, int rank, const runtime::HostTensor &own);
  /// All that a rank's runs leave: its report's numbers, times, and its parts
  /// of results.
  std::vector<std::span<std::byte>> outcome(int rank);
  /// The argument or result in external form, from all ranks' parts. An error
  /// if ranks that should hold the same do not, which names the element.
  Result<runtime::HostTensor> collect(size_t argument) const;

private:
  struct Place {
    int64_t offset, bytes;
    bool operator==(const Place &) const = default;
  };

  RunMemory() = default;
  /// Where everything lies; an error if it does not fit 64 bits.
  Status layOut(const runtime::Plan &plan, int32_t timedRuns,
                std::optional<int> only);
  Status map();
  void setTask(const RunTask &task);
  /// Where a rank's part of an argument is, row-major.
  std::span<std::byte> part(size_t argument, int rank) const;

  FileDescriptor descriptor;
  const runtime::Plan *usedPlan = nullptr;
  /// What arguments it has, as text.
  std::string signature;
  std::byte *start = nullptr;
  int64_t totalBytes = 0, reportsOffset = 0, timesOffset = 0;
  /// By rank and argument.
  std::vector<std::vector<Place>> parts;
  RunTask *header = nullptr;
  RankReport *reports = nullptr;
  RunTime *times = nullptr;
};

/// "rank 1 (dp = 0, tp = 1)".
std::string describeRank(const runtime::Plan &plan, int rank);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_RUNMEMORY_H
