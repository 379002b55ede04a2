//===- MakePlans.h - Plans of all ranks -------------------------*- C++ -*-===//
//
// The phase that follows the choice of algorithms: what each rank executes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_MAKEPLANS_H
#define CCN_LIB_PLAN_MAKEPLANS_H

#include "dialect/plan/Plan.h"

namespace ccn::plan {

/// A module with the mesh and the algorithms of `localized`, which holds one
/// program localized for a rank, and its plan; with all ranks' programs, given
/// as one module each, all plans. Their buffers have no places yet: the passes
/// of Passes.td, in the order in which they are there, finish them. Errors have
/// been reported if it is null.
mlir::OwningOpRef<mlir::ModuleOp>
makePlans(llvm::ArrayRef<mlir::ModuleOp> localized);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_MAKEPLANS_H
