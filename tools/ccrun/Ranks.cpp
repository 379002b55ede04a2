//===- Ranks.cpp - Runs a plan on ranks -----------------------------------===//
//
// What one rank does, and teams of threads.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Ranks.h"

#include "runtime/cpu/PlanExecutor.h"
#include "runtime/plan/Pieces.h"
#include "runtime/team/Protocols.h"
#include "runtime/team/SymmetricHeap.h"
#include "tools/ccrun/RankRun.h"

#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

using namespace ccn;
using namespace ccn::runtime;

namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Copies of a rank's inout arguments, from which they are restored so that all
/// runs start alike, and so that some leave nothing behind.
class SavedArguments {
public:
  SavedArguments(RunMemory &memory, int rank) {
    std::vector<void *> places = memory.arguments(rank);
    const std::vector<Argument> &arguments = memory.plan().arguments;
    bool isNeeded = memory.task().runs > 1 || !memory.task().givesResults;
    for (size_t i = 0; isNeeded && i < arguments.size(); ++i) {
      if (arguments[i].kind != ArgumentKind::InOut)
        continue;
      auto size = static_cast<size_t>(memory.argumentBytes(rank, i));
      saved.emplace_back(places[i],
                         std::string(static_cast<char *>(places[i]), size));
    }
  }
  void restore() const {
    for (const auto &[place, bytes] : saved)
      if (!bytes.empty())
        std::memcpy(place, bytes.data(), bytes.size());
  }

private:
  std::vector<std::pair<void *, std::string>> saved;
};

/// Ranks start each run together, so that its time does not include waiting for
/// the last rank.
class Start {
public:
  explicit Start(RankMemory &memory) : memory(memory) {
    for (int i = 0; i < memory.ranks(); ++i)
      members.ranks.push_back(i);
    members.position = memory.rank();
  }
  Status prepare() {
    Result<int64_t> offset = memory.allocate(Signals::bytes(memory.ranks()));
    if (offset)
      ready.offset = *offset;
    return offset.status();
  }
  Status meet() {
    return barrier(memory, members, ready, "start of a run", ++epoch);
  }

private:
  RankMemory &memory;
  Members members;
  Signals ready{"ready"};
  Epoch epoch = 0;
};

Status executeOnCpu(const ObjectCode &code, RunMemory &memory,
                    Transport &transport, int rank, RankTrace *trace,
                    Start &start) {
  const RunTask &task = memory.task();
  ExecutorOptions options;
  options.timeLimit = task.timeLimit;
  options.resolve = [&](std::string_view name) { return code.find(name); };
  options.trace = trace;
  Result<std::unique_ptr<PlanExecutor>> executor =
      PlanExecutor::create(memory.plan(), rank, transport, options);
  if (!executor)
    return executor.status();
  const Traffic &traffic = (*executor)->traffic();
  RankReport &report = memory.report(rank);
  report.moved = {traffic.ownRead + traffic.ownWritten, traffic.othersRead,
                  traffic.othersWritten};
  report.state = RankState::Running;

  WholeArguments arguments(memory.plan(), rank, memory.arguments(rank));
  SavedArguments saved(memory, rank);
  int64_t first = 0;
  for (int run = 0; run < task.runs; ++run) {
    if (run > 0)
      saved.restore();
    if (Status status = start.meet(); !status)
      return status;
    int64_t begin = now();
    if (run == 0)
      first = begin;
    if (Status status = (*executor)->run(arguments); !status)
      return status;
    int timed = run - (task.runs - task.timedRuns);
    if (timed >= 0) {
      int64_t zero = task.ownClocks ? begin : 0;
      memory.time(rank, timed) = {begin - zero, now() - zero};
    }
  }
  if (!task.givesResults)
    saved.restore();
  if (trace)
    trace->finish(task.ownClocks ? first : 0);
  return Status();
}

Status execute(const RankCode &code, RunMemory &memory, Transport &transport,
               int rank, RankTrace *trace) {
  RankMemory symmetric(transport, rank, memory.task().timeLimit);
  Start start(symmetric);
  if (Status status = start.prepare(); !status)
    return status;
  if (code.gpu)
    return executeOnGpu(*code.gpu, memory, transport, rank, trace,
                        [&] { return start.meet(); });
  return executeOnCpu(*code.cpu, memory, transport, rank, trace, start);
}

} // namespace

Result<int64_t> ccn::heapBytes(const Plan &plan, bool onGpus) {
  Result<int64_t> bytes = executorBytes(plan, onGpus);
  if (!bytes)
    return bytes;
  return *bytes + Signals::bytes(static_cast<int64_t>(plan.ranks.size())) +
         Transport::alignment;
}

Status ccn::runRank(const RankCode &code, RunMemory &memory,
                    Transport &transport, int rank, Trace &trace) {
  RankTrace events(rank);
  Status status = execute(code, memory, transport, rank,
                          memory.task().traced ? &events : nullptr);
  if (status && memory.task().traced)
    status = trace.add(events.text());
  if (!status)
    status = transport.fail(rank, status.message());
  reportEnd(memory, rank, status);
  return status;
}

void ccn::reportEnd(RunMemory &memory, int rank, const Status &status) {
  RankReport &report = memory.report(rank);
  size_t size = std::min(status.message().size(), sizeof report.message - 1);
  std::memcpy(report.message, status.message().data(), size);
  report.message[size] = 0;
  report.state = status ? RankState::Done : RankState::Failed;
}

Status ccn::runThreads(const Package &package, RunMemory &memory,
                       Trace &trace) {
  const Plan &plan = memory.plan();
  int ranks = memory.task().ranks;
  Result<int64_t> bytes = heapBytes(plan, memory.task().onGpus);
  if (!bytes)
    return bytes.status();
  Result<RankCode> code = loadCode(package, memory.task().onGpus);
  if (!code)
    return code.status();
  Result<std::unique_ptr<SymmetricHeap>> heap =
      SymmetricHeap::create(ranks, *bytes);
  if (!heap)
    return heap.status();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    try {
      threads.emplace_back([&, rank] {
        (void)runRank(*code, memory, **heap, rank, trace);
        (*heap)->leave(rank);
      });
    } catch (const std::system_error &failure) {
      (void)(*heap)->fail(rank, std::string("cannot start a thread: ") +
                                    failure.what());
      break;
    }
  }
  for (std::thread &thread : threads)
    thread.join();
  return (*heap)->failure();
}
