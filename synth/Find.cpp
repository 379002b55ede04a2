//===- Find.cpp - The fastest schedule for a size -------------------------===//
//
// See Find.h; the engines are in FindEngines.cpp.
//
//===----------------------------------------------------------------------===//

#include "synth/Find.h"
#include "synth/Compose.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#ifdef __linux__
#include <sys/resource.h>
#endif

using namespace ccn;
using namespace ccn::synth;

namespace {

/// The search ends when a schedule is this close to the bound. If two schedules
/// are this close to each other, the one with fewer sends is kept.
constexpr double closeEnough = 1.0002;

/// Chunks are not cut smaller than this, since one element may have as many
/// bytes.
constexpr double minChunkBytes = 4;

/// Whether the first of two schedules is to be kept.
bool isBetter(double us, int sends, double otherUs, int otherSends) {
  if (sends <= otherSends)
    return us <= closeEnough * otherUs;
  return otherUs > closeEnough * us;
}

class Search : public FindSearch {
public:
  double offer(const std::string &engine, const std::string &method,
               Schedule schedule,
               const std::shared_ptr<const Fabric> &machine) override;
  void raiseBound(double us, const std::string &why, BoundProof proof) override;
  std::optional<FoundSchedule> fastest(double knownUs, int mostSends) override;
  bool othersRun() override {
    std::lock_guard lock(mutex);
    return done + 1 < engines.size();
  }
  double bestUs() override {
    std::lock_guard lock(mutex);
    return std::max(best, 0.0);
  }
  /// What each thread does: engine after engine, until none is left.
  void work();
  FindProgress progress();
  bool allDone() {
    std::lock_guard lock(mutex);
    return done == engines.size();
  }
  /// Waits until something happens, or for a moment.
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::milliseconds(50),
                     [&] { return done == engines.size(); });
  }
  Result<FindResult> result();

  std::vector<FindEngine> engines;
  std::atomic<bool> stop{false};

private:
  void stopIfClose() {
    if (best >= 0 && best <= closeEnough * boundUs)
      stop = true;
  }

  const Limits::Clock::time_point started = Limits::Clock::now();
  std::mutex mutex;
  std::condition_variable changed;
  size_t next = 0, done = 0;
  std::vector<char> isRunning;
  std::map<std::string, FoundSchedule> found;
  /// Negative: none yet.
  double best = -1, boundUs = 0;
  std::string bestMethod, bound, bug;
  BoundProof boundProof;
};

double Search::offer(const std::string &engine, const std::string &method,
                     Schedule schedule,
                     const std::shared_ptr<const Fabric> &machine) {
  // One chunk there is always.
  if (schedule.collective.bufferChunks > collective.bufferChunks &&
      bytes < minChunkBytes * schedule.collective.bufferChunks)
    return -1;
  if (!placeOn(schedule, *machine, /*spread=*/true).empty())
    return -1;
  std::string wrong = check(schedule, machine.get());
  Result<Timing> timing = simulate(schedule, *machine, bytes);
  std::lock_guard lock(mutex);
  if (!wrong.empty() || !timing) {
    bug = method + ": " + (wrong.empty() ? timing.message() : wrong);
    stop = true;
    return -1;
  }
  double us = timing->us();
  FoundSchedule &entry = found[engine];
  if (entry.fabric && isBetter(entry.us, entry.schedule.totalSends(), us,
                               schedule.totalSends()))
    return us;
  entry = {engine, method, us, std::move(schedule), machine};
  if (best < 0 || us < best) {
    best = us;
    bestMethod = method;
    stopIfClose();
  }
  return us;
}

void Search::raiseBound(double us, const std::string &why, BoundProof proof) {
  std::lock_guard lock(mutex);
  // What is proved in two ways is not a better bound.
  constexpr double rounding = 1 + 1e-9;
  if (us <= rounding * boundUs)
    return;
  boundUs = us;
  bound = why;
  boundProof = std::move(proof);
  stopIfClose();
}

std::optional<FoundSchedule> Search::fastest(double knownUs, int mostSends) {
  std::lock_guard lock(mutex);
  auto least = std::min_element(
      found.begin(), found.end(),
      [](const auto &a, const auto &b) { return a.second.us < b.second.us; });
  if (least == found.end() || least->second.us == knownUs ||
      least->second.schedule.totalSends() > mostSends)
    return std::nullopt;
  return least->second;
}

/// Lets other threads run first. It is not undone, which needs privileges.
void lowerPriority() {
#ifdef __linux__
  // On Linux this is about the thread alone.
  constexpr int lower = 10;
  setpriority(PRIO_PROCESS, 0, lower);
#endif
}

