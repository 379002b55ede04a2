//===- LaunchSegments.h - Launches cut where ranks wait ---------*- C++ -*-===//
//
// GPUs that cannot access each other's memory execute a launch in segments, cut
// at what waits for other ranks: a barrier, a signal that is awaited, the
// inside of an exchange. Between segments they send each other what one reads
// or writes in the memory of another.
//
// A part's segment is the length of the longest way to it through what waits,
// so that whatever must be done before it, on any rank, is in an earlier one,
// and all ranks have segments of the same numbers.
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

/// What an exchange has of its own, the same on all ranks.
struct ExchangeMemory {
  int64_t slots = 0, flags = 0, freeFlags = 0, bufferBytes = 0;
};

/// The segments of an exchange on one rank.
struct ExchangeSegments {
  int first = 0;
  /// Of a schedule: what the rank does, and the segment of each action.
  runtime::MemberActions schedule;
  std::vector<int> actions;
};

class LaunchSegments {
public:
  /// Of launch number `launch` of all ranks. `shared` are the arguments that
  /// ranks access of each other, `memory` is that of the launch's exchanges. An
  /// error where it cannot be cut.
  static llvm::Expected<LaunchSegments>
  create(const runtime::Plan &plan, llvm::ArrayRef<int> shared, size_t launch,
         llvm::ArrayRef<ExchangeMemory> memory);

  /// In which a rank does part number `part`, which is neither an exchange nor
  /// only waits.
  int segmentOf(int rank, size_t part) const {
    return parts[static_cast<size_t>(rank)][part];
  }
  /// Of the rank's exchange number `exchange` in the launch.
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
  /// By rank.
  std::vector<std::vector<int>> parts;
  std::vector<std::vector<ExchangeSegments>> exchanges;
  runtime::GpuSegments result;

  /// When all have come to a barrier or an exchange, by its number and group;
  /// when a signal is given, by its giver, taker and flag; when a slot is sent,
  /// by the exchange's number and group, the taker and the slot. 1 more, 0 is
  /// not known.
  std::map<std::pair<size_t, int>, int> barriers, meetings;
  std::map<std::tuple<int, int, int64_t>, int> signals;
  std::map<std::tuple<size_t, int, int, int>, int> slots;
  bool hasChanged = false;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LAUNCHSEGMENTS_H
