//===- MakePlans.h - Plans of all ranks -------------------------*- C++ -*-===//
//
// The phase after the choice of algorithms. It decides what each rank executes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_MAKEPLANS_H
#define CCN_LIB_PLAN_MAKEPLANS_H

#include "dialect/plan/Plan.h"

namespace ccn::plan {

/// Plans the programs of `localized`, which has one module for each rank,
/// localized for that rank. Returns a module with the mesh, the algorithms and
/// all plans; null if an error has been reported. The plans' buffers have no
/// places yet: the passes of Passes.td, run in the order of that file, finish
/// the plans.
mlir::OwningOpRef<mlir::ModuleOp>
makePlans(llvm::ArrayRef<mlir::ModuleOp> localized);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_MAKEPLANS_H
