//===- GpuExecutor.cpp - Executes plans on GPUs ---------------------------===//
//
// A run forks the caller's stream into the plan's, by events, and joins them
// again, which a stream that captures a graph records as it is. Whoever waits
// for the device looks at it, at what kernels report and at the team in turn,
// so that no failure makes it hang; kernels that wait for ranks that will never
// come are stopped by a word in host memory.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuExecutor.h"

#include "runtime/cuda/GpuFault.h"
#include "runtime/cuda/GpuState.h"
#include "runtime/plan/Arguments.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace ccn::runtime {

namespace {

/// How long kernels have to end after they were told to, in seconds.
constexpr double graceSeconds = 5;
/// How long an error of CUDA waits for a better explanation.
constexpr double explanationSeconds = 0.5;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Calls isTrue() until it is, at most for so many seconds; whether it is.
template <typename Condition>
bool becomesTrue(double seconds, Condition isTrue) {
  int64_t start = now();
  while (!isTrue()) {
    if (static_cast<double>(now() - start) > seconds * 1e9)
      return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

} // namespace

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

void GpuExecutor::State::stopKernels() {
  if (words)
    std::atomic_ref(words->stop).store(1, std::memory_order_release);
  if (messages)
    messages->abort();
}

Status GpuExecutor::State::fail(const Status &cause) {
  Status failure = transport.fail(rank, cause.message());
  // Others hear of it before they miss this rank.
  stopKernels();
  return failure;
}

Status GpuExecutor::State::fault() const {
  if (!words ||
      std::atomic_ref(words->fault.kind).load(std::memory_order_acquire) ==
          CCN_NO_FAULT)
    return Status();
  // Kernels are stopped when the team has failed, and that is the cause.
  if (words->fault.kind == CCN_STOPPED && transport.failed())
    return transport.failure();
  std::string text =
      describeFault(words->fault, launchNames, failures, options.timeLimit);
  // Nobody knows how often graphs were replayed.
  if (words->fault.kind == CCN_TIMED_OUT && !hasCaptured)
    if (std::string all = describeProgress(exchange->progress(), launchNames);
        !all.empty())
      text += "; given to the GPUs: " + all;
  return Status::failure(text);
}

Status GpuExecutor::State::lostRank() const {
  for (int other = 0; other < transport.ranks(); ++other)
    if (other != rank && transport.isGone(other) && !transport.failed())
      return error("rank ", other,
                   " has ended while this rank waited for its GPU");
  return Status();
}

Status GpuExecutor::State::explain(Status status) const {
  (void)becomesTrue(explanationSeconds, [&] {
    Status better = fault();
    if (better && transport.failed())
      better = transport.failure();
    if (better)
      better = lostRank();
    if (!better)
      status = better;
    return !better;
  });
  return status;
}

Status GpuExecutor::State::trouble() {
  constexpr int64_t interval = 50'000'000;
  if (Status status = fault(); !status)
    return status;
  if (transport.failed())
    return transport.failure();
  int64_t time = now();
  if (time < nextLook)
    return Status();
  nextLook = time + interval;
  if (!messages && isTraceReady)
    showTraced();
  return lostRank();
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

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
    // It is in the first segment.
    if (does && launch.context.segment <= 0)
      if (Status status =
              launch.product->run(a, b, c, launch.context.workspace, stream);
          !status)
        return status;
    if (does && launch.isProduct)
      return Status();
  }
  if (!launch.function)
    return Status();
  void *parameters[] = {&launch.context, arguments.data(),
                        launch.numbers.data()};
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
  if (isCaptured || paces.empty())
    return Status();
  StreamPace &pace = paces[number];
  pace.given += things;
  if (pace.given < StreamPace::most)
    return Status();
  pace.given = things;
  std::swap(pace.last, pace.before);
  // It is done if it was never recorded.
  Status status = awaitEvent(pace.last);
  return status ? device->check(
                      device->driver.eventRecord(pace.last.get(), stream),
                      "cuEventRecord")
                : status;
}

size_t GpuExecutor::State::thingsBeside() const {
  // The fork, the end, and the streams that are joined.
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

/// What a launch gives its stream: beside itself what it waits for and what
/// tells that it is done, by a library several kernels, and with messages those
/// of each segment.
static size_t thingsOf(const PreparedGpuLaunch &launch) {
  constexpr size_t each = 8;
  return launch.waits.size() +
         each * static_cast<size_t>(std::max(launch.segments, 1));
}

Status GpuExecutor::State::launchAll(CUstream stream) {
  isTraceReady = false;
  Status begun = beginStream(stream);
  if (begun)
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

Status GpuExecutor::State::awaitRuns() {
  return hasRun ? awaitEvent(last) : Status();
}

Status GpuExecutor::State::awaitEvent(const Event &event) {
  while (true) {
    CUresult result = device->driver.eventQuery(event.get());
    if (result != CUDA_ERROR_NOT_READY)
      return device->check(result, "cuEventQuery");
    if (Status status = trouble(); !status)
      return status;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

Status GpuExecutor::State::bind(std::span<void *const> addresses) {
  std::vector<void *> bound(addresses.begin(), addresses.end());
  for (const ValueArgument &value : values)
    if (value.number < bound.size() && !bound[value.number])
      bound[value.number] = reinterpret_cast<void *>(value.place);
  Status status = checkArguments(plan, isScattered, bound);
  CurrentContext current(device->driver, device->context);
  if (status)
    status = current.status();
  // They use what was bound before.
  if (status)
    status = awaitRuns();
  // Giving that back may wait for what others run.
  if (status)
    status = exchange->barrier("binding of arguments");
  if (status)
    forgetTables();
  for (SharedArgument &argument : shared) {
    if (!status || messages)
      break;
    argument.bound.reset();
    Result<std::optional<SharedPlaces>> places =
        shareIfPossible(argument, bound[argument.number]);
    status = places.status();
    if (status)
      argument.bound = *std::move(places);
  }
  for (OwnScattered &argument : scattered)
    if (status)
      status = bindScattered(argument, bound[argument.number]);
  if (status)
    status = exchange->barrier("binding of arguments");
  return status ? status : fail(status);
}

Status GpuExecutor::State::start(std::span<void *const> addresses,
                                 CUstream stream) {
  if (transport.failed()) {
    stopKernels();
    return transport.failure();
  }
  Status status = fault();
  if (status)
    status = checkArguments(plan, isScattered, addresses);
  if (status) {
    given.assign(addresses.begin(), addresses.end());
    std::copy(given.begin(), given.end(), arguments.begin());
    size_t next = argumentCount;
    for (size_t i = 0; i < shared.size(); ++i) {
      SharedArgument &argument = shared[i];
      if (messages) {
        Piece &own = argument.staged.own.front();
        // Nobody else accesses it, wherever it is in one piece.
        if (!argument.isScattered) {
          own.data = given[argument.number];
          argument.staged.addresses[static_cast<size_t>(rank)] =
              reinterpret_cast<CUdeviceptr>(own.data);
        }
        sentFrom[i] = reinterpret_cast<CUdeviceptr>(own.data);
      }
      arguments[argument.number] = reinterpret_cast<void *>(ownPlace(argument));
      for (CUdeviceptr place : argument.places().addresses)
        arguments[next++] = reinterpret_cast<void *>(place);
    }
    findScattered();
    CurrentContext current(device->driver, device->context);
    status = current.status();
    ++runs;
    if (status)
      status = launchAll(stream);
    // Of messages that do not go on others may know more.
    if (!status && messages)
      status = explain(status);
  }
  return status ? status : fail(status);
}

Status GpuExecutor::State::finishStream(CUstream stream) {
  CurrentContext current(device->driver, device->context);
  if (Status status = current.status(); !status)
    return fail(status);
  bool hasTrouble = false;
  Status status = awaitStream(*device, stream, [&] {
    Status found = trouble();
    hasTrouble = !found;
    return found;
  });
  if (status)
    status = fault();
  if (status)
    return isTraceReady ? reportTrace() : Status();
  status = fail(hasTrouble ? status : explain(status));
  (void)isIdleWithin(graceSeconds, stream);
  return status;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

bool GpuExecutor::State::isBusy(CUstream stream) const {
  const Driver &driver = device->driver;
  if (hasRun && driver.eventQuery(last.get()) == CUDA_ERROR_NOT_READY)
    return true;
  auto isStreamBusy = [&](CUstream stream) {
    return stream && driver.streamQuery(stream) == CUDA_ERROR_NOT_READY;
  };
  for (CUstream own : streams)
    if (isStreamBusy(own))
      return true;
  return isStreamBusy(stream);
}

bool GpuExecutor::State::isIdleWithin(double seconds, CUstream stream) {
  return becomesTrue(seconds, [&] { return !isBusy(stream); });
}

bool GpuExecutor::State::settle(CUstream stream) {
  CurrentContext current(device->driver, device->context);
  // Without it nothing can be known.
  isStuck = !current.status();
  if (isStuck)
    return false;
  (void)becomesTrue(options.timeLimit,
                    [&] { return !isBusy(stream) || transport.failed(); });
  if (!isBusy(stream))
    return true;
  stopKernels();
  isStuck = !isIdleWithin(graceSeconds, stream);
  return !isStuck;
}

bool GpuExecutor::State::endRuns(CUstream stream) {
  if (isStuck || !settle(stream))
    return false;
  isStuck =
      mayBeUsed && !exchange->meetAtEnd(EndStage::RunsAreOver, graceSeconds);
  return !isStuck;
}

bool GpuExecutor::State::finish() {
  bool isOver = endRuns();
  // The team may end before what it looks at.
  if (messages)
    messages->endWatch();
  if (!isOver)
    return false;
  CurrentContext current(device->driver, device->context);
  for (SharedArgument &argument : shared)
    argument.bound.reset();
  if (team)
    team->closePeers();
  bool haveMet =
      !mayBeUsed || exchange->meetAtEnd(EndStage::PeersAreClosed, graceSeconds);
  if (transport.failed())
    stopKernels();
  if (haveMet)
    messages.reset();
  return haveMet;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

GpuExecutor::GpuExecutor(std::unique_ptr<State> state)
    : state(std::move(state)) {}

Result<std::unique_ptr<GpuExecutor>>
GpuExecutor::create(const Plan &plan, const GpuProgram &program, int rank,
                    Transport &transport, const GpuExecutorOptions &options) {
  if (rank < 0 || rank >= transport.ranks())
    return error("expected a rank from 0 to ", transport.ranks() - 1,
                 ", found ", rank);
  auto state = std::make_unique<State>(transport, rank, options);
  Status status = state->prepare(plan, program);
  if (!status)
    status = state->fail(status);
  // What was taken is given back with the executor.
  std::unique_ptr<GpuExecutor> executor(new GpuExecutor(std::move(state)));
  if (!status)
    return status;
  return executor;
}

GpuExecutor::~GpuExecutor() {
  if (!state->device)
    return;
  if (!state->finish()) {
    // Kernels, or other ranks, may still use all of it.
    if (state->ownStreams)
      state->ownStreams->giveUp();
    keepForever(std::move(state));
    return;
  }
  State::giveBack(std::move(state));
}

void GpuExecutor::State::giveBack(std::unique_ptr<State> state) {
  std::unique_ptr<HostExchange> exchange = std::move(state->exchange);
  std::unique_ptr<GpuDevice> device = std::move(state->device);
  bool mustMeet = state->mayBeUsed;
  {
    CurrentContext current(device->driver, device->context);
    state.reset();
  }
  device.reset();
  if (mustMeet)
    (void)exchange->meetAtEnd(EndStage::MemoryIsBack, graceSeconds);
}

Status GpuExecutor::bind(std::span<void *const> arguments) {
  return state->bind(arguments);
}

Status GpuExecutor::run(std::span<void *const> arguments, GpuStream stream) {
  return state->start(arguments, stream);
}

Status GpuExecutor::runValues(std::span<void *const> arguments,
                              GpuStream stream) {
  return state->startWithValues(arguments, stream);
}

Status GpuExecutor::synchronize(GpuStream stream) {
  return state->finishStream(stream);
}

int GpuExecutor::device() const { return state->device->number; }

Status GpuExecutor::checkRun(std::span<void *const> arguments) const {
  return state->checkRun(arguments);
}

bool GpuExecutor::isCopied(int argument) const {
  for (const SharedArgument &each : state->shared)
    if (each.number == static_cast<size_t>(argument))
      return each.count > 0 &&
             (state->messages ? each.isScattered : !each.bound);
  return false;
}

int64_t GpuExecutor::blocks(int launch) const {
  return state->launches[static_cast<size_t>(launch)].blocks;
}

} // namespace ccn::runtime
