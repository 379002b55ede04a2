//===- ScatteredProducts.cpp - Products of which ranks have slices --------===//

#include "codegen/gpu/skeletons/ScatteredProducts.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/Skeletons.h"

#include "llvm/Support/FormatVariadic.h"

using namespace ccn;
using namespace ccn::codegen;

namespace {

class ScatteredProductsSkeleton : public KernelSkeleton {
public:
  bool needsTensorMaps() const override { return true; }
  size_t match(const LaunchMapper &launch, size_t part) const override {
    return part == 0 && matchScatteredProduct(launch, *this)
               ? launch.parts.size()
               : 0;
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>> map(LaunchMapper &launch,
                                                    size_t) const override {
    std::unique_ptr<ScatteredProductPlan> plan =
        matchScatteredProduct(launch, *this);
    mapScatteredProduct(launch, *plan);
    return plan;
  }
  void require(const SkeletonPlan &, DeviceFiles &files) const override {
    files.add({"hopper.cuh", "hopper_products.cuh", "hopper_scatters.cuh"});
  }
  llvm::Error emit(CudaPart &part, const SkeletonPlan &any) const override {
    return emitScatteredProduct(part,
                                static_cast<const ScatteredProductPlan &>(any));
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    const auto &plan = static_cast<const ScatteredProductPlan &>(any);
    os << llvm::formatv("product({0}x{1}x{2}) scatters({3})", plan.rows,
                        plan.part.n, plan.part.k, plan.sliceRows);
    printTile(os, plan);
    os << '\n';
    printEpilogue(os, plan, depth);
    os.indent(2 * depth) << "barrier at the edge\n";
  }
};

} // namespace

const KernelSkeleton &codegen::scatteredProductsSkeleton() {
  static const ScatteredProductsSkeleton only;
  return only;
}
