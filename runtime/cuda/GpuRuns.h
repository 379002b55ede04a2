//===- GpuRuns.h - Runs a plan on a GPU from host memory --------*- C++ -*-===//
//
// For tools, whose arrays are on the host: copies arguments to the device and
// results back, runs on a stream of its own, and measures. A scattered argument
// is in many buffers there, whatever it is on the host.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPURUNS_H
#define CCN_RUNTIME_CUDA_GPURUNS_H

#include "runtime/cuda/GpuExecutor.h"

#include <vector>

namespace ccn::runtime {

class GpuRuns {
public:
  /// Takes memory for the arguments and results of `rank`. The executor
  /// outlives this.
  static Result<std::unique_ptr<GpuRuns>> create(GpuExecutor &executor,
                                                 const Plan &plan, int rank);

  ~GpuRuns();
  GpuRuns(const GpuRuns &) = delete;
  GpuRuns &operator=(const GpuRuns &) = delete;

  /// Copies the arguments at the addresses `host` to the device; a scattered
  /// one is one array there too. Results are copied as well, so that parts that
  /// the plan does not write stay as they were.
  Status upload(std::span<void *const> host);
  /// Copies results and what the plan has changed back.
  Status download(std::span<void *const> host);

  /// Runs the plan once, and waits.
  Status run();

  /// Runs the plan `count` times, launch by launch, after one run to warm up.
  /// Returns the seconds of each run, from the end of the one before to its
  /// own. All ranks do so at once; each run starts with what the one before has
  /// left.
  Result<std::vector<double>> timeRuns(int count);
  /// Makes a graph of `runs` runs, for timeGraph. Executes none. All ranks do
  /// so at once.
  Status captureGraph(int runs);
  /// Like timeRuns with replays of the graph; the seconds are of one run of it.
  Result<std::vector<double>> timeGraph(int count);

private:
  struct State;

  explicit GpuRuns(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPURUNS_H
