//===- Arguments.h - What a plan's caller passes ----------------*- C++ -*-===//
//
// Checks of buffers, in every run.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_ARGUMENTS_H
#define CCN_RUNTIME_PLAN_ARGUMENTS_H

#include "runtime/plan/Pieces.h"

namespace ccn::runtime {

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

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_ARGUMENTS_H
