//===- GpuRank.cpp - What one rank does on a GPU --------------------------===//
//
// Copies arguments to the device before the runs, and wanted results back after
// them. A GPU's times are those of replays of a graph, as a careful application
// runs it. The time of a run with single launches is measured as well.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuRuns.h"
#include "tools/ccrun/RankRun.h"
#include "tools/ccrun/Report.h"

#include <chrono>

using namespace ccn;
using namespace ccn::runtime;

/// Leaves the times in `memory`. The arguments have unspecified values
/// afterwards.
static Status measure(GpuRuns &runs, RunMemory &memory, int rank,
                      const std::function<Status()> &meet) {
  const RunTask &task = memory.task();
  Result<std::vector<double>> launched = runs.timeRuns(task.timedRuns);
  if (!launched)
    return launched.status();
  memory.report(rank).launchedSeconds = median(*launched);
  if (Status status = runs.captureGraph(task.runsPerGraph); !status)
    return status;
  if (Status status = meet(); !status)
    return status;
  Result<std::vector<double>> replayed = runs.timeGraph(task.timedRuns);
  if (!replayed)
    return replayed.status();
  for (int run = 0; run < task.timedRuns; ++run)
    memory.time(rank, run) = {
        0, static_cast<int64_t>((*replayed)[static_cast<size_t>(run)] * 1e9)};
  return Status();
}

Status ccn::executeOnGpu(const GpuProgram &program, RunMemory &memory,
                         Transport &transport, int rank, RankTrace *trace,
                         const std::function<Status()> &meet) {
  const RunTask &task = memory.task();
  GpuExecutorOptions options;
  options.timeLimit = task.timeLimit;
  options.trace = trace;
  options.products = task.products;
  options.transport = task.gpuTransport;
  for (size_t i = 0; i < memory.plan().arguments.size(); ++i)
    options.callerBytes += memory.argumentBytes(rank, i);
  if (task.localRank >= 0)
    options.localRank = task.localRank;
  Result<std::unique_ptr<GpuExecutor>> executor =
      GpuExecutor::create(memory.plan(), program, rank, transport, options);
  if (!executor)
    return executor.status();
  Result<std::unique_ptr<GpuRuns>> runs =
      GpuRuns::create(**executor, memory.plan(), rank);
  // The others should not wait for this rank's memory to be freed.
  auto failed = [&](const Status &status) {
    return transport.fail(rank, status.message());
  };
  if (!runs)
    return failed(runs.status());
  memory.report(rank).state = RankState::Running;

  std::vector<void *> arguments = memory.arguments(rank);
  // What is not measured starts with the arguments as they are.
  auto begin = [&] {
    Status status = (*runs)->upload(arguments);
    return status ? meet() : status;
  };
  int64_t first = std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count();
  Status status = begin();
  if (status && task.timedRuns > 0) {
    status = measure(**runs, memory, rank, meet);
    if (status && task.givesResults)
      status = begin();
  }
  if (status && task.givesResults) {
    status = (*runs)->run();
    if (status)
      status = (*runs)->download(arguments);
  }
  if (!status)
    return failed(status);
  if (trace)
    trace->finish(task.ownClocks ? first : 0);
  return Status();
}
