//===- GpuExecutor.cpp - Executes plans on GPUs ---------------------------===//
//
// A run forks the caller's stream into the plan's, by events, and joins them
// again, which a stream that captures a graph records as it is. A thread that
// waits for the device polls the device, the reports of kernels and the team in
// turn, so that no failure makes it hang. A word in host memory stops kernels
// that wait for ranks which will never come.
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

/// How long kernels may take to end after they were told to stop, in seconds.
constexpr double graceSeconds = 5;
/// How long an error of CUDA waits for a better explanation.
constexpr double explanationSeconds = 0.5;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Calls isTrue() until it returns true, for at most `seconds` seconds. Returns
/// the last answer.
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
  // Runs that are in progress use what was bound before.
  if (status)
    status = awaitRuns();
  // Giving that back may wait for runs of other ranks.
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
        // Nobody else accesses it: if it is one piece, it may be anywhere.
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
    // If messages do not go on, another rank may know the cause.
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
