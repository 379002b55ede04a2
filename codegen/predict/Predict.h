//===- Predict.h - How long a plan takes on a machine -----------*- C++ -*-===//
//
// Predicts when each launch of each rank begins and ends, and what bounds it,
// from the plan, its kernels and figures of a machine. No device is needed.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_PREDICT_PREDICT_H
#define CCN_CODEGEN_PREDICT_PREDICT_H

#include "codegen/gpu/map/MapKernels.h"
#include "codegen/predict/PlannedRanks.h"
#include "codegen/predict/Simulation.h"
#include "lib/Target/MachineRates.h"

namespace ccn::codegen {

struct PredictedLaunch {
  int64_t rank = 0;
  int index = 0, stream = 0;
  std::string name;
  TaskTimes times;
  /// Bytes of memory, those that the cache holds not among them; bytes that the
  /// rank sends and fetches over links; floating-point operations.
  double memoryBytes = 0, linkBytes = 0, flops = 0;

  double us() const { return times.end - times.begin; }
};

struct Prediction {
  std::string program, machine, measuredOn;
  int64_t ranks = 1;
  /// From the beginning of a run to its end on the last rank, of many runs of a
  /// graph one after the other.
  double totalUs = 0;
  /// Likewise if each kernel is launched by itself.
  double streamUs = 0;
  /// By rank, then as in the plan; of ranks that are not planned, none.
  std::vector<PredictedLaunch> launches;
};

/// Predicts a run. `kernels` are those of `plan`, which has plans of `ranks`;
/// null if CPUs execute it. Fails if launches wait for each other forever.
Result<Prediction> predict(const runtime::Plan &plan, const PlannedRanks &ranks,
                           const KernelPlans *kernels,
                           const LoopKernels &bodies, const Machine &machine,
                           const MachineRates &rates);

/// For people: a line for each launch, of the rank for which it takes longest;
/// chunks of one launch in one line. As JSON: all launches of all ranks. As a
/// timeline for Perfetto, in the form of ccrun --trace.
std::string printTable(const Prediction &prediction);
std::string printJson(const Prediction &prediction);
std::string printTrace(const Prediction &prediction);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_PREDICT_PREDICT_H
