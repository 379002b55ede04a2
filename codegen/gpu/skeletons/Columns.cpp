//===- Columns.cpp - Sums along columns -----------------------------------===//

#include "codegen/gpu/skeletons/Columns.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/CudaRows.h"
#include "codegen/gpu/skeletons/Skeletons.h"

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

class ColumnsSkeleton : public KernelSkeleton {
public:
  size_t match(const LaunchMapper &launch, size_t part) const override {
    return !launch.isInPipeline && isByColumns(launch.parts, part);
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>>
  map(LaunchMapper &launch, size_t part) const override {
    auto plan = std::make_unique<ColumnsPlan>(*this);
    mapColumns(launch, std::get<RowsPart>(launch.parts[part]), *plan);
    return plan;
  }
  void require(const SkeletonPlan &any, DeviceFiles &files) const override {
    files.add({"columns.cuh"});
  }
  llvm::Error emit(CudaPart &part, const SkeletonPlan &any) const override {
    return emitColumns(part, static_cast<const ColumnsPlan &>(any));
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    const auto &plan = static_cast<const ColumnsPlan &>(any);
    os << "columns";
    printWord(os, "merges_after", plan.mergesAfter);
    os << '\n';
    for (auto [of, info] : llvm::zip_equal(plan.loops, plan.rows->loops)) {
      printLoop(os, of.loop, info, depth + 1);
      if (of.isReduced) {
        printNumber(os, "lanes", of.lanes);
        printNumber(os, "tiles", of.tiles);
        printNumber(os, "turns", of.turns);
        if (of.isShared())
          printNumber(os, "shares", of.mostShares);
      }
      printWord(os, "waits_before", of.waitsBefore);
      printWord(os, "merges_before", of.mergesBefore);
      os << '\n';
    }
  }
};

} // namespace

const KernelSkeleton &codegen::columnsSkeleton() {
  static const ColumnsSkeleton only;
  return only;
}
