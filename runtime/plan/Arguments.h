//===- Arguments.h - Checks the arguments of a run --------------*- C++ -*-===//
//
// Checks, in every run, the buffers that the caller passes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_ARGUMENTS_H
#define CCN_RUNTIME_PLAN_ARGUMENTS_H

#include "runtime/plan/Pieces.h"

namespace ccn::runtime {

/// An error if a buffer of at least one byte is null or not aligned for `type`.
Status checkBuffer(const void *buffer, int64_t bytes, ElementType type,
                   const char *operation, const char *what);

/// An error unless `arguments` has a valid address for each argument that the
/// plan uses: of an array or, if scattered[argument] is true, of a PieceList.
Status checkArguments(const RankPlan &plan, const std::vector<bool> &scattered,
                      std::span<void *const> arguments);

/// For each argument of the plan, whether it is scattered.
std::vector<bool> scatteredArguments(const Plan &plan);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_ARGUMENTS_H
