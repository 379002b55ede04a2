//===- GpuRuns.cpp - Runs a plan on a GPU from host memory ----------------===//
//
// Times are those between events on the stream. What is measured is queued in
// batches behind a run that is not, so that the device never waits for the
// host.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuRuns.h"

#include "runtime/cuda/GpuState.h"

#include <algorithm>
#include <functional>

namespace ccn::runtime {

namespace {

/// How many are measured before the host looks.
constexpr int batch = 64;

using Graph = DeviceObject<CUgraph>;
using GraphRunner = DeviceObject<CUgraphExec>;

} // namespace

struct GpuRuns::State {
  explicit State(GpuExecutor &executor)
      : executor(executor), device(*executor.state->device) {}

  Status prepare(const Plan &plan, int rank);
  Result<std::vector<double>> time(int count,
                                   const std::function<Status()> &start);
  Status runOnce() { return executor.run(addresses, stream.get()); }
  Status wait() { return executor.synchronize(stream.get()); }

  GpuExecutor &executor;
  const GpuDevice &device;
  std::vector<DeviceMemory> memory;
  std::vector<int64_t> bytes;
  std::vector<bool> isOutput;
  /// As executors take them.
  std::vector<void *> addresses;
  Stream stream;
  std::vector<Event> events;
  /// Kept until the end, as it may still run after a failure.
  Graph graph;
  GraphRunner runner;
  int runsOfGraph = 0;
};

Status GpuRuns::State::prepare(const Plan &plan, int rank) {
  const RankPlan &own = plan.ranks[static_cast<size_t>(rank)];
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const Argument &argument = plan.arguments[i];
    int64_t size = sizeInBytes(argument.type);
    for (int64_t extent : own.placements[i].sizes)
      size *= extent;
    bytes.push_back(size);
    isOutput.push_back(argument.kind != ArgumentKind::Input);
    memory.emplace_back();
    if (size > 0) {
      Result<DeviceMemory> taken =
          allocateMemory(device, size, argument.name.c_str());
      if (!taken)
        return taken.status();
      memory.back() = *std::move(taken);
    }
    addresses.push_back(reinterpret_cast<void *>(memory.back().get()));
  }
  for (int i = 0; i <= batch; ++i) {
    Result<Event> event = createEvent(device, true);
    if (!event)
      return event.status();
    events.push_back(*std::move(event));
  }
  Result<Stream> made = createStream(device);
  if (!made)
    return made.status();
  stream = *std::move(made);
  return executor.bind(addresses);
}

Result<std::unique_ptr<GpuRuns>> GpuRuns::create(GpuExecutor &executor,
                                                 const Plan &plan, int rank) {
  auto state = std::make_unique<State>(executor);
  CurrentContext current(state->device.driver, state->device.context);
  if (Status status = current.status(); !status)
    return status;
  if (Status status = state->prepare(plan, rank); !status)
    return status;
  return std::unique_ptr<GpuRuns>(new GpuRuns(std::move(state)));
}

GpuRuns::GpuRuns(std::unique_ptr<State> state) : state(std::move(state)) {}

GpuRuns::~GpuRuns() {
  // Freeing memory that is in use would wait for who uses it.
  if (!state->executor.state->settle(state->stream.get())) {
    keepForever(std::move(state));
    return;
  }
  const GpuDevice &device = state->device;
  CurrentContext current(device.driver, device.context);
  state.reset();
}

Status GpuRuns::upload(std::span<void *const> host) {
  const GpuDevice &device = state->device;
  CurrentContext current(device.driver, device.context);
  if (Status status = current.status(); !status)
    return status;
  for (size_t i = 0; i < state->bytes.size(); ++i)
    if (state->bytes[i] > 0)
      if (Status status = device.check(device.driver.memcpyHtoDAsync(
                                           state->memory[i].get(), host[i],
                                           static_cast<size_t>(state->bytes[i]),
                                           state->stream.get()),
                                       "cuMemcpyHtoDAsync");
          !status)
        return status;
  return state->wait();
}

