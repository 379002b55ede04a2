//===- Arguments.h - What a plan's caller passes ----------------*- C++ -*-===//
//
// Checks of the buffers that callers pass, in every run.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_ARGUMENTS_H
#define CCN_RUNTIME_PLAN_ARGUMENTS_H

#include "runtime/plan/Pieces.h"

namespace ccn::runtime {

/// An error if a buffer that is used is null or not aligned for `type`.
Status checkBuffer(const void *buffer, int64_t bytes, ElementType type,
                   const char *operation, const char *what);

/// An error unless `arguments` has an address for each of the program's
/// arguments that the plan uses: of the array, or of a PieceList where
/// `scattered`, which has an entry for each argument, says so.
Status checkArguments(const RankPlan &plan, const std::vector<bool> &scattered,
                      std::span<void *const> arguments);

/// Which arguments are scattered.
std::vector<bool> scatteredArguments(const Plan &plan);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_ARGUMENTS_H
