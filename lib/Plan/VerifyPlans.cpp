//===- VerifyPlans.cpp - Checks the plans of all ranks --------------------===//
//
// Makes the checks of a module's plans a pass, for files that are not made by
// the phase `plan`.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Passes.h"

#include "mlir/IR/Verifier.h"

using namespace ccn;

namespace ccn::plan {
#define GEN_PASS_DEF_VERIFYPLANS
#include "lib/Plan/Passes.h.inc"
} // namespace ccn::plan

namespace {

struct VerifyPlansPass : plan::impl::VerifyPlansBase<VerifyPlansPass> {
  void runOnOperation() override {
    if (mlir::failed(mlir::verify(getOperation())) ||
        mlir::failed(plan::verifyPlans(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
