//===- WholeProducts.cpp - Products whose warps have roles ----------------===//

#include "codegen/gpu/skeletons/WholeProducts.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/Skeletons.h"

#include "llvm/Support/FormatVariadic.h"

using namespace ccn;
using namespace ccn::codegen;

namespace {

class WholeProductsSkeleton : public KernelSkeleton {
public:
  bool needsTensorMaps() const override { return true; }
  size_t match(const LaunchMapper &launch, size_t part) const override {
    return part == 0 && matchWholeProduct(launch, *this) ? launch.parts.size()
                                                         : 0;
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>> map(LaunchMapper &launch,
                                                    size_t) const override {
    std::unique_ptr<WholeProductPlan> plan = matchWholeProduct(launch, *this);
    mapWholeProduct(launch, *plan);
    return plan;
  }
  void require(const SkeletonPlan &, DeviceFiles &files) const override {
    files.add({"hopper.cuh", "hopper_products.cuh"});
  }
  llvm::Error emit(CudaPart &part, const SkeletonPlan &any) const override {
    return emitWholeProduct(part, static_cast<const WholeProductPlan &>(any));
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    const auto &plan = static_cast<const WholeProductPlan &>(any);
    os << "product(";
    if (plan.batches > 1)
      os << plan.batches << 'x';
    os << llvm::formatv("{0}x{1}x{2})", plan.part.m, plan.part.n, plan.part.k);
    printTile(os, plan);
    os << '\n';
    printEpilogue(os, plan, depth);
  }
};

} // namespace

void codegen::printTile(llvm::raw_ostream &os, const WholeProductPlan &plan) {
  os << llvm::formatv(" tile({0}x{1})", plan.tile.m, plan.tile.n);
  printNumber(os, "stages", plan.tile.stages);
  printNumber(os, "consumers", plan.tile.consumers);
  printWord(os, "take_turns", plan.tile.takeTurns);
  printNumber(os, "group", plan.group);
  printWord(os, "a_transposed", plan.a.isTransposed);
  printWord(os, "b_transposed", plan.b.isTransposed);
}

void codegen::printEpilogue(llvm::raw_ostream &os, const WholeProductPlan &plan,
                            unsigned depth) {
  for (const EpilogueLoop &loop : plan.loops) {
    printLoop(os, loop.loop, *loop.info, depth + 1);
    os << '\n';
  }
}

const KernelSkeleton &codegen::wholeProductsSkeleton() {
  static const WholeProductsSkeleton only;
  return only;
}