void Search::work() {
  std::unique_lock lock(mutex);
  isRunning.resize(engines.size());
  while (next < engines.size() && !stop) {
    size_t index = next++;
    isRunning[index] = 1;
    lock.unlock();
    if (engines[index].givesWay)
      lowerPriority();
    try {
      engines[index].run(*this);
    } catch (const std::exception &) {
      // Out of memory, most likely: the others go on.
    }
    lock.lock();
    isRunning[index] = 0;
    ++done;
  }
  // Those that nobody starts any more.
  done += engines.size() - next;
  next = engines.size();
  changed.notify_all();
}

FindProgress Search::progress() {
  std::lock_guard lock(mutex);
  FindProgress result;
  result.seconds =
      std::chrono::duration<double>(Limits::Clock::now() - started).count();
  for (size_t i = 0; i < isRunning.size(); ++i)
    if (isRunning[i])
      result.running.push_back(engines[i].name);
  result.bestMethod = bestMethod;
  result.bestUs = std::max(best, 0.0);
  result.boundUs = boundUs;
  return result;
}

Result<FindResult> Search::result() {
  std::lock_guard lock(mutex);
  if (!bug.empty())
    return error("a schedule found does not pass its check (a bug): " + bug);
  FindResult result;
  for (const auto &[engine, entry] : found)
    result.found.push_back(entry);
  std::stable_sort(result.found.begin(), result.found.end(),
                   [](const FoundSchedule &a, const FoundSchedule &b) {
                     return a.us < b.us;
                   });
  size_t preferred = 0;
  for (size_t i = 1; i < result.found.size(); ++i) {
    const FoundSchedule &kept = result.found[preferred],
                        &each = result.found[i];
    if (each.us <= closeEnough * result.found.front().us &&
        each.schedule.totalSends() < kept.schedule.totalSends())
      preferred = i;
  }
  if (!result.found.empty())
    std::rotate(result.found.begin(),
                result.found.begin() + static_cast<std::ptrdiff_t>(preferred),
                result.found.begin() + static_cast<std::ptrdiff_t>(preferred) +
                    1);
  result.boundUs = boundUs;
  result.bound = bound;
  result.proof = boundProof;
  result.stillRunning = done < engines.size();
  return result;
}

/// The chunks a node of an all_to_all, as many for each rank of a group.
int leastChunks(int ranks, const Groups &groups) {
  if (groups.empty())
    return ranks;
  constexpr size_t most = 1 << 24;
  size_t common = 1;
  for (const std::vector<int> &group : groups)
    common = std::min(std::lcm(common, group.size()), most);
  return static_cast<int>(common);
}

} // namespace

Result<FindResult> ccn::synth::findSchedule(
    const Fabric &fabric,
    const std::function<Result<Collective>(int)> &collectiveOf,
    const FindOptions &options) {
  int granule = 1;
  Result<Collective> smallest = collectiveOf(granule);
  if (!smallest) {
    granule = leastChunks(fabric.ranks, options.groups);
    smallest = collectiveOf(granule);
  }
  if (!smallest)
    return smallest.status();
  // Threads that do not end in time keep what they use.
  auto search = std::make_shared<Search>();
  search->fabric = std::make_shared<const Fabric>(fabric);
  search->collective = *smallest;
  search->granule = granule;
  search->collectiveOf = collectiveOf;
  search->bytes = options.bytes;
  search->seed = options.seed;
  search->groups = options.groups;
  search->groupKind = options.groupKind;
  search->limits = options.limits;
  search->limits.interrupt = &search->stop;
  unsigned cores = options.threads > 0 ? static_cast<unsigned>(options.threads)
                                       : std::thread::hardware_concurrency();
  search->engines = findEngines(fabric, *smallest, options.bytes, cores);
  // Some engines may take all the time there is: with fewer threads than
  // engines the others would never run.
  size_t threads = options.threads > 0 ? static_cast<size_t>(options.threads)
                                       : search->engines.size();
  std::vector<std::thread> workers;
  for (size_t i = 0; i < std::min(threads, search->engines.size()); ++i)
    workers.emplace_back([search] { search->work(); });
  bool outOfTime = false;
  // After this long engines that have been told to end are left alone.
  constexpr double patience = 1;
  Limits grace;
  while (!search->allDone() && !grace.expired()) {
    search->wait();
    if (options.progress)
      options.progress(search->progress());
    outOfTime |= options.limits.expired() && !search->stop;
    if (outOfTime)
      search->stop = true;
    if (search->stop && !grace.deadline)
      grace = Limits::seconds(patience);
  }
  Result<FindResult> result = search->result();
  for (std::thread &worker : workers)
    if (!search->allDone())
      worker.detach();
    else
      worker.join();
  if (result)
    result->outOfTime = outOfTime;
  return result;
}
