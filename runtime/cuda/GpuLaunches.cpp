//===- GpuLaunches.cpp - What a run gives to the device -------------------===//
//
// A run puts its launches into the plan's streams, with the events that order
// them, the copies of arguments before and after, and the messages between the
// segments of a launch. It starts all of that and waits for none of it; when
// a stream holds as much as it may, the run waits for what it put there before.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuState.h"

#include <algorithm>
#include <mutex>

namespace ccn::runtime {

void *GpuExecutor::State::addressOf(const View &view) const {
  const Buffer &buffer = plan.buffers[static_cast<size_t>(view.buffer)];
  int64_t offset = view.offset * sizeInBytes(buffer.type);
  if (buffer.memory == Memory::Argument)
    return static_cast<std::byte *>(
               arguments[static_cast<size_t>(buffer.offset)]) +
           offset;
  CUdeviceptr memory = buffer.memory == Memory::Private ? privateMemory.get()
                                                        : team->address(rank);
  return reinterpret_cast<void *>(
      memory + static_cast<CUdeviceptr>(buffer.offset + offset));
}

Status GpuExecutor::State::launchKernel(PreparedGpuLaunch &launch,
                                        CUstream stream) {
  if (launch.product) {
    void *a = addressOf(launch.a), *b = addressOf(launch.b),
         *c = addressOf(launch.c);
    auto isAligned = [](void *address) {
      return reinterpret_cast<uintptr_t>(address) % LibraryProduct::alignment ==
             0;
    };
    bool does = !launch.product->mustAlign() ||
                (isAligned(a) && isAligned(b) && isAligned(c));
    launch.context.hasProduct = does;
    // The product is in the first segment.
    if (does && launch.context.segment <= 0)
      if (Status status =
              launch.product->run(a, b, c, launch.context.workspace, stream);
          !status)
        return status;
    if (does && launch.isProduct)
      return Status();
  }
  if (launch.preferred && !launch.context.hasProduct &&
      (launch.preferred->needsNoMaps || areTensorsAligned(*launch.preferred)))
    return launchKernel(*launch.preferred, stream);
  if (!launch.function)
    return Status();
  if (Status status = encodeTensorMaps(launch); !status)
    return status;
  // A kernel without maps has three parameters.
  void *parameters[] = {&launch.context, arguments.data(),
                        launch.numbers.data(), launch.tensorMaps.data()};
  CUlaunchAttribute attribute;
  CUlaunchConfig config =
      launchConfig(launch.blocks, launch.threads, launch.sharedBytes,
                   launch.context.clusterBits, attribute);
  config.hStream = stream;
  return device->check(device->driver.launchKernel(&config, launch.function,
                                                   parameters, nullptr),
                       "cuLaunchKernelEx");
}

Status GpuExecutor::State::launchSegments(PreparedGpuLaunch &launch,
                                          CUstream stream) {
  if (!messages)
    return launchKernel(launch, stream);
  auto number = static_cast<size_t>(&launch - launches.data());
  auto epoch = reinterpret_cast<CUdeviceptr>(&launch.context.control->epochs);
  auto exchange = [&](int when) {
    return messages->exchange(number, static_cast<size_t>(when), stream, epoch,
                              team->address(rank), sentFrom);
  };
  Status status;
  for (int segment = 0; status && segment < launch.segments; ++segment) {
    launch.context.segment = segment;
    status = exchange(2 * segment);
    if (status)
      status = launchKernel(launch, stream);
    if (status)
      status = exchange(2 * segment + 1);
  }
  return status;
}

Status GpuExecutor::State::launch(PreparedGpuLaunch &launch, CUstream stream,
                                  bool isTraced) {
  const Driver &driver = device->driver;
  for (int other : launch.waits)
    if (Status status = device->check(
            driver.streamWaitEvent(
                stream, launches[static_cast<size_t>(other)].done.get(), 0),
            "cuStreamWaitEvent");
        !status)
      return status;
  auto record = [&](const Event &event) {
    return device->check(driver.eventRecord(event.get(), stream),
                         "cuEventRecord");
  };
  if (isTraced)
    if (Status status = record(launch.begin); !status)
      return status;
  if (Status status = launchSegments(launch, stream); !status)
    return status;
  if (isTraced)
    if (Status status = record(launch.end); !status)
      return status;
  return launch.done ? record(launch.done) : Status();
}

Status GpuExecutor::State::beginStream(CUstream stream) {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  Status status =
      device->check(device->driver.streamIsCapturing(stream, &capture),
                    "cuStreamIsCapturing");
  isCaptured = capture != CU_STREAM_CAPTURE_STATUS_NONE;
  if (isCaptured)
    hasCaptured = true;
  if (!status || isCaptured)
    return status;
  unsigned long long number = 0;
  status = device->check(device->driver.streamGetId(stream, &number),
                         "cuStreamGetId");
  if (!status || std::find(usedStreams.begin(), usedStreams.end(), ++number) !=
                     usedStreams.end())
    return status;
  usedStreams[nextUsed++ % usedStreams.size()] = number;
  isFirstRun = true;
  return device->begin(stream);
}

Status GpuExecutor::State::pace(size_t number, CUstream stream, size_t things) {
  if (!isPaced())
    return Status();
  StreamPace &pace = paces[number];
  pace.given += things;
  if (pace.given < StreamPace::most)
    return Status();
  pace.given = things;
  std::swap(pace.last, pace.before);
  // An event that was never recorded counts as done.
  Status status = awaitEvent(pace.last);
  return status ? device->check(
                      device->driver.eventRecord(pace.last.get(), stream),
                      "cuEventRecord")
                : status;
}

size_t GpuExecutor::State::thingsBeside() const {
  // The fork, the end, and the joins of streams.
  size_t things = 2 + streams.size();
  for (const SharedArgument &argument : shared)
    things +=
        2 * (argument.isScattered ? argument.places().own.size() +
                                        piecesAt(given[argument.number]).size()
                                  : 1);
  for (const OwnScattered &argument : scattered)
    things += 1 + piecesAt(given[argument.number]).size() / 64;
  return things;
}

/// How many items a launch submits to its stream: what it waits for and, in
/// each segment, at most eight: its kernel, of which a library has several,
/// what tells that it is done, and messages.
static size_t thingsOf(const PreparedGpuLaunch &launch) {
  constexpr size_t each = 8;
  return launch.waits.size() +
         each * static_cast<size_t>(std::max(launch.segments, 1));
}

Status GpuExecutor::State::launchAll(CUstream stream) {
  isTraceReady = false;
  Status begun = beginStream(stream);
  // The count goes through all arguments.
  if (begun && isPaced())
    begun = pace(0, stream, thingsBeside());
  if (!begun)
    return begun;
  const Driver &driver = device->driver;
  auto record = [&](const Event &event, CUstream where) {
    return device->check(driver.eventRecord(event.get(), where),
                         "cuEventRecord");
  };
  auto wait = [&](CUstream where, const Event &event) {
    return device->check(driver.streamWaitEvent(where, event.get(), 0),
                         "cuStreamWaitEvent");
  };
  bool isTraced = options.trace && !isCaptured;
  Status placed = placeTables(stream);
  if (placed)
    placed = stage(true, stream);
  if (!placed)
    return placed;
  if (streams.size() > 1) {
    if (Status status = record(fork, stream); !status)
      return status;
    for (CUstream own : streams)
      if (own)
        if (Status status = wait(own, fork); !status)
          return status;
  }
  auto show = [&](size_t given) {
    if (!isCaptured)
      exchange->show(
          {static_cast<uint32_t>(runs), static_cast<uint32_t>(given)});
  };
  for (PreparedGpuLaunch &prepared : launches) {
    show(static_cast<size_t>(&prepared - launches.data()));
    auto number = static_cast<size_t>(prepared.stream);
    CUstream where = streams[number] ? streams[number] : stream;
    Status status = pace(number, where, thingsOf(prepared));
    if (status) {
      std::unique_lock<std::mutex> turn;
      // With messages a launch waits for other ranks.
      if (isFirstRun && !messages)
        turn = GpuDevice::takeTurn();
      status = launch(prepared, where, isTraced);
    }
    if (!status)
      return error(
          "launch '",
          launchNames[static_cast<size_t>(&prepared - launches.data())],
          "': ", status.message());
  }
  show(launches.size());
  isFirstRun = false;
  for (size_t i = 1; i < streams.size(); ++i) {
    if (!streams[i])
      continue;
    Status status = record(joins[i], streams[i]);
    if (status)
      status = wait(stream, joins[i]);
    if (!status)
      return status;
  }
  if (Status status = stage(false, stream); !status)
    return status;
  isTraceReady = isTraced;
  if (isCaptured)
    return Status();
  hasRun = true;
  return record(last, stream);
}

Status GpuExecutor::State::stage(bool before, CUstream stream) {
  Status status;
  for (const SharedArgument &argument : shared) {
    if (!(before ? argument.isInput : argument.isOutput))
      continue;
    void *address = given[argument.number];
    Piece whole{address, argument.count};
    PieceSpan pieces =
        argument.isScattered ? piecesAt(address) : PieceSpan(&whole, 1);
    bool isDone = forEachCommonRange(
        pieces, argument.places().own, argument.size,
        [&](std::byte *caller, std::byte *place, int64_t count) {
          if (caller == place)
            return true;
          auto from = reinterpret_cast<CUdeviceptr>(before ? caller : place);
          auto to = reinterpret_cast<CUdeviceptr>(before ? place : caller);
          auto bytes = static_cast<size_t>(count * argument.size);
          status = device->check(
              device->driver.memcpyDtoDAsync(to, from, bytes, stream),
              "cuMemcpyDtoDAsync");
          return status.ok();
        });
    if (!isDone)
      return status;
  }
  return status;
}

} // namespace ccn::runtime
