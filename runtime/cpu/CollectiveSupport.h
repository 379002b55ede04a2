//===- CollectiveSupport.h - Checks and signals of collectives --*- C++ -*-===//
//
// Checks of arguments, and allocation of signals. Used by the collectives and
// the executors of plans.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_COLLECTIVESUPPORT_H
#define CCN_RUNTIME_CPU_COLLECTIVESUPPORT_H

#include "runtime/cpu/Collectives.h"
#include "runtime/plan/Arguments.h"
#include "runtime/plan/SymmetricMemory.h"
#include "runtime/team/Protocols.h"

namespace ccn::runtime {

/// The members of `group` as protocols need them. An error if a rank number is
/// out of range or appears twice, or if this rank is not in the group.
Result<Members> checkGroup(const RankMemory &memory, const Group &group,
                           const char *operation);

/// The bytes of a tensor; an error if a size is negative or the byte count
/// overflows.
Result<int64_t> checkShape(const std::vector<int64_t> &shape, ElementType type,
                           const char *operation);

/// Allocates one flag for each member and sets the offset of `signals`.
Status allocateSignals(RankMemory &memory, const Members &members,
                       Signals &signals);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_COLLECTIVESUPPORT_H
