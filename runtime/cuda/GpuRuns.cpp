//===- GpuRuns.cpp - Runs a plan on a GPU from host memory ----------------===//
//
// Times are taken between events on the stream. Measured runs are queued in
// batches behind a run that is not measured, so that the device never waits for
// the host.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuRuns.h"

#include "runtime/cuda/GpuState.h"

#include <algorithm>
#include <functional>

namespace ccn::runtime {

namespace {

/// How many measured runs are queued before the host waits for them.
constexpr int batch = 64;

using Graph = DeviceObject<CUgraph>;
using GraphRunner = DeviceObject<CUgraphExec>;

/// Divides a number of elements into buffers as a model's parameters do: first
/// large ones of round sizes, then small ones of odd sizes.
std::vector<int64_t> piecesOf(int64_t count) {
  constexpr int64_t small = 4096, round = 64;
  constexpr int64_t smallSizes[] = {1, 0, 37, 512, 3, 100, 1031};
  std::vector<int64_t> sizes;
  for (size_t next = 0; count > 0; count -= sizes.back())
    sizes.push_back(
        count > small
            ? std::max(small, count / 4 / round * round)
            : std::min(count, smallSizes[next++ % std::size(smallSizes)]));
  return sizes;
}

/// An argument that is one array on the host.
struct RunArgument {
  int size;
  bool isOutput, isScattered;
  std::vector<DeviceMemory> memory = {};
  std::vector<Piece> pieces = {};
  PieceList list = {};

  Status allocate(const GpuDevice &device, const Argument &argument,
                  int64_t count);
};

Status RunArgument::allocate(const GpuDevice &device, const Argument &argument,
                             int64_t count) {
  std::vector<int64_t> sizes = {count};
  if (isScattered)
    sizes = piecesOf(count);
  for (int64_t elements : sizes) {
    Piece &piece = pieces.emplace_back(Piece{nullptr, elements});
    if (elements == 0)
      continue;
    // Some are aligned for their elements, and no more.
    int64_t shift = isScattered && pieces.size() % 2 == 0 ? size : 0;
    Result<DeviceMemory> taken =
        allocateMemory(device, elements * size + shift, argument.name.c_str());
    if (!taken)
      return taken.status();
    memory.push_back(*std::move(taken));
    piece.data = reinterpret_cast<void *>(memory.back().get() +
                                          static_cast<CUdeviceptr>(shift));
  }
  return Status();
}

} // namespace

struct GpuRuns::State {
  explicit State(GpuExecutor &executor)
      : executor(executor), device(*executor.state->device) {}

  Status prepare(const Plan &plan, int rank);
  Result<std::vector<double>> time(int count,
                                   const std::function<Status()> &start);
  /// Calls copy(device, host, bytes) for all arguments, or those that the plan
  /// writes, with their addresses.
  template <typename Copy>
  Status forEachPiece(std::span<void *const> host, bool writtenOnly, Copy copy);
  Status runOnce() { return executor.run(addresses, stream.get()); }
  Status wait() { return executor.synchronize(stream.get()); }

  GpuExecutor &executor;
  const GpuDevice &device;
  std::vector<RunArgument> arguments;
  /// The addresses as executors take them.
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
    RunArgument made{sizeInBytes(argument.type),
                     argument.kind != ArgumentKind::Input, argument.scattered};
    if (Status status = made.allocate(device, argument, countOf(own, i));
        !status)
      return status;
    arguments.push_back(std::move(made));
  }
  for (RunArgument &argument : arguments) {
    argument.list = {argument.pieces.data(), argument.pieces.size()};
    addresses.push_back(argument.isScattered ? &argument.list
                                             : argument.pieces.front().data);
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

template <typename Copy>
Status GpuRuns::State::forEachPiece(std::span<void *const> host,
                                    bool writtenOnly, Copy copy) {
  CurrentContext current(device.driver, device.context);
  Status status = current.status();
  for (size_t i = 0; status && i < arguments.size(); ++i) {
    const RunArgument &argument = arguments[i];
    if (writtenOnly && !argument.isOutput)
      continue;
    auto *at = static_cast<std::byte *>(host[i]);
    for (const Piece &piece : argument.pieces) {
      auto bytes = static_cast<size_t>(piece.count * argument.size);
      if (status && bytes > 0)
        status = copy(reinterpret_cast<CUdeviceptr>(piece.data), at, bytes);
      at += bytes;
    }
  }
  return status ? wait() : status;
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
  if (!state->executor.state->endRuns(state->stream.get())) {
    keepForever(std::move(state));
    return;
  }
  const GpuDevice &device = state->device;
  CurrentContext current(device.driver, device.context);
  state.reset();
}

Status GpuRuns::upload(std::span<void *const> host) {
  const GpuDevice &device = state->device;
  return state->forEachPiece(
      host, false, [&](CUdeviceptr to, const void *from, size_t bytes) {
        return device.check(
            device.driver.memcpyHtoDAsync(to, from, bytes, state->stream.get()),
            "cuMemcpyHtoDAsync");
      });
}

Status GpuRuns::download(std::span<void *const> host) {
  const GpuDevice &device = state->device;
  return state->forEachPiece(
      host, true, [&](CUdeviceptr from, void *to, size_t bytes) {
        return device.check(
            device.driver.memcpyDtoHAsync(to, from, bytes, state->stream.get()),
            "cuMemcpyDtoHAsync");
      });
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
  // Making a graph may wait for what others run.
  HostExchange &exchange = *state->executor.state->exchange;
  if (Status status = exchange.barrier("making of a graph"); !status)
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
  return status ? exchange.barrier("making of a graph") : status;
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
