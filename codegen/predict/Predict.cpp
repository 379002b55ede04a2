//===- Predict.cpp - How long a plan takes on a machine -------------------===//

#include "codegen/predict/Predict.h"

#include "codegen/predict/LaunchSteps.h"

#include "llvm/ADT/STLExtras.h"

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

Result<Prediction> codegen::predict(const Plan &plan, const PlannedRanks &ranks,
                                    const KernelPlans *kernels,
                                    const LoopKernels &bodies,
                                    const Machine &machine,
                                    const MachineRates &rates) {
  Prediction prediction;
  prediction.machine = machine.name;
  prediction.measuredOn = rates.on;
  prediction.ranks = ranks.count();
  // Kernels refer to the plan in which arguments replace symmetric buffers.
  const Plan &run = kernels ? *kernels->plan : plan;
  Events events(run, ranks.count());
  std::vector<Task> tasks;
  std::vector<Cost> costs;
  int streams = 1;
  for (const RankPlan &rank : run.ranks)
    streams = std::max(streams, rank.streams);
  for (auto [rank, own] : llvm::enumerate(run.ranks)) {
    LaunchSteps steps(run, ranks, kernels, bodies, machine, rates,
                      static_cast<int>(rank), events);
    size_t first = tasks.size();
    // The cache holds what the run before has left.
    Cost cost;
    for (size_t i = 0; i < own.launches.size(); ++i)
      steps.of(i, cost);
    for (auto [i, launch] : llvm::enumerate(own.launches)) {
      Task task;
      task.stream = static_cast<int>(rank) * streams + launch.stream;
      for (int other : launch.waits)
        task.after.push_back(static_cast<int>(first) + other);
      task.steps = steps.of(i, cost);
      tasks.push_back(std::move(task));
      costs.push_back(cost);
      PredictedLaunch &predicted = prediction.launches.emplace_back();
      predicted.rank = ranks.rankOf(static_cast<int>(rank));
      predicted.index = static_cast<int>(i);
      predicted.stream = launch.stream;
      predicted.name = launch.name;
      predicted.memoryBytes = cost.memoryBytes();
      predicted.linkBytes = cost.linkStores() + cost.linkLoads();
      predicted.flops = cost.flops;
    }
  }
  if (!ranks.areAllPlanned() && !rates.isShared)
    for (size_t i = 0; i < run.ranks.front().launches.size(); ++i) {
      std::vector<RankLaunch> launch;
      for (size_t k = i; k < tasks.size();
           k += run.ranks.front().launches.size())
        launch.push_back({&tasks[k].steps, &costs[k]});
      mirrorLinks(launch);
    }
  std::vector<TaskTimes> times = simulate(tasks);
  for (auto [launch, time] : llvm::zip_equal(prediction.launches, times)) {
    if (time.end < time.begin)
      return error("launch ", launch.index, " '", launch.name, "' of rank ",
                   launch.rank, " waits for what never comes");
    launch.times = time;
    prediction.totalUs = std::max(prediction.totalUs, time.end);
  }
  prediction.totalUs += rates.runUs;
  // Every task begins with its launch.
  for (Task &task : tasks)
    task.steps.front().us += rates.streamLaunchUs - rates.graphLaunchUs;
  for (const TaskTimes &time : simulate(tasks))
    prediction.streamUs = std::max(prediction.streamUs, time.end);
  return prediction;
}
