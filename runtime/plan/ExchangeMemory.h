//===- ExchangeMemory.h - What exchanges take of memory ---------*- C++ -*-===//
//
// The symmetric memory of a plan's exchanges, which have protocols of their
// own.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_EXCHANGEMEMORY_H
#define CCN_RUNTIME_PLAN_EXCHANGEMEMORY_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"
#include "runtime/plan/ScheduleActions.h"

namespace ccn::runtime {

/// The ranks along axes of the mesh that communicate.
struct Group {
  /// In the order of their coordinates, row-major; the same list on each.
  std::vector<int> ranks;
  /// Where other groups have tensors of other sizes (axes outside the group cut
  /// unevenly): the largest number of elements that the tensor has in any
  /// group, the same on all ranks; -1 if all have the same. Symmetric memory is
  /// sized by it.
  int64_t largestCount = -1;
};

/// The protocols of the one-shot all_reduce.
enum class Protocol {
  LL,      ///< twice the bytes, no barrier: the shortest messages
  Lamport, ///< floats and bool only
};

/// The bytes of symmetric memory for data of which this group needs `bytes`,
/// and every group at most its tensor, rounded up. An error if the group's
/// tensor has more than largestCount elements.
Result<int64_t> symmetricBytes(const Group &group, ElementType type,
                               int64_t count, int64_t bytes,
                               const char *operation);

/// The words of data in a slot of a one-shot all_reduce, which has room for the
/// largest group's. LL has 4 bytes of data a word, Lamport 8. An error if the
/// bytes of all slots overflow.
Result<int64_t> slotWords(const Group &group, ElementType type, int64_t count,
                          Protocol protocol);

/// The symmetric memory per rank that makeAllReduce allocates.
Result<int64_t> allReduceBytes(const Group &group, ElementType type,
                               int64_t count, Protocol protocol);

/// The element type of an exchange, its protocol if it has one of those, and
/// its schedule if it has one.
ElementType exchangeType(const RankPlan &plan, const ExchangePart &part);
Protocol protocolOf(const ExchangePart &part);
const ChunkSchedule &scheduleOf(const Plan &plan, const ExchangePart &part);

/// The group of an exchange as collectives take it.
Group exchangeGroup(const Plan &plan, const ExchangePart &part);

/// The memory that the schedule of an exchange takes, on the rank that needs
/// most. The exchange is number `number`, from 0, of launch `launch`. checkPlan
/// accepts the plan.
Result<ScheduledMemory> largestSchedule(const Plan &plan, size_t launch,
                                        size_t number);

/// The bytes of symmetric memory per rank that an exchange takes.
Result<int64_t> exchangeBytes(const Plan &plan, size_t launch, size_t number);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_EXCHANGEMEMORY_H
