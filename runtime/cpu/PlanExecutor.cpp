//===- PlanExecutor.cpp - Executes plans on the CPU -----------------------===//
//
// Stream 0 runs on the caller's thread, each other stream on a thread of its
// own that sleeps between runs. Each launch stores the number of its last
// completed run; launches on other streams wait for that number. Like the flags
// between ranks, it is never reset.
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/PlanExecutor.h"

#include "runtime/cpu/CollectiveSupport.h"
#include "runtime/cpu/Parts.h"
#include "runtime/plan/CheckPlan.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

namespace ccn::runtime {

namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// A launch that is ready to run.
struct PreparedLaunch {
  const Launch *launch = nullptr;
  std::vector<std::unique_ptr<PartKernel>> parts;
  /// The number of the last run that completed this launch; other streams wait
  /// for it.
  std::atomic<Epoch> done{0};
};

/// An argument that callers pass as a list of buffers.
struct ScatteredArgument {
  size_t number;
  int64_t count;
  int size;
  /// Whether the plan writes it.
  bool isOutput;
  Workspace memory = {};
  /// The array that the current run uses: the caller's, or `memory` if the list
  /// is not one array.
  Piece whole = {};

  Status gather(PieceSpan pieces);
  void scatter(PieceSpan pieces) const;
};

/// Sets `whole`: to the caller's memory if the pieces are adjacent, else to a
/// copy.
Status ScatteredArgument::gather(PieceSpan pieces) {
  // Buffers that lie one directly after the other form one array.
  whole = {nullptr, count};
  std::byte *end = nullptr;
  bool isOne = true;
  for (const Piece &piece : pieces) {
    if (piece.count == 0)
      continue;
    if (!whole.data)
      whole.data = piece.data;
    else
      isOne &= piece.data == end;
    end = static_cast<std::byte *>(piece.data) + piece.count * size;
  }
  if (isOne)
    return Status();
  Result<std::byte *> taken = memory.get(count * size);
  if (!taken)
    return taken.status();
  whole.data = *taken;
  forEachCommonRange(
      pieces, {&whole, 1}, size,
      [&](const std::byte *from, std::byte *to, int64_t elements) {
        std::memcpy(to, from, static_cast<size_t>(elements * size));
        return true;
      });
  return Status();
}

void ScatteredArgument::scatter(PieceSpan pieces) const {
  forEachCommonRange(
      {&whole, 1}, pieces, size,
      [&](const std::byte *from, std::byte *to, int64_t elements) {
        if (from != to)
          std::memcpy(to, from, static_cast<size_t>(elements * size));
        return true;
      });
}

} // namespace

struct PlanExecutor::State {
  State(Transport &transport, TraceSink *trace)
      : transport(transport), trace(trace) {}

  Status prepare(const Plan &plan, int rank, const ExecutorOptions &options);
  Status allocate();
  void startThreads();
  void workOn(size_t stream);
  void runStream(StreamContext &context);
  Status runLaunch(StreamContext &context, PreparedLaunch &launch);
  Status awaitLaunch(const PreparedLaunch &launch, Epoch wanted);
  Status fail(const Status &cause) {
    Status status = transport.fail(memory.rank, cause.message());
    notify();
    return status;
  }
  /// Wakes the streams that wait for launches.
  void notify() {
    {
      std::lock_guard lock(mutex);
    }
    changed.notify_all();
  }

  Transport &transport;
  TraceSink *trace;
  PlanMemory memory;
  std::vector<bool> isScattered;
  std::vector<ScatteredArgument> scattered;
  /// The addresses of the current run's arguments, each of one array.
  std::vector<void *> arguments;
  std::vector<std::unique_ptr<StreamContext>> streams;
  std::vector<PreparedLaunch> launches;
  Traffic traffic;
  Epoch epoch = 0;

  std::vector<std::thread> threads;
  std::mutex mutex;
  /// Notified when a run begins, a launch is done, a stream has failed or the
  /// executor stops.
  std::condition_variable changed;
  /// Notified when a stream has done its part of a run.
  std::condition_variable ended;
  Epoch started = 0;
  size_t running = 0;
  bool stopping = false;
};

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

