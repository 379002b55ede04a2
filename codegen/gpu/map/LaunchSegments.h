//===- LaunchSegments.h - Launches cut where ranks wait ---------*- C++ -*-===//
//
// GPUs that cannot access each other's memory execute a launch in segments. A
// launch is cut wherever it waits for other ranks: at barriers, at waits for
// signals, and inside exchanges. Between segments, GPUs send each other what
// one reads or writes in the memory of another.
//
// The number of a part's segment is the largest number of waits on any path to
// the part, over all ranks. So everything that must be done before the part, on
// any rank, is in an earlier segment, and segments have the same numbers on all
// ranks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_LAUNCHSEGMENTS_H
#define CCN_CODEGEN_GPU_MAP_LAUNCHSEGMENTS_H

#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/Plan.h"
#include "runtime/plan/ScheduleActions.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <tuple>

namespace ccn::codegen {

/// The memory of an exchange: offsets and flags in symmetric memory, the same
/// on all ranks.
struct ExchangeMemory {
  int64_t slots = 0, flags = 0, freeFlags = 0, bufferBytes = 0;
};

/// The segments of an exchange on one rank.
struct ExchangeSegments {
  int first = 0;
  /// For a schedule: the rank's actions, and the segment of each action.
  runtime::MemberActions schedule;
  std::vector<int> actions;
};

class LaunchSegments {
public:
  /// Cuts launch number `launch` of all ranks. `shared` are the arguments that
  /// ranks access in each other's memory, `memory` is that of each exchange of
  /// the launch. An error if the launch cannot be cut. Without `hasMessages`
  /// there will be none.
  static llvm::Expected<LaunchSegments>
  create(const runtime::Plan &plan, llvm::ArrayRef<int> shared, size_t launch,
         llvm::ArrayRef<ExchangeMemory> memory, bool hasMessages);

  /// The segment in which a rank executes part number `part`, which must be
  /// neither an exchange nor a part that only waits.
  int segmentOf(int rank, size_t part) const {
    return parts[static_cast<size_t>(rank)][part];
  }
  /// The segments of the rank's exchange number `exchange` in the launch.
  const ExchangeSegments &exchangeOf(int rank, size_t exchange) const {
    return exchanges[static_cast<size_t>(rank)][exchange];
  }
  const runtime::GpuSegments &segments() const { return result; }

private:
  LaunchSegments(const runtime::Plan &plan, llvm::ArrayRef<int> shared,
                 size_t launch, llvm::ArrayRef<ExchangeMemory> memory)
      : plan(plan), shared(shared), launch(launch), memory(memory) {}

  const runtime::Launch &launchOf(size_t rank) const {
    return plan.ranks[rank].launches[launch];
  }
  llvm::Error planExchanges();
  llvm::Error addWaits();
  llvm::Error cut();
  void cutRank(int rank);
  int cutSchedule(int rank, size_t exchange, int group, int level);
  void number();
  llvm::Error addMessages(int rank);
  void addMessages(int rank, const runtime::ExchangePart &part, size_t number);
  void add(int segment, runtime::GpuMessage message);
  /// Raises a level to at least `to`.
  void raise(int &level, int to) {
    hasChanged |= level < to;
    level = std::max(level, to);
  }

  const runtime::Plan &plan;
  llvm::ArrayRef<int> shared;
  size_t launch;
  llvm::ArrayRef<ExchangeMemory> memory;
  /// By rank: the level of each part, later its segment.
  std::vector<std::vector<int>> parts;
  std::vector<std::vector<ExchangeSegments>> exchanges;
  runtime::GpuSegments result;

  /// The level after which something has happened; 0 if that is not known yet.
  /// Barriers and exchanges that all members have reached, by number and group;
  /// signals, by setter, waiter and flag; slots that were sent, by the
  /// exchange's number and group, the receiver and the slot.
  std::map<std::pair<size_t, int>, int> barriers, meetings;
  std::map<std::tuple<int, int, int64_t>, int> signals;
  std::map<std::tuple<size_t, int, int, int>, int> slots;
  bool hasChanged = false;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LAUNCHSEGMENTS_H
