//===- VerifyPlans.cpp - Checks the plans of all ranks --------------------===//
//
// A pass that checks the plans of a module, for files that the phase `plan` did
// not make.
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
