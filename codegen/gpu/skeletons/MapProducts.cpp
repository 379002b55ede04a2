//===- MapProducts.cpp - Products, convolutions and tables ----------------===//

#include "codegen/gpu/skeletons/Products.h"

#include "codegen/gpu/map/MapRows.h"
#include "runtime/plan/PartAccesses.h"
#include "runtime/tensor/Strided.h"

#include "llvm/Support/MathExtras.h"

using namespace ccn;
using namespace ccn::codegen;

namespace {

void needTiles(LaunchMapper &launch, int64_t m, int64_t n, int64_t batches) {
  int64_t large =
      llvm::divideCeilSigned(m, 128) * llvm::divideCeilSigned(n, 128) * batches;
  launch.needBlocks(large >= launch.facts.machine.multiprocessors
                        ? large
                        : llvm::divideCeilSigned(m, 64) *
                              llvm::divideCeilSigned(n, 64) * batches);
}

/// Has a part access copies of scattered arguments in the launch's workspace.
/// Adds to `after` the copies of what it writes back to the arguments.
void stage(LaunchMapper &launch, ProductPlan &plan,
           std::vector<runtime::CopyPart> &after) {
  std::vector<runtime::CopyPart> before;
  PartPlaces &places = launch.kernel.places;
  forEachAccess(plan.part, places.plan.groups,
                [&](const runtime::PartAccess<runtime::View> &access) {
                  runtime::View &view = access.view;
                  if (access.extent == 0 || !places.isScattered(view))
                    return;
                  runtime::ElementType type = places.type(view);
                  runtime::View from = view;
                  from.strides = {1};
                  int64_t bytes = access.extent * runtime::sizeInBytes(type);
                  view.buffer = places.addWorkspace(
                      type, access.extent,
                      launch.takeWorkspace(llvm::alignTo(bytes, 64)));
                  view.offset = 0;
                  view.rank = -1;
                  runtime::View to = view;
                  to.strides = {1};
                  // If the part does not write all elements, the others must
                  // keep their values.
                  if (!access.writes || !access.isContiguous)
                    before.push_back({{access.extent}, from, to});
                  if (access.writes)
                    after.push_back({{access.extent}, to, from});
                });
  for (const runtime::CopyPart &copy : before)
    plan.before.push_back(mapCopy(launch, copy));
  if (!before.empty())
    launch.gridBarrier();
}

void mapScatter(LaunchMapper &launch, const runtime::ScatterRowsPart &p,
                ProductPlan &plan) {
  plan.memory = launch.takeWorkspace(llvm::alignTo(8 * (1 + p.count), 64));
  // Rows are added to a copy of the table.
  runtime::View from = p.table, to = p.to;
  from.strides = to.strides = {1};
  plan.table = mapCopy(launch, {{p.tableRows * p.rowSize}, from, to});
  launch.gridBarrier();
  launch.needBlocks(p.count);
}

} // namespace

void codegen::mapProduct(LaunchMapper &launch, const runtime::Part &part,
                         ProductPlan &plan) {
  plan.part = part;
  std::vector<runtime::CopyPart> after;
  stage(launch, plan, after);
  if (const auto *p = std::get_if<runtime::MatmulPart>(&plan.part))
    needTiles(launch, p->m, p->n, runtime::product(p->batch));
  else if (const auto *p = std::get_if<runtime::Conv2dPart>(&plan.part))
    needTiles(launch, p->yShape[1], p->yShape[2] * p->yShape[3], p->yShape[0]);
  else if (const auto *p = std::get_if<runtime::GatherRowsPart>(&plan.part))
    launch.needBlocks(llvm::divideCeilSigned(
        p->count * p->rowSize, launch.kernel.properties.threads * 4));
  else
    mapScatter(launch, std::get<runtime::ScatterRowsPart>(plan.part), plan);
  if (!after.empty())
    launch.gridBarrier();
  for (const runtime::CopyPart &copy : after)
    plan.after.push_back(mapCopy(launch, copy));
}
