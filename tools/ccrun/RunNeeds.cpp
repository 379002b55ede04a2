//===- RunNeeds.cpp - The memory that runs take ---------------------------===//
//
// Memory that stays is added up; of memory that comes and goes, the largest
// amount counts.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/RunNeeds.h"

#include "runtime/api/RankCode.h"
#include "tools/ccrun/RankRun.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::runtime;

namespace {

int64_t bytesOf(ElementType type, const Shape &shape) {
  int64_t bytes = sizeInBytes(type);
  for (int64_t size : shape)
    bytes = multiplySaturating(bytes, size);
  return bytes;
}

/// What executors take, and the copies of arguments that runs change.
Result<MemoryNeeds> whileRunning(const PlannedRun &run,
                                 std::optional<int> only) {
  const Plan &plan = *run.plan;
  MemoryNeeds needs;
  Result<int64_t> heap = heapBytes(plan, run.task.onGpus);
  if (!heap)
    return heap.status();
  if (!only)
    needs.add("symmetric memory", static_cast<int64_t>(plan.ranks.size()),
              *heap);
  // On GPUs they are copied again from where they came.
  bool isRestored =
      !run.task.onGpus && (run.task.runs > 1 || !run.task.givesResults);
  for (int rank = 0; rank < static_cast<int>(plan.ranks.size()); ++rank) {
    if (only && *only != rank)
      continue;
    needs.add("private memory", 1, privateBytes(plan, rank, run.task.onGpus));
    const RankPlan &own = plan.ranks[static_cast<size_t>(rank)];
    for (size_t i = 0; isRestored && i < plan.arguments.size(); ++i)
      if (plan.arguments[i].kind == ArgumentKind::InOut)
        needs.add("copies of arguments", 1,
                  bytesOf(plan.arguments[i].type, own.placements[i].sizes));
  }
  return needs;
}

/// The records of when launches and their parts ran, as objects and as text. On
/// GPUs only the last run has records.
int64_t traceBytes(const PlannedRun &run) {
  constexpr int64_t eventBytes = 2048;
  int64_t events = 0;
  for (const RankPlan &rank : run.plan->ranks)
    for (const Launch &launch : rank.launches)
      events += 1 + static_cast<int64_t>(launch.parts.size());
  return multiplySaturating(events * eventBytes,
                            run.task.onGpus ? 1 : run.task.runs);
}

/// Arrays that are drawn, one at a time, perhaps in another type than the plan
/// has, and those that the ranks' results are put together in: as many at once
/// as there are plans.
int64_t arrayBytes(const std::vector<PlannedRun> &runs,
                   const std::set<std::string> &given,
                   std::optional<int> only) {
  int64_t drawn = 0, collected = 0;
  for (const PlannedRun &run : runs) {
    const Plan &plan = *run.plan;
    int64_t largest = 0;
    for (size_t i = 0; i < plan.arguments.size(); ++i) {
      const Argument &argument = plan.arguments[i];
      int64_t whole = bytesOf(argument.type, argument.shape);
      // A part of a result is copied, too, to be compared with another's.
      if (argument.kind != ArgumentKind::Input)
        largest = std::max(largest, multiplySaturating(whole, 2));
      if (argument.kind == ArgumentKind::Result ||
          given.contains(argument.name))
        continue;
      if (only)
        whole =
            bytesOf(argument.type,
                    plan.ranks[static_cast<size_t>(*only)].placements[i].sizes);
      drawn = std::max(
          drawn, &run == &runs.front() ? whole : multiplySaturating(whole, 2));
    }
    collected = addSaturating(collected, largest);
  }
  return !only || *only == 0 ? std::max(drawn, collected) : drawn;
}

} // namespace

Result<MemoryNeeds> ccn::needsOf(const std::vector<PlannedRun> &runs,
                                 const std::set<std::string> &given,
                                 std::optional<int> only) {
  MemoryNeeds needs, most;
  for (const PlannedRun &run : runs) {
    Result<int64_t> bytes =
        RunMemory::bytesFor(*run.plan, run.task.timedRuns, only);
    if (!bytes)
      return bytes.status();
    needs.addShared("arguments and results", 1, *bytes);
    Result<MemoryNeeds> running = whileRunning(run, only);
    if (!running)
      return running;
    if (running->total() > most.total())
      most = *std::move(running);
    if (run.task.traced)
      needs.add("the trace", 1, traceBytes(run));
  }
  for (const Argument &argument : runs.front().plan->arguments)
    if (given.contains(argument.name))
      needs.add("arrays that are read", 1,
                bytesOf(argument.type, argument.shape));
  MemoryNeeds arrays;
  arrays.add("arrays that are drawn and put together", 1,
             arrayBytes(runs, given, only));
  needs.add(most.total() > arrays.total() ? most : arrays);
  return needs;
}