Status GpuRuns::download(std::span<void *const> host) {
  const GpuDevice &device = state->device;
  CurrentContext current(device.driver, device.context);
  if (Status status = current.status(); !status)
    return status;
  for (size_t i = 0; i < state->bytes.size(); ++i)
    if (state->bytes[i] > 0 && state->isOutput[i])
      if (Status status = device.check(device.driver.memcpyDtoHAsync(
                                           host[i], state->memory[i].get(),
                                           static_cast<size_t>(state->bytes[i]),
                                           state->stream.get()),
                                       "cuMemcpyDtoHAsync");
          !status)
        return status;
  return state->wait();
}

Status GpuRuns::run() {
  Status status = state->runOnce();
  return status ? state->wait() : status;
}

Result<std::vector<double>>
GpuRuns::State::time(int count, const std::function<Status()> &start) {
  std::vector<double> seconds;
  auto record = [&](size_t event) {
    return device.check(
        device.driver.eventRecord(events[event].get(), stream.get()),
        "cuEventRecord");
  };
  while (static_cast<int>(seconds.size()) < count) {
    auto timed = static_cast<size_t>(
        std::min(batch, count - static_cast<int>(seconds.size())));
    Status status = start();
    if (status)
      status = record(0);
    for (size_t i = 1; status && i <= timed; ++i) {
      status = start();
      if (status)
        status = record(i);
    }
    if (status)
      status = wait();
    for (size_t i = 1; status && i <= timed; ++i) {
      float milliseconds = 0;
      status =
          device.check(device.driver.eventElapsedTime(
                           &milliseconds, events[i - 1].get(), events[i].get()),
                       "cuEventElapsedTime");
      seconds.push_back(static_cast<double>(milliseconds) * 1e-3);
    }
    if (!status)
      return status;
  }
  return seconds;
}

Result<std::vector<double>> GpuRuns::timeRuns(int count) {
  CurrentContext current(state->device.driver, state->device.context);
  if (Status status = current.status(); !status)
    return status;
  return state->time(count, [&] { return state->runOnce(); });
}

Status GpuRuns::captureGraph(int runs) {
  const GpuDevice &device = state->device;
  const Driver &driver = device.driver;
  CurrentContext current(driver, device.context);
  if (Status status = current.status(); !status)
    return status;
  // Other threads may do what a capture forbids its own.
  if (Status status = device.check(
          driver.streamBeginCapture(state->stream.get(),
                                    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
          "cuStreamBeginCapture");
      !status)
    return status;
  Status status;
  for (int run = 0; run < runs && status; ++run)
    status = state->runOnce();
  CUgraph graph = nullptr;
  Status end =
      device.check(driver.streamEndCapture(state->stream.get(), &graph),
                   "cuStreamEndCapture");
  state->graph = Graph(graph, driver.graphDestroy);
  if (status)
    status = end;
  CUgraphExec runner = nullptr;
  if (status)
    status = device.check(driver.graphInstantiate(&runner, graph, 0),
                          "cuGraphInstantiateWithFlags");
  state->runner = GraphRunner(runner, driver.graphExecDestroy);
  state->runsOfGraph = runs;
  return status;
}

Result<std::vector<double>> GpuRuns::timeGraph(int count) {
  const GpuDevice &device = state->device;
  CurrentContext current(device.driver, device.context);
  if (Status status = current.status(); !status)
    return status;
  Result<std::vector<double>> seconds = state->time(count, [&] {
    return device.check(
        device.driver.graphLaunch(state->runner.get(), state->stream.get()),
        "cuGraphLaunch");
  });
  if (seconds)
    for (double &time : *seconds)
      time /= std::max(state->runsOfGraph, 1);
  return seconds;
}

} // namespace ccn::runtime
