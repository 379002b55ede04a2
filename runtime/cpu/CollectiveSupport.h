//===- CollectiveSupport.h - What collectives check and share ---*- C++ -*-===//
//
// Checks of arguments, and symmetric allocation.
// Used by the collectives and the executors of plans.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_COLLECTIVESUPPORT_H
#define CCN_RUNTIME_CPU_COLLECTIVESUPPORT_H

#include "runtime/cpu/Collectives.h"
#include "runtime/plan/Arguments.h"
#include "runtime/plan/SymmetricMemory.h"
#include "runtime/team/Protocols.h"

namespace ccn::runtime {

/// The group as protocols see it; an error if this rank is not in it once, or
/// if ranks are wrong.
Result<Members> checkGroup(const RankMemory &memory, const Group &group,
                           const char *operation);

/// The bytes of a tensor; an error if a size is negative or they overflow.
Result<int64_t> checkShape(const std::vector<int64_t> &shape, ElementType type,
                           const char *operation);

/// Allocates flags, one of each member.
Status allocateSignals(RankMemory &memory, const Members &members,
                       Signals &signals);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_COLLECTIVESUPPORT_H