Result<int64_t> planSymmetricBytes(const Plan &plan) {
  if (plan.ranks.empty())
    return error("the plan has no ranks");
  const RankPlan &rank = plan.ranks[0];
  int64_t total =
      aligned(rank.symmetricBytes) + aligned(Signals::bytes(rank.flags));
  for (size_t launch = 0; launch < rank.launches.size(); ++launch) {
    size_t number = 0;
    for (const Part &part : rank.launches[launch].parts) {
      if (!std::holds_alternative<ExchangePart>(part))
        continue;
      Result<int64_t> bytes = exchangeBytes(plan, launch, number++);
      if (!bytes)
        return bytes;
      if (__builtin_add_overflow(total, *bytes, &total))
        return error("the plan's symmetric memory overflows");
    }
  }
  return total;
}

Status PlanExecutor::State::prepare(const Plan &plan, int rank,
                                    const ExecutorOptions &options) {
  if (Status status = checkPlan(plan); !status)
    return status;
  if (static_cast<int>(plan.ranks.size()) != transport.ranks())
    return error("the plan is for ", plan.ranks.size(), " ranks, the team has ",
                 transport.ranks());
  memory.plan = plan.ranks[static_cast<size_t>(rank)];
  memory.groups = plan.groups;
  memory.failures = plan.failures;
  isScattered = scatteredArguments(plan);
  for (const Buffer &buffer : memory.plan.buffers) {
    auto number = static_cast<size_t>(buffer.offset);
    if (buffer.memory == Memory::Argument && isScattered[number])
      scattered.push_back({number, buffer.count, sizeInBytes(buffer.type),
                           plan.arguments[number].kind != ArgumentKind::Input});
  }
  if (Status status = allocate(); !status)
    return status;
  for (int stream = 0; stream < memory.plan.streams; ++stream) {
    streams.push_back(std::make_unique<StreamContext>(memory, transport, stream,
                                                      options.timeLimit));
    streams.back()->memory.setHook(options.hook);
  }
  launches = std::vector<PreparedLaunch>(memory.plan.launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    const Launch &launch = memory.plan.launches[i];
    launches[i].launch = &launch;
    for (size_t part = 0; part < launch.parts.size(); ++part) {
      Result<std::unique_ptr<PartKernel>> kernel =
          makePart(plan, memory, *streams[static_cast<size_t>(launch.stream)],
                   i, part, options.resolve);
      if (!kernel)
        return error("launch '", launch.name, "': ", kernel.message());
      traffic += (*kernel)->traffic;
      launches[i].parts.push_back(*std::move(kernel));
    }
  }
  try {
    startThreads();
  } catch (const std::system_error &) {
    return error("cannot start a thread for each of ", streams.size(),
                 " streams");
  }
  return Status();
}

Status PlanExecutor::State::allocate() {
  Result<std::byte *> arena = memory.arenaMemory.get(memory.plan.privateBytes);
  if (!arena)
    return arena.status();
  memory.arena = *arena;
  Result<int64_t> symmetric =
      transport.allocate(memory.rank, memory.plan.symmetricBytes);
  if (!symmetric)
    return symmetric.status();
  memory.symmetric = *symmetric;
  Result<int64_t> flags =
      transport.allocate(memory.rank, Signals::bytes(memory.plan.flags));
  if (flags)
    memory.flags = *flags;
  return flags.status();
}

void PlanExecutor::State::startThreads() {
  for (size_t stream = 1; stream < streams.size(); ++stream)
    threads.emplace_back([this, stream] { workOn(stream); });
}

Result<std::unique_ptr<PlanExecutor>>
PlanExecutor::create(const Plan &plan, int rank, Transport &transport,
                     const ExecutorOptions &options) {
  if (rank < 0 || rank >= transport.ranks())
    return error("expected a rank from 0 to ", transport.ranks() - 1,
                 ", found ", rank);
  auto state = std::make_unique<State>(transport, options.trace);
  state->memory.rank = rank;
  Status status = state->prepare(plan, rank, options);
  // From here on, the executor's destructor ends the threads that have started.
  std::unique_ptr<PlanExecutor> executor(new PlanExecutor(std::move(state)));
  if (!status)
    return transport.fail(rank, status.message());
  return executor;
}

PlanExecutor::PlanExecutor(std::unique_ptr<State> state)
    : state(std::move(state)) {}

