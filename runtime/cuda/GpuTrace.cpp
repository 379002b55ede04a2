//===- GpuTrace.cpp - When a GPU began and ended launches -----------------===//
//
// Reads the times of the events around each launch of a traced run.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuState.h"

namespace ccn::runtime {

void GpuExecutor::State::showTraced() const {
  Progress progress{static_cast<uint32_t>(runs),
                    static_cast<uint32_t>(launches.size()), /*isTraced=*/1};
  progress.first = progress.given;
  auto isDone = [&](const Event &event) {
    return device->driver.eventQuery(event.get()) == CUDA_SUCCESS;
  };
  for (size_t i = launches.size(); i-- > 0;) {
    progress.begun += isDone(launches[i].begin);
    bool isOver = isDone(launches[i].end);
    progress.over += isOver;
    if (!isOver)
      progress.first = static_cast<uint32_t>(i);
  }
  exchange->show(progress);
}

Status GpuExecutor::State::reportTrace() {
  isTraceReady = false;
  for (size_t i = 0; i < launches.size(); ++i) {
    const PreparedGpuLaunch &launch = launches[i];
    TraceEvent event;
    event.launch = plan.launches[i].name;
    event.index = static_cast<int>(i);
    event.stream = launch.stream;
    event.run = runs;
    for (auto [at, time] : {std::pair(&launch.begin, &event.beginNanoseconds),
                            std::pair(&launch.end, &event.endNanoseconds)}) {
      float milliseconds = 0;
      if (Status status =
              device->check(device->driver.eventElapsedTime(
                                &milliseconds, traceZero.get(), at->get()),
                            "cuEventElapsedTime");
          !status)
        return fail(status);
      *time = traceZeroTime +
              static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
    }
    options.trace->record(event);
  }
  return Status();
}

} // namespace ccn::runtime
