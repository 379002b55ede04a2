//===- Rows.cpp - Loops over rows, and copies -----------------------------===//

#include "codegen/gpu/map/MapRows.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/CudaRows.h"
#include "codegen/gpu/skeletons/Skeletons.h"
#include "runtime/plan/GatherPieces.h"

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

class RowsSkeleton : public KernelSkeleton {
public:
  size_t match(const LaunchMapper &launch, size_t part) const override {
    // Pieces of many ranks are copied in kernels that are only predicted.
    return std::holds_alternative<RowsPart>(launch.parts[part]) ||
           std::holds_alternative<CopyPart>(launch.parts[part]) ||
           std::holds_alternative<GatherPart>(launch.parts[part]);
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>>
  map(LaunchMapper &launch, size_t part) const override {
    auto plan = std::make_unique<RowsPartPlan>(*this);
    const Part &any = launch.parts[part];
    if (const auto *rows = std::get_if<RowsPart>(&any))
      plan->rows = mapRows(launch, *rows, launch.share);
    else if (const auto *gather = std::get_if<GatherPart>(&any))
      plan->rows =
          mapCopy(launch,
                  {gatheredSizes(*gather),
                   gatheredView(*gather, gather->from, &PieceDim::fromStep),
                   gatheredView(*gather, gather->to, &PieceDim::toStep)},
                  launch.share);
    else
      plan->rows = mapCopy(launch, std::get<CopyPart>(any), launch.share);
    return plan;
  }
  void require(const SkeletonPlan &any, DeviceFiles &files) const override {
    requireOfRows(*static_cast<const RowsPartPlan &>(any).rows, files);
  }
  llvm::Error emit(CudaPart &part, const SkeletonPlan &any) const override {
    return emitRows(part, *static_cast<const RowsPartPlan &>(any).rows);
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    printRows(os, *static_cast<const RowsPartPlan &>(any).rows, depth);
  }
};

} // namespace

const KernelSkeleton &codegen::rowsSkeleton() {
  static const RowsSkeleton only;
  return only;
}