PlanExecutor::~PlanExecutor() {
  {
    std::lock_guard lock(state->mutex);
    state->stopping = true;
  }
  state->changed.notify_all();
  for (std::thread &thread : state->threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

Status PlanExecutor::run(std::span<void *const> arguments) {
  State &s = *state;
  if (Status status = s.transport.failure(); !status)
    return status;
  Status checked = checkArguments(s.memory.plan, s.isScattered, arguments);
  s.arguments.assign(arguments.begin(), arguments.end());
  for (ScatteredArgument &argument : s.scattered) {
    if (!checked)
      break;
    checked = argument.gather(piecesAt(arguments[argument.number]));
    s.arguments[argument.number] = argument.whole.data;
  }
  if (!checked)
    return s.fail(checked);
  s.memory.arguments = s.arguments;
  ++s.epoch;
  {
    std::lock_guard lock(s.mutex);
    s.started = s.epoch;
    s.running = s.threads.size();
  }
  s.changed.notify_all();
  s.runStream(*s.streams[0]);
  std::unique_lock lock(s.mutex);
  s.ended.wait(lock, [&] { return s.running == 0; });
  Status status = s.transport.failure();
  for (const ScatteredArgument &argument : s.scattered)
    if (status && argument.isOutput)
      argument.scatter(piecesAt(arguments[argument.number]));
  return status;
}

/// The main function of a stream's thread.
void PlanExecutor::State::workOn(size_t stream) {
  for (Epoch next = 1;; ++next) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopping || started >= next; });
      if (stopping)
        return;
    }
    runStream(*streams[stream]);
    {
      std::lock_guard lock(mutex);
      --running;
    }
    ended.notify_one();
  }
}

/// Runs the launches of a stream; a failure fails the team.
void PlanExecutor::State::runStream(StreamContext &context) {
  context.epoch = epoch;
  for (PreparedLaunch &launch : launches) {
    if (launch.launch->stream != context.stream)
      continue;
    if (Status status = runLaunch(context, launch); !status) {
      (void)fail(status);
      return;
    }
  }
}

Status PlanExecutor::State::runLaunch(StreamContext &context,
                                      PreparedLaunch &launch) {
  for (int other : launch.launch->waits)
    if (Status status =
            awaitLaunch(launches[static_cast<size_t>(other)], context.epoch);
        !status)
      return status;
  context.launch = launch.launch;
  TraceEvent event;
  event.launch = launch.launch->name;
  event.index = static_cast<int>(&launch - launches.data());
  event.stream = context.stream;
  event.run = context.epoch;
  int64_t begin = trace ? now() : 0, partBegin = begin;
  for (size_t i = 0; i < launch.parts.size(); ++i) {
    if (Status status = transport.failure(); !status)
      return status;
    PartKernel &part = *launch.parts[i];
    if (Status status = part.run(context); !status)
      return status;
    if (!trace)
      continue;
    event.part = part.name;
    event.partIndex = static_cast<int>(i);
    event.beginNanoseconds = partBegin;
    event.endNanoseconds = partBegin = now();
    trace->record(event);
  }
  if (trace) {
    event.part = {};
    event.partIndex = -1;
    event.beginNanoseconds = begin;
    event.endNanoseconds = now();
    trace->record(event);
  }
  launch.done.store(context.epoch, std::memory_order_release);
  if (!threads.empty())
    notify();
  return Status();
}

Status PlanExecutor::State::awaitLaunch(const PreparedLaunch &launch,
                                        Epoch wanted) {
  constexpr int quickLooks = 200;
  // No notification tells of another rank's failure, so look for it now and
  // then.
  constexpr auto interval = std::chrono::milliseconds(20);
  auto isDone = [&] {
    return launch.done.load(std::memory_order_acquire) >= wanted;
  };
  for (int i = 0; i < quickLooks; ++i) {
    if (isDone())
      return Status();
    std::this_thread::yield();
  }
  std::unique_lock lock(mutex);
  while (!isDone()) {
    if (Status status = transport.failure(); !status)
      return status;
    changed.wait_for(lock, interval);
  }
  return Status();
}

const Traffic &PlanExecutor::traffic() const { return state->traffic; }

Traffic PlanExecutor::traffic(int launch) const {
  Traffic sum;
  for (const auto &part : state->launches[static_cast<size_t>(launch)].parts)
    sum += part->traffic;
  return sum;
}

} // namespace ccn::runtime
