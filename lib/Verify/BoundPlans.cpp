//===- BoundPlans.cpp - Plans that compute error bounds -------------------===//
//
// Runs the phases of the compiler on the program of bounds.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/BoundPlans.h"

#include "lib/Driver/Phases.h"
#include "lib/Transforms/Regions.h"
#include "lib/Verify/ErrorBound.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::verify;

/// Fuses runs of neighbouring operations without communication into kernels, so
/// that there is less to plan and compile.
static void fuseRuns(ProgramOp program) {
  IRRewriter rewriter(program.getContext());
  SmallVector<Operation *> run;
  auto fits = [](Operation *op) {
    return op->getNumResults() > 0 && findSkeleton(op) == Skeleton::elementwise;
  };
  auto end = [&] {
    if (run.size() > 1) {
      RegionBuilder region(run);
      if (!region.findPathBack())
        region.build(rewriter, [&](Location loc, TypeRange types) {
          return FusedOp::create(rewriter, loc, types, Skeleton::elementwise);
        });
    }
    run.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    if (isa<ConstantOp>(op))
      continue;
    if (fits(&op))
      run.push_back(&op);
    else
      end();
  }
  end();
}

FailureOr<BoundPlans> verify::makeBoundPlans(ProgramOp program) {
  MLIRContext *context = program.getContext();
  ScopedDiagnosticHandler silent(context,
                                 [](mlir::Diagnostic &) { return success(); });
  FailureOr<BoundProgram> bounds =
      makeBoundProgram(program, Arithmetic::Native);
  if (failed(bounds))
    return failure();
  CompileOptions options;
  PassManager passes(context);
  addPhasePasses(Phase::Schedule, options, passes, passes);
  if (failed(passes.run(*bounds->module)))
    return failure();
  for (auto op : bounds->module->getOps<ProgramOp>())
    fuseRuns(op);
  BoundPlans result;
  result.plans = planScheduled(*bounds->module, options);
  if (!result.plans)
    return failure();
  SmallVector<int> outputs;
  auto arguments = static_cast<int>(program.getNumArguments());
  for (int i = 0; i < arguments; ++i)
    if (program.isInout(static_cast<unsigned>(i)))
      outputs.push_back(i);
  for (int i = 0, end = static_cast<int>(program.getResultTypes().size());
       i < end; ++i)
    outputs.push_back(arguments + i);
  for (auto [output, isExact] : llvm::zip_equal(outputs, bounds->exact))
    if (!isExact)
      result.outputs.push_back(output);
  return result;
}
