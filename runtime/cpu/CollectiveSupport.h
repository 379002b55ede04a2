//===- CollectiveSupport.h - What collectives check and share ---*- C++ -*-===//
//
// Checks of arguments, and symmetric allocation.
// Used by the collectives and the executors of plans.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_COLLECTIVESUPPORT_H
#define CCN_RUNTIME_CPU_COLLECTIVESUPPORT_H

#include "runtime/cpu/Collectives.h"
#include "runtime/plan/Pieces.h"
#include "runtime/team/Protocols.h"

namespace ccn::runtime {

/// The group as protocols see it; an error if this rank is not in it once, or
/// if ranks are wrong.
Result<Members> checkGroup(const RankMemory &memory, const Group &group,
                           const char *operation);

/// The bytes of a tensor; an error if a size is negative or they overflow.
Result<int64_t> checkShape(const std::vector<int64_t> &shape, ElementType type,
                           const char *operation);

/// The bytes of symmetric memory for data of which this group needs `bytes`,
/// and every group at most its tensor, rounded up. An error if the group's
/// tensor has more than largestCount elements.
Result<int64_t> symmetricBytes(const Group &group, ElementType type,
                               int64_t count, int64_t bytes,
                               const char *operation);

/// Rounded up to the alignment of symmetric memory.
int64_t aligned(int64_t bytes);

/// An error if a buffer that is used is null or not aligned for `type`.
Status checkBuffer(const void *buffer, int64_t bytes, ElementType type,
                   const char *operation, const char *what);

/// An error if these are not the addresses of the program's arguments, as far
/// as the plan uses them: of a PieceList where `scattered` says so, which has
/// an element for each.
Status checkArguments(const RankPlan &plan, const std::vector<bool> &scattered,
                      std::span<void *const> arguments);

/// Which arguments are scattered.
std::vector<bool> scatteredArguments(const Plan &plan);

/// Allocates flags, one of each member.
Status allocateSignals(RankMemory &memory, const Members &members,
                       Signals &signals);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_COLLECTIVESUPPORT_H
