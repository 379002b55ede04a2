//===- Finish.h - From drafts to plans --------------------------*- C++ -*-===//
//
// What happens to programs before, and to the plans of all ranks once their
// kernels are there, in this order.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_FINISH_H
#define CCN_LIB_PLAN_FINISH_H

#include "lib/Plan/Draft.h"

namespace ccn::plan {

/// Repeats and cuts before it casts, in kernels that do both; elsewhere casts
/// before it repeats.
void sinkCasts(ProgramOp program);

/// Lets kernels write straight into arguments and results what would be copied
/// there, where nothing needs the old content any more; on all ranks or none.
void forwardStores(llvm::MutableArrayRef<PlanDraft> ranks);

/// Joins loops that follow each other and work on the same rows; joins
/// dimensions that follow each other in memory; makes what only the loops of
/// one part use their scratch. Drops loops over nothing.
void joinLoops(PlanDraft &draft);

/// Makes the launches of a segment wait for those of the segment before.
void connectSegments(PlanDraft &draft);

/// Where each private and symmetric buffer begins, in bytes; -1 of those that
/// nothing uses, and of others.
using Places = std::vector<int64_t>;

/// Places for the buffers of each rank. Those that are not used at the same
/// time overlap; symmetric ones are at the same place on all ranks.
std::vector<Places> allocate(llvm::MutableArrayRef<PlanDraft> ranks);

/// Adds the plan to a module that has its bodies.
void emit(mlir::ModuleOp module, PlanDraft &draft, const Places &places,
          ProgramOp program);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_FINISH_H
