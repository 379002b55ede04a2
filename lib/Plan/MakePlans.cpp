//===- MakePlans.cpp - Plans of all ranks ---------------------------------===//
//
// Makes the plan of each rank; the passes of this folder finish it.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/MakePlans.h"

#include "lib/Plan/Planner.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

OwningOpRef<ModuleOp> plan::makePlans(ArrayRef<ModuleOp> localized) {
  ModuleOp first = localized.front();
  OwningOpRef<ModuleOp> module = ModuleOp::create(first.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  for (Operation &op : *first.getBody())
    if (isa<MeshOp, AlgorithmOp>(op))
      builder.clone(op);
  BodyMaker bodies(*module);
  RankParts parts(getMesh(first));
  auto programs = llvm::to_vector(first.getOps<ProgramOp>());
  // Each program of the file has its own plans; all share bodies.
  for (auto [i, unused] : llvm::enumerate(programs)) {
    std::vector<OwningOpRef<PlanOp>> plans;
    for (ModuleOp rank : localized) {
      ProgramOp program =
          *std::next(rank.getOps<ProgramOp>().begin(), static_cast<long>(i));
      sinkCasts(program);
      Planner planner(program, bodies, parts);
      if (failed(planner.run()))
        return {};
      plans.push_back(planner.take());
    }
    // Plans come after the bodies that their loops call.
    for (OwningOpRef<PlanOp> &plan : plans)
      module->push_back(plan.release());
  }
  assert(succeeded(verify(*module)) && "what is planned verifies");
  return module;
}
