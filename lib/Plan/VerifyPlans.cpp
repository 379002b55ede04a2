//===- VerifyPlans.cpp - Checks the plans of all ranks --------------------===//
//
// Makes the checks of a module's plans a pass, for files that are not made by
// the phase `plan`.
//
//===----------------------------------------------------------------------===//

#include "dialect/plan/Plan.h"
#include "lib/Transforms/Passes.h"

#include "mlir/IR/Verifier.h"

namespace ccn {
#define GEN_PASS_DEF_VERIFYPLANS
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

struct VerifyPlansPass : ccn::impl::VerifyPlansBase<VerifyPlansPass> {
  void runOnOperation() override {
    if (mlir::failed(mlir::verify(getOperation())) ||
        mlir::failed(ccn::plan::verifyPlans(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
