//===- Processes.cpp - Ranks that are processes ---------------------------===//
//
// ccrun starts itself once for each rank. It hands over the memory of the run
// and the symmetric heap as open files without names, so nothing stays of them.
// Then it waits for the ranks and for signals.
//
// If a rank ends badly, the heap tells the others. A rank that does not notice
// in time, because it computes or is stopped, is killed. If ccrun itself is
// killed, so is every rank.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/CheckPlan.h"
#include "runtime/team/SymmetricHeap.h"
#include "tools/ccrun/RankRun.h"
#include "tools/ccrun/Ranks.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// How long ranks have to end by themselves after one has failed: they notice
/// within milliseconds when they wait for others.
constexpr double graceSeconds = 3;

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Signals that processes wait for rather than being interrupted by.
class BlockedSignals {
public:
  BlockedSignals() {
    sigemptyset(&set);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
      sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &former);
  }
  ~BlockedSignals() { restore(); }
  void restore() const { pthread_sigmask(SIG_SETMASK, &former, nullptr); }

  /// The next one within 100 ms, or 0.
  int wait() const {
    timespec limit{0, 100'000'000};
    int signal = sigtimedwait(&set, nullptr, &limit);
    return signal > 0 ? signal : 0;
  }

private:
  sigset_t set, former;
};

struct Process {
  pid_t id = -1;
  bool ended = false;
};

class ProcessTeam {
public:
  ProcessTeam(const std::string &path, RunMemory &memory, Trace &trace)
      : path(path), memory(memory), trace(trace),
        processes(static_cast<size_t>(memory.task().ranks)) {}
  ~ProcessTeam() { kill(); }

  Status run();

private:
  Status start(int rank, const BlockedSignals &signals);
  /// What rank's processes inherit: open files.
  std::array<int, 3> files() const {
    return {memory.file(), heap.get(), trace.file()};
  }
  /// Takes notice of who has ended, and why; whether all have.
  bool reap();
  /// Ends all that run, and waits for them.
  void kill();
  /// Gives a signal that asks this process to end its usual effect.
  [[noreturn]] void endBy(int signal, const BlockedSignals &signals);
  /// Those that run: "rank 0 (dp = 0), rank 1 (dp = 1)".
  std::string running() const;

  const std::string &path;
  RunMemory &memory;
  Trace &trace;
  FileDescriptor heap;
  std::vector<Process> processes;
  /// A rank that ended without a word, which others then fail because of; what
  /// the first rank says that failed.
  Status lost, reported;
  /// When the first rank ended badly, and well.
  std::optional<Clock::time_point> failedSince, doneSince;
};

Status ProcessTeam::start(int rank, const BlockedSignals &signals) {
  // Everything that takes memory comes before the fork.
  std::string option = "--worker=" + std::to_string(rank);
  for (int file : files())
    option += "," + std::to_string(file);
  option += "," + std::to_string(memory.task().variant);
  char name[] = "ccrun", separator[] = "--";
  std::string package = path;
  char *arguments[] = {name, option.data(), separator, package.data(), nullptr};
  pid_t parent = getpid(), child = fork();
  if (child < 0)
    return error("cannot start a process for rank ", rank, ": ", systemError());
  if (child > 0) {
    processes[static_cast<size_t>(rank)].id = child;
    return Status();
  }
  // Dies with its parent, which may have died before this line.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(4);
  signals.restore();
  for (int file : files())
    if (file >= 0)
      fcntl(file, F_SETFD, 0);
  execv("/proc/self/exe", arguments);
  _exit(127);
}

bool ProcessTeam::reap() {
  bool all = true;
  for (size_t i = 0; i < processes.size(); ++i) {
    int rank = static_cast<int>(i), status;
    Process &process = processes[i];
    if (process.ended || waitpid(process.id, &status, WNOHANG) != process.id) {
      all = all && process.ended;
      continue;
    }
    process.ended = true;
    RankReport &report = memory.report(rank);
    report.hasEnded = true;
    bool isDone = report.state == RankState::Done;
    std::optional<Clock::time_point> &since = isDone ? doneSince : failedSince;
    if (!since)
      since = Clock::now();
    if (isDone)
      continue;
    Status &cause = report.state == RankState::Failed ? reported : lost;
    if (!cause)
      continue;
    std::string who = describeRank(memory.plan(), rank);
    if (report.state == RankState::Failed)
      cause = Status::failure(report.message);
    else if (WIFSIGNALED(status))
      cause = error(who, " was ended by signal ", WTERMSIG(status), " (",
                    strsignal(WTERMSIG(status)), ")");
    else
      cause = error(who, " ended with status ", WEXITSTATUS(status),
                    " before it was done");
  }
  return all;
}

