//===- GatheredProducts.cpp - Products of what ranks gather ---------------===//

#include "codegen/gpu/skeletons/GatheredProducts.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/Skeletons.h"

#include "llvm/Support/FormatVariadic.h"

using namespace ccn;
using namespace ccn::codegen;

namespace {

class GatheredProductsSkeleton : public KernelSkeleton {
public:
  bool needsTensorMaps() const override { return true; }
  size_t match(const LaunchMapper &launch, size_t part) const override {
    return part == 0 && matchGatheredProduct(launch, *this)
               ? launch.parts.size()
               : 0;
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>> map(LaunchMapper &launch,
                                                    size_t) const override {
    std::unique_ptr<GatheredProductPlan> plan =
        matchGatheredProduct(launch, *this);
    mapGatheredProduct(launch, *plan);
    return plan;
  }
  void require(const SkeletonPlan &, DeviceFiles &files) const override {
    files.add({"hopper.cuh", "hopper_products.cuh", "hopper_gathers.cuh"});
  }
  llvm::Error emit(CudaPart &part, const SkeletonPlan &any) const override {
    return emitGatheredProduct(part,
                               static_cast<const GatheredProductPlan &>(any));
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    const auto &plan = static_cast<const GatheredProductPlan &>(any);
    const WholeProductPlan &product = plan.product;
    os << llvm::formatv("gathered product({0}x{1}x{2})", product.part.m,
                        product.part.n, product.part.k);
    printTile(os, product);
    printNumber(os, plan.isOfA ? "slices_of_a" : "slices_of_b",
                static_cast<int64_t>(plan.slices.size()));
    printNumber(os, "chunk", plan.chunkLines);
    printWord(os, "kept", plan.isKept);
    os << '\n';
    printEpilogue(os, product, depth);
  }
};

} // namespace

const KernelSkeleton &codegen::gatheredProductsSkeleton() {
  static const GatheredProductsSkeleton only;
  return only;
}
