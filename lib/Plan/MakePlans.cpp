//===- MakePlans.cpp - Plans of all ranks ---------------------------------===//
//
// Plans each rank, then finishes all plans together.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/MakePlans.h"

#include "lib/Plan/Finish.h"
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
  auto programs = llvm::to_vector(first.getOps<ProgramOp>());
  // Each program of the file has plans of its own, which share bodies.
  for (auto [i, unused] : llvm::enumerate(programs)) {
    std::vector<PlanDraft> drafts;
    SmallVector<ProgramOp> ranks;
    for (ModuleOp rank : localized) {
      ranks.push_back(
          *std::next(rank.getOps<ProgramOp>().begin(), static_cast<long>(i)));
      sinkCasts(ranks.back());
      Planner planner(ranks.back(), bodies);
      if (failed(planner.run()))
        return {};
      drafts.push_back(planner.take());
    }
    forwardStores(drafts);
    for (PlanDraft &draft : drafts) {
      connectSegments(draft);
      joinLoops(draft);
    }
    std::vector<Places> places = allocate(drafts);
    for (auto [draft, own, program] : llvm::zip_equal(drafts, places, ranks))
      emit(*module, draft, own, program);
  }
  if (failed(verify(*module)) || failed(verifyPlans(*module)))
    return {};
  return module;
}
