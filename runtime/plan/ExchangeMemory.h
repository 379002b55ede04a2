//===- ExchangeMemory.h - The symmetric memory of exchanges -----*- C++ -*-===//
//
// Computes how much symmetric memory a plan's exchanges need.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_EXCHANGEMEMORY_H
#define CCN_RUNTIME_PLAN_EXCHANGEMEMORY_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"
#include "runtime/plan/ScheduleActions.h"

namespace ccn::runtime {

/// Ranks that communicate with each other: those along some axes of the mesh.
struct Group {
  /// In row-major order of their mesh coordinates; the same list on each rank.
  std::vector<int> ranks;
  /// If the tensor's size differs between groups (an axis outside the group
  /// cuts it unevenly): the largest number of elements in any group, the same
  /// on all ranks. -1 if all groups have the same size. It determines the size
  /// of symmetric memory.
  int64_t largestCount = -1;
};

/// The protocols of the one-shot all_reduce.
enum class Protocol {
  LL,      ///< twice the bytes, no barrier: fastest for small data
  Lamport, ///< floats and bool only
};

/// The bytes of symmetric memory to reserve, the same in every group, for data
/// of which this group needs `bytes` bytes and no group needs more than its
/// tensor, rounded up. An error if this group's tensor has more than
/// largestCount elements.
Result<int64_t> symmetricBytes(const Group &group, ElementType type,
                               int64_t count, int64_t bytes,
                               const char *operation);

/// The number of words in a slot of a one-shot all_reduce, which has room for
/// the data of the largest group. A word carries 4 bytes of data with LL, 8
/// with Lamport. An error if the bytes of all slots overflow.
Result<int64_t> slotWords(const Group &group, ElementType type, int64_t count,
                          Protocol protocol);

/// The bytes of symmetric memory per rank that makeAllReduce allocates.
Result<int64_t> allReduceBytes(const Group &group, ElementType type,
                               int64_t count, Protocol protocol);

/// The element type of an exchange; its protocol, if it is not a schedule; and
/// its schedule, if it is one.
ElementType exchangeType(const RankPlan &plan, const ExchangePart &part);
Protocol protocolOf(const ExchangePart &part);
const ChunkSchedule &scheduleOf(const Plan &plan, const ExchangePart &part);

/// The group of an exchange, as collectives need it.
Group exchangeGroup(const Plan &plan, const ExchangePart &part);

/// The memory that the schedule of an exchange needs on the rank that needs
/// most. `number` counts the exchanges of launch `launch` from 0. checkPlan
/// must have accepted the plan.
Result<ScheduledMemory> largestSchedule(const Plan &plan, size_t launch,
                                        size_t number);

/// The bytes of symmetric memory per rank that an exchange needs.
Result<int64_t> exchangeBytes(const Plan &plan, size_t launch, size_t number);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_EXCHANGEMEMORY_H