void ProcessTeam::kill() {
  for (Process &process : processes)
    if (process.id > 0 && !process.ended)
      ::kill(process.id, SIGKILL);
  for (Process &process : processes)
    if (process.id > 0 && !process.ended)
      process.ended = waitpid(process.id, nullptr, 0) == process.id;
}

void ProcessTeam::endBy(int signal, const BlockedSignals &signals) {
  kill();
  std::signal(signal, SIG_DFL);
  signals.restore();
  std::raise(signal);
  _exit(128 + signal);
}

std::string ProcessTeam::running() const {
  std::string text;
  for (size_t i = 0; i < processes.size(); ++i)
    if (!processes[i].ended)
      text += (text.empty() ? "" : ", ") +
              describeRank(memory.plan(), static_cast<int>(i));
  return text;
}

Status ProcessTeam::run() {
  Result<FileDescriptor> made = SymmetricHeap::makeFile();
  if (!made)
    return made.status();
  heap = *std::move(made);
  BlockedSignals signals;
  for (size_t rank = 0; rank < processes.size(); ++rank)
    if (Status status = start(static_cast<int>(rank), signals); !status)
      return status;
  Status late;
  while (late && !reap()) {
    if (int signal = signals.wait(); signal && signal != SIGCHLD)
      endBy(signal, signals);
    double limit = memory.task().timeLimit;
    if (failedSince && secondsSince(*failedSince) > graceSeconds)
      late = error("a rank failed, and ", running(), " did not end");
    else if (doneSince && secondsSince(*doneSince) > limit)
      late = error(running(), " did not end within ", limit,
                   " s after another rank");
  }
  kill();
  return !lost ? lost : !reported ? reported : late;
}

} // namespace

Status ccn::runProcesses(const std::string &path, RunMemory &memory,
                         Trace &trace) {
  return ProcessTeam(path, memory, trace).run();
}

//===----------------------------------------------------------------------===//
// In a rank's process
//===----------------------------------------------------------------------===//

namespace {

Status joinAndRun(const Package &package, RunMemory &memory, int heapFile,
                  int rank, Trace &trace) {
  const RunTask &task = memory.task();
  if (!task.onGpus)
    if (Status status = checkMachine(package); !status)
      return status;
  if (Status status = checkPlan(memory.plan()); !status)
    return status;
  Result<int64_t> bytes = heapBytes(memory.plan(), task.onGpus);
  if (!bytes)
    return bytes.status();
  Result<RankCode> code = loadCode(package, task.onGpus);
  if (!code)
    return code.status();
  SymmetricHeap::Member member;
  member.rank = rank;
  member.ranks = task.ranks;
  member.bytesPerRank = *bytes;
  member.timeLimit = task.timeLimit;
  member.content = package.hash;
  member.hasEnded = [&](int other) {
    return memory.report(other).hasEnded.load();
  };
  Result<FileDescriptor> file = SymmetricHeap::openFile(getpid(), heapFile);
  if (!file)
    return file.status();
  Result<std::unique_ptr<SymmetricHeap>> heap =
      SymmetricHeap::join(*std::move(file), member);
  if (!heap)
    return heap.status();
  Status status = runRank(*code, memory, **heap, rank, trace);
  (*heap)->leave(rank);
  return status;
}

} // namespace

int ccn::runWorker(const std::string &path, const std::string &worker) {
  int rank = -1, memoryFile = -1, heapFile = -1, traceFile = -1;
  unsigned variant = 0;
  if (std::sscanf(worker.c_str(), "%d,%d,%d,%d,%u", &rank, &memoryFile,
                  &heapFile, &traceFile, &variant) != 5)
    return 2;
  Trace trace(traceFile);
  Result<Package> package = readPackage(path);
  if (!package)
    return RunMemory::reportFailure(memoryFile, rank, package.status());
  // Of another package, the hash below says.
  if (variant > 0 && variant <= package->variants.size())
    swapVariant(*package, variant);
  Result<std::unique_ptr<RunMemory>> memory =
      RunMemory::open(memoryFile, rank, *package);
  if (!memory)
    return RunMemory::reportFailure(memoryFile, rank, memory.status());
  Status status = joinAndRun(*package, **memory, heapFile, rank, trace);
  // What runRank has reported is said once more, alike.
  reportEnd(**memory, rank, status);
  return status ? 0 : 4;
}
